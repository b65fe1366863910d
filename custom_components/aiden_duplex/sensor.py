"""Sensors: the current task and how much is outstanding."""

from datetime import datetime
from typing import Any, override

from homeassistant.components.sensor import SensorDeviceClass, SensorEntity
from homeassistant.core import HomeAssistant, ServiceResponse
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import dt as dt_util

from . import actions, phone_actions
from .entity import AidenEntity, async_forget_entities, origin_of
from .foreground.yes_words import is_yes
from .home.people import async_assent
from .phone.single import PressKey, Swipe, Tap, TypeText
from .phone.types import Key
from .runtime import AidenConfigEntry
from .tasks.errors import ConsentNeedsPersonError, ConsentNeedsYesError
from .tasks.model import ConsentHow, Decision, Task, TaskStatus

PARALLEL_UPDATES = 0

STATE_IDLE = "idle"
SLOT = "slot_"
"""Begins the keys of the slots."""
UNRECORDED = frozenset({"error", "evidence", "question", "result", "suggested_action"})
"""Attributes that are too large for the history."""
GOAL_SHORT_LENGTH = 200
"""Characters of a goal in an attribute; the whole goal is in the action's response."""
TEXT_SHORT_LENGTH = 1000
"""Characters of a result, an error or a question in an attribute."""


async def async_setup_entry(
    hass: HomeAssistant,
    entry: AidenConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up the sensors."""
    slots = entry.runtime_data.slots
    async_forget_entities(
        hass,
        entry,
        lambda key: key.startswith(SLOT) and int(key.removeprefix(SLOT)) > slots,
    )
    async_add_entities(
        [
            TaskSensor(entry),
            OutstandingSensor(entry),
            *(SlotSensor(entry, number) for number in range(1, slots + 1)),
        ]
    )


class StatusSensor(AidenEntity, SensorEntity):
    """The status of one task.

    The live step is not here: each would be a row of the history. Dashboards get it over
    the websocket.
    """

    _attr_device_class = SensorDeviceClass.ENUM
    _attr_options = [STATE_IDLE, *(str(status) for status in TaskStatus)]
    _unrecorded_attributes = UNRECORDED

    @property
    def _task(self) -> Task | None:
        """Return the task."""
        raise NotImplementedError

    @property
    @override
    def native_value(self) -> str:
        """Return the status of the task."""
        return str(task.status) if (task := self._task) else STATE_IDLE

    @property
    @override
    def extra_state_attributes(self) -> dict[str, Any]:
        """Return the task's essentials, each cut to a bounded length."""
        return task_attributes(task) if (task := self._task) else {}


class SlotSensor(StatusSensor):
    """The task in one of the places that tasks are shown in."""

    def __init__(self, entry: AidenConfigEntry, number: int) -> None:
        """Name the sensor by its number."""
        super().__init__(entry, f"{SLOT}{number}")
        self._attr_translation_key = "slot"
        self._attr_translation_placeholders = {"number": str(number)}
        self._number = number

    @property
    @override
    def _task(self) -> Task | None:
        """Return the task in this place."""
        return self.aiden.tasks.slot(self._number)


class TaskSensor(StatusSensor):
    """The current task; also the target of the actions, so that permissions apply."""

    _attr_supported_features = actions.FEATURE_TASKS
    # The slots and the event have them in the history already.
    _unrecorded_attributes = UNRECORDED | {"goal", "outcome", "question_id", "task_id"}

    def __init__(self, entry: AidenConfigEntry) -> None:
        """Name the sensor."""
        super().__init__(entry, "task")

    @property
    @override
    def _task(self) -> Task | None:
        """Return the task in work, else the newest one."""
        return self.aiden.tasks.current or next(iter(self.aiden.tasks.tasks()), None)

    async def async_create_task(
        self, goal: str, repeat: bool = False
    ) -> ServiceResponse:
        """Create a task: action ``create_task``."""
        with actions.translated_errors():
            task = await self.aiden.tasks.create(
                goal, origin=origin_of(self._context), repeat=repeat
            )
        return {"task_id": task.id, "task": task.as_dict()}

    async def async_update_task(self, task_id: str, goal: str) -> ServiceResponse:
        """Replace the goal of a task: action ``update_task``."""
        self.async_note_request("update_task", task_id)
        with actions.translated_errors():
            task = await self.aiden.tasks.update(task_id, goal)
        return {"task": task.as_dict()}

    async def async_cancel_task(self, task_id: str) -> ServiceResponse:
        """Cancel a task: action ``cancel_task``."""
        self.async_note_request("cancel_task", task_id)
        with actions.translated_errors():
            cancelled = await self.aiden.tasks.cancel(task_id)
        return {
            "task": cancelled.task.as_dict(),
            "already_ended": cancelled.already_ended,
            "pending_notification_cleared": cancelled.notification_cleared,
        }

    async def async_respond(
        self,
        task_id: str,
        message: str,
        decision: str = Decision.ANSWERED,
        question_id: str | None = None,
    ) -> ServiceResponse:
        """Answer or refuse a question: action ``respond``."""
        self.async_note_request(f"respond_{decision}", task_id)
        assent = await async_assent(
            self.hass, origin_of(self._context), ConsentHow.ACTION
        )
        with actions.translated_errors():
            try:
                task = await self.aiden.tasks.respond(
                    task_id,
                    message,
                    decision=Decision(decision),
                    question_id=question_id,
                    # Whoever answers "no" and forgets the decision has not agreed.
                    assent=assent if is_yes(message) else None,
                )
            except ConsentNeedsPersonError as err:
                if assent is None:
                    raise
                raise ConsentNeedsYesError(task_id) from err
        return {"task": task.as_dict()}

    async def async_take_over(self, task_id: str | None = None) -> ServiceResponse:
        """Pause a task so that the person can do a part: action ``take_over``."""
        self.async_note_request("take_over", task_id)
        with actions.translated_errors():
            task = await self.aiden.tasks.take_over(task_id)
        return {"task": task.as_dict()}

    async def async_set_kill_switch(self, active: bool) -> None:
        """Stop everything or let it go on: action ``set_kill_switch``."""
        self.async_note_request("kill_switch_on" if active else "kill_switch_off")
        with actions.translated_errors():
            if active:
                await self.aiden.async_halt()
            else:
                await self.aiden.async_resume()

    async def async_query_tasks(
        self, task_id: str | None = None, include_finished: bool = False
    ) -> ServiceResponse:
        """Return one task, the outstanding ones or all: action ``query_tasks``."""
        with actions.translated_errors():
            if task_id is not None:
                tasks = [self.aiden.tasks.get(task_id)]
            elif include_finished:
                tasks = self.aiden.tasks.tasks()
            else:
                tasks = self.aiden.tasks.outstanding()
        return {"tasks": [task.as_dict() for task in tasks]}

    async def async_press_key(self, key: str, preempt: bool) -> ServiceResponse:
        """Press a key: action ``press_key``."""
        return await phone_actions.async_perform(
            self.aiden, PressKey(key=Key(key)), preempt=preempt, sent={"key": key}
        )

    async def async_tap(self, x: float, y: float, preempt: bool) -> ServiceResponse:
        """Touch a point: action ``tap``."""
        act = Tap(point=phone_actions.point(x, y))
        return await phone_actions.async_perform(
            self.aiden, act, preempt=preempt, sent={"x": x, "y": y}
        )

    async def async_swipe(
        self,
        *,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        duration_ms: int,
        preempt: bool,
    ) -> ServiceResponse:
        """Draw a finger from one point to another: action ``swipe``."""
        act = Swipe(
            start=phone_actions.point(x1, y1),
            end=phone_actions.point(x2, y2),
            duration_ms=duration_ms,
        )
        return await phone_actions.async_perform(
            self.aiden,
            act,
            preempt=preempt,
            sent={"x1": x1, "y1": y1, "x2": x2, "y2": y2, "duration_ms": duration_ms},
        )

    async def async_type_text(
        self, text: str, submit: bool, preempt: bool
    ) -> ServiceResponse:
        """Type a line: action ``type_text``. The response does not repeat the text."""
        return await phone_actions.async_perform(
            self.aiden,
            TypeText(text=text, submit=submit),
            preempt=preempt,
            sent={"characters": len(text), "submit": submit},
        )

    async def async_export_audit(
        self,
        limit: int,
        task_id: str | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
    ) -> ServiceResponse:
        """Return the newest records of the audit trail: action ``export_audit``."""
        found, more = self.aiden.audit.records(
            task_id=task_id,
            since=start and dt_util.as_utc(start),
            until=end and dt_util.as_utc(end),
            limit=limit,
        )
        return {"records": [*found], "more": more}


class OutstandingSensor(AidenEntity, SensorEntity):
    """How many tasks are in flight or have a result that was not told yet."""

    def __init__(self, entry: AidenConfigEntry) -> None:
        """Name the sensor."""
        super().__init__(entry, "outstanding")

    @property
    @override
    def native_value(self) -> int:
        """Return the count."""
        return len(self.aiden.tasks.outstanding())


def task_attributes(task: Task) -> dict[str, Any]:
    """Return a task for attributes: bounded texts, nothing absent left out.

    Nothing that changes between the events of a task's life: it would fill the history.
    """
    action = task.pending_user_action
    return {
        "task_id": task.id,
        "goal": shorten(task.prompt, GOAL_SHORT_LENGTH),
        "outcome": task.outcome and str(task.outcome),
        "result": shorten(task.result, TEXT_SHORT_LENGTH),
        "error": shorten(task.error, TEXT_SHORT_LENGTH),
        "evidence": shorten(task.evidence, TEXT_SHORT_LENGTH),
        "question_id": action and action.id,
        "question": action and shorten(action.details, TEXT_SHORT_LENGTH),
        "suggested_action": action
        and shorten(action.suggested_action, TEXT_SHORT_LENGTH),
    }


def shorten(text: str | None, length: int) -> str | None:
    """Cut a text to a length, with an ellipsis where something is missing."""
    if text is None or len(text) <= length:
        return text
    return f"{text[: length - 1]}…"
