"""The realtime server's events come in the real order and in the vendor's shape."""

from typing import Any

from openai.types.realtime import RealtimeServerEvent
from pydantic import BaseModel, TypeAdapter
import pytest

from simulator.models.brain.thoughts import Call, Question, Reply

from .support import Frame, connected, kinds, serving, session, user

_SERVER_EVENT: TypeAdapter[Any] = TypeAdapter(RealtimeServerEvent)
_BEYOND_THE_SDK = {"object", "id", "expires_at"}
"""Fields of a session that the SDK's event does not name but the server sends."""
CALL = Reply(
    calls=(Call(name="create_agent_task", arguments={"task": "Öffne 12 Türen"}),)
)


def unknown_fields(value: Any, path: str = "") -> list[str]:
    """Return the fields that the vendor's model of an event does not know."""
    found: list[str] = []
    if isinstance(value, BaseModel):
        found += [
            f"{path}.{name}"
            for name in value.model_extra or {}
            if name not in _BEYOND_THE_SDK
        ]
        for name in type(value).model_fields:
            found += unknown_fields(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, list):
        for item in value:
            found += unknown_fields(item, f"{path}[]")
    return found


def check_shapes(frames: list[Frame]) -> None:
    """Assert that frames are the vendor's events, with ids of their own."""
    for frame in frames:
        assert unknown_fields(_SERVER_EVENT.validate_python(frame)) == [], frame["type"]
    ids = [frame["event_id"] for frame in frames]
    assert len(set(ids)) == len(ids)


async def test_a_text_turn_in_the_real_order() -> None:
    """A text turn in the real order."""
    async with (
        serving(Reply(text="I am on it now.")) as (client, script),
        session(client) as socket,
    ):
        await socket.ask("conversation.item.create", item=user("hi", id="u1"))
        await socket.next()
        await socket.send(
            "response.create", response={"metadata": {"request_id": "r1"}}
        )
        frames = await socket.until("response.done")
    assert kinds(frames) == [
        "response.created",
        "rate_limits.updated",
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    check_shapes(socket.seen)
    deltas = [f["delta"] for f in frames if f["type"] == "response.output_text.delta"]
    assert "".join(deltas) == "I am on it now."
    assert len(deltas) == 5
    created, done = frames[0]["response"], frames[-1]["response"]
    assert created["status"] == "in_progress"
    assert created["metadata"] == done["metadata"] == {"request_id": "r1"}
    assert done["status"] == "completed"
    assert done["output"][0]["content"] == [
        {"type": "output_text", "text": "I am on it now."}
    ]
    assert (
        done["usage"]["total_tokens"]
        == done["usage"]["input_tokens"] + done["usage"]["output_tokens"]
    )
    assert frames[3]["previous_item_id"] == "u1"
    assert [message.text for message in script.asked[0].messages][-1] == "hi"


async def test_a_spoken_turn_has_transcript_and_sound() -> None:
    """A spoken turn has transcript and sound."""
    async with (
        serving(Reply(text="Good night.")) as (client, _),
        session(client, modalities="audio") as socket,
    ):
        await socket.send("response.create")
        frames = await socket.until("response.done")
    check_shapes(socket.seen)
    names = kinds(frames)
    assert names[5] == "response.output_audio_transcript.delta"
    assert names[-6:] == [
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    assert frames[-1]["response"]["output"][0]["content"] == [
        {"type": "output_audio", "transcript": "Good night."}
    ]


async def test_a_tool_turn_and_its_continuation() -> None:
    """A tool turn and its continuation."""
    async with (
        serving(CALL, Reply(text="Okay.")) as (client, script),
        session(client) as socket,
    ):
        await socket.send("response.create")
        frames = await socket.until("response.done")
        item = frames[-1]["response"]["output"][0]
        output = {
            "type": "function_call_output",
            "call_id": item["call_id"],
            "output": "{}",
        }
        await socket.ask("conversation.item.create", item=output)
        await socket.next()
        await socket.send("response.create")
        second = await socket.until("response.done")
    check_shapes(socket.seen)
    assert kinds(frames) == [
        "response.created",
        "rate_limits.updated",
        "response.output_item.added",
        "conversation.item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    deltas = [f["delta"] for f in frames if f["type"].endswith("arguments.delta")]
    assert len(deltas) == 3
    assert "".join(deltas) == frames[-4]["arguments"] == '{"task": "Öffne 12 Türen"}'
    assert frames[-4]["name"] == "create_agent_task"
    assert item["status"] == "completed"
    assert second[-1]["response"]["output"][0]["content"][0]["text"] == "Okay."
    last = script.asked[-1].messages
    assert [m.role for m in last] == ["system", "assistant", "tool"]
    assert last[1].calls[0].call_id == last[2].call_id == item["call_id"]


async def test_text_and_a_call_in_one_response_are_two_items() -> None:
    """Text and a call in one response are two items."""
    both = Reply(text="One moment.", calls=CALL.calls)
    async with serving(both) as (client, _), session(client) as socket:
        await socket.send("response.create")
        done = (await socket.until("response.done"))[-1]
    assert [item["type"] for item in done["response"]["output"]] == [
        "message",
        "function_call",
    ]
    assert [
        f["output_index"]
        for f in socket.seen
        if f["type"] == "response.output_item.done"
    ] == [0, 1]


async def test_a_second_response_is_refused_with_its_event_id_and_the_first_goes_on() -> (
    None
):
    """A second response is refused with its event id and the first goes on."""
    async with (
        serving(Reply(text="word " * 30), delta_pace_s=0.01) as (client, _),
        session(client) as socket,
    ):
        await socket.send("response.create", event_id="first")
        created = await socket.next()
        await socket.send("response.create", event_id="second")
        frames = await socket.until("response.done")
    errors = [frame["error"] for frame in frames if frame["type"] == "error"]
    assert [e["code"] for e in errors] == ["conversation_already_has_active_response"]
    assert errors[0]["event_id"] == "second"
    assert created["response"]["id"] in errors[0]["message"]
    assert [f["type"] for f in frames].count("response.created") == 0
    assert frames[-1]["response"]["status"] == "completed"


async def test_a_response_beside_the_conversation_may_run_at_the_same_time() -> None:
    """A response beside the conversation may run at the same time."""
    async with (
        serving(Reply(text="word " * 20), delta_pace_s=0.005) as (client, script),
        session(client) as socket,
    ):
        await socket.send("response.create")
        await socket.send(
            "response.create",
            response={
                "conversation": "none",
                "input": [user("only this")],
                "tools": [],
            },
        )
        first = await socket.until("response.done")
        second = await socket.until("response.done")
        items = [f for f in socket.seen if f["type"] == "conversation.item.added"]
    assert {f["response"]["status"] for f in (first[-1], second[-1])} == {"completed"}
    assert len(items) == 1
    beside = next(q for q in script.asked if q.messages[-1].text == "only this")
    assert not beside.tools


@pytest.mark.parametrize(
    ("modalities", "part_done"),
    [
        ("text", "response.output_text.done"),
        ("audio", "response.output_audio_transcript.done"),
    ],
)
async def test_cancelling_sends_the_done_events_and_then_cancelled(
    modalities: str, part_done: str
) -> None:
    """Cancelling sends the done events and then cancelled."""
    async with (
        serving(Reply(text="word " * 200), delta_pace_s=0.01) as (client, _),
        session(client, modalities=modalities) as socket,
    ):
        await socket.send("response.create")
        await socket.until("response.content_part.added")
        await socket.until(
            "response.output_text.delta"
            if modalities == "text"
            else "response.output_audio.delta"
        )
        await socket.send("response.cancel", event_id="stop")
        frames = await socket.until("response.done")
        after = await socket.ask("response.cancel")
        await socket.send("response.create")
        again = (await socket.next())["type"]
    check_shapes(frames)
    names = [frame["type"] for frame in frames if not frame["type"].endswith(".delta")]
    assert names[-5:] == [
        part_done,
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    response = frames[-1]["response"]
    assert response["status"] == "cancelled"
    assert response["status_details"] == {
        "type": "cancelled",
        "reason": "client_cancelled",
    }
    assert response["output"][0]["status"] == "incomplete"
    assert after["error"]["code"] == "response_cancel_not_active"
    assert again == "response.created"


async def test_a_cancelled_call_ends_with_arguments_done_and_cancelled() -> None:
    """A cancelled call ends with arguments done and cancelled."""
    async with (
        serving(CALL, delta_pace_s=0.2) as (client, _),
        session(client) as socket,
    ):
        await socket.send("response.create")
        await socket.until("response.function_call_arguments.delta")
        await socket.send("response.cancel")
        frames = await socket.until("response.done")
    assert kinds(frames)[-4:] == [
        "response.function_call_arguments.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    assert frames[-2]["item"]["status"] == "incomplete"
    assert frames[-1]["response"]["status"] == "cancelled"


async def test_a_session_expires_with_an_error_and_close_1001() -> None:
    """A session expires with an error and close 1001."""
    async with serving(session_max_s=0.05) as (client, _), connected(client) as socket:
        created = await socket.next()
        expired = await socket.next()
        code, reason = await socket.closed()
    assert created["session"]["expires_at"] > 0
    assert expired["error"]["code"] == "session_expired"
    assert code == 1001
    assert "maximum duration" in reason


async def test_instructions_and_tool_choice_of_one_response_reach_the_brain() -> None:
    """Instructions and tool choice of one response reach the brain."""
    async with serving() as (client, script), session(client) as socket:
        await socket.send(
            "response.create",
            response={"instructions": "Be short.", "tool_choice": "none"},
        )
        await socket.until("response.done")
        await socket.send("response.create")
        await socket.until("response.done")
    first, second = script.asked
    assert (first.messages[0].text, dict(first.usable)) == ("Be short.", {})
    assert second.messages[0].text != "Be short."
    assert list(second.usable) == ["create_agent_task"]


async def test_the_server_says_goodbye_with_1001_when_it_ends() -> None:
    """The server says goodbye with 1001 when it ends."""
    async with serving() as (client, _):
        context = connected(client)
        socket = await context.__aenter__()
        await socket.next()
        await client.server.close()
        code, _reason = await socket.closed()
        await context.__aexit__(None, None, None)
    assert code == 1001


def test_a_question_without_usable_tools_is_known_from_its_choice() -> None:
    """A question without usable tools is known from its choice."""
    question = Question(messages=(), tools={}, tool_choice="none")
    assert not question.usable
