"""What becomes of a task found in the journal when the process starts. Pure."""

from dataclasses import replace
from datetime import datetime

from . import lifecycle
from .lifecycle import Doubt
from .limits import TaskLimits
from .model import Outcome, TaskStatus
from .queue import Place
from .records import Stored


def recover(
    stored: Stored,
    *,
    now: datetime,
    limits: TaskLimits,
    first_place: Place,
    sequence: int,
    doubt: Doubt | None = None,
) -> Stored:
    """Return the task as it goes on; the same object if nothing changes.

    A cancel that was under way is finished, a question stays open, a run that was cut
    off is queued again (at most ``limits.recoveries`` times). Work that is too old is
    held with a question; a clock that went back cannot tell, so it holds, too. So is all
    about which there is ``doubt``: what comes from a restored backup may have been done
    since, and what is found beside damage may have been cancelled.
    """
    task = stored.task
    if task.status.is_terminal and task.terminal_sequence is None:
        # The kill switch had cut it off, and the process ended before the run had; or its
        # number is another's.
        return stored.with_task(terminal_sequence=sequence)
    if task.status.is_terminal or task.is_waiting:
        return stored
    if task.status is TaskStatus.CANCELLING:
        return lifecycle.cancelled(stored, now=now, sequence=sequence)
    # A yes was about what the person saw before; it does not outlive the process.
    after = replace(stored, consent=None) if stored.consent else stored
    if not stored.is_in_queue:
        after = lifecycle.handed_back(stored, now=now, place=first_place)
    if after.recoveries > limits.recoveries:
        return lifecycle.ended(
            after,
            TaskStatus.FAILED,
            now=now,
            sequence=sequence,
            outcome=Outcome.UNKNOWN,
            error=lifecycle.RECOVERY_CAP,
        )
    if doubt is not None:
        return lifecycle.held(after, now=now, doubt=doubt)
    if abs(now - task.updated_at) > limits.hold_after:
        return lifecycle.held(after, now=now)
    return after
