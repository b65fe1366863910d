"""The audit trail in Home Assistant: exported by an action, told by the logbook."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from homeassistant.core import Context, Event, HomeAssistant
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_capture_events,
)
import voluptuous as vol

from custom_components.aiden_duplex.const import DOMAIN, EVENT_TASK
from custom_components.aiden_duplex.logbook import async_describe_events

from .conftest import until_ended

TASK_SENSOR = "sensor.aiden_current_task"
TASK_EVENT = "event.aiden_task_event"


async def _call(
    hass: HomeAssistant, name: str, data: dict[str, Any], context: Context | None = None
) -> Any:
    """Perform an action on the task sensor and return its response."""
    response = await hass.services.async_call(
        DOMAIN,
        name,
        {"entity_id": TASK_SENSOR, **data},
        blocking=True,
        return_response=True,
        context=context,
    )
    assert response is not None
    return response[TASK_SENSOR]


async def test_who_asked_for_what_can_be_exported(
    hass: HomeAssistant, entry: MockConfigEntry, hass_admin_user: MockUser
) -> None:
    """Also after a reload; what was pressed and switched is in it, too."""
    context = Context(user_id=hass_admin_user.id)
    created = await _call(hass, "create_task", {"goal": "open the notes"}, context)
    task_id = created["task_id"]
    await until_ended(hass, entry, task_id)
    await _call(hass, "cancel_task", {"task_id": task_id}, context)
    for name in ("turn_on", "turn_off"):
        await hass.services.async_call(
            "switch",
            name,
            {"entity_id": "switch.aiden_kill_switch"},
            blocking=True,
            context=context,
        )
    await hass.config_entries.async_reload(entry.entry_id)
    exported = await _call(hass, "export_audit", {"task_id": task_id})
    assert not exported["more"]
    records = exported["records"]
    assert {record["task"] for record in records} == {task_id}
    assert {record["user_id"] for record in records} == {hass_admin_user.id}
    assert records[0]["goal"] == "open the notes"
    assert [record.get("event", record.get("action")) for record in records] == [
        *("created", "queued", "running", "failed", "cancel_task")
    ]
    everything = await _call(hass, "export_audit", {})
    actions = [record.get("action") for record in everything["records"]]
    assert actions[-2:] == ["kill_switch_on", "kill_switch_off"]
    newest = await _call(hass, "export_audit", {"limit": 1})
    assert newest == {"records": everything["records"][-1:], "more": True}
    tomorrow = dt_util.now() + timedelta(days=1)
    empty = await _call(hass, "export_audit", {"start": tomorrow.isoformat()})
    assert empty == {"records": [], "more": False}
    both = {"start": "2020-01-01 00:00:00", "end": tomorrow.isoformat()}
    assert await _call(hass, "export_audit", both) == everything


async def test_an_export_has_a_bound(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """A response is no dump of the disk."""
    with pytest.raises(vol.Invalid):
        await _call(hass, "export_audit", {"limit": 1001})


async def test_the_logbook_tells_of_tasks_in_the_context_of_the_person(
    hass: HomeAssistant, entry: MockConfigEntry, hass_admin_user: MockUser
) -> None:
    """One line for what matters; the state of the event entity has the context, too."""
    described: dict[str, Callable[[Event], dict[str, str]]] = {}

    def describe(
        domain: str, name: str, line: Callable[[Event], dict[str, str]]
    ) -> None:
        assert domain == DOMAIN
        described[name] = line

    async_describe_events(hass, describe)
    events = async_capture_events(hass, EVENT_TASK)
    context = Context(user_id=hass_admin_user.id)
    goal = "open {goal} now"
    created = await _call(hass, "create_task", {"goal": goal}, context)
    await until_ended(hass, entry, created["task_id"])
    lines = [described[event.event_type](event) for event in events]
    assert lines == [
        {"name": "Aiden", "message": text, "entity_id": TASK_EVENT}
        for text in (f"was asked to: {goal}", f"failed: {goal}")
    ]
    assert {event.context.id for event in events} == {context.id}
    assert {event.context.user_id for event in events} == {hass_admin_user.id}
    state = hass.states.get(TASK_EVENT)
    assert state is not None
    assert state.context.user_id == hass_admin_user.id
