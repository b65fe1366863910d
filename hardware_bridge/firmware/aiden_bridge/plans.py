"""Payloads read into plans. What cannot be played is refused before anything is sent."""

import struct

from . import dx1, profiles
from .dx1 import Refused
from .playback import Gesture, Tap, Text

MAX_WAIT_MS = 10000
"""Between two points of a gesture."""
MAX_PLAN_MS = 30000
"""From the start of a gesture to its last point."""
_POINT = 7


def check_usage(usage: int) -> None:
    """Refuse a keyboard usage that the descriptor does not carry."""
    if usage > profiles.MAX_KEY_USAGE:
        raise Refused(dx1.OUT_OF_RANGE)


def check_contact(contact: int, x: int, y: int) -> None:
    """Refuse a contact id or a place that the descriptor does not carry."""
    if contact > profiles.MAX_CONTACT or max(x, y) > dx1.MAX_COORDINATE:
        raise Refused(dx1.OUT_OF_RANGE)


def key_tap(payload: bytes) -> Tap:
    """Read KEY_TAP: ``mods u8, usage u8, hold_ms u16``. Modifiers alone are a tap, too."""
    mods, usage, hold_ms = struct.unpack("<BBH", payload)
    check_usage(usage)
    if not mods and not usage:
        raise Refused(dx1.BAD_PAYLOAD)
    if hold_ms > dx1.MAX_HOLD_MS:
        raise Refused(dx1.HOLD_LIMIT)
    return Tap(dx1.HELD_KEYS, mods, usage, hold_ms)


def consumer_tap(payload: bytes) -> Tap:
    """Read the long form of CONSUMER: ``usage u16, hold_ms u16``."""
    usage, hold_ms = struct.unpack("<HH", payload)
    if usage > profiles.MAX_CONSUMER_USAGE:
        raise Refused(dx1.OUT_OF_RANGE)
    if not usage:
        raise Refused(dx1.BAD_PAYLOAD)
    if hold_ms > dx1.MAX_HOLD_MS:
        raise Refused(dx1.HOLD_LIMIT)
    return Tap(dx1.HELD_CONSUMER, 0, usage, hold_ms)


def text(payload: bytes) -> Text:
    """Read TEXT: ``pace_ms u8, n u8``, n times ``mods u8, usage u8``."""
    if len(payload) < 2 or not payload[1] or len(payload) != 2 + 2 * payload[1]:
        raise Refused(dx1.BAD_PAYLOAD)
    if payload[1] > dx1.MAX_TEXT:
        raise Refused(dx1.OUT_OF_RANGE)
    for at in range(3, len(payload), 2):
        check_usage(payload[at])
        if not payload[at]:
            raise Refused(dx1.BAD_PAYLOAD)
    return Text(payload[0], payload[2:])


def gesture(payload: bytes) -> Gesture:
    """Read GESTURE: ``contact u8, n u8``, n times ``dt_ms u16, tip u8, x u16, y u16``."""
    if len(payload) < 2 or not payload[1] or len(payload) != 2 + _POINT * payload[1]:
        raise Refused(dx1.BAD_PAYLOAD)
    if payload[1] > dx1.MAX_POINTS:
        raise Refused(dx1.OUT_OF_RANGE)
    points = [
        struct.unpack("<HBHH", payload[start : start + _POINT])
        for start in range(2, len(payload), _POINT)
    ]
    _check_points(payload[0], points)
    return Gesture(payload[0], points)


def _check_points(contact: int, points: list[tuple[int, int, int, int]]) -> None:
    touched = 0
    longest = 0
    down_ms = 0
    was_down = 0
    for dt_ms, tip, x, y in points:
        check_contact(contact, x, y)
        if tip > 1:
            raise Refused(dx1.BAD_PAYLOAD)
        if dt_ms > MAX_WAIT_MS:
            raise Refused(dx1.OUT_OF_RANGE)
        down_ms = down_ms + dt_ms if was_down else 0
        longest = max(longest, down_ms)
        touched |= tip
        was_down = tip
    if was_down or not touched:
        raise Refused(dx1.BAD_PAYLOAD)
    if longest > dx1.MAX_HOLD_MS:
        raise Refused(dx1.HOLD_LIMIT)
    if sum([point[0] for point in points]) > MAX_PLAN_MS:
        raise Refused(dx1.OUT_OF_RANGE)
