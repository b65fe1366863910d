"""Stops of everything: the kill switch, and work that must ask before it goes on."""

import asyncio
import logging

from . import lifecycle
from .book import TaskBook
from .consent_desk import ConsentDesk
from .errors import TaskStorageError
from .worker import Worker

_LOGGER = logging.getLogger(__name__)


class KillSwitch:
    """Stops everything, and lets it go on."""

    def __init__(self, book: TaskBook, consents: ConsentDesk, worker: Worker) -> None:
        """Change nothing yet."""
        self._book = book
        self._limits = book.limits
        self._consents = consents
        self._worker = worker

    async def halt(self) -> None:
        """Turn the kill switch on: the run fails at once, and nothing starts until :meth:`resume`.

        What waits in the queue or for a person stays. Works when nothing can be stored.
        """
        self._book.halted = True
        self._book.halts += 1
        self._worker.halt()
        self._consents.withdraw_all()
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
