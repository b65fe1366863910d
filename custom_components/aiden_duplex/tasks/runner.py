"""The seam to whoever works the phone; tasks never knows the lease."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from .model import ConsentRequest, Outcome, ReasonClass


class RunEnd(StrEnum):
    """How a run came to its end."""

    COMPLETED = "completed"
    """The loop ended by itself: finish, guard stop, budget."""
    FAILED = "failed"
    """Something abnormal ended it: model, link, picture, deadline."""
    PAUSED = "paused"
    """It needs a person; the task waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a paused run asks of a person."""

    reason: ReasonClass
    details: str
    suggested_action: str
    consent: ConsentRequest | None = None
    """Set to ask for a yes to an act; see ``RunRequest.spend``."""


type Spend = Callable[[str, str], Awaitable[bool]]
"""Uses up the person's consent to an act on a screen, as both were asked for.

Only when it returns True may the act be done, once and at once; that is durable then.
"""


async def _no_consent(_act: str, _screen: str) -> bool:
    """Return that nobody agreed to anything."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One run of a task: the first, or a continuation after an answer or a restart."""

    task_id: str
    goal: str
    goal_revision: int
    continuation: str | None = None
    """The person's answer, as said. None on a first run and after a restart."""
    asked: str | None = None
    """The question that was answered."""
    begun: bool = False
    """An earlier run of this task has worked on the phone."""
    recovered: bool = False
    """The run before this one was cut off (restart); the screen may be half-changed."""
    spend: Spend = field(default=_no_consent, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run returned."""

    end: RunEnd
    text: str = ""
    """The result (completed) or the error (failed), for a person."""
    outcome: Outcome = Outcome.UNKNOWN
    evidence: str | None = None
    question: Question | None = None
    """Set when and only when ``end`` is PAUSED."""
    applied_revision: int = 1
    """The goal revision that this result belongs to: the last one that is in the
    background's transcript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steer:
    """A replacement of the goal of a run that goes on; the latest one wins."""

    goal: str
    goal_revision: int


class Runner(Protocol):
    """Works tasks on the phone, one at a time."""

    async def run(
        self, request: RunRequest, on_step: Callable[[str], None]
    ) -> RunResult:
        """Work until an end.

        ``on_step`` takes a short live description of the current step. Cancelling the
        awaiting asyncio task stops the run at the next safe point: it releases
        everything on the phone before the cancellation leaves this call. An exception
        other than ``CancelledError`` counts as a failed run.
        """
        ...

    def steer(self, task_id: str, steer: Steer) -> None:
        """Replace the goal of a run. Never blocks or fails.

        The run takes it up between two of its turns. Its result then carries the new
        revision; a result with an older one is discarded.
        """
        ...

    def revoke(self, task_id: str) -> None:
        """Let no new action of this task start, from this moment on. Never blocks or fails."""
        ...

    def fence(self, task_id: str) -> None:
        """Give up on a run that does not end: nothing it still does may reach the phone."""
        ...
