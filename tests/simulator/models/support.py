"""A running pair of model servers, and a client of the realtime one."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Sequence
import contextlib
from dataclasses import dataclass, field
import json
from typing import Any

from aiohttp import ClientWebSocketResponse, WSMsgType, web
from aiohttp.test_utils import TestClient, TestServer

from simulator.models import Brains, ModelSettings, add_routes
from simulator.models.brain.thoughts import Question, Reply

KEY = "sk-test-0123456789abcdef"
MODEL = "gpt-realtime"
BEARER = {"Authorization": f"Bearer {KEY}"}
DEADLINE_S = 10.0

type Frame = dict[str, Any]
type Client = TestClient[web.Request, web.Application]


@dataclass(slots=True, kw_only=True)
class Script:
    """A brain that says what it was told, in order; the last reply repeats."""

    replies: Sequence[Reply | Callable[[Question], Reply]]
    asked: list[Question] = field(default_factory=list)

    async def reply(self, question: Question) -> Reply:
        """Return the next reply."""
        self.asked.append(question)
        reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
        return reply(question) if callable(reply) else reply


@contextlib.asynccontextmanager
async def serving(
    *replies: Reply | Callable[[Question], Reply], **settings: Any
) -> AsyncIterator[tuple[Client, Script]]:
    """Serve both models with a scripted brain, without any pause."""
    script = Script(replies=replies or (Reply(text="Hello there."),))
    values = {
        "api_key": KEY,
        "think_s": 0.0,
        "realtime_think_s": 0.0,
        "delta_pace_s": 0.0,
    }
    app = web.Application()
    add_routes(
        app,
        ModelSettings(**{**values, **settings}),
        brains=Brains(chat=script, realtime=script),
    )
    async with TestClient(TestServer(app, host="127.0.0.1")) as client:
        yield client, script


@dataclass(slots=True)
class Socket:
    """A realtime connection that reads frames with a deadline."""

    socket: ClientWebSocketResponse
    seen: list[Frame] = field(default_factory=list)

    async def send(self, kind: str, **values: Any) -> None:
        """Send a client event."""
        await self.socket.send_str(json.dumps({"type": kind, **values}))

    async def next(self) -> Frame:
        """Return the next server event."""
        async with asyncio.timeout(DEADLINE_S):
            message = await self.socket.receive()
        assert message.type is WSMsgType.TEXT, message
        frame: Frame = json.loads(message.data)
        self.seen.append(frame)
        return frame

    async def until(self, kind: str) -> list[Frame]:
        """Return the events up to and with the first of a kind."""
        frames = [await self.next()]
        while frames[-1]["type"] != kind:
            frames.append(await self.next())
        return frames

    async def ask(self, kind: str, **values: Any) -> Frame:
        """Send an event and return the very next one."""
        await self.send(kind, **values)
        return await self.next()

    async def closed(self) -> tuple[int | None, str]:
        """Return the code and the reason of the close that comes."""
        async with asyncio.timeout(DEADLINE_S):
            message = await self.socket.receive()
            while message.type is WSMsgType.TEXT:
                self.seen.append(json.loads(message.data))
                message = await self.socket.receive()
        return self.socket.close_code, str(message.extra or "")


@contextlib.asynccontextmanager
async def connected(
    client: Client, *, model: str = MODEL, **headers: str
) -> AsyncIterator[Socket]:
    """Connect to the realtime server."""
    sent = {
        **BEARER,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    async with client.ws_connect(f"/v1/realtime?model={model}", headers=sent) as socket:
        yield Socket(socket)


@contextlib.asynccontextmanager
async def session(client: Client, *, modalities: str = "text") -> AsyncIterator[Socket]:
    """Connect and configure a session that answers in text."""
    async with connected(client) as socket:
        await socket.next()
        update = {
            "type": "realtime",
            "output_modalities": [modalities],
            "tools": [TOOL],
        }
        await socket.ask("session.update", session=update)
        yield socket


TOOL: Frame = {
    "type": "function",
    "name": "create_agent_task",
    "description": "Hand work over.",
    "parameters": {
        "type": "object",
        "properties": {"task": {"type": "string"}},
        "required": ["task"],
        "additionalProperties": False,
    },
}


def user(text: str, **values: Any) -> Frame:
    """Return a user item."""
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content, **values}


def kinds(frames: Sequence[Frame]) -> list[str]:
    """Return the types of frames, with runs of the same delta as one."""
    found: list[str] = []
    for frame in frames:
        kind = frame["type"]
        if not (kind.endswith(".delta") and found and found[-1] == kind):
            found.append(kind)
    return found


def data_url(jpeg: bytes) -> str:
    """Return a JPEG as a data URL."""
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"
