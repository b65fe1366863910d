"""The journal's file: replay, repair, append, compact. Blocking; one thread uses it."""

import itertools
import logging
from pathlib import Path

from .contract import JournalError, Record
from .files import AppendFile, FileLayer
from .lines import Scan, scan

_LOGGER = logging.getLogger(__name__)

_MAX_SET_ASIDE = 9
"""Damaged files kept beside the journal; the last one is overwritten after that."""


class LogFile:
    """An append-only file of lines that is never left half-written.

    Attributes:
        damage: What was found broken at opening, for a person; None if nothing ever was.
        trouble: Why writing stopped; None while all is well.

    """

    def __init__(
        self,
        path: Path,
        files: FileLayer,
        keep_last: int | None,
        rotate_from: int,
        damage_mark: Record | None = None,
    ) -> None:
        """Touch nothing yet."""
        self._damage_mark = damage_mark
        self._path = path
        self._files = files
        self._keep_last = keep_last
        self._rotate_from = rotate_from
        self._file: AppendFile | None = None
        self._size: int | None = None
        self.damage: str | None = None
        self.trouble: str | None = None

    def open(self) -> list[Record]:
        """Read and repair the file, and make it ready for writing; what is returned is durable.

        After a failure this also drops what was written but never acknowledged.

        Raises:
            JournalError: The file system refused.

        """
        self.close()
        try:
            self._files.make_folder(self._path.parent)
            self._files.remove(self._temporary)
            found = self._files.read(self._path)
            data = found or b""
            if self._size is not None:
                data = data[: self._size]
            result = scan(data, keep_last=self._keep_last, mark=self._damage_mark)
            if result.damaged:
                self._set_aside(data, result)
            elif result.good != found:
                self._repair(data, result)
            good = self._rotate(result.good)
            self._file = self._files.open_append(self._path)
            # What a killed process wrote may be seen and not be on the disk yet.
            self._file.sync()
            self._files.sync_folder(self._path.parent)
        except OSError as err:
            raise self._failed(err) from err
        self._size = len(good)
        self.trouble = None
        return result.records

    def append(self, data: bytes) -> None:
        """Write lines; they are durable on return.

        Raises:
            JournalError: None of the lines is kept.

        """
        if self._file is None or self._size is None or self.trouble:
            raise JournalError(self._refusal())
        try:
            self._file.write(data)
            self._file.sync()
        except OSError as err:
            raise self._failed(err) from err
        self._size += len(data)

    def take_back(self, length: int, reason: str) -> None:
        """Drop the last lines again (nobody waited for them any more) and stop writing."""
        assert self._size is not None
        self._size -= length
        self.trouble = reason
        self._cut()

    def compact(self, data: bytes) -> None:
        """Replace the content; after a crash there is the old one or the new one.

        Raises:
            JournalError: Until the rename the old content stays in use; after it,
                writing stops.

        """
        if self._file is None or self.trouble:
            raise JournalError(self._refusal())
        try:
            self._write_temporary(data)
            self._files.replace(self._temporary, self._path)
        except OSError as err:
            raise JournalError(
                f"{self._path.name} cannot be compacted: {_reason(err)}"
            ) from err
        # From here on the open file is no longer the one that has the name.
        self.close()
        self._size = len(data)
        try:
            self._files.sync_folder(self._path.parent)
            self._file = self._files.open_append(self._path)
        except OSError as err:
            raise self._failed(err) from err

    def close(self) -> None:
        """Let go of the file."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            file.close()
        except OSError as err:
            _LOGGER.warning(
                "%s was not closed properly: %s", self._path.name, _reason(err)
            )

    @property
    def _temporary(self) -> Path:
        return self._path.with_name(f"{self._path.name}.tmp")

    def _rotate(self, good: bytes) -> bytes:
        """Move old records out of a long file; return what stays in it.

        They are kept beside it as ``<name>.1``, ``<name>.2``, ... A crash may leave some
        of them in two files, never in none.
        """
        if self._keep_last is None:
            return good
        newest = good.split(b"\n")[:-1][-self._keep_last :]
        kept = b"".join(line + b"\n" for line in newest)
        older = good[: len(good) - len(kept)]
        if len(older) <= self._rotate_from:
            return good
        aside = self._next_aside()
        try:
            self._write(aside, older)
            self._write_temporary(kept)
            self._files.sync_folder(self._path.parent)
            self._files.replace(self._temporary, self._path)
        except OSError as err:
            _LOGGER.warning("%s was not rotated: %s", self._path.name, _reason(err))
            self._files.remove(aside)
            self._files.remove(self._temporary)
            return good
        self._files.sync_folder(self._path.parent)
        return kept

    def _next_aside(self) -> Path:
        """Return the first free name for old records."""
        names = (
            self._path.with_name(f"{self._path.name}.{number}")
            for number in itertools.count(1)
        )
        return next(name for name in names if not self._files.exists(name))

    def _set_aside(self, data: bytes, result: Scan) -> None:
        """Keep the damaged bytes under another name and go on with the good lines."""
        for number in range(1, _MAX_SET_ASIDE + 1):
            aside = self._path.with_name(f"{self._path.name}.corrupt-{number}")
            if self._files.read(aside) is None:
                break
        self._files.remove(aside)
        self._write(aside, data)
        self._write_temporary(result.good)
        self._files.replace(self._temporary, self._path)
        self._files.sync_folder(self._path.parent)
        self.damage = (
            f"{result.damaged} damaged records in {self._path.name}; "
            f"the damaged file is kept as {aside.name}"
        )
        _LOGGER.error("%s", self.damage)

    def _repair(self, data: bytes, result: Scan) -> None:
        """Cut off a torn write, complete a line that lacks only its end, or make the file."""
        if result.torn:
            _LOGGER.info(
                "%s ended in an unfinished record, which was never acknowledged: %d bytes cut off",
                self._path.name,
                result.torn,
            )
        file = self._files.open_append(self._path)
        try:
            # What is wrong with a line that stays is its line feed at most.
            kept = len(result.good) - (not data.startswith(result.good))
            file.truncate(kept)
            file.write(result.good[kept:])
        finally:
            file.close()

    def _write_temporary(self, data: bytes) -> None:
        self._files.remove(self._temporary)
        self._write(self._temporary, data)

    def _write(self, path: Path, data: bytes) -> None:
        file = self._files.open_append(path)
        try:
            file.write(data)
            file.sync()
        finally:
            file.close()

    def _failed(self, err: OSError) -> JournalError:
        """Stop writing and say why."""
        self.trouble = _reason(err)
        self._cut()
        _LOGGER.error("%s cannot be used: %s", self._path.name, self.trouble)
        return JournalError(self._refusal())

    def _cut(self) -> None:
        """Try to remove what was written but not acknowledged; opening again does it too."""
        if self._file is None or self._size is None:
            return
        try:
            self._file.truncate(self._size)
            self._file.sync()
        except OSError as err:
            _LOGGER.debug("%s: no rollback either: %s", self._path.name, _reason(err))

    def _refusal(self) -> str:
        reason = self.trouble or "it is not open"
        return f"{self._path.name} cannot be written ({reason}); nothing is stored until it is opened again"


def _reason(err: OSError) -> str:
    return err.strerror or type(err).__name__
