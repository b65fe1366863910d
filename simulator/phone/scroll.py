"""How a list moves under and after the finger."""

from dataclasses import dataclass
import math

_FRICTION_S = 0.325
"""Time constant of a fling: it has come to rest after about 1.1 s."""
_SLOWEST_PX_S = 150.0
_FASTEST_PX_S = 12_000.0
_REST_PX = 1.5


@dataclass(slots=True)
class Scroll:
    """The offset of one list, in pixels, 0 at its top."""

    offset: float = 0.0
    _velocity: float = 0.0
    _since: float = 0.0
    _flying: bool = False

    def at(self, now: float, maximum: int) -> float:
        """Return the offset at a time; a fling that reached its end or an edge is over."""
        if not self._flying:
            self.offset = min(max(self.offset, 0.0), float(maximum))
            return self.offset
        reach = self._velocity * _FRICTION_S
        gone = reach * (1 - math.exp(-(now - self._since) / _FRICTION_S))
        place = self.offset + gone
        if abs(reach - gone) < _REST_PX or not 0 <= place <= maximum:
            self._flying = False
            self.offset = min(max(place, 0.0), float(maximum))
            return self.offset
        return place

    def flying(self, now: float, maximum: int) -> bool:
        """Tell whether it still moves by itself."""
        self.at(now, maximum)
        return self._flying

    def stop(self, now: float, maximum: int) -> bool:
        """Stop a fling where it is; tell whether there was one."""
        was = self.flying(now, maximum)
        self.offset = self.at(now, maximum)
        self._flying = False
        return was

    def drag(self, dy: float, now: float, maximum: int) -> None:
        """Follow the finger: a finger that moves down shows what is above."""
        self.stop(now, maximum)
        self.offset = min(max(self.offset - dy, 0.0), float(maximum))

    def fling(self, velocity_y: float, now: float, maximum: int) -> None:
        """Let go with a speed in px/s, downwards positive."""
        self.stop(now, maximum)
        if abs(velocity_y) < _SLOWEST_PX_S or maximum == 0:
            return
        self._velocity = -max(-_FASTEST_PX_S, min(_FASTEST_PX_S, velocity_y))
        self._since = now
        self._flying = True
