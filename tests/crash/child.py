"""A process under load that says what it was told is durable, until it is killed."""

import asyncio
from collections.abc import Awaitable, Callable
import contextlib
from datetime import UTC, datetime
import logging
import os
from pathlib import Path
import random
import sys
from typing import override

from custom_components.aiden_duplex.storage.journal import Journal
from custom_components.aiden_duplex.tasks.errors import TaskError
from custom_components.aiden_duplex.tasks.limits import TaskLimits
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import (
    Origin,
    Outcome,
    TaskEvent,
    TaskEventType,
)
from custom_components.aiden_duplex.tasks.runner import (
    RunEnd,
    Runner,
    RunRequest,
    RunResult,
    Steer,
)

LIMITS = TaskLimits(
    compact_from=40,
    compact_factor=2,
    remembered=10,
    recoveries=10_000,
    queued=20,
    # What is said must be durable, however slow the disk: a cancel otherwise returns.
    cancel_save_s=60.0,
)
_DEADLINE_S = 60.0
"""A child that nobody kills ends by itself."""

RECOVERED = -1
"""Instead of the goal's revision, for a run that knows of one that was cut off."""

type Said = tuple[str, str, int]
"""What was acknowledged (or begun), of which task, and a number."""


def utcnow() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


class HastyRunner(Runner):
    """Says that it begins, and is done soon."""

    def __init__(self, say: Callable[[str, str, int], None]) -> None:
        """Say it to the parent."""
        self._say = say
        self._revision = 0

    @override
    async def run(
        self, request: RunRequest, on_step: Callable[[str], None]
    ) -> RunResult:
        """Take a few turns of the loop."""
        revision = RECOVERED if request.recovered else request.goal_revision
        self._say("run", request.task_id, revision)
        self._revision = request.goal_revision
        await asyncio.sleep(0.001)
        return RunResult(
            end=RunEnd.COMPLETED,
            text="done",
            outcome=Outcome.ACHIEVED,
            applied_revision=self._revision,
        )

    @override
    def steer(self, task_id: str, steer: Steer) -> None:
        """Take it up."""
        self._revision = steer.goal_revision

    @override
    def revoke(self, task_id: str) -> None:
        """Do nothing."""

    @override
    def fence(self, task_id: str) -> None:
        """Do nothing."""


class Load:
    """Creates, updates, cancels and delivers, several at a time."""

    def __init__(self, path: Path, say: Callable[[str, str, int], None]) -> None:
        """Prepare a manager over a journal on the disk."""
        self._say = say
        self._manager = TaskManager(
            journal=Journal(path),
            runner=HastyRunner(say),
            now=utcnow,
            limits=LIMITS,
        )

    async def work(self) -> None:
        """Work until killed."""
        await self._manager.load()
        self._manager.subscribe(self._heard)
        self._manager.start()
        async with asyncio.timeout(_DEADLINE_S), asyncio.TaskGroup() as group:
            for step in (self._create, self._create, self._change, self._deliver):
                group.create_task(self._for_ever(step))

    async def _for_ever(self, step: Callable[[], Awaitable[None]]) -> None:
        while True:
            with contextlib.suppress(TaskError):
                await step()
            # One that is refused must not take the processor from the disk's thread.
            await asyncio.sleep(0.001)

    def _heard(self, event: TaskEvent) -> None:
        if event.type is TaskEventType.COMPLETED:
            self._say("completed", event.task.id, 0)

    async def _create(self) -> None:
        task = await self._manager.create(
            f"goal {random.getrandbits(64)}", origin=Origin(source="action")
        )
        self._say("created", task.id, 0)

    async def _change(self) -> None:
        """Update one and cancel one of those that have not ended."""
        if (task_id := self._open_task()) is None:
            return
        task = await self._manager.update(task_id, f"goal {random.getrandbits(64)}")
        self._say("updated", task.id, task.goal_revision)
        # Looked at again: the cancel of an ending would let it not be told.
        if random.random() < 0.5 and (task_id := self._open_task()) is not None:
            await self._manager.cancel(task_id)
            self._say("cancelled", task_id, 0)

    def _open_task(self) -> str | None:
        """Return the id of some task that has not ended."""
        ids = [task.id for task in self._manager.tasks() if not task.status.is_terminal]
        return random.choice(ids) if ids else None

    async def _deliver(self) -> None:
        ids = [task.id for task in self._manager.claim("session")]
        ids = [task.id for task in self._manager.begin("session", ids)]
        for task_id in ids:
            self._say("telling", task_id, 0)
        await self._manager.acknowledge(ids)
        for task_id in ids:
            self._say("told", task_id, 0)
        await asyncio.sleep(0.002)


def say(what: str, task_id: str, number: int) -> None:
    """Say something in one piece, whenever the process dies."""
    os.write(1, f"{what} {task_id} {number}\n".encode())


def main() -> None:
    """Give birth to a child for every path on the standard input, one after the other."""
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        if (pid := os.fork()) == 0:
            random.seed()
            asyncio.run(Load(Path(line.strip()), say).work())
            return
        say("born", "-", pid)
        os.waitpid(pid, 0)
        say("dead", "-", pid)


if __name__ == "__main__":
    main()
