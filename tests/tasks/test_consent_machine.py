"""Any order of yes, time, stops and tries: a consent is used once, in time, or never."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta
from typing import override

from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
import pytest

from custom_components.aiden_duplex.tasks.consents import ConsentState
from custom_components.aiden_duplex.tasks.errors import ConsentNeedsPersonError
from custom_components.aiden_duplex.tasks.limits import TaskLimits
from custom_components.aiden_duplex.tasks.model import ConsentRequest, ReasonClass
from tests.examples import examples
from tests.virtual_time import VirtualTimeLoop

from .house import ASSENT, House, settle

REQUESTS = st.builds(
    ConsentRequest,
    act=st.sampled_from(["send hi", "send ho", "pay 10"]),
    screen=st.sampled_from(["chat", "bank"]),
)
LIMITS = TaskLimits(hold_after=timedelta(days=1))


@dataclass
class Yes:
    """What a person agreed to, and until when."""

    act: str
    screen: str
    until: float


class ConsentMachine(RuleBasedStateMachine):
    """One task; the reference is at most one yes, and the number of acts done."""

    def __init__(self) -> None:
        """Start with a run."""
        super().__init__()
        self.loop = VirtualTimeLoop()
        self.house = self.wait(House(limits=LIMITS).open())
        self.task_id = self.wait(self.house.create()).id
        self.question: ConsentRequest | None = None
        self.yes: Yes | None = None
        self.asked = self.given = self.used = 0
        self.was_asked = self.was_given = self.was_used = 0
        """Before the last restart."""
        self.restarts = 0

    def wait[T](self, what: Awaitable[T]) -> T:
        """Run something to its end, and let everything settle."""

        async def settled() -> T:
            result = await what
            await settle()
            return result

        return self.loop.run_until_complete(settled())

    runs = precondition(lambda self: self.question is None)
    asks = precondition(lambda self: self.question is not None)

    @runs
    @rule(request=REQUESTS)
    def ask(self, request: ConsentRequest) -> None:
        """Let the run ask; what was agreed before counts no more."""

        async def pause() -> None:
            self.house.runner.last.pause(ReasonClass.SENSITIVE_OPERATION, request)

        self.wait(pause())
        self.question, self.yes = request, None
        self.asked += 1

    @asks
    @rule()
    def agree(self) -> None:
        """Say yes as a person."""
        assert self.question
        until = self.loop.time() + 60
        self.wait(self.house.manager.respond(self.task_id, "yes", assent=ASSENT))
        self.yes = Yes(self.question.act, self.question.screen, until)
        self.question = None
        self.given += 1

    @asks
    @rule()
    def agree_as_nobody(self) -> None:
        """Say yes without a person: a model or an automation."""
        with pytest.raises(ConsentNeedsPersonError):
            self.wait(self.house.manager.respond(self.task_id, "yes"))

    @runs
    @rule(request=REQUESTS)
    def act(self, request: ConsentRequest) -> None:
        """Try to do something."""
        expected = (
            self.yes is not None
            and (self.yes.act, self.yes.screen) == (request.act, request.screen)
            and self.loop.time() <= self.yes.until
        )
        spend = self.house.runner.last.request.spend
        assert self.wait(spend(request.act, request.screen)) is expected
        if expected:
            self.yes = None
            self.used += 1

    @asks
    @rule()
    def act_while_asking(self) -> None:
        """Try with the port of the run that asked."""
        assert self.question
        if not self.house.runner.calls:
            # Nothing has run since the restart.
            return
        spend = self.house.runner.last.request.spend
        assert not self.wait(spend(self.question.act, self.question.screen))

    @rule(seconds=st.sampled_from([1, 20, 45, 70]))
    def let_time_pass(self, seconds: int) -> None:
        """Wait; silence is no answer."""

        self.wait(asyncio.sleep(seconds))

    @rule()
    def change_the_goal(self) -> None:
        """Update; the run takes the new goal up."""
        self.wait(self.house.manager.update(self.task_id, "another goal"))
        if self.question is None:
            self.house.runner.last.take_up()
        self.question = self.yes = None

    @rule()
    def say_stop(self) -> None:
        """Say a stop word."""

        async def stop() -> None:
            self.house.manager.withdraw_consents()

        self.wait(stop())
        self.yes = None

    @precondition(lambda self: self.restarts < 2)
    @rule(crashes=st.booleans())
    def restart(self, crashes: bool) -> None:
        """Begin a new process; a question stays, a yes does not."""
        self.was_asked, self.was_given = self.asked, self.given
        self.was_used = self.used
        self.house = self.wait(self.house.crash() if crashes else self.house.restart())
        self.restarts += 1
        self.yes = None

    @invariant()
    def the_audit_knows_all(self) -> None:
        """Each question, yes and use is noted once, and nothing was used without a yes."""
        states = [change.state for _, change in self.house.audit]
        assert states.count(ConsentState.ASKED) == self.asked - self.was_asked
        assert states.count(ConsentState.GIVEN) == self.given - self.was_given
        assert states.count(ConsentState.USED) == self.used - self.was_used
        assert self.used <= self.given

    @override
    def teardown(self) -> None:
        """Close the house and the loop."""
        self.wait(self.house.close())
        self.loop.close()


TestConsentMachine = ConsentMachine.TestCase
TestConsentMachine.settings = settings(
    max_examples=examples(50),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
