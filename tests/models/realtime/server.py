"""A WebSocket server on 127.0.0.1 whose behaviour a test writes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
import contextlib
import json
from typing import Any

from aiohttp import WSMsgType, web

type Script = Callable[[Line], Awaitable[None]]


class Line:
    """The server's end of one connection."""

    def __init__(
        self, request: web.Request, ws: web.WebSocketResponse, over: asyncio.Event
    ) -> None:
        """Keep them; ``over`` is set when the test ends."""
        self.request = request
        self.ws = ws
        self.over = over

    async def send(self, *frames: dict[str, Any]) -> None:
        """Send frames as text."""
        for frame in frames:
            await self.ws.send_str(json.dumps(frame))

    async def receive(self) -> dict[str, Any]:
        """Return the next frame."""
        frame: dict[str, Any] = json.loads((await self.ws.receive()).data)
        return frame

    async def greet(self) -> dict[str, Any]:
        """Go through the handshake; return the client's ``session.update``."""
        await self.send({"type": "session.created", "session": {"id": "sess_1"}})
        update = await self.receive()
        await self.send({"type": "session.updated", "session": {"id": "sess_1"}})
        return update

    async def until_closed(self) -> int | None:
        """Take frames until the client leaves; return its close code."""
        while not self.ws.closed:
            message = await self.ws.receive()
            if message.type in (WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.ERROR):
                break
        return self.ws.close_code

    def kill(self) -> None:
        """Cut the line without a close frame."""
        assert self.request.transport is not None
        self.request.transport.abort()


@contextlib.asynccontextmanager
async def serve(script: Script, **options: Any) -> AsyncIterator[Server]:
    """Serve a script at ``/v1/realtime``."""
    server = Server(script, options)
    runner = web.AppRunner(server.app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        server.over.set()
        for request in server.requests:
            if request.transport is not None:
                request.transport.abort()
        await runner.cleanup()


class Server:
    """What tests look at."""

    def __init__(self, script: Script, options: dict[str, Any]) -> None:
        """Start with no connection."""
        self.base_url = ""
        self.requests: list[web.Request] = []
        self.ended = asyncio.Event()
        self.over = asyncio.Event()
        self._script = script
        self._options = options
        self.app = web.Application()
        self.app.router.add_get("/v1/realtime", self._handle)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        ws = web.WebSocketResponse(**self._options)
        await ws.prepare(request)
        try:
            await self._script(Line(request, ws, self.over))
        finally:
            self.ended.set()
        return ws


@contextlib.asynccontextmanager
async def answer(
    status: int, *, headers: dict[str, str] | None = None, body: str = ""
) -> AsyncIterator[str]:
    """Serve one plain HTTP answer everywhere; yields the base address."""

    async def handle(_request: web.Request) -> web.Response:
        return web.Response(status=status, text=body, headers=headers)

    app = web.Application()
    app.router.add_get("/{tail:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()
