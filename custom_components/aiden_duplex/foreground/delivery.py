"""What finished or asks something leads the next reply, once, and again if it was cut off."""

import asyncio

from ..models.realtime.session import Notice
from ..tasks.manager import TaskManager
from ..tasks.model import Heard, Task, TaskStatus
from .task_view import update_notice

MAX_UPDATES = 10
"""Results in one message; more wait for the next one."""
NOTE_S = 1.0
"""How long it is waited that a lookup is durable; as long as a cancel waits."""


class Delivery:
    """Tells the model what the person has to hear. One report is under way at a time."""

    def __init__(self, tasks: TaskManager) -> None:
        """Start with nothing told."""
        self._tasks = tasks
        self._questions: dict[str, str] = {}
        self._heard_questions: dict[str, str] = {}
        self._read: set[str] = set()
        """Endings that the model looked up in the turn that is going on."""
        self._report: tuple[Task, ...] = ()
        self._is_acknowledged = False

    @property
    def unheard(self) -> tuple[str, ...]:
        """Return the tasks whose report was cut off each time it was made."""
        return tuple(
            task.id
            for task in self._tasks.unheard()
            if task.tellings >= self._tasks.most_tellings
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

    async def note_read(self, task: Task) -> None:
        """Note that the model looked up how a task stands; an ending counts as told."""
        self.note_question(task)
        if not task.status.is_terminal:
            return
        self._read.add(task.id)
        # It counts at once; a disk that hangs must not keep the model waiting.
        noting = asyncio.get_running_loop().create_task(
            self._tasks.mark_delivered(task.id),
            name="aiden_duplex foreground note",
            eager_start=True,
        )
        await asyncio.wait({noting}, timeout=NOTE_S)
        if noting.done():
            noting.result()

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
        """Note that the model has it; it is told again only if the person did not get it."""
        if self._is_acknowledged:
            return
        self._is_acknowledged = True
        for task in self._report:
            self.note_question(task)
        self._tasks.retell(task.id for task in self._report if task.is_unheard)
        await self._tasks.acknowledge([task.id for task in self._report])
        self._tasks.release(session)

    def finish(self, session: str, *, was_heard: bool) -> None:
        """End the report: what the model did not get, or the person did not, is kept."""
        told = self._report if self._is_acknowledged else ()
        if was_heard:
            self._tasks.hear([task.id for task in told], Heard.SHOWN)
            self._tasks.hear(self._read, Heard.QUERIED)
            self._heard_questions = dict(self._questions)
        else:
            for task in told:
                self._questions.pop(task.id, None)
        self._report = ()
        self._read.clear()
        self._tasks.release(session)

    def _again(self) -> list[Task]:
        """Return what was handed to the model, but never reached the person."""
        return [
            task
            for task in self._tasks.unheard()
            if task.tellings < self._tasks.most_tellings
        ]

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
