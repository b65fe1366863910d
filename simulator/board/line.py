"""A serial line's speed: a byte leaves when the line has carried it, never before."""

import asyncio
from collections.abc import Callable

BAUD = 115200
BITS_PER_BYTE = 10
"""A start bit, eight bits, a stop bit."""
CHUNK = 24
"""Bytes that are handed on together where more are waiting: about 2 ms."""
_ROUNDING_S = 1e-9


class PacedLine:
    """One direction of a line. Pure: seconds are passed in and never go back."""

    def __init__(self, baud: int = BAUD, *, limit: int = 65536) -> None:
        """Start idle; beyond ``limit`` waiting bytes nothing is taken."""
        self._byte_s = BITS_PER_BYTE / baud
        self._limit = limit
        self._waiting = bytearray()
        self._busy_until = float("-inf")
        """When the byte before the first waiting one has left."""
        self.lost = 0
        """Bytes that were not taken."""

    @property
    def waiting(self) -> int:
        """Return how many bytes have not left yet."""
        return len(self._waiting)

    def push(self, data: bytes, now: float) -> None:
        """Hand bytes to the line."""
        taken = data[: max(0, self._limit - len(self._waiting))]
        self.lost += len(data) - len(taken)
        if not self._waiting:
            self._busy_until = max(self._busy_until, now)
        self._waiting += taken

    def take(self, now: float) -> bytes:
        """Return the bytes that have left by now."""
        if not self._waiting:
            return b""
        due = int((now - self._busy_until + _ROUNDING_S) / self._byte_s)
        due = min(max(due, 0), len(self._waiting))
        data = bytes(self._waiting[:due])
        del self._waiting[:due]
        self._busy_until += due * self._byte_s
        return data

    def next_at(self) -> float | None:
        """Return when to take the next bytes, None when none wait."""
        if not self._waiting:
            return None
        return self._busy_until + min(len(self._waiting), CHUNK) * self._byte_s

    def clear(self) -> None:
        """Forget what has not left."""
        self._waiting.clear()


class Pump:
    """Carries bytes over a line by the event loop's timers."""

    def __init__(
        self, deliver: Callable[[bytes], None], *, baud: int = BAUD, limit: int = 65536
    ) -> None:
        """Deliver to a function, in chunks of about 2 ms."""
        self._deliver = deliver
        self._line = PacedLine(baud, limit=limit)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def waiting(self) -> int:
        """Return how many bytes have not left yet."""
        return self._line.waiting

    def push(self, data: bytes) -> None:
        """Hand bytes to the line."""
        if self._closed:
            return
        self._line.push(data, self._loop.time())
        self._schedule()

    def close(self) -> None:
        """Drop what has not left; nothing is delivered any more."""
        self._closed = True
        self._line.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self) -> None:
        at = self._line.next_at()
        if self._timer is None and at is not None and not self._closed:
            self._timer = self._loop.call_at(at, self._due)

    def _due(self) -> None:
        self._timer = None
        data = self._line.take(self._loop.time())
        if data:
            self._deliver(data)
        self._schedule()
