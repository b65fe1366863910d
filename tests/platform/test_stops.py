"""Stops that come while the entry is being reloaded are carried out, not lost."""

import asyncio
from typing import Any

from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import Unauthorized
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.aiden_duplex.tasks.model import Origin, ReasonClass, TaskStatus
from tests.tasks.house import ScriptedRunner

TASK_SENSOR = "sensor.aiden_current_task"
ORIGIN = Origin(source="action")


async def _absent(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Unload the entry, as a reload does."""
    assert await hass.config_entries.async_unload(entry.entry_id)
    await hass.async_block_till_done()


@pytest.fixture
async def waiting(hass: HomeAssistant, entry: MockConfigEntry) -> str:
    """Return a task whose run was cut off by unloading the entry."""
    runner = ScriptedRunner()
    tasks = entry.runtime_data.tasks
    tasks._worker._runner = runner
    task = await tasks.create("open the notes", origin=ORIGIN)
    async with asyncio.timeout(10):
        while not runner.calls:
            await asyncio.sleep(0.01)
    await _absent(hass, entry)
    return str(task.id)


async def _call(
    hass: HomeAssistant,
    domain: str,
    service: str,
    data: dict[str, Any],
    context: Context | None = None,
) -> None:
    """Perform an action."""
    await hass.services.async_call(
        domain, service, data, blocking=True, context=context or Context()
    )
    await hass.async_block_till_done()


@pytest.mark.parametrize(
    ("domain", "service", "data"),
    [
        ("switch", "turn_on", {"entity_id": "switch.aiden_kill_switch"}),
        (
            "aiden_duplex",
            "set_kill_switch",
            {"entity_id": TASK_SENSOR, "active": True},
        ),
    ],
)
async def test_the_kill_switch_is_on_after_the_reload(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    domain: str,
    service: str,
    data: dict[str, Any],
) -> None:
    """Whichever way it was turned on."""
    await _absent(hass, entry)
    await _call(hass, domain, service, data)
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert entry.runtime_data.is_halted
    state = hass.states.get("switch.aiden_kill_switch")
    assert state is not None
    assert state.state == "on"
    with pytest.raises(Exception, match="kill switch"):
        entry.runtime_data.phone.acquire("somebody")


async def test_turning_it_off_does_not_turn_it_on(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """Only stops are kept."""
    await _absent(hass, entry)
    await _call(hass, "switch", "turn_off", {"entity_id": "switch.aiden_kill_switch"})
    await _call(
        hass,
        "aiden_duplex",
        "set_kill_switch",
        {"entity_id": TASK_SENSOR, "active": False},
    )
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert not entry.runtime_data.is_halted


async def test_a_cancel_is_carried_out_before_anything_runs(
    hass: HomeAssistant, entry: MockConfigEntry, waiting: str
) -> None:
    """By its id."""
    await _call(
        hass,
        "aiden_duplex",
        "cancel_task",
        {"entity_id": TASK_SENSOR, "task_id": waiting},
    )
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert entry.runtime_data.tasks.get(waiting).status is TaskStatus.CANCELLED


@pytest.mark.parametrize(
    ("action", "entity_id"),
    [
        ("button.press", "button.aiden_cancel_task"),
        ("aiden_duplex.take_over", TASK_SENSOR),
    ],
)
async def test_a_stop_of_whatever_it_is_lets_it_wait(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    waiting: str,
    action: str,
    entity_id: str,
) -> None:
    """Nobody can say which task was meant, so the person is asked."""
    domain, _, service = action.partition(".")
    await _call(hass, domain, service, {"entity_id": entity_id})
    assert await hass.config_entries.async_setup(entry.entry_id)
    question = entry.runtime_data.tasks.get(waiting).pending_user_action
    assert question is not None
    assert question.reason is ReasonClass.TAKE_OVER


async def test_who_may_not_control_stops_nothing(
    hass: HomeAssistant, entry: MockConfigEntry, hass_read_only_user: MockUser
) -> None:
    """Permissions hold here, too."""
    await _absent(hass, entry)
    with pytest.raises(Unauthorized):
        await _call(
            hass,
            "switch",
            "turn_on",
            {"entity_id": "switch.aiden_kill_switch"},
            Context(user_id=hass_read_only_user.id),
        )
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert not entry.runtime_data.is_halted
