"""The dashboard's subscription: what it sends, to whom, and through reloads."""

import asyncio
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser
from pytest_homeassistant_custom_component.typing import (
    MockHAClientWebSocket,
    WebSocketGenerator,
)

from custom_components.aiden_duplex.snapshot import MAX_QUESTIONS, async_snapshot
from custom_components.aiden_duplex.tasks.model import Origin, Task, TaskStatus

from .conftest import do_task

TASK_SENSOR = "sensor.aiden_current_task"
QUIET_S = 0.4
"""Several times the time within which changes become one message."""


async def _subscribe(
    client: MockHAClientWebSocket, entity_id: str = TASK_SENSOR
) -> dict[str, Any]:
    """Subscribe; return the first message."""
    await client.send_json_auto_id(
        {"type": "aiden_duplex/subscribe", "entity_id": entity_id}
    )
    answer = await client.receive_json()
    assert answer["success"], answer
    return await _event(client)


async def _event(client: MockHAClientWebSocket) -> dict[str, Any]:
    """Return the next message of the subscription."""
    async with asyncio.timeout(10):
        message = await client.receive_json()
    assert message["type"] == "event", message
    event: dict[str, Any] = message["event"]
    return event


async def _until(
    client: MockHAClientWebSocket, shown: dict[str, Any], **wanted: Any
) -> dict[str, Any]:
    """Take messages until the names have the values; return what is shown then."""
    while not wanted.items() <= shown.items():
        shown = shown | await _event(client)
    return shown


async def test_the_first_message_is_complete(
    hass: HomeAssistant, entry: MockConfigEntry, hass_ws_client: WebSocketGenerator
) -> None:
    """An idle phone without a board: all names are there, no secret is."""
    client = await hass_ws_client(hass)
    shown = await _subscribe(client)
    assert shown.pop("entities")["task"] == TASK_SENSOR
    phone = shown.pop("phone")
    assert (phone["has_board"], phone["link"], phone["picture"]) == (
        False,
        "down",
        False,
    )
    assert phone["halted"] is False
    assert shown == {
        "title": "Aiden",
        "loaded": True,
        "current": None,
        "questions": [],
        "tasks": [],
        "outstanding": 0,
    }


async def test_a_task_is_told_from_its_beginning_to_its_end(
    hass: HomeAssistant, entry: MockConfigEntry, hass_ws_client: WebSocketGenerator
) -> None:
    """Later messages have only what changed; the end comes with its error."""
    client = await hass_ws_client(hass)
    await _subscribe(client)
    task = await do_task(hass, entry, "open the <b>notes</b>")
    assert task.status is TaskStatus.FAILED
    shown: dict[str, Any] = {}
    while shown.get("current", {}).get("status") != "failed":
        event = await _event(client)
        assert not {"title", "entities", "loaded"} & event.keys()
        shown |= event
    assert shown["current"]["id"] == task.id
    assert shown["current"]["goal"] == "open the <b>notes</b>"
    assert shown["current"]["error"] == task.error
    assert [row["id"] for row in shown["tasks"]] == [task.id]
    assert "origin" not in str(shown)


async def test_a_burst_is_one_message(
    hass: HomeAssistant, entry: MockConfigEntry, hass_ws_client: WebSocketGenerator
) -> None:
    """Many changes at once are told once, with the last state; a repeat is not told."""
    client = await hass_ws_client(hass)
    await _subscribe(client)
    for number in range(100):
        hass.config_entries.async_update_entry(entry, title=f"Phone {number}")
    assert await _event(client) == {"title": "Phone 99"}
    entry.runtime_data._async_changed()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(QUIET_S):
            await client.receive_json()


async def test_it_survives_a_reload_and_tells_of_the_removal(
    hass: HomeAssistant, entry: MockConfigEntry, hass_ws_client: WebSocketGenerator
) -> None:
    """One subscription lives through unloading, loading and new tasks until the end."""
    client = await hass_ws_client(hass)
    shown = await _subscribe(client)
    assert await hass.config_entries.async_unload(entry.entry_id)
    shown = await _until(client, shown, loaded=False)
    assert await hass.config_entries.async_setup(entry.entry_id)
    shown = await _until(client, shown, loaded=True)
    task = await do_task(hass, entry)
    while (shown.get("current") or {}).get("id") != task.id:
        shown |= await _event(client)
    await hass.config_entries.async_remove(entry.entry_id)
    await _until(client, shown, loaded=False, removed=True)


async def test_unsubscribing_leaves_no_listener(
    hass: HomeAssistant, entry: MockConfigEntry, hass_ws_client: WebSocketGenerator
) -> None:
    """After a subscription has ended nothing of it is called."""
    client = await hass_ws_client(hass)
    before = len(entry.runtime_data._listeners)
    await client.send_json(
        {"id": 50, "type": "aiden_duplex/subscribe", "entity_id": TASK_SENSOR}
    )
    assert (await client.receive_json())["success"]
    await _event(client)
    assert len(entry.runtime_data._listeners) == before + 1
    await client.send_json({"id": 51, "type": "unsubscribe_events", "subscription": 50})
    assert (await client.receive_json())["success"]
    assert len(entry.runtime_data._listeners) == before


@pytest.mark.parametrize(
    "entity_id", ["sensor.aiden_outstanding_tasks", "sensor.nothing", "light.nothing"]
)
async def test_other_entities_are_refused(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    hass_ws_client: WebSocketGenerator,
    entity_id: str,
) -> None:
    """Only a task sensor names a phone."""
    client = await hass_ws_client(hass)
    await client.send_json_auto_id(
        {"type": "aiden_duplex/subscribe", "entity_id": entity_id}
    )
    answer = await client.receive_json()
    assert not answer["success"]
    assert answer["error"]["code"] == "not_found"
    assert answer["error"]["translation_key"] == "no_task_sensor"
    assert entity_id in answer["error"]["message"]


async def test_who_may_not_read_the_sensor_gets_nothing(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    hass_ws_client: WebSocketGenerator,
    hass_admin_user: MockUser,
) -> None:
    """Without read permission there is no subscription."""
    hass_admin_user.groups = []
    hass_admin_user.mock_policy({"entities": {"entity_ids": {"light.kitchen": True}}})
    client = await hass_ws_client(hass)
    await client.send_json_auto_id(
        {"type": "aiden_duplex/subscribe", "entity_id": TASK_SENSOR}
    )
    answer = await client.receive_json()
    assert answer["error"]["code"] == "unauthorized"
    assert answer["error"]["translation_key"] == "may_not_read"


async def test_who_may_read_only_gets_the_subscription(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    hass_ws_client: WebSocketGenerator,
    hass_read_only_access_token: str,
) -> None:
    """Reading is enough to look; a renamed sensor is found by its new name."""
    registry = er.async_get(hass)
    registry.async_update_entity(TASK_SENSOR, new_entity_id="sensor.what_it_does")
    await hass.async_block_till_done()
    client = await hass_ws_client(hass, hass_read_only_access_token)
    shown = await _subscribe(client, "sensor.what_it_does")
    assert shown["entities"]["task"] == "sensor.what_it_does"


async def test_it_stays_small_whatever_is_asked(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """Long goals and many tasks are cut; the count says that there are more."""
    tasks: list[Task] = []
    for number in range(30):
        goal = f"{number} {'x' * 7_900}"
        tasks.append(
            await entry.runtime_data.tasks.create(goal, origin=Origin(source="action"))
        )
    shown = async_snapshot(hass, entry)
    assert len(shown["tasks"]) == 4
    assert shown["outstanding"] == 30
    assert all(len(row["goal"]) == 200 for row in shown["tasks"])
    assert len(shown["questions"]) <= MAX_QUESTIONS
    assert len(str(shown)) < 10_000
