"""Single acts through Home Assistant: what is sent, errors in words, permissions."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import (
    HomeAssistantError,
    ServiceValidationError,
    Unauthorized,
)
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser
import voluptuous as vol

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.phone.controller import PhoneController
from custom_components.aiden_duplex.phone.link import Dx1Driver
from custom_components.aiden_duplex.phone.types import LinkState
from custom_components.aiden_duplex.tasks.model import Origin, ReasonClass
from tests.phone.board import (
    CONSUMER,
    KEYS,
    TOUCH,
    BoardRig,
    Cable,
    FakePhone,
    run_inline,
    until,
)
from tests.phone.test_controller import BLACK, FakeSource
from tests.tasks.house import ScriptedRunner

TASK_SENSOR = "sensor.aiden_current_task"
HOME = ("press_key", {"key": "home"})
HOME_NOW = ("press_key", {"key": "home", "preempt": True})
SWIPE = {"x1": 500, "y1": 750, "x2": 500, "y2": 300, "duration_ms": 100}


class _Board:
    """A board that runs in this process, with its phone and its picture."""

    def __init__(self, rig: BoardRig, cable: Cable, source: FakeSource) -> None:
        """Keep the parts."""
        self.hid: FakePhone = rig.phone
        self.cable = cable
        self.source = source


@pytest.fixture
async def board(entry: MockConfigEntry) -> AsyncGenerator[_Board]:
    """Give the entry a phone with a board and a picture."""
    with BoardRig() as rig:
        cable, source = Cable(rig), FakeSource()
        phone = PhoneController(
            driver=Dx1Driver("/dev/board", open_port=cable.open),
            picture=source,
            run_blocking=run_inline,
        )
        entry.runtime_data.phone = phone
        await phone.start()
        await until(lambda: phone.link is LinkState.UP)
        yield _Board(rig, cable, source)
        await phone.close()
        assert rig.phone.down == {}


@pytest.fixture
def runner(entry: MockConfigEntry) -> ScriptedRunner:
    """Return the runner that the entry's tasks are given to instead of the phone."""
    scripted = ScriptedRunner()
    entry.runtime_data.tasks._worker._runner = scripted
    return scripted


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


async def _refused(
    hass: HomeAssistant,
    why: str,
    act: tuple[str, dict[str, Any]] = HOME,
    kind: type[HomeAssistantError] = ServiceValidationError,
) -> HomeAssistantError:
    """Perform an action that must be refused; return the error."""
    with pytest.raises(kind) as caught:
        await _call(hass, *act)
    assert type(caught.value) is kind
    assert caught.value.translation_domain == DOMAIN
    assert caught.value.translation_key == why
    return caught.value


async def _start_task(hass: HomeAssistant, entry: MockConfigEntry) -> str:
    """Create a task and wait until it has the phone."""
    tasks = entry.runtime_data.tasks
    task = await tasks.create("open the notes", origin=Origin(source="action"))
    await until(lambda: tasks.on_phone is not None)
    return str(task.id)


async def test_each_act_reaches_the_phone_and_says_what_was_sent(
    hass: HomeAssistant, entry: MockConfigEntry, board: _Board
) -> None:
    """A text is counted, not repeated."""
    none = {"preempted_task_id": None}
    assert await _call(hass, *HOME) == {"sent": {"key": "home"}} | none
    assert len(board.hid.pressed(CONSUMER)) == 1
    typed = await _call(hass, "type_text", {"text": "ab", "submit": "on"})
    assert typed == {"sent": {"characters": 2, "submit": True}} | none
    assert [report[2] for report in board.hid.pressed(KEYS)] == [4, 5, 0x28]
    tapped = await _call(hass, "tap", {"x": 500, "y": "250"})
    assert tapped == {"sent": {"x": 500.0, "y": 250.0}} | none
    assert len(board.hid.pressed(TOUCH)) == 1
    assert await _call(hass, "swipe", SWIPE) == {"sent": SWIPE} | none
    assert len(board.hid.pressed(TOUCH)) > 2


async def test_refused_while_a_task_has_the_phone_unless_it_preempts(
    hass: HomeAssistant, entry: MockConfigEntry, board: _Board, runner: ScriptedRunner
) -> None:
    """The error names the task, and so does the response."""
    task_id = await _start_task(hass, entry)
    err = await _refused(hass, "phone_in_use")
    assert err.translation_placeholders
    assert err.translation_placeholders["task_id"] == task_id
    assert board.hid.pressed(CONSUMER) == []
    done = await _call(hass, *HOME_NOW)
    assert done == {"sent": {"key": "home"}, "preempted_task_id": task_id}
    assert len(board.hid.pressed(CONSUMER)) == 1
    assert runner.calls[0].cancelled_with is None


async def test_a_phone_that_is_kept_for_its_person_is_in_use(
    hass: HomeAssistant, entry: MockConfigEntry, board: _Board, runner: ScriptedRunner
) -> None:
    """The automation must not type under the fingers of somebody who logs in."""
    task_id = await _start_task(hass, entry)
    tasks = entry.runtime_data.tasks
    runner.calls[0].pause(ReasonClass.AUTHENTICATION)
    await until(lambda: tasks.get(task_id).is_waiting)
    await _refused(hass, "phone_in_use")
    done = await _call(hass, *HOME_NOW)
    assert done["preempted_task_id"] == task_id
    assert tasks.get(task_id).is_waiting
    await tasks.cancel(task_id)
    assert (await _call(hass, *HOME))["preempted_task_id"] is None


async def test_no_board(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """The entry has none."""
    await _refused(hass, "no_board")


async def test_the_board_is_away(
    hass: HomeAssistant, entry: MockConfigEntry, board: _Board
) -> None:
    """Said at once."""
    board.cable.pull()
    await until(lambda: entry.runtime_data.phone.link is not LinkState.UP)
    await _refused(hass, "phone_unreachable", kind=HomeAssistantError)


async def test_stop_word_kill_switch_and_another_single_act(
    hass: HomeAssistant, entry: MockConfigEntry, board: _Board
) -> None:
    """Not even preempt helps against them."""
    phone = entry.runtime_data.phone
    async with phone.borrow("another"):
        await _refused(hass, "phone_lent", HOME_NOW)
    switch = {"entity_id": TASK_SENSOR}
    await hass.services.async_call(
        DOMAIN, "set_kill_switch", switch | {"active": True}, blocking=True
    )
    await _refused(hass, "phone_halted", HOME_NOW)
    await hass.services.async_call(
        DOMAIN, "set_kill_switch", switch | {"active": False}, blocking=True
    )
    phone.hold(5)
    await _refused(hass, "phone_stopped", HOME_NOW)
    assert board.hid.presses_after(0) == []


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (("tap", {"x": 1001, "y": 0}), "coordinates_invalid"),
        (("tap", {"x": 0, "y": "nan"}), "coordinates_invalid"),
        (("swipe", SWIPE | {"y2": -1}), "coordinates_invalid"),
        (("type_text", {"text": ""}), "text_unsuitable"),
        (("type_text", {"text": "a\nb"}), "text_unsuitable"),
        (("type_text", {"text": "x" * 501}), "text_unsuitable"),
        (("type_text", {"text": "a日b"}), "text_unsupported"),
    ],
)
async def test_bad_input(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    board: _Board,
    act: tuple[str, dict[str, Any]],
    why: str,
) -> None:
    """Each fault of the caller has its sentence; nothing is sent."""
    await _refused(hass, why, act)
    assert board.hid.presses_after(0) == []


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("press_key", {"key": "hyperspace"}),
        ("tap", {"x": "left", "y": 0}),
        ("swipe", SWIPE | {"duration_ms": 99}),
        ("type_text", {}),
    ],
)
async def test_the_schema_refuses(
    hass: HomeAssistant, entry: MockConfigEntry, name: str, data: dict[str, Any]
) -> None:
    """What Home Assistant can refuse by itself."""
    with pytest.raises(vol.Invalid):
        await _call(hass, name, data)


async def test_touches_need_a_picture(
    hass: HomeAssistant, entry: MockConfigEntry, board: _Board
) -> None:
    """A black one shows no place; the error says so in English words."""
    assert await async_setup_component(hass, DOMAIN, {})
    board.source.picture = lambda: BLACK
    tap = ("tap", {"x": 500, "y": 500})
    err = await _refused(hass, "no_picture", tap, HomeAssistantError)
    assert "the picture is black" in str(err)
    assert board.hid.pressed(TOUCH) == []


async def test_what_is_under_way_ends_with_the_entry(
    hass: HomeAssistant, entry: MockConfigEntry, board: _Board
) -> None:
    """Unloading breaks a long text off; the caller is told, and no key is down."""
    typing = hass.async_create_task(_call(hass, "type_text", {"text": "x" * 400}))
    await until(lambda: len(board.hid.pressed(KEYS)) > 2)
    await hass.config_entries.async_unload(entry.entry_id)
    async with asyncio.timeout(10):
        with pytest.raises(HomeAssistantError) as caught:
            await typing
    assert caught.value.translation_key in ("act_interrupted", "act_unknown")
    assert len(board.hid.pressed(KEYS)) < 100
    assert board.hid.down == {}


async def test_a_user_without_control_permission_is_refused(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    board: _Board,
    hass_read_only_user: MockUser,
) -> None:
    """Home Assistant's permissions apply to every act."""
    context = Context(user_id=hass_read_only_user.id)
    for name, data in (
        HOME,
        ("tap", {"x": 1, "y": 1}),
        ("swipe", SWIPE),
        ("type_text", {"text": "a"}),
    ):
        with pytest.raises(Unauthorized):
            await _call(hass, name, data, context=context)
    assert board.hid.presses_after(0) == []
