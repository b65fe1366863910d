"""The phone's vocabulary: points, observations, states, errors."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A place on the phone's screen.

    Both axes run from 0 to 1000 inside the active area (the phone's picture without
    its letterbox), origin top left.
    """

    x: float
    y: float

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        if not (0 <= self.x <= 1000 and 0 <= self.y <= 1000):
            raise ValueError("coordinates run from 0 to 1000 on both axes")


class Key(StrEnum):
    """Keys that the phone understands, whatever HID usage carries them."""

    HOME = "home"
    BACK = "back"
    RECENTS = "recents"
    ENTER = "enter"
    BACKSPACE = "backspace"
    ESCAPE = "escape"
    TAB = "tab"
    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"
    VOLUME_UP = "volume_up"
    VOLUME_DOWN = "volume_down"
    POWER = "power"


class LinkState(StrEnum):
    """The state of the way to the phone's input."""

    DOWN = "down"
    """No board answers."""
    NO_PHONE = "no_phone"
    """The board answers, but no phone has taken its USB side."""
    UP = "up"


class Settle(StrEnum):
    """What waiting for a still picture came to."""

    SETTLED = "settled"
    TIMEOUT = "timeout"
    """The picture still moves; a result, not an error."""
    BLACK = "black"
    """All black: a protected or sleeping screen; nothing can be seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A rectangle in pixels of the source picture."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A look at the phone's screen, newer than the last act."""

    jpeg: bytes
    """The active area only."""
    width: int
    height: int
    """Pixels of ``jpeg``."""
    area: Area
    """Where the active area lies in the source picture."""
    source_width: int
    source_height: int
    captured_at: float
    """Event loop's time."""
    settle: Settle
    changed: bool
    """The picture differs from the one before the last act. Motion, not success."""


class PhoneError(Exception):
    """Something about the phone stops an act or a look. The text says what to do."""


class LeaseHeldError(PhoneError):
    """Somebody else controls the phone."""


class HaltedPhoneError(LeaseHeldError):
    """The kill switch is on: nobody gets the phone."""


class StoppedPhoneError(LeaseHeldError):
    """The person said stop a moment ago: nobody gets the phone until that is over."""


class LentPhoneError(LeaseHeldError):
    """Somebody has the phone for a single act."""


class LeaseRevokedError(PhoneError):
    """The lease is no longer valid: nothing was sent."""


class NotObservedError(PhoneError):
    """The screen is unsettled: look at it before acting."""


class LinkLostError(PhoneError):
    """The board is gone, or the phone is not on its USB side; nothing was sent."""


class ActUnknownError(PhoneError):
    """The link broke or no end was reported while acting: the act may or may not have happened."""


class ActRefusedError(PhoneError):
    """The board or the driver cannot do this (out of range, busy, not in this profile)."""


class NoBoardError(ActRefusedError):
    """No way to the phone's input is set up; nothing was sent."""


class UnsuitableTextError(ActRefusedError):
    """A text is empty, too long or of several lines; nothing was typed."""


class UnsupportedTextError(PhoneError):
    """Some characters cannot be typed; nothing was typed.

    Attributes:
        characters: The characters that cannot be typed, each once.

    """

    def __init__(self, characters: str) -> None:
        """Keep the characters."""
        super().__init__(
            f"these characters cannot be typed on a hardware keyboard: {characters!r}. Nothing was typed."
        )
        self.characters = characters


class PictureError(PhoneError):
    """No usable picture; the text says what came instead."""
