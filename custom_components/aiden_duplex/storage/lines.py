"""A record as one line of text: checksum, space, JSON. Pure."""

from collections import deque
from dataclasses import dataclass
import zlib

import orjson

from .contract import Record

_CHECKSUM_CHARS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What the bytes of a journal hold."""

    records: list[Record]
    """The good records, oldest first; only the newest when a limit was given."""
    good: bytes
    """All good lines, also those beyond the limit; equal to the data when nothing is wrong."""
    damaged: int
    """Complete lines whose checksum is wrong: they had been acknowledged."""
    torn: int
    """Bytes after the last complete line: cut off while being written."""


def encode(record: Record) -> bytes:
    """Return the record's line with its line feed.

    Raises:
        TypeError: The record is not JSON (also: a text with a lone surrogate).

    """
    body = orjson.dumps(record)
    return b"%08x %b\n" % (zlib.crc32(body), body)


def storable(text: str) -> str:
    """Return the text without lone surrogates, which models write and JSON cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def decode(line: bytes) -> Record | None:
    """Return the record of a line without its line feed, or None if it is not intact."""
    body = line[_CHECKSUM_CHARS + 1 :]
    if line[: _CHECKSUM_CHARS + 1] != b"%08x " % zlib.crc32(body):
        return None
    try:
        record = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


def scan(
    data: bytes, *, keep_last: int | None = None, mark: Record | None = None
) -> Scan:
    """Sort out good, damaged and torn lines; ``mark`` takes the place of damaged ones.

    Only a missing line feed at the very end is a torn write. A complete line with a
    wrong checksum was acknowledged once, so it is damage that somebody should know of.
    """
    records: deque[Record] = deque(maxlen=keep_last)
    good: list[bytes] = []
    damaged = 0
    *lines, tail = data.split(b"\n")
    for line in lines:
        if (record := decode(line)) is None:
            damaged += 1
            if mark is None:
                continue
            record, line = mark, encode(mark)[:-1]
        records.append(record)
        good.append(line)
    torn = len(tail)
    # A whole line whose line feed alone is another byte was acknowledged, too.
    for whole in (tail, tail[:-1]):
        if whole and (record := decode(whole)) is not None:
            records.append(record)
            good.append(whole)
            torn = 0
            break
    return Scan(
        records=list(records),
        good=b"".join(line + b"\n" for line in good),
        damaged=damaged,
        torn=torn,
    )
