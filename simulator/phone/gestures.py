"""What a finger on glass means: tap, long press, drag, fling. Pure; time is passed in."""

from collections import deque
from dataclasses import dataclass, field

SLOP_PX = 26
"""A finger that moved less has not moved: 8 dp, as Android's touch slop."""
LONG_PRESS_S = 0.5
_VELOCITY_WINDOW_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tap:
    """A short touch."""

    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LongPress:
    """A touch that stayed, found at ``at``; the finger is still down."""

    x: float
    y: float
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drag:
    """The finger moved by this much since the last drag."""

    start_x: float
    start_y: float
    dx: float
    dy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A drag ended."""

    start_x: float
    start_y: float
    total_x: float
    total_y: float
    velocity_y: float
    """Pixels per second over the last 100 ms; downwards is positive."""
    paused_s: float
    """How long the finger had not moved before it was lifted."""


type Gesture = Tap | LongPress | Drag | Release


@dataclass(slots=True)
class Finger:
    """One finger from down to up, in pixels of the screen."""

    start_x: float
    start_y: float
    down_at: float
    x: float = field(init=False)
    y: float = field(init=False)
    moved_at: float = field(init=False)
    dragging: bool = False
    held: bool = False
    _trail: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=64))

    def __post_init__(self) -> None:
        """Start where it came down."""
        self.x, self.y = self.start_x, self.start_y
        self.moved_at = self.down_at
        self._trail.append((self.down_at, self.y))

    def advance(self, now: float) -> list[Gesture]:
        """Let time pass: a finger that stays becomes a long press, once."""
        due = self.down_at + LONG_PRESS_S
        if self.dragging or self.held or now < due:
            return []
        self.held = True
        return [LongPress(x=self.start_x, y=self.start_y, at=due)]

    def move(self, x: float, y: float, now: float) -> list[Gesture]:
        """Move to a place."""
        found = self.advance(now)
        if (x, y) == (self.x, self.y):
            return found
        before_x, before_y = self.x, self.y
        self.x, self.y, self.moved_at = x, y, now
        self._trail.append((now, y))
        if self.held:
            return found
        if not self.dragging:
            far = max(abs(x - self.start_x), abs(y - self.start_y)) > SLOP_PX
            if not far:
                return found
            self.dragging = True
            before_x, before_y = self.start_x, self.start_y
        found.append(
            Drag(
                start_x=self.start_x,
                start_y=self.start_y,
                dx=x - before_x,
                dy=y - before_y,
            )
        )
        return found

    def up(self, now: float) -> list[Gesture]:
        """Lift the finger."""
        found = self.advance(now)
        if self.held:
            return found
        if not self.dragging:
            return [*found, Tap(x=self.start_x, y=self.start_y)]
        release = Release(
            start_x=self.start_x,
            start_y=self.start_y,
            total_x=self.x - self.start_x,
            total_y=self.y - self.start_y,
            velocity_y=self._velocity(now),
            paused_s=now - self.moved_at,
        )
        return [*found, release]

    def _velocity(self, now: float) -> float:
        """Return the vertical speed shortly before now."""
        recent = [
            place for place in self._trail if place[0] >= now - _VELOCITY_WINDOW_S
        ]
        if len(recent) < 2 or recent[-1][0] <= recent[0][0]:
            return 0.0
        return (recent[-1][1] - recent[0][1]) / (recent[-1][0] - recent[0][0])
