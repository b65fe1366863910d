"""Works the queue: one run at a time, and a way to stop it that always ends."""

import asyncio
import contextlib
from datetime import datetime
import logging
from typing import Any, Protocol

from . import lifecycle
from .book import Item, TaskBook
from .consent_desk import ConsentDesk
from .endings import after_run, not_started
from .model import ReasonClass, TaskEventType, TaskStatus
from .records import Stored
from .run import Run, StopReason
from .runner import Runner, RunResult, Steer

_LOGGER = logging.getLogger(__name__)


class Waiting(Protocol):
    """How a task comes to wait for a person."""

    def __call__(self, stored: Stored, /, *, now: datetime) -> Stored:
        """Return the task as it waits."""


_ON_THE_PHONE = frozenset(
    {
        ReasonClass.AUTHENTICATION,
        ReasonClass.CAPTCHA,
        ReasonClass.VERIFICATION_CODE,
        ReasonClass.SENSITIVE_OPERATION,
        ReasonClass.TAKE_OVER,
        ReasonClass.BLACK_SCREEN,
        ReasonClass.UNSUPPORTED_ACTION,
    }
)
"""Reasons for which a person has something to do on the phone itself."""


class Worker:
    """Takes tasks from the queue and runs them, one after the other."""

    def __init__(self, book: TaskBook, consents: ConsentDesk, runner: Runner) -> None:
        """Do nothing yet."""
        self._book = book
        self._consents = consents
        self._runner = runner
        self._limits = book.limits
        self._now = book.now
        self._wake = asyncio.Event()
        self._active: tuple[Item, Run] | None = None
        self._starting: Item | None = None
        """The task whose start is on its way to the disk."""
        self._rest: asyncio.Future[None] | None = None
        """Done when the run that goes on has been concluded."""
        self._reserved: tuple[Item, float] | None = None
        self._closing: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._strays: set[asyncio.Task[RunResult]] = set()
        self._set_asides: set[asyncio.Task[None]] = set()
        self._counts = True
        """A run that the stop cuts off counts as a recovery."""

    @property
    def active(self) -> Item | None:
        """Return the task whose run is going on."""
        return self._active[0] if self._active else None

    @property
    def on_phone(self) -> Item | None:
        """Return the task that has the phone, or that the phone is kept for."""
        return self.active or self._reserved_for()

    def start(self) -> None:
        """Begin to work. A second call does nothing."""
        if self._task is None:
            self._reserve_again()
            self._closing = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._work(self._closing))

    def wake(self) -> None:
        """Look at the queue: something in it or about the reservation changed."""
        self._wake.set()

    def cancel(self, item: Item) -> asyncio.Future[bool]:
        """Stop a task that has not ended, at once in memory; returns its record.

        A run is first cut off from the phone, then told to end; the task is cancelled
        when the run has returned.
        """
        if self._active is None or self._active[0] is not item:
            return self._cancelled(item)
        self._active[1].stop(StopReason.CANCELED)
        stored = lifecycle.cancelling(item.stored, now=self._now())
        saved = self._book.save(stored)
        self._book.apply(item, stored, TaskEventType.CANCELLING)
        return saved

    def steer(self, item: Item) -> asyncio.Future[bool] | None:
        """Give a replaced goal to the run of a task, if it runs.

        Returns the record of what a stopped run's task is going to be, now with that goal.
        """
        if self._active is None or self._active[0] is not item:
            return None
        task = item.stored.task
        self._runner.steer(
            task.id, Steer(goal=task.prompt, goal_revision=task.goal_revision)
        )
        return self._foretell(item, self._active[1])

    @property
    def begun(self) -> Item | None:
        """Return the task whose run goes on or is about to start."""
        return self.active or self._starting

    def take_over(self, item: Item) -> asyncio.Future[Any] | None:
        """Let a task wait for the person; None if it neither runs nor goes on by itself.

        What is returned is done when nothing of it reaches the phone any more.
        """
        if self._active is not None and self._active[0] is item:
            if item.stored.task.status is not TaskStatus.RUNNING:
                return None
            run = self._active[1]
            run.stop(StopReason.TAKE_OVER)
            self._foretell(item, run)
            return self._rest
        if item is not self._starting and not item.stored.resumed:
            return None
        return self.set_aside(item, lifecycle.taken_over)

    def set_aside(self, item: Item, into: Waiting) -> asyncio.Task[None]:
        """Let a task in the queue wait for a person; it does not start from this call on.

        What is returned is done when that is durable, or cannot be.
        """
        task = asyncio.Task(
            self._set_aside(item, into),
            loop=asyncio.get_running_loop(),
            eager_start=True,
        )
        self._set_asides.add(task)
        task.add_done_callback(self._set_asides.discard)
        return task

    async def _set_aside(self, item: Item, into: Waiting) -> None:
        item.withheld = True
        try:
            async with item.changing:
                before = item.stored
                if not before.is_in_queue:
                    return
                after = into(before, now=self._now())
                await self._book.save(after)
                if item.stored is before:
                    self._apply(item, after)
                else:
                    # A cancel does not wait, and must be the last word.
                    self._book.save(item.stored)
        finally:
            item.withheld = False
            self.wake()

    def reserve(self, item: Item) -> None:
        """Keep the phone for the person of a task that waits."""
        seconds = self._limits.reserve_s
        action = item.stored.task.pending_user_action
        if action is not None and action.reason is ReasonClass.TAKE_OVER:
            # Whoever says that they do a part themselves is not to be hurried.
            seconds = max(seconds, self._limits.take_over_reserve_s)
        self._reserved = item, asyncio.get_running_loop().time() + seconds

    def _reserve_again(self) -> None:
        """Keep the phone as before the process ended, for what is left of the time."""
        waiting = [
            (action.created_at, item)
            for item in self._book.items
            if (action := item.stored.task.pending_user_action) is not None
            and action.reason in _ON_THE_PHONE
        ]
        if not waiting:
            return
        asked_at, item = max(waiting, key=lambda entry: entry[0])
        self.reserve(item)
        assert self._reserved is not None
        passed = max(0.0, (self._now() - asked_at).total_seconds())
        self._reserved = item, self._reserved[1] - passed

    def halt(self) -> None:
        """Cut the run off; nothing starts while the book says that all is halted."""
        if self._active is not None:
            item, run = self._active
            run.stop(StopReason.KILL_SWITCH)
            self._foretell(item, run)
        self.wake()

    def _foretell(self, item: Item, run: Run) -> asyncio.Future[bool] | None:
        """Journal what a stopped run's task is going to be; returns the record, if any."""
        if run.reason is None or run.is_over:
            return None
        self._hush(item)
        foreseen = self.foreseen(item, item.stored)
        return self._book.save(foreseen) if foreseen is not item.stored else None

    def foreseen(self, item: Item, stored: Stored) -> Stored:
        """Return a state of a task as it has to be journalled.

        A crash before a stopped run has returned must not let it go on: under the hands
        of a person who took over, or after the kill switch.
        """
        if self._active is None or self._active[0] is not item:
            return stored
        run = self._active[1]
        if run.is_over or stored.task.status is not TaskStatus.RUNNING:
            return stored
        now = self._now()
        match run.reason:
            case StopReason.TAKE_OVER:
                return lifecycle.taken_over(stored, now=now)
            case StopReason.KILL_SWITCH:
                # It gets its number when it has really ended, or at the next start.
                return lifecycle.halted(stored, now=now, sequence=None)
        return stored

    async def stop(self, deadline_s: float, *, counts: bool) -> None:
        """End the run and the worker; an interrupted task is queued for recovery."""
        self._counts = counts
        if self._task is None or self._closing is None:
            return
        if not self._closing.done():
            self._closing.set_result(None)
        self.wake()
        if self._active is not None:
            self._active[1].stop(StopReason.SHUTDOWN)
        await asyncio.wait({self._task, *self._set_asides}, timeout=deadline_s)
        if not self._task.done():
            _LOGGER.error("The task worker did not end in time")
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=0.2)
        for stray in self._strays:
            stray.cancel(StopReason.SHUTDOWN)
        if self._strays:
            await asyncio.wait(set(self._strays), timeout=0.2)

    async def _work(self, closing: asyncio.Future[None]) -> None:
        while not closing.done():
            self._wake.clear()
            if item := self._next():
                await self._work_on(item, closing)
            else:
                await self._idle()

    def _next(self) -> Item | None:
        """Return the task that may run now."""
        # Looked at in any case: a reservation that is over must not be waited for.
        item = self._reserved_for()
        if self._book.halted:
            return None
        if item is None:
            head = self._book.queue.head
            item = self._book.find(head) if head is not None else None
        if item is None or item.withheld or not item.stored.is_in_queue:
            return None
        return item

    def _reserved_for(self) -> Item | None:
        """Return the task that the phone is kept for, while a person works on it."""
        if self._reserved is None:
            return None
        item, until = self._reserved
        over = asyncio.get_running_loop().time() >= until
        if over or not (item.stored.task.is_waiting or item.stored.is_in_queue):
            self._reserved = None
            return None
        return item

    async def _idle(self) -> None:
        """Wait until something changes or the reservation is over."""
        until = self._reserved[1] if self._reserved else None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await self._wake.wait()

    async def _work_on(self, item: Item, closing: asyncio.Future[None]) -> None:
        """Run a task once and apply what came of it."""
        before = item.stored
        self._starting = item
        try:
            after = await self._store_start(item, closing)
        finally:
            self._starting = None
        if after is None:
            return
        run = Run(
            before,
            self._runner,
            self._limits,
            lambda act, screen: self._spend(item, run, act, screen),
        )
        self._active = item, run
        self._rest = asyncio.get_running_loop().create_future()
        try:
            self._book.apply(item, after, TaskEventType.RUNNING)
            # A listener may have cancelled it already.
            if run.reason is None:
                await run.watch(lambda text: self._step(item, run, text), closing)
            await self._conclude(item, run)
        finally:
            self._active = None
            self._rest.set_result(None)
            if (stray := run.left_behind) is not None:
                self._strays.add(stray)
                stray.add_done_callback(self._stray_ended)

    async def _store_start(
        self, item: Item, closing: asyncio.Future[None]
    ) -> Stored | None:
        """Make the start durable; without it an act could be done twice after a crash.

        None if the task does not start: it was cancelled, the process stops, or the
        journal stays unwritable, for which the task fails.
        """
        before = item.stored
        for pause_s in (*self._limits.start_retries_s, None):
            async with item.changing:
                if item.stored is not before:
                    return None
                after = self._book.with_place(
                    lifecycle.started(before, now=self._now())
                )
                saved = await self._book.save(after, owed=False)
                if item.stored is not before:
                    # What was written of the start must not be the last word on it.
                    self._book.save(item.stored)
                    return None
                if closing.done() or self._book.halted or item.withheld:
                    if saved:
                        await self._book.save(before)
                    return None
                if saved:
                    return after
            if pause_s is not None and not await self._pause(pause_s, item, closing):
                return None
        failed = not_started(
            before,
            self._book.ledger.trouble,
            now=self._now(),
            sequence=self._book.sequence + 1,
        )
        self._book.save(failed)
        self._book.finish(item, failed)
        return None

    async def _pause(
        self, seconds: float, item: Item, closing: asyncio.Future[None]
    ) -> bool:
        """Wait while the task may still start; whether it may."""
        before = item.stored
        until = asyncio.get_running_loop().time() + seconds
        while (
            item.stored is before
            and not item.withheld
            and not closing.done()
            and not self._book.halted
        ):
            self._wake.clear()
            try:
                async with asyncio.timeout_at(until):
                    await self._wake.wait()
            except TimeoutError:
                return True
        return False

    async def _conclude(self, item: Item, run: Run) -> None:
        """Apply the end of a run: exactly once, and a cancel wins over anything late.

        The run is over for everybody before the end is published: a listener that
        cancels the task at once must not wait for it.
        """
        result = run.result()
        async with item.changing:
            run.is_over = True
            before = item.stored
            if before.task.status is TaskStatus.RUNNING:
                after = after_run(
                    before,
                    result,
                    reason=run.reason,
                    stuck=run.stuck,
                    now=self._now(),
                    sequence=self._book.sequence + 1,
                    first_place=self._book.queue.first_place(),
                    limits=self._limits,
                    counts=self._counts,
                )
                await self._book.save(after)
                if item.stored is before:
                    self._active = None
                    self._apply(item, after)
                    return
        self._active = None
        if result is not None:
            _LOGGER.debug("A result came after the cancel and is dropped")
        self._cancelled(item, error=lifecycle.RUNNER_STUCK if run.stuck else None)

    def _cancelled(self, item: Item, error: str | None = None) -> asyncio.Future[bool]:
        """End a task on request, in memory first; returns its record."""
        stored = lifecycle.cancelled(
            item.stored,
            now=self._now(),
            sequence=self._book.sequence + 1,
            error=error,
        )
        saved = self._book.save(stored)
        self._book.finish(item, stored)
        self.wake()
        return saved

    def _apply(self, item: Item, after: Stored) -> None:
        """Let the book take over what came of a run."""
        task = after.task
        if task.status.is_terminal:
            self._book.finish(item, after)
        elif (action := task.pending_user_action) is not None:
            self._book.apply(item, after, TaskEventType.NEEDS_YOU)
            if action.reason in _ON_THE_PHONE and item.stored.task.is_waiting:
                self.reserve(item)
        else:
            self._book.apply(item, after, None)

    async def _spend(self, item: Item, run: Run, act: str, screen: str) -> bool:
        """Use up the consent of a task in whose run an act is to be done."""
        return await self._consents.spend(
            item,
            act,
            screen,
            is_live=lambda: self._active == (item, run) and run.reason is None,
        )

    def _step(self, item: Item, run: Run, text: str) -> None:
        """Publish what a run is doing; nothing that comes late or says the same."""
        step = lifecycle.tidy(text.strip(), self._limits.step_chars)
        if self._active != (item, run) or run.reason is not None:
            _LOGGER.debug("A step came after the end of its run and is dropped")
        elif step and step != item.step:
            item.step = step
            self._book.publish(item, TaskEventType.UPDATED, is_step=True)

    def _hush(self, item: Item) -> None:
        """Withdraw the live step of a run that was told to end."""
        if item.step is not None:
            item.step = None
            self._book.publish(item, TaskEventType.UPDATED, is_step=True)

    def _stray_ended(self, task: asyncio.Task[RunResult]) -> None:
        """Drop what a run returns after it was given up."""
        self._strays.discard(task)
        if not task.cancelled():
            _LOGGER.warning("A run that was cut off has ended; its result is dropped")
            _LOGGER.debug("How it ended", exc_info=task.exception())
