"""Lives of tasks, through the task manager, one after the other or many at one time."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
import itertools
from pathlib import Path
import time
from typing import override

from custom_components.aiden_duplex.storage.files import AppendFile, OsFiles
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import Task
from custom_components.aiden_duplex.tasks.runner import (
    Runner,
    RunRequest,
    RunResult,
    Steer,
)

from . import parts

CREATE = "create"
UPDATE = "update"
CANCEL = "cancel"
CLAIM = "claim"
OPERATIONS = (CREATE, UPDATE, CANCEL, CLAIM)
"""A life's operations in order; each writes one record. A claim is begun and acknowledged."""
SESSION = "bench"


class EndlessRunner(Runner):
    """Never ends by itself, so that what is created after its task waits in the queue."""

    @override
    async def run(
        self, request: RunRequest, on_step: Callable[[str], None]
    ) -> RunResult:
        """Wait to be stopped."""
        never: asyncio.Future[RunResult] = asyncio.get_running_loop().create_future()
        return await never

    @override
    def steer(self, task_id: str, steer: Steer) -> None:
        """Have no goal to replace."""

    @override
    def revoke(self, task_id: str) -> None:
        """Have nothing to stop."""

    @override
    def fence(self, task_id: str) -> None:
        """Have nothing to cut off."""


class FastFiles(OsFiles):
    """The real file system without waiting for the disk: what is left is our own work."""

    @override
    def open_append(self, path: Path) -> AppendFile:
        """Open the file."""
        return FastFile(super().open_append(path))

    @override
    def sync_folder(self, path: Path) -> None:
        """Do not wait."""


class FastFile(AppendFile):
    """A file that says it is on the disk before it is."""

    def __init__(self, file: AppendFile) -> None:
        """Keep the real one."""
        self._file = file

    @override
    def write(self, data: bytes) -> None:
        """Write."""
        self._file.write(data)

    @override
    def sync(self) -> None:
        """Do not wait."""

    @override
    def truncate(self, size: int) -> None:
        """Cut."""
        self._file.truncate(size)

    @override
    def close(self) -> None:
        """Close."""
        self._file.close()


class Lives:
    """Creates, updates, cancels and tells tasks, and keeps how long each operation took.

    Attributes:
        took_s: The times of each operation, in seconds: one for each time that it was
            done, whether alone or many together.

    """

    def __init__(self, tasks: TaskManager) -> None:
        """Work with a manager that runs."""
        self._tasks = tasks
        self._numbers = itertools.count(1)
        self.took_s: dict[str, list[float]] = defaultdict(list)

    async def occupy(self) -> None:
        """Give the runner a task, so that all others wait."""
        running = asyncio.Event()

        def changed(_event: object) -> None:
            if self._tasks.on_phone is not None:
                running.set()

        unsubscribe = self._tasks.subscribe(changed)
        await self._create()
        async with asyncio.timeout(30):
            await running.wait()
        unsubscribe()

    async def live(self, many: int = 1) -> None:
        """Bring tasks from their creation to the end that was told, each step together."""
        tasks = await self.create(many)
        await self._timed(UPDATE, [self._update(task) for task in tasks])
        await self.end(tasks)

    async def create(self, many: int) -> list[Task]:
        """Create tasks at one time."""
        return await self._timed(CREATE, [self._create() for _ in range(many)])

    async def end(self, tasks: Sequence[Task]) -> None:
        """Cancel tasks at one time and tell their endings in one go."""
        await self._timed(CANCEL, [self._tasks.cancel(task.id) for task in tasks])
        await self._timed(CLAIM, [self._tell(len(tasks))])

    def forget_times(self) -> dict[str, list[float]]:
        """Return the times so far and begin anew."""
        took_s, self.took_s = self.took_s, defaultdict(list)
        return took_s

    async def _create(self) -> Task:
        goal = f"turn on airplane mode, number {next(self._numbers)}"
        return await self._tasks.create(goal, origin=parts.SPEAKER)

    async def _update(self, task: Task) -> Task:
        return await self._tasks.update(task.id, f"{task.prompt}, and off again")

    async def _tell(self, expected: int) -> None:
        """Claim what has ended, begin and acknowledge it, as a session does."""
        claimed = self._tasks.claim(SESSION)
        begun = self._tasks.begin(SESSION, [task.id for task in claimed])
        await self._tasks.acknowledge([task.id for task in begun])
        if len(begun) != expected:
            raise RuntimeError(f"{len(begun)} endings were told instead of {expected}")

    async def _timed[T](self, name: str, work: Sequence[Awaitable[T]]) -> list[T]:
        """Do work at one time; a single piece without the detour of a task."""
        started = time.perf_counter()
        if len(work) == 1:
            done = [await work[0]]
        else:
            done = await asyncio.gather(*work)
        self.took_s[name].append(time.perf_counter() - started)
        return done
