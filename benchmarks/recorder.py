"""What a task costs Home Assistant's database and registries."""

import asyncio
from collections.abc import Iterable
import contextlib
from dataclasses import dataclass, replace
import json
from pathlib import Path
import sqlite3

from . import parts
from .harness import Measurement
from .home import Home, running
from .place import Place

COUNT = 4
GOAL = "turn on airplane mode"
MOST_ROWS = 12
MOST_BYTES = 4096
DATABASE = "home-assistant_v2.db"
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
    config = place.subfolder("recorder")
    async with (
        place.phones(1) as [simulated],
        running(config, simulated) as home,
    ):
        # The first task brings what is only ever made once.
        await _work(home, 0)
        before = await _count(home, config)
        for seed in range(1, COUNT + 1):
            await _work(home, seed)
        after = await _count(home, config)
    return _rows(before, after)


async def _work(home: Home, seed: int) -> None:
    """Let one task be achieved."""
    task = await home.work(GOAL, seed)
    if task.get("outcome") != "achieved":
        raise RuntimeError(f"the task was not worked: {task}")


async def _count(home: Home, config: Path) -> Recorded:
    """Return what is kept, once everything is written."""
    await asyncio.sleep(COMMIT_S)
    registered = [
        await home.client.call(f"config/{kind}_registry/list")
        for kind in ("entity", "device")
    ]
    rows: Recorded = await parts.run_blocking(
        recorded, config / DATABASE, list(home.entities.values())
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
