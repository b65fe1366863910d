"""The task event: what happens to tasks, for automations."""

from typing import override

from homeassistant.components.event import EventEntity
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import AidenEntity
from .runtime import AidenConfigEntry
from .sensor import UNRECORDED, task_attributes
from .tasks.model import TaskEvent, TaskEventType

PARALLEL_UPDATES = 0


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
        attributes = task_attributes(event.task)
        attributes["status"] = str(event.task.status)
        self._trigger_event(
            str(event.type),
            {name: value for name, value in attributes.items() if value is not None},
        )
        self.async_write_ha_state()
