"""The pump: one WebSocket to a realtime model, whatever the dialect."""

import asyncio
from collections.abc import AsyncIterator
import contextlib
import json
import logging
import socket
from typing import Any

import aiohttp
import orjson

from ..errors import ModelError, ModelErrorKind
from ..tools import ToolSpec
from .dialect import Dialect, Frame
from .events import Closed, Failure, Ready, RealtimeEvent, SessionError
from .failures import failure, from_connect
from .openai import OpenAIDialect
from .openai_commands import authorization, realtime_url
from .session import Command, RealtimeSession, SessionConfig

_LOGGER = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 15.0
READY_TIMEOUT_S = 15.0
WRITE_TIMEOUT_S = 10.0
HEARTBEAT_S = 15.0
CLOSE_TIMEOUT_S = 2.0
CLOSE_FRAME_GRACE_S = 0.5
CLOSE_POLL_S = 0.02
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
OUTBOX_FRAMES = 64
INBOX_EVENTS = 256
ABNORMAL = 1006
"""WebSocket's code for a connection that ended without a close frame."""


async def connect_openai(
    session: aiohttp.ClientSession,
    *,
    base_url: str,
    api_key: str,
    model: str,
    config: SessionConfig,
) -> RealtimeSession:
    """Open a configured session with OpenAI or a compatible server.

    Args:
        session: Shared; never closed here.
        base_url: Such as ``https://api.openai.com/v1``; http(s) and ws(s).
        api_key: With or without ``Bearer``; empty for a server that wants none.
        model: The model's name.
        config: Instructions, tools, modality.

    Raises:
        ModelError: With a sentence that says what to do; it never holds the key.

    """
    headers = authorization(api_key)
    dialect = OpenAIDialect(
        config, secret=headers.get("Authorization", "").removeprefix("Bearer ") or None
    )
    return await open_session(
        session, dialect=dialect, url=realtime_url(base_url, model), headers=headers
    )


async def check(
    session: aiohttp.ClientSession, *, base_url: str, api_key: str, model: str
) -> None:
    """Open a session with a tool in its configuration, and close it.

    Raises:
        ModelError: As :func:`connect_openai`.

    """
    config = SessionConfig(
        instructions="Answer with OK.",
        tools=(ToolSpec(name="check", description="Does nothing."),),
    )
    opened = await connect_openai(
        session, base_url=base_url, api_key=api_key, model=model, config=config
    )
    await opened.close()


async def open_session(
    session: aiohttp.ClientSession,
    *,
    dialect: Dialect,
    url: str,
    headers: dict[str, str],
) -> RealtimeSession:
    """Connect, go through the dialect's handshake, return the session once it is ready.

    Raises:
        ModelError: It did not come to that; nothing is left open.

    """
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            ws = await session.ws_connect(
                url,
                headers=headers,
                heartbeat=HEARTBEAT_S,
                max_msg_size=MAX_MESSAGE_BYTES,
                timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_TIMEOUT_S),
            )
    except (aiohttp.ClientError, OSError, ValueError) as err:
        _LOGGER.debug("Connecting to the realtime model failed: %s", type(err).__name__)
        # The original names the address, whose query may hold a key.
        raise from_connect(err) from None
    connection = _Connection(ws, dialect)
    try:
        await connection.ready()
    except BaseException:
        await connection.close()
        raise
    return connection


class _Connection:
    """Owns one socket; two tasks move frames, a third waits for the first end."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse, dialect: Dialect) -> None:
        """Start to move frames."""
        self._ws = ws
        self._dialect = dialect
        self._outbox = asyncio.Queue[str](OUTBOX_FRAMES)
        self._inbox = asyncio.Queue[RealtimeEvent](INBOX_EVENTS)
        loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = loop.create_future()
        self._stop: asyncio.Future[None] = loop.create_future()
        self._end: Closed | None = None
        self._runner = loop.create_task(self._run(), name="aiden_duplex realtime")

    async def ready(self) -> None:
        """Wait until the server took the configuration.

        Raises:
            ModelError: It refused, left, or took too long.

        """
        try:
            async with asyncio.timeout(READY_TIMEOUT_S):
                await asyncio.shield(self._ready)
        except TimeoutError:
            raise failure(
                ModelErrorKind.TIMEOUT, "connected, but no session began"
            ).as_error() from None

    async def events(self) -> AsyncIterator[RealtimeEvent]:
        """Yield the events; ``Closed`` last."""
        with contextlib.suppress(asyncio.QueueShutDown):
            while True:
                yield await self._inbox.get()
        await asyncio.wait({self._runner})
        assert self._end is not None
        yield self._end

    async def send(self, command: Command) -> None:
        """Queue the frames of a command."""
        try:
            async with asyncio.timeout(WRITE_TIMEOUT_S):
                for frame in self._dialect.encode(command):
                    await self._outbox.put(_dumps(frame))
        except asyncio.QueueShutDown:
            end = self._end
            found = end.failure if end else None
            detail = "the session has ended"
            raise (
                found or failure(ModelErrorKind.NETWORK, detail)
            ).as_error() from None
        except TimeoutError:
            raise _not_taken().as_error() from None

    async def close(self) -> None:
        """End the session; the closing outlives a cancelled caller by two seconds at most."""
        if not self._stop.done():
            self._stop.set_result(None)
        await asyncio.wait({self._runner})

    async def _run(self) -> None:
        """Wait for the first end, then leave nothing behind."""
        loop = asyncio.get_running_loop()
        # Taken now: after a close there is no way to the socket any more.
        raw: socket.socket | None = self._ws.get_extra_info("socket")
        reader = loop.create_task(self._read(), name="aiden_duplex realtime read")
        writer = loop.create_task(self._write(), name="aiden_duplex realtime write")
        ends: set[asyncio.Future[Any]] = {reader, writer, self._stop}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if not self._stop.done():
                # A write fails before the server's close frame, which says why, is read.
                await asyncio.wait({reader}, timeout=CLOSE_FRAME_GRACE_S)
        finally:
            end = self._first_end(reader, writer)
            self._end = end
            self._outbox.shutdown(immediate=True)
            for task in (reader, writer):
                task.cancel()
            await asyncio.wait({reader, writer})
            await self._close_socket(raw)
            self._inbox.shutdown()
            self._not_ready(end.failure or failure(ModelErrorKind.NETWORK, end.reason))

    def _first_end(
        self, reader: asyncio.Task[Closed], writer: asyncio.Task[Closed]
    ) -> Closed:
        """Return why the session ends; what the server said goes first."""
        for task in (reader, writer):
            if not task.done() or task.cancelled():
                continue
            match task.exception():
                case None:
                    return task.result()
                case ModelError() as err:
                    return Closed(
                        code=ABNORMAL,
                        reason=err.message,
                        failure=failure(err.kind, "the connection was given up"),
                    )
                case err:
                    _LOGGER.error("Unexpected failure of a session", exc_info=err)
                    return self._dialect.closed(ABNORMAL, "internal failure")
        return Closed(code=1000, reason="closed by us")

    async def _read(self) -> Closed:
        """Take messages until the end."""
        for frame in self._dialect.opening():
            await self._outbox.put(_dumps(frame))
        while True:
            message = await self._ws.receive()
            match message.type:
                case aiohttp.WSMsgType.TEXT | aiohttp.WSMsgType.BINARY:
                    await self._take(message.data)
                case aiohttp.WSMsgType.CLOSE:
                    return self._dialect.closed(message.data, message.extra or "")
                case aiohttp.WSMsgType.ERROR:
                    code = self._ws.close_code or ABNORMAL
                    return self._dialect.closed(code, str(message.data))
                case _:
                    # A connection that just ends; aiohttp's own code for it is 1000.
                    why = self._ws.exception()
                    return self._dialect.closed(ABNORMAL, str(why) if why else "")

    async def _take(self, data: str | bytes) -> None:
        decoded = self._dialect.decode(data)
        for frame in decoded.replies:
            await self._outbox.put(_dumps(frame))
        for event in decoded.events:
            match event:
                case Ready() if not self._ready.done():
                    self._ready.set_result(None)
                case SessionError() if not self._ready.done():
                    self._not_ready(event.failure)
                case _:
                    await self._inbox.put(event)

    def _not_ready(self, found: Failure) -> None:
        """Let the handshake fail, unless it is over."""
        if not self._ready.done():
            self._ready.set_exception(found.as_error())
            # Nobody may be waiting for it any more.
            self._ready.exception()

    async def _write(self) -> Closed:
        """Send what is queued until the end."""
        while True:
            frame = await self._outbox.get()
            try:
                async with asyncio.timeout(WRITE_TIMEOUT_S):
                    await self._ws.send_str(frame)
            except TimeoutError:
                found = _not_taken()
                return Closed(code=ABNORMAL, reason=found.message, failure=found)
            except (aiohttp.ClientError, OSError) as err:
                return self._dialect.closed(ABNORMAL, type(err).__name__)

    async def _close_socket(self, raw: socket.socket | None) -> None:
        """Say goodbye if the server listens; then see that the line is really gone."""
        # While aiohttp waits for the peer's close frame it starts a heartbeat that it
        # then forgets; it does not wait after a receive that was cut short.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0):
                while not self._ws.closed:
                    await self._ws.receive()
        with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._ws.close()
                while raw is not None and raw.fileno() != -1:
                    await asyncio.sleep(CLOSE_POLL_S)
        # Bytes that nobody takes would keep the transport open for ever.
        if raw is not None:
            with contextlib.suppress(OSError):
                raw.shutdown(socket.SHUT_RDWR)


def _dumps(frame: Frame) -> str:
    try:
        return orjson.dumps(frame).decode()
    except TypeError:
        # Half a character, which only escapes can carry.
        return json.dumps(frame)


def _not_taken() -> Failure:
    """Return the failure of a server that stopped reading."""
    return failure(ModelErrorKind.TIMEOUT, "it takes no more data")
