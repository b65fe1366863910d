"""How endings reach the foreground: queued, claimed, delivering, delivered.

A claim belongs to a consumer session and ends with it. Only *delivered* and
*suppressed* are final and journalled; the rest is queued again after a restart.
"""

import asyncio
from collections.abc import Iterable
import logging

from .book import Item, TaskBook
from .model import Delivery, Heard, Task, TaskEventType
from .records import Stored

_LOGGER = logging.getLogger(__name__)


class DeliveryDesk:
    """Hands endings out and takes them back."""

    def __init__(self, book: TaskBook) -> None:
        """Work on the book's tasks."""
        self._book = book

    def claim(self, session: str) -> list[Task]:
        """Give every queued ending to a session, in the order of the endings."""
        claimed = self._in(Delivery.QUEUED)
        for item in claimed:
            item.session = session
            self._move(item, Delivery.CLAIMED)
        return [self._book.snapshot(item) for item in claimed]

    def begin(self, session: str, task_ids: Iterable[str]) -> list[Task]:
        """Return those of the session's claims that still count; from now on they are told."""
        wanted = set(task_ids)
        begun = [
            item
            for item in self._in(Delivery.CLAIMED)
            if item.session == session and item.stored.task.id in wanted
        ]
        for item in begun:
            self._move(item, Delivery.DELIVERING)
        return [self._book.snapshot(item) for item in begun]

    async def acknowledge(self, task_ids: Iterable[str]) -> None:
        """Note that these endings were handed over; returns when that is durable."""
        wanted = set(task_ids)
        await self._delivered(
            [
                item
                for item in self._in(Delivery.DELIVERING)
                if item.stored.task.id in wanted
            ]
        )

    async def mark_delivered(self, task_id: str) -> None:
        """Note that an ending was read; nothing to do for other tasks."""
        item = self._book.find(task_id)
        task = item.stored.task
        if task.status.is_terminal and task.is_outstanding:
            await self._delivered([item])

    def retell(self, task_ids: Iterable[str]) -> None:
        """Note that endings nobody had heard were handed to the model once more."""
        wanted = set(task_ids)
        for item in self._unheard():
            task = item.stored.task
            if task.id in wanted:
                self._note(item, item.stored.with_task(tellings=task.tellings + 1))

    def hear(self, task_ids: Iterable[str], evidence: Heard) -> None:
        """Note what shows that a person got endings; others are ignored."""
        wanted = set(task_ids)
        for item in self._unheard():
            if item.stored.task.id in wanted:
                self._note(item, item.stored.with_task(heard=evidence))

    def unheard(self) -> list[Task]:
        """Return what was told without anybody hearing it, in the order of the endings."""
        return [self._book.snapshot(item) for item in self._unheard()]

    def release(self, session: str) -> None:
        """Queue what a session claimed and did not tell."""
        for item in self._in(Delivery.CLAIMED, Delivery.DELIVERING):
            if item.session != session:
                continue
            if item.hold_back:
                self._suppressed(item)
                continue
            item.session = None
            self._move(item, Delivery.QUEUED)

    def suppress(self, item: Item) -> tuple[bool, asyncio.Future[bool] | None]:
        """Let an ending not be told; whether that was still possible, and its record.

        Once it is being told it cannot be called back, but it is not told again.
        """
        match item.stored.task.delivery:
            case Delivery.QUEUED | Delivery.CLAIMED:
                return True, self._suppressed(item)
            case Delivery.DELIVERING if not item.hold_back:
                item.hold_back = True
                never_again = item.stored.with_task(delivery=Delivery.SUPPRESSED)
                return False, self._book.save(never_again)
            case Delivery.DELIVERED if item.stored.task.is_unheard:
                never_again = item.stored.with_task(tellings=self._book.limits.tellings)
                return False, self._note(item, never_again)
            case _:
                return False, None

    async def _delivered(self, items: list[Item]) -> None:
        """Settle at once, so that no release can bring them back; publish when durable."""
        saved = [
            self._book.settle(
                item, Delivery.DELIVERED, tellings=item.stored.task.tellings + 1
            )
            for item in items
        ]
        if not all([await one for one in saved]):
            _LOGGER.warning(
                "What was told could not be stored; it may be told again after a restart"
            )
        for item in items:
            self._book.publish(item, TaskEventType.UPDATED)

    def _suppressed(self, item: Item) -> asyncio.Future[bool]:
        saved = self._book.settle(item, Delivery.SUPPRESSED)
        self._book.publish(item, TaskEventType.UPDATED)
        return saved

    def _unheard(self) -> list[Item]:
        return self._in(Delivery.DELIVERED)

    def _note(self, item: Item, stored: Stored) -> asyncio.Future[bool]:
        """Let the book take over what was noted of an ending; returns its record."""
        saved = self._book.save(stored)
        self._book.apply(item, stored, None)
        return saved

    def _in(self, *states: Delivery) -> list[Item]:
        """Return the endings that wait for something, in the order of the endings."""
        return sorted(
            self._book.items_of(self._book.index.waiting_for(*states)),
            key=lambda item: item.stored.task.terminal_sequence or 0,
        )

    def _move(self, item: Item, delivery: Delivery) -> None:
        """Change a state that ends with the process."""
        self._book.apply(item, item.stored.with_task(delivery=delivery), None)
