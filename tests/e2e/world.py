"""A real Home Assistant, the simulator, and what happens between them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.home.client import HassClient
from simulator.home.process import (
    COMPONENT,
    HassProcess,
    SimulatorProcess,
    start_simulator,
)
from simulator.home.setup import find_entities, set_up

DEADLINE_S = 90
"""More than any single wait of these tests needs on two busy cores."""


@dataclass(slots=True)
class World:
    """The processes of one test module and a signed-in client."""

    simulator: SimulatorProcess
    hass: HassProcess
    client: HassClient
    board: Path
    entities: dict[str, str] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    """Attributes of every task event since the last :meth:`fresh`."""
    notifications: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    async def start(
        cls, folder: Path, *, set_up_entry: bool = True, component: Path = COMPONENT
    ) -> World:
        """Start both processes; set the integration up through its flow."""
        board = folder / "board"
        simulator = await start_simulator(
            "--pty-link", str(board), log=folder / "simulator.log"
        )
        hass = HassProcess(config=folder / "config", component=component)
        await hass.start()
        client = HassClient(hass.url)
        world = cls(simulator=simulator, hass=hass, client=client, board=board)
        await client.sign_in()
        if set_up_entry:
            await world.set_up()
        return world

    async def set_up(self) -> None:
        """Go through the config flow, then watch the task events."""
        result = await set_up(self.client, self.simulator.ready, str(self.board))
        assert result["type"] == "create_entry", result
        await self.watch()
        await self.until(self.linked)

    async def watch(self) -> None:
        """Find the entities and follow task events and notifications."""
        self.entities = await find_entities(self.client)
        await self.client.subscribe(
            self._take_event,
            "subscribe_trigger",
            trigger={"platform": "state", "entity_id": self.entities["event.task"]},
        )
        await self.client.subscribe(
            self._take_notification, "persistent_notification/subscribe"
        )

    async def stop(self) -> None:
        """Stop everything."""
        with contextlib.suppress(Exception):
            await self.client.close()
        await self.hass.stop()
        await self.simulator.stop()

    def complaints(self) -> list[str]:
        """Return what Home Assistant logged that no run may log."""
        told_the_caller = "homeassistant.components.websocket_api"
        return [
            line
            for line in self.hass.log.splitlines()
            if (" ERROR " in line and told_the_caller not in line)
            or "blocking call" in line
        ]

    def _take_event(self, event: dict[str, Any]) -> None:
        """Keep a task event; there is no state any more when the entry is removed."""
        state = event["variables"]["trigger"]["to_state"]
        if state and state["attributes"].get("event_type"):
            self.events.append(state["attributes"])

    def _take_notification(self, event: dict[str, Any]) -> None:
        """Follow the notifications."""
        match event["type"]:
            case "current":
                self.notifications = dict(event["notifications"])
            case "added" | "updated":
                self.notifications |= event["notifications"]
            case "removed":
                for name in event["notifications"]:
                    self.notifications.pop(name, None)

    # What a person does

    async def say(self, text: str) -> str:
        """Say something to Aiden."""
        return await self.client.converse(text, self.entities["conversation.assistant"])

    async def action(self, name: str, *, response: bool = True, **data: Any) -> Any:
        """Perform one of the actions on the task sensor."""
        target = self.entities["sensor.task"]
        result = await self.client.action(
            "aiden_duplex", name, {"entity_id": target, **data}, response=response
        )
        return result[target] if response else result

    async def set_options(self, **options: Any) -> None:
        """Change the entry's options by its flow, and wait until it is up again."""
        entries = await self.client.request("GET", "/api/config/config_entries/entry")
        entry = next(entry for entry in entries if entry["domain"] == "aiden_duplex")
        path = "/api/config/config_entries/options/flow"
        flow = await self.client.request("POST", path, {"handler": entry["entry_id"]})
        async with self.reload():
            done = await self.client.request(
                "POST", f"{path}/{flow['flow_id']}", options
            )
            assert done["type"] == "create_entry", done

    @contextlib.asynccontextmanager
    async def reload(self) -> AsyncIterator[None]:
        """Do what reloads the entry; then wait until it is up again, and not as before."""
        link = self.entities["binary_sensor.link"]
        before = (await self.client.states())[link]["last_changed"]
        yield

        async def up_again() -> bool:
            state = (await self.client.states()).get(link, {"state": "gone"})
            return bool(state["state"] == "on" and state["last_changed"] != before)

        await self.until(up_again)

    # What can be seen

    async def control(self, path: str, data: dict[str, Any] | None = None) -> Any:
        """Ask or tell the simulator: the truth about the phone, the finger, faults."""
        url = f"{self.simulator['http']}/control/{path}"
        method = "GET" if data is None else "POST"
        async with self.client.session.request(method, url, json=data) as response:
            assert response.status == 200, await response.text()
            return await response.json()

    async def state(self, name: str) -> dict[str, Any]:
        """Return the state of one of the integration's entities."""
        return (await self.client.states())[self.entities[name]]

    async def linked(self) -> bool:
        """Return whether the link to the phone is up."""
        return bool((await self.state("binary_sensor.link"))["state"] == "on")

    async def toggle(self, name: str) -> bool:
        """Return the truth about a toggle of the phone."""
        return bool((await self.control("phone"))["toggles"][name])

    def kinds(self, task_id: str) -> list[str]:
        """Return the kinds of a task's events so far."""
        return [
            event["event_type"] for event in self.events if event["task_id"] == task_id
        ]

    def ended(self, task_id: str) -> bool:
        """Return whether a task's end was published."""
        return bool({"completed", "failed", "cancelled"} & set(self.kinds(task_id)))

    async def until(
        self,
        condition: Callable[[], bool] | Callable[[], Coroutine[Any, Any, bool]],
        *,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        """Wait until something holds; fail with the log's end when it does not."""
        try:
            async with asyncio.timeout(deadline_s):
                while True:
                    result = condition()
                    if asyncio.iscoroutine(result):
                        result = await result
                    if result:
                        return
                    await asyncio.sleep(0.05)
        except TimeoutError as err:
            raise AssertionError(
                f"never came true within {deadline_s} s: {condition}\n"
                f"events: {self.events[-12:]}\n{self.hass.log[-3000:]}"
            ) from err

    async def fresh(self, seed: int) -> None:
        """Begin with a phone made from another seed and no events."""
        await self.control("phone", {"reset": seed})
        self.events.clear()

    async def restart(self, *, kill: bool = False) -> None:
        """Restart Home Assistant in order, or as after a power cut."""
        await self.client.close_socket()
        assert self.hass.child is not None
        if kill:
            self.hass.child.kill()
            await self.hass.child.process.wait()
        else:
            await self.hass.stop()
        await self.hass.start()
        await self.client.sign_in()
        self.events.clear()
        await self.watch()
