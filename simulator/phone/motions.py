"""What moves over a screen by itself: transitions and the knobs of switches."""

from simulator.phone.widgets import MOTION_S, Motion, Transition, View

KNOB_S = 0.15
_STEPS = 12


class Motions:
    """Times of what moves; steps are coarse, so that pictures can be kept and compared."""

    def __init__(self, speed: float = 1.0) -> None:
        """Nothing moves; ``speed`` above 1 makes everything shorter."""
        self._speed = speed
        self._motion: tuple[Motion, View, float] | None = None
        self._knobs: dict[str, tuple[float, bool]] = {}

    def start(self, motion: Motion, before: View, at: float) -> None:
        """Let a screen give way to what comes after it."""
        self._motion = (motion, before, at)
        self._knobs.clear()

    def move_knob(self, key: str, on: bool, at: float) -> None:
        """Let a switch's knob slide."""
        self._knobs[key] = (at, on)

    def stop(self) -> None:
        """End everything at once."""
        self._motion = None
        self._knobs.clear()

    def transition(self, now: float) -> Transition | None:
        """Return the transition that still runs."""
        if self._motion is None:
            return None
        motion, before, since = self._motion
        step = int((now - since) * self._speed / MOTION_S[motion] * _STEPS)
        if step >= _STEPS:
            self._motion = None
            return None
        return Transition(motion=motion, before=before, progress=max(step, 1) / _STEPS)

    def knobs(self, now: float) -> dict[str, float]:
        """Return where moving knobs are, 0 to 1 in quarters."""
        places: dict[str, float] = {}
        for key, (since, on) in list(self._knobs.items()):
            quarter = int((now - since) * self._speed / KNOB_S * 4)
            if quarter >= 4:
                del self._knobs[key]
            else:
                places[key] = quarter / 4 if on else 1 - quarter / 4
        return places
