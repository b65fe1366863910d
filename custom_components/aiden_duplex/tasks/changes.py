"""Creations, new goals and answers: each is durable before it is acknowledged."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from dataclasses import replace
from typing import Any

from ..storage.lines import storable
from . import consents, lifecycle
from .arrivals import Arrivals, refuse_duplicate
from .book import Item, TaskBook
from .consent_desk import ConsentDesk
from .errors import (
    ConsentNeedsPersonError,
    HaltedError,
    NotUpdatableError,
    NotWaitingError,
    StaleQuestionError,
    TaskQueueFullError,
    TaskStorageError,
    TaskValueError,
)
from .model import Assent, Decision, Origin, Task, TaskEventType, TaskStatus
from .queue import Lane
from .records import Stored
from .worker import Worker


class ChangeDesk:
    """Takes what people and agents want of tasks; the worker is told when it stands."""

    def __init__(
        self,
        book: TaskBook,
        consents_given: ConsentDesk,
        worker: Worker,
        check_open: Callable[[], None],
    ) -> None:
        """Do nothing yet. ``check_open`` raises when nothing may be begun any more."""
        self._book = book
        self._limits = book.limits
        self._consents = consents_given
        self._worker = worker
        self._check_open = check_open
        self._arrivals = Arrivals()
        self._operations: set[asyncio.Task[None]] = set()

    async def create(
        self,
        goal: str,
        origin: Origin,
        distinct_from: Collection[str] | None,
        *,
        repeat: bool,
    ) -> Task:
        """Create a task; see :meth:`.TaskManager.create`."""
        text = self._checked(goal, "goal", self._limits.goal_chars)
        if len(self._operations) >= self._limits.queued:
            raise TaskQueueFullError(self._limits.queued)
        return await self._to_the_end(
            self._create(text, origin, distinct_from, repeat=repeat)
        )

    async def update(self, item: Item, goal: str) -> Task:
        """Replace a goal; see :meth:`.TaskManager.update`."""
        text = self._checked(goal, "goal", self._limits.goal_chars)
        return await self._to_the_end(self._update(item, text))

    async def respond(
        self,
        item: Item,
        message: str,
        decision: Decision,
        question_id: str | None,
        assent: Assent | None,
    ) -> Task:
        """Answer or refuse a question; see :meth:`.TaskManager.respond`."""
        text = self._checked(message, "message", self._limits.message_chars)
        return await self._to_the_end(
            self._respond(item, text, decision, question_id, assent)
        )

    async def settle(self, timeout_s: float) -> None:
        """Wait until everybody has their answer, once all records are decided."""
        if self._operations:
            await asyncio.wait(set(self._operations), timeout=timeout_s)

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
            foreseen = self._worker.foreseen(item, after)
            saved = await self._book.save(foreseen, owed=False)
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
        self,
        item: Item,
        message: str,
        decision: Decision,
        question_id: str | None,
        assent: Assent | None,
    ) -> Task:
        async with item.changing:
            before = item.stored
            action = before.task.pending_user_action
            if action is None or not before.task.is_waiting:
                raise NotWaitingError(before.task.id)
            if question_id not in (None, action.id):
                raise StaleQuestionError(before.task.id)
            if action.consent and decision is Decision.ANSWERED and assent is None:
                raise ConsentNeedsPersonError(before.task.id)
            withdrawals = self._consents.withdrawals
            after = self._answered(before, message, decision, assent)
            saved = await self._book.save(after, owed=False)
            if item.stored is not before:
                # What was written of the answer must not be the last word on it.
                self._book.save(item.stored)
                raise NotWaitingError(before.task.id)
            if not saved:
                raise TaskStorageError(self._book.ledger.trouble)
            if after.consent and withdrawals != self._consents.withdrawals:
                # Somebody said stop after the yes.
                after = replace(after, consent=None)
                self._book.save(after)
            if after.task.status.is_terminal:
                self._book.finish(item, after)
            else:
                self._book.apply(item, after, TaskEventType.ANSWERED)
            return self._book.snapshot(item)

    def _answered(
        self,
        before: Stored,
        message: str,
        decision: Decision,
        assent: Assent | None,
    ) -> Stored:
        now = self._book.now()
        match decision:
            case Decision.ANSWERED:
                place = self._book.queue.next_place(Lane.RESUMED)
                consent = consents.mint(before, assent, now=now)
                return lifecycle.answered(
                    before, message, now=now, place=place, consent=consent
                )
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
