"""What a run's end means for its task. Pure."""

from datetime import datetime

from . import lifecycle
from .limits import TaskLimits
from .model import Outcome, TaskStatus
from .queue import Place
from .records import Stored
from .run import StopReason
from .runner import RunEnd, RunResult


def after_run(
    stored: Stored,
    result: RunResult | None,
    *,
    reason: StopReason | None,
    stuck: bool,
    now: datetime,
    sequence: int,
    first_place: Place,
    limits: TaskLimits,
    counts: bool = True,
) -> Stored:
    """Return the task as it stands after its run, which nobody cancelled.

    A run that was told to end may still have reached its goal; only what looks like a
    consequence of the stop (an error, no result) is taken for one. ``counts`` is whether
    a shutdown counts as a recovery.
    """
    stale = result is not None and result.applied_revision < stored.task.goal_revision
    if stale:
        # The goal was replaced and the run did not take it up: what it says is of no use.
        result = None
    interrupted = result is None or result.end is RunEnd.FAILED
    match reason:
        case StopReason.SHUTDOWN if interrupted:
            return lifecycle.handed_back(
                stored, now=now, place=first_place, counts=counts
            )
        case StopReason.TAKE_OVER if interrupted:
            return lifecycle.taken_over(stored, now=now)
        case StopReason.KILL_SWITCH if interrupted:
            return lifecycle.halted(stored, now=now, sequence=sequence)
        case StopReason.OVERDUE if interrupted:
            error = lifecycle.RUNNER_STUCK if stuck else StopReason.OVERDUE
            result = RunResult(end=RunEnd.FAILED, text=error)
        case _ if stale:
            return lifecycle.outdated(stored, now=now, place=first_place)
    if result is None:
        result = RunResult(end=RunEnd.FAILED, text="the run was stopped from inside")
    return _after_result(stored, result, now=now, sequence=sequence, limits=limits)


def not_started(stored: Stored, why: str, *, now: datetime, sequence: int) -> Stored:
    """Return the task as it fails because its start could not be stored."""
    untouched = stored.task.started_at is None
    return lifecycle.ended(
        stored,
        TaskStatus.FAILED,
        now=now,
        sequence=sequence,
        outcome=Outcome.NOT_ACHIEVED if untouched else Outcome.UNKNOWN,
        error=f"It was not started, because that could not be stored: {why}",
    )


def _after_result(
    stored: Stored,
    result: RunResult,
    *,
    now: datetime,
    sequence: int,
    limits: TaskLimits,
) -> Stored:
    applied = stored.task.applied_revision
    if result.applied_revision == stored.task.goal_revision:
        applied = result.applied_revision
    match result.end:
        case RunEnd.PAUSED if result.question is not None:
            return lifecycle.paused(
                stored,
                result.question,
                applied_revision=applied,
                now=now,
                limits=limits,
            )
        case RunEnd.PAUSED:
            status, text = TaskStatus.FAILED, "the run paused without a question"
        case RunEnd.FAILED:
            status = TaskStatus.FAILED
            text = result.text or "the run failed without saying why"
        case RunEnd.COMPLETED:
            status, text = TaskStatus.COMPLETED, result.text
    failed = status is TaskStatus.FAILED
    return lifecycle.ended(
        stored,
        status,
        now=now,
        sequence=sequence,
        outcome=result.outcome,
        error=lifecycle.tidy(text, limits.error_chars) if failed else None,
        result=None if failed else lifecycle.tidy(text, limits.result_chars),
        evidence=lifecycle.tidy(result.evidence or "", limits.detail_chars),
        applied_revision=applied,
    )
