"""``script/bench core``: what keeps the conversation quick while the phone is worked."""

from . import cancel, conversation, create, recorder, stop_word, tap
from .place import Measures

MEASURES: Measures = {
    "conversation": conversation.measure,
    "create": create.measure,
    "tap": tap.measure,
    "cancel": cancel.measure,
    "stop_word": stop_word.measure,
    "recorder": recorder.measure,
}
