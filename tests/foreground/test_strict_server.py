"""The foreground over a real socket against the simulator's strict server and its brain."""

import asyncio
from collections.abc import AsyncIterator
import contextlib
from datetime import UTC, datetime
import functools
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

from custom_components.aiden_duplex.foreground.foreground import Foreground
from custom_components.aiden_duplex.memory.transcript import Transcript
from custom_components.aiden_duplex.models.errors import ModelError, ModelErrorKind
from custom_components.aiden_duplex.models.realtime.connection import (
    check,
    connect_openai,
)
from custom_components.aiden_duplex.models.realtime.session import (
    RealtimeSession,
    SessionConfig,
)
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import Outcome
from custom_components.aiden_duplex.tasks.runner import RunEnd, RunResult
from simulator.models import ModelSettings, add_routes
from tests.foreground.fakes import SPEAKER, FakeJournal, FakeRunner

pytestmark = pytest.mark.usefixtures("socket_enabled")

_KEY = "sk-test-0123456789abcdef"


class Stage:
    """The server, the foreground, and what is between them."""

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        """Build the rooms."""
        self.url = url
        self.http = http
        self.runner = FakeRunner()
        self.tasks = TaskManager(
            journal=FakeJournal(), runner=self.runner, now=self._now
        )
        self.transcript = Transcript(FakeJournal())
        self.foreground = Foreground(
            connect=self._connect,
            tasks=self.tasks,
            transcript=self.transcript,
            now=self._now,
            phone_ready=lambda: None,
        )

    async def say(self, text: str) -> str:
        """Have a turn."""
        stream = self.foreground.converse(text, speaker=SPEAKER)
        async with asyncio.timeout(10):
            return "".join([piece async for piece in stream])

    async def fault(self, mode: str, **options: Any) -> None:
        """Order a fault of the realtime server."""
        order = {"realtime": {"mode": mode, **options}}
        async with self.http.post(f"{self.url}/control/models", json=order) as answer:
            assert answer.status == 200, await answer.text()

    async def frames(self) -> list[dict[str, Any]]:
        """Return what went over the wire."""
        async with self.http.get(f"{self.url}/control/models") as answer:
            record: dict[str, Any] = await answer.json()
        frames: list[dict[str, Any]] = record["realtime"]["frames"]
        return frames

    async def refusals(self) -> list[dict[str, Any]]:
        """Return the errors that the server sent."""
        return [
            frame
            for frame in await self.frames()
            if frame.get("frame", {}).get("type") == "error"
        ]

    async def _connect(self, config: SessionConfig) -> RealtimeSession:
        return await connect_openai(
            self.http,
            base_url=f"{self.url}/v1",
            api_key=_KEY,
            model="gpt-realtime",
            config=config,
        )

    @staticmethod
    def _now() -> datetime:
        return datetime.now(UTC)


@contextlib.asynccontextmanager
async def _stage(**settings: Any) -> AsyncIterator[Stage]:
    app = web.Application()
    values = {"realtime_think_s": 0.0, "delta_pace_s": 0.0, **settings}
    add_routes(app, ModelSettings(api_key=_KEY, **values))
    async with (
        TestServer(app, host="127.0.0.1") as server,
        aiohttp.ClientSession() as http,
    ):
        stage = Stage(str(server.make_url("")).rstrip("/"), http)
        await stage.tasks.load()
        await stage.transcript.load()
        stage.tasks.start()
        try:
            yield stage
        finally:
            await stage.tasks.close()
            await stage.foreground.close()
            await stage.transcript.close()
        assert not http.closed


async def test_a_whole_conversation() -> None:
    """Small talk, work, a duplicate, the result, a goodbye: the server refuses nothing."""
    async with _stage() as stage:
        assert "Hello" in await stage.say("hello")
        assert "on it" in await stage.say("turn on airplane mode")
        (task,) = stage.tasks.tasks()
        assert "airplane mode" in task.prompt.lower()
        assert "already" in await stage.say("turn on airplane mode")
        assert len(stage.tasks.tasks()) == 1
        stage.runner.end(
            task.id,
            RunResult(
                end=RunEnd.COMPLETED,
                text="Airplane mode is on.",
                outcome=Outcome.ACHIEVED,
            ),
        )
        async with asyncio.timeout(5):
            while not stage.tasks.get(task.id).status.is_terminal:
                await asyncio.sleep(0.01)
        told = await stage.say("how are you?")
        assert "Airplane mode is on" in told
        assert "I am fine" in told
        assert "task" not in told
        assert stage.tasks.outstanding() == []
        assert "Goodbye" in await stage.say("goodbye")
        assert await stage.refusals() == []


@pytest.mark.parametrize("mode", ["close_1000", "close_1001", "close_1011", "drop"])
async def test_the_conversation_survives_the_end_of_its_session(mode: str) -> None:
    """[5] [10] The session ends between two texts; the next one is answered."""
    async with _stage() as stage:
        await stage.say("hello")
        await stage.fault(mode, value="now")
        assert "fine" in await stage.say("how are you?")
        assert stage.foreground.snapshot.sessions <= 2
        assert [error for error in await stage.refusals() if "item" in str(error)] == []


@pytest.mark.parametrize(
    "mode", ["collision", "collision_null", "beta_names", "unknown_events"]
)
async def test_what_servers_do_beside_the_rules(mode: str) -> None:
    """[1] [2] [O7] The text is answered all the same, once."""
    async with _stage() as stage:
        await stage.say("hello")
        await stage.fault(mode, times=1)
        assert "on it" in await stage.say("turn on airplane mode")
        assert len(stage.tasks.tasks()) == 1


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        ("rate_limit_exceeded", ModelErrorKind.RATE_LIMITED),
        ("insufficient_quota", ModelErrorKind.QUOTA),
        ("server_error", ModelErrorKind.SERVER),
        ("model_not_found", ModelErrorKind.MODEL_UNKNOWN),
        ("max_output_tokens", ModelErrorKind.BAD_REQUEST),
        ("cancelled", ModelErrorKind.SERVER),
        ("empty", ModelErrorKind.PROTOCOL),
    ],
)
async def test_failures_within_a_response(mode: str, kind: ModelErrorKind) -> None:
    """[O8] Each failure has its class, runs nothing, and the next text is answered."""
    async with _stage() as stage:
        await stage.fault(mode, times=2)
        with pytest.raises(ModelError) as caught:
            await stage.say("turn on airplane mode")
        assert caught.value.kind is kind
        assert stage.tasks.tasks() == []
        await stage.fault("ok")
        assert await stage.say("hello")


async def test_a_caller_that_goes_is_confirmed_by_the_server() -> None:
    """The cancel is accepted, the session goes on."""
    async with _stage(delta_pace_s=0.1) as stage:
        stream = stage.foreground.converse("hello", speaker=SPEAKER)
        await anext(stream)
        await stream.aclose()
        assert "fine" in await stage.say("how are you?")
        assert stage.foreground.snapshot.sessions == 1
        assert await stage.refusals() == []


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        ("unauthorized", ModelErrorKind.AUTHENTICATION),
        ("forbidden", ModelErrorKind.AUTHENTICATION),
        ("not_found", ModelErrorKind.MODEL_UNKNOWN),
        ("rate_limited", ModelErrorKind.RATE_LIMITED),
        ("unavailable", ModelErrorKind.SERVER),
    ],
)
async def test_the_check_names_what_is_wrong(mode: str, kind: ModelErrorKind) -> None:
    """[O10] The config flow's check against a strict server."""
    async with _stage() as stage:
        asked = functools.partial(
            check, stage.http, base_url=f"{stage.url}/v1", api_key=_KEY
        )
        await asked(model="gpt-realtime")
        with pytest.raises(ModelError) as caught:
            await asked(model="no-such-model")
        assert caught.value.kind is ModelErrorKind.MODEL_UNKNOWN
        await stage.fault(mode)
        with pytest.raises(ModelError) as caught:
            await asked(model="gpt-realtime")
        assert caught.value.kind is kind
