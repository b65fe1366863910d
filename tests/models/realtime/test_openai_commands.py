"""Every frame that we send: exact, and valid for the vendor's own types with nothing extra."""

from typing import Any

from openai.types.realtime.realtime_client_event import RealtimeClientEvent
from pydantic import BaseModel, TypeAdapter, ValidationError
import pytest

from custom_components.aiden_duplex.models.errors import ModelError, ModelErrorKind
from custom_components.aiden_duplex.models.realtime.openai import OpenAIDialect
from custom_components.aiden_duplex.models.realtime.openai_commands import (
    authorization,
    realtime_url,
    session_update,
)
from custom_components.aiden_duplex.models.realtime.session import (
    AddNotice,
    AddText,
    AddToolOutput,
    AssistantText,
    CallWithOutput,
    CancelResponse,
    Command,
    CreateResponse,
    Modality,
    Notice,
    Replay,
    SessionConfig,
    UserText,
)
from custom_components.aiden_duplex.models.tools import (
    ToolCall,
    ToolSpec,
    object_schema,
)

_EVENT: TypeAdapter[Any] = TypeAdapter(RealtimeClientEvent)

_CONFIG = SessionConfig(
    instructions="Be brief.",
    tools=(
        ToolSpec(
            name="cancel_agent_task",
            description="Stops work.",
            parameters=object_schema(
                {"task_id": {"type": "string"}}, required=["task_id"]
            ),
        ),
    ),
)


def _extras(value: object, path: str = "") -> list[str]:
    """Return the fields that the vendor's types do not know."""
    found: list[str] = []
    if isinstance(value, BaseModel):
        found += [f"{path}.{name}" for name in value.model_extra or {}]
        for name in type(value).model_fields:
            found += _extras(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += _extras(item, f"{path}[{index}]")
    return found


def _check(frame: dict[str, Any]) -> None:
    event = _EVENT.validate_python(frame)
    assert event.type == frame["type"]
    assert _extras(event) == []


def test_a_beta_field_would_be_noticed_by_these_tests() -> None:
    """The check itself can fail."""
    frame = session_update(_CONFIG)
    frame["session"]["modalities"] = ["text"]
    with pytest.raises((AssertionError, ValidationError)):
        _check(frame)


def test_session_update_is_strict_ga() -> None:
    """Exactly the fields of GA, none of the beta."""
    frame = session_update(_CONFIG)
    _check(frame)
    assert frame == {
        "type": "session.update",
        "event_id": "session",
        "session": {
            "type": "realtime",
            "output_modalities": ["text"],
            "instructions": "Be brief.",
            "tools": [
                {
                    "type": "function",
                    "name": "cancel_agent_task",
                    "description": "Stops work.",
                    "parameters": {
                        "type": "object",
                        "properties": {"task_id": {"type": "string"}},
                        "required": ["task_id"],
                        "additionalProperties": False,
                    },
                }
            ],
            "tool_choice": "auto",
        },
    }


def test_a_spoken_session_asks_for_audio_alone() -> None:
    """Never text and audio together."""
    frame = session_update(SessionConfig(instructions="", modality=Modality.AUDIO))
    _check(frame)
    assert frame["session"]["output_modalities"] == ["audio"]
    assert frame["session"]["tools"] == []


@pytest.mark.parametrize(
    ("command", "frames"),
    [
        (
            AddText(id="c1", text="turn on airplane mode"),
            [
                {
                    "type": "conversation.item.create",
                    "event_id": "c1",
                    "item": {
                        "type": "message",
                        "role": "user",
                        "content": [
                            {"type": "input_text", "text": "turn on airplane mode"}
                        ],
                    },
                }
            ],
        ),
        (
            AddNotice(id="c2", notice=Notice(label="task update", text="done")),
            [
                {
                    "type": "conversation.item.create",
                    "event_id": "c2",
                    "item": {
                        "type": "message",
                        "role": "user",
                        "content": [
                            {"type": "input_text", "text": "[TASK UPDATE]: done"}
                        ],
                    },
                }
            ],
        ),
        (
            AddToolOutput(id="c3", call_id="call_1", output='{"status":"queued"}'),
            [
                {
                    "type": "conversation.item.create",
                    "event_id": "c3",
                    "item": {
                        "type": "function_call_output",
                        "call_id": "call_1",
                        "output": '{"status":"queued"}',
                    },
                }
            ],
        ),
        (
            CreateResponse(id="r1"),
            [
                {
                    "type": "response.create",
                    "event_id": "r1",
                    "response": {"metadata": {"request_id": "r1"}},
                }
            ],
        ),
        (
            CreateResponse(id="r2", use_tools=False),
            [
                {
                    "type": "response.create",
                    "event_id": "r2",
                    "response": {
                        "metadata": {"request_id": "r2"},
                        "tool_choice": "none",
                    },
                }
            ],
        ),
        (
            CancelResponse(id="x1", response_id="resp_1"),
            [
                {
                    "type": "response.cancel",
                    "event_id": "x1",
                    "response_id": "resp_1",
                }
            ],
        ),
        (
            CancelResponse(id="x2"),
            [{"type": "response.cancel", "event_id": "x2"}],
        ),
        (
            Replay(
                id="p",
                items=(
                    UserText(text="hello"),
                    AssistantText(text="hi"),
                    CallWithOutput(
                        call=ToolCall(call_id="a", name="get_x", arguments="{}"),
                        output='{"x":1}',
                    ),
                ),
            ),
            [
                {
                    "type": "conversation.item.create",
                    "event_id": "p.1",
                    "item": {
                        "type": "message",
                        "role": "user",
                        "content": [{"type": "input_text", "text": "hello"}],
                    },
                },
                {
                    "type": "conversation.item.create",
                    "event_id": "p.2",
                    "item": {
                        "type": "message",
                        "role": "assistant",
                        "content": [{"type": "output_text", "text": "hi"}],
                    },
                },
                {
                    "type": "conversation.item.create",
                    "event_id": "p.3",
                    "item": {
                        "type": "function_call",
                        "call_id": "a",
                        "name": "get_x",
                        "arguments": "{}",
                    },
                },
                {
                    "type": "conversation.item.create",
                    "event_id": "p.4",
                    "item": {
                        "type": "function_call_output",
                        "call_id": "a",
                        "output": '{"x":1}',
                    },
                },
            ],
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_commands_become_exact_ga_frames(
    command: Command, frames: list[dict[str, Any]]
) -> None:
    """Every command, letter by letter, and valid for the vendor."""
    encoded = OpenAIDialect(_CONFIG).encode(command)
    assert list(encoded) == frames
    for frame in encoded:
        _check(frame)


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://api.openai.com/v1", "wss://api.openai.com/v1/realtime?model=gpt"),
        ("https://api.openai.com/v1/", "wss://api.openai.com/v1/realtime?model=gpt"),
        ("http://127.0.0.1:1234/v1", "ws://127.0.0.1:1234/v1/realtime?model=gpt"),
        ("ws://127.0.0.1:1234/v1", "ws://127.0.0.1:1234/v1/realtime?model=gpt"),
        ("wss://host/realtime", "wss://host/realtime?model=gpt"),
        ("http://host", "ws://host/realtime?model=gpt"),
        (
            "https://host/v1?api-version=2026-01&x=",
            "wss://host/v1/realtime?api-version=2026-01&x=&model=gpt",
        ),
        ("https://host/v1?model=other", "wss://host/v1/realtime?model=gpt"),
        ("  https://host/v1 ", "wss://host/v1/realtime?model=gpt"),
    ],
)
def test_address(base_url: str, url: str) -> None:
    """Scheme, path and query come out right."""
    assert realtime_url(base_url, "gpt") == url


def test_a_models_name_is_escaped() -> None:
    """A model's name is no part of the address."""
    assert realtime_url("http://h/v1", "a/b&c") == "ws://h/v1/realtime?model=a%2Fb%26c"


@pytest.mark.parametrize(
    "base_url", ["", "api.openai.com/v1", "ftp://host/v1", "http://", "http://[bad"]
)
def test_what_is_no_address_is_refused_with_a_remedy(base_url: str) -> None:
    """A typing error gets a sentence."""
    with pytest.raises(ModelError, match="must begin with http://") as caught:
        realtime_url(base_url, "gpt")
    assert caught.value.kind is ModelErrorKind.BAD_REQUEST


@pytest.mark.parametrize("key", ["sk-1", "Bearer sk-1", "  Bearer  sk-1 "])
def test_a_key_may_be_pasted_with_bearer(key: str) -> None:
    """The word is not sent twice."""
    assert authorization(key) == {"Authorization": "Bearer sk-1"}


def test_a_server_without_keys_gets_no_header() -> None:
    """Local servers want none."""
    assert authorization(" ") == {}


@pytest.mark.parametrize(
    ("label", "content"),
    [
        ("task update", "[TASK UPDATE]: x"),
        ("SYSTEM]: x [", "[SYSTEM X]: x"),
        ("", "[SYSTEM]: x"),
        ("äöü", "[SYSTEM]: x"),
        ("a" * 50, f"[{'A' * 32}]: x"),
    ],
)
def test_labels_cannot_leave_their_brackets(label: str, content: str) -> None:
    """Seed 2: letters, digits, space, hyphen, underscore; 32 at most."""
    assert Notice(label=label, text="x").content == content
