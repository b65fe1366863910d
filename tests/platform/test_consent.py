"""Who may give a consent by an action or a button: a person, and nothing that runs by itself."""

import asyncio
from collections.abc import Callable
from typing import Any

from homeassistant.auth.const import GROUP_ID_ADMIN
from homeassistant.core import Context, HomeAssistant, State
from homeassistant.exceptions import ServiceValidationError, Unauthorized
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.aiden_duplex import button
from custom_components.aiden_duplex.home.people import async_is_person
from custom_components.aiden_duplex.tasks.model import (
    ConsentRequest,
    Origin,
    ReasonClass,
    Task,
)
from tests.tasks.house import ScriptedRunner

SEND = ConsentRequest(act='tap {"x": 800, "y": 900}', screen="screen-1")
TASK_SENSOR = "sensor.aiden_current_task"
PROCEED, REFUSE = "button.aiden_done_go_on", "button.aiden_refuse"


@pytest.fixture
def runner(entry: MockConfigEntry) -> ScriptedRunner:
    """Return the runner that the entry's tasks are given to instead of the phone."""
    scripted = ScriptedRunner()
    entry.runtime_data.tasks._worker._runner = scripted
    return scripted


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a button be pressed as soon as it stands for a question."""
    monkeypatch.setattr(button, "SHOWN_S", 0.0)


@pytest.fixture
async def asking(
    hass: HomeAssistant, entry: MockConfigEntry, runner: ScriptedRunner
) -> Task:
    """Return a task that asks for a consent."""
    tasks = entry.runtime_data.tasks
    task = await tasks.create("send Anna hi", origin=Origin(source="action"))
    await _until(hass, lambda: bool(runner.calls))
    runner.last.pause(ReasonClass.SENSITIVE_OPERATION, SEND)
    await _until(hass, lambda: tasks.get(task.id).is_waiting)
    asking: Task = tasks.get(task.id)
    return asking


async def _until(hass: HomeAssistant, condition: Callable[[], bool]) -> None:
    """Wait for something that the real disk may delay."""
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)
    await hass.async_block_till_done()


async def _press(hass: HomeAssistant, which: str, context: Context) -> None:
    """Press a button."""
    await hass.services.async_call(
        "button", "press", {"entity_id": which}, blocking=True, context=context
    )


async def _respond(
    hass: HomeAssistant, task: Task, context: Context, message: str = "yes"
) -> None:
    """Answer by the action."""
    data = {"entity_id": TASK_SENSOR, "task_id": task.id, "message": message}
    await hass.services.async_call(
        "aiden_duplex", "respond", data, blocking=True, context=context
    )


async def _spent(hass: HomeAssistant, runner: ScriptedRunner) -> bool:
    """Wait for the run after the answer; return whether it may act."""
    await _until(hass, lambda: len(runner.calls) == 2)
    return await runner.last.request.spend(SEND.act, SEND.screen)


def _needs_you(hass: HomeAssistant) -> State:
    """Return the sensor that shows the question."""
    state = hass.states.get("binary_sensor.aiden_needs_you")
    assert state is not None
    return state


@pytest.mark.parametrize("by", ["action", "button"])
async def test_a_person_consents(
    hass: HomeAssistant,
    runner: ScriptedRunner,
    asking: Task,
    hass_admin_user: MockUser,
    by: str,
) -> None:
    """The question says that it needs consent; the run may act once."""
    assert _needs_you(hass).attributes["needs_consent"] is True
    context = Context(user_id=hass_admin_user.id)
    if by == "action":
        await _respond(hass, asking, context)
    else:
        await _press(hass, PROCEED, context)
    assert await _spent(hass, runner)
    assert not await runner.last.request.spend(SEND.act, SEND.screen)
    assert runner.last.request.continuation in ("yes", "Yes.")
    exported: Any = await hass.services.async_call(
        "aiden_duplex",
        "export_audit",
        {"entity_id": TASK_SENSOR, "task_id": asking.id},
        blocking=True,
        return_response=True,
    )
    records = exported[TASK_SENSOR]["records"]
    consents = [record for record in records if record["kind"] == "consent"]
    assert [record["state"] for record in consents] == ["asked", "given", "used"]
    given = consents[1]
    assert (given["user_id"], given["how"]) == (hass_admin_user.id, by)


@pytest.mark.parametrize("by", ["action", "button"])
@pytest.mark.parametrize("who", ["nobody", "add-on"])
async def test_what_is_no_person_cannot_consent(
    hass: HomeAssistant, runner: ScriptedRunner, asking: Task, by: str, who: str
) -> None:
    """An automation has no user, an add-on one that the system made; refusing is for all."""
    user_id: str | None = None
    if who == "add-on":
        user = await hass.auth.async_create_system_user(
            "Supervisor", group_ids=[GROUP_ID_ADMIN]
        )
        user_id = user.id
    context = Context(user_id=user_id)
    if by == "action":
        answering = _respond(hass, asking, context)
    else:
        answering = _press(hass, PROCEED, context)
    with pytest.raises(ServiceValidationError) as caught:
        await answering
    assert caught.value.translation_key == "consent_needs_person"
    assert caught.value.translation_placeholders == {"task_id": asking.id}
    assert _needs_you(hass).state == "on"
    assert len(runner.calls) == 1
    await _press(hass, REFUSE, context)
    await _until(hass, lambda: _needs_you(hass).state == "off")


@pytest.mark.parametrize("message", ["no", "No, don't!", "use the other account", "ok"])
async def test_other_words_than_yes_are_no_consent(
    hass: HomeAssistant,
    runner: ScriptedRunner,
    asking: Task,
    hass_admin_user: MockUser,
    message: str,
) -> None:
    """A no without its decision must not send; the error says how to do it."""
    context = Context(user_id=hass_admin_user.id)
    with pytest.raises(ServiceValidationError) as caught:
        await _respond(hass, asking, context, message)
    assert caught.value.translation_key == "consent_needs_yes"
    assert _needs_you(hass).state == "on"
    assert len(runner.calls) == 1


async def test_a_person_who_may_only_read_cannot_consent(
    hass: HomeAssistant,
    runner: ScriptedRunner,
    asking: Task,
    hass_read_only_user: MockUser,
) -> None:
    """Home Assistant's permissions come first."""
    context = Context(user_id=hass_read_only_user.id)
    with pytest.raises(Unauthorized):
        await _respond(hass, asking, context)
    with pytest.raises(Unauthorized):
        await _press(hass, PROCEED, context)
    assert _needs_you(hass).state == "on"


async def test_an_automation_cannot_consent(
    hass: HomeAssistant, runner: ScriptedRunner, asking: Task, hass_admin_user: MockUser
) -> None:
    """Not even one that a person's own event set off: they did not see the question."""
    answer = {"action": "button.press", "target": {"entity_id": PROCEED}}
    automation: dict[str, Any] = {
        "alias": "Say yes",
        "triggers": [{"trigger": "event", "event_type": "go"}],
        "actions": [answer | {"continue_on_error": True}],
    }
    assert await async_setup_component(hass, "automation", {"automation": automation})
    hass.bus.async_fire("go", context=Context(user_id=hass_admin_user.id))
    await hass.async_block_till_done()
    state = hass.states.get("automation.say_yes")
    assert state is not None
    assert state.attributes["last_triggered"] is not None
    assert _needs_you(hass).state == "on"
    assert len(runner.calls) == 1


async def test_an_ordinary_question_needs_no_person(
    hass: HomeAssistant, entry: MockConfigEntry, runner: ScriptedRunner
) -> None:
    """What asks for no consent is answered as before."""
    tasks = entry.runtime_data.tasks
    task = await tasks.create("open the notes", origin=Origin(source="action"))
    await _until(hass, lambda: bool(runner.calls))
    runner.last.pause()
    await _until(hass, lambda: tasks.get(task.id).is_waiting)
    assert _needs_you(hass).attributes["needs_consent"] is False
    await _press(hass, PROCEED, Context())
    await _until(hass, lambda: len(runner.calls) == 2)
    assert runner.last.request.continuation == "Done."


@pytest.mark.parametrize(
    ("origin", "is_person"),
    [
        (Origin(source="conversation", device_id="satellite"), True),
        (Origin(source="conversation"), False),
        (Origin(source="action", device_id="satellite"), False),
        (Origin(source="conversation", user_id="deleted", device_id="d"), False),
    ],
)
async def test_who_is_a_person(
    hass: HomeAssistant, origin: Origin, is_person: bool
) -> None:
    """A satellite gives its id along; a text without anybody is nobody's."""
    assert await async_is_person(hass, origin) is is_person
