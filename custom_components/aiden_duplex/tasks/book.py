"""The one owner of all tasks: their state, their queue, their records, their events."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
import logging

from ..storage.contract import JournalProtocol
from .consents import Audit, changes
from .errors import TaskNotFoundError
from .index import TaskIndex
from .ledger import Ledger
from .lifecycle import Doubt
from .limits import TaskLimits
from .model import Consent, Delivery, Task, TaskEvent, TaskEventType, TaskStatus
from .queue import Place, TaskQueue
from .records import (
    Stored,
    damage_mark,
    decode_all,
    encode,
    encode_switch,
    encode_watermark,
    is_doubtful,
    is_halted,
    read_watermark,
)
from .recovery import recover
from .slots import Rank, Slots

_LOGGER = logging.getLogger(__name__)

_ENDINGS = {
    TaskStatus.COMPLETED: TaskEventType.COMPLETED,
    TaskStatus.FAILED: TaskEventType.FAILED,
    TaskStatus.CANCELLED: TaskEventType.CANCELLED,
}


@dataclass(slots=True, kw_only=True)
class Item:
    """A task and what only this process knows of it."""

    stored: Stored
    step: str | None = None
    session: str | None = None
    """Who claimed its ending."""
    withheld: bool = False
    """It is going to wait for a person, so it must not start."""
    snapshot: tuple[Task, Task] | None = None
    """The last snapshot, and the state it was made of."""
    hold_back: bool = False
    """A cancel came while the ending was being delivered: never queue it again."""
    withdrawn: Consent | None = None
    """Counts no more, though its task may still have it: somebody said stop."""
    changing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a change is on its way to the disk that counts when it is there: the next
    one must be made of what came of it, or its record would take the first one back."""


class TaskBook:
    """All tasks. Changes are applied in one step and then published in order."""

    def __init__(
        self,
        journal: JournalProtocol,
        now: Callable[[], datetime],
        limits: TaskLimits,
        audit: Audit | None = None,
    ) -> None:
        """Start empty."""
        self._audit = audit
        self.now = now
        self.limits = limits
        self.queue = TaskQueue()
        self.index = TaskIndex()
        self.ledger = Ledger(journal, limits)
        self.slots = Slots(limits.slots)
        self.sequence = 0
        """The number of the last ending."""
        self.watermark = 0
        """The number of the last ending that a session was opened for."""
        self.halted = False
        """The kill switch is on."""
        self.halts = 0
        """How often it was turned on."""
        self._items: dict[str, Item] = {}
        self._listeners: list[Callable[[TaskEvent], None]] = []
        self._events: deque[TaskEvent] = deque()
        self._publishing = False

    @property
    def items(self) -> Iterable[Item]:
        """Return all tasks."""
        return self._items.values()

    def items_of(self, task_ids: Iterable[str]) -> list[Item]:
        """Return the tasks with these ids, which are known."""
        return [self._items[task_id] for task_id in task_ids]

    def find(self, task_id: str) -> Item:
        """Return a task.

        Raises:
            TaskNotFoundError: It is not known (any more).

        """
        try:
            return self._items[task_id]
        except KeyError:
            raise TaskNotFoundError(task_id) from None

    def snapshot(self, item: Item) -> Task:
        """Return a task as it stands now, with its live step and position."""
        task = item.stored.task
        position = self.queue.position(task.id)
        slot = self.slots.of(task.id)
        if item.step is None and position is None and slot == task.slot:
            return task
        made_of, last = item.snapshot or (None, task)
        if (
            made_of is not task
            or last.step != item.step
            or last.queue_position != position
            or last.slot != slot
        ):
            last = replace(task, step=item.step, queue_position=position, slot=slot)
            item.snapshot = task, last
        return last

    def snapshots(self, items: Iterable[Item]) -> list[Task]:
        """Return tasks, the newest first."""
        return sorted(
            (self.snapshot(item) for item in items),
            key=lambda task: (task.created_at, task.id),
            reverse=True,
        )

    def outstanding(self) -> list[Task]:
        """Return what is in flight or was not told yet, the newest first."""
        return self.snapshots(self.items_of(self.index.outstanding))

    async def load(self, *, restored: bool) -> None:
        """Read the journal and decide what becomes of every task.

        Where the disk had damaged a record, nobody knows what it said: the kill switch is
        on, and what was to run waits for a person.

        Raises:
            JournalError: The journal cannot be read.

        """
        # What is decided while loading is told when somebody can hear it.
        self._publishing = True
        records = await self.ledger.open()
        found = decode_all(records)
        doubt = Doubt.RESTORED if restored else None
        if doubtful := is_doubtful(records):
            doubt = Doubt.DAMAGED
        self.halted = doubtful or is_halted(records)
        self.ledger.adopt(
            [
                *(encode(stored) for stored in found.values()),
                encode_switch(halted=self.halted),
                encode_watermark(read_watermark(records)),
                damage_mark(seen=not doubtful),
            ]
        )
        # Numbers of endings that are forgotten are not given again.
        self.sequence = read_watermark(records)
        for stored in _with_own_numbers(found.values()):
            self._items[stored.task.id] = Item(stored=stored)
            self._file(stored)
            self.sequence = max(self.sequence, stored.task.terminal_sequence or 0)
        for item in sorted(self.items, key=_creation_order):
            self._recover(item, doubt)
        if doubtful:
            self.save_switch(halted=True)
            self.ledger.put(damage_mark(seen=True), owed=True)
        self._retire()
        self._show_all()
        # A start alone never speaks: what had ended before leads the next conversation.
        self.raise_watermark(self.sequence)

    def open_events(self) -> None:
        """Publish what happened while loading, and from now on everything at once."""
        self._publishing = False
        self._emit()

    def raise_watermark(self, sequence: int) -> None:
        """Note that a session was opened for the endings up to a number."""
        if sequence > self.watermark:
            self.watermark = sequence
            self.ledger.put(encode_watermark(sequence), owed=True)

    def save_switch(self, *, halted: bool) -> asyncio.Future[bool]:
        """Journal the kill switch; only that it is on is owed if that fails."""
        return self.ledger.put(encode_switch(halted=halted), owed=halted)

    def with_place(self, stored: Stored) -> Stored:
        """Return a task with the place it will be shown in, if there is one for it."""
        number = self.slots.of(stored.task.id) or self.next_slot()
        return _in_place(stored, number)

    def next_slot(self) -> int | None:
        """Return the place in which a new task will be shown, if there is one for it."""
        return self.slots.choose(self._rank)

    def in_slot(self, number: int) -> Item | None:
        """Return the task that is shown in a place."""
        holder = self.slots.holder(number)
        return self._items.get(holder) if holder is not None else None

    def add(self, stored: Stored) -> Item:
        """Take up a new task that is durable, and publish it."""
        stored = self._shown(stored)
        item = Item(stored=stored)
        self._items[stored.task.id] = item
        self._file(stored)
        fresh = replace(stored.task, status=TaskStatus.CREATED)
        self._emit(
            TaskEvent(type=TaskEventType.CREATED, task=fresh, at=self.now()),
            self._event(item, TaskEventType.QUEUED),
        )
        return item

    def save(self, stored: Stored, *, owed: bool = True) -> asyncio.Future[bool]:
        """Journal a state; the future says whether it is durable and never raises."""
        return self.ledger.put(encode(stored), owed=owed)

    def apply(self, item: Item, stored: Stored, event: TaskEventType | None) -> None:
        """Let a task be in a new state and publish it."""
        self._note_consents(item, stored)
        item.stored = stored = self._shown(stored)
        if stored.task.status is not TaskStatus.RUNNING or stored.task.is_waiting:
            item.step = None
        self._file(stored)
        if event is not None:
            self.publish(item, event)

    def finish(self, item: Item, ended: Stored) -> None:
        """Apply an ending. Its number is the next one, whoever ended meanwhile."""
        self.sequence += 1
        if ended.task.terminal_sequence != self.sequence:
            ended = ended.with_task(terminal_sequence=self.sequence)
            self.save(ended)
        self.apply(item, ended, _ENDINGS[ended.task.status])
        self._retire()

    def settle(
        self, item: Item, delivery: Delivery, *, tellings: int | None = None
    ) -> asyncio.Future[bool]:
        """Let an ending be delivered or suppressed for good; returns its record."""
        item.session = None
        if tellings is None:
            tellings = item.stored.task.tellings
        stored = item.stored.with_task(delivery=delivery, tellings=tellings)
        saved = self.save(stored)
        self.apply(item, stored, None)
        self._retire()
        return saved

    def subscribe(self, listener: Callable[[TaskEvent], None]) -> Callable[[], None]:
        """Call a listener with every event from now on; returns how to end it."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def publish(
        self, item: Item, event: TaskEventType, *, is_step: bool = False
    ) -> None:
        """Tell the listeners."""
        self._emit(self._event(item, event, is_step=is_step))

    def _event(
        self, item: Item, event: TaskEventType, *, is_step: bool = False
    ) -> TaskEvent:
        return TaskEvent(
            type=event, task=self.snapshot(item), at=self.now(), is_step=is_step
        )

    def _emit(self, *events: TaskEvent) -> None:
        """Publish in order, also when a listener causes the next event."""
        self._events.extend(events)
        if self._publishing:
            return
        self._publishing = True
        try:
            while self._events:
                self._tell(self._events.popleft())
        finally:
            self._publishing = False

    def _tell(self, event: TaskEvent) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:
                _LOGGER.exception("A listener failed on a task's %s event", event.type)

    def _shown(self, stored: Stored) -> Stored:
        """Show a task that has not ended in its place, or in another if that is taken."""
        number = stored.task.slot
        if number is None or stored.task.status.is_terminal:
            return stored
        holder = self.slots.holder(number)
        if holder == stored.task.id:
            return stored
        if holder is not None and self._rank(holder) is None:
            number = self.slots.choose(self._rank)
        if number is None or not self.slots.put(stored.task.id, number):
            number = None
        return _in_place(stored, number)

    def _rank(self, task_id: str) -> Rank | None:
        """Return how soon a task gives its place away: told endings first, then the oldest."""
        if (item := self._items.get(task_id)) is None:
            return False, 0
        task = item.stored.task
        if not task.status.is_terminal:
            return None
        return task.is_outstanding, task.terminal_sequence or 0

    def _show_all(self) -> None:
        """Give every task its place back after a start; what has not ended goes first."""
        for item in sorted(self.items, key=_showing_order):
            if (number := item.stored.task.slot) is not None:
                self.slots.put(item.stored.task.id, number)
        for item in sorted(self.items, key=_creation_order):
            task = item.stored.task
            if not task.status.is_terminal and self.slots.of(task.id) is None:
                item.stored = self._shown(self.with_place(item.stored))
                if item.stored.task.slot is not None:
                    # Or the next start may choose another.
                    self.save(item.stored)

    def withdraw_consent(self, item: Item) -> None:
        """Let the consent of a task count no more, at once and in memory alone.

        The task itself stays as it is: a change of it may be on its way to the disk.
        No consent outlives the process, so this need not be durable.
        """
        consent = item.stored.consent
        if consent is None or consent.used_at or consent == item.withdrawn:
            return
        self._note_consents(item, replace(item.stored, consent=None))
        item.withdrawn = consent

    def _note_consents(self, item: Item, after: Stored) -> None:
        """Tell the audit what a change means for the task's consents."""
        if self._audit is None:
            return
        before = item.stored
        if before.consent is not None and before.consent == item.withdrawn:
            # That is noted already.
            before = replace(before, consent=None)
            if after.consent == item.withdrawn:
                after = replace(after, consent=None)
        life_s = self.limits.consent_s
        for change in changes(before, after, now=self.now(), life_s=life_s):
            try:
                self._audit(after.task.id, change)
            except Exception:
                _LOGGER.exception("The audit of consents failed")

    def _file(self, stored: Stored) -> None:
        """Let the queue and the index follow a task's state, unless it is forgotten."""
        if stored.task.id not in self._items:
            return
        self.index.put(stored.task)
        if stored.is_in_queue:
            self.queue.put(stored.task.id, stored.place)
        else:
            self.queue.discard(stored.task.id)

    def _recover(self, item: Item, doubt: Doubt | None) -> None:
        """Apply the rules of recovery to one task."""
        after = recover(
            item.stored,
            now=self.now(),
            limits=self.limits,
            first_place=self.queue.first_place(),
            sequence=self.sequence + 1,
            doubt=doubt,
        )
        if after is item.stored:
            return
        self.save(after)
        if after.task.status.is_terminal:
            self.finish(item, after)
        elif after.task.is_waiting:
            self.apply(item, after, TaskEventType.NEEDS_YOU)
        else:
            self.apply(item, after, TaskEventType.QUEUED)

    def _retire(self) -> None:
        """Forget old endings, but none that still has to be told."""
        for task_id in self.index.surplus(
            remembered=self.limits.remembered, untold=self.limits.undelivered
        ):
            if self._items.pop(task_id).stored.task.is_outstanding:
                _LOGGER.warning(
                    "More than %d results wait to be told; the oldest is dropped",
                    self.limits.undelivered,
                )
            self.index.drop(task_id)
            self.slots.vacate(task_id)
            self.ledger.forget(task_id)


def _with_own_numbers(found: Iterable[Stored]) -> Iterator[Stored]:
    """Take the number from an ending that shares it; the recovery gives it the next one.

    Two that ended together may have gone to the disk with one, and the process with them.
    """
    taken: set[int] = set()
    for stored in found:
        if (number := stored.task.terminal_sequence) is None:
            yield stored
        elif number in taken:
            yield stored.with_task(terminal_sequence=None)
        else:
            taken.add(number)
            yield stored


def _in_place(stored: Stored, number: int | None) -> Stored:
    return stored if stored.task.slot == number else stored.with_task(slot=number)


def _creation_order(item: Item) -> tuple[datetime, Place]:
    return item.stored.task.created_at, item.stored.place


def _showing_order(item: Item) -> tuple[bool, int]:
    """Order tasks so that the one that took a place last comes last."""
    task = item.stored.task
    return not task.status.is_terminal, task.terminal_sequence or 0
