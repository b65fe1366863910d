"""The manager and its reference side by side; the rules are in files of their own.

Checked after every step, in the words of what must never happen: a task is lost or there
twice; one runs again after its end, or twice with one goal; two run at one time; an ending
changes, or is told in two sessions, or after it was suppressed, or is not told after a
restart; a question outlives its task or its goal; a result of a replaced goal counts as
the new one's; the kill switch or a cancel is forgotten; a yes is used twice, late, for
another act, or after a stop.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, override

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition

from custom_components.aiden_duplex.tasks.consents import ConsentState
from custom_components.aiden_duplex.tasks.model import Task, TaskEvent
from custom_components.aiden_duplex.tasks.runner import RunRequest, RunResult
from tests.virtual_time import VirtualTimeLoop

from .counting import TAKEN
from .house import Call, House, ScriptedRunner, settle
from .reference import Model

NUMBERS = st.integers(0, 30)
_ENDINGS = {"completed", "failed", "cancelled"}

has_tasks = precondition(lambda self: bool(self.model.tasks))
has_run = precondition(lambda self: self.model.run is not None)
is_open = precondition(lambda self: not self.model.halted)


class HeldRunner(ScriptedRunner):
    """A run that is told to end waits until the test lets it; a shutdown ends it at once."""

    @override
    async def run(
        self, request: RunRequest, on_step: Callable[[str], None]
    ) -> RunResult:
        """Wait for the test."""
        call = Call(request, on_step)
        self.calls.append(call)
        try:
            return await call.end
        except asyncio.CancelledError as err:
            if err.args not in (("canceled",), ("take_over",), ("kill_switch",)):
                raise
        # Stopped by a person: the end comes later, with or without a result.
        call.end = asyncio.get_running_loop().create_future()
        return await call.end


class Machine(RuleBasedStateMachine):
    """Manager and model side by side."""

    def __init__(self) -> None:
        """Start with an empty house."""
        super().__init__()
        self.loop = VirtualTimeLoop()
        self.model = Model()
        self.waited = 0.0
        self.count = 0
        self.last: dict[str, str] = {}
        self.endings: dict[str, list[str]] = {}
        self.ever_running: list[RunRequest] = []
        self.places: dict[str, int | None] = {}
        self.placeless: set[str] = set()
        self.house = self.wait(self.opened(House()))

    def wait[T](self, what: Awaitable[T]) -> T:
        """Run something to its end, and let everything settle."""

        async def settled() -> T:
            result = await what
            await settle()
            return result

        return self.loop.run_until_complete(settled())

    def call[T](self, what: Callable[[], T]) -> T:
        """Call something inside the loop."""

        async def called() -> T:
            return what()

        return self.wait(called())

    async def opened(self, house: House) -> House:
        """Open a house and watch its events."""
        house.runner = HeldRunner()
        house.manager._worker._runner = house.runner
        house.manager.subscribe(self.note)
        return await house.open()

    def note(self, event: TaskEvent) -> None:
        """Remember endings; nothing but deliveries may follow one."""
        seen = self.endings.setdefault(event.task.id, [])
        before = self.last.get(event.task.id, "new")
        if not event.is_step:
            TAKEN[f"{before} -> {event.type}"] += 1
        now = "waiting" if event.task.is_waiting else str(event.task.status)
        self.last[event.task.id] = now
        if seen:
            assert event.type == "updated", f"{event.type} after {seen}"
            assert event.task.status == seen[0]
        if event.type in _ENDINGS:
            assert str(event.type) == str(event.task.status)
            seen.append(event.type)

    @property
    def now(self) -> float:
        """Return the loop's time."""
        return self.loop.time()

    @property
    def wall(self) -> float:
        """Return the wall clock's time in seconds."""
        return self.now + self.house.away.total_seconds()

    def any_task(self, number: int) -> str:
        """Return some task's id."""
        ids = list(self.model.tasks)
        return ids[number % len(ids)]

    def after(self) -> None:
        """Let the model do what happens by itself."""
        self.model.advance(self.now, self.wall)

    def collect_runs(self) -> None:
        """Move the runs of this house to those of all."""
        self.ever_running += [call.request for call in self.house.runner.calls]
        self.house.runner.calls = []

    def forget_unwritten(self, records: list[dict[str, Any]]) -> None:
        """Drop endings that the crash made undone (a cancelled run's, at the stop)."""
        last = {
            record["id"]: record["status"]
            for record in records
            if record["kind"] == "task"
        }
        self.endings = {
            task_id: seen if last[task_id] in _ENDINGS else []
            for task_id, seen in self.endings.items()
        }

    @invariant()
    def every_task_has_its_place(self) -> None:
        """A place is kept until the end, restarts included; what begins gets one that is free."""
        manager = self.house.manager
        shown = {n: manager.slot(n) for n in range(1, self.house.limits.slots + 1)}
        for number, task in shown.items():
            assert task is None or task.slot == number
        held = [task.id for task in shown.values() if task]
        assert len(held) == len(set(held))
        unfinished = [task for task in manager.tasks() if not task.status.is_terminal]
        for task in unfinished:
            before = self.places.setdefault(task.id, task.slot)
            assert before is None or task.slot == before
            self.places[task.id] = task.slot
            if task.slot is None and task.started_at and task.id not in self.placeless:
                self.placeless.add(task.id)
                assert all(other in unfinished for other in shown.values())

    @invariant()
    def consents_are_noted_once(self) -> None:
        """Each question, yes and use, and nothing was used without a yes."""
        states = [change.state for _, change in self.house.audit]
        seen = [
            states.count(state)
            for state in (ConsentState.ASKED, ConsentState.GIVEN, ConsentState.USED)
        ]
        model = self.model
        assert seen == [model.asked, model.given, model.used]
        assert model.used <= model.given

    @invariant()
    def same_as_the_model(self) -> None:
        """Every task, every list."""
        manager, model = self.house.manager, self.model
        positions = {task.id: n for n, task in enumerate(model.queue, 1)}
        for task_id, expected in model.tasks.items():
            task = manager.get(task_id)
            seen = (
                str(task.status),
                task.is_waiting,
                task.queue_position,
                str(task.delivery),
                task.terminal_sequence,
                task.started_at is not None,
                task.goal_revision,
                task.tellings,
                task.heard is not None,
            )
            assert seen == (
                expected.status,
                expected.asks,
                positions.get(task_id),
                expected.delivery,
                expected.number,
                expected.started,
                expected.revision,
                expected.tellings,
                expected.heard,
            )
            if task.status == "completed" and task.outcome == "achieved":
                assert task.applied_revision == task.goal_revision
            assert not (task.status.is_terminal and task.pending_user_action)
            assert task.applied_revision <= task.goal_revision
            assert bool(self.endings.get(task_id)) == expected.ended
        assert ids(manager.outstanding()) == model.outstanding()
        assert ids(manager.unheard()) == model.unheard()
        assert ids(manager.tasks()) == list(reversed(model.tasks))
        assert manager.terminal_sequence == model.endings
        assert manager.halted == model.halted
        current = manager.current
        if model.run is not None:
            assert current is not None
            assert current.id == model.run.task.id
        requests = self.ever_running + [
            call.request for call in self.house.runner.calls
        ]
        assert [
            (request.task_id, request.continuation, request.recovered)
            for request in requests
        ] == [(run.task.id, run.answer, run.recovered) for run in model.runs]

    @override
    def teardown(self) -> None:
        """Close the house."""
        try:
            self.wait(self.house.close())
        finally:
            self.loop.close()


def ids(tasks: list[Task]) -> list[str]:
    """Return ids in order."""
    return [task.id for task in tasks]
