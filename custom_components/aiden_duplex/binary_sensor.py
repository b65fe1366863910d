"""Binary sensors: whether a person is needed, and the link to the phone."""

from typing import Any, override

from homeassistant.components.binary_sensor import BinarySensorEntity
from homeassistant.components.binary_sensor.const import BinarySensorDeviceClass
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import AidenEntity, oldest_waiting
from .phone.types import LinkState
from .runtime import AidenConfigEntry
from .sensor import task_attributes

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: AidenConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up the binary sensors."""
    async_add_entities([NeedsYouSensor(entry), LinkSensor(entry)])


class NeedsYouSensor(AidenEntity, BinarySensorEntity):
    """On while a task waits for a person."""

    _unrecorded_attributes = frozenset({"question", "suggested_action"})

    def __init__(self, entry: AidenConfigEntry) -> None:
        """Name the sensor."""
        super().__init__(entry, "needs_you")

    @property
    @override
    def is_on(self) -> bool:
        """Return whether a task waits."""
        return oldest_waiting(self.aiden) is not None

    @property
    @override
    def extra_state_attributes(self) -> dict[str, Any]:
        """Return what is asked."""
        if (task := oldest_waiting(self.aiden)) is None:
            return {}
        attributes = task_attributes(task)
        names = ("task_id", "goal", "question_id", "question", "suggested_action")
        shown = {name: attributes[name] for name in names}
        action = task.pending_user_action
        return shown | {"needs_consent": bool(action and action.consent)}


class LinkSensor(AidenEntity, BinarySensorEntity):
    """On while the board answers and the phone is on its USB side."""

    _attr_device_class = BinarySensorDeviceClass.CONNECTIVITY
    _attr_entity_category = EntityCategory.DIAGNOSTIC

    def __init__(self, entry: AidenConfigEntry) -> None:
        """Name the sensor."""
        super().__init__(entry, "link")

    @property
    @override
    def available(self) -> bool:
        """Return whether a board is set up at all."""
        return self.aiden.has_board

    @property
    @override
    def is_on(self) -> bool:
        """Return whether input can reach the phone."""
        return self.aiden.phone.link is LinkState.UP

    @property
    @override
    def extra_state_attributes(self) -> dict[str, Any]:
        """Return the link's state and whether pictures arrive."""
        return {
            "link": str(self.aiden.phone.link),
            "picture": self.aiden.phone.picture_ok,
        }
