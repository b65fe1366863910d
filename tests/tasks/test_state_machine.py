"""Any order of requests, runs, restarts: the manager does what the model says."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, override

from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
import pytest

from custom_components.aiden_duplex.tasks.errors import (
    DuplicateTaskError,
    HaltedError,
    NotRunningError,
    NotUpdatableError,
    NotWaitingError,
    StaleQuestionError,
)
from custom_components.aiden_duplex.tasks.model import (
    Decision,
    Heard,
    ReasonClass,
    Task,
    TaskEvent,
)
from custom_components.aiden_duplex.tasks.runner import RunRequest, RunResult
from tests.examples import examples
from tests.virtual_time import VirtualTimeLoop

from .house import ORIGIN, Call, House, ScriptedRunner, settle
from .reference import Model

SESSIONS = st.sampled_from(["s1", "s2"])
NUMBERS = st.integers(0, 30)
_ENDINGS = {"completed", "failed", "cancelled"}


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


class TaskMachine(RuleBasedStateMachine):
    """Manager and model side by side."""

    def __init__(self) -> None:
        """Start with an empty house."""
        super().__init__()
        self.loop = VirtualTimeLoop()
        self.model = Model()
        self.waited = 0.0
        self.count = 0
        self.endings: dict[str, list[str]] = {}
        self.ever_running: list[RunRequest] = []
        self.places: dict[str, int | None] = {}
        self.placeless: set[str] = set()
        self.house = self.wait(self.opened(House()))

    def wait[T](self, what: Coroutine[Any, Any, T]) -> T:
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

    has_tasks = precondition(lambda self: bool(self.model.tasks))
    has_run = precondition(lambda self: self.model.run is not None)

    is_open = precondition(lambda self: not self.model.halted)

    @is_open
    @rule()
    def create(self) -> None:
        """Create by an action: every goal is new."""
        self.count += 1
        manager = self.house.manager
        task = self.wait(manager.create(f"goal {self.count}", origin=ORIGIN))
        self.model.create(task.id, self.wall)
        self.after()

    @is_open
    @has_tasks
    @rule(number=NUMBERS)
    def create_the_same(self, number: int) -> None:
        """The same goal again is only refused while it is in flight."""
        model = self.model.tasks[self.any_task(number)]
        goal = self.house.manager.get(model.id).prompt
        again = self.house.manager.create(f"{goal.upper()}!", origin=ORIGIN)
        if any(
            not other.ended
            and self.house.manager.get(other.id).prompt.casefold().strip("!")
            == goal.casefold().strip("!")
            for other in self.model.tasks.values()
        ):
            with pytest.raises(DuplicateTaskError):
                self.wait(again)
        else:
            self.model.create(self.wait(again).id, self.wall)
        self.after()

    @is_open
    @rule(left_out=st.none() | NUMBERS)
    def create_by_the_foreground(self, left_out: int | None) -> None:
        """It has to name everything outstanding."""
        outstanding = self.model.outstanding()
        named = set(outstanding)
        if left_out is not None and outstanding:
            named.discard(outstanding[left_out % len(outstanding)])
        self.count += 1
        create = self.house.manager.create(
            f"goal {self.count}", origin=ORIGIN, distinct_from=named
        )
        if named != set(outstanding):
            with pytest.raises(DuplicateTaskError) as caught:
                self.wait(create)
            assert [task.id for task in caught.value.outstanding] == outstanding
        else:
            self.model.create(self.wait(create).id, self.wall)
        self.after()

    @has_tasks
    @rule(number=NUMBERS)
    def cancel(self, number: int) -> None:
        """Cancel any task in any state."""
        task_id = self.any_task(number)
        at = self.now
        result = self.wait(self.house.manager.cancel(task_id))
        expected = self.model.cancel(task_id, at, self.wall)
        assert (result.notification_cleared, result.already_ended) == expected
        self.after()

    @has_tasks
    @rule(number=NUMBERS)
    def update(self, number: int) -> None:
        """Replace the goal of any task in any state."""
        task_id = self.any_task(number)
        self.count += 1
        update = self.house.manager.update(task_id, f"goal {self.count}")
        if self.model.update(task_id, self.wall):
            self.wait(update)
        else:
            with pytest.raises(NotUpdatableError):
                self.wait(update)
        self.after()

    @precondition(lambda self: self.model.run and self.model.run.task.revision > 1)
    @rule()
    def run_takes_the_goal_up(self) -> None:
        """Let the run take up the latest goal."""
        run = self.model.run
        call = self.house.runner.last
        if run is not None and call.steers:
            call.take_up()
            run.revision = run.task.revision

    @has_tasks
    @rule(number=st.none() | NUMBERS)
    def take_over(self, number: int | None) -> None:
        """Take over any task in any state, or whatever is in work."""
        task_id = None if number is None else self.any_task(number)
        at = self.now
        work = self.house.manager.take_over(task_id)
        if self.model.take_over(task_id, at, self.wall):
            # A run that does not return at once is not waited for any longer.
            self.wait(work)
        else:
            with pytest.raises(NotRunningError):
                self.wait(work)
        self.after()

    @rule()
    def halt(self) -> None:
        """Turn the kill switch on."""
        at = self.now
        self.wait(self.house.manager.halt())
        self.model.halt(at)
        self.count += 1
        with pytest.raises(HaltedError):
            self.wait(self.house.manager.create(f"goal {self.count}", origin=ORIGIN))
        self.after()

    @precondition(lambda self: self.model.halted)
    @rule()
    def resume(self) -> None:
        """Turn the kill switch off."""
        self.wait(self.house.manager.resume())
        self.model.halted = False
        self.after()

    @has_run
    @rule(end=st.sampled_from(["completed", "failed", "raised", "nothing"]))
    def run_ends(self, end: str) -> None:
        """Let the run end, also one that was cancelled."""
        call = self.house.runner.last
        match end:
            case "completed":
                call.complete()
            case "failed":
                call.fail("it failed")
            case "raised":
                call.end.set_exception(OSError("gone"))
            case _:
                call.end.cancel()
        self.wait(settle())
        known = end in ("completed", "failed")
        self.model.end_run(end if known else "broken", self.now, self.wall)
        self.after()

    @has_run
    @rule(reason=st.sampled_from([ReasonClass.AMBIGUOUS, ReasonClass.CAPTCHA]))
    def run_asks(self, reason: ReasonClass) -> None:
        """Let the run ask a person."""
        self.house.runner.last.pause(reason)
        at = self.now
        self.wait(settle())
        on_the_phone = reason is ReasonClass.CAPTCHA
        self.model.pause_run(at, self.wall, on_the_phone=on_the_phone)
        self.after()

    @has_run
    @rule(text=st.sampled_from(["looking", "tapping"]))
    def run_steps(self, text: str) -> None:
        """Let the run tell what it does; a cancelled one is not heard."""
        run = self.model.run
        assert run is not None
        self.call(lambda: self.house.runner.last.on_step(text))
        step = self.house.manager.get(run.task.id).step
        assert step == (text if run.told_at is None else None)

    @has_tasks
    @rule(number=NUMBERS, decision=st.sampled_from(Decision), stale=st.booleans())
    def respond(self, number: int, decision: Decision, stale: bool) -> None:
        """Answer any task, perhaps the wrong question."""
        task_id = self.any_task(number)
        model = self.model.tasks[task_id]
        response = self.house.manager.respond(
            task_id,
            "an answer",
            decision=decision,
            question_id="q_other" if stale else None,
        )
        if not model.asks:
            with pytest.raises(NotWaitingError):
                self.wait(response)
        elif stale:
            with pytest.raises(StaleQuestionError):
                self.wait(response)
        elif decision is Decision.REFUSED:
            self.wait(response)
            self.model.refuse(task_id, self.wall)
        else:
            self.wait(response)
            self.model.answer(task_id, "an answer", self.wall)
        self.after()

    @precondition(lambda self: self.waited < 600)
    @rule(seconds=st.sampled_from([1, 11, 130]))
    def time_passes(self, seconds: int) -> None:
        """Too short for work to become old: that is what restarts are for."""
        self.waited += seconds
        self.wait(asyncio.sleep(seconds))
        self.after()

    @rule(session=SESSIONS)
    def claim(self, session: str) -> None:
        """Claim."""
        claimed = self.call(lambda: self.house.manager.claim(session))
        assert ids(claimed) == self.model.claim(session)

    @has_tasks
    @rule(session=SESSIONS, numbers=st.sets(NUMBERS, max_size=4))
    def begin(self, session: str, numbers: set[int]) -> None:
        """Begin."""
        wanted = {self.any_task(number) for number in numbers}
        begun = self.call(lambda: self.house.manager.begin(session, wanted))
        assert ids(begun) == self.model.begin(session, wanted)

    @has_tasks
    @rule(numbers=st.sets(NUMBERS, max_size=4))
    def acknowledge(self, numbers: set[int]) -> None:
        """Acknowledge."""
        wanted = {self.any_task(number) for number in numbers}
        self.wait(self.house.manager.acknowledge(wanted))
        self.model.acknowledge(wanted)
        self.after()

    @has_tasks
    @rule(numbers=st.sets(NUMBERS, max_size=4), again=st.booleans())
    def hear_or_tell_again(self, numbers: set[int], again: bool) -> None:
        """Somebody hears endings, or they are told once more."""
        wanted = {self.any_task(number) for number in numbers}
        manager = self.house.manager
        if again:
            self.call(lambda: manager.retell(wanted))
            self.model.retell(wanted)
        else:
            self.call(lambda: manager.hear(wanted, Heard.SHOWN))
            self.model.hear(wanted)

    @rule(session=SESSIONS)
    def release(self, session: str) -> None:
        """End a session."""
        self.call(lambda: self.house.manager.release(session))
        self.model.release(session)
        self.after()

    @has_tasks
    @rule(number=NUMBERS)
    def read(self, number: int) -> None:
        """Read by a query."""
        task_id = self.any_task(number)
        self.wait(self.house.manager.mark_delivered(task_id))
        self.model.read(task_id)
        self.after()

    @rule(orderly=st.booleans(), hours=st.sampled_from([0, 0, 1]))
    def restart(self, orderly: bool, hours: int) -> None:
        """Stop or crash, and start again, perhaps much later."""
        self.collect_runs()
        stopped = self.wall if orderly else None
        journal = self.house.journal.crash()
        self.wait(self.house.close())
        if orderly:
            journal = self.house.journal.crash()
        away = self.house.away + timedelta(hours=hours)
        if not orderly:
            # What the dying house still published never happened.
            self.forget_unwritten(journal.records)
        self.house = self.wait(self.opened(House(journal=journal, away=away)))
        self.model.restart(self.wall, stopped)
        self.after()

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

    def collect_runs(self) -> None:
        """Move the runs of this house to those of all."""
        self.ever_running += [call.request for call in self.house.runner.calls]
        self.house.runner.calls = []

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


TestTaskMachine = TaskMachine.TestCase
TestTaskMachine.settings = settings(
    max_examples=examples(80),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
