"""What all entities of the integration share."""

from typing import override

from homeassistant.core import callback
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity import Entity

from .const import DOMAIN, MANUFACTURER
from .runtime import Aiden, AidenConfigEntry


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
    def _async_changed(self) -> None:
        """Write the state anew."""
        self.async_write_ha_state()
