"""Keeps the last record of every task durable; heals the journal after a failure."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
import logging

from ..storage.contract import (
    JournalError,
    JournalProtocol,
    Record,
    RecordTooLargeError,
)
from .limits import TaskLimits

_LOGGER = logging.getLogger(__name__)

_MAX_WAITING = 1000
"""Records that may wait for the journal; our choice."""
_RETRY_S = (5.0, 300.0)
"""First and longest pause between attempts to heal the journal; our choice."""


@dataclass(slots=True, kw_only=True)
class _Put:
    record: Record
    owed: bool
    done: asyncio.Future[bool]
    forgotten: bool = False


class Ledger:
    """Writes records in the order in which they are put.

    It remembers the last durable record of each task, so it can write all of them anew:
    to keep the journal short, and after a failure, when memory is the truth. A record
    that is *owed* (what happened cannot be undone, such as a cancel) is part of that
    even if it could not be written; any other record that fails is forgotten.
    """

    def __init__(self, journal: JournalProtocol, limits: TaskLimits) -> None:
        """Touch nothing yet."""
        self._journal = journal
        self._limits = limits
        self._latest: dict[str, Record] = {}
        self._waiting: list[_Put] = []
        self._writing: list[_Put] = []
        self._drainer: asyncio.Task[None] | None = None
        self._trouble: str | None = None
        self._count = 0
        self._compact_at = limits.compact_from
        self._retry: asyncio.TimerHandle | None = None
        self._retry_s = _RETRY_S[0]
        self._paused_until = 0.0
        self._closed = True

    @property
    def trouble(self) -> str:
        """Return why the last record was refused, for a person."""
        return self._trouble or "the tasks are closed"

    async def open(self) -> list[Record]:
        """Return all records.

        Raises:
            JournalError: They cannot be read.

        """
        records = await self._journal.open()
        self._count = len(records)
        self._closed = False
        return records

    def adopt(self, records: Iterable[Record]) -> None:
        """Take over the last record of each task, as read."""
        self._latest = {record["id"]: record for record in records}

    def put(self, record: Record, *, owed: bool) -> asyncio.Future[bool]:
        """Write a record; the future says whether it is durable. It never raises."""
        put = _Put(
            record=record, owed=owed, done=asyncio.get_running_loop().create_future()
        )
        if self._closed:
            put.done.set_result(False)
        elif len(self._waiting) >= _MAX_WAITING:
            self._conclude(put, JournalError("too many records wait for the disk"))
        else:
            self._waiting.append(put)
            self._kick()
        return put.done

    def forget(self, task_id: str) -> None:
        """Leave a task out when the journal is written anew.

        What is on its way of it comes first: without its last word, that it was told,
        a journal written anew would drop what the disk only knows as untold.
        """
        puts = (*self._writing, *self._waiting)
        of_it = [put for put in puts if put.record["id"] == task_id]
        if of_it:
            of_it[-1].forgotten = True
        else:
            self._latest.pop(task_id, None)

    async def flush(self) -> None:
        """Return when nothing waits to be written; what is owed may stay."""
        if (drainer := self._drainer) is not None:
            await asyncio.wait({drainer})

    def pause_compaction(self, seconds: float) -> None:
        """Leave the journal's beginning alone for a while; 0 ends that."""
        self._paused_until = asyncio.get_running_loop().time() + seconds

    async def close(self, deadline_s: float) -> None:
        """Write what waits, try once more what is owed, close the journal."""
        if self._closed:
            return
        self._closed = True
        self._cancel_retry()
        self._kick()
        if (drainer := self._drainer) is not None:
            await asyncio.wait({drainer}, timeout=deadline_s * 0.6)
            if not drainer.done():
                drainer.cancel()
                await asyncio.wait({drainer}, timeout=deadline_s * 0.1)
        waiting, self._waiting = self._waiting, []
        for put in waiting:
            self._conclude(put, JournalError("the tasks are closed"))
        try:
            async with asyncio.timeout(deadline_s * 0.3):
                await self._journal.close()
        except TimeoutError:
            _LOGGER.error("The task journal did not close in time")

    def _kick(self) -> None:
        """Let the records that wait be written."""
        if self._drainer is None:
            # Eager: the first record is on its way to the disk when this returns.
            drainer = asyncio.Task(
                self._drain(), loop=asyncio.get_running_loop(), eager_start=True
            )
            if not drainer.done():
                self._drainer = drainer

    async def _drain(self) -> None:
        """Write until nothing waits; all that wait at one time share a write."""
        try:
            if self._trouble and not self._waiting:
                await self._heal()
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._write(batch)
                await self._compact_if_long()
        finally:
            # No await between the last look at what waits and this line.
            self._drainer = None
            if self._trouble and not self._closed:
                self._schedule_retry()

    async def _write(self, batch: list[_Put]) -> None:
        results: list[BaseException | None]
        self._writing = batch
        try:
            if self._trouble and not await self._heal():
                results = [JournalError(self._trouble)] * len(batch)
            else:
                results = await self._append(batch)
        except asyncio.CancelledError:
            results = [JournalError("stopped")] * len(batch)
            raise
        finally:
            self._writing = []
            for put, result in zip(batch, results, strict=True):
                self._conclude(put, result)

    async def _append(self, batch: list[_Put]) -> list[BaseException | None]:
        """Append all of a batch at once; return what was wrong with each."""
        if len(batch) > 1:
            return await asyncio.gather(
                *(self._journal.append(put.record) for put in batch),
                return_exceptions=True,
            )
        # The usual case without the detour of a task, which costs latency.
        try:
            await self._journal.append(batch[0].record)
        except Exception as err:  # noqa: BLE001
            return [err]
        return [None]

    def _conclude(self, put: _Put, error: BaseException | None) -> None:
        """Note what became of a record and tell who waits for it."""
        if error is None:
            self._count += 1
        elif isinstance(error, RecordTooLargeError) or not isinstance(
            error, JournalError
        ):
            # Only this record is bad; owing it would spoil every attempt to heal.
            _LOGGER.error("A record of a task cannot be stored", exc_info=error)
        else:
            self._trouble = str(error)
        is_kept = error is None or (put.owed and isinstance(error, JournalError))
        if put.forgotten:
            self._latest.pop(put.record["id"], None)
        elif is_kept:
            self._latest[put.record["id"]] = put.record
        if not put.done.done():
            put.done.set_result(error is None)

    async def _heal(self) -> bool:
        """Open the journal anew and write all that should be in it."""
        try:
            await self._journal.open()
            await self._journal.compact(list(self._latest.values()))
        except JournalError as err:
            self._trouble = str(err)
            return False
        _LOGGER.info("The task journal can be written again")
        self._trouble = None
        self._count = len(self._latest)
        self._retry_s = _RETRY_S[0]
        self._cancel_retry()
        return True

    async def _compact_if_long(self) -> None:
        needed = len(self._latest)
        is_paused = asyncio.get_running_loop().time() < self._paused_until
        if (
            is_paused
            or self._trouble
            or self._count
            <= max(self._compact_at, self._limits.compact_factor * needed)
        ):
            return
        try:
            await self._journal.compact(list(self._latest.values()))
        except JournalError as err:
            # The records are all there; try again much later.
            self._compact_at = self._count + self._limits.compact_from
            _LOGGER.warning("The task journal was not compacted: %s", err)
            return
        self._count = needed
        self._compact_at = self._limits.compact_from

    def _schedule_retry(self) -> None:
        """Try to heal after a while even if nothing is put."""
        self._cancel_retry()
        loop = asyncio.get_running_loop()
        self._retry = loop.call_later(self._retry_s, self._kick)
        self._retry_s = min(self._retry_s * 2, _RETRY_S[1])

    def _cancel_retry(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
