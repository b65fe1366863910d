"""Rules of what people and the conversation ask for."""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from custom_components.aiden_duplex.tasks.model import Decision
from tests.tasks.house import ORIGIN, House

from .acts import Expect, Start, of_all, of_task
from .base import NUMBERS, QUEUED, Machine, has_tasks
from .reference import Model
from .things import ModelTask


class Requests(Machine):
    """Creations, new goals, answers, and all that stops something."""

    @rule()
    def create(self) -> None:
        """Create by an action: every goal is new."""
        self.do("create", *_create(self.new_goal()))

    @has_tasks
    @rule(number=NUMBERS, repeat=st.booleans())
    def create_the_same(self, number: int, repeat: bool) -> None:
        """The same goal again is only refused while it is in flight."""
        goal = f"{self.model.tasks[self.any_task(number)].goal.upper()}!"
        self.do("create the same", *_create(goal, repeat=repeat))

    @rule(left_out=st.none() | NUMBERS)
    def create_by_the_foreground(self, left_out: int | None) -> None:
        """It has to name everything outstanding."""
        named = self.model.outstanding()
        if left_out is not None and named:
            del named[left_out % len(named)]
        start, expect = _create(self.new_goal(), distinct_from=frozenset(named))
        self.do("create by the foreground", start, expect)

    @has_tasks
    @rule(number=st.none() | NUMBERS)
    def cancel(self, number: int | None) -> None:
        """Cancel any task in any state."""
        task_id = self.the_task(number)

        async def start(house: House) -> object:
            result = await house.manager.cancel(task_id)
            return result.notification_cleared, result.already_ended

        self.do("cancel", start, of_task(task_id, Model.cancel))

    @has_tasks
    @rule(number=st.none() | NUMBERS)
    def update(self, number: int | None) -> None:
        """Replace the goal of any task in any state."""
        task_id, goal = self.the_task(number), self.new_goal()

        async def start(house: House) -> object:
            return (await house.manager.update(task_id, goal)).prompt

        def expect(model: Model, task: ModelTask) -> object:
            return goal if model.update(task, goal) else "NotUpdatableError"

        self.do("update", start, of_task(task_id, expect))

    @has_tasks
    @rule(number=NUMBERS, decision=st.sampled_from(Decision), stale=st.booleans())
    def respond(self, number: int, decision: Decision, stale: bool) -> None:
        """Answer any task, perhaps the wrong question."""
        task_id = self.any_task(number)
        answer = f"answer {self.new_goal()}"
        question = "q_other" if stale else None

        async def start(house: House) -> object:
            await house.manager.respond(
                task_id, answer, decision=decision, question_id=question
            )
            return decision

        def expect(model: Model, task: ModelTask) -> object:
            if not task.asks:
                return "NotWaitingError"
            if stale:
                return "StaleQuestionError"
            if task.consent is not None and decision is Decision.ANSWERED:
                # A model or an automation says yes for nobody.
                return "ConsentNeedsPersonError"
            if decision is Decision.REFUSED:
                model.end(task, "completed")
            else:
                model.answer(task, answer)
            return decision

        self.do(f"respond: {decision}", start, of_task(task_id, expect))

    @has_tasks
    @rule(number=st.none() | NUMBERS)
    def take_over(self, number: int | None) -> None:
        """Take over any task in any state, or whatever is in work."""
        task_id = None if number is None else self.any_task(number)

        async def start(house: House) -> object:
            await house.manager.take_over(task_id)
            return True

        def expect(model: Model, task: ModelTask | None = None) -> object:
            return model.take_over(task) or "NotRunningError"

        asked = of_all(expect) if task_id is None else of_task(task_id, expect)
        self.do("take over", start, asked)

    @precondition(lambda machine: machine.model.queue)
    @rule()
    def hold(self) -> None:
        """Let what would run next wait for the person; said twice, it is the same one."""

        async def start(house: House) -> object:
            heads = [
                task.id for task in house.manager.tasks() if task.queue_position == 1
            ]
            await house.manager.hold()
            return heads

        def expect(model: Model, seen: object) -> object:
            assert isinstance(seen, list)
            for task in model.queue:
                if task.id in seen:
                    model.ask(task, on_the_phone=True)
            return seen

        self.do("hold", start, expect)

    @precondition(lambda machine: not machine.model.halted)
    @rule()
    def halt(self) -> None:
        """Turn the kill switch on."""

        async def start(house: House) -> None:
            await house.manager.halt()

        self.do("halt", start, of_all(Model.halt))

    @precondition(lambda machine: machine.model.halted)
    @rule()
    def resume(self) -> None:
        """Turn the kill switch off."""

        async def start(house: House) -> None:
            await house.manager.resume()

        self.do("resume", start, of_all(Model.resume))


def _create(
    goal: str, *, distinct_from: frozenset[str] | None = None, repeat: bool = False
) -> tuple[Start, Expect]:
    """Return a creation, and when it is refused: what may be under way, and too much."""

    async def start(house: House) -> object:
        task = await house.manager.create(
            goal, origin=ORIGIN, distinct_from=distinct_from, repeat=repeat
        )
        return task.id

    def is_refused(model: Model) -> bool:
        if distinct_from is not None:
            return not set(model.outstanding()) <= distinct_from
        return not repeat and any(
            not task.ended and _plain(task.goal) == _plain(goal)
            for task in model.tasks.values()
        )

    def expect(model: Model, seen: object) -> object:
        if model.halted:
            return "HaltedError"
        if is_refused(model):
            return "DuplicateTaskError"
        if len(model.new) >= QUEUED:
            return "TaskQueueFullError"
        model.create(str(seen), goal)
        return seen

    return start, expect


def _plain(goal: str) -> str:
    return goal.casefold().strip("!")
