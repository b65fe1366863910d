"""The one thread that works a journal's file."""

import asyncio
from collections import deque
import contextlib
from dataclasses import dataclass
from enum import Enum, auto
import logging
import threading

from .contract import JournalError, Record
from .log_file import LogFile

_LOGGER = logging.getLogger(__name__)

_MAX_BATCH_BYTES = 4 * 1024 * 1024
"""Bounds one write and so the time to the next look at the queue; our choice."""


class Work(Enum):
    """What the thread can be asked for."""

    OPEN = auto()
    APPEND = auto()
    COMPACT = auto()


@dataclass(slots=True, kw_only=True)
class Job:
    """One request to the thread."""

    work: Work
    data: bytes
    future: asyncio.Future[list[Record] | JournalError]
    """Never holds an exception: nobody may be there to fetch it."""
    done: bool = False
    """The effect is durable. Guarded by the writer's lock."""
    abandoned: bool = False
    """Nobody waits any more: the effect must not stay. Guarded by the writer's lock."""


class Writer:
    """A thread with a bounded queue; all appends that wait share one fsync."""

    def __init__(self, log: LogFile, *, name: str, max_waiting: int) -> None:
        """Start the thread. Needs a running event loop."""
        self._log = log
        self._max_waiting = max_waiting
        self._loop = asyncio.get_running_loop()
        self._changed = threading.Condition()
        self._jobs: deque[Job] = deque()
        self._stopping = False
        self._trouble: str | None = None
        self._hangs = False
        self._stopped: asyncio.Future[None] = self._loop.create_future()
        # A daemon: a disk that hangs must not keep the process from ending. What was
        # acknowledged is durable already.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, work: Work, data: bytes = b"") -> Job:
        """Queue a request, from the event loop.

        Raises:
            JournalError: The queue is full, the writer stops, or writing failed before.

        """
        job = Job(work=work, data=data, future=self._loop.create_future())
        with self._changed:
            if self._stopping or self._stopped.done():
                raise JournalError("the journal is being closed")
            # While the disk hangs, opening again would only wait for it, too.
            if self._trouble and (self._hangs or work is not Work.OPEN):
                raise JournalError(self._trouble)
            if len(self._jobs) >= self._max_waiting:
                raise JournalError(
                    f"the disk is too slow: {len(self._jobs)} records wait to be stored"
                )
            self._jobs.append(job)
            self._changed.notify()
        return job

    def abandon(self, job: Job, reason: str) -> bool:
        """Give up waiting for a job; False if it was done in the meantime.

        Writing stops, so that the order of what is kept stays the order of the calls.
        """
        with self._changed:
            if job.done:
                return False
            job.abandoned = True
            self._trouble = reason
            self._hangs = True
        return True

    async def stop(self, deadline_s: float) -> bool:
        """Work off the queue, end the thread and join it; False if it hangs on the disk."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        await asyncio.wait({self._stopped}, timeout=deadline_s)
        if not self._stopped.done():
            return False
        self._thread.join()
        return True

    def _run(self) -> None:
        """Work until stopped."""
        try:
            while batch := self._take():
                self._do(batch)
        finally:
            self._log.close()
            # The loop may have been closed without waiting for us.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_resolve, self._stopped)

    def _take(self) -> list[Job]:
        """Wait for work: one job, or all appends up to the next other job."""
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._stopping)
            batch: list[Job] = []
            size = 0
            while self._jobs and size < _MAX_BATCH_BYTES:
                if batch and self._jobs[0].work is not Work.APPEND:
                    break
                job = self._jobs.popleft()
                batch.append(job)
                size += len(job.data)
                if job.work is not Work.APPEND:
                    break
            return batch

    def _do(self, batch: list[Job]) -> None:
        """Do the work of a batch and answer everybody in it."""
        answer: list[Record] | JournalError = []
        try:
            match batch[0].work:
                case Work.OPEN:
                    answer = self._log.open()
                case Work.APPEND:
                    self._log.append(b"".join(job.data for job in batch))
                case Work.COMPACT:
                    self._log.compact(batch[0].data)
        except JournalError as err:
            answer = err
        if error := self._conclude(batch, failed=isinstance(answer, JournalError)):
            answer = error
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(_answer, batch, answer)

    def _conclude(self, batch: list[Job], *, failed: bool) -> JournalError | None:
        """Decide, against those who give up waiting, whether the effect stays."""
        with self._changed:
            self._hangs = False
            abandoned = any(job.abandoned for job in batch)
            if not failed and not abandoned:
                for job in batch:
                    job.done = True
            if batch[0].work is Work.OPEN and not failed and not abandoned:
                self._trouble = None
            elif self._log.trouble:
                self._trouble = f"the journal cannot be written ({self._log.trouble}); nothing is stored until it is opened again"
            reason = self._trouble
        if failed or not abandoned:
            return None
        reason = reason or "nobody waited"
        if batch[0].work is Work.APPEND:
            self._log.take_back(sum(len(job.data) for job in batch), reason)
        return JournalError(reason)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _answer(batch: list[Job], answer: list[Record] | JournalError) -> None:
    for job in batch:
        if not job.future.done():
            job.future.set_result(answer)
