"""Loading, unloading, removing; states stay small; nothing secret leaves."""

import asyncio
from pathlib import Path
import stat
from typing import Any
from unittest.mock import patch

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
)

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.diagnostics import (
    async_get_config_entry_diagnostics,
)
from custom_components.aiden_duplex.runtime import storage_folder
from custom_components.aiden_duplex.tasks.errors import TasksUnavailableError
from custom_components.aiden_duplex.tasks.model import Origin
from tests.tasks.house import ScriptedRunner

from .conftest import do_task


def _state(hass: HomeAssistant, entity_id: str) -> str | None:
    """Return the state of an entity."""
    state = hass.states.get(entity_id)
    return state.state if state else None


async def test_entities_and_device(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    entity_registry: er.EntityRegistry,
    device_registry: dr.DeviceRegistry,
) -> None:
    """One device carries them all; the picture of the screen only if it is wanted."""
    entities = er.async_entries_for_config_entry(entity_registry, entry.entry_id)
    assert {entity.entity_id for entity in entities} == {
        "binary_sensor.aiden_link_to_the_phone",
        "binary_sensor.aiden_needs_you",
        "button.aiden_cancel_task",
        "button.aiden_done_go_on",
        "button.aiden_refuse",
        "conversation.aiden",
        "event.aiden_task_event",
        "sensor.aiden_current_task",
        "sensor.aiden_outstanding_tasks",
        *(f"sensor.aiden_task_slot_{number}" for number in range(1, 5)),
        "switch.aiden_kill_switch",
    }
    assert len(dr.async_entries_for_config_entry(device_registry, entry.entry_id)) == 1
    assert _state(hass, "sensor.aiden_current_task") == "idle"
    assert _state(hass, "sensor.aiden_outstanding_tasks") == "0"
    assert _state(hass, "binary_sensor.aiden_needs_you") == "off"


async def test_fifty_reloads_leave_nothing(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """Every reload comes up again; lingering tasks and threads fail in the harness."""
    for _ in range(50):
        assert await hass.config_entries.async_reload(entry.entry_id)
    assert entry.state is ConfigEntryState.LOADED


async def test_journals_are_private_and_deleted_with_the_entry(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """The folder is 0700, files 0600; removing the entry removes them."""
    await do_task(hass, entry)
    folder = storage_folder(hass, entry.entry_id)
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()
    assert entry.state is ConfigEntryState.NOT_LOADED
    assert not Path(folder).exists()


async def test_a_finished_task_is_there_after_a_reload(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """Snapshots before and after a reload are equal."""
    await do_task(hass, entry, "open the notes")
    before = entry.runtime_data.tasks.tasks()
    assert before[0].status.is_terminal
    await hass.config_entries.async_reload(entry.entry_id)
    assert entry.runtime_data.tasks.tasks() == before


@pytest.mark.parametrize("character", ["📱", "ö"])
async def test_states_and_attributes_stay_small(
    hass: HomeAssistant, entry: MockConfigEntry, character: str
) -> None:
    """Whatever the goal, a state has at most 255 characters and attributes 16 kB."""
    await do_task(hass, entry, character * 8000)
    for state in hass.states.async_all():
        assert len(state.state) <= 255
        assert len(state.as_dict_json) < 16_384


async def test_task_events_follow_the_task(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """Each step of a life is one change of the event entity, in order."""
    changes = async_capture_events(hass, "state_changed")
    task = await do_task(hass, entry, "open the notes")
    kinds = [
        change.data["new_state"].attributes["event_type"]
        for change in changes
        if change.data["entity_id"] == "event.aiden_task_event"
    ]
    assert kinds == ["created", "queued", "running", "failed"]
    state = hass.states.get("event.aiden_task_event")
    assert state is not None
    last = state.attributes
    assert last["task_id"] == task.id
    assert last["status"] == "failed"
    assert last["error"]


async def test_an_end_is_notified_without_markdown(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """The notification carries the goal as plain text."""
    with patch(
        "custom_components.aiden_duplex.home.notifier.persistent_notification.async_create"
    ) as create:
        task = await do_task(hass, entry, "open [this](http://evil) *now*")
    message = create.call_args.args[1]
    assert r"open \[this\]\(http\:\/\/evil\) \*now\*" in message
    assert create.call_args.kwargs["title"] == "Aiden: failed"
    assert create.call_args.kwargs["notification_id"] == f"{DOMAIN}_{task.id}"


async def test_steps_are_neither_notified_nor_events(
    hass: HomeAssistant, entry: MockConfigEntry, runner: ScriptedRunner
) -> None:
    """Forty steps in a task: one notification, at its end, and no event between."""
    events = async_capture_events(hass, "state_changed")
    with patch(
        "custom_components.aiden_duplex.home.notifier.persistent_notification.async_create"
    ) as create:
        task = asyncio.create_task(do_task(hass, entry))
        async with asyncio.timeout(10):
            while not runner.calls:
                await asyncio.sleep(0.01)
        for number in range(40):
            runner.last.on_step(f"scrolling {number}")
            await asyncio.sleep(0)
        create.assert_not_called()
        runner.last.complete("It is open.")
        await task
    create.assert_called_once()
    assert create.call_args.kwargs["title"] == "Aiden: Done"
    assert [
        event.data["new_state"].attributes["event_type"]
        for event in events
        if event.data["entity_id"] == "event.aiden_task_event"
    ] == ["created", "queued", "running", "completed"]


async def test_diagnostics_hold_no_secret_and_no_text(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """Keys, addresses and goals are absent; counts are there."""
    await do_task(hass, entry, "a very private goal")
    diagnostics = await async_get_config_entry_diagnostics(hass, entry)
    text = str(diagnostics)
    for secret in ("sk-secret", "127.0.0.1", "private"):
        assert secret not in text
    assert diagnostics["tasks"]["by_status"] == {"failed": 1}


async def test_a_conversation_without_a_model_says_why(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """The agent answers with an error in words that names no key."""
    answer = await hass.services.async_call(
        "conversation",
        "process",
        {"text": "hello", "agent_id": "conversation.aiden"},
        blocking=True,
        return_response=True,
    )
    response: Any = answer and answer["response"]
    speech = response["speech"]["plain"]["speech"]
    assert response["response_type"] == "error"
    assert speech.startswith("I cannot answer right now: ")
    assert "sk-secret" not in speech


@pytest.mark.parametrize("text", ["", "  \n "])
async def test_an_empty_text_is_answered_in_words(
    hass: HomeAssistant, entry: MockConfigEntry, text: str
) -> None:
    """Nothing is sent to a model and nothing is logged as an error."""
    answer = await hass.services.async_call(
        "conversation",
        "process",
        {"text": text, "agent_id": "conversation.aiden"},
        blocking=True,
        return_response=True,
    )
    response: Any = answer and answer["response"]
    assert response["speech"]["plain"]["speech"].startswith("I heard nothing.")


async def test_untold_results_are_shown_again_after_a_start(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """Home Assistant forgets notifications; a result that nobody heard comes back."""
    task = await do_task(hass, entry)
    with patch(
        "custom_components.aiden_duplex.home.notifier.persistent_notification.async_create"
    ) as create:
        await hass.config_entries.async_reload(entry.entry_id)
    assert create.call_args.kwargs["notification_id"] == f"{DOMAIN}_{task.id}"


async def test_telling_a_result_is_no_task_event(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """The last event of a task that ended stays its end."""
    task = await do_task(hass, entry)
    await entry.runtime_data.tasks.mark_delivered(task.id)
    await hass.async_block_till_done()
    state = hass.states.get("event.aiden_task_event")
    assert state is not None
    assert state.attributes["event_type"] == "failed"


async def test_stopping_home_assistant_ends_all(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """Without unloading: the tasks are closed, so that nothing new is taken."""
    await hass.async_stop(force=True)
    with pytest.raises(TasksUnavailableError):
        await entry.runtime_data.tasks.create("x", origin=Origin(source="action"))
