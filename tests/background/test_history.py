"""The conversation stays balanced and bounded."""

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.aiden_duplex.background import history as history_module
from custom_components.aiden_duplex.background.history import (
    OLD_PICTURE,
    TEXT_LIMIT,
    TOTAL_LIMIT,
    UNANSWERED,
    History,
)
from custom_components.aiden_duplex.models.chat.messages import (
    ChatMessage,
    ChatReply,
    ChatRole,
)
from custom_components.aiden_duplex.models.tools import ToolCall
from tests.examples import examples

from .fakes import problem_in


def _reply(*ids: str, text: str = "", arguments: str = "{}") -> ChatReply:
    calls = tuple(ToolCall(call_id=i, name="tap", arguments=arguments) for i in ids)
    return ChatReply(text=text, tool_calls=calls)


def _start(pictures: int = 2) -> History:
    history = History("rules", pictures=pictures)
    history.add_user("the goal", pinned=True)
    return history


def _size(messages: list[ChatMessage]) -> int:
    return sum(len(message.text) for message in messages)


def test_call_left_open_gets_a_result_when_the_conversation_goes_on() -> None:
    """A picture, words or a new answer never separate a call from its result."""
    history = _start()
    history.add_reply(_reply("a", "b"))
    history.add_result("a", "done")
    history.add_picture(b"jpeg", "look")
    roles = [message.role for message in history.messages()]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    results = {m.tool_call_id: m.text for m in history.messages() if m.tool_call_id}
    assert results == {"a": "done", "b": UNANSWERED}


def test_result_for_no_open_call_is_ignored() -> None:
    """A late or double result must not unbalance what is sent."""
    history = _start()
    history.add_result("a", "early")
    history.add_reply(_reply("a"))
    history.add_result("a", "first")
    history.add_result("a", "second")
    assert [m.text for m in history.messages() if m.role is ChatRole.TOOL] == ["first"]


def test_empty_answer_leaves_no_trace() -> None:
    """An empty message would make every later request fail."""
    history = _start()
    history.add_reply(_reply(text="  "))
    history.add_user("again")
    assert [m.role for m in history.messages()] == ["system", "user"]


def test_older_pictures_become_a_word() -> None:
    """Two pictures at once; their bytes are let go of."""
    history = _start()
    for number in range(4):
        history.add_reply(_reply(f"c{number}"))
        history.add_result(f"c{number}", "ok")
        history.add_picture(f"jpeg {number}".encode(), f"picture {number}")
    sent = history.messages()
    assert [image for m in sent for image in m.images] == [b"jpeg 2", b"jpeg 3"]
    assert sum(OLD_PICTURE in message.text for message in sent) == 2
    history.hide_pictures()
    assert not any(message.images for message in history.messages())


@pytest.mark.parametrize(
    ("limit", "taken", "shown"), [(1, 1, 1), (2, 1, 1), (3, 2, 2), (3, 4, 3)]
)
def test_pictures_up_to_the_limit_stay(limit: int, taken: int, shown: int) -> None:
    """No more than the limit, and no fewer than there are."""
    history = _start(limit)
    for _ in range(taken):
        history.add_picture(b"jpeg", "look")
    assert len(history.messages()[-1].images) == shown


def test_neighbouring_messages_of_the_user_are_one() -> None:
    """Goal and first picture go out together."""
    history = _start()
    history.add_picture(b"jpeg", "look")
    history.add_user("and hurry")
    (_, message) = history.messages()
    assert message.text == "the goal\n\nlook\n\nand hurry"
    assert message.images == (b"jpeg",)


def test_long_work_is_shortened_but_goal_and_answers_stay() -> None:
    """A hundred long steps later the goal is there, and it is said that steps are missing."""
    history = _start()
    history.add_reply(_reply("q"))
    history.add_user("the person's answer", pinned=True)
    for number in range(100):
        history.add_reply(_reply(f"c{number}", text="x" * 3000))
        history.add_result(f"c{number}", "y" * 500)
    sent = history.messages()
    assert problem_in(sent) is None
    assert _size(sent) <= TOTAL_LIMIT + TEXT_LIMIT
    words = "\n".join(message.text for message in sent)
    assert "the goal" in words
    assert "the person's answer" in words
    assert "earlier messages of this task are left out" in words
    assert sent[-1].text == "y" * 500


def test_answers_of_the_person_are_bounded_too() -> None:
    """The goal and the newest answers stay, not all of a hundred."""
    history = _start()
    for number in range(100):
        history.add_reply(_reply(f"c{number}"))
        history.add_user(f"answer {number} " + "z" * 3000, pinned=True)
    words = "\n".join(message.text for message in history.messages())
    assert len(words) < TOTAL_LIMIT + TEXT_LIMIT
    assert "the goal" in words
    assert "answer 99 " in words
    assert "answer 0 " not in words


def test_shortening_halves_the_conversation() -> None:
    """For a model that said it was too long."""
    history = _start()
    for number in range(10):
        history.add_reply(_reply(f"c{number}", text="x" * 1000))
        history.add_result(f"c{number}", "ok")
        history.add_picture(b"jpeg", "look")
    before = _size(history.messages())
    history.shorten()
    sent = history.messages()
    assert _size(sent) < before * 0.6
    assert sum(len(message.images) for message in sent) == 1
    assert problem_in(sent) is None


def test_huge_texts_and_arguments_are_cut() -> None:
    """One message cannot fill the conversation; cut arguments would be broken JSON."""
    history = _start()
    history.add_reply(
        _reply("a", text="t" * 10_000, arguments="{" + " " * 10_000 + "}")
    )
    history.add_result("a", "r" * 10_000)
    _, _, reply, result = history.messages()
    assert len(reply.text) == len(result.text) == TEXT_LIMIT
    assert reply.tool_calls[0].arguments == "{}"


_OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["user", "pinned", "picture", "reply", "empty", "result", "close", "shorten", "hide", "send"]
        ),
        st.integers(0, 3),
        st.sampled_from([0, 1, 200, 3000]),
    ),
    max_size=60,
)  # fmt: skip


@given(_OPERATIONS)
@settings(max_examples=examples(200), deadline=None)
def test_any_order_of_events_gives_a_balanced_and_bounded_conversation(
    operations: list[tuple[str, int, int]],
) -> None:
    """Whatever happens in whatever order: what is sent is what a strict server takes."""
    history = _start()
    made = 0
    for name, number, size in operations:
        text = f"{name} " + "x" * size
        match name:
            case "user" | "pinned":
                history.add_user(text, pinned=name == "pinned")
            case "picture":
                history.add_picture(b"jpeg", text)
            case "reply":
                ids = [f"call_{made + offset}" for offset in range(number + 1)]
                made += number + 1
                history.add_reply(_reply(*ids, text=text))
            case "empty":
                history.add_reply(_reply())
            case "result" if history.open_calls:
                history.add_result(
                    history.open_calls[number % len(history.open_calls)], text
                )
            case "result":
                history.add_result("call_0", text)
            case "close":
                history.close_calls()
            case "shorten":
                history.shorten()
            case "hide":
                history.hide_pictures()
            case "send":
                assert problem_in(history.messages()) is None
    sent = history.messages()
    assert problem_in(sent) is None
    assert sum(len(message.images) for message in sent) <= 2
    assert _size(sent) <= history_module.TOTAL_LIMIT + 3 * TEXT_LIMIT
    assert "the goal" in sent[1].text
