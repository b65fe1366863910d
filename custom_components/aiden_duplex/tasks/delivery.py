"""How endings reach the foreground: queued, claimed, delivering, delivered.

A claim belongs to a consumer session and ends with it. Only *delivered* and
*suppressed* are final and journalled; the rest is queued again after a restart.
"""

import asyncio
from collections.abc import Iterable
import logging

from .book import Item, TaskBook
from .model import Delivery, Task, TaskEventType

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
            case _:
                return False, None

    async def _delivered(self, items: list[Item]) -> None:
        """Settle at once, so that no release can bring them back; publish when durable."""
        saved = [self._book.settle(item, Delivery.DELIVERED) for item in items]
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

    def _in(self, *states: Delivery) -> list[Item]:
        """Return the endings in these states, in the order of the endings."""
        return sorted(
            (item for item in self._book.items if item.stored.task.delivery in states),
            key=lambda item: item.stored.task.terminal_sequence or 0,
        )

    def _move(self, item: Item, delivery: Delivery) -> None:
        """Change a state that ends with the process."""
        self._book.apply(item, item.stored.with_task(delivery=delivery), None)
