"""Fixtures: an entry that is set up without any outside."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.tasks.model import Origin, Task
from tests.tasks.house import ScriptedRunner

ENTRY_DATA: dict[str, Any] = {
    "device": None,
    "touch_space": "frame",
    "picture": {"snapshot_url": None, "camera_entity_id": None},
    "foreground": {
        "base_url": "http://127.0.0.1:9/v1",
        "api_key": "sk-secret",
        "model": "gpt-realtime",
    },
    "background": {
        "base_url": "http://127.0.0.1:9/v1",
        "api_key": "sk-secret",
        "model": "simulated-vision",
    },
}


@pytest.fixture(autouse=True)
def _custom_integrations(enable_custom_integrations: None) -> None:
    """Let Home Assistant find the integration."""


@pytest.fixture(autouse=True)
async def _own_configuration(hass: HomeAssistant, tmp_path: Path) -> None:
    """Keep journals out of the harness's folder; set up what is always there."""
    hass.config.config_dir = str(tmp_path)
    assert await async_setup_component(hass, "homeassistant", {})


async def until_ended(
    hass: HomeAssistant, entry: MockConfigEntry, task_id: str
) -> Task:
    """Wait until a task has ended and everybody was told."""
    tasks = entry.runtime_data.tasks
    ended = asyncio.Event()
    unsubscribe = tasks.subscribe(
        lambda event: ended.set() if event.task.status.is_terminal else None
    )
    try:
        if not tasks.get(task_id).status.is_terminal:
            async with asyncio.timeout(10):
                await ended.wait()
    finally:
        unsubscribe()
    await hass.async_block_till_done()
    task: Task = tasks.get(task_id)
    return task


async def do_task(
    hass: HomeAssistant, entry: MockConfigEntry, goal: str = "open the notes"
) -> Task:
    """Create a task and wait for its end; without a board it fails."""
    origin = Origin(source="action")
    task = await entry.runtime_data.tasks.create(goal, origin=origin)
    return await until_ended(hass, entry, task.id)


@pytest.fixture
async def entry(
    hass: HomeAssistant, socket_enabled: None
) -> AsyncGenerator[MockConfigEntry]:
    """Return a loaded entry with nothing reachable outside; unload it at the end."""
    value = MockConfigEntry(domain=DOMAIN, title="Aiden", data=ENTRY_DATA)
    value.add_to_hass(hass)
    assert await hass.config_entries.async_setup(value.entry_id)
    await hass.async_block_till_done()
    yield value
    if value.state is ConfigEntryState.LOADED:
        await hass.config_entries.async_unload(value.entry_id)
    await hass.async_block_till_done()


@pytest.fixture
def runner(entry: MockConfigEntry) -> ScriptedRunner:
    """Return the runner that the entry's tasks are given to instead of the phone."""
    scripted = ScriptedRunner()
    entry.runtime_data.tasks._worker._runner = scripted
    return scripted
