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
from voluptuous import Schema
import yaml

from custom_components.aiden_duplex import phone_actions
from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.flow_steps import (
    BOARD_SCHEMA,
    KEY_SCHEMA,
    MODEL_SCHEMA,
    NEW_FOREGROUND_SCHEMA,
    OPTIONS_SCHEMA,
    PICTURE_SCHEMA,
    models_schema,
    user_schema,
)
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
        "button",
        "diagnostics",
        "event",
        "image",
        "logbook",
        "persistent_notification",
        "repairs",
        "sensor",
        "switch",
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


def test_translations_hold_no_addresses() -> None:
    """Addresses come through placeholders; nobody shall translate them."""
    text = (COMPONENT / "translations/en.json").read_text()
    assert re.findall(r"\w+://\S*|www\.\S*", text) == []


def test_every_error_of_the_flow_is_translated() -> None:
    """Each class of failure has a sentence that shows the detail."""
    shown = _json("translations/en.json")["config"]["error"]
    expected = {f"model_{kind}" for kind in ModelErrorKind}
    expected |= {f"board_{reason}" for reason in ProbeReason}
    plain = {"address_invalid", "picture_twice"}
    assert set(shown) == expected | plain | {"camera_unusable", "picture_unusable"}
    assert "{service_example}" in shown["address_invalid"]
    assert all("{detail}" in shown[key] for key in set(shown) - plain)


@pytest.mark.parametrize(
    ("step", "schema"),
    [
        ("config.user", user_schema("Aiden")),
        ("config.board", BOARD_SCHEMA),
        ("config.picture", PICTURE_SCHEMA),
        ("config.models", models_schema({})),
        ("config.foreground", NEW_FOREGROUND_SCHEMA),
        ("config.foreground", MODEL_SCHEMA),
        ("config.background", MODEL_SCHEMA),
        ("config.reauth_foreground", KEY_SCHEMA),
        ("config.reauth_background", KEY_SCHEMA),
        ("options.init", OPTIONS_SCHEMA),
    ],
)
def test_every_field_of_the_flows_is_translated(step: str, schema: Schema) -> None:
    """Each has a name and an explanation; sections have a name."""
    flow, step_id = step.split(".")
    shown = _json("translations/en.json")[flow]["step"][step_id]
    sections = shown.get("sections", {})
    fields = {str(marker) for marker in schema.schema}
    assert fields == set(shown["data"]) | set(sections)
    assert set(shown["data_description"]) == set(shown["data"])
    for name, described in sections.items():
        inner = {str(marker) for marker in schema.schema[name].schema.schema}
        assert described["name"]
        assert inner == set(described["data"]) == set(described["data_description"])


def test_every_exception_and_issue_is_translated_and_used() -> None:
    """Keys in code and translations are the same set."""
    translated = _json("translations/en.json")
    shown = {*translated["exceptions"], *translated["issues"]}
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
    raised |= set(phone_actions.ERROR_KEYS.values())
    assert shown == codes | values | said | raised


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


def test_every_choice_of_an_action_has_a_name() -> None:
    """A selector's translations hold exactly its options."""
    selectors = _json("translations/en.json")["selector"]
    actions = yaml.safe_load((COMPONENT / "services.yaml").read_text())
    offered = {
        select["translation_key"]: set(select["options"])
        for action in actions.values()
        for field in action["fields"].values()
        if "translation_key" in (select := field["selector"].get("select") or {})
    }
    assert offered
    for key, options in offered.items():
        assert set(selectors[key]["options"]) == options, key


def test_every_entity_with_a_name_has_an_icon() -> None:
    """Icons exist for what is translated, and states with an icon have a name."""
    named, icons = (
        _json("translations/en.json")["entity"],
        _json("icons.json")["entity"],
    )
    for platform, entities in named.items():
        assert set(entities) <= set(icons[platform]), platform
        for key, entity in entities.items():
            states = set(icons[platform][key].get("state", {}))
            assert states <= set(entity.get("state", states)), f"{platform}.{key}"


def test_the_quality_scale_is_complete() -> None:
    """Every rule has a status; what is left out says why."""
    rules = yaml.safe_load((COMPONENT / "quality_scale.yaml").read_text())["rules"]
    assert len(rules) == 54
    for name, rule in rules.items():
        status = rule if isinstance(rule, str) else rule["status"]
        assert status in ("done", "todo", "exempt"), name
        if status == "exempt":
            assert isinstance(rule, dict) and rule["comment"], name


async def test_home_assistant_reads_the_actions(hass: HomeAssistant) -> None:
    """The descriptions load and carry target and response."""
    assert await async_setup_component(hass, DOMAIN, {})
    descriptions = (await async_get_all_descriptions(hass))[DOMAIN]
    assert set(descriptions) == {
        *("create_task", "cancel_task", "respond", "query_tasks"),
        "export_audit",
        *("set_kill_switch", "take_over", "update_task"),
        *("press_key", "swipe", "tap", "type_text"),
    }
    assert descriptions["query_tasks"]["response"] == {"optional": False}
    assert descriptions["create_task"]["response"] == {"optional": True}
    assert descriptions["create_task"]["target"]["entity"]
