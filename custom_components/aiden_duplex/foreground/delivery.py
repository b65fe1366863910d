"""What finished or asks something leads the next reply, once, and again if it was cut off."""

from ..models.realtime.session import Notice
from ..tasks.errors import TaskNotFoundError
from ..tasks.manager import TaskManager
from ..tasks.model import Delivery as DeliveryState, Task, TaskStatus
from .task_view import update_notice

MAX_UPDATES = 10
"""Results in one message; more wait for the next one."""
MAX_TRIES = 3
"""How often a report that was cut off is made; after that it stays unheard (architecture)."""


class Delivery:
    """Tells the model what the person has to hear. One report is under way at a time."""

    def __init__(self, tasks: TaskManager) -> None:
        """Start with nothing told."""
        self._tasks = tasks
        self._questions: dict[str, str] = {}
        self._heard_questions: dict[str, str] = {}
        self._tries: dict[str, int] = {}
        self._report: tuple[Task, ...] = ()
        self._is_acknowledged = False

    @property
    def unheard(self) -> tuple[str, ...]:
        """Return the tasks whose report was cut off each time it was made."""
        return tuple(
            task_id for task_id, tries in self._tries.items() if tries >= MAX_TRIES
        )

    @property
    def unheard_endings(self) -> tuple[Task, ...]:
        """Return the endings of the report under way: the person has not heard them yet."""
        return tuple(task for task in self._report if task.status.is_terminal)

    def question_told(self, task_id: str) -> str | None:
        """Return the id of the task's question that the model was told last."""
        return self._questions.get(task_id)

    def question_heard(self, task_id: str) -> str | None:
        """Return the id of the task's question that an earlier, complete reply carried."""
        return self._heard_questions.get(task_id)

    def note_question(self, task: Task) -> None:
        """Note that the model read a task's question."""
        if task.pending_user_action is not None:
            self._questions[task.id] = task.pending_user_action.id

    def lead(self, session: str) -> Notice | None:
        """Claim what there is to tell; None when there is nothing."""
        claimed = self._tasks.claim(session)
        cancelled = [task for task in claimed if task.status is TaskStatus.CANCELLED]
        others = [task for task in claimed if task.status is not TaskStatus.CANCELLED]
        # The manager drops what was cancelled or answered since. Cancellations are told
        # last, and many of them as one.
        told = [task.id for task in (*others[:MAX_UPDATES], *cancelled)]
        ended = self._tasks.begin(session, told)
        room = max(0, MAX_UPDATES - len(others))
        self._report = (*ended, *(*self._again(), *self._open_questions())[:room])
        self._is_acknowledged = False
        return update_notice(self._report) if self._report else None

    async def acknowledge(self, session: str) -> None:
        """Note that the model has it: it is not told again, unless the reply is cut off."""
        if self._is_acknowledged:
            return
        self._is_acknowledged = True
        for task in self._report:
            self.note_question(task)
        await self._tasks.acknowledge([task.id for task in self._report])
        self._tasks.release(session)

    def finish(self, session: str, *, was_heard: bool) -> None:
        """End the report: what the model did not get, or the person did not, is kept."""
        for task in self._report if self._is_acknowledged else ():
            if was_heard:
                self._tries.pop(task.id, None)
            elif task.is_waiting:
                self._questions.pop(task.id, None)
            else:
                self._tries[task.id] = self._tries.get(task.id, 0) + 1
        if was_heard:
            self._heard_questions = dict(self._questions)
        self._report = ()
        self._tasks.release(session)

    def _again(self) -> list[Task]:
        """Return what was handed to the model, but cut off before the person had it."""
        found = []
        for task_id, tries in list(self._tries.items()):
            try:
                task = self._tasks.get(task_id)
            except TaskNotFoundError:
                del self._tries[task_id]
                continue
            if tries < MAX_TRIES and task.delivery is not DeliveryState.SUPPRESSED:
                found.append(task)
        return found

    def _open_questions(self) -> list[Task]:
        """Return the tasks with a question that the model was not told."""
        waiting = [task for task in self._tasks.outstanding() if task.is_waiting]
        alive = {task.id for task in waiting}
        self._questions = {
            task_id: question
            for task_id, question in self._questions.items()
            if task_id in alive
        }
        return [
            task
            for task in waiting
            if task.pending_user_action is not None
            and self._questions.get(task.id) != task.pending_user_action.id
        ]
