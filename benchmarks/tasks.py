"""``script/bench tasks``: what the task manager does against this disk, and how it grows."""

from . import growth, rates, remembered
from .place import Measures

MEASURES: Measures = {
    "rates": rates.measure,
    "growth": growth.measure,
    "memory": remembered.measure_memory,
    "start": remembered.measure_start,
}
