"""The last look at the phone's screen, for those who turned it on."""

from datetime import datetime
from typing import override

from homeassistant.components.image import ImageEntity
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.helpers.event import async_call_later
from homeassistant.util import dt as dt_util

from .entity import AidenEntity, async_forget_entities
from .phone.types import Observation
from .runtime import AidenConfigEntry

PARALLEL_UPDATES = 0

KEY = "screen"
WRITE_S = 5
"""The shortest time between two states of the entity; each one is recorded."""


async def async_setup_entry(
    hass: HomeAssistant,
    entry: AidenConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up the picture if it may be seen."""
    if entry.runtime_data.shows_picture:
        async_add_entities([ScreenImage(hass, entry)])
    else:
        async_forget_entities(hass, entry, lambda key: key == KEY)


class ScreenImage(AidenEntity, ImageEntity):
    """What the background saw last; kept in memory only."""

    _attr_content_type = "image/jpeg"

    def __init__(self, hass: HomeAssistant, entry: AidenConfigEntry) -> None:
        """Start without a picture."""
        AidenEntity.__init__(self, entry, KEY)
        ImageEntity.__init__(self, hass)
        self._jpeg: bytes | None = None
        self._newest: tuple[Observation, datetime] | None = None
        self._cancel_write: CALLBACK_TYPE | None = None

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the looks at the phone."""
        await super().async_added_to_hass()
        self.async_on_remove(self.aiden.phone.watch(self._async_seen))
        self.async_on_remove(self._async_stop_waiting)

    @override
    async def async_image(self) -> bytes | None:
        """Return the picture that the state tells of."""
        return self._jpeg

    @callback
    def _async_seen(self, observation: Observation) -> None:
        """Take a look; show it at once or when the time has come."""
        self._newest = observation, dt_util.utcnow()
        if self._cancel_write is None:
            self._async_write()

    @callback
    def _async_write(self, _now: datetime | None = None) -> None:
        """Show the newest look, and the next one not before its time."""
        self._cancel_write = None
        if self._newest is None:
            return
        observation, seen_at = self._newest
        self._newest = None
        self._jpeg = observation.jpeg
        self._attr_image_last_updated = seen_at
        self._cancel_write = async_call_later(self.hass, WRITE_S, self._async_write)
        self.async_write_ha_state()

    @callback
    def _async_stop_waiting(self) -> None:
        """End the timer."""
        if self._cancel_write is not None:
            self._cancel_write()
            self._cancel_write = None
