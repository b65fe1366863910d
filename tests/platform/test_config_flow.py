"""The setup of a phone, with the checks of the outside replaced."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import AsyncMock, patch

from homeassistant.config_entries import ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.home.checks import Problem

from .conftest import ENTRY_DATA
from .flows import (
    BACKGROUND,
    BOARD,
    BOARD_ID,
    FOREGROUND,
    PICTURE,
    STEPS,
    checks_replaced,
    go,
    suggested,
)


@pytest.fixture
def checks() -> Iterator[dict[str, AsyncMock]]:
    """Replace the checks, and the setup of the created entry."""
    with (
        checks_replaced() as mocks,
        patch("custom_components.aiden_duplex.async_setup_entry", return_value=True),
    ):
        yield mocks


def _detail(result: ConfigFlowResult) -> str:
    """Return the detail of the problem that a form shows."""
    placeholders = result["description_placeholders"]
    assert placeholders is not None
    return placeholders["detail"]


async def test_full_flow(hass: HomeAssistant, checks: dict[str, AsyncMock]) -> None:
    """Four steps make an entry that is bound to the board."""
    result = await go(hass, STEPS)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == "Aiden"
    assert result["data"] == {
        "board_id": BOARD_ID,
        "device": "/dev/ttyUSB0",
        "touch_space": "screen",
        "picture": {"snapshot_url": PICTURE["snapshot_url"], "camera_entity_id": None},
        "foreground": {
            "base_url": "https://models.example/v1",
            "api_key": "sk-1",
            "model": "gpt-realtime",
        },
        "background": {
            "base_url": "http://127.0.0.1:1234/v1",
            "api_key": None,
            "model": "vision",
        },
    }
    assert result["options"] == {"show_picture": False}
    assert result["result"].unique_id == BOARD_ID
    checks["board"].assert_awaited_once_with("/dev/ttyUSB0")


async def test_board_and_picture_may_come_later(
    hass: HomeAssistant, checks: dict[str, AsyncMock]
) -> None:
    """Empty answers skip the two; no board is probed."""
    skipped: list[tuple[str, dict[str, Any]]] = [
        ("user", {"advanced": {"touch_space": "frame"}}),
        ("picture", {}),
    ]
    result = await go(hass, skipped + STEPS[2:])
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"]["device"] is None
    assert result["data"]["board_id"] is None
    assert result["result"].unique_id is None
    checks["board"].assert_not_awaited()


@pytest.mark.parametrize(
    ("step", "key", "field"),
    [
        (0, "board_busy", "device"),
        (0, "board_cannot_open", "device"),
        (0, "board_not_a_board", "device"),
        (0, "board_wrong_protocol", "device"),
        (1, "picture_unusable", "snapshot_url"),
        (1, "camera_unusable", "camera_entity_id"),
        (1, "picture_twice", "base"),
        *(
            (step, key, field)
            for step in (2, 3)
            for key, field in (
                ("address_invalid", "base_url"),
                ("model_authentication", "api_key"),
                ("model_quota", "base"),
                ("model_rate_limited", "base"),
                ("model_model_unknown", "model"),
                ("model_bad_request", "model"),
                ("model_context_overflow", "model"),
                ("model_timeout", "base_url"),
                ("model_network", "base_url"),
                ("model_server", "base"),
                ("model_protocol", "base_url"),
            )
        ),
    ],
)
async def test_each_step_recovers_from_each_problem(
    hass: HomeAssistant, checks: dict[str, AsyncMock], step: int, key: str, field: str
) -> None:
    """A problem is shown at its field with its detail; the same answer then goes on."""
    check = checks[("board", "picture", "foreground", "background")[step]]
    good = check.return_value
    check.return_value = Problem(key=key, detail="why")
    result = await go(hass, STEPS[: step + 1])
    assert result["type"] is FlowResultType.FORM
    assert result["step_id"] == STEPS[step][0]
    assert result["errors"] == {field: key}
    assert _detail(result) == "why"
    check.return_value = good
    result = await go(hass, STEPS[step:], result)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_the_address_and_key_are_offered_to_the_second_model(
    hass: HomeAssistant, checks: dict[str, AsyncMock]
) -> None:
    """Most people use one service for both."""
    result = await go(hass, STEPS[:3])
    assert suggested(result) == {
        "base_url": "https://models.example/v1",
        "api_key": "sk-1",
    }


@pytest.mark.parametrize(
    "existing",
    [{"data": {"device": "/dev/ttyUSB0"}}, {"unique_id": BOARD_ID}],
)
async def test_a_board_is_set_up_once(
    hass: HomeAssistant, checks: dict[str, AsyncMock], existing: dict[str, Any]
) -> None:
    """The same port and the same board on another port are both refused."""
    MockConfigEntry(domain=DOMAIN, **existing).add_to_hass(hass)
    result = await go(hass, STEPS[:1])
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "already_configured"


@pytest.mark.parametrize(
    ("typed", "title"),
    [({}, "Aiden 3"), ({"name": "  "}, "Aiden 3"), ({"name": " Mum's "}, "Mum's")],
)
async def test_each_phone_has_a_name(
    hass: HomeAssistant, checks: dict[str, AsyncMock], typed: dict[str, str], title: str
) -> None:
    """A free one is offered; the person may choose another."""
    for taken in ("Aiden", "Aiden 2"):
        MockConfigEntry(domain=DOMAIN, title=taken, data=ENTRY_DATA).add_to_hass(hass)
    result = await go(
        hass, [("user", {**BOARD, **typed}), STEPS[1], ("models", {}), *STEPS[2:]]
    )
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == title
    assert result["data"]["foreground"]["model"] == FOREGROUND["model"]
    assert result["data"]["background"]["model"] == BACKGROUND["model"]


async def test_the_second_phone_takes_over_the_models(
    hass: HomeAssistant, checks: dict[str, AsyncMock]
) -> None:
    """Both are tried; what is wrong with one is said, and other models may be entered."""
    first = MockConfigEntry(domain=DOMAIN, title="Aiden", data=ENTRY_DATA)
    first.add_to_hass(hass)
    result = await go(hass, STEPS[:2])
    assert result["step_id"] == "models"
    assert suggested(result) == {"models_of": first.entry_id}
    checks["background"].return_value = Problem(key="model_server", detail="why")
    chosen = ("models", {"models_of": first.entry_id})
    result = await go(hass, [chosen], result)
    assert result["errors"] == {"base": "model_server"}
    assert _detail(result) == "why"
    checks["background"].return_value = None
    result = await go(hass, [chosen], result)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == "Aiden 2"
    for part in ("foreground", "background"):
        assert result["data"][part] == ENTRY_DATA[part]
        checks[part].assert_awaited_with(hass, **ENTRY_DATA[part])
