"""What tests of the flows share: answers of a person, checks that find nothing wrong."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import AsyncMock, patch

from homeassistant.config_entries import SOURCE_USER, ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.phone.link import BoardInfo

CHECKS = {
    "board": "custom_components.aiden_duplex.config_flow.async_check_board",
    "picture": "custom_components.aiden_duplex.config_flow.async_check_picture",
    "foreground": "custom_components.aiden_duplex.home.checks.async_check_foreground",
    "background": "custom_components.aiden_duplex.home.checks.async_check_background",
}
BOARD_ID = "0102030405060708"
BOARD = {"device": " /dev/ttyUSB0 ", "advanced": {"touch_space": "screen"}}
PICTURE = {"snapshot_url": "http://127.0.0.1/snapshot.jpg"}
FOREGROUND = {
    "base_url": "https://models.example/v1/",
    "api_key": "Bearer sk-1",
    "model": "gpt-realtime",
}
BACKGROUND = {"base_url": "http://127.0.0.1:1234/v1", "model": "vision"}
STEPS: list[tuple[str, dict[str, Any]]] = [
    ("user", BOARD),
    ("picture", PICTURE),
    ("foreground", FOREGROUND),
    ("background", BACKGROUND),
]


def board_info(board_id: str = BOARD_ID) -> BoardInfo:
    """Return what a board that answers says of itself."""
    return BoardInfo(
        board_id=board_id,
        firmware="1.0",
        profile="android_touch",
        phone_connected=True,
    )


@contextmanager
def checks_replaced() -> Generator[dict[str, AsyncMock]]:
    """Replace the checks of the outside by ones that find nothing wrong."""
    with ExitStack() as stack:
        mocks: dict[str, AsyncMock] = {
            name: stack.enter_context(patch(target)) for name, target in CHECKS.items()
        }
        for mock in mocks.values():
            mock.return_value = None
        mocks["board"].return_value = board_info()
        yield mocks


async def go(
    hass: HomeAssistant,
    steps: list[tuple[str, dict[str, Any]]],
    result: ConfigFlowResult | None = None,
) -> ConfigFlowResult:
    """Submit steps in order, of a new setup or a given flow; return the last result."""
    result = result or await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_USER}
    )
    for step_id, data in steps:
        assert result["type"] in (FlowResultType.FORM, FlowResultType.MENU), result
        assert result["step_id"] == step_id
        result = await hass.config_entries.flow.async_configure(result["flow_id"], data)
    await hass.async_block_till_done()
    return result


def suggested(result: ConfigFlowResult) -> dict[str, Any]:
    """Return what a form suggests, by field."""
    schema = result["data_schema"]
    assert schema is not None
    return {
        str(marker): marker.description["suggested_value"]
        for marker in schema.schema
        if marker.description and "suggested_value" in marker.description
    }
