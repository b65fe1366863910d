"""Time on the board: a clock that wraps, deadlines, and how often something may happen."""

WRAP_MS = 1 << 29
"""CircuitPython's ``supervisor.ticks_ms`` wraps here, MicroPython's at twice as much."""


class Uptime:
    """Milliseconds since the board started, as a number that only grows.

    The clock may wrap at a multiple of 2**29 ms or not at all; it has to be read at least
    once in three days. A step backwards counts as no time.
    """

    def __init__(self, clock) -> None:
        """Start at zero."""
        self._clock = clock
        self._last = clock.ms()
        self.now: int = 0

    def read(self) -> int:
        """Look at the clock."""
        raw = self._clock.ms()
        passed: int = (raw - self._last) % WRAP_MS
        if passed < WRAP_MS // 2:
            self.now += passed
        self._last = raw
        return self.now

    def on_clock(self, deadline: int) -> int:
        """Say a deadline as the clock would show it (before it wraps)."""
        shown: int = self._last + (deadline - self.now)
        return shown


class RateLimit:
    """At most ``count`` in any ``window_ms``."""

    def __init__(self, count: int, window_ms: int = 1000) -> None:
        """Start with nothing spent."""
        self._count = count
        self._window_ms = window_ms
        self._spent: list[int] = []

    def take(self, now: int, amount: int = 1) -> bool:
        """Spend if it is allowed; say whether it was."""
        while self._spent and now - self._spent[0] >= self._window_ms:
            self._spent.pop(0)
        if len(self._spent) + amount > self._count:
            return False
        for _ in range(amount):
            self._spent.append(now)
        return True


def earliest(deadlines) -> int | None:
    """Give the first of the deadlines that are not None."""
    first = None
    for deadline in deadlines:
        if deadline is not None and (first is None or deadline < first):
            first = deadline
    return first
