"""What all entities of the integration share."""

from collections.abc import Callable
from typing import override

from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity import Entity

from .const import DOMAIN, MANUFACTURER
from .runtime import Aiden, AidenConfigEntry
from .tasks.model import Origin, Task


class AidenEntity(Entity):
    """An entity of the one device of a config entry; pushed, never polled."""

    _attr_has_entity_name = True
    _attr_should_poll = False

    def __init__(self, entry: AidenConfigEntry, key: str) -> None:
        """Name the entity by its key."""
        self.aiden: Aiden = entry.runtime_data
        self._attr_translation_key = key
        self._attr_unique_id = f"{entry.entry_id}_{key}"
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, entry.entry_id)},
            manufacturer=MANUFACTURER,
            name=entry.title,
        )

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the tasks and the phone."""
        await super().async_added_to_hass()
        self.async_on_remove(self.aiden.async_subscribe(self._async_changed))

    @callback
    def async_note_request(self, action: str, task_id: str | None = None) -> None:
        """Keep in the audit trail who asked for what."""
        self.aiden.audit.note_request(action, origin_of(self._context), task_id)

    @callback
    def _async_changed(self) -> None:
        """Write the state anew."""
        self.async_write_ha_state()


def origin_of(context: Context | None) -> Origin:
    """Return who called an action or used an entity."""
    return Origin(
        source="action",
        user_id=context.user_id if context else None,
        context_id=context.id if context else None,
    )


@callback
def async_forget_entities(
    hass: HomeAssistant, entry: AidenConfigEntry, is_gone: Callable[[str], bool]
) -> None:
    """Remove entities of a changed set-up from the registry, chosen by their keys."""
    registry = er.async_get(hass)
    prefix = f"{entry.entry_id}_"
    for known in er.async_entries_for_config_entry(registry, entry.entry_id):
        if is_gone(known.unique_id.removeprefix(prefix)):
            registry.async_remove(known.entity_id)


def waiting(aiden: Aiden) -> list[Task]:
    """Return the tasks that wait for a person, the one that asked first first."""
    tasks = [task for task in aiden.tasks.outstanding() if task.is_waiting]
    return sorted(tasks, key=_asked_at)


def oldest_waiting(aiden: Aiden) -> Task | None:
    """Return the task that has waited longest for a person."""
    return next(iter(waiting(aiden)), None)


def _asked_at(task: Task) -> float:
    """Return when a task asked."""
    action = task.pending_user_action
    return action.created_at.timestamp() if action else 0.0
