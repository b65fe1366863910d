"""The goal is replaced in the middle of a run: what was meant for the old one is not done."""

from collections.abc import Sequence
import itertools

import pytest

from custom_components.aiden_duplex.background.agent import DeviceAgent
from custom_components.aiden_duplex.background.guard import REPEATS
from custom_components.aiden_duplex.background.limits import LoopLimits
from custom_components.aiden_duplex.models.chat.messages import ChatMessage, ChatRole
from custom_components.aiden_duplex.models.tools import ToolCall
from custom_components.aiden_duplex.tasks.model import Outcome
from custom_components.aiden_duplex.tasks.runner import RunEnd, RunResult, Steer
from tests import virtual_time

from .fakes import Did, FakeChat, FakePhone, Line, call, finish, tap
from .running import agent_for, request

OUTDATED = "the goal was replaced meanwhile"


class Desk:
    """An agent whose person changes their mind while the model thinks."""

    def __init__(self, **limits: int) -> None:
        """Start with a phone on which nothing changes."""
        self.phone = FakePhone()
        self.chat = FakeChat([])
        self.agent: DeviceAgent = agent_for(
            self.phone, self.chat, limits=LoopLimits(**limits)
        )
        self._revisions = itertools.count(2)

    def replaced(self, then: ToolCall | Sequence[ToolCall]) -> Line:
        """Return an answer before which the goal is replaced."""

        def line(_messages: Sequence[ChatMessage]) -> ToolCall | Sequence[ToolCall]:
            self.replace()
            return then

        return line

    def replace(self) -> None:
        """Replace the goal."""
        number = next(self._revisions)
        self.agent.steer("t1", Steer(goal=f"goal {number}", goal_revision=number))

    def run(self, lines: Sequence[Line]) -> RunResult:
        """Run to the end."""
        self.chat.lines = lines
        return virtual_time.run(self.agent.run(request(), lambda step: None))


def _results(messages: Sequence[ChatMessage]) -> list[str]:
    """Return the results of calls, each once: the model's server sees to that."""
    return [message.text for message in messages if message.role is ChatRole.TOOL]


@pytest.mark.parametrize(
    "dropped",
    [
        tap(),
        finish(outcome="not_achieved"),
        call("type_text", text="hi", submit=True, commits=True, effect="Send hi"),
        call("tap", x="left"),
        [tap(), call("press_key", key="home"), finish()],
    ],
)
def test_what_the_model_had_chosen_is_dropped(
    dropped: ToolCall | Sequence[ToolCall],
) -> None:
    """Each call has one result that says why; then it begins with the new goal."""
    desk = Desk()
    result = desk.run([desk.replaced(dropped), finish()])
    assert desk.phone.did == []
    assert (result.end, result.applied_revision) == (RunEnd.COMPLETED, 2)
    assert result.outcome is Outcome.ACHIEVED
    count = 1 if isinstance(dropped, ToolCall) else len(dropped)
    results = _results(desk.chat.asked[1])
    assert len(results) == count
    assert all(OUTDATED in text for text in results)
    words = desk.chat.words(1)
    assert words.index(OUTDATED) < words.index("[NEW GOAL]: goal 2")
    assert words.index("[NEW GOAL]: goal 2") < words.rindex("Step 1 of 40")
    assert len(desk.chat.asked) == 2


def test_words_instead_of_a_call_are_not_held_against_the_new_goal() -> None:
    """An answer that could not be used anyway is dropped in silence."""
    desk = Desk()

    def line(_messages: Sequence[ChatMessage]) -> str:
        desk.replace()
        return "I cannot do that."

    result = desk.run(["Hm.", "Hm.", line, "Hm.", "Hm.", finish()])
    assert result.outcome is Outcome.ACHIEVED


def test_a_goal_replaced_before_the_last_step_gets_all_its_steps() -> None:
    """The count begins anew, and so does what is said of it."""
    desk = Desk(steps=3)
    wait = call("wait", seconds=1)
    result = desk.run([wait, wait, desk.replaced(wait), wait, wait, finish()])
    assert (result.outcome, result.applied_revision) == (Outcome.ACHIEVED, 2)
    assert "3 steps are left" in desk.chat.new_words(3)
    assert "last step" in desk.chat.new_words(5)


def test_the_guard_holds_nothing_against_the_new_goal() -> None:
    """The same act may lead to it, however often it was tried for the old one."""
    desk = Desk()
    refused = desk.run([tap()] * (REPEATS + 1) + [finish()])
    assert refused.outcome is Outcome.ACHIEVED
    assert '"ok": false' in _results(desk.chat.asked[-1])[-1]
    other = Desk()
    other.run([*[tap()] * REPEATS, other.replaced(tap()), tap(), finish()])
    assert '"ok": true' in _results(other.chat.asked[-1])[-1]


def test_a_goal_that_is_replaced_for_ever_ends_all_the_same() -> None:
    """All turns of a run have a bound of their own."""
    desk = Desk(turns=7)
    result = desk.run([desk.replaced(tap())])
    assert len(desk.chat.asked) == 7
    assert (result.end, result.outcome) == (RunEnd.COMPLETED, Outcome.UNKNOWN)
    assert "after 7 steps" in result.text
    assert desk.phone.did == []


def test_an_act_that_has_begun_is_ended_and_what_follows_is_for_the_new_goal() -> None:
    """The result of the act is kept; the model goes on from there."""
    desk = Desk()

    def effect(phone: FakePhone, did: Did) -> None:
        desk.replace()
        phone.screen = "notes"

    desk.phone._effect = effect
    result = desk.run([tap(), finish()])
    assert (len(desk.phone.did), result.applied_revision) == (1, 2)
    assert ['"ok": true' in text for text in _results(desk.chat.asked[1])] == [True]
