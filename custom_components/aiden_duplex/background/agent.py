"""The background agent: works tasks on the phone, one run at a time."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
import logging
from typing import override

from ..models.chat.messages import ChatModel
from ..phone.lease import Lease
from ..phone.types import LeaseHeldError
from ..tasks.runner import RunEnd, Runner, RunRequest, RunResult, Steer
from . import prompts
from .ends import RunOver
from .history import History
from .limits import LoopLimits
from .loop import DeviceLoop
from .ports import PhoneControl, TranscriptWriter
from .prompts import Interrupt
from .scribe import Scribe
from .steering import Memory, Steering

_LOGGER = logging.getLogger(__name__)


@dataclass(slots=True)
class _Switch:
    """Tells a run that waits for the phone that it must not take it any more."""

    off: bool = False


class DeviceAgent(Runner):
    """Implements the runner of ``tasks`` on the phone.

    Args:
        phone: The phone; a task's id is the owner of its lease.
        chat: Returns the model to use for a run, None if there is none.
        now: Returns the time, with its zone.
        limits: How far one run may go.
        transcript: Where the conversation is kept for good, if anywhere.

    """

    def __init__(
        self,
        *,
        phone: PhoneControl,
        chat: Callable[[], ChatModel | None],
        now: Callable[[], datetime],
        limits: LoopLimits = LoopLimits(),
        transcript: TranscriptWriter | None = None,
    ) -> None:
        """Compose; nothing is opened."""
        self._phone = phone
        self._chat = chat
        self._now = now
        self._limits = limits
        self._scribe = Scribe(transcript, now)
        self._kept: OrderedDict[str, Memory] = OrderedDict()
        self._switches: dict[str, _Switch] = {}
        self._steers: dict[str, Steer] = {}
        self._earlier: tuple[str, Interrupt] | None = None
        """The task that stopped early last, until another one has been told."""

    @override
    async def run(
        self, request: RunRequest, on_step: Callable[[str], None]
    ) -> RunResult:
        """Work a task until an end; see :class:`.Runner`."""
        chat = self._chat()
        if chat is None:
            result = RunResult(end=RunEnd.FAILED, text=prompts.NO_MODEL)
            return replace(result, applied_revision=request.goal_revision)
        switch = self._switches[request.task_id] = _Switch()
        memory = self._remember(request)
        try:
            await self._scribe.said(request.continuation or request.goal)
            result, interrupt = await self._work(request, chat, memory, switch, on_step)
        except asyncio.CancelledError as err:
            self._interrupt(request.task_id, memory, _why(err))
            raise
        except Exception:
            self._interrupt(request.task_id, memory, Interrupt.EXECUTION_ERROR)
            raise
        finally:
            if self._switches.get(request.task_id) is switch:
                del self._switches[request.task_id]
                self._steers.pop(request.task_id, None)
        if interrupt is not None:
            self._interrupt(request.task_id, memory, interrupt)
        elif result.end is RunEnd.PAUSED:
            self._keep(request.task_id, memory)
        elif self._earlier is not None and self._earlier[0] == request.task_id:
            # What was cut off has been brought to an end after all.
            self._earlier = None
        return replace(result, applied_revision=memory.goal_revision)

    @override
    def steer(self, task_id: str, steer: Steer) -> None:
        """Replace the goal of a run; it takes it up before anything else is done."""
        self._steers[task_id] = steer

    @override
    def revoke(self, task_id: str) -> None:
        """Let no new action of this task start, from this moment on."""
        if switch := self._switches.get(task_id):
            switch.off = True
        self._phone.revoke(task_id)

    @override
    def fence(self, task_id: str) -> None:
        """Let nothing that this task still does reach the phone."""
        if switch := self._switches.get(task_id):
            switch.off = True
        self._phone.fence(task_id)

    # One run.

    async def _work(
        self,
        request: RunRequest,
        chat: ChatModel,
        memory: Memory,
        switch: _Switch,
        on_step: Callable[[str], None],
    ) -> tuple[RunResult, Interrupt | None]:
        """Return the end of a run; the phone is given back by then, whatever happens."""
        try:
            lease = await self._acquire(request.task_id, switch, on_step)
        except RunOver as over:
            return over.result, over.interrupt
        loop = DeviceLoop(
            phone=self._phone,
            lease=lease,
            chat=chat,
            history=memory.history,
            limits=self._limits,
            on_step=on_step,
            record=self._scribe.call,
            record_notice=self._scribe.notice,
            steering=Steering(request.task_id, self._steers, memory, self._scribe),
            commitments=memory.commitments,
            spend=request.spend,
        )
        clean = False
        try:
            async with asyncio.timeout(self._limits.run_s) as clock:
                result = await loop.run()
            clean = True
        except RunOver as over:
            clean = True
            return over.result, over.interrupt
        except TimeoutError:
            if not clock.expired():
                raise
            failed = RunResult(end=RunEnd.FAILED, text=prompts.DEADLINE)
            return failed, Interrupt.DEADLINE_EXCEEDED
        else:
            return result, None
        finally:
            if not clean:
                # First in memory: while letting go takes time, nothing may start.
                self.revoke(request.task_id)
            if loop.unfinished is not None:
                self._scribe.owe_call(loop.unfinished, prompts.INTERRUPTED_CALL)
            await self._give_back(lease)

    async def _acquire(
        self, task_id: str, switch: _Switch, on_step: Callable[[str], None]
    ) -> Lease:
        """Return the lease, waited for if somebody else has it."""
        time = asyncio.get_running_loop().time
        deadline = time() + self._limits.lease_s
        while not switch.off:
            try:
                return self._phone.acquire(task_id)
            except LeaseHeldError as err:
                if time() >= deadline:
                    failed = RunResult(end=RunEnd.FAILED, text=prompts.LEASE_HELD)
                    raise RunOver(failed) from err
            on_step("waiting for the phone")
            await asyncio.sleep(self._limits.lease_retry_s)
        raise RunOver(RunResult(end=RunEnd.FAILED, text=prompts.REVOKED))

    async def _give_back(self, lease: Lease) -> None:
        """Release the phone, also while being cancelled; fence the run if that hangs."""
        release = asyncio.create_task(self._phone.release(lease), name="release phone")
        was_cancelled = await _settle(release, self._limits.release_s)
        if not release.done():
            _LOGGER.warning("The phone was not let go in time; the run is fenced")
            self.fence(lease.owner)
            release.cancel()
            was_cancelled |= await _settle(release, self._limits.release_s)
        elif not release.cancelled() and (err := release.exception()) is not None:
            _LOGGER.warning("Letting go of the phone failed: %s", err)
            self.fence(lease.owner)
        if was_cancelled:
            raise asyncio.CancelledError

    # What is remembered.

    def _remember(self, request: RunRequest) -> Memory:
        """Return the conversation of a task, with what this run begins with."""
        memory = self._kept.pop(request.task_id, None)
        known = memory is not None
        if memory is None:
            history = History(prompts.SYSTEM, pictures=self._limits.pictures)
            history.add_user(prompts.goal(request.goal, self._now()), pinned=True)
            memory = Memory(history=history, goal_revision=request.goal_revision)
        history = memory.history
        if self._earlier is not None and self._earlier[0] != request.task_id:
            history.add_user(prompts.earlier_work(self._earlier[1]))
            self._earlier = None
        if memory.goal_revision != request.goal_revision:
            history.add_user(prompts.notice(Interrupt.STEER))
            history.add_user(prompts.new_goal(request.goal), pinned=True)
            memory.goal_revision = request.goal_revision
            memory.commitments.settle()
        elif known and request.continuation is None:
            history.add_user(prompts.resumed())
        if request.recovered or (request.begun and not known):
            history.add_user(prompts.notice(Interrupt.AGENT_RESTART))
        if request.continuation is not None:
            words = prompts.answer(
                request.continuation, question_known=known, asked=request.asked
            )
            history.add_user(words, pinned=True)
        return memory

    def _interrupt(self, task_id: str, memory: Memory, reason: Interrupt) -> None:
        """Leave word for the next run, of this task or of another one."""
        memory.history.close_calls(prompts.INTERRUPTED_CALL)
        memory.history.add_user(prompts.notice(reason))
        self._scribe.owe_notice(prompts.notice(reason))
        self._keep(task_id, memory)
        self._earlier = (task_id, reason)

    def _keep(self, task_id: str, memory: Memory) -> None:
        """Keep a conversation, without its pictures, and let go of the oldest one."""
        memory.history.hide_pictures()
        self._kept[task_id] = memory
        self._kept.move_to_end(task_id)
        while len(self._kept) > self._limits.kept_tasks:
            self._kept.popitem(last=False)


def _why(err: asyncio.CancelledError) -> Interrupt:
    """Return what a cancellation says of itself; see :class:`.StopReason` of the tasks."""
    try:
        return _STOPS[err.args[0]]
    except IndexError, KeyError:
        return Interrupt.CANCELED


_STOPS = {
    "take_over": Interrupt.TAKE_OVER,
    "deadline_exceeded": Interrupt.DEADLINE_EXCEEDED,
}


async def _settle(task: asyncio.Task[None], seconds: float) -> bool:
    """Wait for a task at most so long; return whether we were cancelled meanwhile."""
    time = asyncio.get_running_loop().time
    deadline = time() + seconds
    was_cancelled = False
    while not task.done() and (left_s := deadline - time()) > 0:
        try:
            await asyncio.wait([task], timeout=left_s)
        except asyncio.CancelledError:
            was_cancelled = True
    return was_cancelled
