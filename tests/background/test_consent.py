"""Acts that count: the person is asked, and only what they agreed to is done, once."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
import json
from typing import Any

import pytest

from custom_components.aiden_duplex.background import screens, tools
from custom_components.aiden_duplex.background.consent import QUESTIONS, Proposal
from custom_components.aiden_duplex.models.chat.messages import ChatMessage, ChatRole
from custom_components.aiden_duplex.models.tools import ToolCall
from custom_components.aiden_duplex.tasks.model import (
    ConsentRequest,
    Outcome,
    ReasonClass,
)
from custom_components.aiden_duplex.tasks.runner import RunEnd, RunResult
from tests import virtual_time

from . import pictures
from .fakes import Did, FakeChat, FakePhone, Line, call, finish, tap
from .running import agent_for, play, request

EFFECT = 'Send "hi" to Anna'


def send(x: float = 800, y: float = 900, effect: str = EFFECT) -> ToolCall:
    """Return a tap that sends."""
    return call("tap", x=x, y=y, commits=True, effect=effect)


def _sends(phone: FakePhone, did: Did) -> None:
    """Show that it was sent."""
    phone.screen = "sent"


@dataclass(slots=True)
class Person:
    """Says yes to whatever is asked, once; notes what was used of it."""

    agreed: list[ConsentRequest] = field(default_factory=list)
    used: list[tuple[str, str]] = field(default_factory=list)
    forgetful: bool = False

    async def spend(self, act: str, screen: str) -> bool:
        """Use a yes up."""
        wanted = ConsentRequest(act=act, screen=screen)
        if wanted not in self.agreed or self.forgetful:
            return False
        self.agreed.remove(wanted)
        self.used.append((act, screen))
        return True


@dataclass(slots=True, kw_only=True)
class Worked:
    """All runs of one task."""

    results: list[RunResult]
    phone: FakePhone
    chat: FakeChat
    person: Person

    @property
    def asked(self) -> list[ConsentRequest]:
        """Return what was asked for."""
        questions = [result.question for result in self.results if result.question]
        return [question.consent for question in questions if question.consent]


def work(
    lines: Sequence[Line],
    phone: FakePhone | None = None,
    person: Person | None = None,
    between: Sequence[str] = (),
    **more: Any,
) -> Worked:
    """Run a task, with a yes to every question; ``between`` are screens after each."""

    async def scenario() -> Worked:
        used, who, chat = (
            phone or FakePhone("chat", _sends),
            person or Person(),
            FakeChat(lines),
        )
        agent = agent_for(used, chat)
        screens_between = list(between)
        results = [await agent.run(request(spend=who.spend), lambda _: None)]
        while results[-1].end is RunEnd.PAUSED:
            question = results[-1].question
            assert question
            if question.consent:
                who.agreed = [question.consent]
            if screens_between:
                used.screen = screens_between.pop(0)
            again = request(spend=who.spend, continuation="yes", **more)
            results.append(await agent.run(again, lambda _: None))
            assert len(asyncio.all_tasks()) == 1
        return Worked(results=results, phone=used, chat=chat, person=who)

    return virtual_time.run(scenario())


def test_an_act_that_counts_is_asked_for_and_done_after_the_yes() -> None:
    """Nothing reaches the phone before; the same call after the yes goes through once."""
    done = work([tap(100, 100), send(), send(), finish()], FakePhone("chat"))
    assert done.phone.did == [Did("tap", (100, 100)), Did("tap", (800, 900))]
    first, last = done.results
    assert first.end is RunEnd.PAUSED
    assert first.question
    assert first.question.reason is ReasonClass.SENSITIVE_OPERATION
    assert json.dumps(EFFECT) in first.question.details
    assert "tap at 80 % from the left, 90 % from the top" in first.question.details
    assert last.outcome is Outcome.ACHIEVED
    (asked,) = done.asked
    assert asked.act == 'tap {"x": 800, "y": 900}'
    assert done.person.used == [(asked.act, asked.screen)]


def test_the_model_is_told_that_nothing_was_done() -> None:
    """And what to do after the yes."""
    done = work([send(), send(), finish()])
    told = [m.text for m in done.chat.asked[1] if m.role is ChatRole.TOOL]
    assert "nothing was sent" in told[0]
    assert "exactly this call again" in told[0]


def test_without_the_flag_nothing_is_asked() -> None:
    """Ordinary acts are done at once, also with the flag off."""
    off = call("tap", x=800, y=900, commits=False)
    done = work([off, finish()])
    assert done.phone.did == [Did("tap", (800, 900))]
    assert done.asked == []


def test_what_was_agreed_is_done_to_the_letter() -> None:
    """A few pixels beside is the same target; done is what the person agreed to."""
    done = work([send(), send(806, 893, effect="Send"), finish()])
    assert done.phone.did == [Did("tap", (800, 900))]


@pytest.mark.parametrize(
    "other",
    [
        send(830, 900),
        send(800, 870),
        call("long_press", x=800, y=900, commits=True),
        call("type_text", text="hi", submit=True, commits=True),
    ],
)
def test_another_act_is_asked_for_anew(other: ToolCall) -> None:
    """The yes was not for this."""
    done = work([send(), other, other, finish()])
    assert len(done.asked) == 2
    assert len(done.phone.did) == 1
    assert len(done.person.used) == 1
    assert done.person.used[0][0] == done.asked[1].act


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"text": "hi", "submit": True}, {"text": "ho", "submit": True}),
        ({"text": "hi", "submit": True}, {"text": "hi"}),
    ],
)
def test_another_text_is_asked_for_anew(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    """Also the same text without its Enter."""
    lines = [call("type_text", commits=True, **given) for given in (one, other, other)]
    done = work([*lines, finish()])
    assert len(done.asked) == 2
    text = f"{other['text']}\n" if other.get("submit") else other["text"]
    assert done.phone.did == [Did("type_text", (text,))]


def test_another_screen_is_asked_for_anew() -> None:
    """What stands there now is not what the person was asked about."""
    done = work([send(), send(), send(), finish()], between=["bank", "bank"])
    first, second = done.asked
    assert first.screen != second.screen
    assert done.person.used == [(second.act, second.screen)]
    assert len(done.phone.did) == 1


def test_a_yes_that_cannot_be_used_is_asked_for_anew_and_not_for_ever() -> None:
    """Too old, or taken back: after three questions the task ends, not achieved."""
    done = work([send()], person=Person(forgetful=True))
    assert len(done.asked) == QUESTIONS
    assert done.phone.did == []
    last = done.results[-1]
    assert (last.end, last.outcome) == (RunEnd.COMPLETED, Outcome.NOT_ACHIEVED)
    assert f"asked {QUESTIONS} times" in last.text


def test_each_act_needs_its_own_yes() -> None:
    """Sending twice is asked twice; an act that was done gives the questions back."""
    phone = FakePhone("chat")
    done = work([send(), send(), send(), send(), send(), send(), finish()], phone)
    assert len(done.asked) == 3
    assert len(done.phone.did) == 3


def test_a_new_goal_forgets_what_was_asked_for() -> None:
    """Even if nobody took the yes back."""
    done = work([send(), send(), send(), finish()], goal_revision=2)
    assert len(done.asked) == 2


def test_a_black_screen_is_no_place_for_a_yes() -> None:
    """The person would agree to what nobody can see."""
    key = call("press_key", key="enter", commits=True)

    def wakes(messages: Sequence[ChatMessage]) -> ToolCall:
        phone.screen = "chat"
        return key

    phone = FakePhone("black")
    done = work([wakes, key, key, finish("unknown")], phone)
    assert "needs a picture" in "\n".join(done.chat.words(1).splitlines())
    assert len(done.asked) == 1


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (call("long_press", x=10, y=20), "press and hold at 1 % from the left"),
        (call("swipe", x1=0, y1=500, x2=1000, y2=500), "swipe from 0 % from the left"),
        (call("type_text", text='say "hi"'), 'type "say \\"hi\\""'),
        (call("type_text", text="x", submit=True), 'type "x" and press Enter'),
        (call("press_key", key="enter"), "press the key enter"),
    ],
)
def test_the_question_says_what_would_be_done(command: ToolCall, words: str) -> None:
    """In the person's words, also without the model's."""
    arguments = json.loads(command.arguments)
    ran = play([call(command.name, **arguments, commits=True)], FakePhone("chat"))
    assert ran.result.question
    assert words in ran.result.question.details
    assert "it did not say what this does" in ran.result.question.details


def test_words_of_the_model_cannot_pose_as_the_program() -> None:
    """What it says of its act is quoted."""
    ran = play([send(effect='[NOTICE]: "fine"')], FakePhone("chat"))
    assert ran.result.question
    assert "[NOTICE]" not in ran.result.question.details


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        ("Pay 12.00", True),
        ("Pay 92.00", False),
        ("Pay 12.09", False),
        ("Pay 1200", False),
        ("Pay 12.001", False),
        ("Pay 120.0", False),
        ("Pay", False),
    ],
)
@pytest.mark.parametrize("caret", [False, True])
def test_one_digit_makes_another_screen(text: str, is_same: bool, caret: bool) -> None:
    """A page that changes the amount after the yes does not get it; a caret may blink."""
    before = pictures.page("Pay 12.00")
    after = pictures.page(text, noise=7, caret=caret)
    seen = screens.fingerprint(before, close=True)
    assert seen is not None
    command = tools.parse(send())
    proposal = Proposal(command=command, screen=seen)
    assert proposal.covers(command, after) is is_same
    assert not proposal.covers(command, b"no picture")
