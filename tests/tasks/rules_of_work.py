"""Rules of work: what is asked for, what runs, what waits, what is stopped."""

import asyncio

from hypothesis import strategies as st
from hypothesis.stateful import precondition
import pytest

from custom_components.aiden_duplex.tasks.errors import (
    ConsentNeedsPersonError,
    DuplicateTaskError,
    HaltedError,
    NotRunningError,
    NotUpdatableError,
    NotWaitingError,
    StaleQuestionError,
)
from custom_components.aiden_duplex.tasks.model import Decision, ReasonClass

from .counting import rule
from .house import ORIGIN, settle
from .machine import NUMBERS, Machine, has_run, has_tasks, is_open


class WorkRules(Machine):
    """Create, update, cancel, take over, halt; runs that end, ask and tell."""

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

    @is_open
    @has_tasks
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
        elif model.consent is not None and decision is Decision.ANSWERED:
            # A model or an automation says yes for nobody.
            with pytest.raises(ConsentNeedsPersonError):
                self.wait(response)
        elif decision is Decision.REFUSED:
            self.wait(response)
            self.model.refuse(task_id, self.wall)
        else:
            self.wait(response)
            self.model.answer(task_id, "an answer", self.wall)
        self.after()

    @precondition(lambda self: self.waited < 600)
    @rule(seconds=st.sampled_from([1.37, 11.71, 133.3]))
    def time_passes(self, seconds: float) -> None:
        """Too short for work to become old: that is what restarts are for."""
        self.waited += seconds
        self.wait(asyncio.sleep(seconds))
        self.after()
