"""A task manager with a scripted runner, a journal in memory and virtual time."""

import asyncio
from collections.abc import Callable, Coroutine
import contextlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
import functools
from typing import Any, override

from custom_components.aiden_duplex.tasks.consents import Audit, ConsentChange
from custom_components.aiden_duplex.tasks.limits import TaskLimits
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import (
    Assent,
    ConsentHow,
    ConsentRequest,
    Origin,
    Outcome,
    ReasonClass,
    Task,
    TaskEvent,
)
from custom_components.aiden_duplex.tasks.runner import (
    Question,
    RunEnd,
    Runner,
    RunRequest,
    RunResult,
    Steer,
)
from tests.storage.memory_journal import MemoryJournal
from tests.virtual_time import run

ORIGIN = Origin(source="action", user_id="user-1", context_id="context-1")
ASSENT = Assent(by=ORIGIN, how=ConsentHow.ACTION)
START = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)


def virtual[**P](
    test: Callable[P, Coroutine[Any, Any, None]],
) -> Callable[P, None]:
    """Run an asynchronous test on virtual time."""

    @functools.wraps(test)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
        run(test(*args, **kwargs))

    return wrapper


async def settle() -> None:
    """Let everything happen that needs no time."""
    await asyncio.sleep(0.001)


@dataclass(slots=True)
class Call:
    """One run that the manager asked for."""

    request: RunRequest
    on_step: Callable[[str], None]
    end: asyncio.Future[RunResult] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    cancelled_with: str | None = None
    cleanup_s: float = 0.0
    """How long the run takes to return after its cancellation."""
    late: RunResult | None = None
    """Returned instead of obeying the cancellation."""
    steers: list[Steer] = field(default_factory=list)
    applied: int | None = None
    """The revision that was taken up; None for the one of the request."""

    def take_up(self) -> None:
        """Take the latest steer up."""
        self.applied = self.steers[-1].goal_revision

    def complete(
        self,
        text: str = "done",
        *,
        outcome: Outcome = Outcome.ACHIEVED,
        evidence: str | None = None,
    ) -> None:
        """Let the run complete."""
        self._return(
            RunResult(
                end=RunEnd.COMPLETED, text=text, outcome=outcome, evidence=evidence
            )
        )

    def fail(self, text: str) -> None:
        """Let the run fail."""
        self._return(RunResult(end=RunEnd.FAILED, text=text))

    def pause(
        self,
        reason: ReasonClass = ReasonClass.AMBIGUOUS,
        consent: ConsentRequest | None = None,
    ) -> None:
        """Let the run ask a person."""
        question = Question(
            reason=reason,
            details="Which account?",
            suggested_action="Choose one.",
            consent=consent,
        )
        self._return(RunResult(end=RunEnd.PAUSED, question=question))

    def _return(self, result: RunResult) -> None:
        """End the run, with the revision that it worked for."""
        applied = self.applied or self.request.goal_revision
        self.end.set_result(replace(result, applied_revision=applied))


class ScriptedRunner(Runner):
    """Does what the test says.

    Attributes:
        calls: All runs so far.
        log: What happened, in order.
        cleanup_s: For the runs to come: see :class:`Call`.
        late: For the runs to come: see :class:`Call`.

    """

    def __init__(self) -> None:
        """Start with no run."""
        self.calls: list[Call] = []
        self.log: list[str] = []
        self.cleanup_s = 0.0
        self.late: RunResult | None = None
        self.free = asyncio.Event()
        self.running = 0
        self.most_running = 0

    @override
    async def run(
        self, request: RunRequest, on_step: Callable[[str], None]
    ) -> RunResult:
        """Wait for the test."""
        call = Call(request, on_step, cleanup_s=self.cleanup_s, late=self.late)
        self.calls.append(call)
        self.log.append(f"run {request.goal}")
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            return await call.end
        except asyncio.CancelledError as err:
            call.cancelled_with = str(err.args[0]) if err.args else ""
            await self._clean_up(call.cleanup_s)
            if call.late is not None:
                return call.late
            raise
        finally:
            self.running -= 1
            self.log.append(f"returned {request.goal}")

    async def _clean_up(self, seconds: float) -> None:
        """Take time, whatever else is asked."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while loop.time() < until and not self.free.is_set():
            with contextlib.suppress(asyncio.CancelledError, TimeoutError):
                async with asyncio.timeout_at(until):
                    await self.free.wait()

    @override
    def steer(self, task_id: str, steer: Steer) -> None:
        """Keep it with the run."""
        assert self.last.request.task_id == task_id
        self.last.steers.append(steer)

    @override
    def revoke(self, task_id: str) -> None:
        """Note it."""
        self.log.append("revoke")

    @override
    def fence(self, task_id: str) -> None:
        """Note it."""
        self.log.append("fence")

    @property
    def last(self) -> Call:
        """Return the newest run."""
        return self.calls[-1]


class House:
    """The manager and all around it.

    Attributes:
        events: What was published: the type, and the goal.
        published: The events themselves.
        audit: What became of consents, in order.
        tell: Gets that, too.

    """

    def __init__(
        self,
        *,
        limits: TaskLimits | None = None,
        journal: MemoryJournal | None = None,
        away: timedelta = timedelta(0),
    ) -> None:
        """Build; ``away`` is added to the clock."""
        self.limits = limits or TaskLimits()
        self.journal = journal or MemoryJournal()
        self.runner = ScriptedRunner()
        self.away = away
        self.published: list[TaskEvent] = []
        self.audit: list[tuple[str, ConsentChange]] = []
        self.tell: Audit | None = None
        self.manager = TaskManager(
            journal=self.journal,
            runner=self.runner,
            now=self.now,
            limits=self.limits,
            audit=self._note,
        )
        self.manager.subscribe(self.published.append)

    def _note(self, task_id: str, change: ConsentChange) -> None:
        """Keep what the audit is told, and pass it on."""
        self.audit.append((task_id, change))
        if self.tell is not None:
            self.tell(task_id, change)

    def now(self) -> datetime:
        """Return the wall clock's time."""
        passed = asyncio.get_running_loop().time() - 1000
        return START + timedelta(seconds=passed) + self.away

    @property
    def events(self) -> list[str]:
        """Return the events without live steps, as text."""
        return [
            f"{event.type} {event.task.prompt}"
            for event in self.published
            if not event.is_step
        ]

    async def open(self, *, start: bool = True) -> House:
        """Load and begin to work."""
        await self.manager.load()
        if start:
            self.manager.start()
        await settle()
        return self

    async def create(self, goal: str = "goal") -> Task:
        """Create a task and let what follows happen."""
        task = await self.manager.create(goal, origin=ORIGIN)
        await settle()
        return task

    async def ended(self, goal: str = "goal", text: str = "done") -> Task:
        """Create a task and let it complete."""
        task = await self.create(goal)
        self.runner.last.complete(text)
        await settle()
        return self.manager.get(task.id)

    async def waiting(
        self, goal: str = "goal", reason: ReasonClass = ReasonClass.AMBIGUOUS
    ) -> Task:
        """Create a task and let it ask."""
        task = await self.create(goal)
        self.runner.last.pause(reason)
        await settle()
        return self.manager.get(task.id)

    async def asking(self, consent: ConsentRequest, goal: str = "goal") -> Task:
        """Create a task and let it ask for a consent."""
        task = await self.create(goal)
        self.runner.last.pause(ReasonClass.SENSITIVE_OPERATION, consent)
        await settle()
        return self.manager.get(task.id)

    async def crash(
        self, *, away: timedelta = timedelta(0), start: bool = True
    ) -> House:
        """Return the house after the process died; this one is swept away unseen."""
        journal = self.journal.crash()
        await self.close()
        return await House(
            limits=self.limits, journal=journal, away=self.away + away
        ).open(start=start)

    async def restart(
        self, *, away: timedelta = timedelta(0), start: bool = True
    ) -> House:
        """Return the house after an orderly stop."""
        await self.close()
        return await House(
            limits=self.limits, journal=self.journal.crash(), away=self.away + away
        ).open(start=start)

    async def close(self) -> None:
        """Stop orderly; nothing stays behind."""
        await self.manager.close()
        # A run that the test let hang is the only thing that may outlive a stop.
        self.runner.free.set()
        await settle()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others, f"left running: {others}"
        assert not self.journal.is_open
