"""The task manager: what foreground, actions and runtime know of the tasks."""

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from ..storage.contract import JournalError, JournalProtocol
from . import consents, lifecycle
from .book import Item, TaskBook
from .changes import ChangeDesk
from .consent_desk import ConsentDesk
from .delivery import DeliveryDesk
from .errors import NotRunningError, TaskStorageError, TasksUnavailableError
from .kill_switch import KillSwitch
from .limits import TaskLimits
from .model import (
    Assent,
    Decision,
    Delivery,
    Heard,
    Origin,
    Task,
    TaskEvent,
    TaskStatus,
)
from .runner import Runner
from .wake import WakeSignal
from .worker import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelResult:
    """What a cancel came to."""

    task: Task
    notification_cleared: bool
    """The task had ended, and its ending will not be told."""
    already_ended: bool
    """The task had ended before; its status stays."""


class TaskManager:
    """Creates, runs, stops and remembers tasks, and hands out their endings.

    What :meth:`create` and :meth:`respond` return is durable. Stopping is the exception:
    it works in memory first, also when nothing can be stored.
    """

    def __init__(
        self,
        *,
        journal: JournalProtocol,
        runner: Runner,
        now: Callable[[], datetime],
        limits: TaskLimits = TaskLimits(),
        audit: consents.Audit | None = None,
    ) -> None:
        """Touch nothing yet. ``now`` returns UTC; ``audit`` is told of consents."""
        self._limits = limits
        self._book = TaskBook(journal, now, limits, audit)
        self._consents = ConsentDesk(self._book)
        self._worker = Worker(self._book, self._consents, runner)
        self._desk = DeliveryDesk(self._book)
        self._wake = WakeSignal(self._book)
        self._changes = ChangeDesk(
            self._book, self._consents, self._worker, self._check_open
        )
        self._kill_switch = KillSwitch(self._book, self._consents, self._worker)
        self._open = False

    async def load(self, *, restored: bool = False) -> None:
        """Read the journal and decide what becomes of every task; nothing runs yet.

        Args:
            restored: The journal came from a backup, so what has not ended waits for
                somebody to say whether it is still wanted.

        Raises:
            TaskStorageError: The journal cannot be read.

        """
        try:
            await self._book.load(restored=restored)
        except JournalError as err:
            raise TaskStorageError(str(err)) from err
        self._open = True

    async def flush(self) -> None:
        """Return when all that was decided so far is on the disk, or cannot be."""
        await self._book.ledger.flush()

    def pause_compaction(self, seconds: float) -> None:
        """Let the journal only grow for a while; 0 ends that."""
        self._book.ledger.pause_compaction(seconds)

    def start(self) -> None:
        """Begin to work the queue. A second call does nothing."""
        if self._open:
            self.open_events()
            self._worker.start()

    def open_events(self) -> None:
        """Tell the subscribers of today what was decided while loading."""
        self._book.open_events()

    async def close(self, *, counts: bool = True) -> None:
        """Stop orderly within ``limits.close_s``: a run that is cut off will be recovered.

        ``counts`` is False where no restart of the process is behind it, so that the cap
        of recoveries does not end a task whose set-up is merely changed.
        """
        if not self._open:
            return
        self._open = False
        self._wake.close()
        await self._worker.stop(self._limits.close_s * 0.55, counts=counts)
        await self._book.ledger.close(self._limits.close_s * 0.35)
        # All records are decided, so this takes no time.
        await self._changes.settle(self._limits.close_s * 0.1)

    async def create(
        self,
        goal: str,
        *,
        origin: Origin,
        distinct_from: Collection[str] | None = None,
        repeat: bool = False,
    ) -> Task:
        """Create a task; it is queued and durable on return.

        Args:
            goal: The complete goal, 1 to 8,000 characters without surrounding space.
            origin: Who asks.
            distinct_from: For the foreground: the ids of all outstanding tasks, as it
                knows them. None for callers that do not know them; then the goal is
                compared with the goals in flight.
            repeat: The same goal shall be done once more. It does not replace
                ``distinct_from``.

        Raises:
            TaskValueError: ``goal_empty`` or ``goal_too_long``.
            DuplicateTaskError: The work may be under way.
            TaskQueueFullError: Too many tasks wait.
            HaltedError: The kill switch is on.
            TaskStorageError: It could not be stored and will not be done.
            TasksUnavailableError: Not loaded or closed.

        """
        self._check_open()
        return await self._changes.create(goal, origin, distinct_from, repeat=repeat)

    def get(self, task_id: str) -> Task:
        """Return one task.

        Raises:
            TaskNotFoundError: There is none with this id.

        """
        return self._book.snapshot(self._book.find(task_id))

    @property
    def current(self) -> Task | None:
        """Return the task in work: the run, else one that was answered, else one that waits."""
        if (active := self._worker.active) is not None:
            return self._book.snapshot(active)
        begun = [
            item
            for item in self._book.items_of(self._book.index.waiting_for(Delivery.NONE))
            if item.stored.task.status is TaskStatus.RUNNING
        ]
        if not begun:
            return None
        return self._book.snapshot(min(begun, key=_begun_order))

    @property
    def on_phone(self) -> Task | None:
        """Return the task that has the phone, or for whose person the phone is kept."""
        item = self._worker.on_phone
        return self._book.snapshot(item) if item is not None else None

    def slot(self, number: int) -> Task | None:
        """Return the task that is shown in a place, from 1; None if it is empty."""
        item = self._book.in_slot(number)
        return self._book.snapshot(item) if item is not None else None

    def outstanding(self) -> list[Task]:
        """Return what is in flight or was not told yet, the newest first."""
        return self._book.outstanding()

    def tasks(self) -> list[Task]:
        """Return all tasks that are remembered, the newest first."""
        return self._book.snapshots(self._book.items)

    async def cancel(self, task_id: str) -> CancelResult:
        """Stop a task, or let the ending of an ended one not be told.

        Nothing of the task reaches the phone from the moment of this call. Works when
        nothing can be stored. A running task is ``cancelling`` until its run returned.

        Raises:
            TaskNotFoundError: There is none with this id.
            TasksUnavailableError: Not loaded or closed.

        """
        item = self._book.find(task_id)
        self._check_open()
        ended = item.stored.task.status.is_terminal
        cleared = False
        saved: asyncio.Future[bool] | None = None
        if ended:
            cleared, saved = self._desk.suppress(item)
        elif item.stored.task.status is not TaskStatus.CANCELLING:
            saved = self._worker.cancel(item)
        else:
            # Said twice: the second caller, too, hears it when it is durable.
            saved = self._book.save(item.stored)
        if saved is not None:
            await asyncio.wait({saved}, timeout=self._limits.cancel_save_s)
        return CancelResult(
            task=self._book.snapshot(item),
            notification_cleared=cleared,
            already_ended=ended,
        )

    async def update(self, task_id: str, goal: str) -> Task:
        """Replace the complete goal of a task that has not ended; durable on return.

        What is queued runs with the new goal; what runs takes it up between two turns
        and goes on; a question of the old goal is withdrawn and the task goes on.

        Raises:
            TaskNotFoundError: There is none with this id.
            TaskValueError: ``goal_empty`` or ``goal_too_long``.
            NotUpdatableError: It has ended or is being cancelled.
            TaskStorageError: It could not be stored; the old goal stays.
            TasksUnavailableError: Not loaded or closed.

        """
        item = self._book.find(task_id)
        self._check_open()
        return await self._changes.update(item, goal)

    async def take_over(self, task_id: str | None = None) -> Task:
        """Stop a run so that the person can do a part; the task then waits like for an answer.

        Nothing of the task reaches the phone from the moment of this call. Returns when
        the run has come to rest, at the latest after ``limits.take_over_s``. For a task
        that waits already the phone is kept, but what else runs goes on: see
        :attr:`on_the_phone`. Works when nothing can be stored.

        Args:
            task_id: The task; None for the one in work.

        Raises:
            TaskNotFoundError: There is none with this id.
            NotRunningError: It is not in work, or nothing is.
            TasksUnavailableError: Not loaded or closed.

        """
        self._check_open()
        item = self._book.find(task_id) if task_id else self._worker.begun
        if item is None:
            raise NotRunningError
        if item.stored.task.is_waiting:
            # From now on nothing new starts; what runs already is another task.
            self._worker.reserve(item)
            return self._book.snapshot(item)
        over = self._worker.take_over(item)
        if over is None:
            raise NotRunningError(item.stored.task.id)
        await asyncio.wait({over}, timeout=self._limits.take_over_s)
        return self._book.snapshot(item)

    @property
    def on_the_phone(self) -> str | None:
        """Return the id of the task whose run goes on or is about to start."""
        item = self._worker.begun
        return item.stored.task.id if item is not None else None

    @property
    def halted(self) -> bool:
        """Return whether the kill switch is on: nothing runs, nothing is created."""
        return self._book.halted

    async def hold(self) -> None:
        """Let what would run next wait for the person instead, before anything runs."""
        self._check_open()
        if (head := self._book.queue.head) is None:
            return
        await self._worker.set_aside(self._book.find(head), lifecycle.taken_over)

    async def halt(self) -> None:
        """Turn the kill switch on: the run fails at once, and nothing starts until :meth:`resume`.

        What waits in the queue or for a person stays. Works when nothing can be stored.
        """
        self._check_open()
        await self._kill_switch.halt()

    async def resume(self) -> None:
        """Turn the kill switch off; the queue is worked again. Durable on return.

        Raises:
            TaskStorageError: It could not be stored, so the kill switch stays on.

        """
        self._check_open()
        await self._kill_switch.resume()

    async def respond(
        self,
        task_id: str,
        message: str,
        *,
        decision: Decision = Decision.ANSWERED,
        question_id: str | None = None,
        assent: Assent | None = None,
    ) -> Task:
        """Answer or refuse a task's question; durable on return.

        An answered task goes to the head of the queue, whatever waits there. A refused
        one is completed and not achieved. ``assent`` is the person's yes, without which
        a question that asks for consent can only be refused.

        Raises:
            TaskNotFoundError: There is none with this id.
            TaskValueError: ``message_empty`` or ``message_too_long``.
            NotWaitingError: There is no open question.
            StaleQuestionError: Another question is open.
            ConsentNeedsPersonError: The question asks for consent, and nobody gave it.
            TaskStorageError: It could not be stored; the question stays open.
            TasksUnavailableError: Not loaded or closed.

        """
        item = self._book.find(task_id)
        self._check_open()
        return await self._changes.respond(item, message, decision, question_id, assent)

    def withdraw_consents(self) -> None:
        """Let no consent that was given so far be used: somebody said stop."""
        self._consents.withdraw_all()

    def subscribe(self, listener: Callable[[TaskEvent], None]) -> Callable[[], None]:
        """Call a listener with every event; returns how to end that.

        Events come in order, after they are durable. Besides the arrows of the
        lifecycle, ``updated`` tells of a live step (``is_step``) or that an ending was
        delivered or suppressed.
        """
        return self._book.subscribe(listener)

    def subscribe_wake(self, listener: Callable[[int], None]) -> Callable[[], None]:
        """Call a listener once per batch of endings; returns how to end that.

        It gets the batch's number, for :meth:`activated`. A start alone makes no batch.
        """
        return self._wake.subscribe(listener)

    def activated(self, sequence: int) -> None:
        """Note that a session was opened for a batch: it opens no other one."""
        self._book.raise_watermark(min(sequence, self._book.sequence))

    @property
    def terminal_sequence(self) -> int:
        """Return the number of the last ending; it rises with every one."""
        return self._book.sequence

    def claim(self, session: str) -> list[Task]:
        """Give all endings that wait to be told to a session, in the order of the endings."""
        return self._desk.claim(session)

    def begin(self, session: str, task_ids: Iterable[str]) -> list[Task]:
        """Return, right before they are told, those claims that still count."""
        return self._desk.begin(session, task_ids)

    async def acknowledge(self, task_ids: Iterable[str]) -> None:
        """Note that endings in delivery were handed to the model; others are ignored."""
        await self._desk.acknowledge(task_ids)

    def release(self, session: str) -> None:
        """Let endings that a session claimed and did not deliver wait again."""
        self._desk.release(session)

    def retell(self, task_ids: Iterable[str]) -> None:
        """Note that endings nobody had heard were handed to the model once more."""
        self._desk.retell(task_ids)

    def hear(self, task_ids: Iterable[str], evidence: Heard) -> None:
        """Note what shows that a person got endings that were told; others are ignored."""
        self._desk.hear(task_ids, evidence)

    def unheard(self) -> list[Task]:
        """Return what was told without anybody hearing it, in the order of the endings.

        It is told again as long as ``tellings`` is below ``limits.tellings``.
        """
        return self._desk.unheard()

    @property
    def most_tellings(self) -> int:
        """Return how often an unheard ending is told at most."""
        return self._limits.tellings

    async def mark_delivered(self, task_id: str) -> None:
        """Note that an ending was read by a query; no effect on other tasks.

        Raises:
            TaskNotFoundError: There is none with this id.

        """
        await self._desk.mark_delivered(task_id)

    def _check_open(self) -> None:
        if not self._open:
            raise TasksUnavailableError


def _begun_order(item: Item) -> tuple[bool, datetime]:
    """Order what has begun: answered tasks first, then the longest wait."""
    task = item.stored.task
    action = task.pending_user_action
    return action is not None, action.created_at if action else task.updated_at
