"""From a point in the active area to the 0..32767 of a touch report."""

from enum import StrEnum

from .types import Area, Point

TOUCH_MAX = 32767
"""Largest value of a touch axis (the report descriptor's logical maximum)."""
_SPAN = TOUCH_MAX + 1


class TouchSpace(StrEnum):
    """What the phone maps a touch report's full range onto."""

    FRAME = "frame"
    """The whole picture with its letterbox: a phone that mirrors through HDMI."""
    SCREEN = "screen"
    """The phone's own screen, without any letterbox."""


def to_touch(
    point: Point,
    *,
    area: Area,
    source_width: int,
    source_height: int,
    space: TouchSpace,
) -> tuple[int, int]:
    """Return a touch report's x and y, each 0..32767.

    A report value ``r`` lands on pixel ``r * pixels / 32768`` (AOSP's touch mapper); some
    stacks divide by 32767. Either way a point of the active area stays inside it: a tap
    on its edge never falls into the letterbox.

    Raises:
        ValueError: The active area does not lie in the source picture.

    """
    if space is TouchSpace.SCREEN:
        return (
            _axis(point.x, 0, area.width, area.width),
            _axis(point.y, 0, area.height, area.height),
        )
    return (
        _axis(point.x, area.left, area.width, source_width),
        _axis(point.y, area.top, area.height, source_height),
    )


def _axis(value: float, start: int, length: int, total: int) -> int:
    """Return one axis; ``start``, ``length`` and ``total`` are pixels."""
    end = start + length
    if length < 1 or start < 0 or end > total:
        raise ValueError("the active area does not lie in the picture")
    lowest = -(-start * _SPAN // total)
    highest = TOUCH_MAX if end == total else -(-end * TOUCH_MAX // total) - 1
    wanted = round((start + value * length / 1000) * _SPAN / total)
    return max(lowest, min(wanted, highest))
