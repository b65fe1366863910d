"""Single acts on the phone as actions: what they take, and their errors in words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from homeassistant.core import ServiceResponse
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.typing import VolDictType
from homeassistant.util.json import JsonObjectType
import voluptuous as vol

from .const import DOMAIN
from .phone import single
from .phone.single import SingleAct
from .phone.types import (
    ActUnknownError,
    HaltedPhoneError,
    Key,
    LeaseHeldError,
    LeaseRevokedError,
    LentPhoneError,
    LinkLostError,
    NoBoardError,
    PhoneError,
    PictureError,
    Point,
    StoppedPhoneError,
    UnsuitableTextError,
    UnsupportedTextError,
)
from .runtime import Aiden
from .tasks.model import Task

OWNER: Final = "action"
"""Who has the loan of a single act."""

_PREEMPT: Final[VolDictType] = {vol.Optional("preempt", default=False): cv.boolean}
_NUMBER: Final = vol.Coerce(float)

SCHEMAS: Final[dict[str, VolDictType]] = {
    "press_key": {
        vol.Required("key"): vol.In([str(key) for key in Key]),
        **_PREEMPT,
    },
    "swipe": {
        **{vol.Required(name): _NUMBER for name in ("x1", "y1", "x2", "y2")},
        vol.Optional("duration_ms", default=400): vol.All(
            vol.Coerce(int), vol.Range(min=100, max=5000)
        ),
        **_PREEMPT,
    },
    "tap": {vol.Required("x"): _NUMBER, vol.Required("y"): _NUMBER, **_PREEMPT},
    "type_text": {
        vol.Required("text"): cv.string,
        vol.Optional("submit", default=False): cv.boolean,
        **_PREEMPT,
    },
}

ERROR_KEYS: Final[dict[type[PhoneError], str]] = {
    ActUnknownError: "act_unknown",
    HaltedPhoneError: "phone_halted",
    LeaseHeldError: "phone_in_use",
    LeaseRevokedError: "act_interrupted",
    LentPhoneError: "phone_lent",
    LinkLostError: "phone_unreachable",
    NoBoardError: "no_board",
    PhoneError: "act_refused",
    PictureError: "no_picture",
    StoppedPhoneError: "phone_stopped",
    UnsuitableTextError: "text_unsuitable",
    UnsupportedTextError: "text_unsupported",
}
"""Keys of the translations; an error goes by its nearest class."""
_CALLERS = (LeaseHeldError, NoBoardError, UnsuitableTextError, UnsupportedTextError)
"""What the caller can mend; the others are failures."""


def point(x: float, y: float) -> Point:
    """Return a place on the screen.

    Raises:
        ServiceValidationError: It is none.

    """
    try:
        return Point(x=x, y=y)
    except ValueError as err:
        raise ServiceValidationError(
            translation_domain=DOMAIN,
            translation_key="coordinates_invalid",
            translation_placeholders={"x": f"{x:g}", "y": f"{y:g}"},
        ) from err


async def async_perform(
    aiden: Aiden, act: SingleAct, *, preempt: bool, sent: JsonObjectType
) -> ServiceResponse:
    """Do one thing on the phone; return what was sent, and past which task.

    A task for which the phone is kept has it, too, though it sends nothing now.
    """
    task = aiden.tasks.on_phone
    with _translated_errors(task):
        await single.perform(
            aiden.phone, act, owner=OWNER, preempt=preempt, reserved=task is not None
        )
    return {"sent": sent, "preempted_task_id": task.id if task else None}


@contextmanager
def _translated_errors(task: Task | None) -> Iterator[None]:
    """Turn the phone's errors into Home Assistant's."""
    try:
        yield
    except PhoneError as err:
        kind = (
            ServiceValidationError if isinstance(err, _CALLERS) else HomeAssistantError
        )
        raise kind(
            translation_domain=DOMAIN,
            translation_key=_key(err),
            translation_placeholders=_placeholders(err, task),
        ) from err


def _key(err: PhoneError) -> str:
    """Return the translations' key of an error."""
    return next(ERROR_KEYS[kind] for kind in type(err).__mro__ if kind in ERROR_KEYS)


def _placeholders(err: PhoneError, task: Task | None) -> dict[str, str]:
    """Return what the sentences of the translations name."""
    placeholders = {"detail": str(err), "task_id": task.id if task else OWNER}
    if isinstance(err, UnsupportedTextError):
        placeholders["characters"] = err.characters
    return placeholders
