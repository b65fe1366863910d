"""The kill switch: while it is on, nothing reaches the phone."""

from typing import Any, override

from homeassistant.components.switch import SwitchEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .actions import translated_errors
from .entity import AidenEntity
from .runtime import AidenConfigEntry

# A stop must not wait behind anything.
PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: AidenConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up the switch."""
    async_add_entities([KillSwitch(entry)])


class KillSwitch(AidenEntity, SwitchEntity):
    """Takes the phone from whoever works it, and gives it to nobody until it is off."""

    def __init__(self, entry: AidenConfigEntry) -> None:
        """Name the switch."""
        super().__init__(entry, "kill_switch")

    @property
    @override
    def is_on(self) -> bool:
        """Return whether everything is stopped."""
        return self.aiden.is_halted

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        """Stop everything at once."""
        self.async_note_request("kill_switch_on")
        with translated_errors():
            await self.aiden.async_halt()

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        """Let work go on."""
        self.async_note_request("kill_switch_off")
        with translated_errors():
            await self.aiden.async_resume()
