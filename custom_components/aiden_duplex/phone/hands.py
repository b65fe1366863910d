"""What keeps acts apart: one at a time, stopped at a safe point, everything let go."""

import asyncio
from collections.abc import Callable, Sequence
import logging

from .driver import Act, Driver
from .types import (
    ActRefusedError,
    ActUnknownError,
    LeaseRevokedError,
    LinkLostError,
    NotObservedError,
)

_LOGGER = logging.getLogger(__name__)

LEAVE_S = 1.0
"""How long a cancelled caller stays to see the act end and everything let go."""


class Hands:
    """Plays acts through a driver and lets go of everything when told to.

    What it starts in the background is known by it and ends in :meth:`at_rest` or
    :meth:`close`.
    """

    def __init__(self, driver: Driver) -> None:
        """Start with nothing to do."""
        self._driver = driver
        self._lock = asyncio.Lock()
        self._playing: asyncio.Task[None] | None = None
        self._letting_go: set[asyncio.Task[bool]] = set()
        self.last_act_at: float | None = None
        """Event loop's time at which the last act ended; None before the first."""

    async def play(self, acts: Sequence[Act], check: Callable[[], None]) -> None:
        """Play acts one after the other.

        ``check`` raises as soon as nothing more may be sent; it is asked before each act.
        A cancelled caller leaves after the act has ended at a safe point and everything
        is let go, or after a second.

        Raises:
            LeaseRevokedError: ``check`` said so, or the act was stopped on the way.
            ActRefusedError, LinkLostError, ActUnknownError: As :meth:`Driver.play`.

        """
        async with self._lock:
            await self._come_to_rest()
            check()
            self._playing = task = asyncio.create_task(self._play_all(acts, check))
            task.add_done_callback(_retrieve)
            try:
                # Unlike awaiting it, waiting for it does not cancel it with us.
                await asyncio.wait((task,))
            except asyncio.CancelledError:
                self.let_go()
                await self.at_rest(LEAVE_S)
                raise
            if task.cancelled():
                raise ActUnknownError("the phone was closed during the act")
            task.result()

    def let_go(self, *, at_once: bool = False) -> None:
        """Stop the running act and release everything, in the background.

        The stop is on its way to the board when this returns.
        """
        task = asyncio.create_task(self._driver.stop(at_once=at_once), eager_start=True)
        self._letting_go.add(task)
        task.add_done_callback(self._letting_go.discard)
        task.add_done_callback(_retrieve)

    async def at_rest(self, timeout_s: float) -> bool:
        """Wait until no act runs and all is let go; return False if it took too long."""
        running = self._running()
        if not running:
            return True
        _, pending = await asyncio.wait(running, timeout=timeout_s)
        return not pending

    async def close(self) -> None:
        """Leave nothing running."""
        running = self._running()
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    async def _come_to_rest(self) -> None:
        """Wait for the last act's end and for everything to be let go.

        Bounded: the driver ends every act and every stop by its own deadlines.
        """
        while running := self._running():
            await asyncio.wait(running)

    def _running(self) -> set[asyncio.Task[None] | asyncio.Task[bool]]:
        """Return what is under way."""
        running: set[asyncio.Task[None] | asyncio.Task[bool]] = {
            task for task in self._letting_go if not task.done()
        }
        if self._playing is not None and not self._playing.done():
            running.add(self._playing)
        return running

    async def _play_all(self, acts: Sequence[Act], check: Callable[[], None]) -> None:
        """Play acts; the lease is looked at before each."""
        done = 0
        try:
            for act in acts:
                check()
                played = await self._driver.play(act)
                if not played.complete:
                    raise LeaseRevokedError(
                        "the control of the phone was taken back during the act; "
                        f"it was broken off after {played.steps} steps"
                    )
                done += 1
        except ActUnknownError:
            self.let_go()
            raise
        except (ActRefusedError, LinkLostError, NotObservedError) as err:
            if done == 0:
                raise
            raise ActUnknownError(
                f"only a part was done ({done} of {len(acts)} pieces): {err}"
            ) from err
        finally:
            self.last_act_at = asyncio.get_running_loop().time()


def _retrieve(task: asyncio.Task[None] | asyncio.Task[bool]) -> None:
    """Take note of an end that nobody may wait for any more."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _LOGGER.debug("An act or a release ended with %s", type(error).__name__)
