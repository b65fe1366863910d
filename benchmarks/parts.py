"""The product's own parts, composed as its runtime composes them, without Home Assistant."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
import functools
from pathlib import Path
from typing import Any

from custom_components.aiden_duplex.background.agent import DeviceAgent
from custom_components.aiden_duplex.foreground.foreground import Foreground
from custom_components.aiden_duplex.memory.transcript import Transcript
from custom_components.aiden_duplex.models.chat.client import ChatCompletions
from custom_components.aiden_duplex.models.realtime.connection import connect_openai
from custom_components.aiden_duplex.models.realtime.session import (
    RealtimeSession,
    SessionConfig,
)
from custom_components.aiden_duplex.phone.controller import PhoneController
from custom_components.aiden_duplex.phone.link import Dx1Driver
from custom_components.aiden_duplex.phone.picture import (
    HttpSnapshotSource,
    PictureSource,
)
from custom_components.aiden_duplex.phone.types import LinkState
from custom_components.aiden_duplex.storage.files import FileLayer
from custom_components.aiden_duplex.storage.journal import Journal
from custom_components.aiden_duplex.tasks.limits import TaskLimits
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import Origin
from custom_components.aiden_duplex.tasks.runner import Runner

from .place import Phone

SPEAKER = Origin(source="conversation", user_id="person")
LINK_S = 20


def now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


async def run_blocking(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function in the loop's executor, as Home Assistant does."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, function, *arguments)


@contextlib.asynccontextmanager
async def controller(
    simulated: Phone, *, picture: PictureSource | None = None
) -> AsyncIterator[PhoneController]:
    """Return a phone whose board answers, over the paced terminal device."""
    value = PhoneController(
        driver=Dx1Driver(simulated["board_pty"]),
        picture=picture or HttpSnapshotSource(simulated.session, simulated["snapshot"]),
        run_blocking=run_blocking,
    )
    is_up = asyncio.Event()

    def changed() -> None:
        if value.link is LinkState.UP:
            is_up.set()

    value.subscribe(changed)
    await value.start()
    try:
        async with asyncio.timeout(LINK_S):
            await is_up.wait()
        yield value
    finally:
        await value.close()


@contextlib.asynccontextmanager
async def manager(
    folder: Path,
    runner: Runner,
    *,
    files: FileLayer | None = None,
    limits: TaskLimits = TaskLimits(),
) -> AsyncIterator[TaskManager]:
    """Return a task manager that works, with its journal on the disk."""
    value = TaskManager(
        journal=Journal(folder / "tasks.journal", files=files),
        runner=runner,
        now=now,
        limits=limits,
    )
    await value.load()
    value.start()
    try:
        yield value
    finally:
        await value.close()


def chat(simulated: Phone) -> ChatCompletions:
    """Return the model that operates the phone."""
    return ChatCompletions(
        simulated.session,
        base_url=simulated["openai_base_url"],
        api_key=simulated["api_key"],
        model=simulated["chat_model"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """Everything that one config entry runs."""

    phone: PhoneController
    tasks: TaskManager
    foreground: Foreground


@contextlib.asynccontextmanager
async def whole(
    folder: Path,
    simulated: Phone,
    cloud: Phone,
    *,
    hold: Callable[[PhoneController, float], None] | None = None,
) -> AsyncIterator[Whole]:
    """Compose all rooms; the conversation's model is in another process than the phone.

    ``hold`` is what a stop word does to the phone.
    """
    async with contextlib.AsyncExitStack() as stack:
        phone = await stack.enter_async_context(controller(simulated))
        user, backend = [
            await stack.enter_async_context(_transcript(folder / f"{name}.journal"))
            for name in ("user", "backend")
        ]
        agent = DeviceAgent(
            phone=phone,
            chat=lambda: chat(simulated),
            now=now,
            transcript=backend,
        )
        tasks = await stack.enter_async_context(manager(folder, agent))
        foreground = Foreground(
            connect=functools.partial(_connect, cloud),
            tasks=tasks,
            transcript=user,
            now=now,
            phone_ready=lambda: None,
            hold=functools.partial(hold, phone) if hold else phone.hold,
            language="en",
        )
        stack.push_async_callback(foreground.close)
        yield Whole(phone=phone, tasks=tasks, foreground=foreground)


@contextlib.asynccontextmanager
async def _transcript(path: Path) -> AsyncIterator[Transcript]:
    """Return an open transcript."""
    value = Transcript(Journal(path))
    await value.load()
    try:
        yield value
    finally:
        await value.close()


def _connect(cloud: Phone, config: SessionConfig) -> Awaitable[RealtimeSession]:
    """Open a realtime session."""
    return connect_openai(
        cloud.session,
        base_url=cloud["openai_base_url"],
        api_key=cloud["api_key"],
        model=cloud["realtime_model"],
        config=config,
    )
