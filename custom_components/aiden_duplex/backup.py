"""Backup: the journals are complete and keep still while one is made."""

import asyncio

from homeassistant.core import HomeAssistant

from .const import DOMAIN


async def async_pre_backup(hass: HomeAssistant) -> None:
    """Write out what is on its way, and only append until the backup is made."""
    await asyncio.gather(
        *(
            entry.runtime_data.async_pre_backup()
            for entry in hass.config_entries.async_loaded_entries(DOMAIN)
        )
    )


async def async_post_backup(hass: HomeAssistant) -> None:
    """Go on as before."""
    await asyncio.gather(
        *(
            entry.runtime_data.async_post_backup()
            for entry in hass.config_entries.async_loaded_entries(DOMAIN)
        )
    )
