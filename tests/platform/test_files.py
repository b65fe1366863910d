"""What hassfest would check: manifest, translations, icons and actions fit together."""

import ast
import json
from pathlib import Path
import re
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers.service import async_get_all_descriptions
from homeassistant.setup import async_setup_component
import pytest
import yaml

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.models.errors import ModelErrorKind
from custom_components.aiden_duplex.phone.link import ProbeReason
from custom_components.aiden_duplex.tasks import errors
from custom_components.aiden_duplex.tasks.model import TaskEventType, TaskStatus

COMPONENT = Path(__file__).parents[2] / "custom_components" / DOMAIN


def _json(name: str) -> Any:
    """Return a JSON file of the component."""
    return json.loads((COMPONENT / name).read_text())


def _sources() -> str:
    """Return all platform and adapter code."""
    files = [*COMPONENT.glob("*.py"), *COMPONENT.glob("home/*.py")]
    return "\n".join(file.read_text() for file in files)


def test_the_manifest_is_in_order() -> None:
    """Domain and name first, then by the alphabet; only what custom integrations may have."""
    manifest = _json("manifest.json")
    keys = list(manifest)
    assert keys == ["domain", "name", *sorted(keys[2:])]
    assert manifest["domain"] == DOMAIN
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert manifest["requirements"] == ["numpy>=2.0"]


def test_imported_components_are_declared() -> None:
    """Every other integration that code imports is a dependency of some kind."""
    manifest = _json("manifest.json")
    declared = {*manifest["dependencies"], *manifest["after_dependencies"], DOMAIN}
    always_there = {
        "binary_sensor",
        "diagnostics",
        "event",
        "persistent_notification",
        "sensor",
    }
    imported = set()
    for file in [*COMPONENT.glob("*.py"), *COMPONENT.glob("home/*.py")]:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                for name in [node.module, *names]:
                    if match := re.match(r"homeassistant\.components\.(\w+)", name):
                        imported.add(match[1])
    assert imported <= declared | always_there


def test_every_error_of_the_flow_is_translated() -> None:
    """Each class of failure has a sentence that shows the detail."""
    shown = _json("translations/en.json")["config"]["error"]
    expected = {f"model_{kind}" for kind in ModelErrorKind}
    expected |= {f"board_{reason}" for reason in ProbeReason}
    expected |= {"picture_twice", "picture_unusable"}
    assert set(shown) == expected
    assert all(
        "{detail}" in text for key, text in shown.items() if key != "picture_twice"
    )


def test_every_exception_is_translated_and_used() -> None:
    """Keys in code and translations are the same set."""
    exceptions = set(_json("translations/en.json")["exceptions"])
    codes = {
        error.code
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.TaskError)
    } - {errors.TaskError.code}
    values = set(re.findall(r"``(\w+)``", errors.TaskValueError.__doc__ or "")) - {
        "code"
    }
    said = set(
        re.findall(r'self\._error\(\s*user_input, chat_log, "(\w+)"', _sources())
    )
    raised = set(re.findall(r'translation_key="(\w+)"', _sources()))
    assert exceptions == codes | values | said | raised


def test_entity_states_are_translated() -> None:
    """Every status and event type has a name."""
    entity = _json("translations/en.json")["entity"]
    states = entity["sensor"]["task"]["state"]
    assert set(states) == {"idle", *(str(status) for status in TaskStatus)}
    kinds = entity["event"]["task"]["state_attributes"]["event_type"]["state"]
    assert set(kinds) == {str(kind) for kind in TaskEventType}


@pytest.mark.parametrize("source", ["translations/en.json", "icons.json"])
def test_actions_are_described(source: str) -> None:
    """Each action and each of its fields has a name, a description and an icon."""
    actions = yaml.safe_load((COMPONENT / "services.yaml").read_text())
    described = _json(source)["services"]
    assert set(described) == set(actions)
    if source == "icons.json":
        return
    for name, action in actions.items():
        assert set(described[name]["fields"]) == set(action["fields"]), name


async def test_home_assistant_reads_the_actions(hass: HomeAssistant) -> None:
    """The descriptions load and carry target and response."""
    assert await async_setup_component(hass, DOMAIN, {})
    descriptions = (await async_get_all_descriptions(hass))[DOMAIN]
    assert set(descriptions) == {"create_task", "cancel_task", "respond", "query_tasks"}
    assert descriptions["query_tasks"]["response"] == {"optional": False}
    assert descriptions["create_task"]["response"] == {"optional": True}
    assert descriptions["create_task"]["target"]["entity"]
