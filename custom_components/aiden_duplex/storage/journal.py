"""A journal: records that are on the disk before anybody is told of them."""

import asyncio
from collections.abc import Sequence
import logging
from pathlib import Path
from typing import override

from .contract import JournalError, JournalProtocol, Record, RecordTooLargeError
from .files import FileLayer, OsFiles
from .lines import encode
from .log_file import LogFile
from .writer import Job, Work, Writer

__all__ = ["Journal", "JournalError", "JournalProtocol", "RecordTooLargeError"]

_LOGGER = logging.getLogger(__name__)

MAX_RECORD_BYTES = 1024 * 1024
"""A task at all its limits has about 300 kB; our choice."""
ROTATE_FROM_BYTES = 16 * 1024 * 1024
"""So many bytes of records that nobody asks for any more go to a file of their own at
opening: it bounds what is read. Our choice."""
MAX_WAITING = 1024
"""Records that may wait for the disk; our choice."""
DEADLINE_S = 10.0
"""How long a caller waits for the disk; a worn SD card stalls for seconds. Our choice."""
OPEN_DEADLINE_S = 60.0
"""Reading may be long for a large file on a slow card; our choice."""
CLOSE_DEADLINE_S = 5.0


class Journal(JournalProtocol):
    """An append-only file, written by one thread that exists from open to close.

    One record is one line (see :mod:`.lines`). An unfinished last line is cut off when
    the file is opened; damaged lines are set aside with the whole file as
    ``<name>.corrupt-<n>`` and the good ones go on. Where only the newest records are asked
    for, many older ones are moved to ``<name>.<n>`` then. Files have mode 0600, the folder
    0700.
    """

    def __init__(
        self,
        path: Path,
        *,
        files: FileLayer | None = None,
        keep_last: int | None = None,
        rotate_from: int = ROTATE_FROM_BYTES,
        damage_mark: Record | None = None,
        max_record_bytes: int = MAX_RECORD_BYTES,
        max_waiting: int = MAX_WAITING,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        """Touch nothing yet.

        Args:
            path: The file; its folder is made if needed.
            files: The file system, for tests.
            keep_last: How many of the newest records :meth:`open` returns; None for all.
            rotate_from: From so many bytes on :meth:`open` moves the records beyond
                ``keep_last`` to another file.
            damage_mark: A record that stands in place of damaged ones from then on.
            max_record_bytes: A larger record is refused.
            max_waiting: More waiting records are refused.
            deadline_s: How long an append or a compaction waits for the disk.

        """
        self._log = LogFile(
            path, files or OsFiles(), keep_last, rotate_from, damage_mark
        )
        self._name = path.name
        self._max_record_bytes = max_record_bytes
        self._max_waiting = max_waiting
        self._deadline_s = deadline_s
        self._writer: Writer | None = None

    @property
    def damage(self) -> str | None:
        """What was found broken at opening, for a person; None if nothing."""
        return self._log.damage

    @override
    async def open(self) -> list[Record]:
        """Start the thread if needed, repair the file, return the records."""
        fresh = self._writer is None
        if self._writer is None:
            self._writer = Writer(
                self._log, name=f"journal {self._name}", max_waiting=self._max_waiting
            )
        try:
            return await self._do(Work.OPEN, deadline_s=OPEN_DEADLINE_S)
        except JournalError, asyncio.CancelledError:
            if fresh:
                await self.close()
            raise

    @override
    async def append(self, record: Record) -> None:
        """Keep one record; returns when it is durable."""
        await self._do(Work.APPEND, self._encode(record), deadline_s=self._deadline_s)

    @override
    async def compact(self, records: Sequence[Record]) -> None:
        """Replace the content by these records."""
        data = b"".join(self._encode(record) for record in records)
        await self._do(Work.COMPACT, data, deadline_s=self._deadline_s)

    @override
    async def close(self) -> None:
        """Write what waits, end and join the thread. Nothing to do when not open."""
        writer, self._writer = self._writer, None
        if writer is None:
            return
        if not await writer.stop(CLOSE_DEADLINE_S):
            _LOGGER.error(
                "%s was left open: the disk does not answer within %.0f s",
                self._name,
                CLOSE_DEADLINE_S,
            )

    def _encode(self, record: Record) -> bytes:
        line = encode(record)
        if len(line) > self._max_record_bytes:
            raise RecordTooLargeError(
                f"a record of {len(line)} bytes is too large for {self._name}"
            )
        return line

    async def _do(
        self, work: Work, data: bytes = b"", *, deadline_s: float
    ) -> list[Record]:
        """Hand a job to the thread and wait for it, but not for ever."""
        writer = self._writer
        if writer is None:
            raise JournalError(f"{self._name} is not open")
        job = writer.submit(work, data)
        deadline = asyncio.get_running_loop().call_later(
            deadline_s, self._give_up, writer, job, deadline_s
        )
        try:
            answer = await job.future
        finally:
            deadline.cancel()
        if isinstance(answer, JournalError):
            raise answer
        return answer

    def _give_up(self, writer: Writer, job: Job, deadline_s: float) -> None:
        """Answer for a disk that does not; if it just did, its answer is on the way."""
        reason = f"{self._name}: the disk did not answer within {deadline_s:.0f} s"
        if not job.future.done() and writer.abandon(job, reason):
            job.future.set_result(JournalError(reason))
