"""Rules of consent: asked for, given by a person or by nobody, used, too late, withdrawn."""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from custom_components.aiden_duplex.tasks.model import ConsentRequest, ReasonClass
from tests.tasks.house import ASSENT, House

from .acts import of_all, of_task
from .base import NUMBERS, Machine, has_run
from .reference import Model
from .running import OVER, is_of
from .tally import TALLY
from .things import ModelTask

REQUESTS = st.sampled_from(
    [
        ConsentRequest(act="send hi", screen="chat"),
        ConsentRequest(act="send hi", screen="another chat"),
        ConsentRequest(act="pay 10", screen="bank"),
    ]
)


class Consenting(Machine):
    """A yes is used once, in time, for the act it was given for, or never."""

    @has_run
    @rule(request=REQUESTS)
    def run_asks_for_consent(self, request: ConsentRequest) -> None:
        """Let the run ask whether it may."""
        call = self.runner.last

        async def start(house: House) -> object:
            if call.end.done():
                return OVER
            call.pause(ReasonClass.SENSITIVE_OPERATION, request)
            return request

        def expect(model: Model, seen: object) -> object:
            if seen != OVER and is_of(model, call):
                asked = request.act, request.screen
                model.pause_run(on_the_phone=True, consent=asked)
            return seen

        self.do("run asks for consent", start, expect, promised=False)

    @precondition(
        lambda machine: any(task.asks for task in machine.model.tasks.values())
    )
    @rule(number=NUMBERS)
    def agree(self, number: int) -> None:
        """Answer as a person, who thereby agrees if that was the question."""
        asking = [task.id for task in self.model.tasks.values() if task.asks]
        task_id = asking[number % len(asking)]
        answer = f"yes {self.new_goal()}"

        async def start(house: House) -> object:
            await house.manager.respond(task_id, answer, assent=ASSENT)
            return True

        def expect(model: Model, task: ModelTask) -> object:
            if not task.asks:
                return "NotWaitingError"
            model.answer(task, answer, agrees=True)
            return True

        self.do("agree", start, of_task(task_id, expect))

    @has_run
    @rule(other=st.none() | REQUESTS)
    def run_acts(self, other: ConsentRequest | None) -> None:
        """Let the run try to do what was agreed, if anything was, or something else."""
        assert self.model.run
        call, yes = self.runner.last, self.model.run.task.yes
        agreed = ConsentRequest(act=yes[0], screen=yes[1]) if yes else None
        request = other or agreed or ConsentRequest(act="send ho", screen="chat")

        async def start(house: House) -> object:
            done = await call.request.spend(request.act, request.screen)
            TALLY.add(f"run acts: {'done' if done else 'not done'}")
            return done

        def expect(model: Model, seen: object) -> object:
            return is_of(model, call) and model.spend(request.act, request.screen)

        # No yes outlives the process, so nothing of it is seen after that.
        self.do("run acts", start, expect, promised=False)

    @precondition(
        lambda machine: any(task.yes for task in machine.model.tasks.values())
    )
    @rule()
    def say_stop(self) -> None:
        """Say a stop word."""

        async def start(house: House) -> None:
            house.manager.withdraw_consents()

        self.do("say stop", start, of_all(Model.withdraw), promised=False)
