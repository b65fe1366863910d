"""The released archive, unpacked by hand: from the form to a finished task."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
import subprocess
import zipfile

import pytest

from simulator.home.process import ROOT
from simulator.home.setup import set_up

from .conftest import Run
from .world import World


def _unpacked(folder: Path) -> Path:
    """Build the archive and unpack it, as somebody without HACS does."""
    built = subprocess.run(
        [ROOT / "script" / "package", "--output", folder],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    target = folder / "aiden_duplex"
    with zipfile.ZipFile(built.stdout.strip()) as archive:
        archive.extractall(target)
    return target


@pytest.fixture(scope="module")
def world(
    runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Return a Home Assistant that has nothing but the archive's files."""
    folder = tmp_path_factory.mktemp("world")
    component = _unpacked(folder)
    value = runner.run(World.start(folder, set_up_entry=False, component=component))
    yield value
    runner.run(value.stop())
    assert value.complaints() == []


def test_the_unpacked_archive_does_a_task(world: World, run: Run) -> None:
    """Set up over the network, told by voice, done, told."""

    async def scenario() -> None:
        simulator = world.simulator
        done = await set_up(world.client, simulator.ready, simulator["board_tcp"])
        assert done["type"] == "create_entry", done
        await world.watch()
        await world.until(world.linked)
        await world.fresh(1)
        await world.say("turn on airplane mode")
        await world.until(
            lambda: any(world.ended(event["task_id"]) for event in world.events)
        )
        assert world.events[-1]["event_type"] == "completed"
        assert world.events[-1]["outcome"] == "achieved"
        assert await world.toggle("airplane_mode")
        assert "airplane" in (await world.say("thanks")).casefold()

    run(scenario())
