"""Diagnostics: states and counts; no key, no address, no text of a task or a conversation."""

from collections import Counter
from typing import Any

from homeassistant.components.diagnostics import async_redact_data
from homeassistant.const import CONF_API_KEY, CONF_DEVICE
from homeassistant.core import HomeAssistant

from .const import CONF_BASE_URL, CONF_BOARD_ID, CONF_SNAPSHOT_URL
from .runtime import AidenConfigEntry

TO_REDACT = {CONF_API_KEY, CONF_BASE_URL, CONF_BOARD_ID, CONF_DEVICE, CONF_SNAPSHOT_URL}


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: AidenConfigEntry
) -> dict[str, Any]:
    """Return what helps to find a fault."""
    aiden = entry.runtime_data
    tasks = aiden.tasks.tasks()
    return {
        "entry": async_redact_data(entry.data, TO_REDACT),
        "link": str(aiden.phone.link),
        "picture": aiden.phone.picture_ok,
        "tasks": {
            "by_status": Counter(str(task.status) for task in tasks),
            "by_delivery": Counter(str(task.delivery) for task in tasks),
            "waiting_for_a_person": sum(task.is_waiting for task in tasks),
        },
    }
