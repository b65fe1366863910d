"""The actions through Home Assistant: responses, errors in words, permissions."""

import re
from typing import Any

from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceNotSupported,
    ServiceValidationError,
    Unauthorized,
)
from homeassistant.helpers import intent
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.home.notifier import plain
from custom_components.aiden_duplex.tasks.model import TaskStatus
from tests.tasks.house import ScriptedRunner

from .conftest import until_ended

TASK_SENSOR = "sensor.aiden_current_task"


async def _call(
    hass: HomeAssistant, name: str, data: dict[str, Any], **options: Any
) -> Any:
    """Perform an action on the task sensor and return its response."""
    response = await hass.services.async_call(
        DOMAIN,
        name,
        {"entity_id": TASK_SENSOR, **data},
        blocking=True,
        return_response=True,
        **options,
    )
    assert response is not None
    return response[TASK_SENSOR]


async def test_create_query_cancel(
    hass: HomeAssistant, entry: MockConfigEntry, hass_admin_user: MockUser
) -> None:
    """A task is created with its origin, found, and cancelled."""
    context = Context(user_id=hass_admin_user.id)
    created = await _call(
        hass, "create_task", {"goal": " open the notes "}, context=context
    )
    task = created["task"]
    assert task["prompt"] == "open the notes"
    assert task["status"] in ("queued", "running")
    assert task["origin"] == {
        "source": "action",
        "user_id": hass_admin_user.id,
        "context_id": context.id,
    }
    found = await _call(hass, "query_tasks", {"task_id": created["task_id"]})
    assert [item["id"] for item in found["tasks"]] == [created["task_id"]]
    await hass.async_block_till_done()
    ended = await _call(hass, "cancel_task", {"task_id": created["task_id"]})
    assert ended["task"]["id"] == created["task_id"]


async def test_the_same_goal_again_is_refused_with_the_task_that_has_it(
    hass: HomeAssistant, entry: MockConfigEntry, runner: ScriptedRunner
) -> None:
    """Nothing is created and nothing stopped, unless it is said to be a repetition."""
    first = await _call(hass, "create_task", {"goal": "File 800 CNY."})
    for goal in ("File 800 CNY.", "  file 800  cny "):
        with pytest.raises(ServiceValidationError) as caught:
            await _call(hass, "create_task", {"goal": goal})
        assert caught.value.translation_key == "duplicate_task"
        assert caught.value.translation_placeholders == {"existing": first["task_id"]}
    found = await _call(hass, "query_tasks", {"include_finished": True})
    assert [task["id"] for task in found["tasks"]] == [first["task_id"]]
    again = await _call(hass, "create_task", {"goal": "File 800 CNY.", "repeat": "on"})
    assert again["task_id"] != first["task_id"]


async def test_a_task_without_a_board_fails_in_words(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """Nothing is set up that could reach the phone: the task says so and ends."""
    created = await _call(hass, "create_task", {"goal": "open the notes"})
    task = await until_ended(hass, entry, created["task_id"])
    assert task.status is TaskStatus.FAILED
    assert task.error
    states = {state.entity_id: state.state for state in hass.states.async_all()}
    assert states[TASK_SENSOR] == "failed"
    assert states["binary_sensor.aiden_link_to_the_phone"] == "unavailable"


@pytest.mark.parametrize(
    ("name", "data", "key"),
    [
        ("create_task", {"goal": " "}, "goal_empty"),
        ("create_task", {"goal": "x" * 8_001}, "goal_too_long"),
        ("cancel_task", {"task_id": "task_0"}, "task_not_found"),
        ("query_tasks", {"task_id": "task_0"}, "task_not_found"),
        ("respond", {"task_id": "task_0", "message": "ok"}, "task_not_found"),
    ],
)
async def test_bad_input_raises_a_translated_error(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    name: str,
    data: dict[str, Any],
    key: str,
) -> None:
    """Each fault of the caller is a validation error with a key of the translations."""
    with pytest.raises(ServiceValidationError) as caught:
        await _call(hass, name, data)
    assert caught.value.translation_domain == DOMAIN
    assert caught.value.translation_key == key


async def test_templates_give_texts(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """Booleans may come as texts, as templates make them."""
    found = await _call(hass, "query_tasks", {"include_finished": "on"})
    assert found == {"tasks": []}


async def test_without_a_response_variable(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """Creating needs no response variable."""
    await hass.services.async_call(
        DOMAIN,
        "create_task",
        {"entity_id": TASK_SENSOR, "goal": "open the notes"},
        blocking=True,
    )
    assert len(entry.runtime_data.tasks.tasks()) == 1


async def test_other_sensors_are_no_targets(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """The count cannot create tasks."""
    with pytest.raises(ServiceNotSupported):
        await hass.services.async_call(
            DOMAIN,
            "create_task",
            {"entity_id": "sensor.aiden_outstanding_tasks", "goal": "x"},
            blocking=True,
        )


async def test_a_user_without_control_permission_is_refused(
    hass: HomeAssistant, entry: MockConfigEntry, hass_read_only_user: MockUser
) -> None:
    """Home Assistant's permissions apply to every action."""
    context = Context(user_id=hass_read_only_user.id)
    for name, data in (
        ("create_task", {"goal": "open the notes"}),
        ("cancel_task", {"task_id": "task_0"}),
        ("respond", {"task_id": "task_0", "message": "ok"}),
        ("query_tasks", {}),
    ):
        with pytest.raises(Unauthorized):
            await _call(hass, name, data, context=context)
    assert entry.runtime_data.tasks.tasks() == []


async def test_actions_need_a_loaded_entry(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """After unloading nothing is created and the caller is told."""
    await hass.config_entries.async_unload(entry.entry_id)
    with pytest.raises(HomeAssistantError):
        await _call(hass, "create_task", {"goal": "open the notes"})


async def test_who_may_not_control_the_phone_does_not_by_talking(
    hass: HomeAssistant, entry: MockConfigEntry, hass_read_only_user: MockUser
) -> None:
    """The conversation refuses in words; nothing is held, asked or created."""
    assert await async_setup_component(hass, "conversation", {})
    result = await conversation.async_converse(
        hass,
        "stop! turn on airplane mode",
        None,
        Context(user_id=hass_read_only_user.id),
        agent_id="conversation.aiden",
    )
    assert result.response.response_type is intent.IntentResponseType.ERROR
    assert "may not operate" in result.response.speech["plain"]["speech"]
    assert not entry.runtime_data.phone.is_held
    assert entry.runtime_data.tasks.tasks() == []
    assert entry.runtime_data.foreground.snapshot.sessions == 0


@pytest.mark.parametrize(
    "text",
    [
        *("https://evil.example/pay", "www.evil.example", "mail me@evil.example"),
        *("ftp://evil.example", "<b>", "a\u202eb", "\x07", "[x](y)"),
    ],
)
def test_a_notification_holds_no_link(text: str) -> None:
    """What a screen or a model wrote is text, bare addresses included."""
    shown = plain(f"see {text} now")
    assert not re.search(r"://|www\.|\w@\w", shown)
    assert not re.search(r"[\u202a-\u202e\x00-\x08]", shown)
