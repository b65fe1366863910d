"""The translation to and from Chat Completions."""

import base64
import json
from typing import Any

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.aiden_duplex.models.chat.completions import (
    call_ids,
    parse_reply,
    request_body,
)
from custom_components.aiden_duplex.models.chat.messages import (
    ChatMessage,
    ChatReply,
    ChatRole,
    FinishReason,
    UnusableReplyError,
    Usage,
)
from custom_components.aiden_duplex.models.tools import (
    ToolCall,
    ToolSpec,
    object_schema,
)
from tests.examples import examples

TAP = ToolSpec(
    name="tap",
    description="Tap.",
    parameters=object_schema({"x": {"type": "number"}}, required=["x"]),
)


def _user(text: str = "hi", *images: bytes) -> ChatMessage:
    return ChatMessage(role=ChatRole.USER, text=text, images=images)


def _assistant(*calls: ToolCall, text: str = "", **more: Any) -> ChatMessage:
    return ChatMessage(role=ChatRole.ASSISTANT, text=text, tool_calls=calls, **more)


def _call(
    call_id: str = "c1", arguments: str = '{"x": 1}', name: str = "tap"
) -> ToolCall:
    return ToolCall(call_id=call_id, name=name, arguments=arguments)


def _messages(*messages: ChatMessage) -> Any:
    return request_body("m", messages, [])["messages"]


def _payload(message: dict[str, Any], finish: str | None = "stop") -> dict[str, Any]:
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3},
    }


def _raw(
    name: str = "tap", arguments: object = '{"x": 1}', **more: Any
) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "arguments": arguments},
        **more,
    }


def test_only_fields_that_every_server_knows_are_sent() -> None:
    """No parallel_tool_calls, strict, detail, stream, temperature; auto is not said."""
    body = request_body("m", [_user("hi", b"\xff\xd8")], [TAP])
    assert body == {
        "model": "m",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "hi"},
                    {
                        "type": "image_url",
                        "image_url": {
                            "url": "data:image/jpeg;base64,"
                            + base64.b64encode(b"\xff\xd8").decode()
                        },
                    },
                ],
            }
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "tap",
                    "description": "Tap.",
                    "parameters": TAP.parameters,
                },
            }
        ],
    }


def test_no_tools_means_no_tool_fields() -> None:
    """Servers refuse an empty list of tools and a choice without tools."""
    assert set(request_body("m", [_user()], [], "required")) == {"model", "messages"}


@pytest.mark.parametrize("choice", ["required", "none"])
def test_other_tool_choices_are_sent(choice: Any) -> None:
    """A choice that is not the default is said."""
    assert request_body("m", [_user()], [TAP], choice)["tool_choice"] == choice


def test_system_message_has_role_system() -> None:
    """The developer role is unknown to compatible servers."""
    assert _messages(ChatMessage(role=ChatRole.SYSTEM, text="be good")) == [
        {"role": "system", "content": "be good"}
    ]


def test_messages_with_nothing_in_them_are_not_sent() -> None:
    """An empty text makes some servers refuse every later request."""
    assert _messages(
        ChatMessage(role=ChatRole.SYSTEM),
        _user(""),
        _assistant(),
        _user("only me"),
    ) == [{"role": "user", "content": "only me"}]


def test_picture_without_words_has_no_text_part() -> None:
    """An empty text part is refused too."""
    (message,) = _messages(_user("", b"jpeg"))
    assert [part["type"] for part in message["content"]] == ["image_url"]


def test_calls_and_results_keep_their_pairing() -> None:
    """A call has null content, its result carries the id; an empty result gets a word."""
    assert _messages(
        _assistant(_call("a"), _call("b", '{"x": 2}')),
        ChatMessage(role=ChatRole.TOOL, tool_call_id="a", text="ok"),
        ChatMessage(role=ChatRole.TOOL, tool_call_id="b"),
    ) == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "tap", "arguments": '{"x": 1}'},
                },
                {
                    "id": "b",
                    "type": "function",
                    "function": {"name": "tap", "arguments": '{"x": 2}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "ok"},
        {"role": "tool", "tool_call_id": "b", "content": "(no output)"},
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        *("", "null", "[1]", '{"x": 1', "tap it"),
        pytest.param("[" * 100_000, id="nested"),
    ],
)
def test_broken_arguments_are_not_sent_back(arguments: str) -> None:
    """Ollama and vLLM parse the arguments in the history and answer 400 to broken ones."""
    (message,) = _messages(_assistant(_call(arguments=arguments)))
    assert message["tool_calls"][0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize(
    ("name", "sent"),
    [("öffne app!", "_ffne_app_"), ("n" * 80, "n" * 64), ("", "unnamed")],
)
def test_names_that_no_server_takes_are_made_valid(name: str, sent: str) -> None:
    """A model's invented tool name must not make every later request fail."""
    (message,) = _messages(_assistant(_call(name=name)))
    assert message["tool_calls"][0]["function"]["name"] == sent


def test_plain_reply() -> None:
    """Text, reason and usage come through."""
    assert parse_reply(
        _payload({"role": "assistant", "content": " Hello "})
    ) == ChatReply(
        text="Hello",
        finish_reason=FinishReason.STOP,
        usage=Usage(input_tokens=11, output_tokens=3),
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"x": 1}', '{"x": 1}'),
        ({"x": 1}, '{"x": 1}'),
        (None, ""),
        ("", ""),
        ({}, "{}"),
        ('{"x": 1', '{"x": 1'),
        ([1, 2], "[1, 2]"),
    ],
)
def test_arguments_may_be_text_object_or_nothing(
    arguments: object, expected: str
) -> None:
    """Text is kept as written, even when broken; an object becomes its JSON."""
    reply = parse_reply(
        _payload({"content": None, "tool_calls": [_raw(arguments=arguments, id="c")]})
    )
    assert reply.tool_calls == (ToolCall(call_id="c", name="tap", arguments=expected),)


@pytest.mark.parametrize(
    ("raw_ids", "expected"),
    [
        ([None], ["call_2"]),
        (["", None], ["call_2", "call_3"]),
        (["dup", "dup"], ["dup", "call_3"]),
        (["old"], ["call_2"]),
        ([5], ["call_2"]),
        (["call_2", None], ["call_2", "call_3"]),
        ([None, "call_2"], ["call_2", "call_3"]),
    ],
)
def test_missing_and_repeated_ids_are_replaced(
    raw_ids: list[object], expected: list[str]
) -> None:
    """Ids are unique in the reply and in the conversation (here: 'old' was used)."""
    reply = parse_reply(
        _payload({"tool_calls": [_raw(id=raw_id) for raw_id in raw_ids]}),
        taken_ids={"old"},
    )
    assert [call.call_id for call in reply.tool_calls] == expected


def test_ids_of_a_conversation() -> None:
    """All ids of all messages."""
    assert call_ids([_user(), _assistant(_call("a"), _call("b")), _assistant()]) == {
        "a",
        "b",
    }


def test_call_without_nesting_is_read() -> None:
    """Some servers leave the function object out."""
    reply = parse_reply(
        _payload({"tool_calls": [{"id": "c", "name": "tap", "arguments": "{}"}]})
    )
    assert reply.tool_calls[0].name == "tap"


@pytest.mark.parametrize(
    "calls", [None, "tap", {}, [None], ["tap"], [{}], [{"function": {"name": 3}}]]
)
def test_things_that_are_no_calls_are_passed_over(calls: object) -> None:
    """A malformed list of calls does not hide the text."""
    reply = parse_reply(_payload({"content": "text", "tool_calls": calls}))
    assert (reply.text, reply.tool_calls) == ("text", ())


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None}, ""),
        ({"content": ""}, ""),
        ({}, ""),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "x"}, {"text": "b"}]},
            "ab",
        ),
        ({"content": None, "refusal": "I will not."}, "I will not."),
        ({"content": "<think>secret</think>said"}, "said"),
        ({"content": "said", "reasoning_content": "secret"}, "said"),
    ],
)
def test_what_counts_as_text(message: dict[str, Any], text: str) -> None:
    """Parts are joined, thinking is left out, nothing is an empty text."""
    assert parse_reply(_payload(message)).text == text


def test_call_written_as_text_becomes_a_call() -> None:
    """The wrapper is removed from the text and the call has an id."""
    reply = parse_reply(
        _payload(
            {
                "content": '<think>so</think>Now. <tool_call>{"name":"tap","args":{"x":1}}</tool_call>'
            }
        )
    )
    assert reply.text == "Now."
    assert reply.tool_calls == (
        ToolCall(call_id="call_1", name="tap", arguments='{"x": 1}'),
    )


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
def test_call_at_the_end_of_a_thinking_field_becomes_a_call(field: str) -> None:
    """Servers put a call behind the thinking into the thinking's own field."""
    reply = parse_reply(
        _payload({"content": "", field: 'so <tool_call>{"name":"tap"}</tool_call>'})
    )
    assert [call.name for call in reply.tool_calls] == ["tap"]


def test_structured_calls_win_over_text() -> None:
    """A quoted call beside a real one is not run."""
    reply = parse_reply(
        _payload(
            {
                "content": '<tool_call>{"name":"pay"}</tool_call>',
                "tool_calls": [_raw(id="c")],
            }
        )
    )
    assert [call.name for call in reply.tool_calls] == ["tap"]


@pytest.mark.parametrize(
    "message",
    [
        {"content": "I was about to"},
        {"content": ""},
        {"tool_calls": [_raw(arguments='{"x": 1', id="c")]},
        {"tool_calls": [_raw(arguments="", id="c")]},
    ],
)
def test_reply_that_was_cut_off_is_an_error(message: dict[str, Any]) -> None:
    """finish_reason length in the middle of arguments must never run half a call."""
    with pytest.raises(UnusableReplyError, match="cut off"):
        parse_reply(_payload(message, "length"))


def test_whole_call_before_the_cut_is_kept() -> None:
    """The limit may fall behind a complete first call."""
    reply = parse_reply(
        _payload(
            {"tool_calls": [_raw(id="a"), _raw(arguments='{"x"', id="b")]}, "length"
        )
    )
    assert reply.tool_calls[0] == _call("a")
    assert reply.finish_reason is FinishReason.LENGTH


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("tool_calls", FinishReason.TOOL_CALLS),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("STOP", FinishReason.STOP),
        (None, FinishReason.OTHER),
        ("eos", FinishReason.OTHER),
    ],
)
def test_finish_reasons(finish: str | None, expected: FinishReason) -> None:
    """Known reasons by name, all others as other."""
    assert parse_reply(_payload({"content": "x"}, finish)).finish_reason is expected


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        "text",
        {},
        {"choices": None},
        {"choices": []},
        {"choices": ["x"]},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": {"0": {}}},
    ],
)
def test_answer_without_a_message_is_an_error(payload: object) -> None:
    """What is no chat completion is said to be none."""
    with pytest.raises(UnusableReplyError, match="no message"):
        parse_reply(payload)


@pytest.mark.parametrize(
    "usage", [None, [], {}, {"prompt_tokens": "many"}, {"prompt_tokens": -1}]
)
def test_usage_may_be_missing(usage: object) -> None:
    """A server that counts nothing costs nothing."""
    payload = _payload({"content": "x"}) | {"usage": usage}
    assert parse_reply(payload).usage == Usage()


@pytest.mark.parametrize("reasoning", ["thought", ""])
def test_reasoning_is_sent_back_with_the_calls_it_led_to(reasoning: str) -> None:
    """DeepSeek and Kimi answer 400 when it is missing, the empty one too."""
    reply = parse_reply(
        _payload({"reasoning_content": reasoning, "tool_calls": [_raw(id="c")]})
    )
    (sent,) = _messages(_assistant(*reply.tool_calls, echo=reply.echo))
    assert sent["reasoning_content"] == reasoning


def test_signature_is_sent_back_with_its_call() -> None:
    """Gemini answers 400 to a call without its signature; the id may be ours by then."""
    extra = {"google": {"thought_signature": "sig"}}
    reply = parse_reply(
        _payload({"tool_calls": [_raw(extra_content=extra), _raw(id="second")]})
    )
    (sent,) = _messages(_assistant(*reply.tool_calls, echo=reply.echo))
    assert sent["tool_calls"][0]["extra_content"] == extra
    assert "extra_content" not in sent["tool_calls"][1]


def test_reasoning_of_a_reply_without_calls_is_not_sent_back() -> None:
    """Older servers refuse it on ordinary turns."""
    reply = parse_reply(_payload({"content": "x", "reasoning_content": "thought"}))
    assert reply.echo == {}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "name",
                    "function",
                    "arguments",
                    "args",
                    "content",
                    "text",
                    "tool_calls",
                ]
            ),
            children,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(content=_JSON, calls=_JSON, finish=st.sampled_from(["stop", "length", None]))
@settings(max_examples=examples(300), deadline=None)
def test_any_answer_is_a_reply_with_unique_ids_or_an_unusable_one(
    content: object, calls: object, finish: str | None
) -> None:
    """Whatever a server writes: a reply that can be sent back, or one known error."""
    try:
        reply = parse_reply(
            _payload({"content": content, "tool_calls": calls}, finish),
            taken_ids={"call_1"},
        )
    except UnusableReplyError:
        assert finish == "length"
        return
    ids = [call.call_id for call in reply.tool_calls]
    assert len(set(ids)) == len(ids)
    assert "call_1" not in ids
    for message in _messages(_assistant(*reply.tool_calls, text=reply.text)):
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
