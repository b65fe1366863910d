"""A file layer on the real disk that can be watched, delayed, made to fail or to crash."""

from collections.abc import Callable
from pathlib import Path
import threading
from typing import override

from custom_components.aiden_duplex.storage.files import AppendFile, FileLayer, OsFiles


class CrashError(BaseException):
    """The process died here."""


class WatchedFiles(FileLayer):
    """Does what the real layer does, and calls a hook before every step.

    Attributes:
        steps: Names of the steps so far: ``write``, ``sync``, ``replace``...
        before: Called with the name of each step; may raise or wait.

    """

    def __init__(self) -> None:
        """Start with no hook."""
        self.steps: list[str] = []
        self.before: Callable[[str], None] = lambda step: None
        self._real = OsFiles()

    def step(self, name: str) -> None:
        """Note a step and call the hook."""
        self.steps.append(name)
        self.before(name)

    @override
    def make_folder(self, path: Path) -> None:
        """Make the folder."""
        self._real.make_folder(path)

    @override
    def read(self, path: Path) -> bytes | None:
        """Read the file."""
        self.step("read")
        return self._real.read(path)

    @override
    def exists(self, path: Path) -> bool:
        """Look for the name."""
        return self._real.exists(path)

    @override
    def open_append(self, path: Path) -> AppendFile:
        """Open the file."""
        self.step("open")
        return _WatchedFile(self._real.open_append(path), self)

    @override
    def replace(self, source: Path, target: Path) -> None:
        """Rename."""
        self.step("replace")
        self._real.replace(source, target)

    @override
    def remove(self, path: Path) -> None:
        """Remove."""
        self.step("remove")
        self._real.remove(path)

    @override
    def sync_folder(self, path: Path) -> None:
        """Flush the folder."""
        self.step("sync_folder")
        self._real.sync_folder(path)


class _WatchedFile(AppendFile):
    def __init__(self, file: AppendFile, files: WatchedFiles) -> None:
        self._file = file
        self._files = files

    @override
    def write(self, data: bytes) -> None:
        """Write; a failing write leaves half of the data, as a full disk does."""
        try:
            self._files.step("write")
        except BaseException:
            self._file.write(data[: len(data) // 2])
            raise
        self._file.write(data)

    @override
    def sync(self) -> None:
        """Flush."""
        self._files.step("sync")
        self._file.sync()

    @override
    def truncate(self, size: int) -> None:
        """Cut."""
        self._files.step("truncate")
        self._file.truncate(size)

    @override
    def close(self) -> None:
        """Close."""
        self._file.close()


class Gate:
    """Holds a step in the writer's thread until the test lets it go."""

    def __init__(self, files: WatchedFiles, step: str) -> None:
        """Hold every such step from now on."""
        self._step = step
        self._open = threading.Event()
        self.reached = threading.Event()
        files.before = self._wait

    def let_go(self) -> None:
        """Hold no longer."""
        self._open.set()

    def _wait(self, step: str) -> None:
        if step == self._step:
            self.reached.set()
            assert self._open.wait(10), "the test forgot to let the gate go"
