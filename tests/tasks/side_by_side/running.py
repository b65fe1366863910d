"""Rules of the runs: they step, ask, take a new goal up, and return, in time or late."""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from custom_components.aiden_duplex.tasks.model import ReasonClass
from tests.tasks.house import Call, House

from .base import NUMBERS, Machine, has_run
from .reference import Model

OVER = "it is over"


def _end(call: Call, how: str) -> None:
    match how:
        case "completed":
            call.complete()
        case "failed":
            call.fail("it failed")
        case "raised":
            call.end.set_exception(OSError("gone"))
        case _:
            call.end.cancel()


def is_of(model: Model, call: Call) -> bool:
    """Return whether a call is the run that the reference has."""
    run = model.run
    return run is not None and run.task.id == call.request.task_id


class Running(Machine):
    """What the run does; nobody is told before it is durable."""

    @has_run
    @rule()
    def run_completes(self) -> None:
        """Let the run complete."""
        self._run_ends("completed")

    @has_run
    @rule(how=st.sampled_from(["completed", "failed", "raised", "nothing"]))
    def run_ends(self, how: str) -> None:
        """Let the run end somehow, also one that was cancelled."""
        self._run_ends(how)

    def _run_ends(self, how: str) -> None:
        call = self.runner.last

        async def start(house: House) -> object:
            if call.end.done():
                return OVER
            _end(call, how)
            return how

        def expect(model: Model, seen: object) -> object:
            if seen != OVER and is_of(model, call):
                known = how in ("completed", "failed")
                model.end_run(how if known else "broken")
            return seen

        self.do(f"run: {how}", start, expect, promised=False)

    @has_run
    @rule(reason=st.sampled_from([ReasonClass.AMBIGUOUS, ReasonClass.CAPTCHA]))
    def run_asks(self, reason: ReasonClass) -> None:
        """Let the run ask a person."""
        call = self.runner.last

        async def start(house: House) -> object:
            if call.end.done():
                return OVER
            call.pause(reason)
            return reason

        def expect(model: Model, seen: object) -> object:
            if seen != OVER and is_of(model, call):
                model.pause_run(on_the_phone=reason is ReasonClass.CAPTCHA)
            return seen

        self.do(f"run asks: {reason}", start, expect, promised=False)

    @precondition(lambda machine: machine.model.run and machine.model.run.is_stale)
    @rule()
    def run_takes_the_goal_up(self) -> None:
        """Let the run take up the latest goal."""
        call = self.runner.last

        async def start(house: House) -> object:
            if call.end.done():
                return OVER
            if call.steers:
                call.take_up()
            return call.applied or call.request.goal_revision

        def expect(model: Model, seen: object) -> object:
            if seen == OVER or not is_of(model, call):
                return seen
            assert model.run
            model.run.revision = model.run.task.revision
            return model.run.revision

        self.do("run takes the goal up", start, expect, promised=False)

    @has_run
    @rule(text=st.sampled_from(["looking", "tapping"]))
    def run_steps(self, text: str) -> None:
        """Let the run tell what it does; a cancelled one is not heard."""
        call = self.runner.last

        async def start(house: House) -> object:
            call.on_step(text)
            return house.manager.get(call.request.task_id).step

        def expect(model: Model, seen: object) -> object:
            if call.request.task_id not in model.tasks:
                return "TaskNotFoundError"
            if not is_of(model, call):
                return None
            return text if model.run and model.run.told_at is None else None

        self.do("run steps", start, expect)

    @precondition(lambda machine: len(machine.runner.calls) > 1)
    @rule(number=NUMBERS, how=st.sampled_from(["step", "completed", "failed"]))
    def an_old_run_says_something(self, number: int, how: str) -> None:
        """Let a run step or return that is over or was given up: nothing comes of it."""
        old = self.runner.calls[: -1 if self.model.run else None]
        call = old[number % len(old)]

        async def start(house: House) -> object:
            if how == "step":
                call.on_step("late")
            elif not call.end.done():
                _end(call, how)
                return "late result"
            return None

        def expect(model: Model, seen: object) -> object:
            return seen

        self.do("an old run", start, expect)
