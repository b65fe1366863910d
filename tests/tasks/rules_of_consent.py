"""Rules of consent: asked for, given by a person or by nobody, used, late, withdrawn."""

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
        self.house.runner.last.pause(ReasonClass.SENSITIVE_OPERATION, request)
        at = self.now
        self.wait(settle())
        asked = (request.act, request.screen)
        self.model.pause_run(at, self.wall, on_the_phone=True, consent=asked)
        self.after()

    @precondition(lambda self: any(task.asks for task in self.model.tasks.values()))
    @rule(number=NUMBERS)
    def agree(self, number: int) -> None:
        """Answer as a person, who thereby agrees if that was the question."""
        asking = [task.id for task in self.model.tasks.values() if task.asks]
        task_id = asking[number % len(asking)]
        until = self.now + CONSENT_S
        self.wait(self.house.manager.respond(task_id, "yes", assent=ASSENT))
        self.model.answer(task_id, "yes", self.wall, agreed_until=until)
        self.after()

    @has_run
    @rule(other=st.none() | REQUESTS)
    def run_acts(self, other: ConsentRequest | None) -> None:
        """Let the run try to do what was agreed, if anything was, or something else."""
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
