"""How consents are used up or taken away, each exactly once."""

from collections.abc import Callable
from dataclasses import replace
import logging

from . import consents
from .book import Item, TaskBook
from .model import TaskEventType

_LOGGER = logging.getLogger(__name__)


class ConsentDesk:
    """Uses consents up and takes them away."""

    def __init__(self, book: TaskBook) -> None:
        """Work on the book's tasks."""
        self._book = book
        self.withdrawals = 0
        """How often all were withdrawn: a yes on its way to the disk then counts no more."""

    async def spend(
        self, item: Item, act: str, screen: str, *, is_live: Callable[[], bool]
    ) -> bool:
        """Use a task's consent up; durable when this returns True.

        ``is_live`` is whether the run that asks may still act.
        """
        async with item.changing:
            before = item.stored
            now = self._book.now()
            life_s = self._book.limits.consent_s
            if (
                not is_live()
                or before.consent is None
                or before.consent == item.withdrawn
                or not consents.is_valid(before, act, screen, now=now, life_s=life_s)
            ):
                return False
            after = replace(before, consent=replace(before.consent, used_at=now))
            saved = await self._book.save(after, owed=False)
            if item.stored is not before:
                # A cancel does not wait. What was written of the use must not be the
                # last word.
                self._book.save(item.stored)
                return False
            if not is_live() or before.consent == item.withdrawn:
                return False
            if not saved:
                _LOGGER.warning(
                    "A consent could not be stored as used, so nothing was done"
                )
                return False
            self._book.apply(item, after, TaskEventType.CONSENT_USED)
            return True

    def withdraw_all(self) -> None:
        """Let no consent that was given so far be used; works when nothing can be stored."""
        self.withdrawals += 1
        for item in self._book.items:
            self._book.withdraw_consent(item)
