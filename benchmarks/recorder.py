"""What a task costs Home Assistant's database and registries."""

import asyncio
from collections.abc import Iterable
import contextlib
from dataclasses import dataclass, replace
import json
from pathlib import Path
import sqlite3
from typing import Any, Self

from simulator.home.client import HassClient
from simulator.home.process import HassProcess
from simulator.home.setup import find_entities, set_up

from . import parts
from .harness import Measurement
from .place import Phone, Place

COUNT = 6
GOAL = "turn on airplane mode"
MOST_ROWS = 12
MOST_BYTES = 4096
LINK_S = 60
TASK_S = 90
COMMIT_S = 7.0
"""The recorder writes every five seconds."""

_ROWS = """
SELECT count(*), count(DISTINCT states.attributes_id)
FROM states JOIN states_meta USING (metadata_id)
WHERE states_meta.entity_id IN (SELECT value FROM json_each(?))
"""
_ATTRIBUTES = """
SELECT sum(length(CAST(shared_attrs AS BLOB))) FROM state_attributes
WHERE attributes_id IN (
  SELECT attributes_id FROM states JOIN states_meta USING (metadata_id)
  WHERE states_meta.entity_id IN (SELECT value FROM json_each(?))
)
"""
_STATES = """
SELECT sum(length(CAST(coalesce(state, '') AS BLOB)) + length(coalesce(context_id_bin, ''))
  + length(coalesce(context_user_id_bin, '')) + 56)
FROM states JOIN states_meta USING (metadata_id)
WHERE states_meta.entity_id IN (SELECT value FROM json_each(?))
"""
"""56 bytes: seven numbers of a row, each as large as SQLite makes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What the recorder keeps of our entities."""

    states: int
    attributes: int
    bytes: int
    registered: int = 0
    """Entities and devices in the registries."""


def recorded(database: Path, entities: Iterable[str]) -> Recorded:
    """Count what the recorder has written of some entities."""
    ids = (json.dumps(sorted(entities)),)
    with contextlib.closing(
        sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    ) as connection:
        states, attributes = connection.execute(_ROWS, ids).fetchone()
        (shared,) = connection.execute(_ATTRIBUTES, ids).fetchone()
        (own,) = connection.execute(_STATES, ids).fetchone()
    return Recorded(
        states=states, attributes=attributes, bytes=(shared or 0) + (own or 0)
    )


async def measure(place: Place) -> list[Measurement]:
    """Work tasks in a real Home Assistant; look at its database before and after."""
    folder = place.subfolder("recorder")
    hass = HassProcess(config=folder / "config", level="warning")
    async with place.phones(1) as [simulated], HassClient(hass.url) as client:
        try:
            await hass.start()
            await client.sign_in()
            await set_up(client, simulated.ready, simulated["board_pty"])
            home = await _Home.find(client, hass.config / "home-assistant_v2.db")
            # The first task brings what is only ever made once.
            await home.work(simulated, 0)
            before = await home.count()
            for seed in range(1, COUNT + 1):
                await home.work(simulated, seed)
            after = await home.count()
        finally:
            await client.close_socket()
            await hass.stop()
    return _rows(before, after)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Home:
    """A running Home Assistant and its database."""

    client: HassClient
    database: Path
    entities: dict[str, str]

    @classmethod
    async def find(cls, client: HassClient, database: Path) -> Self:
        """Find the entities and wait for the link to the phone."""
        home = cls(
            client=client, database=database, entities=await find_entities(client)
        )
        async with asyncio.timeout(LINK_S):
            while await home.state("binary_sensor.link") != "on":
                await asyncio.sleep(0.2)
        return home

    async def state(self, name: str) -> str:
        """Return the state of one of our entities."""
        state: str = (await self.client.states())[self.entities[name]]["state"]
        return state

    async def work(self, simulated: Phone, seed: int) -> None:
        """Let one task be worked to its end on another phone."""
        await simulated.control("phone", {"reset": seed})
        created = await self._action("create_task", goal=GOAL, repeat=True)
        async with asyncio.timeout(TASK_S):
            while True:
                await asyncio.sleep(0.5)
                found = await self._action("query_tasks", task_id=created["task_id"])
                task = found["tasks"][0]
                if task["status"] in ("completed", "failed", "cancelled"):
                    break
        if task["outcome"] != "achieved":
            raise RuntimeError(f"the task was not worked: {task}")

    async def _action(self, name: str, **data: Any) -> Any:
        """Perform one of our actions on the task sensor."""
        target = self.entities["sensor.task"]
        values = {"entity_id": target, **data}
        answer = await self.client.action("aiden_duplex", name, values, response=True)
        return answer[target]

    async def count(self) -> Recorded:
        """Return what is kept, once everything is written."""
        await asyncio.sleep(COMMIT_S)
        registered = [
            await self.client.call(f"config/{kind}_registry/list")
            for kind in ("entity", "device")
        ]
        rows: Recorded = await parts.run_blocking(
            recorded, self.database, list(self.entities.values())
        )
        return replace(rows, registered=sum(map(len, registered)))


def _rows(before: Recorded, after: Recorded) -> list[Measurement]:
    """Return what one task adds."""
    states = (after.states - before.states) / COUNT
    attributes = (after.attributes - before.attributes) / COUNT
    how = f"a whole task in a real Home Assistant with SQLite, of {COUNT}"
    values = (
        (
            "rows",
            states,
            MOST_ROWS,
            f"of states; their attributes are {attributes:.1f} more, shared rows",
        ),
        (
            "bytes",
            (after.bytes - before.bytes) / COUNT,
            MOST_BYTES,
            "states and attributes",
        ),
        (
            "registry entries",
            (after.registered - before.registered) / COUNT,
            0,
            "entities and devices",
        ),
    )
    return [
        Measurement(
            name=f"recorder, {name} per task",
            value=value,
            unit="",
            samples=COUNT,
            limit=limit,
            how=f"{how}: {what}",
        )
        for name, value, limit, what in values
    ]
