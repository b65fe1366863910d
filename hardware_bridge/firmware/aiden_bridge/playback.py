"""Plans that the board times by itself: a tap of a key, a text, a gesture.

The three have one shape. ``start`` begins; ``step`` does what is due at ``due``, never
sleeps, and sets the next ``due``, None at the end (OSError: it did not reach USB);
``remaining`` gives the milliseconds left; ``lease_ms`` is how long it may take; ``index``
counts what was played; ``kind`` is what it holds. A late step moves the rest of the plan; nothing is played faster than planned.
"""

from . import dx1, profiles
from .hid_state import HidState

MIN_HOLD_MS = 30
"""A key that is down for less may be missed between two polls of the phone."""
MIN_GAP_MS = 20
"""Reports closer together lost the shift key (Adafruit_CircuitPython_HID#114)."""
MOVE_MS = 16
"""Between the moves of a finger that the board fills in, about 60 a second."""
LEASE_MS = 500
"""A plan that takes this much longer than planned is broken off."""
LATE_MS = 20
"""More for each character: a text is long, and each report waits for the phone's poll."""


class Tap:
    """A key or consumer usage, down for a time, then up."""

    def __init__(self, kind: int, mods: int, usage: int, hold_ms: int) -> None:
        """Plan it: at least 30 ms down, 20 ms before the next plan may begin."""
        self._hold_ms = max(hold_ms, MIN_HOLD_MS)
        self._plan_ms = self._hold_ms + MIN_GAP_MS
        self.lease_ms = self._plan_ms + LEASE_MS
        self.due: int | None = None
        self.index = 0
        self.kind = kind
        self._mods = mods
        self._usage = usage
        self._phase = 0
        self._end = 0

    def start(self, now: int) -> None:
        """Begin: the key goes down at the next step."""
        self.due = now
        self._end = now + self._plan_ms

    def step(self, now: int, state: HidState) -> None:
        """Press, release, wait."""
        self._phase += 1
        if self._phase == 1:
            self.index = 1
            self._send(state, True)
            self.due = now + self._hold_ms
            self._end = self.due + MIN_GAP_MS
        elif self._phase == 2:
            self._send(state, False)
            self.due = now + MIN_GAP_MS
            self._end = self.due
        else:
            self.due = None

    def remaining(self, now: int) -> int:
        """Give the milliseconds to the end of the plan."""
        return self._end - now

    def _send(self, state: HidState, down: bool) -> None:
        if self.kind == dx1.HELD_CONSUMER:
            state.consumer(self._usage if down else 0)
        elif down:
            state.keys(profiles.keyboard_report(self._mods, (self._usage,)))
        else:
            state.keys(profiles.keyboard_report(0, ()))


class Text:
    """Characters one after the other, all keys up between two of them.

    ``pace_ms`` is the time from one key going down to the next, at least 50: 30 down, the
    rest up.
    """

    kind = dx1.HELD_KEYS

    def __init__(self, pace_ms: int, characters: bytes) -> None:
        """Plan it: ``characters`` are pairs of modifiers and usage."""
        self._gap_ms = max(pace_ms - MIN_HOLD_MS, MIN_GAP_MS)
        self._characters = characters
        self._count = len(characters) // 2
        self.lease_ms = self._count * (MIN_HOLD_MS + self._gap_ms + LATE_MS) + LEASE_MS
        self.due: int | None = None
        self.index = 0
        self._down = False

    @property
    def complete(self) -> bool:
        """Whether every character of the plan was typed."""
        return self.index * 2 == len(self._characters)

    def start(self, now: int) -> None:
        """Begin: the first character is due."""
        self.due = now

    def step(self, now: int, state: HidState) -> None:
        """Press the next character or release the last."""
        if self._down:
            self._down = False
            state.keys(profiles.keyboard_report(0, ()))
            self.due = now + self._gap_ms
        elif self.index < self._count:
            mods, usage = self._characters[self.index * 2 : self.index * 2 + 2]
            self._down = True
            state.keys(profiles.keyboard_report(mods, (usage,)))
            self.index += 1
            self.due = now + MIN_HOLD_MS
        else:
            self.due = None

    def remaining(self, now: int) -> int:
        """Give the milliseconds to the end of the plan."""
        if self.due is None:
            return 0
        left = (self._count - self.index) * (MIN_HOLD_MS + self._gap_ms)
        return self.due - now + left + (self._gap_ms if self._down else 0)

    def stop(self, now: int) -> None:
        """Type no further character; the one that is down is finished."""
        self._count = self.index
        if not self._down:
            self.due = now


class Gesture:
    """A finger at points and times, moved in a straight line between two that touch."""

    kind = dx1.HELD_TOUCH

    def __init__(self, contact: int, points: list[tuple[int, int, int, int]]) -> None:
        """Plan it: each point is ``(dt_ms, tip, x, y)``, the last with the tip up."""
        self.lease_ms = sum([point[0] for point in points]) + LEASE_MS
        self.due: int | None = None
        self.index = 0
        self._contact = contact
        self._points = points
        self._at: int = 0
        self._last = (0, 0, 0, 0)

    def start(self, now: int) -> None:
        """Begin: the first point is due after its own ``dt_ms``."""
        self._at = now
        self.due = now + self._points[0][0]

    def step(self, now: int, state: HidState) -> None:
        """Play the point that is due, or a move on the way to it."""
        point = self._points[self.index]
        dt_ms, tip, x, y = point
        if now - self._at < dt_ms:
            passed = now - self._at
            x = self._last[2] + (x - self._last[2]) * passed // dt_ms
            y = self._last[3] + (y - self._last[3]) * passed // dt_ms
            self._send(state, 1, x, y)
        else:
            self._send(state, tip, x, y)
            self._at = now
            self._last = point
            self.index += 1
        self._plan(now)

    def remaining(self, now: int) -> int:
        """Give the milliseconds to the end of the plan."""
        left: int = sum([point[0] for point in self._points[self.index :]])
        return self._at + left - now

    def _send(self, state: HidState, tip: int, x: int, y: int) -> None:
        flags = profiles.TIP | profiles.IN_RANGE if tip else 0
        state.touch(self._contact, flags, x, y)

    def _plan(self, now: int) -> None:
        if self.index == len(self._points):
            self.due = None
            return
        dt_ms, tip, x, y = self._points[self.index]
        self.due = self._at + dt_ms
        if tip and self._last[1] and (x, y) != self._last[2:]:
            steps = (now - self._at) // MOVE_MS + 1
            self.due = min(self.due, self._at + steps * MOVE_MS)
