"""The task event: what happens to tasks, for automations."""

from typing import override

from homeassistant.components.event import EventEntity
from homeassistant.const import ATTR_ENTITY_ID, ATTR_NAME
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import ATTR_GOAL, ATTR_TYPE, EVENT_TASK
from .entity import AidenEntity
from .runtime import AidenConfigEntry
from .sensor import GOAL_SHORT_LENGTH, UNRECORDED, shorten, task_attributes
from .tasks.model import Origin, TaskEvent, TaskEventType

PARALLEL_UPDATES = 0

ATTR_TASK_ID = "task_id"
LOGGED = frozenset(TaskEventType) - {
    TaskEventType.QUEUED,
    TaskEventType.RUNNING,
    TaskEventType.CANCELLING,
}
"""What is worth a line in the logbook."""


async def async_setup_entry(
    hass: HomeAssistant,
    entry: AidenConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up the event entity."""
    async_add_entities([TaskEventEntity(entry)])


class TaskEventEntity(AidenEntity, EventEntity):
    """Fires for every step of a task's life."""

    _attr_event_types = [str(kind) for kind in TaskEventType]
    _unrecorded_attributes = UNRECORDED

    def __init__(self, entry: AidenConfigEntry) -> None:
        """Name the entity."""
        super().__init__(entry, "task")

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the tasks' events instead of plain changes."""
        await super(AidenEntity, self).async_added_to_hass()
        self.async_on_remove(self.aiden.tasks.subscribe(self._async_task_event))

    @callback
    def _async_task_event(self, event: TaskEvent) -> None:
        """Fire; a live step or a result that was told is nothing that happened to it."""
        is_told = event.type is TaskEventType.UPDATED and event.task.status.is_terminal
        if event.is_step or is_told:
            return
        context = _context(event.task.origin)
        self.async_set_context(context)
        if event.type in LOGGED:
            self._async_log(event, context)
        attributes = task_attributes(event.task)
        attributes["status"] = str(event.task.status)
        self._trigger_event(
            str(event.type),
            {name: value for name, value in attributes.items() if value is not None},
        )
        self.async_write_ha_state()

    @callback
    def _async_log(self, event: TaskEvent, context: Context) -> None:
        """Fire what the logbook shows."""
        self.hass.bus.async_fire(
            EVENT_TASK,
            {
                ATTR_ENTITY_ID: self.entity_id,
                ATTR_NAME: self.aiden.name,
                ATTR_TASK_ID: event.task.id,
                ATTR_TYPE: str(event.type),
                ATTR_GOAL: shorten(event.task.prompt, GOAL_SHORT_LENGTH),
            },
            context=context,
        )


def _context(origin: Origin) -> Context:
    """Return the context of who asked for a task."""
    return Context(user_id=origin.user_id, id=origin.context_id)
