"""A file system in memory that knows every disk image a power cut could leave.

The rules are POSIX's, not those of one kind of file system: what was written is safe after
the file was synced, a new, renamed or removed name after its folder was. Names reach the
disk in the order of their changes. What was not synced is there as a whole, in part, as
zeros, or not at all.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
import errno
import itertools
import os
from pathlib import Path
import random
from typing import override

from custom_components.aiden_duplex.storage.files import AppendFile, FileLayer

type Disk = dict[str, bytes]
"""What lies on a disk: names and their bytes."""

WRITE = "write"
TRUNCATE = "truncate"
SYNC = "sync"
SYNC_FOUND = "sync_found"
"""Of a file that was opened and not written: what another process may have left."""
SYNC_FOLDER = "sync_folder"
SYNC_REPLACED = "sync_replaced"
"""Of the folder after a rename."""

_MOST_VARIANTS = 12
"""Contents of one file that are looked at for one cut."""
_FORKS = 0.1
"""How many of the positions are kept for a kill."""


class _Lost(bytes):
    """Bytes that a failed sync gave up."""

    __slots__ = ()


@dataclass(slots=True, kw_only=True)
class _Inode:
    """A file: what is safe, and what was done to it since."""

    safe: bytes = b""
    pending: list[bytes | int] = field(default_factory=list)
    """Bytes that were appended, or the size it was cut to."""

    def content(self) -> bytes:
        """Return what a process reads."""
        return _apply(self.safe, self.pending)

    def sync(self) -> None:
        """Make the content safe, but not what an earlier sync failed to write."""
        self.safe = _apply(self.safe, [_on_disk(change) for change in self.pending])
        self.pending.clear()

    def fail_sync(self) -> None:
        """Give the changes up, as Linux does: they can be read, but no sync writes them."""
        self.pending = [
            _Lost(change) if isinstance(change, bytes) else change
            for change in self.pending
        ]

    def variants(self, chance: random.Random) -> list[bytes]:
        """Return what a cut may leave."""
        found = {self.safe: None}
        for count in range(1, len(self.pending) + 1):
            before = _apply(self.safe, map(_on_disk, self.pending[: count - 1]))
            match self.pending[count - 1]:
                case _Lost(data):
                    found[before + bytes(len(data))] = None
                case bytes(data):
                    found |= dict.fromkeys(
                        before + part for part in _torn(data, chance)
                    )
                case int(size):
                    found[before[:size]] = None
        return [self.safe, *list(found)[-_MOST_VARIANTS:]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """One disk that a cut may leave."""

    position: int
    """After so many changes; what was acknowledged by then must be in it."""
    disk: Disk
    is_prefix: bool
    """Nothing but unfinished tails: no zeros where data should be."""


type Names = dict[str, _Inode]


class PowerCutFiles(FileLayer):
    """Files in memory.

    Attributes:
        position: Changes and syncs so far.
        images: What a cut would have left after each of them, when wanted.
        forks: What another process found after a kill at some of these positions: all that
            was written, safe or not.
        before: Called with the name of each step and the file's name; may raise ``OSError``.
        is_lost: Whether a sync does nothing although it says so: a mutation.

    """

    def __init__(
        self, disk: Disk | None = None, *, chance: random.Random | None = None
    ) -> None:
        """Start with what is on the disk; ``chance`` asks for the images of all cuts."""
        self.position = 0
        self.images: list[Image] = []
        self.before: Callable[[str, str], None] = lambda step, name: None
        self.is_lost: Callable[[str, str], bool] = lambda step, name: False
        self._chance = chance
        self._names: Names = {
            name: _Inode(safe=data) for name, data in (disk or {}).items()
        }
        self._safe_names: Names = dict(self._names)
        self._changes: list[Names] = []
        self._replaced = False
        self.forks: list[tuple[int, PowerCutFiles]] = []

    def safe_disk(self) -> Disk:
        """Return what is there whenever the power is cut."""
        return {name: inode.safe for name, inode in self._safe_names.items()}

    @override
    def make_folder(self, path: Path) -> None:
        """Do nothing: there are no folders; the real layer makes them durable."""

    @override
    def read(self, path: Path) -> bytes | None:
        """Return the content."""
        self.before("read", path.name)
        inode = self._names.get(path.name)
        return inode.content() if inode else None

    @override
    def exists(self, path: Path) -> bool:
        """Look for the name."""
        return path.name in self._names

    @override
    def open_append(self, path: Path) -> AppendFile:
        """Open the file."""
        self.before("open", path.name)
        if (inode := self._names.get(path.name)) is None:
            inode = _Inode()
            self._rename({**self._names, path.name: inode})
        return _MemoryFile(self, path.name, inode)

    @override
    def replace(self, source: Path, target: Path) -> None:
        """Rename at once."""
        self.before("replace", target.name)
        if source.name not in self._names:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        names = dict(self._names)
        names[target.name] = names.pop(source.name)
        self._replaced = True
        self._rename(names)

    @override
    def remove(self, path: Path) -> None:
        """Remove the name."""
        self.before("remove", path.name)
        if path.name in self._names:
            names = dict(self._names)
            del names[path.name]
            self._rename(names)

    @override
    def sync_folder(self, path: Path) -> None:
        """Make all names safe."""
        step = SYNC_REPLACED if self._replaced else SYNC_FOLDER
        self._replaced = False
        self.before(step, path.name)
        if not self.is_lost(step, path.name):
            self._safe_names = self._names
            self._changes = []
        self.changed()

    def _rename(self, names: Names) -> None:
        """Change names; they are not safe yet."""
        self._names = names
        self._changes.append(names)
        self.changed()

    def changed(self) -> None:
        """Note a change, and all that a cut would leave now."""
        self.position += 1
        if self._chance is not None:
            self.images.extend(self._cuts(self._chance))
            if self._chance.random() < _FORKS:
                self.forks.append((self.position, self._fork()))

    def _fork(self) -> PowerCutFiles:
        """Return the same files in the same state, as another process finds them."""
        fork = PowerCutFiles(chance=self._chance)
        copies: dict[int, _Inode] = {}

        def copy(names: Names) -> Names:
            return {
                name: copies.setdefault(
                    id(inode), _Inode(safe=inode.safe, pending=list(inode.pending))
                )
                for name, inode in names.items()
            }

        fork._names = copy(self._names)
        fork._safe_names = copy(self._safe_names)
        fork._changes = [copy(names) for names in self._changes]
        return fork

    def _cuts(self, chance: random.Random) -> Iterator[Image]:
        """Return all that a cut would leave now."""
        seen = set()
        for names in (self._safe_names, *self._changes):
            variants = [inode.variants(chance) for inode in names.values()]
            for contents in itertools.product(*variants):
                disk = dict(zip(names, contents, strict=True))
                key = tuple(sorted(disk.items()))
                if key in seen:
                    continue
                seen.add(key)
                yield Image(
                    position=self.position,
                    disk=disk,
                    is_prefix=not any(b"\0" in data for data in contents),
                )


class _MemoryFile(AppendFile):
    """An open file; it stays the same file when its name goes to another."""

    def __init__(self, files: PowerCutFiles, name: str, inode: _Inode) -> None:
        self._files = files
        self._name = name
        self._inode = inode
        self._written = False

    @override
    def write(self, data: bytes) -> None:
        """Append; a write that fails leaves a part, as a full disk does."""
        try:
            self._files.before(WRITE, self._name)
        except OSError:
            self._change(data[: len(data) // 2])
            raise
        if data:
            self._change(data)

    @override
    def sync(self) -> None:
        """Make the content safe."""
        step = SYNC if self._written else SYNC_FOUND
        try:
            self._files.before(step, self._name)
        except OSError:
            self._inode.fail_sync()
            raise
        if not self._files.is_lost(step, self._name):
            self._inode.sync()
        self._files.changed()

    @override
    def truncate(self, size: int) -> None:
        """Cut."""
        self._files.before(TRUNCATE, self._name)
        if size < len(self._inode.content()):
            self._change(size)

    @override
    def close(self) -> None:
        """Do nothing."""

    def _change(self, change: bytes | int) -> None:
        self._written = True
        self._inode.pending.append(change)
        self._files.changed()


def _on_disk(change: bytes | int) -> bytes | int:
    """Return what a sync writes of a change."""
    return bytes(len(change)) if isinstance(change, _Lost) else change


def _apply(data: bytes, changes: Iterable[bytes | int]) -> bytes:
    """Return a content after appends and cuts."""
    for change in changes:
        data = data + change if isinstance(change, bytes) else data[:change]
    return data


def _torn(data: bytes, chance: random.Random) -> Iterator[bytes]:
    """Return what may be there of an append: parts, zeros, an end without its beginning."""
    size = len(data)
    if line := data.find(b"\n", 0, -1) + 1:
        yield data[:line]
    yield data[:1]
    yield data[: chance.randrange(size)]
    yield data[:-1]
    yield bytes(size)
    yield bytes(size // 2) + data[size // 2 :]
    yield data
