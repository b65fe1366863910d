"""What a way to the phone's input must offer, whatever board carries it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from .text import Stroke
from .types import LinkState


@dataclass(frozen=True, slots=True, kw_only=True)
class GesturePoint:
    """One step of a gesture.

    Between two points that touch the finger moves in a straight line.
    """

    dt_ms: int
    """Milliseconds since the point before."""
    tip: bool
    """Whether the finger touches."""
    x: int
    y: int
    """0..32767 on both axes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gesture:
    """A finger's way, from touching to lifting."""

    points: tuple[GesturePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Typing:
    """Strokes one after the other."""

    strokes: tuple[Stroke, ...]
    pace_ms: int = 60
    """From one key going down to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTap:
    """A keyboard key, down and up."""

    stroke: Stroke
    hold_ms: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerTap:
    """A consumer control (HID page 0x0C), down and up."""

    usage: int
    hold_ms: int = 80


type Act = Gesture | Typing | KeyTap | ConsumerTap
"""Something that the board times from its beginning to its release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """The reported end of an act."""

    complete: bool
    """False when it was broken off on request."""
    steps: int
    """Strokes or points that were played."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverCaps:
    """What can be sent through a driver."""

    profile: str
    """What the board is to the phone, e.g. ``android_touch``."""
    touch: bool
    keys: bool
    consumer: bool
    max_strokes: int
    """In one :class:`Typing`."""
    max_points: int
    """In one :class:`Gesture`."""


class Driver(Protocol):
    """Sends acts, one at a time; each ends in the board's own report."""

    @property
    def link(self) -> LinkState:
        """Return the state of the way to the phone."""
        ...

    @property
    def caps(self) -> DriverCaps | None:
        """Return what can be sent; None while the link is down."""
        ...

    async def start(self) -> None:
        """Begin to look for the board; returns before it is found."""
        ...

    async def close(self) -> None:
        """Release everything if the board answers, then leave nothing behind."""
        ...

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after every change of ``link`` or ``caps``; return the undoing."""
        ...

    async def play(self, act: Act) -> Played:
        """Send an act and wait for its end. Cancelling stops the waiting only.

        Raises:
            ActRefusedError: The board or its profile cannot do this; no effect.
            LinkLostError: Nothing was sent.
            ActUnknownError: The link broke, or no end was reported.

        """
        ...

    async def stop(self, *, at_once: bool = False) -> bool:
        """End the running act at a safe point, or ``at_once``, and release everything.

        The stop is on its way before the first suspension. Returns when no report
        follows any more: True when the board confirmed that nothing is held, False when
        it cannot be asked.
        """
        ...
