"""What DX1 frames say: payloads built and read."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
import struct

from .driver import GesturePoint
from .text import Stroke

PROTOCOL_VERSION = 1


class Nack(IntEnum):
    """Why the board refused a request; a refused request had no effect."""

    BAD_FRAME = 0x01
    UNKNOWN_TYPE = 0x02
    BAD_PAYLOAD = 0x03
    UNSUPPORTED = 0x04
    BUSY = 0x05
    USB_NOT_READY = 0x06
    OUT_OF_RANGE = 0x07
    RATE_LIMITED = 0x08
    SESSION_EXPIRED = 0x09
    PROTO_VERSION = 0x0A
    HOLD_LIMIT = 0x0B
    NOT_AUTHENTICATED = 0x0C


class DoneResult(IntEnum):
    """How the board ended what it played."""

    OK = 0
    ABORTED = 1
    LINK_LOST = 2
    USB_LOST = 3
    LEASE = 4
    SUSPENDED = 5
    """Played while the phone's USB slept: a call to wake it, no more."""


class ReleaseReason(IntEnum):
    """Why the board let go of everything by itself."""

    LINK_LOST = 1
    HOLD_LIMIT = 2
    LEASE = 3
    USB_RESET = 4


class Usb(IntEnum):
    """The phone's side of the board."""

    NONE = 0
    MOUNTED = 1
    SUSPENDED = 2


class Profile(IntEnum):
    """What the board is to the phone."""

    NONE = 0
    ANDROID_TOUCH = 1
    IOS_POINTER = 2
    IOS_KEYS = 3
    GENERIC_MOUSE = 4


class Feature(IntFlag):
    """What a board can do."""

    NONE = 0
    TOUCH = 0x0001
    ABSOLUTE = 0x0002
    RELATIVE = 0x0004
    CONSUMER = 0x0008
    TEXT = 0x0010
    GESTURE = 0x0020
    WAKE = 0x0040
    REMOTE_WAKE = 0x0080
    KEYS = 0x0100
    CONSUMER_TAP = 0x0200


class CapTag(IntEnum):
    """Tags of GET_CAPS."""

    PROTOCOL = 0x01
    FIRMWARE = 0x02
    BOARD_ID = 0x03
    BOOT_ID = 0x04
    PROFILES = 0x05
    PROFILE = 0x06
    FEATURES = 0x07
    MAX_PAYLOAD = 0x08
    MAX_POINTS = 0x09
    MAX_TEXT = 0x0A
    HOLD_LIMITS = 0x0B
    CREDITS = 0x0C
    USAGES = 0x0D
    COUNTERS = 0x0E


class WakeSource(IntEnum):
    """What woke."""

    BUTTON = 0
    TOUCH = 1
    WAKE_WORD = 2
    GPIO = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardCaps:
    """What GET_CAPS says; what is missing is taken as the protocol's least."""

    firmware: str = ""
    board_id: str = ""
    """Hexadecimal; the chip's own number."""
    boot_id: int = 0
    """Random at each start of the board."""
    profiles: int = 0
    """Bitmap over :class:`Profile`."""
    profile: int = Profile.NONE
    features: Feature = Feature.NONE
    max_payload: int = 200
    max_points: int = 16
    max_text: int = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class PingReply:
    """What the board says of itself when asked."""

    uptime_ms: int
    usb: int
    held: int
    """Bits for touch, keys, consumer and a playing plan; 0 when the hands are empty."""
    rx_errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeMessage:
    """A wake event as the board sent it."""

    counter: int
    t_ms: int
    source: int
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneMessage:
    """The end of a request that took time."""

    seq: int
    result: int
    index: int
    """How many strokes or points were played."""


_PING = struct.Struct("<IBBH")
_WAKE = struct.Struct("<IIBB")
_DONE = struct.Struct("<HBB")
_POINT = struct.Struct("<HBHH")


def hello(session: int) -> bytes:
    """Return HELLO's payload: this host speaks exactly one version."""
    return struct.pack("<IBB", session, PROTOCOL_VERSION, PROTOCOL_VERSION)


def key_tap(mods: int, usage: int, hold_ms: int) -> bytes:
    """Return KEY_TAP's payload."""
    return struct.pack("<BBH", mods, usage, hold_ms)


def consumer(usage: int, hold_ms: int) -> bytes:
    """Return CONSUMER's payload in the form whose release the board times."""
    return struct.pack("<HH", usage, hold_ms)


def text(pace_ms: int, strokes: Sequence[Stroke]) -> bytes:
    """Return TEXT's payload."""
    pairs = b"".join(bytes((stroke.mods, stroke.usage)) for stroke in strokes)
    return bytes((pace_ms, len(strokes))) + pairs


def gesture(contact: int, points: Sequence[GesturePoint]) -> bytes:
    """Return GESTURE's payload."""
    steps = b"".join(_POINT.pack(p.dt_ms, p.tip, p.x, p.y) for p in points)
    return bytes((contact, len(points))) + steps


def event_ack(seq: int) -> bytes:
    """Return EVENT_ACK's payload."""
    return struct.pack("<H", seq)


def parse_ping(data: bytes) -> PingReply | None:
    """Return what an ACK of PING carries; None if it is something else."""
    if len(data) < _PING.size:
        return None
    uptime_ms, usb, held, rx_errors = _PING.unpack_from(data)
    return PingReply(uptime_ms=uptime_ms, usb=usb, held=held, rx_errors=rx_errors)


def parse_wake(payload: bytes) -> WakeMessage | None:
    """Return a WAKE's content; None if it is malformed."""
    if len(payload) < _WAKE.size:
        return None
    counter, t_ms, source, level = _WAKE.unpack_from(payload)
    return WakeMessage(counter=counter, t_ms=t_ms, source=source, level=level)


def parse_done(payload: bytes) -> DoneMessage | None:
    """Return a DONE's content; None if it is malformed."""
    if len(payload) < _DONE.size:
        return None
    seq, result, index = _DONE.unpack_from(payload)
    return DoneMessage(seq=seq, result=result, index=index)


def parse_caps(data: bytes) -> BoardCaps | None:
    """Return the board's capabilities; None if the list is cut or has no boot id.

    Unknown tags are left alone: newer boards may say more.
    """
    values: dict[int, bytes] = {}
    index = 0
    while index + 2 <= len(data):
        tag, length = data[index], data[index + 1]
        value = data[index + 2 : index + 2 + length]
        if len(value) != length:
            return None
        values.setdefault(tag, value)
        index += 2 + length
    if index != len(data) or CapTag.BOOT_ID not in values:
        return None

    def number(tag: CapTag, default: int) -> int:
        return int.from_bytes(values[tag], "little") if tag in values else default

    return BoardCaps(
        firmware=values.get(CapTag.FIRMWARE, b"").decode("ascii", "replace"),
        board_id=values.get(CapTag.BOARD_ID, b"").hex(),
        boot_id=number(CapTag.BOOT_ID, 0),
        profiles=number(CapTag.PROFILES, 0),
        profile=number(CapTag.PROFILE, Profile.NONE),
        features=Feature(number(CapTag.FEATURES, 0)),
        max_payload=number(CapTag.MAX_PAYLOAD, 200),
        max_points=number(CapTag.MAX_POINTS, 16),
        max_text=number(CapTag.MAX_TEXT, 32),
    )
