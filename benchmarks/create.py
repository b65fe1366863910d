"""How long ``create_agent_task`` takes, from the model's call to its output."""

import asyncio
from collections.abc import Callable
import json
import os
from pathlib import Path
import time
from typing import override

from custom_components.aiden_duplex.foreground.delivery import Delivery
from custom_components.aiden_duplex.foreground.tool_context import ToolContext
from custom_components.aiden_duplex.foreground.toolbox import Toolbox
from custom_components.aiden_duplex.models.tools import ToolCall
from custom_components.aiden_duplex.storage.files import AppendFile, OsFiles
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import Outcome
from custom_components.aiden_duplex.tasks.runner import (
    RunEnd,
    Runner,
    RunRequest,
    RunResult,
    Steer,
)

from . import parts
from .harness import Measurement, median
from .place import Place

COUNT = 250
DELAYED_COUNT = 150
DELAY_S = 0.04
CARD_S = 0.005
"""What an fsync takes longer on a memory card than here; a quick one."""
MOST_WAITING = 4
"""Tasks that may wait in the delayed run, so that the queue never fills up."""


class InstantRunner(Runner):
    """Achieves everything at once: nothing but the journal takes time."""

    @override
    async def run(
        self, request: RunRequest, on_step: Callable[[str], None]
    ) -> RunResult:
        """Return the end."""
        return RunResult(end=RunEnd.COMPLETED, text="done", outcome=Outcome.ACHIEVED)

    @override
    def steer(self, task_id: str, steer: Steer) -> None:
        """Have no goal to replace."""

    @override
    def revoke(self, task_id: str) -> None:
        """Have nothing to stop."""

    @override
    def fence(self, task_id: str) -> None:
        """Have nothing to cut off."""


class SlowFiles(OsFiles):
    """The real file system; every fsync takes longer."""

    def __init__(self, delay_s: float) -> None:
        """Keep by how much."""
        self._delay_s = delay_s

    @override
    def open_append(self, path: Path) -> AppendFile:
        """Open the file."""
        return SlowFile(super().open_append(path), self._delay_s)

    @override
    def sync_folder(self, path: Path) -> None:
        """Flush the directory."""
        time.sleep(self._delay_s)
        super().sync_folder(path)


class SlowFile(AppendFile):
    """A file whose fsync takes longer."""

    def __init__(self, file: AppendFile, delay_s: float) -> None:
        """Keep the real one."""
        self._file = file
        self._delay_s = delay_s

    @override
    def write(self, data: bytes) -> None:
        """Write."""
        self._file.write(data)

    @override
    def sync(self) -> None:
        """Wait, then flush."""
        time.sleep(self._delay_s)
        self._file.sync()

    @override
    def truncate(self, size: int) -> None:
        """Cut."""
        self._file.truncate(size)

    @override
    def close(self) -> None:
        """Close."""
        self._file.close()


class Fsync:
    """A write and fsync of this disk, in the journal's folder."""

    def __init__(self, folder: Path, delay_s: float, *, size: int = 501) -> None:
        """Make the file; ``size`` is how many bytes are written."""
        self._delay_s = delay_s
        self._data = b"x" * (size - 1) + b"\n"
        self._file = os.open(folder / "fsync", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def measure(self, count: int = 1) -> float:
        """Return how long it takes where it blocks, in seconds."""
        started = time.perf_counter()
        for _ in range(count):
            os.write(self._file, self._data)
            if self._delay_s:
                time.sleep(self._delay_s)
            os.fsync(self._file)
        return time.perf_counter() - started

    async def measure_awaited(self) -> float:
        """Return how long it takes from the event loop, which it must not block."""
        started = time.perf_counter()
        await parts.run_blocking(self.measure)
        return time.perf_counter() - started

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


async def measure(place: Place) -> list[Measurement]:
    """Return the latency against one fsync, and beside other writes on a slow disk."""
    return [
        await _against_fsync(place, "one fsync", 0),
        await _against_fsync(place, "one fsync of a card", CARD_S),
        await _with_slow_disk(place),
    ]


async def _against_fsync(place: Place, name: str, delay_s: float) -> Measurement:
    """Alternate creations and single fsyncs in one folder."""
    folder = place.subfolder("create")
    fsync = Fsync(folder, delay_s)
    created: list[float] = []
    synced: list[float] = []
    blocking: list[float] = []
    files = SlowFiles(delay_s) if delay_s else None
    async with parts.manager(folder, InstantRunner(), files=files) as tasks:
        for number in range(COUNT):
            blocking.append(fsync.measure())
            synced.append(await fsync.measure_awaited())
            created.append(await _create(tasks, number))
            await _drain(tasks, 0)
    fsync.close()
    longer = f", each {delay_s * 1000:.0f} ms longer" if delay_s else ""
    return Measurement(
        name=f"create_agent_task against {name}, medians",
        value=median(created) / median(synced),
        unit="x",
        samples=COUNT,
        limit=1.5,
        how=f"call to output {median(created) * 1000:.2f} ms; one write and fsync awaited from "
        f"the loop {median(synced) * 1000:.2f} ms (blocking it {median(blocking) * 1000:.2f} ms), "
        f"same disk and run{longer}",
    )


async def _with_slow_disk(place: Place) -> Measurement:
    """Create while other tasks' records are written to a disk that is slow."""
    created: list[float] = []
    folder = place.subfolder("create-slow")
    async with parts.manager(
        folder, InstantRunner(), files=SlowFiles(DELAY_S)
    ) as tasks:
        for number in range(DELAYED_COUNT):
            created.append(await _create(tasks, number) * 1000)
            await _drain(tasks, MOST_WAITING)
    return Measurement.of(
        "create_agent_task, call to output",
        created,
        99,
        unit="ms",
        limit=120,
        how="every fsync takes 40 ms longer, while the worker starts and ends tasks",
    )


async def _create(tasks: TaskManager, number: int) -> float:
    """Run the tool once; return its time in seconds."""
    toolbox = Toolbox(
        ToolContext(
            tasks=tasks,
            delivery=Delivery(tasks),
            speaker=parts.SPEAKER,
            now=parts.now,
            time_zone=_no_time_zone,
            phone_ready=lambda: None,
            arrived_at=parts.now(),
            ending=asyncio.Event(),
        )
    )
    arguments = {
        "task": f"turn on airplane mode, number {number}",
        "distinct_from": [task.id for task in tasks.outstanding()],
    }
    call = ToolCall(
        call_id="call", name="create_agent_task", arguments=json.dumps(arguments)
    )
    started = time.perf_counter()
    output = json.loads(await toolbox.run(call))
    took = time.perf_counter() - started
    if "error" in output:
        raise RuntimeError(f"nothing was created: {output}")
    return took


async def _no_time_zone(_name: str) -> None:
    """Know no time zone."""


async def _drain(tasks: TaskManager, most: int) -> None:
    """Wait until few tasks are outstanding; what ended is told at once."""
    changed = asyncio.Event()
    unsubscribe = tasks.subscribe(lambda _event: changed.set())
    try:
        async with asyncio.timeout(30):
            while True:
                changed.clear()
                outstanding = tasks.outstanding()
                for task in outstanding:
                    if task.status.is_terminal:
                        await tasks.mark_delivered(task.id)
                if sum(not task.status.is_terminal for task in outstanding) <= most:
                    return
                await changed.wait()
    finally:
        unsubscribe()
