"""The pump against a real WebSocket server."""

import asyncio
from collections.abc import AsyncIterator, Callable
import contextlib
from pathlib import Path
import socket
from typing import Any

import aiohttp
import pytest

from custom_components.aiden_duplex.models.errors import ModelError, ModelErrorKind
from custom_components.aiden_duplex.models.realtime import connection
from custom_components.aiden_duplex.models.realtime.events import (
    Closed,
    RealtimeEvent,
    ResponseDone,
    ResponseStarted,
    ResponseStatus,
    TextDelta,
)
from custom_components.aiden_duplex.models.realtime.failures import from_connect
from custom_components.aiden_duplex.models.realtime.openai import OpenAIDialect
from custom_components.aiden_duplex.models.realtime.session import (
    AddText,
    CreateResponse,
    RealtimeSession,
    SessionConfig,
)
from tests.models.realtime.server import Line, Server, answer, serve
from tests.virtual_time import run

pytestmark = pytest.mark.usefixtures("socket_enabled")

_KEY = "sk-very-secret-key-0123456789"
_CONFIG = SessionConfig(instructions="Be brief.")


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """Give a client session and demand that nobody closed it."""
    session = aiohttp.ClientSession()
    yield session
    assert not session.closed
    await session.close()


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let a test shorten deadlines."""

    def shorten(**values: float) -> None:
        for name, value in values.items():
            monkeypatch.setattr(connection, name, value)

    return shorten


async def _connect(
    http: aiohttp.ClientSession, base_url: str, key: str = _KEY
) -> RealtimeSession:
    return await connection.connect_openai(
        http, base_url=base_url, api_key=key, model="gpt", config=_CONFIG
    )


async def _check(http: aiohttp.ClientSession, base_url: str) -> ModelError:
    """Return what the check says, after the rules that hold for every failure."""
    before = asyncio.all_tasks()
    with pytest.raises(ModelError) as caught:
        async with asyncio.timeout(5):
            await connection.check(http, base_url=base_url, api_key=_KEY, model="gpt")
    assert _KEY not in f"{caught.value.message} {caught.value!r}"
    assert caught.value.__cause__ is None
    assert len(caught.value.message) > 20
    assert not {
        task for task in asyncio.all_tasks() - before if "aiden" in task.get_name()
    }
    return caught.value


async def _rest(session: RealtimeSession) -> list[RealtimeEvent]:
    async with asyncio.timeout(5):
        return [event async for event in session.events()]


async def _closed(session: RealtimeSession) -> Closed:
    end = (await _rest(session))[-1]
    assert isinstance(end, Closed)
    return end


async def test_a_turn_over_a_real_socket(http: aiohttp.ClientSession) -> None:
    """Handshake, headers, one text turn, close."""
    seen: list[Any] = []

    async def script(line: Line) -> None:
        seen.append(await line.greet())
        seen.append(await line.receive())
        seen.append(await line.receive())
        await line.send(
            {"type": "response.created", "response": {"id": "r"}},
            {"type": "response.output_text.delta", "response_id": "r", "delta": "Hi"},
            {"type": "response.done", "response": {"id": "r", "status": "completed"}},
        )
        seen.append(await line.until_closed())

    async with serve(script) as server:
        session = await _connect(http, f"{server.base_url}?tenant=7")
        await session.send(AddText(id="t1", text="hello"))
        await session.send(CreateResponse(id="r1"))
        events = []
        async for event in session.events():
            events.append(event)
            if isinstance(event, ResponseDone):
                break
        await session.close()
        await session.close()
        await server.ended.wait()
    request = server.requests[0]
    assert request.headers["Authorization"] == f"Bearer {_KEY}"
    assert "OpenAI-Beta" not in request.headers
    assert dict(request.query) == {"tenant": "7", "model": "gpt"}
    assert [item["type"] for item in seen[:3]] == [
        "session.update",
        "conversation.item.create",
        "response.create",
    ]
    assert seen[3] == 1000
    assert events == [
        ResponseStarted(response_id="r"),
        TextDelta(response_id="r", item_id=None, text="Hi"),
        ResponseDone(response_id="r", status=ResponseStatus.COMPLETED),
    ]


async def test_our_own_close_is_the_last_event_and_no_failure(
    http: aiohttp.ClientSession,
) -> None:
    """Closing ends the stream of events."""
    async with serve(_idle) as server:
        session = await _connect(http, server.base_url)
        await session.close()
        assert await _rest(session) == [Closed(code=1000, reason="closed by us")]
        with pytest.raises(ModelError):
            await session.send(CreateResponse(id="r1"))


async def test_check_opens_and_closes(http: aiohttp.ClientSession) -> None:
    """A good endpoint passes, and is left."""
    updates: list[dict[str, Any]] = []

    async def script(line: Line) -> None:
        updates.append(await line.greet())
        await line.until_closed()

    async with serve(script) as server:
        await connection.check(
            http, base_url=server.base_url, api_key=_KEY, model="gpt"
        )
        async with asyncio.timeout(5):
            await server.ended.wait()
    assert updates[0]["session"]["tools"][0]["name"] == "check"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, ModelErrorKind.AUTHENTICATION),
        (403, ModelErrorKind.AUTHENTICATION),
        (404, ModelErrorKind.MODEL_UNKNOWN),
        (400, ModelErrorKind.BAD_REQUEST),
        (429, ModelErrorKind.RATE_LIMITED),
        (500, ModelErrorKind.SERVER),
        (503, ModelErrorKind.SERVER),
    ],
)
async def test_http_answers_instead_of_a_socket(
    http: aiohttp.ClientSession, status: int, kind: ModelErrorKind
) -> None:
    """Each status has its class and a sentence."""
    async with answer(status, headers={"Retry-After": "7"}) as base_url:
        error = await _check(http, base_url)
    assert error.kind is kind
    assert f"HTTP {status}" in error.message
    assert error.retry_after_s == 7


async def test_a_web_page_is_named(http: aiohttp.ClientSession) -> None:
    """An address that leads to a web site says so."""
    async with answer(
        200, headers={"Content-Type": "text/html"}, body="<html/>"
    ) as base_url:
        error = await _check(http, base_url)
    assert error.kind is ModelErrorKind.PROTOCOL
    assert "a web page" in error.message


async def test_nobody_listens(http: aiohttp.ClientSession) -> None:
    """A refused connection is a network failure."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    error = await _check(http, f"http://127.0.0.1:{port}/v1")
    assert error.kind is ModelErrorKind.NETWORK


@contextlib.asynccontextmanager
async def _raw(greeting: bytes) -> AsyncIterator[str]:
    """Serve bytes that are no HTTP, then silence."""
    writers: list[asyncio.StreamWriter] = []

    async def handle(
        _reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writers.append(writer)
        writer.write(greeting)

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        for writer in writers:
            writer.transport.abort()
        server.close()
        await server.wait_closed()


async def test_a_server_that_never_answers(
    http: aiohttp.ClientSession, limits: Callable[..., None]
) -> None:
    """The connect deadline ends the wait."""
    limits(CONNECT_TIMEOUT_S=0.1)
    async with _raw(b"") as base_url:
        error = await _check(http, base_url)
    assert error.kind is ModelErrorKind.TIMEOUT


async def test_a_server_that_speaks_something_else(http: aiohttp.ClientSession) -> None:
    """A port of another service is a protocol error."""
    async with _raw(b"220 mail.example ESMTP\r\n") as base_url:
        error = await _check(http, base_url)
    assert error.kind is ModelErrorKind.PROTOCOL


async def test_a_socket_without_a_session(
    http: aiohttp.ClientSession, limits: Callable[..., None]
) -> None:
    """A server that never greets is left after the ready deadline."""
    limits(READY_TIMEOUT_S=0.1)
    async with serve(_silent) as server:
        error = await _check(http, server.base_url)
        async with asyncio.timeout(5):
            await server.ended.wait()
    assert error.kind is ModelErrorKind.TIMEOUT


async def test_a_refused_configuration_leaves_no_socket(
    http: aiohttp.ClientSession,
) -> None:
    """[115] The first session.update fails: error to the caller, socket closed."""
    codes: list[int | None] = []

    async def script(line: Line) -> None:
        await line.send({"type": "session.created", "session": {}})
        update = await line.receive()
        await line.send(
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "code": "unknown_parameter",
                    "message": "Unknown parameter: 'session.modalities'.",
                    "event_id": update["event_id"],
                },
            }
        )
        codes.append(await line.until_closed())

    async with serve(script) as server:
        error = await _check(http, server.base_url)
        async with asyncio.timeout(5):
            await server.ended.wait()
    assert error.kind is ModelErrorKind.BAD_REQUEST
    assert "Unknown parameter: 'session.modalities'" in error.message
    assert codes == [1000]


async def test_a_gateway_that_refuses_the_key_by_closing(
    http: aiohttp.ClientSession,
) -> None:
    """Some answer a bad key with an error and a close instead of HTTP 401."""

    async def script(line: Line) -> None:
        await line.ws.close(code=1008, message=f"invalid api key {_KEY}".encode())

    async with serve(script) as server:
        error = await _check(http, server.base_url)
    assert error.kind is ModelErrorKind.AUTHENTICATION
    assert "1008" in error.message


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (1007, "Request contains an invalid argument", ModelErrorKind.BAD_REQUEST),
        (1011, "Internal error", ModelErrorKind.SERVER),
        (1001, "", ModelErrorKind.NETWORK),
    ],
)
async def test_a_close_keeps_its_code_and_reason(
    http: aiohttp.ClientSession, code: int, reason: str, kind: ModelErrorKind
) -> None:
    """[11] A protocol kill does not look like a hang-up."""

    async def script(line: Line) -> None:
        await line.greet()
        await line.ws.close(code=code, message=reason.encode())

    async with serve(script) as server:
        end = await _closed(await _connect(http, server.base_url))
    assert (end.code, end.reason, end.expired) == (code, reason, False)
    assert end.failure is not None
    assert end.failure.kind is kind


class _LateReason:
    """A socket whose writes fail before the server's close frame is read."""

    closed = False
    close_code = None

    def get_extra_info(self, _name: str) -> None:
        """Have no socket."""

    async def send_str(self, _text: str) -> None:
        """Fail."""
        raise ConnectionResetError

    async def receive(self) -> aiohttp.WSMessage:
        """Say why, a little later."""
        await asyncio.sleep(0.1)
        return aiohttp.WSMessage(aiohttp.WSMsgType.CLOSE, 1007, "bad argument")

    async def close(self) -> None:
        """Be closed."""
        self.closed = True


def test_a_failed_write_waits_for_the_reason() -> None:
    """[11] The write fails first; the code and reason of the close are kept all the same."""

    async def main() -> None:
        ws: Any = _LateReason()
        session = connection._Connection(ws, OpenAIDialect(_CONFIG))
        await session.send(CreateResponse(id="r1"))
        end = await _closed(session)
        assert (end.code, end.reason) == (1007, "bad argument")

    run(main())


@pytest.mark.parametrize("code", [1000, 1001])
async def test_the_providers_limit_is_an_expiry(
    http: aiohttp.ClientSession, code: int
) -> None:
    """[5] Sixty minutes are over: closed with 1001, and with 1000."""
    reason = "Your session hit the maximum duration of 60 minutes."

    async def script(line: Line) -> None:
        await line.greet()
        await line.ws.close(code=code, message=reason.encode())

    async with serve(script) as server:
        end = await _closed(await _connect(http, server.base_url))
    assert end == Closed(code=code, reason=reason, expired=True)


async def test_a_line_cut_without_a_close_frame(http: aiohttp.ClientSession) -> None:
    """[10] TCP killed: it is reported at once, and sending raises from then on."""

    async def script(line: Line) -> None:
        await line.greet()
        await line.receive()
        line.kill()

    async with serve(script) as server:
        session = await _connect(http, server.base_url)
        await session.send(AddText(id="t1", text="x"))
        end = await _closed(session)
        with pytest.raises(ModelError) as caught:
            await session.send(CreateResponse(id="r1"))
    assert end.code == 1006
    assert end.failure is not None
    assert end.failure.kind is ModelErrorKind.NETWORK
    assert caught.value.kind is ModelErrorKind.NETWORK


async def test_an_end_of_tcp_is_no_clean_close(http: aiohttp.ClientSession) -> None:
    """A half-closed line without a close frame counts as broken, not as 1000."""

    async def script(line: Line) -> None:
        await line.greet()
        await line.receive()
        assert line.request.transport is not None
        line.request.transport.close()

    async with serve(script) as server:
        session = await _connect(http, server.base_url)
        await session.send(AddText(id="t1", text="x"))
        assert (await _closed(session)).code == 1006


async def test_a_silent_line_is_noticed_by_the_heartbeat(
    http: aiohttp.ClientSession, limits: Callable[..., None]
) -> None:
    """[O9] The peer is gone without a word: no pong, so the session ends."""
    limits(HEARTBEAT_S=0.2)

    async def script(line: Line) -> None:
        await line.greet()
        await line.over.wait()

    async with serve(script, autoping=False) as server:
        end = await _closed(await _connect(http, server.base_url))
    assert end.code == 1006
    assert "PONG" in end.reason


async def test_what_came_before_the_close_is_delivered(
    http: aiohttp.ClientSession,
) -> None:
    """The last events of a dying session are not lost."""

    async def script(line: Line) -> None:
        await line.greet()
        for number in range(100):
            await line.send({"type": "response.text.delta", "delta": str(number)})
        await line.ws.close(code=1011, message=b"Internal error")

    async with serve(script) as server:
        events = await _rest(await _connect(http, server.base_url))
    texts = [event.text for event in events if isinstance(event, TextDelta)]
    assert texts == [str(number) for number in range(100)]
    assert isinstance(events[-1], Closed)


async def test_closing_while_nobody_takes_the_events(
    http: aiohttp.ClientSession,
) -> None:
    """A full inbox stops the reading, not the closing; nothing lingers."""

    async def script(line: Line) -> None:
        await line.greet()
        with contextlib.suppress(ConnectionError):
            while not line.over.is_set():
                await line.send({"type": "response.text.delta", "delta": "x" * 1000})

    async with serve(script) as server:
        session = await _connect(http, server.base_url)
        assert isinstance(session, connection._Connection)
        await _until(session._inbox.full)
        async with asyncio.timeout(1):
            await session.close()
        events = await _rest(session)
    assert events[-1] == Closed(code=1000, reason="closed by us")
    assert len(events) <= connection.INBOX_EVENTS + 2


async def test_what_is_no_json_ends_the_session(http: aiohttp.ClientSession) -> None:
    """Garbage in a session is a protocol error with its sentence."""

    async def script(line: Line) -> None:
        await line.greet()
        await line.ws.send_str("<html>")
        await line.until_closed()

    async with serve(script) as server:
        end = await _closed(await _connect(http, server.base_url))
    assert end.failure is not None
    assert end.failure.kind is ModelErrorKind.PROTOCOL


async def test_binary_frames_are_understood(http: aiohttp.ClientSession) -> None:
    """Some servers send JSON as binary frames."""

    async def script(line: Line) -> None:
        await line.greet()
        await line.ws.send_bytes(b'{"type":"response.text.delta","delta":"x"}')
        await line.ws.close()

    async with serve(script) as server:
        events = await _rest(await _connect(http, server.base_url))
    assert events[0] == TextDelta(response_id=None, item_id=None, text="x")


async def _stuff(session: RealtimeSession) -> int:
    """Send until it fails; return how many frames went into the session."""
    number = 0

    async def send() -> None:
        nonlocal number
        while number < 10_000:
            await session.send(AddText(id=f"t{number}", text="x" * 100_000))
            number += 1

    with pytest.raises(ModelError) as caught:
        await send()
    assert caught.value.kind is ModelErrorKind.TIMEOUT
    return number


async def test_a_server_that_stops_reading(
    http: aiohttp.ClientSession, limits: Callable[..., None]
) -> None:
    """[O11] Our buffer stays bounded, the sender learns it, the session ends."""
    limits(WRITE_TIMEOUT_S=0.3, CLOSE_TIMEOUT_S=0.2)
    async with serve(_deaf) as server:
        session = await _connect(http, server.base_url)
        async with asyncio.timeout(10):
            sent = await _stuff(session)
        end = await _closed(session)
    # What the kernel took, and one outbox.
    assert sent < 400
    assert end.failure is not None
    assert end.failure.kind is ModelErrorKind.TIMEOUT


async def test_closing_unblocks_a_stuck_write(
    http: aiohttp.ClientSession, limits: Callable[..., None]
) -> None:
    """A close does not wait for bytes that nobody takes, and leaves no socket."""
    limits(CLOSE_TIMEOUT_S=0.2)
    async with serve(_deaf) as server:
        session = await _connect(http, server.base_url)
        sender = asyncio.create_task(_stuff_until_closed(session))
        await _until(lambda: server.requests and _is_paused(session))
        async with asyncio.timeout(1):
            await session.close()
            failure = await sender
        await _until(lambda: not _open_sockets(server))
        end = await _closed(session)
    assert failure.kind is ModelErrorKind.NETWORK
    assert "the session has ended" in failure.message
    assert end == Closed(code=1000, reason="closed by us")


async def _stuff_until_closed(session: RealtimeSession) -> ModelError:
    try:
        while True:
            await session.send(AddText(id="t", text="x" * 100_000))
    except ModelError as err:
        return err


def _is_paused(session: RealtimeSession) -> bool:
    assert isinstance(session, connection._Connection)
    return session._outbox.full()


def _open_sockets(server: Server) -> list[str]:
    """Return the client sockets that the kernel still connects to the server."""
    port = int(server.base_url.rsplit(":", 1)[1].split("/")[0])
    found = []
    for row in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
        _, _, remote, state = row.split()[:4]
        if int(remote.split(":")[1], 16) == port and state == "01":
            found.append(row)
    return found


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.01)


async def test_fifty_sessions_leave_nothing(http: aiohttp.ClientSession) -> None:
    """[115] Opened and closed fifty times: no task, no socket."""
    before = asyncio.all_tasks()
    async with serve(_idle) as server:
        for _ in range(50):
            await (await _connect(http, server.base_url)).close()
        assert not {
            task for task in asyncio.all_tasks() - before if "aiden" in task.get_name()
        }
        await _until(lambda: not _open_sockets(server))


async def test_a_cancelled_connect_leaves_nothing(http: aiohttp.ClientSession) -> None:
    """The caller goes while the handshake runs."""
    async with serve(_silent) as server:
        task = asyncio.create_task(_connect(http, server.base_url))
        await _until(lambda: server.requests)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(5):
            await server.ended.wait()
        await _until(lambda: not _open_sockets(server))


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (
            aiohttp.ClientConnectorDNSError(
                aiohttp.client_reqrep.ConnectionKey(
                    "h", 443, True, True, None, None, None
                ),
                OSError(-2, "Name or service not known"),
            ),
            ModelErrorKind.NETWORK,
            "name could not be resolved",
        ),
        (aiohttp.InvalidURL("x"), ModelErrorKind.BAD_REQUEST, "not valid"),
        (TimeoutError(), ModelErrorKind.TIMEOUT, "in time"),
        (aiohttp.ServerDisconnectedError(), ModelErrorKind.NETWORK, "broke"),
    ],
)
def test_other_ways_to_fail(error: Exception, kind: ModelErrorKind, words: str) -> None:
    """What cannot be staged on 127.0.0.1 is mapped too."""
    found = from_connect(error)
    assert found.kind is kind
    assert words in found.message


async def _idle(line: Line) -> None:
    await line.greet()
    await line.until_closed()


async def _silent(line: Line) -> None:
    await line.until_closed()


async def _deaf(line: Line) -> None:
    await line.greet()
    assert line.request.transport is not None
    line.request.transport.pause_reading()
    await line.over.wait()
