"""Tells a journal that came back from a backup from one that was there all the time."""

import logging
from pathlib import Path
import secrets

from .files import FileLayer, OsFiles

_LOGGER = logging.getLogger(__name__)


class RunMark:
    """The same random text beside the journals, which backups hold, and where none holds it.

    The marks are renewed with every start and after every backup. If they differ, or the
    outer one is gone, what lies in the folder is from another time. Blocking.
    """

    def __init__(
        self, inner: Path, outer: Path, *, files: FileLayer | None = None
    ) -> None:
        """Touch nothing yet; ``outer`` must be left out of backups."""
        self._inner = inner
        self._outer = outer
        self._files = files or OsFiles()

    def is_restored(self) -> bool:
        """Return whether the folder came from a backup; unknown counts as yes."""
        try:
            inner = self._files.read(self._inner)
            return inner is not None and inner != self._files.read(self._outer)
        except OSError as err:
            _LOGGER.warning("The marks of the run cannot be read: %s", err.strerror)
            return True

    def renew(self) -> None:
        """Write new marks; between the two writes they differ, which holds work and loses none."""
        mark = secrets.token_hex(16).encode()
        try:
            self._files.make_folder(self._inner.parent)
            for path in (self._outer, self._inner):
                self._write(path, mark)
        except OSError as err:
            _LOGGER.warning("The marks of the run cannot be written: %s", err.strerror)

    def _write(self, path: Path, mark: bytes) -> None:
        """Write one mark; it is durable on return."""
        temporary = path.with_name(f"{path.stem}.tmp{path.suffix}")
        self._files.remove(temporary)
        file = self._files.open_append(temporary)
        try:
            file.write(mark)
            file.sync()
        finally:
            file.close()
        self._files.replace(temporary, path)
        self._files.sync_folder(path.parent)
