"""What the README says is there, and its examples work in Home Assistant."""

import asyncio
from collections.abc import Callable
import functools
from pathlib import Path
import re
from typing import Any

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_mock_service,
)
import yaml

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.tasks import errors
from custom_components.aiden_duplex.tasks.model import ReasonClass
from tests.tasks.house import ScriptedRunner

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
EXAMPLES: list[dict[str, Any]] = [
    yaml.safe_load(block)
    for block in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
]
AUTOMATIONS = {
    example["alias"]: example for example in EXAMPLES if "triggers" in example
}
SCRIPTS = {example["alias"]: example for example in EXAMPLES if "sequence" in example}
CARDS = [example for example in EXAMPLES if "type" in example]
ENTITY_ID = re.compile(
    r"\b(?:binary_sensor|button|conversation|event|image|sensor|switch)\.aiden\w*"
)


async def _until(condition: Callable[[], Any]) -> None:
    """Wait for something while scripts wait, too."""
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


async def _add(hass: HomeAssistant, domain: str, config: Any) -> None:
    """Set up an automation or a script; Home Assistant must find nothing wrong with it."""
    assert await async_setup_component(hass, domain, {domain: config})
    await hass.async_block_till_done()
    states = hass.states.async_all(domain)
    assert len(states) == 1
    assert states[0].state != "unavailable", states[0]


def test_every_example_is_of_a_known_kind() -> None:
    """Nothing escapes the tests below."""
    assert len(EXAMPLES) == len(AUTOMATIONS) + len(SCRIPTS) + len(CARDS)
    assert set(AUTOMATIONS) == {"Aiden needs somebody", "Aiden only at home"}
    assert set(SCRIPTS) == {"Airplane mode on the phone"}


async def test_every_entity_is_named_and_every_name_is_an_entity(
    hass: HomeAssistant, entry: MockConfigEntry, entity_registry: er.EntityRegistry
) -> None:
    """With all that can be turned on; the slots are named by the first."""
    hass.config_entries.async_update_entry(entry, options={"show_picture": True})
    await hass.config_entries.async_reload(entry.entry_id)
    entities = {
        known.entity_id: hass.states.get(known.entity_id)
        for known in er.async_entries_for_config_entry(entity_registry, entry.entry_id)
    }
    assert all(entities.values())
    second = {"sensor.aiden_2_current_task"}
    named = set(ENTITY_ID.findall(README)) - second
    slots = {f"sensor.aiden_task_slot_{number}" for number in (2, 3, 4)}
    assert named | slots == set(entities)


async def test_the_second_phone_is_named_as_told(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """The entity id of the second phone's sensor."""
    other = MockConfigEntry(domain=DOMAIN, title="Aiden 2", data=entry.data)
    other.add_to_hass(hass)
    assert await hass.config_entries.async_setup(other.entry_id)
    assert hass.states.get("sensor.aiden_2_current_task")
    await hass.config_entries.async_unload(other.entry_id)
    assert other.state is ConfigEntryState.NOT_LOADED


def test_every_action_and_field_is_described() -> None:
    """The table has the actions, and of each row the fields."""
    component = ROOT / "custom_components" / DOMAIN
    actions = yaml.safe_load((component / "services.yaml").read_text())
    rows = dict(re.findall(rf"^\| `{DOMAIN}\.(\w+)` \| (.*?) \|", README, re.MULTILINE))
    assert set(rows) == set(actions)
    for name, action in actions.items():
        for field in action["fields"]:
            assert f"`{field}`" in rows[name], (name, field)


def test_every_error_of_an_action_is_described() -> None:
    """The table has the codes of the task manager's refusals."""
    table = README.partition("| Error | When |")[2].partition("\n\n")[0]
    told = {
        code
        for row in table.splitlines()[2:]
        for code in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    codes = {
        error.code
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.TaskError)
    } - {errors.TaskError.code}
    values = {
        f"{name}_{why}" for name in ("goal", "message") for why in ("empty", "too_long")
    }
    assert told == codes | values


async def test_the_cards_name_the_task_sensor(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """A card's entity is there."""
    for card in CARDS:
        assert card["type"] == "custom:aiden-duplex-card"
        assert hass.states.get(card["entity"])


async def test_the_script_does_a_task_and_tells_its_result(
    hass: HomeAssistant, entry: MockConfigEntry, runner: ScriptedRunner
) -> None:
    """It waits for the end of its own task and hands the result on."""
    told = async_mock_service(hass, "notify", "notify")
    script = SCRIPTS["Airplane mode on the phone"]
    await _add(hass, "script", {"readme": script})
    await hass.services.async_call("script", "readme")
    await _until(lambda: runner.calls)
    assert runner.last.request.goal == "Turn on airplane mode"
    assert told == []
    runner.last.complete("Airplane mode is on.", evidence="the switch shows On")
    await _until(lambda: told)
    assert told[0].data == {
        "title": "Phone: achieved",
        "message": "Airplane mode is on.",
    }


@pytest.mark.parametrize("decision", ["answered", "refused"])
async def test_a_question_is_answered_from_a_notification(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    runner: ScriptedRunner,
    decision: str,
) -> None:
    """The button of the notification answers the question that it was made for."""
    told = async_mock_service(hass, "notify", "mobile_app_my_phone")
    await _add(hass, "automation", AUTOMATIONS["Aiden needs somebody"])
    tasks = entry.runtime_data.tasks
    await hass.services.async_call(
        DOMAIN,
        "create_task",
        {"entity_id": "sensor.aiden_current_task", "goal": "open the notes"},
        blocking=True,
    )
    await _until(lambda: runner.calls)
    runner.last.pause(ReasonClass.AUTHENTICATION)
    await _until(lambda: told)
    assert told[0].data["title"] == "Which account?"
    actions = [action["action"] for action in told[0].data["data"]["actions"]]
    pressed = next(action for action in actions if action.startswith(decision))
    hass.bus.async_fire("mobile_app_notification_action", {"action": pressed})
    if decision == "answered":
        await _until(lambda: len(runner.calls) == 2)
        asked = runner.last.request.continuation
        assert asked == "Answered by the notification on my phone"
        runner.last.complete("done")
        await _until(lambda: tasks.tasks()[0].status.is_terminal)
        return
    await _until(lambda: tasks.tasks()[0].status.is_terminal)
    task = tasks.tasks()[0]
    assert (task.status, task.outcome) == ("completed", "not_achieved")


async def test_the_phone_is_left_alone_away_from_home(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """The kill switch follows the person."""
    await _add(hass, "automation", AUTOMATIONS["Aiden only at home"])
    for place, expected in (("home", "off"), ("not_home", "on"), ("home", "off")):
        hass.states.async_set("device_tracker.my_phone", place)
        await hass.async_block_till_done()
        await _until(functools.partial(_kill_switch_is, hass, expected))


def _kill_switch_is(hass: HomeAssistant, expected: str) -> bool:
    """Return whether the kill switch has a state."""
    state = hass.states.get("switch.aiden_kill_switch")
    return state is not None and state.state == expected
