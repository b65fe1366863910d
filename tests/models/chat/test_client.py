"""The client against a real server on 127.0.0.1, with every fault of a chat server."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
import inspect
import io
import logging
import socket
from typing import Any, override

import aiohttp
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult
from PIL import Image
import pytest

from custom_components.aiden_duplex.models.chat import client as client_module, probe
from custom_components.aiden_duplex.models.chat.client import ChatCompletions
from custom_components.aiden_duplex.models.chat.messages import (
    ChatMessage,
    ChatRole,
    UnusableReplyError,
)
from custom_components.aiden_duplex.models.errors import ModelError, ModelErrorKind
from custom_components.aiden_duplex.models.tools import (
    ToolCall,
    ToolSpec,
    object_schema,
)

from .server import (
    ChatServer,
    Step,
    breaks_off,
    calls,
    completion,
    floods,
    hangs,
    resets,
    says,
    sends,
    sends_raw,
)

KEY = "very-secret-key"
TAP = ToolSpec(
    name="tap",
    description="Tap.",
    parameters=object_schema({"x": {"type": "number"}}, required=["x"]),
)
HELLO = [ChatMessage(role=ChatRole.USER, text="hello", images=(b"jpeg",))]


@pytest.fixture
async def server(socket_enabled: None) -> AsyncIterator[ChatServer]:
    """Return a server that follows a script."""
    server = ChatServer()
    await server.start()
    yield server
    await server.close()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    """Return a session, as Home Assistant gives one."""
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
def chat(server: ChatServer, session: aiohttp.ClientSession) -> ChatCompletions:
    """Return a client with short pauses."""
    return _client(session, server.base_url)


def _client(
    session: aiohttp.ClientSession, base_url: str, **more: Any
) -> ChatCompletions:
    settings: dict[str, Any] = {
        "api_key": KEY,
        "model": "m1",
        "timeout_s": 5,
        "retry_delays_s": (0.001, 0.002, 0.004),
        "jitter": lambda: 0.0,
    }
    return ChatCompletions(session, base_url=base_url, **settings | more)


async def test_request_and_reply(chat: ChatCompletions, server: ChatServer) -> None:
    """Key, model, messages and tools arrive; the reply comes back."""
    server.then(calls("tap", '{"x": 5}', id="c1"))
    reply = await chat.complete(HELLO, [TAP])
    assert reply.tool_calls == (
        ToolCall(call_id="c1", name="tap", arguments='{"x": 5}'),
    )
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (10, 2)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert server.requests[0]["model"] == "m1"
    assert server.requests[0]["tools"][0]["function"]["name"] == "tap"


@pytest.mark.parametrize("key", [None, "", "  "])
async def test_no_key_means_no_header(
    key: str | None, server: ChatServer, session: aiohttp.ClientSession
) -> None:
    """Local servers need none, and some refuse an empty one."""
    server.then(says())
    await _client(session, server.base_url + "/ ", api_key=key).complete(HELLO, [])
    assert "Authorization" not in server.headers[0]


async def test_lone_surrogate_in_a_text_is_sent(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """Half an emoji in a text must not stop the request."""
    server.then(says())
    await chat.complete([ChatMessage(role=ChatRole.USER, text="\ud83d")], [])
    assert server.requests[0]["messages"][0]["content"] == "\ud83d"


@pytest.mark.parametrize(
    "step",
    [
        calls("tap", {"x": 5}, id="c1"),
        calls("tap", '{"x": 5}'),
        calls("tap", '{"x": 5}', id=""),
        says('<tool_call>{"name":"tap","args":{"x":5}}</tool_call>'),
        says('<think>hm</think><tool_call>{"name":"tap","arguments":{"x":5}}</tool_call>'),
        says("", thinking='so <tool_call>{"name":"tap","args":{"x":5}}</tool_call>'),
        says('{"name": "tap", "parameters": {"x": 5}}'),
    ],
)  # fmt: skip
async def test_calls_in_all_known_forms(
    chat: ChatCompletions, server: ChatServer, step: Step
) -> None:
    """C1, C2: object arguments, missing ids, text, thinking: always one call with an id."""
    server.then(step)
    (call,) = (await chat.complete(HELLO, [TAP])).tool_calls
    assert call.name == "tap"
    assert call.arguments.replace(" ", "") == '{"x":5}'
    assert call.call_id


async def test_repeated_id_is_new_in_the_next_turn(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """C1: a server that numbers each answer from zero gets a balanced history."""
    server.then(calls("tap", "{}", id="call_0"), calls("tap", "{}", id="call_0"))
    first = await chat.complete(HELLO, [TAP])
    history = [
        *HELLO,
        ChatMessage(role=ChatRole.ASSISTANT, tool_calls=first.tool_calls),
        ChatMessage(role=ChatRole.TOOL, tool_call_id="call_0", text="ok"),
    ]
    second = await chat.complete(history, [TAP])
    assert second.tool_calls[0].call_id != "call_0"


async def test_strict_server_accepts_a_whole_conversation(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """C3: no unknown field, no developer role, no picture in a tool message."""
    server.then(says())
    await chat.complete(
        [
            ChatMessage(role=ChatRole.SYSTEM, text="rules"),
            *HELLO,
            ChatMessage(
                role=ChatRole.ASSISTANT,
                tool_calls=(ToolCall(call_id="a", name="tap", arguments="{"),),
            ),
            ChatMessage(role=ChatRole.TOOL, tool_call_id="a", text="broken"),
            *HELLO,
            ChatMessage(role=ChatRole.ASSISTANT),
        ],
        [TAP],
    )
    assert len(server.requests) == 1


def test_slow_first_token_is_waited_for() -> None:
    """C4: a local server that loads its model for 90 s is inside the default deadline."""
    default = inspect.signature(ChatCompletions).parameters["timeout_s"].default
    assert default > 90


async def test_cut_off_arguments_are_an_error_and_not_asked_again(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """C5: half a call is never returned; whether to ask again is the caller's decision."""
    message = {
        "content": None,
        "tool_calls": [
            {"id": "c", "function": {"name": "tap", "arguments": '{"x": 1'}}
        ],
    }
    server.then(sends(completion(message, "length")))
    with pytest.raises(UnusableReplyError, match="cut off"):
        await chat.complete(HELLO, [TAP])
    assert len(server.requests) == 1


async def test_empty_content_is_an_empty_reply(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """C6: nothing said and nothing called is a reply; the caller counts them."""
    server.then(says(""), says(None))
    for _ in range(2):
        reply = await chat.complete(HELLO, [TAP])
        assert (reply.text, reply.tool_calls) == ("", ())


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (sends({}, 429), ModelErrorKind.RATE_LIMITED),
        (sends({}, 429, Retry_After="0.002"), ModelErrorKind.RATE_LIMITED),
        (sends({"error": "boom"}, 500), ModelErrorKind.SERVER),
        (sends({"error": {"code": 503}}), ModelErrorKind.SERVER),
        (sends({}, 504), ModelErrorKind.TIMEOUT),
        (resets, ModelErrorKind.NETWORK),
        (breaks_off, ModelErrorKind.NETWORK),
    ],
)
async def test_passing_faults_are_asked_again_three_times_at_most(
    chat: ChatCompletions, server: ChatServer, fault: Step, kind: ModelErrorKind
) -> None:
    """C7: three faults and the reply is there; four and the fault is reported."""
    server.then(fault, fault, fault, says("at last"))
    assert (await chat.complete(HELLO, [])).text == "at last"
    server.then(fault, fault, fault, fault)
    with pytest.raises(ModelError) as caught:
        await chat.complete(HELLO, [])
    assert caught.value.kind is kind
    assert len(server.requests) == 8


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (sends({"error": {"message": "no"}}, 401), ModelErrorKind.AUTHENTICATION),
        (sends({"error": {"message": "no"}}, 403), ModelErrorKind.AUTHENTICATION),
        (sends({"error": {"code": "insufficient_quota"}}, 429), ModelErrorKind.QUOTA),
        (sends({"error": {"code": "model_not_found"}}, 404), ModelErrorKind.MODEL_UNKNOWN),
        (sends({"error": {"code": "context_length_exceeded"}}, 400), ModelErrorKind.CONTEXT_OVERFLOW),
        (sends({"error": {"message": "bad"}}, 400), ModelErrorKind.BAD_REQUEST),
        (sends_raw(b"<!doctype html><p>Log in", "text/html"), ModelErrorKind.PROTOCOL),
        (sends_raw(b"<html>", "application/octet-stream"), ModelErrorKind.PROTOCOL),
        (sends_raw(b'{"choices": [', "application/json"), ModelErrorKind.PROTOCOL),
        (sends_raw(b"\xff\xfe{}", "application/json"), ModelErrorKind.PROTOCOL),
        (sends([]), ModelErrorKind.PROTOCOL),
        (sends({}, 307, Location="http://127.0.0.1:9/v1"), ModelErrorKind.PROTOCOL),
        (floods, ModelErrorKind.PROTOCOL),
    ],
)  # fmt: skip
async def test_lasting_faults_are_reported_at_once(
    chat: ChatCompletions, server: ChatServer, fault: Step, kind: ModelErrorKind
) -> None:
    """C8 and what else would fail again: one request, one clear kind."""
    server.then(fault)
    with pytest.raises(ModelError) as caught:
        await chat.complete(HELLO, [])
    assert caught.value.kind is kind
    assert len(server.requests) == 1


async def test_long_error_page_is_cut(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """An endless error page is neither read to the end nor shown."""
    server.then(sends_raw(b"x" * 3_000_000, "text/plain", 400))
    with pytest.raises(ModelError) as caught:
        await chat.complete(HELLO, [])
    assert caught.value.message == "The server refused the request. (HTTP 400)"


async def test_wait_that_is_too_long_is_left_to_the_caller(
    session: aiohttp.ClientSession, server: ChatServer
) -> None:
    """C7: Retry-After of a minute, as seconds and as a date, is reported and not waited."""
    chat = _client(session, server.base_url, timeout_s=120)
    at = datetime.now(UTC) + timedelta(seconds=60)
    for value in ("60", format_datetime(at, usegmt=True)):
        server.then(sends({}, 429, Retry_After=value))
        with pytest.raises(ModelError) as caught:
            await chat.complete(HELLO, [])
        assert caught.value.retry_after_s == pytest.approx(60, abs=2)
    assert len(server.requests) == 2


async def test_pauses_grow_and_are_stretched_by_jitter(
    server: ChatServer,
    session: aiohttp.ClientSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """1, 2 and 4 s, each up to half as long again; Retry-After is the least."""
    pauses: list[float] = []

    async def sleep(delay_s: float) -> None:
        pauses.append(delay_s)

    monkeypatch.setattr("asyncio.sleep", sleep)
    chat = _client(
        session,
        server.base_url,
        retry_delays_s=client_module.RETRY_DELAYS_S,
        jitter=lambda: 1.0,
    )
    server.then(sends({}, 500), sends({}, 429, Retry_After="7"), sends({}, 500), says())
    await chat.complete(HELLO, [])
    assert pauses == [1.5, 7.0, 6.0]


async def test_silence_ends_in_a_timeout(
    server: ChatServer, session: aiohttp.ClientSession
) -> None:
    """A server that never answers costs at most three deadlines."""
    chat = _client(session, server.base_url, timeout_s=0.05)
    server.then(hangs, hangs, hangs, hangs)
    with pytest.raises(ModelError) as caught:
        await chat.complete(HELLO, [])
    assert caught.value.kind is ModelErrorKind.TIMEOUT
    assert 1 < len(server.requests) <= 3


async def test_nobody_listens(
    session: aiohttp.ClientSession, socket_enabled: None
) -> None:
    """A refused connection says so."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(ModelError) as caught:
        await _client(session, f"http://127.0.0.1:{port}/v1").complete(HELLO, [])
    assert caught.value.kind is ModelErrorKind.NETWORK
    assert "does not accept connections" in caught.value.message


async def test_name_cannot_be_resolved() -> None:
    """A wrong or unreachable name says so."""

    class NoNames(AbstractResolver):
        @override
        async def resolve(
            self,
            host: str,
            port: int = 0,
            family: socket.AddressFamily = socket.AF_INET,
        ) -> list[ResolveResult]:
            raise OSError("no such name")

        @override
        async def close(self) -> None:
            return

    connector = aiohttp.TCPConnector(resolver=NoNames())
    async with aiohttp.ClientSession(connector=connector) as session:
        with pytest.raises(ModelError) as caught:
            await _client(session, "https://models.invalid/v1").complete(HELLO, [])
    assert caught.value.kind is ModelErrorKind.NETWORK
    assert "cannot be resolved" in caught.value.message


@pytest.mark.parametrize(
    "url", ["models/v1", "ftp://127.0.0.1/v1", "http://[::1/v1", ""]
)
async def test_address_that_is_none(url: str, session: aiohttp.ClientSession) -> None:
    """A mistyped address is said to be one."""
    with pytest.raises(ModelError) as caught:
        await _client(session, url).complete(HELLO, [])
    assert caught.value.kind is ModelErrorKind.NETWORK
    assert "not a valid" in caught.value.message


async def test_server_that_speaks_no_tls(
    server: ChatServer, session: aiohttp.ClientSession
) -> None:
    """An https address of an http server says so."""
    url = server.base_url.replace("http:", "https:")
    with pytest.raises(ModelError) as caught:
        await _client(session, url).complete(HELLO, [])
    assert caught.value.kind is ModelErrorKind.NETWORK
    assert "TLS" in caught.value.message


async def test_key_with_a_line_break_is_refused_without_being_shown(
    server: ChatServer, session: aiohttp.ClientSession
) -> None:
    """A pasted key with a line break would break the header."""
    chat = _client(session, server.base_url, api_key="very\nsecret")
    with pytest.raises(ModelError) as caught:
        await chat.complete(HELLO, [])
    assert caught.value.kind is ModelErrorKind.AUTHENTICATION
    assert "secret" not in caught.value.message
    assert server.requests == []


async def test_key_is_in_no_error_and_no_log(
    chat: ChatCompletions, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A server that repeats the key does not make us repeat it, at any level."""
    caplog.set_level(logging.DEBUG, logger=client_module.__name__)
    server.then(
        sends({"error": {"message": f"overloaded, {KEY}"}}, 500),
        sends({"error": {"message": f"wrong: {KEY}"}}, 401),
    )
    with pytest.raises(ModelError) as caught:
        await chat.complete(HELLO, [])
    assert "***" in caught.value.message
    assert KEY not in caught.value.message
    assert "overloaded" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("retrying", [False, True])
async def test_cancelling_leaves_nothing_behind(
    server: ChatServer, session: aiohttp.ClientSession, retrying: bool
) -> None:
    """Cancelled while the server is silent, and in the pause before the next try."""
    chat = _client(session, server.base_url, retry_delays_s=(20,))
    server.then(sends({}, 500) if retrying else hangs)
    task = asyncio.create_task(chat.complete(HELLO, []))
    async with asyncio.timeout(5):
        await server.arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(server.requests) == 1


def test_probe_picture_is_a_small_red_square() -> None:
    """The picture of the check is what the question says."""
    picture = Image.open(io.BytesIO(probe.PICTURE))
    assert (picture.format, picture.size) == ("JPEG", (64, 64))
    pixel = picture.convert("RGB").getpixel((32, 32))
    assert isinstance(pixel, tuple)
    red, green, blue = pixel
    assert red > 200
    assert green < 60
    assert blue < 60


async def test_check_sends_a_picture_and_a_tool(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """One request proves key, model, pictures and tools."""
    server.then(calls("report_colour", '{"colour": "red"}', id="c"))
    await chat.check()
    (request,) = server.requests
    assert request["messages"][0]["content"][1]["type"] == "image_url"
    assert request["tools"][0]["function"]["name"] == "report_colour"


async def test_check_does_not_judge_a_colour(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """A small model that sees orange, or writes odd arguments, still sees and calls."""
    server.then(
        calls("report_colour", '{"colour": "green"}', id="c"),
        calls("report_colour", '{"color": 1', id="c"),
    )
    await chat.check()
    await chat.check()
    # Neither asked again, as after a failure.
    assert [len(request["tools"]) for request in server.requests] == [1, 1]


async def test_check_finds_a_model_without_tools(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """A model that only talks is said to call no tools."""
    server.then(says("It is red."))
    with pytest.raises(ModelError, match="cannot call tools"):
        await chat.check()


async def test_check_finds_a_model_that_saw_nothing(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """A server that drops pictures silently is found out."""
    server.then(calls("report_colour", '{"colour": "no_picture"}', id="c"))
    with pytest.raises(ModelError, match="no picture reached it"):
        await chat.check()


def _refusing(field: str, status: int = 400) -> Step:
    """Refuse requests that have pictures, or tools; call the tool, or talk, otherwise."""

    async def step(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        has = {
            "picture": isinstance(body["messages"][0]["content"], list),
            "tools": "tools" in body,
        }
        if has[field]:
            answer = sends(
                {"error": {"message": f"this model has no {field} input"}}, status
            )
        elif has["tools"]:
            answer = calls("report_colour", '{"colour": "red"}', id="c")
        else:
            answer = says("red")
        return await answer(request, body)

    return step


@pytest.mark.parametrize("status", [400, 500])
async def test_check_finds_a_server_that_refuses_pictures(
    chat: ChatCompletions, server: ChatServer, status: int
) -> None:
    """The same question without a picture works: so the picture is what is missing."""
    server.then(*[_refusing("picture", status)] * 2)
    with pytest.raises(ModelError, match="accepts no pictures") as caught:
        await chat.check()
    assert caught.value.kind is ModelErrorKind.BAD_REQUEST


async def test_check_finds_a_server_that_refuses_tools(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """The same question without a tool works: so the tool is what is missing."""
    server.then(*[_refusing("tools")] * 3)
    with pytest.raises(ModelError, match="cannot call tools"):
        await chat.check()


async def test_check_reports_any_other_refusal_as_it_is(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """A request that fails in every form is not blamed on pictures or tools."""
    server.then(*[sends({"error": {"message": "bad day"}}, 400)] * 3)
    with pytest.raises(ModelError, match="bad day") as caught:
        await chat.check()
    assert "pictures" not in caught.value.message


async def test_check_reports_a_wrong_key_after_one_request(
    chat: ChatCompletions, server: ChatServer
) -> None:
    """A refused key needs no second question."""
    server.then(sends({"error": {"message": "no"}}, 401))
    with pytest.raises(ModelError) as caught:
        await chat.check()
    assert caught.value.kind is ModelErrorKind.AUTHENTICATION
    assert len(server.requests) == 1
