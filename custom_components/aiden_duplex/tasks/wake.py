"""Says once per batch of endings that somebody should be told.

Apart from the events, which a session that is open drains: this one is for opening a
session. A batch is everything that has ended by the time a session is opened for it.
"""

import asyncio
from collections.abc import Callable
import logging

from .book import TaskBook
from .model import Delivery, TaskEvent

_LOGGER = logging.getLogger(__name__)


class WakeSignal:
    """Calls its listeners when endings have come to rest and no session was opened for them."""

    def __init__(self, book: TaskBook) -> None:
        """Follow the book's events."""
        self._book = book
        self._limits = book.limits
        self._listeners: list[Callable[[int], None]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._since: float | None = None
        self._is_closed = False
        book.subscribe(self._note)

    def subscribe(self, listener: Callable[[int], None]) -> Callable[[], None]:
        """Call a listener with the sequence of every batch; returns how to end that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def close(self) -> None:
        """Say nothing any more, also of what ends while the tasks are being closed."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _note(self, event: TaskEvent) -> None:
        """Wait for more after an ending: each one begins the short wait anew."""
        if event.task.delivery is not Delivery.QUEUED or event.is_step:
            return
        if self._is_closed:
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self._timer is not None:
            self._timer.cancel()
        else:
            self._since = now
        assert self._since is not None
        # Endings without a pause must not put it off for ever.
        at = min(
            now + self._limits.debounce_s, self._since + self._limits.debounce_most_s
        )
        self._timer = loop.call_at(at, self._say)

    def _say(self) -> None:
        """Tell of a batch that waits and that no session was opened for."""
        self._timer = None
        waits = any(
            (item.stored.task.terminal_sequence or 0) > self._book.watermark
            for item in self._book.items_of(
                self._book.index.waiting_for(Delivery.QUEUED)
            )
        )
        if not waits:
            return
        for listener in tuple(self._listeners):
            try:
                listener(self._book.sequence)
            except Exception:
                _LOGGER.exception("A listener failed on a batch of results")
