"""A disk in memory that knows what a kill would have left after each of its steps."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import override

from custom_components.aiden_duplex.storage.contract import Record
from custom_components.aiden_duplex.storage.files import AppendFile, FileLayer
from custom_components.aiden_duplex.storage.lines import encode
from custom_components.aiden_duplex.storage.log_file import LogFile
from tests.storage.memory_journal import MemoryJournal

PATH = Path("/disk/tasks.journal")
LATENCY_S = 1e-5
"""Others go on while a record is on its way; far below every time that counts."""

type Contents = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Step:
    """One change of the disk: bytes appended, a size cut to, a new name, or a removal."""

    name: str
    change: bytes | int | str | None

    def apply(self, disk: Contents) -> None:
        """Do it."""
        match self.change:
            case bytes(data):
                disk[self.name] = disk.get(self.name, b"") + data
            case int(size):
                disk[self.name] = disk[self.name][:size]
            case str(target):
                disk[target] = disk.pop(self.name)
            case None:
                disk.pop(self.name, None)


@dataclass(slots=True)
class StepFiles(FileLayer):
    """Files in memory."""

    disk: Contents = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    """Those since :meth:`begin`."""
    _before: Contents = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Count the steps from here."""
        self.begin()

    def begin(self) -> None:
        """Forget the steps so far."""
        self._before = dict(self.disk)
        self.steps.clear()

    def cut(self, count: int, *, torn: bool) -> StepFiles:
        """Return what is there after so many steps and, if torn, half of the next one."""
        disk = dict(self._before)
        for step in self.steps[:count]:
            step.apply(disk)
        if torn and count < len(self.steps):
            match self.steps[count]:
                case Step(name, bytes(data)):
                    Step(name, data[: len(data) // 2]).apply(disk)
        return StepFiles(disk)

    def is_compaction(self, after: int) -> bool:
        """Return whether a cut after so many steps leaves a file that is half written anew."""
        return any(
            step.name.endswith(".tmp") for step in self.steps[max(0, after - 1) : after]
        ) and any(step.name.endswith(".tmp") for step in self.steps[after:])

    def do(self, name: str, change: bytes | int | str | None) -> None:
        """Change the disk."""
        step = Step(name, change)
        self.steps.append(step)
        step.apply(self.disk)

    @override
    def make_folder(self, path: Path) -> None:
        """Do nothing: there are no folders."""

    @override
    def read(self, path: Path) -> bytes | None:
        """Return the content."""
        return self.disk.get(path.name)

    @override
    def exists(self, path: Path) -> bool:
        """Look for the name."""
        return path.name in self.disk

    @override
    def open_append(self, path: Path) -> AppendFile:
        """Open the file."""
        if path.name not in self.disk:
            self.do(path.name, b"")
        return _StepFile(self, path.name)

    @override
    def replace(self, source: Path, target: Path) -> None:
        """Rename at once."""
        self.do(source.name, target.name)

    @override
    def remove(self, path: Path) -> None:
        """Remove the name."""
        if path.name in self.disk:
            self.do(path.name, None)

    @override
    def sync_folder(self, path: Path) -> None:
        """Do nothing: a kill leaves what was written. Power cuts have tests of their own."""


class _StepFile(AppendFile):
    """An open file; nobody writes to one whose name has gone to another."""

    def __init__(self, files: StepFiles, name: str) -> None:
        self._files = files
        self._name = name

    @override
    def write(self, data: bytes) -> None:
        """Append."""
        if data:
            self._files.do(self._name, data)

    @override
    def sync(self) -> None:
        """Do nothing: a kill leaves what was written."""

    @override
    def truncate(self, size: int) -> None:
        """Cut."""
        if size < len(self._files.disk[self._name]):
            self._files.do(self._name, size)

    @override
    def close(self) -> None:
        """Do nothing."""


class DiskJournal(MemoryJournal):
    """The real lines and the real file, without the thread: one record after the other.

    Attributes:
        files: What it is written to.

    """

    def __init__(self, files: StepFiles) -> None:
        """Touch nothing yet."""
        super().__init__()
        self.files = files
        self._log = LogFile(PATH, files, None, 0)
        self._turn = asyncio.Lock()

    @property
    def damage(self) -> str | None:
        """Return what was found broken; a kill breaks nothing."""
        return self._log.damage

    @override
    async def open(self) -> list[Record]:
        """Read and repair."""
        self.is_open = True
        return self._log.open()

    @override
    async def append(self, record: Record) -> None:
        """Append a line; it is told a little later that it is there."""
        line = encode(record)
        async with self._turn:
            await asyncio.sleep(LATENCY_S)
            self._log.append(line)
            self.appends += 1
            await asyncio.sleep(0)

    @override
    async def compact(self, records: Sequence[Record]) -> None:
        """Replace the file."""
        lines = b"".join(encode(record) for record in records)
        async with self._turn:
            await asyncio.sleep(LATENCY_S)
            self._log.compact(lines)
            self.compactions += 1
            await asyncio.sleep(0)

    @override
    async def close(self) -> None:
        """Let go of the file."""
        async with self._turn:
            self._log.close()
        self.is_open = False
