"""Rules of consent: asked for, given by a person or by nobody, used, late, withdrawn."""

import asyncio

from hypothesis import strategies as st
from hypothesis.stateful import precondition

from custom_components.aiden_duplex.tasks.model import ConsentRequest, ReasonClass

from .counting import TAKEN, rule
from .house import ASSENT, settle
from .machine import NUMBERS, Machine, has_run

CONSENT_S = 60
REQUESTS = st.sampled_from(
    [
        ConsentRequest(act="send hi", screen="chat"),
        ConsentRequest(act="send hi", screen="another chat"),
        ConsentRequest(act="pay 10", screen="bank"),
    ]
)


class ConsentRules(Machine):
    """A yes is used once, in time, for the act it was given for, or never."""

    @has_run
    @rule(request=REQUESTS)
    def run_asks_for_consent(self, request: ConsentRequest) -> None:
        """Let the run ask whether it may."""
        self._ask(request)

    @precondition(lambda self: any(task.asks for task in self.model.tasks.values()))
    @rule(number=NUMBERS)
    def agree(self, number: int) -> None:
        """Answer as a person, who thereby agrees if that was the question."""
        asking = [task.id for task in self.model.tasks.values() if task.asks]
        self._agree(asking[number % len(asking)])

    @has_run
    @rule(other=st.none() | REQUESTS)
    def run_acts(self, other: ConsentRequest | None) -> None:
        """Let the run try to do what was agreed, if anything was, or something else."""
        self._act(other)

    @has_run
    @rule(
        request=REQUESTS,
        seconds=st.sampled_from([0.5, 70.5]),
        tries=st.integers(1, 2),
    )
    def run_is_allowed(
        self, request: ConsentRequest, seconds: float, tries: int
    ) -> None:
        """Let the run ask, get its yes, and act on that: the usual way, soon or late."""
        assert self.model.run is not None
        task = self.model.run.task
        self._ask(request)
        if not task.asks:
            return
        self._agree(task.id)
        self.wait(asyncio.sleep(seconds))
        self.after()
        for _ in range(tries):
            if self.model.run is not None and self.model.run.task is task:
                self._act(request)

    def _ask(self, request: ConsentRequest) -> None:
        self.house.runner.last.pause(ReasonClass.SENSITIVE_OPERATION, request)
        at = self.now
        self.wait(settle())
        asked = (request.act, request.screen)
        self.model.pause_run(at, self.wall, on_the_phone=True, consent=asked)
        self.after()

    def _agree(self, task_id: str) -> None:
        until = self.now + CONSENT_S
        self.wait(self.house.manager.respond(task_id, "yes", assent=ASSENT))
        self.model.answer(task_id, "yes", self.wall, agreed_until=until)
        self.after()

    def _act(self, other: ConsentRequest | None) -> None:
        run = self.model.run
        assert run is not None
        yes = run.task.yes
        agreed = ConsentRequest(act=yes.act, screen=yes.screen) if yes else None
        request = other or agreed or ConsentRequest(act="send", screen="chat")
        expected = (
            run.told_at is None
            and yes is not None
            and (yes.act, yes.screen) == (request.act, request.screen)
            and self.now <= yes.until
        )
        spend = self.house.runner.last.request.spend
        assert self.wait(spend(request.act, request.screen)) is expected
        TAKEN[f"act {'done' if expected else 'refused'}"] += 1
        if expected:
            run.task.yes = None
            self.model.used += 1

    @precondition(lambda self: any(task.yes for task in self.model.tasks.values()))
    @rule()
    def say_stop(self) -> None:
        """Say a stop word."""
        self.call(self.house.manager.withdraw_consents)
        self.model.withdraw()
