"""What a stop word does at once, and until a model has decided what it meant."""

import asyncio
from collections.abc import Callable, Coroutine
import contextlib
from typing import Any

from ..tasks.errors import TaskError
from ..tasks.manager import TaskManager
from .stop_words import HOLD_S

MAX_HOLDS = 30
"""How often a hold is renewed while a stop is being answered: two minutes; our choice."""


class Stopping:
    """Holds the phone for the person; what was agreed to before is off."""

    def __init__(
        self, tasks: TaskManager, hold: Callable[[float], None] | None
    ) -> None:
        """Hold nothing yet. ``hold`` lets nobody act on the phone for so many seconds."""
        self._tasks = tasks
        self._hold = hold

    def begin(self) -> None:
        """Hold the phone; it waits for nothing."""
        self._tasks.withdraw_consents()
        self._hold_on()

    def _hold_on(self) -> None:
        if self._hold is not None:
            self._hold(HOLD_S)

    async def see_through(
        self, turn: Coroutine[Any, Any, bool], *, is_closing: Callable[[], bool]
    ) -> None:
        """Hold the phone until the model has decided in a turn; if it cannot, pause the work.

        Five seconds are not enough for a model that is slow or gone.
        """
        holding = asyncio.get_running_loop().create_task(self._keep_holding())
        try:
            decided = await turn
        finally:
            holding.cancel()
        if not decided and not is_closing():
            with contextlib.suppress(TaskError):
                await self._tasks.take_over()

    async def _keep_holding(self) -> None:
        """Hold again and again, for as long as a turn may take."""
        for _ in range(MAX_HOLDS):
            await asyncio.sleep(HOLD_S - 1)
            self._hold_on()
