"""Runs of the agent under virtual time."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from custom_components.aiden_duplex.background.agent import DeviceAgent
from custom_components.aiden_duplex.background.limits import LoopLimits
from custom_components.aiden_duplex.tasks.runner import RunRequest, RunResult
from tests import virtual_time

from .fakes import FakeChat, FakePhone, Line

GOAL = "turn on airplane mode"


def now() -> datetime:
    """Return a fixed time."""
    return datetime(2026, 10, 1, 12, 0, tzinfo=UTC)


def request(**more: Any) -> RunRequest:
    """Return a first run."""
    values: dict[str, Any] = {"task_id": "t1", "goal": GOAL, "goal_revision": 1}
    return RunRequest(**values | more)


@dataclass(slots=True, kw_only=True)
class Ran:
    """One finished run and all that it touched."""

    result: RunResult
    phone: FakePhone
    chat: FakeChat
    steps: list[str] = field(default_factory=list)
    took_s: float = 0.0


def agent_for(phone: FakePhone, chat: FakeChat | None, **more: Any) -> DeviceAgent:
    """Return an agent on a phone."""
    return DeviceAgent(phone=phone, chat=lambda: chat, now=now, **more)


def play(
    lines: Sequence[Line],
    phone: FakePhone | None = None,
    *,
    limits: LoopLimits | None = None,
    **more: Any,
) -> Ran:
    """Run one task to its end; nothing may be left running or held."""

    async def scenario() -> Ran:
        used = phone or FakePhone()
        chat = FakeChat(lines)
        steps: list[str] = []
        agent = agent_for(used, chat, limits=limits or LoopLimits())
        time = asyncio.get_running_loop().time
        started = time()
        result = await agent.run(request(**more), steps.append)
        assert used.desk.holder is None
        assert len(asyncio.all_tasks()) == 1
        return Ran(
            result=result, phone=used, chat=chat, steps=steps, took_s=time() - started
        )

    return virtual_time.run(scenario())
