"""The file system as the journal uses it; a seam where tests delay or fail writes."""

import contextlib
import os
from pathlib import Path
from typing import Protocol, override

_FILE_MODE = 0o600
_FOLDER_MODE = 0o700


class AppendFile(Protocol):
    """A file that is only written at its end. Every method may raise ``OSError``."""

    def write(self, data: bytes) -> None:
        """Write all of it."""
        ...

    def sync(self) -> None:
        """Return when everything written is on the disk."""
        ...

    def truncate(self, size: int) -> None:
        """Cut the file to this many bytes."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


class FileLayer(Protocol):
    """What the journal needs of a file system. Every method may raise ``OSError``."""

    def make_folder(self, path: Path) -> None:
        """Make the folder, for this user alone; its name is on the disk on return."""
        ...

    def read(self, path: Path) -> bytes | None:
        """Return all bytes, or None when there is no such file."""
        ...

    def exists(self, path: Path) -> bool:
        """Return whether there is such a file."""
        ...

    def open_append(self, path: Path) -> AppendFile:
        """Open the file, for this user alone; make it if needed."""
        ...

    def replace(self, source: Path, target: Path) -> None:
        """Rename at once, whatever the target was."""
        ...

    def remove(self, path: Path) -> None:
        """Remove the file if it exists."""
        ...

    def sync_folder(self, path: Path) -> None:
        """Return when the folder's names are on the disk."""
        ...


class _OsAppendFile(AppendFile):
    """A file descriptor."""

    def __init__(self, path: Path) -> None:
        """Open the file."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._fd = os.open(path, flags, _FILE_MODE)

    @override
    def write(self, data: bytes) -> None:
        """Write all of it, in as many parts as the system takes."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._fd, rest) :]

    @override
    def sync(self) -> None:
        """Flush to the disk."""
        os.fsync(self._fd)

    @override
    def truncate(self, size: int) -> None:
        """Cut the file."""
        os.ftruncate(self._fd, size)

    @override
    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._fd)


class OsFiles(FileLayer):
    """The real file system."""

    @override
    def make_folder(self, path: Path) -> None:
        """Make the folder, mode 0700, and those above it."""
        if not path.parent.exists():
            self.make_folder(path.parent)
        if not path.exists():
            path.mkdir(mode=_FOLDER_MODE, exist_ok=True)
            # Without it all in it could be gone after a power cut, synced or not.
            self.sync_folder(path.parent)
        _restrict(path, _FOLDER_MODE)

    @override
    def read(self, path: Path) -> bytes | None:
        """Read the file."""
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None

    @override
    def exists(self, path: Path) -> bool:
        """Look for the name."""
        return path.exists()

    @override
    def open_append(self, path: Path) -> AppendFile:
        """Open the file, mode 0600."""
        file = _OsAppendFile(path)
        _restrict(path, _FILE_MODE)
        return file

    @override
    def replace(self, source: Path, target: Path) -> None:
        """Rename over the target."""
        source.replace(target)

    @override
    def remove(self, path: Path) -> None:
        """Unlink the file."""
        path.unlink(missing_ok=True)

    @override
    def sync_folder(self, path: Path) -> None:
        """Flush the directory."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _restrict(path: Path, mode: int) -> None:
    """Set the mode where the file system knows modes (a network share may not)."""
    with contextlib.suppress(PermissionError):
        path.chmod(mode)
