"""The arrows between a task's states. Pure: a stored task in, a stored task out."""

from dataclasses import replace
from datetime import datetime
from enum import StrEnum
import uuid

from ..storage.lines import storable
from .limits import TaskLimits
from .model import (
    Consent,
    ConsentRequest,
    Delivery,
    Origin,
    Outcome,
    ReasonClass,
    Task,
    TaskStatus,
    UserAction,
)
from .queue import Place
from .records import Stored
from .runner import Question


class Doubt(StrEnum):
    """Why it is not known whether a task is still wanted, in words."""

    HELD_UP = "was held up by a restart"
    RESTORED = "was found in a restored backup"
    DAMAGED = "was found beside damaged records"


RUNNER_STUCK = "runner_stuck"
RECOVERY_CAP = "recovery_cap"
HALTED = "It was stopped by the kill switch."
TAKEN_OVER = "The phone was taken over, to do a part by hand."


def tidy(text: str, limit: int) -> str:
    """Return text that can be stored, cut to ``limit`` characters and an ellipsis."""
    text = storable(text)
    return text if len(text) <= limit else f"{text[:limit]}…"


def created(
    goal: str,
    *,
    origin: Origin,
    now: datetime,
    place: Place,
    slot: int | None = None,
) -> Stored:
    """Return a new task that waits in the queue."""
    task = Task(
        id=f"task_{uuid.uuid4().hex}",
        prompt=goal,
        status=TaskStatus.QUEUED,
        created_at=now,
        updated_at=now,
        origin=origin,
        slot=slot,
    )
    return Stored(task=task, place=place)


def started(stored: Stored, *, now: datetime) -> Stored:
    """Return the task as its run begins; the answer goes with the run."""
    changed = stored.with_task(
        status=TaskStatus.RUNNING,
        started_at=stored.task.started_at or now,
        updated_at=now,
    )
    return replace(
        changed, resumed=False, continuation=None, asked=None, recovered=False
    )


def paused(
    stored: Stored,
    question: Question,
    *,
    applied_revision: int,
    now: datetime,
    limits: TaskLimits,
) -> Stored:
    """Return the task as it waits for a person; the worker is free."""
    changed = stored.with_task(
        pending_user_action=_question(
            question.reason,
            tidy(question.details, limits.detail_chars),
            tidy(question.suggested_action, limits.detail_chars),
            now=now,
            consent=question.consent,
        ),
        applied_revision=applied_revision,
        updated_at=now,
    )
    return replace(changed, consent=None)


def taken_over(stored: Stored, *, now: datetime) -> Stored:
    """Return the task as it waits while the person does a part on the phone."""
    question = _question(
        ReasonClass.TAKE_OVER,
        TAKEN_OVER,
        "Say when that part is done; the work then goes on from there.",
        now=now,
    )
    changed = stored.with_task(
        status=TaskStatus.RUNNING, pending_user_action=question, updated_at=now
    )
    return replace(changed, resumed=False, consent=None)


def halted(stored: Stored, *, now: datetime, sequence: int | None) -> Stored:
    """Return the task as it fails because the kill switch cut its run off."""
    return ended(
        stored,
        TaskStatus.FAILED,
        now=now,
        sequence=sequence,
        outcome=Outcome.UNKNOWN,
        error=HALTED,
    )


def answered(
    stored: Stored,
    message: str,
    *,
    now: datetime,
    place: Place,
    consent: Consent | None = None,
) -> Stored:
    """Return the task as it waits in the queue with an answer.

    An answer that no run has got yet is kept and the new one put below it.
    """
    text = f"{stored.continuation}\n\n{message}" if stored.continuation else message
    action = stored.task.pending_user_action
    changed = stored.with_task(pending_user_action=None, updated_at=now)
    return replace(
        changed,
        resumed=True,
        continuation=text,
        asked=action.details if action else stored.asked,
        place=place,
        consent=consent,
    )


def updated(stored: Stored, goal: str, *, now: datetime, place: Place) -> Stored:
    """Return the task with a replaced goal.

    A question that it asked belongs to the old goal and is gone: the task goes on with
    the new one. An answer that no run has got yet is kept.
    """
    task = stored.task
    changed = stored.with_task(
        prompt=goal,
        goal_revision=task.goal_revision + 1,
        pending_user_action=None,
        updated_at=now,
    )
    if not task.is_waiting:
        return replace(changed, consent=None)
    return replace(changed, resumed=True, place=place, consent=None)


def outdated(stored: Stored, *, now: datetime, place: Place) -> Stored:
    """Return the task whose run came back with a goal that had been replaced: it runs again."""
    changed = stored.with_task(updated_at=now)
    return replace(changed, resumed=True, place=place, consent=None)


def refused(stored: Stored, message: str, *, now: datetime, sequence: int) -> Stored:
    """Return the task as it ends because its question was refused."""
    action = stored.task.pending_user_action
    asked = f" ({action.details})" if action and action.details else ""
    return ended(
        stored,
        TaskStatus.COMPLETED,
        now=now,
        sequence=sequence,
        outcome=Outcome.NOT_ACHIEVED,
        result=f"Not done: what it needed was refused{asked}. The person said: {message}",
    )


def cancelling(stored: Stored, *, now: datetime) -> Stored:
    """Return the task as its run is being stopped."""
    changed = stored.with_task(status=TaskStatus.CANCELLING, updated_at=now)
    return replace(changed, consent=None)


def cancelled(
    stored: Stored, *, now: datetime, sequence: int, error: str | None = None
) -> Stored:
    """Return the task as it ends on request."""
    untouched = stored.task.started_at is None
    return ended(
        stored,
        TaskStatus.CANCELLED,
        now=now,
        sequence=sequence,
        outcome=Outcome.NOT_ACHIEVED if untouched else Outcome.UNKNOWN,
        error=error,
    )


def ended(
    stored: Stored,
    status: TaskStatus,
    *,
    now: datetime,
    sequence: int | None,
    outcome: Outcome,
    result: str | None = None,
    error: str | None = None,
    evidence: str | None = None,
    applied_revision: int | None = None,
) -> Stored:
    """Return the task in a terminal state: no question, no answer left, to be told."""
    applied = (
        stored.task.applied_revision if applied_revision is None else applied_revision
    )
    changed = stored.with_task(
        status=status,
        updated_at=now,
        completed_at=now,
        pending_user_action=None,
        outcome=outcome,
        result=result or None,
        error=error or None,
        evidence=evidence or None,
        applied_revision=applied,
        delivery=Delivery.QUEUED,
        terminal_sequence=sequence,
    )
    return replace(
        changed,
        resumed=False,
        continuation=None,
        asked=None,
        recovered=False,
        consent=None,
    )


def handed_back(
    stored: Stored, *, now: datetime, place: Place, counts: bool = True
) -> Stored:
    """Return a task whose run was cut off by a stop or a crash: it waits to be recovered.

    The orderly stop of a process counts as much as a crash: a task that outlives every
    run is not tried for ever.
    """
    changed = stored.with_task(status=TaskStatus.QUEUED, updated_at=now)
    recoveries = stored.recoveries + (1 if counts else 0)
    return replace(
        changed, place=place, recovered=True, recoveries=recoveries, consent=None
    )


def held(stored: Stored, *, now: datetime, doubt: Doubt = Doubt.HELD_UP) -> Stored:
    """Return the task as it waits for somebody to say whether it is still wanted."""
    task = stored.task
    question = _question(
        ReasonClass.HELD,
        f"This was asked for at {task.created_at:%Y-%m-%d %H:%M} UTC and {doubt}.",
        "Say whether it should still be done.",
        now=now,
    )
    changed = stored.with_task(
        status=TaskStatus.RUNNING, pending_user_action=question, updated_at=now
    )
    return replace(changed, resumed=False, consent=None)


def _question(
    reason: ReasonClass,
    details: str,
    suggested_action: str,
    *,
    now: datetime,
    consent: ConsentRequest | None = None,
) -> UserAction:
    """Return a new question with an id of its own."""
    return UserAction(
        id=f"q_{uuid.uuid4().hex}",
        reason=reason,
        details=details,
        suggested_action=suggested_action,
        created_at=now,
        consent=consent,
    )
