"""The realtime server refuses what the real one refuses, and says it the same way."""

import base64
from typing import Any

import pytest

from simulator.models.brain.thoughts import Reply

from .support import BEARER, KEY, TOOL, connected, serving, session, user

PCM_50_MS = base64.b64encode(bytes(2400)).decode()


async def test_the_first_event_is_session_created_with_the_default_session() -> None:
    """The first event is session created with the default session."""
    async with serving() as (client, _), connected(client) as socket:
        event = await socket.next()
    assert event["type"] == "session.created"
    assert event["session"]["type"] == "realtime"
    assert event["session"]["model"] == "gpt-realtime"
    assert event["session"]["output_modalities"] == ["audio"]
    assert event["session"]["audio"]["input"]["turn_detection"]["type"] == "server_vad"


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer sk-wrong-0123456789"}]
)
async def test_an_upgrade_without_the_right_key_is_401_json(
    headers: dict[str, str],
) -> None:
    """An upgrade without the right key is 401 JSON."""
    async with serving() as (client, _):
        response = await client.get("/v1/realtime?model=gpt-realtime", headers=headers)
        body = await response.json()
    assert response.status == 401
    assert body["error"]["type"] == "invalid_request_error"
    assert "sk-wrong-0123456789" not in str(body)


async def test_an_unknown_model_gets_an_error_and_close_4000() -> None:
    """An unknown model gets an error and close 4000."""
    async with (
        serving() as (client, _),
        connected(client, model="gpt-nothing") as socket,
    ):
        event = await socket.next()
        code, reason = await socket.closed()
    assert event["error"]["code"] == "invalid_model"
    assert (code, reason) == (4000, "invalid_request_error.invalid_model")


async def test_the_beta_header_gets_an_error_that_explains_it_and_close_4000() -> None:
    """The beta header gets an error that explains it and close 4000."""
    async with (
        serving() as (client, _),
        connected(client, OpenAI_Beta="realtime=v1") as socket,
    ):
        event = await socket.next()
        code, reason = await socket.closed()
    assert event["error"]["code"] == "beta_api_shape_disabled"
    assert "OpenAI-Beta" in event["error"]["message"]
    assert (code, reason) == (4000, "invalid_request_error.beta_api_shape_disabled")


REFUSED_UPDATES: list[tuple[Any, str, str]] = [
    ({"instructions": "x"}, "missing_required_parameter", "session.type"),
    (
        {"type": "realtime", "modalities": ["text"]},
        "unknown_parameter",
        "session.modalities",
    ),
    ({"type": "realtime", "voice": "alloy"}, "unknown_parameter", "session.voice"),
    (
        {"type": "realtime", "temperature": 0.8},
        "unknown_parameter",
        "session.temperature",
    ),
    (
        {"type": "realtime", "input_audio_format": "pcm16"},
        "unknown_parameter",
        "session.input_audio_format",
    ),
    (
        {"type": "realtime", "output_modalities": ["text", "audio"]},
        "invalid_value",
        "session.output_modalities",
    ),
    (
        {
            "type": "realtime",
            "tools": [{"type": "function", "function": {"name": "x"}}],
        },
        "unknown_parameter",
        "session.tools[0].function",
    ),
    (
        {"type": "realtime", "tools": [{**TOOL, "meta": 1}]},
        "unknown_parameter",
        "session.tools[0].meta",
    ),
    (
        {"type": "realtime", "tools": [{**TOOL, "name": "3D Drucker an"}]},
        "invalid_value",
        "session.tools[0].name",
    ),
    (
        {"type": "realtime", "tools": [{**TOOL, "parameters": {"type": "string"}}]},
        "invalid_function_parameters",
        "session.tools[0].parameters",
    ),
    (
        {"type": "realtime", "tools": [{**TOOL, "parameters": {"type": "object"}}]},
        "invalid_function_parameters",
        "session.tools[0].parameters",
    ),
    (
        {"type": "realtime", "tools": [TOOL, TOOL]},
        "invalid_value",
        "session.tools[1].name",
    ),
    (
        {"type": "realtime", "tool_choice": "sometimes"},
        "invalid_value",
        "session.tool_choice",
    ),
    ({"type": "realtime", "instructions": 7}, "invalid_type", "session.instructions"),
    (
        {"type": "realtime", "max_output_tokens": 5000},
        "integer_above_max_value",
        "session.max_output_tokens",
    ),
    (
        {
            "type": "realtime",
            "audio": {"input": {"format": {"type": "audio/pcm", "rate": 16000}}},
        },
        "invalid_value",
        "session.audio.input.format.rate",
    ),
    (
        {"type": "realtime", "audio": {"output": {"voice": "darth"}}},
        "invalid_value",
        "session.audio.output.voice",
    ),
    (
        {"type": "realtime", "audio": {"output": {"speed": 3}}},
        "decimal_above_max_value",
        "session.audio.output.speed",
    ),
    (
        {"type": "realtime", "model": "gpt-realtime-2"},
        "cannot_update_model",
        "session.model",
    ),
    (
        {"type": "realtime", "reasoning": {"effort": "low"}},
        "unsupported_parameter",
        "session.reasoning",
    ),
    ({"type": "transcription"}, "invalid_session_type", "session.type"),
]


@pytest.mark.parametrize(("change", "code", "param"), REFUSED_UPDATES)
async def test_a_wrong_session_update_is_refused_and_nothing_of_it_applies(
    change: dict[str, Any], code: str, param: str
) -> None:
    """A wrong session update is refused and nothing of it applies."""
    async with serving() as (client, _), connected(client) as socket:
        before = (await socket.next())["session"]
        error = await socket.ask("session.update", event_id="mine", session=change)
        after = await socket.ask("session.update", session={"type": "realtime"})
    assert error["type"] == "error"
    assert (error["error"]["code"], error["error"]["param"]) == (code, param)
    assert error["error"]["event_id"] == "mine"
    assert error["error"]["type"] == "invalid_request_error"
    assert after["type"] == "session.updated"
    assert after["session"] == before


async def test_an_update_changes_only_what_is_present() -> None:
    """An update changes only what is present."""
    async with serving() as (client, _), connected(client) as socket:
        before = (await socket.next())["session"]
        change = {
            "type": "realtime",
            "output_modalities": ["text"],
            "instructions": "",
            "tools": [TOOL],
            "tool_choice": "auto",
            "audio": {
                "input": {
                    "noise_reduction": None,
                    "transcription": None,
                    "turn_detection": {"type": "semantic_vad", "eagerness": "low"},
                }
            },
        }
        after = (await socket.ask("session.update", session=change))["session"]
    assert after["instructions"] == ""
    assert after["tools"] == [TOOL]
    assert after["audio"]["output"] == before["audio"]["output"]
    assert after["audio"]["input"]["format"] == {"type": "audio/pcm", "rate": 24000}
    assert after["audio"]["input"]["turn_detection"] == {
        "type": "semantic_vad",
        "eagerness": "low",
        "create_response": True,
        "interrupt_response": True,
    }


ITEM = {"role": "user", "type": "message"}
REFUSED_EVENTS: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("conversation.item.create", {}, "missing_required_parameter", "item"),
    (
        "conversation.item.create",
        {"item": {"type": "poem"}},
        "invalid_value",
        "item.type",
    ),
    (
        "conversation.item.create",
        {"item": {"type": "message", "content": []}},
        "missing_required_parameter",
        "item.role",
    ),
    (
        "conversation.item.create",
        {"item": {**ITEM, "content": []}},
        "empty_array",
        "item.content",
    ),
    (
        "conversation.item.create",
        {"item": {**ITEM, "content": [{"type": "input_text"}]}},
        "missing_required_parameter",
        "item.content[0].text",
    ),
    (
        "conversation.item.create",
        {"item": {**ITEM, "content": [{"type": "input_text", "text": ""}]}},
        "empty_string",
        "item.content[0].text",
    ),
    (
        "conversation.item.create",
        {"item": {**ITEM, "content": [{"type": "text", "text": "beta"}]}},
        "invalid_value",
        "item.content[0].type",
    ),
    (
        "conversation.item.create",
        {
            "item": {
                **ITEM,
                "role": "assistant",
                "content": [{"type": "input_text", "text": "x"}],
            }
        },
        "invalid_value",
        "item.content[0].type",
    ),
    (
        "conversation.item.create",
        {
            "item": {
                **ITEM,
                "role": "system",
                "content": [{"type": "input_image", "text": "x"}],
            }
        },
        "invalid_value",
        "item.content[0].type",
    ),
    (
        "conversation.item.create",
        {
            "item": {
                **ITEM,
                "content": [
                    {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
                ],
            }
        },
        "invalid_value",
        "item.content[0].image_url",
    ),
    (
        "conversation.item.create",
        {"item": user("x", id="i" * 33)},
        "string_above_max_length",
        "item.id",
    ),
    (
        "conversation.item.create",
        {
            "item": {
                "type": "function_call_output",
                "call_id": "call_never",
                "output": "{}",
            }
        },
        "invalid_tool_call_id",
        None,
    ),
    (
        "conversation.item.create",
        {"item": {"type": "function_call_output", "call_id": "a/b", "output": "{}"}},
        "invalid_value",
        "item.call_id",
    ),
    (
        "conversation.item.create",
        {
            "item": {
                "type": "function_call_output",
                "call_id": "a",
                "output": {"ok": True},
            }
        },
        "invalid_type",
        "item.output",
    ),
    (
        "conversation.item.create",
        {"item": user("x"), "previous_item_id": "item_none"},
        "item_create_invalid_previous_item_id",
        "previous_item_id",
    ),
    (
        "conversation.item.delete",
        {"item_id": "item_none"},
        "item_delete_invalid_item_id",
        "item_id",
    ),
    (
        "conversation.item.retrieve",
        {"item_id": "item_none"},
        "item_retrieve_invalid_item_id",
        "item_id",
    ),
    (
        "conversation.item.truncate",
        {"item_id": "item_none", "content_index": 0, "audio_end_ms": 1},
        "item_truncate_invalid_item_id",
        "item_id",
    ),
    ("response.cancel", {}, "response_cancel_not_active", None),
    (
        "response.cancel",
        {"response_id": "resp_none"},
        "response_cancel_not_active",
        None,
    ),
    (
        "response.create",
        {"response": {"modalities": ["text"]}},
        "unknown_parameter",
        "response.modalities",
    ),
    (
        "response.create",
        {"response": {"metadata": {str(n): "x" for n in range(17)}}},
        "invalid_value",
        "response.metadata",
    ),
    (
        "response.create",
        {"response": {"conversation": "other"}},
        "invalid_value",
        "response.conversation",
    ),
    ("input_audio_buffer.commit", {}, "input_audio_buffer_commit_empty", None),
    ("input_audio_buffer.append", {"audio": "not base64!"}, "invalid_value", "audio"),
    ("input_audio_buffer.append", {}, "missing_required_parameter", "audio"),
    ("output_audio_buffer.clear", {}, "invalid_value", "type"),
    ("session.finish", {}, "invalid_value", "type"),
    ("response.create", {"colour": "red"}, "unknown_parameter", "colour"),
]


@pytest.mark.parametrize(("kind", "values", "code", "param"), REFUSED_EVENTS)
async def test_a_wrong_event_is_refused_and_the_session_stays(
    kind: str, values: dict[str, Any], code: str, param: str | None
) -> None:
    """A wrong event is refused and the session stays."""
    async with serving() as (client, _), session(client) as socket:
        error = await socket.ask(kind, event_id="mine", **values)
        after = await socket.ask("conversation.item.create", item=user("still here"))
    assert error["type"] == "error", error
    assert (error["error"]["code"], error["error"]["param"]) == (code, param)
    assert error["error"]["event_id"] == "mine"
    assert after["type"] == "conversation.item.added"


@pytest.mark.parametrize("text", ["{", "[1]", '"hello"', ""])
async def test_malformed_json_is_an_error_and_the_session_stays(text: str) -> None:
    """Malformed JSON is an error and the session stays."""
    async with serving() as (client, _), session(client) as socket:
        await socket.socket.send_str(text)
        error = await socket.next()
        after = await socket.ask("conversation.item.create", item=user("still here"))
    assert error["error"]["code"] == "invalid_json"
    assert error["error"]["event_id"] is None
    assert after["type"] == "conversation.item.added"


async def test_an_event_without_a_type_is_refused() -> None:
    """An event without a type is refused."""
    async with serving() as (client, _), session(client) as socket:
        await socket.socket.send_str('{"event_id": "e1"}')
        error = await socket.next()
    assert error["error"]["code"] == "missing_required_parameter"
    assert error["error"]["param"] == "type"


async def test_an_id_may_be_used_once_and_items_keep_their_order() -> None:
    """An id may be used once and items keep their order."""
    async with serving() as (client, _), session(client) as socket:
        first = await socket.ask("conversation.item.create", item=user("one", id="i1"))
        done = await socket.next()
        again = await socket.ask("conversation.item.create", item=user("two", id="i1"))
        root = await socket.ask(
            "conversation.item.create",
            item=user("zero", id="i0"),
            previous_item_id="root",
        )
        await socket.next()
        last = await socket.ask(
            "conversation.item.create", item=user("end"), previous_item_id=None
        )
        await socket.next()
        found = await socket.ask("conversation.item.retrieve", item_id="i1")
        gone = await socket.ask("conversation.item.delete", item_id="i1")
    assert (first["previous_item_id"], first["item"]["status"]) == (None, "completed")
    assert done["type"] == "conversation.item.done"
    assert again["error"]["param"] == "item.id"
    assert root["previous_item_id"] is None
    assert last["previous_item_id"] == "i1"
    assert found["item"]["content"][0]["text"] == "one"
    assert (gone["type"], gone["item_id"]) == ("conversation.item.deleted", "i1")


async def test_a_commit_needs_100_ms_of_sound() -> None:
    """A commit needs 100 ms of sound."""
    async with serving() as (client, _), session(client) as socket:
        await socket.send("input_audio_buffer.append", audio=PCM_50_MS)
        short = await socket.ask("input_audio_buffer.commit")
        await socket.send("input_audio_buffer.append", audio=PCM_50_MS)
        long = await socket.ask("input_audio_buffer.commit")
        items = [await socket.next(), await socket.next()]
        cleared = await socket.ask("input_audio_buffer.clear")
    assert short["error"]["code"] == "input_audio_buffer_commit_empty"
    assert "50.00ms" in short["error"]["message"]
    assert long["type"] == "input_audio_buffer.committed"
    assert [item["type"] for item in items] == [
        "conversation.item.added",
        "conversation.item.done",
    ]
    assert items[0]["item"]["id"] == long["item_id"]
    assert cleared["type"] == "input_audio_buffer.cleared"


async def test_truncating_past_the_sound_is_refused() -> None:
    """Truncating past the sound is refused."""
    async with (
        serving(Reply(text="One two three.")) as (client, _),
        session(client, modalities="audio") as socket,
    ):
        await socket.send("response.create")
        done = (await socket.until("response.done"))[-1]
        item = done["response"]["output"][0]["id"]
        long = await socket.ask(
            "conversation.item.truncate",
            item_id=item,
            content_index=0,
            audio_end_ms=5000,
        )
        fits = await socket.ask(
            "conversation.item.truncate",
            item_id=item,
            content_index=0,
            audio_end_ms=120,
        )
        voice = await socket.ask(
            "session.update",
            session={"type": "realtime", "audio": {"output": {"voice": "cedar"}}},
        )
    assert long["error"]["code"] == "invalid_value"
    assert (
        long["error"]["message"]
        == "Audio content of 180ms is already shorter than 5000ms"
    )
    assert fits["type"] == "conversation.item.truncated"
    assert voice["error"]["code"] == "cannot_update_voice"


async def test_the_key_is_never_recorded() -> None:
    """The key is never recorded."""
    async with serving() as (client, _):
        await client.get(
            "/v1/realtime?model=gpt-realtime", headers={"Authorization": "Bearer no"}
        )
        async with connected(client) as socket:
            await socket.next()
        await client.post("/v1/chat/completions", headers=BEARER, json={"model": "x"})
        shown = await (await client.get("/control/models")).text()
    assert "session.created" in shown
    assert KEY not in shown
