"""DX1 frames: ``version type flags seq payload crc`` in COBS, ended by a zero.

The CRC is zlib's CRC-32, little-endian, over everything before it: ``binascii.crc32`` is
C code in CPython, MicroPython and CircuitPython.
"""

import binascii
import struct

from . import cobs
from .dx1 import MAX_PAYLOAD, PROTOCOL

HEADER = 5
CRC = 4
MAX_ENCODED = 256
"""Bytes between two zeros that the receiver keeps; longer ones are dropped."""


class Frame:
    """A frame whose CRC held. The version may be another than ours."""

    def __init__(
        self, version: int, kind: int, flags: int, seq: int, payload: bytes
    ) -> None:
        """Keep the fields."""
        self.version = version
        self.kind = kind
        self.flags = flags
        self.seq = seq
        self.payload = payload

    def digest(self) -> int:
        """Tell one request from another that claims the same seq (flags may differ)."""
        return binascii.crc32(bytes((self.kind,)) + self.payload)


class BadFrameError(Exception):
    """Bytes that are no frame. ``args[0]`` is ``cobs``, ``length`` or ``crc``."""


def encode(kind: int, flags: int, seq: int, payload: bytes = b"") -> bytes:
    """Give the bytes for the wire, with the zero that ends the frame.

    Raises:
        ValueError: The payload is longer than 226 bytes.

    """
    if len(payload) > MAX_PAYLOAD:
        raise ValueError("payload")
    body = struct.pack("<BBBH", PROTOCOL, kind, flags, seq) + payload
    return cobs.encode(body + struct.pack("<I", binascii.crc32(body))) + b"\x00"


def decode(encoded: bytes) -> Frame:
    """Read what stood between two zeros.

    Raises:
        BadFrameError: It is no frame.

    """
    try:
        raw = cobs.decode(encoded)
    except ValueError:
        raw = None
    if raw is None:
        raise BadFrameError("cobs")
    if not HEADER + CRC <= len(raw) <= HEADER + MAX_PAYLOAD + CRC:
        raise BadFrameError("length")
    body = raw[:-CRC]
    if struct.unpack("<I", raw[-CRC:])[0] != binascii.crc32(body):
        raise BadFrameError("crc")
    version, kind, flags, seq = struct.unpack("<BBBH", body[:HEADER])
    return Frame(version, kind, flags, seq, body[HEADER:])


class Receiver:
    """Bytes in, frames out. Holds at most 256 bytes and finds its step at the next zero."""

    def __init__(self) -> None:
        """Start in step: nothing is owed."""
        self._part = b""
        self._dropping = False
        self.frames = 0
        self.crc_errors = 0
        self.cobs_errors = 0
        self.length_errors = 0
        self.oversize = 0

    @property
    def errors(self) -> int:
        """How many frames were lost, whatever the cause."""
        return self.crc_errors + self.cobs_errors + self.length_errors + self.oversize

    def feed(self, data: bytes) -> list[Frame | None]:
        """Give a ``Frame`` for each frame that ended, None for each that was bad."""
        found: list[Frame | None] = []
        data = bytes(data)
        start = 0
        while True:
            end = data.find(b"\x00", start)
            if end < 0:
                self._keep(data[start:])
                return found
            self._keep(data[start:end])
            start = end + 1
            self._end(found)

    def _keep(self, part: bytes) -> None:
        if self._dropping:
            return
        if len(self._part) + len(part) > MAX_ENCODED:
            self._dropping = True
            self._part = b""
            return
        self._part += part

    def _end(self, found: list[Frame | None]) -> None:
        if self._dropping:
            self._dropping = False
            self.oversize += 1
            found.append(None)
            return
        encoded, self._part = self._part, b""
        if not encoded:
            return
        try:
            found.append(decode(encoded))
            self.frames += 1
        except BadFrameError as error:
            self._count(error.args[0])
            found.append(None)

    def _count(self, reason: str) -> None:
        if reason == "crc":
            self.crc_errors += 1
        elif reason == "cobs":
            self.cobs_errors += 1
        else:
            self.length_errors += 1
