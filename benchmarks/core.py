"""``script/bench core``: what keeps the conversation quick while the phone is worked."""

from collections.abc import Awaitable, Callable, Mapping

from . import create
from .harness import Measurement
from .place import Place

type Measures = Mapping[str, Callable[[Place], Awaitable[list[Measurement]]]]

MEASURES: Measures = {
    "create": create.measure,
}
