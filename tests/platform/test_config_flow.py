"""The config flow, with its checks of the outside replaced."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import AsyncMock, patch

from homeassistant.config_entries import SOURCE_USER, ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.home.checks import Problem
from custom_components.aiden_duplex.phone.link import BoardInfo

FLOW = "custom_components.aiden_duplex.config_flow"
LINK = {"device": " /dev/ttyUSB0 ", "advanced": {"touch_space": "screen"}}
PICTURE = {"snapshot_url": "http://127.0.0.1/snapshot.jpg"}
FOREGROUND = {
    "base_url": "https://models.example/v1/",
    "api_key": "Bearer sk-1",
    "model": "gpt-realtime",
}
BACKGROUND = {"base_url": "http://127.0.0.1:1234/v1", "model": "vision"}
STEPS: list[tuple[str, dict[str, Any]]] = [
    ("user", LINK),
    ("picture", PICTURE),
    ("foreground", FOREGROUND),
    ("background", BACKGROUND),
]


@pytest.fixture
def board() -> BoardInfo:
    """Return a board that answers."""
    return BoardInfo(
        board_id="0102030405060708",
        firmware="1.0",
        profile="android_touch",
        phone_connected=True,
    )


@pytest.fixture
def checks(board: BoardInfo) -> Iterator[dict[str, AsyncMock]]:
    """Replace the checks by ones that find nothing wrong."""
    names = ("board", "picture", "foreground", "background")
    patches = {name: patch(f"{FLOW}.async_check_{name}") for name in names}
    mocks = {name: item.start() for name, item in patches.items()}
    mocks["board"].return_value = board
    for name in names[1:]:
        mocks[name].return_value = None
    with patch("custom_components.aiden_duplex.async_setup_entry", return_value=True):
        yield mocks
    for item in patches.values():
        item.stop()


async def _go(
    hass: HomeAssistant, steps: list[tuple[str, dict[str, Any]]]
) -> ConfigFlowResult:
    """Submit steps in order and return the last result."""
    result = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_USER}
    )
    for step_id, data in steps:
        assert result["type"] is FlowResultType.FORM, result
        assert result["step_id"] == step_id
        result = await hass.config_entries.flow.async_configure(result["flow_id"], data)
    return result


async def test_full_flow(hass: HomeAssistant, checks: dict[str, AsyncMock]) -> None:
    """Four steps make an entry that is bound to the board."""
    result = await _go(hass, STEPS)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == "Aiden"
    assert result["data"] == {
        "board_id": "0102030405060708",
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
    assert result["result"].unique_id == "0102030405060708"
    checks["board"].assert_awaited_once_with("/dev/ttyUSB0")


async def test_board_and_picture_may_come_later(
    hass: HomeAssistant, checks: dict[str, AsyncMock]
) -> None:
    """Empty answers skip the two; nothing is probed."""
    skipped: list[tuple[str, dict[str, Any]]] = [
        ("user", {"advanced": {"touch_space": "frame"}}),
        ("picture", {}),
    ]
    result = await _go(hass, skipped + STEPS[2:])
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"]["device"] is None
    assert result["result"].unique_id is None
    checks["board"].assert_not_awaited()


@pytest.mark.parametrize("step", range(4))
async def test_each_step_recovers_from_an_error(
    hass: HomeAssistant, checks: dict[str, AsyncMock], step: int
) -> None:
    """A problem is shown with its detail on the same step; the same answer then goes on."""
    name = ("board", "picture", "foreground", "background")[step]
    good = checks[name].return_value
    checks[name].return_value = Problem(key="picture_unusable", detail="why")
    result = await _go(hass, STEPS[: step + 1])
    assert result["type"] is FlowResultType.FORM
    assert result["step_id"] == STEPS[step][0]
    assert result["errors"] == {"base": "picture_unusable"}
    assert result["description_placeholders"] == {"detail": "why"}
    checks[name].return_value = good
    for _, data in STEPS[step:]:
        result = await hass.config_entries.flow.async_configure(result["flow_id"], data)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_two_pictures_are_refused(
    hass: HomeAssistant, checks: dict[str, AsyncMock]
) -> None:
    """Either an address or a camera."""
    both = {**PICTURE, "camera_entity_id": "camera.phone"}
    result = await _go(hass, [STEPS[0], ("picture", both)])
    assert result["errors"] == {"base": "picture_twice"}


@pytest.mark.parametrize(
    "existing",
    [{"data": {"device": "/dev/ttyUSB0"}}, {"unique_id": "0102030405060708"}],
)
async def test_a_board_is_set_up_once(
    hass: HomeAssistant, checks: dict[str, AsyncMock], existing: dict[str, Any]
) -> None:
    """The same port and the same board on another port are both refused."""
    MockConfigEntry(domain=DOMAIN, **existing).add_to_hass(hass)
    result = await _go(hass, STEPS[:1])
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "already_configured"
