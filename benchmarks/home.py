"""A real Home Assistant with the integration, and tasks in it."""

import asyncio
from collections.abc import AsyncIterator
import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from simulator.home.client import HassClient
from simulator.home.process import HassProcess
from simulator.home.setup import find_entities, set_up

from .place import Phone

LINK_S = 60
TASK_S = 120
ENDED = ("completed", "failed", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A running Home Assistant that is set up, and its simulated phone."""

    client: HassClient
    simulated: Phone
    entities: dict[str, str]

    @classmethod
    async def find(cls, client: HassClient, simulated: Phone) -> Self:
        """Find the entities and wait for the link to the phone."""
        home = cls(
            client=client,
            simulated=simulated,
            entities=await find_entities(client),
        )
        async with asyncio.timeout(LINK_S):
            while await home.state("binary_sensor.link") != "on":
                await asyncio.sleep(0.2)
        return home

    async def state(self, name: str) -> str:
        """Return the state of one of our entities."""
        state: str = (await self.client.states())[self.entities[name]]["state"]
        return state

    async def work(self, goal: str, seed: int) -> dict[str, Any]:
        """Let one task be worked to its end on the phone of a seed; return it."""
        await self.simulated.control("phone", {"reset": seed})
        created = await self._action("create_task", goal=goal, repeat=True)
        async with asyncio.timeout(TASK_S):
            while True:
                await asyncio.sleep(0.5)
                found = await self._action("query_tasks", task_id=created["task_id"])
                task: dict[str, Any] = found["tasks"][0]
                if task["status"] in ENDED or "pending_user_action" in task:
                    return task

    async def cancel(self, task: dict[str, Any]) -> None:
        """Stop a task that waits for a person."""
        await self._action("cancel_task", task_id=task["id"])

    async def _action(self, name: str, **data: Any) -> Any:
        """Perform one of our actions on the task sensor."""
        target = self.entities["sensor.task"]
        values = {"entity_id": target, **data}
        answer = await self.client.action("aiden_duplex", name, values, response=True)
        return answer[target]


@contextlib.asynccontextmanager
async def running(config: Path, simulated: Phone) -> AsyncIterator[Home]:
    """Start Home Assistant and set the integration up through its own flow."""
    hass = HassProcess(config=config, level="warning")
    async with HassClient(hass.url) as client:
        try:
            await hass.start()
            await client.sign_in()
            await set_up(client, simulated.ready, simulated["board_pty"])
            yield await Home.find(client, simulated)
        finally:
            await client.close_socket()
            await hass.stop()
