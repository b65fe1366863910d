"""Acts as the phone's user thinks of them, made of what a driver sends."""

from collections.abc import Sequence

from .coordinates import TouchSpace, to_touch
from .driver import Act, ConsumerTap, DriverCaps, Gesture, GesturePoint, KeyTap, Typing
from .text import ENTER, TAB, Stroke, chunks
from .types import ActRefusedError, Key, Observation, Point

MAX_HOLD_MS = 10_000
"""Boards let go of what is held for longer."""
MIN_HOLD_MS = 20
LIFT_MS = 16
"""From a swipe's last move to the lifting finger."""

_CONSUMER_KEYS = {
    Key.HOME: 0x223,
    Key.BACK: 0x224,
    Key.RECENTS: 0x29F,
    Key.VOLUME_UP: 0xE9,
    Key.VOLUME_DOWN: 0xEA,
    Key.POWER: 0x30,
}
"""Consumer usages that Android maps by itself (AOSP, Generic.kl)."""
_KEYBOARD_KEYS = {
    Key.ENTER: ENTER,
    Key.ESCAPE: 0x29,
    Key.BACKSPACE: 0x2A,
    Key.TAB: TAB,
    Key.RIGHT: 0x4F,
    Key.LEFT: 0x50,
    Key.DOWN: 0x51,
    Key.UP: 0x52,
}


class Aim:
    """Turns points of the last observation into touches."""

    def __init__(self, observation: Observation, space: TouchSpace) -> None:
        """Keep the picture that the points refer to."""
        self._observation = observation
        self._space = space

    def press(self, point: Point, hold_ms: int) -> Gesture:
        """Return a finger that stays in one place."""
        _check_hold(hold_ms)
        x, y = self._at(point)
        return Gesture(
            points=(
                GesturePoint(dt_ms=0, tip=True, x=x, y=y),
                GesturePoint(dt_ms=hold_ms, tip=False, x=x, y=y),
            )
        )

    def swipe(self, start: Point, end: Point, duration_ms: int) -> Gesture:
        """Return a finger that moves in a straight line."""
        _check_hold(duration_ms + LIFT_MS)
        x0, y0 = self._at(start)
        x1, y1 = self._at(end)
        return Gesture(
            points=(
                GesturePoint(dt_ms=0, tip=True, x=x0, y=y0),
                GesturePoint(dt_ms=duration_ms, tip=True, x=x1, y=y1),
                GesturePoint(dt_ms=LIFT_MS, tip=False, x=x1, y=y1),
            )
        )

    def _at(self, point: Point) -> tuple[int, int]:
        """Return where a touch report has to say that the point is."""
        seen = self._observation
        return to_touch(
            point,
            area=seen.area,
            source_width=seen.source_width,
            source_height=seen.source_height,
            space=self._space,
        )


def typing(strokes: Sequence[Stroke], caps: DriverCaps) -> list[Act]:
    """Return the strokes in pieces of the size that the board takes."""
    return [Typing(strokes=tuple(part)) for part in chunks(strokes, caps.max_strokes)]


def key(name: Key, caps: DriverCaps) -> Act:
    """Return the tap of a key.

    Raises:
        ActRefusedError: The board's profile does not carry the key.

    """
    usage = _CONSUMER_KEYS.get(name)
    if usage is None:
        return KeyTap(stroke=Stroke(mods=0, usage=_KEYBOARD_KEYS[name]))
    if not caps.consumer:
        raise ActRefusedError(
            f"the board's profile {caps.profile} cannot send the key {name}"
        )
    return ConsumerTap(usage=usage)


def _check_hold(hold_ms: int) -> None:
    """Refuse what the board would break off or the phone would miss."""
    if not MIN_HOLD_MS <= hold_ms <= MAX_HOLD_MS:
        raise ActRefusedError(
            f"a touch lasts {MIN_HOLD_MS} to {MAX_HOLD_MS} milliseconds, not {hold_ms}"
        )
