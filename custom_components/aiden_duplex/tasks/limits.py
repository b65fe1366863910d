"""The numbers of the task manager and where they come from."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLimits:
    """Bounds and deadlines. The reference system is described in facts, not copied."""

    slots: int = 4
    """Places in which tasks are shown (option, 1 to 16)."""
    queued: int = 64
    """New tasks that may wait (reference system). Resumed tasks do not count."""
    goal_chars: int = 8000
    """Longest goal (specification)."""
    message_chars: int = 8000
    """Longest answer of a person; as the goal."""
    result_chars: int = 8000
    """A longer result is cut and gets an ellipsis (reference system)."""
    error_chars: int = 500
    """A longer error is cut (reference system's delivery limit)."""
    detail_chars: int = 2000
    """Longest part of a question and longest evidence; our choice."""
    step_chars: int = 200
    """Longest live step; fits a state attribute. Our choice."""
    stuck_s: float = 10.0
    """A cancelled run that has not returned by then is fenced (architecture)."""
    take_over_reserve_s: float = 120.0
    """After a take-over it stays at least so long, whatever the option says. Our choice."""
    take_over_s: float = 3.0
    """How long a take-over waits for the run to come to rest before it answers all the same."""
    run_s: float = 2 * 60 * 60.0
    """Backstop for a run that never returns; the background has nearer deadlines. Our choice."""
    consent_s: float = 60.0
    """How long after the yes a consent can be used (architecture)."""
    reserve_s: float = 120.0
    """The phone stays with the person who has to do something on it (architecture, option)."""
    start_retries_s: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0)
    """Pauses between attempts to journal a start; without it no run begins. Our choice."""
    recoveries: int = 2
    """How often a cut-off run is started again (architecture)."""
    hold_after: timedelta = timedelta(minutes=15)
    """Older work is not run after a restart without asking (architecture)."""
    debounce_s: float = 0.5
    """Endings within so long of each other are one batch (specification)."""
    debounce_most_s: float = 10.0
    """A batch is told of after so long, whatever still ends. Our choice."""
    tellings: int = 3
    """How often an ending is told that nobody seems to hear; then it stays unheard (architecture)."""
    remembered: int = 200
    """Ended tasks that are kept; undelivered ones are kept beyond it (our choice)."""
    undelivered: int = 1000
    """Bound of the undelivered ones: the oldest of more counts as not to be told. Our choice."""
    compact_from: int = 1000
    """The journal is not compacted below this many records; our choice."""
    compact_factor: int = 4
    """It is compacted when it holds more than this many times the needed records; our choice."""
    cancel_save_s: float = 1.0
    """How long a cancel waits for the journal before it answers all the same; our choice."""
    close_s: float = 5.0
    """An orderly stop takes no longer (as the reference system's shutdown)."""
