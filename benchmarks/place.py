"""What measurements work with: a folder on this disk, and simulators beside us."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
import contextlib
from dataclasses import dataclass, field
import json
import os
from pathlib import Path
import sys
import tempfile
from typing import Any, Self

import aiohttp

from simulator.home.process import ROOT, Child, ProcessError, start_child

from .harness import Measurement

START_S = 60
NICE_WORLD = 10
"""For simulators whose vision is heavy: it stands for another machine's and must not take
our processor."""
URGENT = -10
"""For us and a simulated board while milliseconds count: keeps other work of this machine
out of them, where the system allows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phone:
    """One simulated phone with its board, picture and models."""

    ready: Mapping[str, Any]
    session: aiohttp.ClientSession

    def __getitem__(self, name: str) -> str:
        """Return one of its addresses or names."""
        return str(self.ready[name])

    async def control(self, path: str, data: dict[str, Any] | None = None) -> Any:
        """Ask or tell the simulator."""
        method = "GET" if data is None else "POST"
        url = f"{self['http']}/control/{path}"
        async with self.session.request(method, url, json=data) as response:
            response.raise_for_status()
            return await response.json()

    async def reports(self, since: int) -> HidReports:
        """Return what the board sent to the phone after a number of reports."""
        return HidReports(**await self.control(f"hid?since={since}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HidReports:
    """What a board sent to its phone. Its times are those of our event loop's clock."""

    count: int
    held: dict[str, list[str]]
    reports: list[dict[str, Any]]

    @property
    def is_all_up(self) -> bool:
        """Return whether nothing is pressed now."""
        return not any(self.held.values())

    def times_after(self, moment: float) -> list[float]:
        """Return when reports left after a moment, in seconds."""
        return [at for report in self.reports if (at := report["t_ms"] / 1000) > moment]


type Measures = Mapping[str, Callable[[Place], Awaitable[list[Measurement]]]]
"""What a benchmark measures, by the names of ``--only``."""


@dataclass(slots=True, kw_only=True)
class Place:
    """Where a run measures."""

    folder: Path
    session: aiohttp.ClientSession
    stack: contextlib.AsyncExitStack
    _numbers: int = field(default=0)

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls) -> AsyncIterator[Self]:
        """Make a folder on the clone's disk; everything is gone at the end."""
        tools = ROOT / ".tools"
        async with contextlib.AsyncExitStack() as stack:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="bench-", dir=tools)
            )
            session = await stack.enter_async_context(aiohttp.ClientSession())
            yield cls(folder=Path(folder), session=session, stack=stack)

    def subfolder(self, name: str) -> Path:
        """Return a fresh folder."""
        self._numbers += 1
        folder = self.folder / f"{self._numbers}-{name}"
        folder.mkdir()
        return folder

    @property
    def file_system(self) -> str:
        """Return on what the folder lies, such as ``ext4 on /dev/vda``."""
        folder = self.folder.resolve()
        mounts = [
            (point, kind, device)
            for device, point, kind, *_ in map(str.split, _mounts())
            if folder.is_relative_to(point)
        ]
        _, kind, device = max(mounts, key=lambda mount: len(mount[0]))
        return f"{kind} on {device}"

    @contextlib.asynccontextmanager
    async def phones(
        self, count: int, *, niceness: int = 0
    ) -> AsyncIterator[list[Phone]]:
        """Start phones in a process of their own."""
        folder = self.subfolder("phones")
        async with helper(
            "benchmarks.phones", str(count), str(folder), log=folder / "log"
        ) as child:
            ready = await line(child)
            with contextlib.suppress(PermissionError):
                os.setpriority(os.PRIO_PGRP, child.process.pid, niceness)
            yield [Phone(ready=one, session=self.session) for one in ready]


def _mounts() -> list[str]:
    """Return what is mounted where, the last of two at one place last."""
    return Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()


@contextlib.contextmanager
def urgent() -> Iterator[None]:
    """Let this thread go before others, where the system allows it."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, URGENT)
    try:
        yield
    finally:
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, before)


@contextlib.asynccontextmanager
async def helper(module: str, *arguments: str, log: Path) -> AsyncIterator[Child]:
    """Run one of our modules beside us."""
    child = await start_child(
        sys.executable, "-m", module, *arguments, log=log, pipe=True
    )
    try:
        yield child
    finally:
        await child.stop()


async def line(child: Child, *, deadline_s: float = START_S) -> Any:
    """Return the next line of a helper, as JSON.

    Raises:
        ProcessError: It said nothing in time.

    """
    assert child.process.stdout is not None
    try:
        async with asyncio.timeout(deadline_s):
            data = await child.process.stdout.readline()
    except TimeoutError:
        data = b""
    if not data:
        raise ProcessError(f"a helper said nothing:\n{child.tail()}")
    return json.loads(data)
