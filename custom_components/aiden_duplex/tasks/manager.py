"""The task manager: what foreground, actions and runtime know of the tasks."""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable
from dataclasses import dataclass
from datetime import datetime
import logging
from typing import Any

from ..storage.contract import JournalError, JournalProtocol
from ..storage.lines import storable
from . import lifecycle
from .arrivals import Arrivals, refuse_duplicate
from .book import Item, TaskBook
from .delivery import DeliveryDesk
from .errors import (
    HaltedError,
    NotRunningError,
    NotUpdatableError,
    NotWaitingError,
    StaleQuestionError,
    TaskQueueFullError,
    TaskStorageError,
    TasksUnavailableError,
    TaskValueError,
)
from .limits import TaskLimits
from .model import (
    Decision,
    Delivery,
    Heard,
    Origin,
    Task,
    TaskEvent,
    TaskEventType,
    TaskStatus,
)
from .queue import Lane
from .records import Stored
from .runner import Runner
from .wake import WakeSignal
from .worker import Worker

_LOGGER = logging.getLogger(__name__)


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
    ) -> None:
        """Touch nothing yet. ``now`` returns UTC."""
        self._limits = limits
        self._book = TaskBook(journal, now, limits)
        self._worker = Worker(self._book, runner)
        self._desk = DeliveryDesk(self._book)
        self._wake = WakeSignal(self._book)
        self._arrivals = Arrivals()
        self._operations: set[asyncio.Task[None]] = set()
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
        if self._operations:
            # All their records are decided, so they end at once.
            await asyncio.wait(
                set(self._operations), timeout=self._limits.close_s * 0.1
            )

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
        text = self._checked(goal, "goal", self._limits.goal_chars)
        if len(self._operations) >= self._limits.queued:
            raise TaskQueueFullError(self._limits.queued)
        return await self._to_the_end(
            self._create(text, origin, distinct_from, repeat=repeat)
        )

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
        book = self._book
        return book.snapshots(book.items_of(book.index.outstanding))

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
        text = self._checked(goal, "goal", self._limits.goal_chars)
        return await self._to_the_end(self._update(item, text))

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
        self._book.halted = True
        self._book.halts += 1
        self._worker.halt()
        saved = self._book.save_switch(halted=True)
        await asyncio.wait({saved}, timeout=self._limits.cancel_save_s)
        if not (saved.done() and saved.result()):
            _LOGGER.error(
                "The kill switch is on, but that could not be stored: a restart before "
                "the disk works again would forget it"
            )

    async def resume(self) -> None:
        """Turn the kill switch off; the queue is worked again. Durable on return.

        Raises:
            TaskStorageError: It could not be stored, so the kill switch stays on.

        """
        self._check_open()
        if not self._book.halted:
            return
        halts = self._book.halts
        if not await self._book.save_switch(halted=False):
            raise TaskStorageError(self._book.ledger.trouble)
        if self._book.halts != halts:
            # It was turned on again meanwhile, and that counts.
            return
        self._book.halted = False
        held = self._hold_old_work()
        self._worker.wake()
        if held:
            await asyncio.wait(held, timeout=self._limits.cancel_save_s)

    def _hold_old_work(self) -> list[asyncio.Task[None]]:
        """Ask about what has waited for long, instead of running it, as after a restart."""
        now = self._book.now()
        return [
            self._worker.set_aside(item, lifecycle.held)
            for item in tuple(self._book.items)
            if item.stored.is_in_queue
            and abs(now - item.stored.task.updated_at) > self._limits.hold_after
        ]

    async def respond(
        self,
        task_id: str,
        message: str,
        *,
        decision: Decision = Decision.ANSWERED,
        question_id: str | None = None,
    ) -> Task:
        """Answer or refuse a task's question; durable on return.

        An answered task goes to the head of the queue, whatever waits there. A refused
        one is completed and not achieved.

        Raises:
            TaskNotFoundError: There is none with this id.
            TaskValueError: ``message_empty`` or ``message_too_long``.
            NotWaitingError: There is no open question.
            StaleQuestionError: Another question is open.
            TaskStorageError: It could not be stored; the question stays open.
            TasksUnavailableError: Not loaded or closed.

        """
        item = self._book.find(task_id)
        self._check_open()
        text = self._checked(message, "message", self._limits.message_chars)
        return await self._to_the_end(self._respond(item, text, decision, question_id))

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

    async def _create(
        self,
        goal: str,
        origin: Origin,
        distinct_from: Collection[str] | None,
        *,
        repeat: bool,
    ) -> Task:
        while True:
            self._check_open()
            if self._book.halted:
                raise HaltedError
            refuse_duplicate(
                goal, self._book, distinct_from=distinct_from, repeat=repeat
            )
            # Two creations must see each other as duplicates, once they are decided.
            first = self._arrivals.in_the_way(goal, of_all=distinct_from is not None)
            if not first or (repeat and distinct_from is None):
                break
            await asyncio.wait(first)
        queue = self._book.queue
        if queue.new_tasks + len(self._arrivals) >= self._limits.queued:
            raise TaskQueueFullError(self._limits.queued)
        stored = lifecycle.created(
            goal,
            origin=origin,
            now=self._book.now(),
            place=queue.next_place(Lane.NEW),
            slot=self._book.next_slot(),
        )
        with self._arrivals.arriving(goal):
            if not await self._book.save(stored, owed=False):
                raise TaskStorageError(self._book.ledger.trouble)
            return self._book.snapshot(self._book.add(stored))

    async def _update(self, item: Item, goal: str) -> Task:
        async with item.changing:
            before = item.stored
            status = before.task.status
            if status.is_terminal or status is TaskStatus.CANCELLING:
                raise NotUpdatableError(before.task.id)
            after = lifecycle.updated(
                before,
                goal,
                now=self._book.now(),
                place=self._book.queue.next_place(Lane.RESUMED),
            )
            saved = await self._book.save(after, owed=False)
            if item.stored is not before:
                # A cancel does not wait. What was written of the new goal must not be
                # the last word.
                self._book.save(item.stored)
                raise NotUpdatableError(before.task.id)
            if not saved:
                raise TaskStorageError(self._book.ledger.trouble)
            self._book.apply(item, after, TaskEventType.UPDATED)
            if (foretold := self._worker.steer(item)) is not None:
                await foretold
            return self._book.snapshot(item)

    async def _respond(
        self, item: Item, message: str, decision: Decision, question_id: str | None
    ) -> Task:
        async with item.changing:
            before = item.stored
            action = before.task.pending_user_action
            if action is None or not before.task.is_waiting:
                raise NotWaitingError(before.task.id)
            if question_id not in (None, action.id):
                raise StaleQuestionError(before.task.id)
            after = self._answered(before, message, decision)
            saved = await self._book.save(after, owed=False)
            if item.stored is not before:
                # What was written of the answer must not be the last word on it.
                self._book.save(item.stored)
                raise NotWaitingError(before.task.id)
            if not saved:
                raise TaskStorageError(self._book.ledger.trouble)
            if after.task.status.is_terminal:
                self._book.finish(item, after)
            else:
                self._book.apply(item, after, TaskEventType.ANSWERED)
            return self._book.snapshot(item)

    def _answered(self, before: Stored, message: str, decision: Decision) -> Stored:
        now = self._book.now()
        match decision:
            case Decision.ANSWERED:
                place = self._book.queue.next_place(Lane.RESUMED)
                return lifecycle.answered(before, message, now=now, place=place)
            case Decision.REFUSED:
                sequence = self._book.sequence + 1
                return lifecycle.refused(before, message, now=now, sequence=sequence)

    async def _to_the_end(self, operation: Coroutine[Any, Any, Task]) -> Task:
        """Finish what is half in the journal even if the caller stops waiting."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Task] = loop.create_future()
        task = asyncio.Task(_tell(operation, answer), loop=loop, eager_start=True)
        self._operations.add(task)
        task.add_done_callback(self._operation_ended)
        return await answer

    def _operation_ended(self, task: asyncio.Task[None]) -> None:
        self._operations.discard(task)
        # After the caller, whom the work on the next record would keep waiting.
        asyncio.get_running_loop().call_soon(self._worker.wake)
        if not task.cancelled():
            # The caller has it, or has gone.
            task.exception()

    def _check_open(self) -> None:
        if not self._open:
            raise TasksUnavailableError

    def _checked(self, text: str, name: str, limit: int) -> str:
        """Return a text of a person without surrounding space."""
        text = storable(text).strip()
        if not text:
            raise TaskValueError(f"{name}_empty", f"the {name} is empty")
        if len(text) > limit:
            raise TaskValueError(
                f"{name}_too_long", f"the {name} has more than {limit} characters"
            )
        return text


async def _tell(
    operation: Coroutine[Any, Any, Task], answer: asyncio.Future[Task]
) -> None:
    """Run an operation and tell its caller at once, if that still waits."""
    try:
        task = await operation
    except BaseException as err:
        if not answer.done():
            answer.set_exception(err)
            # Seen, also when the caller stops waiting just now.
            answer.exception()
        raise
    if not answer.done():
        answer.set_result(task)


def _begun_order(item: Item) -> tuple[bool, datetime]:
    """Order what has begun: answered tasks first, then the longest wait."""
    task = item.stored.task
    action = task.pending_user_action
    return action is not None, action.created_at if action else task.updated_at
