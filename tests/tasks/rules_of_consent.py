"""Rules of consent: asked for, given by a person or by nobody, used, late, withdrawn."""

from hypothesis import strategies as st

from custom_components.aiden_duplex.tasks.model import ConsentRequest, ReasonClass

from .counting import TAKEN, rule
from .house import ASSENT, settle
from .machine import NUMBERS, Machine, has_run, has_tasks

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

    @has_tasks
    @rule(number=NUMBERS)
    def agree(self, number: int) -> None:
        """Answer as a person, who thereby agrees if that was the question."""
        task_id = self.any_task(number)
        if not self.model.tasks[task_id].asks:
            return
        until = self.now + CONSENT_S
        self.wait(self.house.manager.respond(task_id, "yes", assent=ASSENT))
        self.model.answer(task_id, "yes", self.wall, agreed_until=until)
        self.after()

    @has_run
    @rule(request=REQUESTS)
    def run_acts(self, request: ConsentRequest) -> None:
        """Let the run try to do something that needs a yes."""
        run = self.model.run
        assert run is not None
        yes = run.task.yes
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

    @rule()
    def say_stop(self) -> None:
        """Say a stop word."""
        self.call(self.house.manager.withdraw_consents)
        self.model.withdraw()
