"""Consistent Overhead Byte Stuffing: bytes without a zero, so that a zero can end a frame.

S. Cheshire, M. Baker, "Consistent Overhead Byte Stuffing", IEEE/ACM Transactions on
Networking 7(2), 1999.
"""

_BLOCK = 254


def encode(data: bytes) -> bytes:
    """Give the stuffed bytes: no zero in them, one byte in 254 longer, no delimiter."""
    out = bytearray()
    parts = bytes(data).split(b"\x00")
    last = len(parts) - 1
    for index, part in enumerate(parts):
        start = 0
        while len(part) - start >= _BLOCK:
            out.append(_BLOCK + 1)
            out += part[start : start + _BLOCK]
            start += _BLOCK
        # A full block carries no zero of its own; at the end of the data none is wanted.
        if index < last or start < len(part) or not part:
            out.append(len(part) - start + 1)
            out += part[start:]
    return bytes(out)


def decode(data: bytes) -> bytes:
    """Give the bytes that were stuffed.

    Raises:
        ValueError: Nothing there, a zero inside, or a code that points past the end.

    """
    if not data:
        raise ValueError("empty")
    out = bytearray()
    start = 0
    while start < len(data):
        code = data[start]
        end = start + code
        if code == 0 or end > len(data):
            raise ValueError("code")
        block = data[start + 1 : end]
        if b"\x00" in block:
            raise ValueError("zero")
        out += block
        start = end
        if code <= _BLOCK and start < len(data):
            out.append(0)
    return bytes(out)
