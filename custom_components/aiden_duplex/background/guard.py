"""Notices a model that goes round in circles. No I/O.

Progress is a screen that was not among the last six different ones. Between two steps
of progress the same action, in whatever order with others, may run three times; then
it is refused, and a model that insists is stopped within six tries. So ``A``, ``A B``
and longer cycles fall under one rule, and a screen that toggles is no progress.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from . import screens

COORDINATES = frozenset({"x", "y", "x1", "y1", "x2", "y2"})
NEARBY = 15
"""Points closer than this (of 1000) on both axes are the same place."""
REPEATS = 3
LOOKS = 6
"""Looking and waiting may be repeated more often: some things take a minute."""
REFUSALS = 3
"""The refusal that ends the run."""
SCREENS = 6
WARN_WITHOUT_EFFECT = 5
STOP_WITHOUT_EFFECT = 8
WARN_STREAK = 8
STOP_STREAK = 15
"""The same action in a row ends here even if the picture changes each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something that the model wants to do."""

    name: str
    arguments: Mapping[str, Any]
    is_look: bool = False
    """It only looks or waits."""

    def is_like(self, other: Action) -> bool:
        """Return whether this is the other action again, give or take a few pixels."""
        if self.name != other.name:
            return False
        for name in self.arguments.keys() | other.arguments.keys():
            mine, others = self.arguments.get(name), other.arguments.get(name)
            if name in COORDINATES:
                if mine is None or others is None or abs(mine - others) > NEARBY:
                    return False
            elif isinstance(mine, str) or isinstance(others, str):
                if mine != others:
                    return False
            # Durations and flags do not make it another action.
        return True


class Verdict(StrEnum):
    """What the guard says to an action."""

    ALLOW = "allow"
    REFUSE = "refuse"
    STOP = "stop"


class Trouble(StrEnum):
    """What the guard noticed after an action, or stops for."""

    REPEATED = "repeated"
    """The same action again, without a new screen."""
    NO_EFFECT = "no_effect"
    """Different actions, none of which brought a new screen."""
    STREAK = "streak"
    """The same action very many times in a row."""


class LoopGuard:
    """Follows the actions and screens of one run."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._seen: deque[screens.Fingerprint] = deque(maxlen=SCREENS)
        self._stalled: list[Action] = []
        self._refusals = 0
        self._last: Action | None = None
        self._streak = 0
        self.trouble: Trouble | None = None
        """Why the last verdict was not ALLOW."""

    def begin(self, screen: screens.Fingerprint | None) -> None:
        """Take the screen that the run starts from."""
        self._is_new(screen)

    def judge(self, action: Action) -> Verdict:
        """Return whether an action may run."""
        self.trouble = None
        if self._streak >= STOP_STREAK and self._is_streak(action):
            self.trouble = Trouble.STREAK
            return Verdict.STOP
        if self._without_effect() >= STOP_WITHOUT_EFFECT and not action.is_look:
            self.trouble = Trouble.NO_EFFECT
            return Verdict.STOP
        if self._repeats(action) < self._limit(action):
            return Verdict.ALLOW
        self.trouble = Trouble.REPEATED
        self._refusals += 1
        return Verdict.STOP if self._refusals >= REFUSALS else Verdict.REFUSE

    def note(
        self, action: Action, screen: screens.Fingerprint | None, *, changed: bool
    ) -> Trouble | None:
        """Take what an action that ran led to; return what the model should be told.

        ``changed`` is the phone's own word that the picture differs from the one
        before the action; without it nothing is progress.
        """
        self._streak = self._streak + 1 if self._is_streak(action) else 1
        self._last = action
        if self._is_new(screen) and changed:
            self._stalled.clear()
            self._refusals = 0
            return Trouble.STREAK if self._streak == WARN_STREAK else None
        self._stalled.append(action)
        if self._repeats(action) == self._limit(action):
            return Trouble.REPEATED
        if not action.is_look and self._without_effect() == WARN_WITHOUT_EFFECT:
            return Trouble.NO_EFFECT
        return None

    def _is_streak(self, action: Action) -> bool:
        """Return whether this is the last action once more."""
        return self._last is not None and action.is_like(self._last)

    def _repeats(self, action: Action) -> int:
        """Return how often an action ran since the last progress."""
        return sum(action.is_like(other) for other in self._stalled)

    def _without_effect(self) -> int:
        """Return how many acts ran since the last progress."""
        return sum(not action.is_look for action in self._stalled)

    @staticmethod
    def _limit(action: Action) -> int:
        """Return how often an action may run without progress."""
        return LOOKS if action.is_look else REPEATS

    def _is_new(self, screen: screens.Fingerprint | None) -> bool:
        """Return whether a screen was not among the last ones, and remember it."""
        if screen is None:
            return False
        if any(screens.same(screen, known) for known in self._seen):
            return False
        self._seen.append(screen)
        return True
