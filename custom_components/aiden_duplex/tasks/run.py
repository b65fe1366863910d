"""One run of a task: started, watched, stopped, and given up when it does not end."""

import asyncio
from collections.abc import Callable
from enum import StrEnum
import logging
from typing import Any

from .limits import TaskLimits
from .records import Stored
from .runner import RunEnd, Runner, RunRequest, RunResult, Spend

_LOGGER = logging.getLogger(__name__)


class StopReason(StrEnum):
    """Why a run has to end before it does by itself; also the cancellation's message."""

    CANCELED = "canceled"
    SHUTDOWN = "service_shutdown"
    OVERDUE = "deadline_exceeded"
    TAKE_OVER = "take_over"
    KILL_SWITCH = "kill_switch"


class Run:
    """A run from its start until its end is applied.

    Attributes:
        stuck: The run did not end when told to and was fenced.
        is_over: What came of it is decided and on its way to the disk.

    """

    def __init__(
        self, stored: Stored, runner: Runner, limits: TaskLimits, spend: Spend
    ) -> None:
        """Prepare the run of a task as it stood in the queue."""
        task = stored.task
        self._request = RunRequest(
            task_id=task.id,
            goal=task.prompt,
            goal_revision=task.goal_revision,
            continuation=stored.continuation,
            asked=stored.asked,
            begun=task.started_at is not None,
            recovered=stored.recovered,
            spend=spend,
        )
        self._runner = runner
        self._limits = limits
        self._stopping: asyncio.Future[StopReason] = (
            asyncio.get_running_loop().create_future()
        )
        self._task: asyncio.Task[RunResult] | None = None
        self.stuck = False
        self.is_over = False

    @property
    def reason(self) -> StopReason | None:
        """Return why the run was told to end, if it was."""
        return self._stopping.result() if self._stopping.done() else None

    @property
    def left_behind(self) -> asyncio.Task[RunResult] | None:
        """Return what still runs."""
        return self._task if self._task and not self._task.done() else None

    def stop(self, reason: StopReason) -> None:
        """Cut the run off from the phone at once, and tell it to end. The first reason counts."""
        self._runner.revoke(self._request.task_id)
        if not self._stopping.done():
            self._stopping.set_result(reason)

    async def watch(
        self, on_step: Callable[[str], None], closing: asyncio.Future[None]
    ) -> None:
        """Run, and return when nothing of it can reach the phone any more."""
        task = asyncio.create_task(self._runner.run(self._request, on_step))
        self._task = task
        await _first({task, self._stopping}, self._limits.run_s)
        if task.done():
            return
        if not self._stopping.done():
            self.stop(StopReason.OVERDUE)
        task.cancel(self._stopping.result())
        await _first({task, closing}, self._limits.stuck_s)
        if closing.done():
            await _first({task}, self._limits.close_s / 2)
        if not task.done():
            _LOGGER.error("A run did not end after it was told to; it is cut off")
            self.stuck = True
            self._runner.fence(self._request.task_id)

    def result(self) -> RunResult | None:
        """Return what the run came to; None if it was stopped.

        An end that the run did not report itself belongs to the goal that it began with.
        """
        task = self._task
        if task is None or not task.done():
            return None
        if task.cancelled():
            if self.reason is not None:
                return None
            return self._broken("the run was stopped from inside")
        if (error := task.exception()) is None:
            return task.result()
        # The message may hold what was typed, so only its class is for every log.
        _LOGGER.error("A run failed unexpectedly: %s", type(error).__name__)
        _LOGGER.debug("The run's error", exc_info=error)
        return self._broken(f"{type(error).__name__}: {error}")

    def _broken(self, text: str) -> RunResult:
        """Return the end of a run that reported none."""
        return RunResult(
            end=RunEnd.FAILED,
            text=text,
            applied_revision=self._request.goal_revision,
        )


async def _first(futures: set[asyncio.Future[Any]], timeout_s: float) -> None:
    await asyncio.wait(futures, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
