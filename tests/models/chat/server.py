"""A Chat Completions server on 127.0.0.1 that does as it is told."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
import json
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

type Step = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]

_BODY_FIELDS = {"model", "messages", "tools", "tool_choice"}


def problem_in(body: dict[str, Any]) -> str | None:
    """Return what the strictest known servers would refuse in a request."""
    if unknown := set(body) - _BODY_FIELDS:
        return f"unknown field {unknown}"
    open_calls: list[str] = []
    for message in body["messages"]:
        role, content = message["role"], message.get("content")
        if role not in ("system", "user", "assistant", "tool"):
            return f"unknown role {role}"
        if isinstance(content, list) and role != "user":
            return f"content parts in a {role} message"
        if content == "" or (content is None and not message.get("tool_calls")):
            return "empty content"
        if role == "tool":
            if message["tool_call_id"] not in open_calls:
                return "a tool message without its call"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return "a call without its tool message"
        open_calls = [call["id"] for call in message.get("tool_calls", ())]
    return "a call without its tool message" if open_calls else None


class ChatServer:
    """Answers each request with the next step of a script and keeps what it got."""

    def __init__(self) -> None:
        """Start with an empty script."""
        self.script: deque[Step] = deque()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.arrived = asyncio.Event()
        app = web.Application(client_max_size=8 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._handle)
        self._server = TestServer(app, host="127.0.0.1")

    @property
    def base_url(self) -> str:
        """Return the address that a person would enter."""
        return str(self._server.make_url("/v1"))

    def then(self, *steps: Step) -> None:
        """Append to the script."""
        self.script.extend(steps)

    async def start(self) -> None:
        """Listen."""
        await self._server.start_server()

    async def close(self) -> None:
        """Stop listening."""
        await self._server.close()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        self.arrived.set()
        if problem := problem_in(body):
            return web.json_response({"error": {"message": problem}}, status=400)
        return await self.script.popleft()(request, body)


def completion(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    """Return the JSON value of a chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
    }


def says(text: str | None = "hello", **message: Any) -> Step:
    """Answer with a message."""
    return sends(completion({"role": "assistant", "content": text, **message}))


def calls(name: str, arguments: object, **more: Any) -> Step:
    """Answer with one call."""
    call = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return says(None, tool_calls=[call | more])


def sends(payload: object, status: int = 200, **headers: str) -> Step:
    """Answer with any JSON value."""

    async def step(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(
            payload,
            status=status,
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )

    return step


def sends_raw(data: bytes, content_type: str, status: int = 200) -> Step:
    """Answer with any bytes."""

    async def step(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.Response(body=data, content_type=content_type, status=status)

    return step


async def resets(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """Take the request and cut the connection."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def breaks_off(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """Cut the connection in the middle of the answer."""
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"choices": [')
    assert request.transport is not None
    request.transport.abort()
    return response


async def floods(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """Answer without an end, as long as somebody reads."""
    response = web.StreamResponse()
    await response.prepare(request)
    try:
        while True:
            await response.write(b" " * 65536)
    except ConnectionError:
        return response


async def hangs(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """Never answer."""
    await asyncio.Event().wait()
    return web.Response()
