"""Somebody else uses the phone in the middle of a run: told once, verified, not counted."""

import asyncio
from collections.abc import Sequence

from custom_components.aiden_duplex.background.guard import REPEATS, STOP_STREAK
from custom_components.aiden_duplex.memory.entries import Entry, Role
from custom_components.aiden_duplex.models.chat.messages import ChatMessage
from custom_components.aiden_duplex.models.tools import ToolCall
from custom_components.aiden_duplex.phone.types import ActUnknownError
from custom_components.aiden_duplex.tasks.model import Outcome
from tests import virtual_time

from .fakes import Did, FakeChat, FakePhone, Line, call, finish, tap
from .running import agent_for, play, request

NOTICE = "[NOTICE]: Interrupt [preempted]"


class _Book:
    """A transcript in memory."""

    def __init__(self) -> None:
        """Start empty."""
        self.entries: list[Entry] = []

    async def append(self, *entries: Entry) -> None:
        """Keep entries."""
        self.entries.extend(entries)


def _while_thinking(phone: FakePhone, then: ToolCall) -> Line:
    """Return an answer of the model, before which somebody else uses the phone."""

    def line(_messages: Sequence[ChatMessage]) -> ToolCall:
        phone.use("the launcher")
        return then

    return line


def test_a_broken_off_act_is_unknown_and_the_notice_comes_once() -> None:
    """The result, the notice, a new picture that is not the act's doing; then it goes on."""

    async def scenario() -> None:
        def effect(phone: FakePhone, did: Did) -> None:
            if len(phone.did) == 1:
                phone.use("the launcher")
                raise ActUnknownError("somebody else used the phone")
            phone.screen = f"screen {len(phone.did)}"

        phone = FakePhone(effect=effect)
        chat = FakeChat([call("type_text", text="hello"), tap(), finish()])
        book = _Book()
        agent = agent_for(phone, chat, transcript=book)
        result = await agent.run(request(), lambda step: None)
        assert result.outcome is Outcome.ACHIEVED
        words = chat.new_words(1)
        assert words.index("may or may not have happened") < words.index(NOTICE)
        assert words.index(NOTICE) < words.index(
            "[SCREEN]: This is the phone now. Step"
        )
        assert "verify the state of the phone" in words
        assert chat.words().count(NOTICE) == 1
        notices = [entry for entry in book.entries if entry.role is Role.NOTICE]
        assert [entry.text.startswith(NOTICE) for entry in notices] == [True]
        before = book.entries[book.entries.index(notices[0]) - 1]
        assert before.role is Role.TOOL_RESULT
        assert "may or may not have happened" in before.text

    virtual_time.run(scenario())


def test_what_was_decided_by_an_older_picture_is_not_done() -> None:
    """Neither an act nor an end: the model sees the new screen first."""
    for decided in (tap(), finish(), call("wait", seconds=1)):
        phone = FakePhone()
        ran = play([_while_thinking(phone, decided), finish()], phone)
        assert ran.result.outcome is Outcome.ACHIEVED
        assert phone.did == []
        assert len(ran.chat.asked) == 2
        assert "nothing was sent: somebody else used the phone" in ran.chat.words(1)
        assert ran.chat.words(1).count(NOTICE) == 1
        assert phone.looks == 2


def test_an_unusable_answer_does_not_hide_it() -> None:
    """The new screen is shown before the next turn, whatever the model said."""
    phone = FakePhone()

    def line(_messages: Sequence[ChatMessage]) -> ToolCall:
        phone.use("the launcher")
        return call("no_such_tool")

    ran = play([line, finish()], phone)
    assert ran.result.outcome is Outcome.ACHIEVED
    assert ran.chat.words(1).count(NOTICE) == 1
    assert phone.looks == 2


def test_told_for_each_time_and_for_the_runs_of_before_not_at_all() -> None:
    """A loan of before the run is nothing to this run."""
    phone = FakePhone()
    phone.use("home")
    lines = [_while_thinking(phone, tap()) for _ in range(3)]
    ran = play([tap(), *lines, finish()], phone)
    assert NOTICE not in ran.chat.words(1)
    assert [ran.chat.words(number).count(NOTICE) for number in (2, 3, 4)] == [1, 2, 3]


def test_during_a_wait_the_wait_goes_on() -> None:
    """The look after it tells."""

    async def scenario() -> None:
        phone = FakePhone()
        chat = FakeChat([call("wait", seconds=10), finish()])
        agent = agent_for(phone, chat)
        asyncio.get_running_loop().call_later(5, phone.use, "the launcher")
        result = await agent.run(request(), lambda step: None)
        assert result.outcome is Outcome.ACHIEVED
        assert NOTICE in chat.new_words(1)

    virtual_time.run(scenario())


def test_the_guard_does_not_count_it() -> None:
    """The same act again and again is refused, but not if its effect was undone each time."""
    phone = FakePhone()

    def undone(phone: FakePhone, did: Did) -> None:
        phone.use("the launcher")

    phone._effect = undone
    tries = max(REPEATS, STOP_STREAK) + 2
    ran = play([*[tap()] * tries, finish()], phone)
    assert ran.result.outcome is Outcome.ACHIEVED
    assert len(phone.did) == tries
    assert "Refused" not in ran.chat.words()
