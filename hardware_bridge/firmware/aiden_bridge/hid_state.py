"""What the phone believes is held down, and letting go of it.

Reports carry the full state, so a repeated one is harmless. A release is sent three times,
15 ms apart. What the host holds by itself has a deadline.
"""

from . import dx1, profiles, timing

RELEASE_ROUNDS = 3
RELEASE_GAP_MS = 15
RETRY_MS = 100
"""After three rounds of which the last did not reach USB."""

_KINDS = (dx1.HELD_KEYS, dx1.HELD_CONSUMER, dx1.HELD_TOUCH)
_NO_KEYS = bytes(8)


class HidState:
    """The reports last sent, by kind (``dx1.HELD_*``)."""

    def __init__(self, hid) -> None:
        """Start with nothing held."""
        self._hid = hid
        self.held = 0
        self.contact = 0
        self.x = 0
        self.y = 0
        self._limits: dict[int, int] = {}
        self._rounds: dict[int, list[int]] = {}
        self.usb_errors = 0

    def keys(self, report: bytes, limit: int | None = None) -> None:
        """Send a keyboard report; ``limit`` is when it is released at the latest.

        Raises:
            OSError: It did not reach USB.

        """
        down = report != _NO_KEYS
        self._put(dx1.HELD_KEYS, down, limit, (profiles.KEYBOARD_ID, report))

    def consumer(self, usage: int, limit: int | None = None) -> None:
        """Send a consumer report; raises and limits as ``keys``."""
        report = profiles.consumer_report(usage)
        self._put(dx1.HELD_CONSUMER, usage != 0, limit, (profiles.CONSUMER_ID, report))

    def touch(
        self, contact: int, flags: int, x: int, y: int, limit: int | None = None
    ) -> None:
        """Send a touch report; raises and limits as ``keys``."""
        self.contact = contact
        self.x = x
        self.y = y
        report = profiles.touch_report(contact, flags, x, y)
        self._put(dx1.HELD_TOUCH, flags != 0, limit, (profiles.TOUCH_ID, report))

    def release(self, kinds: int, now: int) -> None:
        """Let go of these kinds: one round at once, two more to come."""
        for kind in _KINDS:
            if kinds & kind:
                self._rounds[kind] = [RELEASE_ROUNDS, now]
        self._play_rounds(now)

    def forget(self) -> None:
        """Hold nothing and owe nothing: the phone's USB side was reset."""
        self.held = 0
        self._limits = {}
        self._rounds = {}

    def advance(self, now: int) -> int:
        """Go on releasing; give the kinds whose hold reached its limit."""
        overrun = 0
        for kind in _KINDS:
            limit = self._limits.get(kind)
            if limit is not None and now >= limit:
                overrun |= kind
        self._play_rounds(now)
        if overrun:
            self.release(overrun, now)
        return overrun

    def deadline(self) -> int | None:
        """When ``advance`` has something to do."""
        due = [turn[1] for turn in self._rounds.values()]
        return timing.earliest(due + list(self._limits.values()))

    def _put(self, kind: int, down: bool, limit: int | None, report) -> None:
        self._rounds.pop(kind, None)
        self._limits.pop(kind, None)
        if down:
            # Held from before the report is sent: after an error the phone may have it.
            self.held |= kind
            if limit is not None:
                self._limits[kind] = limit
            self._send(*report)
            return
        try:
            self._send(*report)
        except OSError:
            # Still down for all that is known: go on releasing at the next turn.
            self._rounds[kind] = [RELEASE_ROUNDS, 0]
            raise
        self.held &= ~kind

    def _play_rounds(self, now: int) -> None:
        for kind in _KINDS:
            turn = self._rounds.get(kind)
            if turn is not None and now >= turn[1]:
                self._round(kind, turn, now)

    def _round(self, kind: int, turn: list[int], now: int) -> None:
        self._limits.pop(kind, None)
        sent = self._neutral(kind)
        if sent:
            self.held &= ~kind
        turn[0] -= 1
        turn[1] = now + RELEASE_GAP_MS
        if turn[0] > 0:
            return
        if sent:
            self._rounds.pop(kind, None)
        else:
            turn[0] = RELEASE_ROUNDS
            turn[1] = now + RETRY_MS

    def _neutral(self, kind: int) -> bool:
        try:
            if kind == dx1.HELD_KEYS:
                self._send(profiles.KEYBOARD_ID, _NO_KEYS)
            elif kind == dx1.HELD_CONSUMER:
                self._send(profiles.CONSUMER_ID, profiles.consumer_report(0))
            else:
                report = profiles.touch_report(self.contact, 0, self.x, self.y)
                self._send(profiles.TOUCH_ID, report)
        except OSError:
            return False
        return True

    def _send(self, report_id: int, report: bytes) -> None:
        try:
            self._hid.send(report_id, report)
        except OSError:
            self.usb_errors += 1
            raise
