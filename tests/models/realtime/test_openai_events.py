"""Frames in, events out: OpenAI's names, the beta's names, and what servers get wrong."""

import json
from typing import Any

from hypothesis import given, strategies as st
import pytest

from custom_components.aiden_duplex.models.errors import ModelError, ModelErrorKind
from custom_components.aiden_duplex.models.realtime.events import (
    Closed,
    NothingToCancel,
    Ready,
    RealtimeEvent,
    ResponseDone,
    ResponseRefused,
    ResponseStarted,
    ResponseStatus,
    SessionError,
    TextDelta,
    TextFinal,
    TextSource,
    ToolCallReady,
    Usage,
)
from custom_components.aiden_duplex.models.realtime.openai import OpenAIDialect
from custom_components.aiden_duplex.models.realtime.session import SessionConfig
from custom_components.aiden_duplex.models.tools import ToolCall

_KEY = "sk-very-secret-key-0123456789"


def _dialect() -> OpenAIDialect:
    return OpenAIDialect(SessionConfig(instructions="x"), secret=_KEY)


def _events(*frames: dict[str, Any]) -> list[RealtimeEvent]:
    dialect = _dialect()
    return [
        event for frame in frames for event in dialect.decode(json.dumps(frame)).events
    ]


def _call_item(call_id: str = "call_1", **more: Any) -> dict[str, Any]:
    return {
        "id": "item_c",
        "type": "function_call",
        "call_id": call_id,
        "name": "create_agent_task",
        "arguments": '{"task":"x"}',
        **more,
    }


def _done(status: str = "completed", **more: Any) -> dict[str, Any]:
    return {
        "type": "response.done",
        "response": {"id": "resp_1", "status": status, "output": [], **more},
    }


_CREATED = {
    "type": "response.created",
    "response": {"id": "resp_1", "status": "in_progress", "metadata": None},
}
_CALL = ToolCall(call_id="call_1", name="create_agent_task", arguments='{"task":"x"}')


def test_handshake_answers_the_greeting_once_and_is_ready_once() -> None:
    """[O1] session.created, session.update, session.updated."""
    dialect = _dialect()
    assert dialect.opening() == ()
    greeting = json.dumps({"type": "session.created", "session": {"id": "sess_1"}})
    first = dialect.decode(greeting)
    assert [frame["type"] for frame in first.replies] == ["session.update"]
    assert first.events == ()
    assert dialect.decode(greeting).replies == ()
    updated = {"type": "session.updated", "session": {"id": "sess_1"}}
    assert dialect.decode(json.dumps(updated)).events == (Ready(session_id="sess_1"),)
    assert dialect.decode(json.dumps(updated)).events == ()


@pytest.mark.parametrize(
    ("frame", "event"),
    [
        (_CREATED, ResponseStarted(response_id="resp_1")),
        (
            {
                "type": "response.created",
                "response": {"id": "resp_1", "metadata": {"request_id": "r1"}},
            },
            ResponseStarted(response_id="resp_1", request_id="r1"),
        ),
        (
            {
                "type": "response.output_text.delta",
                "response_id": "resp_1",
                "item_id": "i",
                "delta": "Hé",
            },
            TextDelta(response_id="resp_1", item_id="i", text="Hé"),
        ),
        (
            {"type": "response.text.delta", "response_id": "resp_1", "delta": "a"},
            TextDelta(response_id="resp_1", item_id=None, text="a"),
        ),
        (
            {"type": "response.output_text.done", "item_id": "i", "text": "all"},
            TextFinal(response_id=None, item_id="i", text="all"),
        ),
        (
            {
                "type": "response.audio_transcript.done",
                "response_id": "resp_1",
                "item_id": "i",
                "transcript": "said",
            },
            TextFinal(
                response_id="resp_1",
                item_id="i",
                text="said",
                source=TextSource.AUDIO,
            ),
        ),
        (
            {
                "type": "response.output_audio_transcript.delta",
                "response_id": "resp_1",
                "item_id": "i",
                "delta": "sa",
            },
            TextDelta(
                response_id="resp_1", item_id="i", text="sa", source=TextSource.AUDIO
            ),
        ),
        (
            {
                "type": "response.function_call_arguments.done",
                "response_id": "resp_1",
                "item_id": "item_c",
                "call_id": "call_1",
                "name": "create_agent_task",
                "arguments": '{"task":"x"}',
            },
            ToolCallReady(response_id="resp_1", call=_CALL),
        ),
        (
            {
                "type": "response.output_item.done",
                "response_id": "resp_1",
                "item": _call_item(),
            },
            ToolCallReady(response_id="resp_1", call=_CALL),
        ),
        (
            _done(
                usage={
                    "input_tokens": 7,
                    "output_tokens": 3,
                    "total_tokens": 10,
                    "input_token_details": {"cached_tokens": 5},
                }
            ),
            ResponseDone(
                response_id="resp_1",
                status=ResponseStatus.COMPLETED,
                usage=Usage(input_tokens=7, output_tokens=3, cached_tokens=5),
            ),
        ),
        (
            _done("cancelled", status_details={"reason": "client_cancelled"}),
            ResponseDone(
                response_id="resp_1",
                status=ResponseStatus.CANCELLED,
                reason="client_cancelled",
            ),
        ),
        (
            {"type": "response.cancelled", "response_id": "resp_1"},
            ResponseDone(response_id="resp_1", status=ResponseStatus.CANCELLED),
        ),
        (
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "code": "conversation_already_has_active_response",
                    "message": "Conversation already has an active response: resp_0",
                    "event_id": "r1",
                },
            },
            ResponseRefused(request_id="r1"),
        ),
        (
            {
                "type": "error",
                "error": {
                    "code": "conversation_already_has_active_response",
                    "event_id": None,
                },
            },
            ResponseRefused(request_id=None),
        ),
        (
            {"type": "error", "error": {"code": "response_cancel_not_active"}},
            NothingToCancel(),
        ),
    ],
)
def test_one_frame_one_event(frame: dict[str, Any], event: RealtimeEvent) -> None:
    """The table of names, GA and beta."""
    assert _events(frame) == [event]


@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"type": None},
        {"type": "something.new", "response_id": "resp_1"},
        {"type": "conversation.item.added", "item": _call_item()},
        {"type": "conversation.item.created", "item": _call_item()},
        {"type": "conversation.item.done", "item": _call_item()},
        {"type": "response.function_call_arguments.delta", "delta": '{"ta'},
        {
            "type": "rate_limits.updated",
            "rate_limits": [{"name": None, "limit": None, "reset_seconds": None}],
        },
        {"type": "rate_limits.updated", "rate_limits": None},
        {"type": "response.output_text.delta", "delta": ""},
        {"type": "response.output_text.delta", "delta": None},
        {"type": "response.output_text.done", "text": ""},
        {"type": "response.output_item.done", "item": None},
        {
            "type": "response.output_item.done",
            "item": {"type": "function_call", "call_id": "a", "name": None},
        },
    ],
)
def test_unknown_empty_and_broken_frames_mean_nothing(frame: dict[str, Any]) -> None:
    """Replayed history comes back as conversation items: it is no new output."""
    assert _events(frame) == []


@pytest.mark.parametrize(
    "data", ["", "no json", "[]", "null", b"\xff\xfe", "<html><body>hi</body></html>"]
)
def test_what_is_no_json_object_is_a_protocol_error(data: str | bytes) -> None:
    """A web page or half a frame is no event."""
    with pytest.raises(ModelError) as caught:
        _dialect().decode(data)
    assert caught.value.kind is ModelErrorKind.PROTOCOL


def test_binary_frames_are_decoded_too() -> None:
    """JSON in a binary frame is JSON."""
    data = json.dumps({"type": "response.created", "response": {"id": "é"}}).encode()
    assert _dialect().decode(data).events == (ResponseStarted(response_id="é"),)


def test_a_call_carried_by_three_frames_is_reported_once() -> None:
    """[13] Arguments done, item done, response done: one call."""
    events = _events(
        _CREATED,
        {
            "type": "response.function_call_arguments.done",
            "response_id": "resp_1",
            "item_id": "item_c",
            "call_id": "call_1",
            "name": "create_agent_task",
            "arguments": '{"task":"x"}',
        },
        {
            "type": "response.output_item.done",
            "response_id": "resp_1",
            "item": _call_item(),
        },
        _done(output=[_call_item()]),
    )
    assert events == [
        ResponseStarted(response_id="resp_1"),
        ToolCallReady(response_id="resp_1", call=_CALL),
        ResponseDone(response_id="resp_1", status=ResponseStatus.COMPLETED),
    ]


def test_two_parallel_calls_of_one_tool_are_both_reported() -> None:
    """[23] Told apart by id, not by name."""
    events = _events(
        _CREATED, _done(output=[_call_item("a"), _call_item("b"), _call_item("a")])
    )
    calls = [event.call.call_id for event in events if isinstance(event, ToolCallReady)]
    assert calls == ["a", "b"]


def test_the_beta_gives_a_calls_name_only_when_it_adds_the_item() -> None:
    """[O7] arguments.done without a name."""
    events = _events(
        _CREATED,
        {
            "type": "response.output_item.added",
            "response_id": "resp_1",
            "item": _call_item(arguments=""),
        },
        {
            "type": "response.function_call_arguments.done",
            "response_id": "resp_1",
            "item_id": "item_c",
            "call_id": "call_1",
            "arguments": '{"task":"x"}',
        },
    )
    assert events[1:] == [ToolCallReady(response_id="resp_1", call=_CALL)]


@pytest.mark.parametrize(
    ("deltas", "texts"),
    [
        (["a\\ud83d", "\\ude00b"], ["a", "😀b"]),
        (["a\\ud83d\\ude00"], ["a😀"]),
        (["\\ude00"], ["\ufffd"]),
        (["\\ud83d", "x"], ["\ufffdx"]),
    ],
)
def test_characters_cut_in_two_are_joined(deltas: list[str], texts: list[str]) -> None:
    """A server that cuts its text into UTF-16 units."""
    dialect = _dialect()
    frames = [
        f'{{"type":"response.output_text.delta","delta":"{delta}"}}' for delta in deltas
    ]
    events = [event for frame in frames for event in dialect.decode(frame).events]
    assert [event.text for event in events if isinstance(event, TextDelta)] == texts


@pytest.mark.parametrize(
    ("arguments", "raw"),
    [("", ""), (None, ""), ("null", "null"), ("{", "{"), ({"a": 1}, '{"a": 1}')],
)
def test_arguments_stay_as_the_model_wrote_them(arguments: Any, raw: str) -> None:
    """[O3] Broken arguments are for the tool runner to judge."""
    events = _events(
        {
            "type": "response.output_item.done",
            "response_id": "resp_1",
            "item": _call_item(arguments=arguments),
        }
    )
    assert [
        event.call.arguments for event in events if isinstance(event, ToolCallReady)
    ] == [raw]


def test_a_server_without_deltas_gives_its_text_at_the_end() -> None:
    """Only response.done holds the text."""
    message = {
        "id": "i",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hello."}],
    }
    assert _events(_CREATED, _done(output=[message])) == [
        ResponseStarted(response_id="resp_1"),
        TextFinal(response_id="resp_1", item_id="i", text="Hello."),
        ResponseDone(response_id="resp_1", status=ResponseStatus.COMPLETED),
    ]


def test_text_already_streamed_is_not_repeated_at_the_end() -> None:
    """The output of response.done repeats what was streamed."""
    message = {
        "id": "i",
        "type": "message",
        "content": [{"type": "output_text", "text": "Hello."}],
    }
    events = _events(
        _CREATED,
        {
            "type": "response.output_text.delta",
            "response_id": "resp_1",
            "delta": "Hello.",
        },
        _done(output=[message]),
    )
    assert [type(event) for event in events] == [
        ResponseStarted,
        TextDelta,
        ResponseDone,
    ]


@pytest.mark.parametrize(
    ("status", "details", "kind"),
    [
        (
            "failed",
            {"error": {"type": "x", "code": "rate_limit_exceeded"}},
            ModelErrorKind.RATE_LIMITED,
        ),
        ("failed", {"error": {"code": "insufficient_quota"}}, ModelErrorKind.QUOTA),
        ("failed", {"error": {"type": "server_error"}}, ModelErrorKind.SERVER),
        ("failed", None, ModelErrorKind.SERVER),
        ("a new status", None, ModelErrorKind.SERVER),
        ("incomplete", {"reason": "max_output_tokens"}, ModelErrorKind.BAD_REQUEST),
        ("incomplete", {"reason": "content_filter"}, ModelErrorKind.BAD_REQUEST),
    ],
)
def test_responses_that_end_badly_say_why(
    status: str, details: dict[str, Any] | None, kind: ModelErrorKind
) -> None:
    """[O8] Failed and incomplete have a class."""
    (done,) = _events(_done(status, status_details=details))
    assert isinstance(done, ResponseDone)
    assert done.failure is not None
    assert done.failure.kind is kind
    assert done.status in (ResponseStatus.FAILED, ResponseStatus.INCOMPLETE)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (
            {"type": "invalid_request_error", "code": "invalid_api_key"},
            "authentication",
        ),
        (
            {"type": "invalid_request_error", "message": "Incorrect API key provided"},
            "authentication",
        ),
        ({"type": "invalid_request_error", "code": "model_not_found"}, "model_unknown"),
        (
            {"type": "invalid_request_error", "code": "inference_rate_limit_exceeded"},
            "rate_limited",
        ),
        ({"type": "invalid_request_error", "code": "unknown_parameter"}, "bad_request"),
        ({"type": "server_error", "code": None, "message": "oops"}, "server"),
        ({}, "server"),
    ],
)
def test_errors_are_classified(error: dict[str, Any], kind: str) -> None:
    """By code, then by words, then by type."""
    (event,) = _events({"type": "error", "error": {**error, "event_id": "c1"}})
    assert isinstance(event, SessionError)
    assert event.failure.kind == kind
    assert event.command_id == "c1"


def test_a_key_that_the_server_repeats_is_taken_out() -> None:
    """No message holds the key."""
    (event,) = _events(
        {"type": "error", "error": {"message": f"Incorrect API key provided: {_KEY}"}}
    )
    assert isinstance(event, SessionError)
    assert _KEY not in event.failure.message
    closed = _dialect().closed(1008, f"bad key {_KEY}")
    assert closed.failure is not None
    assert _KEY not in closed.failure.message


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (1006, "", ModelErrorKind.NETWORK),
        (4000, "invalid_request_error.invalid_model", ModelErrorKind.MODEL_UNKNOWN),
        (1007, "Request contains an invalid argument", ModelErrorKind.BAD_REQUEST),
        (1007, "API key expired", ModelErrorKind.AUTHENTICATION),
        (1011, "quota exceeded", ModelErrorKind.QUOTA),
        (1011, "Internal error", ModelErrorKind.SERVER),
        (3000, "", ModelErrorKind.AUTHENTICATION),
        (1001, "going away", ModelErrorKind.NETWORK),
    ],
)
def test_a_close_is_judged_by_its_reason_first(
    code: int, reason: str, kind: ModelErrorKind
) -> None:
    """[20] The codes alone do not tell a bad key from a bad frame."""
    closed = _dialect().closed(code, reason)
    assert (closed.code, closed.reason, closed.expired) == (code, reason, False)
    assert closed.failure is not None
    assert closed.failure.kind is kind
    assert str(code) in closed.failure.message


@pytest.mark.parametrize("code", [1000, 1001])
def test_expiry_is_no_failure(code: int) -> None:
    """[5] [O9] Closed with 1001 or 1000 after sixty minutes."""
    reason = "Your session hit the maximum duration of 60 minutes."
    assert _dialect().closed(code, reason) == Closed(
        code=code, reason=reason, expired=True
    )


def test_expiry_announced_by_an_error_only() -> None:
    """[O9] session_expired, then a close without a reason."""
    dialect = _dialect()
    dialect.decode(json.dumps({"type": "error", "error": {"code": "session_expired"}}))
    assert dialect.closed(1001, "").expired


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "type", "output", "status", "content", "text", "name"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(
            ["response", "item", "error", "delta", "text", "arguments", "call_id"]
        ),
        _JSON,
        max_size=5,
    ),
    st.sampled_from(
        [
            "session.created",
            "session.updated",
            "response.created",
            "response.done",
            "response.cancelled",
            "response.output_item.added",
            "response.output_item.done",
            "response.function_call_arguments.done",
            "response.output_text.delta",
            "response.text.done",
            "error",
        ]
    ),
)
def test_no_shape_of_a_known_frame_breaks_the_session(
    fields: dict[str, Any], name: str
) -> None:
    """Any value in any known place is survived."""
    decoded = _dialect().decode(json.dumps({**fields, "type": name}))
    assert all(len(frame) for frame in decoded.replies)
    assert len(decoded.events) <= 8
