"""Slots, buttons, the kill switch, the picture: states, presses, rows of the history."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO
from typing import Any

from homeassistant.components.image import async_get_image
from homeassistant.core import HomeAssistant, State
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
from PIL import Image
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
    async_fire_time_changed,
)

from custom_components.aiden_duplex import button
from custom_components.aiden_duplex.phone.types import Area, Observation, Settle
from custom_components.aiden_duplex.runtime import Aiden
from custom_components.aiden_duplex.tasks.model import Origin, ReasonClass, TaskStatus
from tests.tasks.house import ScriptedRunner

SLOT_1, SLOT_2 = "sensor.aiden_task_slot_1", "sensor.aiden_task_slot_2"
CANCEL, PROCEED = "button.aiden_cancel_task", "button.aiden_done_go_on"
REFUSE, SWITCH = "button.aiden_refuse", "switch.aiden_kill_switch"
ORIGIN = Origin(source="action")


def _state(hass: HomeAssistant, entity_id: str) -> State:
    """Return a state that must be there."""
    state = hass.states.get(entity_id)
    assert state is not None, entity_id
    return state


async def _until(hass: HomeAssistant, condition: Callable[[], bool]) -> None:
    """Wait for something that the real disk may delay."""
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)
    await hass.async_block_till_done()


async def _create(hass: HomeAssistant, aiden: Aiden, goal: str) -> str:
    """Create a task; return its id."""
    task = await aiden.tasks.create(goal, origin=ORIGIN)
    await hass.async_block_till_done()
    return task.id


async def _running(
    hass: HomeAssistant, entry: MockConfigEntry, runner: ScriptedRunner, goal: str
) -> str:
    """Create a task and wait until it is in work; return its id."""
    runs = len(runner.calls)
    task_id = await _create(hass, entry.runtime_data, goal)
    await _until(hass, lambda: len(runner.calls) > runs)
    return task_id


@pytest.fixture(autouse=True)
def _shown_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let presses mean what stands there now; tests of that say otherwise."""
    monkeypatch.setattr(button, "SHOWN_S", 0.0)


async def _press(hass: HomeAssistant, entity_id: str) -> None:
    """Press a button."""
    await hass.services.async_call(
        "button", "press", {"entity_id": entity_id}, blocking=True
    )


async def test_slots_show_tasks_and_keep_them(
    hass: HomeAssistant, entry: MockConfigEntry, runner: ScriptedRunner
) -> None:
    """The first is in slot 1, the next in slot 2; an end stays shown."""
    assert _state(hass, SLOT_1).state == "idle"
    assert "task_id" not in _state(hass, SLOT_1).attributes
    first = await _running(hass, entry, runner, "open the notes")
    second = await _create(hass, entry.runtime_data, "open the clock")
    assert _state(hass, SLOT_1).state == "running"
    assert _state(hass, SLOT_1).attributes["goal"] == "open the notes"
    assert _state(hass, SLOT_2).state == "queued"
    runner.last.complete("The notes are open.", evidence="a list of notes")
    await _until(hass, lambda: len(runner.calls) == 2)
    done = _state(hass, SLOT_1)
    assert done.state == "completed"
    assert done.attributes["task_id"] == first
    assert done.attributes["outcome"] == "achieved"
    assert done.attributes["result"] == "The notes are open."
    assert _state(hass, SLOT_2).attributes["task_id"] == second
    assert _state(hass, SLOT_2).state == "running"


async def test_the_number_of_slots_is_an_option(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    entity_registry: er.EntityRegistry,
) -> None:
    """Fewer leave no entity behind; more come in addition."""

    def slots() -> list[str]:
        return sorted(
            known.entity_id
            for known in er.async_entries_for_config_entry(
                entity_registry, entry.entry_id
            )
            if known.translation_key == "slot"
        )

    assert len(slots()) == 4
    hass.config_entries.async_update_entry(entry, options={"slots": 2})
    await hass.config_entries.async_reload(entry.entry_id)
    assert slots() == [SLOT_1, SLOT_2]
    hass.config_entries.async_update_entry(entry, options={"slots": 16})
    await hass.config_entries.async_reload(entry.entry_id)
    assert len(slots()) == 16


async def test_a_task_costs_few_rows_and_steps_none(
    hass: HomeAssistant, entry: MockConfigEntry, runner: ScriptedRunner
) -> None:
    """At most twelve changes of states from the wish to the end; no new entity."""
    before = set(hass.states.async_entity_ids())
    changes = async_capture_events(hass, "state_changed")
    await _running(hass, entry, runner, "open the notes")
    for step in range(20):
        runner.last.on_step(f"step {step}")
    runner.last.complete("done")
    await _until(
        hass, lambda: _state(hass, "sensor.aiden_current_task").state == "completed"
    )
    for task in entry.runtime_data.tasks.tasks():
        await entry.runtime_data.tasks.mark_delivered(task.id)
    await hass.async_block_till_done()
    assert len(changes) <= 12
    assert set(hass.states.async_entity_ids()) == before


async def test_buttons_are_there_while_there_is_something_to_do(
    hass: HomeAssistant, entry: MockConfigEntry, runner: ScriptedRunner
) -> None:
    """Go on and refuse only while a task waits; cancel always, with an error in words."""

    def available() -> list[bool]:
        return [
            _state(hass, name).state != "unavailable"
            for name in (CANCEL, PROCEED, REFUSE)
        ]

    assert available() == [True, False, False]
    with pytest.raises(ServiceValidationError) as caught:
        await _press(hass, CANCEL)
    assert caught.value.translation_key == "not_running"
    task_id = await _running(hass, entry, runner, "open the notes")
    assert available() == [True, False, False]
    runner.last.pause(ReasonClass.AUTHENTICATION)
    await _until(hass, lambda: entry.runtime_data.tasks.get(task_id).is_waiting)
    assert available() == [True, True, True]
    await _press(hass, PROCEED)
    await _until(hass, lambda: len(runner.calls) == 2)
    assert runner.last.request.task_id == task_id
    assert runner.last.request.continuation == "Done."
    assert available() == [True, False, False]
    await _press(hass, CANCEL)
    await _until(
        hass,
        lambda: entry.runtime_data.tasks.get(task_id).status is TaskStatus.CANCELLED,
    )
    assert available() == [True, False, False]


async def test_refuse_ends_the_task_that_waits(
    hass: HomeAssistant, entry: MockConfigEntry, runner: ScriptedRunner
) -> None:
    """Completed and not achieved; the one that has waited longest first."""
    first = await _running(hass, entry, runner, "first")
    runner.last.pause()
    await _until(hass, lambda: entry.runtime_data.tasks.get(first).is_waiting)
    second = await _running(hass, entry, runner, "second")
    runner.last.pause()
    await _until(hass, lambda: entry.runtime_data.tasks.get(second).is_waiting)
    needs_you = _state(hass, "binary_sensor.aiden_needs_you")
    assert needs_you.attributes["task_id"] == first
    await _press(hass, REFUSE)
    await hass.async_block_till_done()
    refused = entry.runtime_data.tasks.get(first)
    assert (refused.status, refused.outcome) == ("completed", "not_achieved")
    assert entry.runtime_data.tasks.get(second).is_waiting


async def test_a_press_does_not_roll_over_to_what_nobody_saw(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    runner: ScriptedRunner,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second press answers no other question, a second cancel stops no other task."""
    tasks = entry.runtime_data.tasks
    first = await _running(hass, entry, runner, "first")
    runner.last.pause()
    await _until(hass, lambda: tasks.get(first).is_waiting)
    second = await _running(hass, entry, runner, "pay 900 EUR")
    runner.last.pause()
    await _until(hass, lambda: tasks.get(second).is_waiting)
    await _press(hass, PROCEED)
    await hass.async_block_till_done()
    monkeypatch.setattr(button, "SHOWN_S", 60.0)
    for name in (PROCEED, REFUSE):
        with pytest.raises(ServiceValidationError) as caught:
            await _press(hass, name)
        assert caught.value.translation_key == "rollover"
    assert tasks.get(second).is_waiting
    third = await _create(hass, entry.runtime_data, "third")
    await _press(hass, CANCEL)
    await _until(hass, lambda: tasks.get(first).status.is_terminal)
    with pytest.raises(ServiceValidationError) as caught:
        await _press(hass, CANCEL)
    assert caught.value.translation_key == "rollover"
    assert not tasks.get(second).status.is_terminal
    assert not tasks.get(third).status.is_terminal


async def test_take_over_and_the_kill_switch_as_actions(
    hass: HomeAssistant, entry: MockConfigEntry, runner: ScriptedRunner
) -> None:
    """The response says that it waits; nothing to take over is an error in words."""
    target = {"entity_id": "sensor.aiden_current_task"}

    async def call(name: str, data: dict[str, Any], *, response: bool = False) -> Any:
        return await hass.services.async_call(
            "aiden_duplex",
            name,
            {**target, **data},
            blocking=True,
            return_response=response,
        )

    with pytest.raises(ServiceValidationError) as caught:
        await call("take_over", {})
    assert caught.value.translation_key == "not_running"
    task_id = await _running(hass, entry, runner, "open the notes")
    answer = await call("take_over", {"task_id": task_id}, response=True)
    task = answer["sensor.aiden_current_task"]["task"]
    assert task["pending_user_action"]["reason"] == "take_over"
    assert _state(hass, "binary_sensor.aiden_needs_you").state == "on"
    await call("set_kill_switch", {"active": True})
    assert _state(hass, SWITCH).state == "on"
    with pytest.raises(ServiceValidationError) as caught:
        await call("create_task", {"goal": "another"})
    assert caught.value.translation_key == "halted"
    await call("set_kill_switch", {"active": False})
    assert _state(hass, SWITCH).state == "off"


async def test_the_kill_switch_stops_and_survives_a_reload(
    hass: HomeAssistant, entry: MockConfigEntry, runner: ScriptedRunner
) -> None:
    """The run fails, the phone is nobody's, also after a reload; off lets work go on."""
    task_id = await _running(hass, entry, runner, "open the notes")
    await hass.services.async_call(
        "switch", "turn_on", {"entity_id": SWITCH}, blocking=True
    )
    await _until(hass, lambda: entry.runtime_data.tasks.get(task_id).status.is_terminal)
    task = entry.runtime_data.tasks.get(task_id)
    assert (task.status, task.error) == (
        "failed",
        "It was stopped by the kill switch.",
    )
    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    assert _state(hass, SWITCH).state == "on"
    phone = entry.runtime_data.phone
    with pytest.raises(Exception, match="kill switch"):
        phone.acquire("somebody")
    await hass.services.async_call(
        "switch", "turn_off", {"entity_id": SWITCH}, blocking=True
    )
    assert phone.acquire("somebody").owner == "somebody"


def _look(colour: str) -> Observation:
    """Return a look at a screen of one colour."""
    buffer = BytesIO()
    Image.new("RGB", (20, 40), colour).save(buffer, "JPEG")
    return Observation(
        jpeg=buffer.getvalue(),
        width=20,
        height=40,
        area=Area(left=0, top=0, width=20, height=40),
        source_width=20,
        source_height=40,
        captured_at=0,
        settle=Settle.SETTLED,
        changed=True,
    )


async def test_the_picture_is_off_unless_wanted_and_seldom_written(
    hass: HomeAssistant, entry: MockConfigEntry, entity_registry: er.EntityRegistry
) -> None:
    """The first look at once, of many within five seconds only the last."""
    name = "image.aiden_screen"
    assert hass.states.get(name) is None
    hass.config_entries.async_update_entry(entry, options={"show_picture": True})
    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    assert _state(hass, name).state == "unknown"
    changes = async_capture_events(hass, "state_changed")
    watchers = entry.runtime_data.phone._watchers
    assert len(watchers) == 1
    for colour in ("red", "green", "blue"):
        watchers[0](_look(colour))
    await hass.async_block_till_done()
    assert len(changes) == 1
    assert (await async_get_image(hass, name)).content == _look("red").jpeg
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=6))
    await hass.async_block_till_done()
    assert len(changes) == 2
    assert (await async_get_image(hass, name)).content == _look("blue").jpeg
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=12))
    await hass.async_block_till_done()
    assert len(changes) == 2
    hass.config_entries.async_update_entry(entry, options={"show_picture": False})
    await hass.config_entries.async_reload(entry.entry_id)
    assert entity_registry.async_get(name) is None
    assert entry.runtime_data.phone._watchers == []
