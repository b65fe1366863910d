"""Every fault that can be ordered of the realtime server happens as ordered."""

from typing import Any

import aiohttp
import pytest

from simulator.models.brain.thoughts import Call, Reply

from .support import BEARER, Client, Socket, connected, kinds, serving, session

CALL = Reply(calls=(Call(name="create_agent_task", arguments={"task": "x"}),))
TEXT = Reply(text="one two three four five six")


async def order(client: Client, **fault: Any) -> None:
    """Order a realtime fault."""
    response = await client.post("/control/models", json={"realtime": fault})
    assert response.status == 200, await response.text()


async def respond(socket: Socket) -> dict[str, Any]:
    """Ask for a response and return its end."""
    await socket.send("response.create", event_id="mine")
    response: dict[str, Any] = (await socket.until("response.done"))[-1]["response"]
    return response


@pytest.mark.parametrize(
    ("mode", "status"),
    [
        ("unauthorized", 401),
        ("forbidden", 403),
        ("not_found", 404),
        ("rate_limited", 429),
        ("unavailable", 503),
    ],
)
async def test_an_upgrade_is_refused_as_often_as_ordered(
    mode: str, status: int
) -> None:
    """An upgrade is refused as often as ordered."""
    async with serving() as (client, _):
        await order(client, mode=mode, times=1, retry_after_s=3)
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await client.ws_connect("/v1/realtime?model=gpt-realtime", headers=BEARER)
        async with connected(client) as socket:
            created = await socket.next()
    assert caught.value.status == status
    assert caught.value.headers is not None
    assert (caught.value.headers.get("Retry-After") == "3") is (status == 429)
    assert created["type"] == "session.created"


@pytest.mark.parametrize(
    ("mode", "status", "code"),
    [
        ("model_not_found", "failed", "model_not_found"),
        ("rate_limit_exceeded", "failed", "rate_limit_exceeded"),
        ("insufficient_quota", "failed", "insufficient_quota"),
        ("server_error", "failed", "server_error"),
        ("max_output_tokens", "incomplete", None),
        ("content_filter", "incomplete", None),
    ],
)
async def test_a_response_fails_or_stays_incomplete(
    mode: str, status: str, code: str | None
) -> None:
    """A response fails or stays incomplete."""
    async with serving(TEXT) as (client, _), session(client) as socket:
        await order(client, mode=mode, after=1, times=1)
        first, second, third = [await respond(socket) for _ in range(3)]
    assert (first["status"], second["status"], third["status"]) == (
        "completed",
        status,
        "completed",
    )
    details = second["status_details"]
    assert details["type"] == status
    if code is None:
        assert details["reason"] == mode
        assert second["output"][0]["status"] == "incomplete"
    else:
        assert details["error"]["code"] == code
        assert second["output"] == []


@pytest.mark.parametrize(
    ("mode", "event_id"), [("collision", "mine"), ("collision_null", None)]
)
async def test_a_collision_refuses_ours_and_the_servers_own_runs_to_its_end(
    mode: str, event_id: str | None
) -> None:
    """A collision refuses ours and the server's own runs to its end."""
    async with serving(TEXT) as (client, _), session(client) as socket:
        await order(client, mode=mode, times=1)
        await socket.send(
            "response.create", event_id="mine", response={"metadata": {"r": "1"}}
        )
        frames = await socket.until("response.done")
        again = await respond(socket)
    errors = [frame for frame in frames if frame["type"] == "error"]
    assert [e["error"]["code"] for e in errors] == [
        "conversation_already_has_active_response"
    ]
    assert errors[0]["error"]["event_id"] == event_id
    assert frames[0]["response"]["metadata"] is None
    assert frames[-1]["response"]["status"] == "completed"
    assert again["status"] == "completed"


async def test_a_cancelled_tool_turn_carries_whole_arguments_but_must_not_run() -> None:
    """A cancelled tool turn carries whole arguments but must not run."""
    async with serving(CALL) as (client, _), session(client) as socket:
        await order(client, mode="cancelled", times=1)
        response = await respond(socket)
    assert "response.function_call_arguments.done" in kinds(socket.seen)
    assert response["status"] == "cancelled"
    assert response["status_details"]["reason"] == "turn_detected"


@pytest.mark.parametrize("value", ["", "null", "{", "[1]", '{"task": 7}'])
async def test_calls_get_the_ordered_arguments(value: str) -> None:
    """Calls get the ordered arguments."""
    async with serving(CALL) as (client, _), session(client) as socket:
        await order(client, mode="arguments", value=value)
        response = await respond(socket)
    assert response["output"][0]["arguments"] == value


async def test_a_claim_without_a_call_and_an_empty_response() -> None:
    """A claim without a call and an empty response."""
    async with serving(CALL) as (client, _), session(client) as socket:
        await order(client, mode="claim", times=1)
        claim = await respond(socket)
        await order(client, mode="empty", times=1)
        empty = await respond(socket)
    assert [item["type"] for item in claim["output"]] == ["message"]
    assert (empty["status"], empty["output"]) == ("completed", [])


async def test_beta_names_and_unknown_events() -> None:
    """Beta names and unknown events."""
    async with serving(TEXT) as (client, _), session(client) as socket:
        await order(client, mode="beta_names", times=1)
        await respond(socket)
        beta = kinds(socket.seen)
        await order(client, mode="unknown_events", times=1)
        await respond(socket)
    assert "response.text.delta" in beta
    assert "conversation.item.created" in beta
    assert "response.output_text.delta" not in beta
    assert "response.weather_changed" in kinds(socket.seen)


@pytest.mark.parametrize(
    ("mode", "code", "reason"),
    [
        ("close_1000", 1000, "maximum duration"),
        ("close_1001", 1001, "maximum duration"),
        ("close_1011", 1011, "internal error"),
        ("drop", 1006, ""),
    ],
)
async def test_a_session_ends_in_the_middle_of_a_sentence(
    mode: str, code: int, reason: str
) -> None:
    """A session ends in the middle of a sentence."""
    async with serving(TEXT) as (client, _), session(client) as socket:
        await order(client, mode=mode, times=1)
        await socket.send("response.create")
        closed = await socket.closed()
        names = kinds(socket.seen)
        errors = [f["error"]["code"] for f in socket.seen if f["type"] == "error"]
    assert closed[0] == code
    assert reason in closed[1]
    assert "response.output_text.delta" in names
    assert "response.done" not in names
    assert errors == (["session_expired"] if mode == "close_1001" else [])


async def test_open_sessions_can_be_ended_at_once_and_new_ones_are_well() -> None:
    """Open sessions can be ended at once and new ones are well."""
    async with serving(TEXT) as (client, _), session(client) as socket:
        await order(client, mode="close_1001", value="now")
        code, _ = await socket.closed()
        async with session(client) as other:
            response = await respond(other)
    assert code == 1001
    assert response["status"] == "completed"


async def test_a_stalled_session_answers_neither_events_nor_pings() -> None:
    """A stalled session answers neither events nor pings."""
    async with serving(TEXT) as (client, _), connected(client) as socket:
        await socket.next()
        await order(client, mode="stall", value="now")
        await socket.socket.ping()
        await socket.send("conversation.item.create", item={})
        with pytest.raises(TimeoutError):
            await socket.socket.receive(timeout=0.1)


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"phone": {}},
        {"realtime": {"mode": "sleepy"}},
        {"chat": {"mode": "close_1001"}},
        {"chat": {"mode": "ok", "often": 1}},
        {"chat": {"after": -1}},
        {"chat": {"times": "2"}},
        {"chat": "ok"},
        {"api_key": None},
        {"api_key": " sk-new"},
    ],
)
async def test_an_order_that_makes_no_sense_is_refused_and_changes_nothing(
    body: Any,
) -> None:
    """An order that makes no sense is refused and changes nothing."""
    async with serving() as (client, _):
        await client.post("/control/models", json={"chat": {"mode": "quota"}})
        response = await client.post("/control/models", json=body)
        refusal = await response.json()
        shown = await (await client.get("/control/models")).json()
    assert response.status == 400
    assert refusal["error"]
    assert shown["faults"]["chat"]["mode"] == "quota"


async def test_the_record_holds_what_was_sent_and_can_be_cleared() -> None:
    """The record holds what was sent and can be cleared."""
    async with serving(TEXT) as (client, _), session(client) as socket:
        await respond(socket)
        shown = (await (await client.get("/control/models")).json())["realtime"]
        await client.post("/control/models", json={"clear": True})
        cleared = (await (await client.get("/control/models")).json())["realtime"]
    received = [
        f["frame"]["type"]
        for f in shown["frames"]
        if f["direction"] == "in" and "frame" in f
    ]
    assert received == ["session.update", "response.create"]
    assert shown["open_sessions"] == 1
    assert cleared["frames"] == []
