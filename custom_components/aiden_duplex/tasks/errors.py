"""Why the task manager refuses something. Each has a stable code and a sentence."""

from collections.abc import Sequence

from .model import Task


class TaskError(Exception):
    """The task manager refuses; nothing was changed.

    Attributes:
        code: A stable name of the reason, for translations and for models.

    """

    code = "task_error"


class TasksUnavailableError(TaskError):
    """The tasks are not loaded yet or are closed already."""

    code = "tasks_unavailable"

    def __init__(self) -> None:
        """Say so."""
        super().__init__("the tasks are not available at the moment")


class TaskNotFoundError(TaskError):
    """There is no such task (any more)."""

    code = "task_not_found"

    def __init__(self, task_id: str) -> None:
        """Keep the id."""
        super().__init__(f"there is no task {task_id!r}")
        self.task_id = task_id


class TaskValueError(TaskError):
    """A goal or a message cannot be taken.

    ``code`` is one of ``goal_empty``, ``goal_too_long``, ``message_empty``,
    ``message_too_long``.
    """

    def __init__(self, code: str, message: str) -> None:
        """Keep the code of the reason."""
        super().__init__(message)
        self.code = code


class TaskQueueFullError(TaskError):
    """As many tasks wait as may wait."""

    code = "queue_full"

    def __init__(self, limit: int) -> None:
        """Name the limit."""
        super().__init__(f"{limit} tasks wait already; nothing was created")


class DuplicateTaskError(TaskError):
    """The same work may be under way already; nothing was created.

    Attributes:
        existing: The task in flight with the same goal, if that is the reason.
        outstanding: What the caller has to look at, newest first.

    """

    code = "duplicate_task"

    def __init__(
        self, *, outstanding: Sequence[Task], existing: Task | None = None
    ) -> None:
        """Keep the tasks."""
        super().__init__(
            f"outstanding already: {', '.join(task.id for task in outstanding)}; nothing was created"
        )
        self.existing = existing
        self.outstanding = tuple(outstanding)


class NotWaitingError(TaskError):
    """The task does not wait for a person (any more)."""

    code = "not_waiting"

    def __init__(self, task_id: str) -> None:
        """Keep the id."""
        super().__init__(f"task {task_id} does not wait for an answer")
        self.task_id = task_id


class NotRunningError(TaskError):
    """The task is not in work, so there is nothing to take over.

    Attributes:
        task_id: The task; empty if none was named and none runs.

    """

    code = "not_running"

    def __init__(self, task_id: str = "") -> None:
        """Keep the id."""
        name = f"task {task_id}" if task_id else "no task"
        super().__init__(
            f"{name} is {'not ' if task_id else ''}in work on the phone now"
        )
        self.task_id = task_id


class RolloverError(TaskError):
    """What was meant has just been replaced by something else."""

    code = "rollover"

    def __init__(self) -> None:
        """Say so."""
        super().__init__("another task or question has just taken its place")


class NotUpdatableError(TaskError):
    """The task has ended or is being cancelled: its goal stays as it is."""

    code = "not_updatable"

    def __init__(self, task_id: str) -> None:
        """Keep the id."""
        super().__init__(f"task {task_id} has ended or is being cancelled")
        self.task_id = task_id


class HaltedError(TaskError):
    """The kill switch is on; nothing was created."""

    code = "halted"

    def __init__(self) -> None:
        """Say so."""
        super().__init__("the kill switch is on; nothing was created")


class StaleQuestionError(TaskError):
    """The answer names another question than the one that is open."""

    code = "stale_question"

    def __init__(self, task_id: str) -> None:
        """Keep the id."""
        super().__init__(f"task {task_id} waits for the answer to another question")
        self.task_id = task_id


class ConsentNeedsPersonError(TaskError):
    """The question asks for a consent, and the answer does not certainly come from a person."""

    code = "consent_needs_person"

    def __init__(self, task_id: str) -> None:
        """Keep the id."""
        super().__init__(
            f"task {task_id} asks for a consent that only a person can give"
        )
        self.task_id = task_id


class ConsentNeedsYesError(TaskError):
    """The question asks for a consent, and the person's words are no plain yes."""

    code = "consent_needs_yes"

    def __init__(self, task_id: str) -> None:
        """Keep the id."""
        super().__init__(f"task {task_id} asks for a consent, which is a plain yes")
        self.task_id = task_id


class TaskStorageError(TaskError):
    """The journal cannot be read or written, so nothing can be promised."""

    code = "storage_failed"
