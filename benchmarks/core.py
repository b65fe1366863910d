"""``script/bench core``: what keeps the conversation quick while the phone is worked."""

from collections.abc import Awaitable, Callable, Mapping

from . import cancel, conversation, create, recorder, stop_word, tap
from .harness import Measurement
from .place import Place

type Measures = Mapping[str, Callable[[Place], Awaitable[list[Measurement]]]]

MEASURES: Measures = {
    "conversation": conversation.measure,
    "create": create.measure,
    "tap": tap.measure,
    "cancel": cancel.measure,
    "stop_word": stop_word.measure,
    "recorder": recorder.measure,
}
