"""Each part of a phone that is set up is changed alone, checked, and loses no task."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import AsyncMock, patch

from homeassistant.config_entries import ConfigEntryState, ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.home.checks import Problem
from custom_components.aiden_duplex.phone.controller import PhoneController
from custom_components.aiden_duplex.phone.types import LinkState

from .conftest import ENTRY_DATA, do_task
from .flows import BOARD_ID, board_info, checks_replaced, go, suggested

DEVICE = "socket://127.0.0.1:9?secret=1"
FRAME = {"advanced": {"touch_space": "frame"}}
SCREEN = {"advanced": {"touch_space": "screen"}}
BUSY = Problem(key="board_busy", detail="the board talks to another host")


@pytest.fixture
def checks() -> Iterator[dict[str, AsyncMock]]:
    """Replace the checks of the outside."""
    with checks_replaced() as mocks:
        yield mocks


async def _open(
    hass: HomeAssistant, entry: MockConfigEntry, part: str
) -> ConfigFlowResult:
    """Open the form of a part."""
    menu = await entry.start_reconfigure_flow(hass)
    assert menu["type"] is FlowResultType.MENU
    assert menu["menu_options"] == ["board", "picture", "foreground", "background"]
    return await go(hass, [("reconfigure", {"next_step_id": part})], menu)


def _assert_saved(result: ConfigFlowResult, entry: MockConfigEntry) -> None:
    """Assert that the change is kept and the entry runs with it."""
    assert result["type"] is FlowResultType.ABORT, result
    assert result["reason"] == "reconfigure_successful"
    assert entry.state is ConfigEntryState.LOADED


async def _with_board(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Give the entry a board that does not answer."""
    hass.config_entries.async_update_entry(
        entry,
        unique_id=BOARD_ID,
        data={**ENTRY_DATA, "device": DEVICE, "board_id": BOARD_ID},
    )
    await hass.config_entries.async_reload(entry.entry_id)


async def test_a_board_is_added_and_taken_away(
    hass: HomeAssistant, entry: MockConfigEntry, checks: dict[str, AsyncMock]
) -> None:
    """An entry without a board gets one, and loses it again; nothing else changes."""
    result = await _open(hass, entry, "board")
    assert suggested(result)["device"] is None
    result = await go(hass, [("board", {"device": DEVICE, **SCREEN})], result)
    _assert_saved(result, entry)
    assert entry.unique_id == BOARD_ID
    assert entry.data == {
        **ENTRY_DATA,
        "device": DEVICE,
        "board_id": BOARD_ID,
        "touch_space": "screen",
    }
    result = await _open(hass, entry, "board")
    assert suggested(result)["device"] == "socket://127.0.0.1:9"
    result = await go(hass, [("board", FRAME)], result)
    _assert_saved(result, entry)
    assert entry.unique_id is None
    assert entry.data == {**ENTRY_DATA, "board_id": None}


async def test_another_board_takes_the_place_of_the_old_one(
    hass: HomeAssistant, entry: MockConfigEntry, checks: dict[str, AsyncMock]
) -> None:
    """A problem is shown first; then the new board is the entry's."""
    await _with_board(hass, entry)
    checks["board"].return_value = Problem(key="board_cannot_open", detail="why")
    result = await _open(hass, entry, "board")
    new = ("board", {"device": "/dev/ttyUSB9", **FRAME})
    result = await go(hass, [new], result)
    assert result["errors"] == {"device": "board_cannot_open"}
    checks["board"].return_value = board_info("0909090909090909")
    result = await go(hass, [new], result)
    _assert_saved(result, entry)
    assert entry.unique_id == entry.data["board_id"] == "0909090909090909"


async def test_the_entry_lets_go_of_its_own_board_to_try_it(
    hass: HomeAssistant, entry: MockConfigEntry, checks: dict[str, AsyncMock]
) -> None:
    """The other way to the same board is busy as long as the entry holds the board."""
    await _with_board(hass, entry)
    states: list[ConfigEntryState] = []

    async def probe(_device: str) -> Any:
        states.append(entry.state)
        return BUSY if entry.state is ConfigEntryState.LOADED else board_info()

    checks["board"].side_effect = probe
    result = await _open(hass, entry, "board")
    result = await go(hass, [("board", {"device": "/dev/ttyUSB9", **FRAME})], result)
    _assert_saved(result, entry)
    assert states == [ConfigEntryState.LOADED, ConfigEntryState.NOT_LOADED]
    assert entry.data["device"] == "/dev/ttyUSB9"


async def test_a_board_that_stays_busy_changes_nothing(
    hass: HomeAssistant, entry: MockConfigEntry, checks: dict[str, AsyncMock]
) -> None:
    """The entry runs on with what it had."""
    await _with_board(hass, entry)
    checks["board"].return_value = BUSY
    result = await _open(hass, entry, "board")
    result = await go(hass, [("board", {"device": "/dev/ttyUSB9", **FRAME})], result)
    assert result["errors"] == {"device": "board_busy"}
    assert entry.state is ConfigEntryState.LOADED
    assert entry.data["device"] == DEVICE


@pytest.mark.parametrize("held", [True, False])
async def test_the_board_of_another_phone_is_refused(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    checks: dict[str, AsyncMock],
    held: bool,
) -> None:
    """The entry keeps its own, also if it had to let go of the port to find out."""
    await _with_board(hass, entry)
    other = MockConfigEntry(domain=DOMAIN, unique_id="0909090909090909")
    other.add_to_hass(hass)
    found = board_info("0909090909090909")
    checks["board"].side_effect = [BUSY, found] if held else [found]
    result = await _open(hass, entry, "board")
    result = await go(hass, [("board", {"device": "/dev/ttyUSB9", **FRAME})], result)
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "already_configured"
    assert entry.state is ConfigEntryState.LOADED
    assert entry.data["device"] == DEVICE


async def test_a_board_that_works_is_not_disturbed(
    hass: HomeAssistant, entry: MockConfigEntry, checks: dict[str, AsyncMock]
) -> None:
    """Only the touch coordinates change; the secret part of the port is kept."""
    await _with_board(hass, entry)
    result = await _open(hass, entry, "board")
    with patch.object(PhoneController, "link", LinkState.UP):
        result = await go(
            hass, [("board", {"device": "socket://127.0.0.1:9", **SCREEN})], result
        )
    _assert_saved(result, entry)
    assert entry.unique_id == BOARD_ID
    assert entry.data["device"] == DEVICE
    assert entry.data["touch_space"] == "screen"
    checks["board"].assert_not_awaited()


async def test_the_picture_is_changed_and_its_secrets_stay(
    hass: HomeAssistant, entry: MockConfigEntry, checks: dict[str, AsyncMock]
) -> None:
    """An address with a password is shown without it; left as it is, it is kept."""
    url = "http://me:pass@127.0.0.1:9/still.jpg?token=1"
    result = await _open(hass, entry, "picture")
    checks["picture"].return_value = Problem(key="picture_unusable", detail="why")
    result = await go(hass, [("picture", {"snapshot_url": url})], result)
    assert result["errors"] == {"snapshot_url": "picture_unusable"}
    checks["picture"].return_value = None
    result = await go(
        hass, [("picture", {"snapshot_url": url, "show_picture": True})], result
    )
    _assert_saved(result, entry)
    assert entry.data["picture"] == {"snapshot_url": url, "camera_entity_id": None}
    assert entry.options["show_picture"] is True

    result = await _open(hass, entry, "picture")
    values = suggested(result)
    assert values["snapshot_url"] == "http://127.0.0.1:9/still.jpg"
    assert values["show_picture"] is True
    values["show_picture"] = False
    del values["camera_entity_id"]
    result = await go(hass, [("picture", values)], result)
    _assert_saved(result, entry)
    assert entry.data == {
        **ENTRY_DATA,
        "picture": {"snapshot_url": url, "camera_entity_id": None},
    }
    assert entry.options["show_picture"] is False


@pytest.mark.parametrize("part", ["foreground", "background"])
async def test_a_model_is_changed_without_typing_the_key_again(
    hass: HomeAssistant, entry: MockConfigEntry, checks: dict[str, AsyncMock], part: str
) -> None:
    """The key is not shown and kept; the other parts stay as they are."""
    result = await _open(hass, entry, part)
    present = ENTRY_DATA[part]
    assert suggested(result) == {
        "base_url": present["base_url"],
        "model": present["model"],
    }
    checks[part].return_value = Problem(key="model_model_unknown", detail="why")
    new = (part, {"base_url": present["base_url"], "model": "other"})
    result = await go(hass, [new], result)
    assert result["errors"] == {"model": "model_model_unknown"}
    checks[part].return_value = None
    result = await go(hass, [new], result)
    _assert_saved(result, entry)
    assert entry.data == {**ENTRY_DATA, part: {**present, "model": "other"}}


async def test_a_key_goes_to_no_other_address(
    hass: HomeAssistant, entry: MockConfigEntry, checks: dict[str, AsyncMock]
) -> None:
    """With another address the key must be typed; what was typed once is kept."""
    checks["foreground"].return_value = Problem(key="model_model_unknown", detail="")
    result = await _open(hass, entry, "foreground")
    new = {"base_url": "https://elsewhere.example/v1", "model": "wrong"}
    result = await go(hass, [("foreground", new)], result)
    assert checks["foreground"].await_args is not None
    assert checks["foreground"].await_args.kwargs["api_key"] is None
    result = await go(hass, [("foreground", {**new, "api_key": "sk-2"})], result)
    assert result["errors"] == {"model": "model_model_unknown"}
    assert "sk-2" not in suggested(result).values()
    checks["foreground"].return_value = None
    result = await go(hass, [("foreground", {**new, "model": "right"})], result)
    _assert_saved(result, entry)
    assert entry.data["foreground"] == {**new, "api_key": "sk-2", "model": "right"}


async def test_a_refused_key_is_not_kept_for_the_next_try(
    hass: HomeAssistant, entry: MockConfigEntry, checks: dict[str, AsyncMock]
) -> None:
    """An empty field means the present key again, not the one that was refused."""
    checks["background"].return_value = Problem(key="model_authentication", detail="")
    present = ENTRY_DATA["background"]
    result = await _open(hass, entry, "background")
    result = await go(hass, [("background", {**present, "api_key": "sk-2"})], result)
    assert result["errors"] == {"api_key": "model_authentication"}
    checks["background"].return_value = None
    again = {name: present[name] for name in ("base_url", "model")}
    result = await go(hass, [("background", again)], result)
    _assert_saved(result, entry)
    assert entry.data == ENTRY_DATA


async def test_tasks_outlive_a_change(
    hass: HomeAssistant, entry: MockConfigEntry, checks: dict[str, AsyncMock]
) -> None:
    """What is remembered is the same after the reload."""
    await do_task(hass, entry)
    before = entry.runtime_data.tasks.tasks()
    result = await _open(hass, entry, "picture")
    _assert_saved(await go(hass, [("picture", {})], result), entry)
    assert entry.runtime_data.tasks.tasks() == before


async def test_options(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """All options at once, whole numbers; the entry reloads with them."""
    first = entry.runtime_data
    result = await hass.config_entries.options.async_init(entry.entry_id)
    assert result["type"] is FlowResultType.FORM
    typed = {"slots": 2.0, "reserve_s": 0, "show_picture": True}
    result = await hass.config_entries.options.async_configure(result["flow_id"], typed)
    await hass.async_block_till_done()
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert entry.options == {"slots": 2, "reserve_s": 0, "show_picture": True}
    assert isinstance(entry.options["slots"], int)
    assert entry.runtime_data is not first
    result = await hass.config_entries.options.async_init(entry.entry_id)
    assert suggested(result) == entry.options
