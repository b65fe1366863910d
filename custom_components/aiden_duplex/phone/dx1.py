"""DX1 frames: bytes in, frames out, and back; no I/O.

On the wire a frame is COBS (Cheshire and Baker, IEEE/ACM Transactions on Networking
7(2), 1999) and one zero byte. Inside: version, type, flags, sequence (little endian),
payload of at most 226 bytes (a GESTURE of 32 points), CRC-32 as zlib computes it
(little endian).
"""

from binascii import crc32
from dataclasses import dataclass
from enum import IntEnum, IntFlag
import struct

VERSION = 1
MAX_PAYLOAD = 226
"""Bytes of payload in one frame."""
MAX_ENCODED = 256
"""Bytes between two delimiters that a receiver keeps."""
MAX_SEQ = 0xFFFF
DELIMITER = b"\x00"

_HEADER = struct.Struct("<BBBH")
_CRC = struct.Struct("<I")
_MIN_BODY = _HEADER.size + _CRC.size
_MAX_BODY = _MIN_BODY + MAX_PAYLOAD
_COBS_BLOCK = 0xFF


class FrameType(IntEnum):
    """What a frame is."""

    HELLO = 0x01
    PING = 0x02
    GET_CAPS = 0x03
    SET_PROFILE = 0x04
    IDENTIFY = 0x05
    WAKE_CFG = 0x06
    RELEASE_ALL = 0x10
    TOUCH = 0x11
    POINTER = 0x12
    KEYS = 0x13
    CONSUMER = 0x14
    KEY_TAP = 0x15
    TEXT = 0x16
    GESTURE = 0x17
    ABORT = 0x18
    WAKE = 0x40
    LINK = 0x41
    LOG = 0x42
    FORCED_RELEASE = 0x43
    DONE = 0x44
    EVENT_ACK = 0x50
    ACK = 0x80
    NACK = 0x81


class Flag(IntFlag):
    """Bits of a frame's flags."""

    NONE = 0
    RETRY = 1
    """A repetition of an earlier frame, with the same sequence."""
    NO_ACK = 2
    AUTHENTICATED = 4
    """Carries an 8-byte tag; not spoken here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame, without its framing."""

    type: int
    """A :class:`FrameType`, or a number that we do not know."""
    seq: int = 0
    payload: bytes = b""
    flags: int = 0


def cobs_encode(data: bytes) -> bytes:
    """Return ``data`` without zero bytes; at most one byte longer per 254, plus one."""
    out = bytearray()
    parts = data.split(DELIMITER)
    for index, part in enumerate(parts):
        is_last = index == len(parts) - 1
        while len(part) >= _COBS_BLOCK - 1:
            out.append(_COBS_BLOCK)
            out += part[: _COBS_BLOCK - 1]
            part = part[_COBS_BLOCK - 1 :]
            if is_last and not part:
                return bytes(out)
        out.append(len(part) + 1)
        out += part
    return bytes(out)


def cobs_decode(data: bytes) -> bytes:
    """Return what :func:`cobs_encode` was given.

    Raises:
        ValueError: A zero byte inside, or a code that points past the end.

    """
    if not data:
        raise ValueError("empty")
    if 0 in data:
        raise ValueError("zero byte inside a block")
    out = bytearray()
    index = 0
    while index < len(data):
        code = data[index]
        end = index + code
        if end > len(data):
            raise ValueError("code points past the end")
        out += data[index + 1 : end]
        index = end
        if code < _COBS_BLOCK and index < len(data):
            out.append(0)
    return bytes(out)


def encode_body(frame: Frame) -> bytes:
    """Return version, type, flags, sequence and payload: what the CRC covers."""
    if len(frame.payload) > MAX_PAYLOAD:
        raise ValueError(f"a payload has at most {MAX_PAYLOAD} bytes")
    return _HEADER.pack(VERSION, frame.type, frame.flags, frame.seq) + frame.payload


def encode(frame: Frame) -> bytes:
    """Return the bytes for the wire, with the delimiter at the end.

    Raises:
        ValueError: The payload is too long.

    """
    body = encode_body(frame)
    return cobs_encode(body + _CRC.pack(crc32(body))) + DELIMITER


class Receiver:
    """Finds frames in a stream that may hold noise, halves and glued frames.

    A damaged frame costs itself only: the next delimiter starts anew. Memory is bounded
    by :data:`MAX_ENCODED`.

    Attributes:
        frames: Good frames so far.
        crc_errors: Blocks whose checksum was wrong.
        malformed: Blocks that are no frame of this version.
        oversize: Blocks longer than the limit.
        other_version: The version of a good frame that was not ours, if one came.

    """

    def __init__(self) -> None:
        """Start empty."""
        self.frames = 0
        self.crc_errors = 0
        self.malformed = 0
        self.oversize = 0
        self.other_version: int | None = None
        self._block = bytearray()
        self._skipping = False

    def reset(self) -> None:
        """Forget a half-received block: the stream was broken."""
        self._block.clear()
        self._skipping = False

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes as they came; return the frames that they complete."""
        *complete, rest = data.split(DELIMITER)
        found: list[Frame] = []
        for part in complete:
            self._take(part)
            if (frame := self._end_block()) is not None:
                found.append(frame)
        self._take(rest)
        return found

    def _take(self, part: bytes) -> None:
        """Add to the block, up to the limit."""
        if self._skipping:
            return
        self._block += part[: MAX_ENCODED + 1 - len(self._block)]
        if len(self._block) > MAX_ENCODED:
            self._skipping = True
            self._block.clear()

    def _end_block(self) -> Frame | None:
        """Return the frame in the finished block."""
        if self._skipping:
            self.oversize += 1
            self._skipping = False
            return None
        if not self._block:
            return None
        block = bytes(self._block)
        self._block.clear()
        return self._decode(block)

    def _decode(self, block: bytes) -> Frame | None:
        """Return the frame in a block, counting what is wrong with it."""
        try:
            raw = cobs_decode(block)
        except ValueError:
            self.malformed += 1
            return None
        if not _MIN_BODY <= len(raw) <= _MAX_BODY:
            self.malformed += 1
            return None
        body, crc = raw[: -_CRC.size], raw[-_CRC.size :]
        if _CRC.pack(crc32(body)) != crc:
            self.crc_errors += 1
            return None
        version, kind, flags, seq = _HEADER.unpack_from(body)
        if version != VERSION or flags & Flag.AUTHENTICATED:
            self.malformed += 1
            if version != VERSION:
                self.other_version = version
            return None
        self.frames += 1
        return Frame(type=kind, seq=seq, payload=body[_HEADER.size :], flags=flags)
