"""A driver's acts as DX1 requests, and the ends of those as the phone's errors."""

from . import dx1_messages as messages
from .driver import Act, ConsumerTap, DriverCaps, Gesture, KeyTap, Played, Typing
from .dx1 import FrameType
from .dx1_events import End, Outcome
from .dx1_messages import BoardCaps, Feature, Nack, Profile, Usb
from .types import ActRefusedError, ActUnknownError, LinkLostError, PhoneError

MIN_KEY_DOWN_S = 0.03
MIN_PACE_S = 0.05
"""Shorter times are played as these by the board."""
KEY_GAP_S = 0.02

_REFUSALS = {
    Nack.UNKNOWN_TYPE: "the board's firmware does not know this act; update it",
    Nack.BAD_PAYLOAD: "the board did not understand the act",
    Nack.UNSUPPORTED: "the board's profile does not have this act",
    Nack.BUSY: "the board is busy with another act",
    Nack.OUT_OF_RANGE: "the act is beyond what the board plays",
    Nack.RATE_LIMITED: "acts follow each other too fast for the board",
    Nack.HOLD_LIMIT: "the board does not hold anything for that long",
    Nack.NOT_AUTHENTICATED: "the board demands a key that this version does not have",
}


def profile_name(profile: int) -> str:
    """Return the name of a profile, also of one that we do not know."""
    try:
        return Profile(profile).name.lower()
    except ValueError:
        return f"profile_{profile}"


def driver_caps(board: BoardCaps) -> DriverCaps:
    """Return what can be sent through the board."""
    active = board.profile != Profile.NONE
    features = board.features if active else Feature.NONE
    return DriverCaps(
        profile=profile_name(board.profile),
        touch=Feature.TOUCH in features and Feature.GESTURE in features,
        keys=Feature.KEYS in features and Feature.TEXT in features,
        consumer=Feature.CONSUMER_TAP in features,
        max_strokes=min(board.max_text, (board.max_payload - 2) // 2),
        max_points=min(board.max_points, (board.max_payload - 2) // 7),
    )


def check(act: Act, caps: DriverCaps) -> None:
    """Refuse what this board cannot do, before anything is sent."""
    match act:
        case Gesture():
            able = caps.touch and len(act.points) <= caps.max_points
        case Typing():
            able = caps.keys and len(act.strokes) <= caps.max_strokes
        case KeyTap():
            able = caps.keys
        case ConsumerTap():
            able = caps.consumer
    if not able:
        raise ActRefusedError(
            f"the board cannot do this in its profile {caps.profile}; nothing was sent"
        )


def encode(act: Act) -> tuple[FrameType, bytes, float]:
    """Return an act's frame type, its payload and how many seconds it plays."""
    match act:
        case Gesture(points=points):
            plan_ms = sum(point.dt_ms for point in points)
            return FrameType.GESTURE, messages.gesture(0, points), plan_ms / 1000
        case Typing(strokes=strokes, pace_ms=pace_ms):
            plan_s = len(strokes) * max(pace_ms / 1000, MIN_PACE_S)
            return FrameType.TEXT, messages.text(pace_ms, strokes), plan_s
        case KeyTap(stroke=stroke, hold_ms=hold_ms):
            payload = messages.key_tap(stroke.mods, stroke.usage, hold_ms)
            kind = FrameType.KEY_TAP
        case ConsumerTap(usage=usage, hold_ms=hold_ms):
            payload = messages.consumer(usage, hold_ms)
            kind = FrameType.CONSUMER
    return kind, payload, max(hold_ms / 1000, MIN_KEY_DOWN_S) + KEY_GAP_S


def played(outcome: Outcome) -> Played:
    """Return how an act ended, or raise what became of it."""
    match outcome.end:
        case End.DONE:
            return Played(complete=True, steps=outcome.index)
        case End.STOPPED:
            return Played(complete=False, steps=outcome.index)
        case End.NOT_SENT:
            raise LinkLostError("the board is gone; nothing was sent")
        case End.REFUSED if outcome.code == Nack.USB_NOT_READY:
            raise _not_ready(outcome.data)
        case End.REFUSED:
            known = outcome.code in _REFUSALS
            why = _REFUSALS[Nack(outcome.code)] if known else f"code {outcome.code}"
            raise ActRefusedError(f"{why}; nothing was sent")
        case End.UNKNOWN:
            raise ActUnknownError(
                "the connection to the board or the phone broke during the act; "
                "it may or may not have happened. Look at the screen."
            )


def _not_ready(detail: bytes) -> PhoneError:
    """Return what to say when the phone's USB takes no reports."""
    if detail[:1] == bytes((Usb.SUSPENDED,)):
        return ActRefusedError(
            "the phone sleeps; wake it with a key, then look at the screen. "
            "Nothing was sent."
        )
    return LinkLostError("the phone is not connected to the board; nothing was sent")
