"""The Aiden Duplex integration."""

import contextlib
import logging
from pathlib import Path
import shutil

from homeassistant.core import HassJob, HomeAssistant
from homeassistant.exceptions import ConfigEntryNotReady
from homeassistant.helpers import config_validation as cv, issue_registry as ir
from homeassistant.helpers.typing import ConfigType

from .actions import async_setup_actions
from .const import DOMAIN, PLATFORMS
from .dashboard import async_setup_dashboard
from .home.notifier import async_withdraw
from .home.stops import async_keep_stops
from .runtime import Aiden, AidenConfigEntry, cache_folder, mark_file, storage_folder
from .storage.journal import JournalError
from .tasks.errors import TaskStorageError
from .websocket_api import async_setup_websocket_api

_LOGGER = logging.getLogger(__name__)

CONFIG_SCHEMA = cv.config_entry_only_config_schema(DOMAIN)


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Register the actions, the dashboard and its command."""
    async_setup_actions(hass)
    async_keep_stops(hass)
    async_setup_websocket_api(hass)
    await async_setup_dashboard(hass)
    return True


async def async_setup_entry(hass: HomeAssistant, entry: AidenConfigEntry) -> bool:
    """Set up one phone; what is missing outside never keeps it from loading."""
    aiden = Aiden.build(hass, entry)
    entry.runtime_data = aiden
    try:
        await aiden.async_start()
        await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    except (JournalError, TaskStorageError) as err:
        raise ConfigEntryNotReady(
            translation_domain=DOMAIN,
            translation_key="journal_unreadable",
            translation_placeholders={"detail": str(err)},
        ) from err
    except BaseException:
        await aiden.async_stop()
        raise
    # Home Assistant stops without unloading: the run must be handed back all the same.
    entry.async_on_unload(
        hass.async_add_shutdown_job(HassJob(aiden.async_stop, f"{DOMAIN} stop"))
    )
    aiden.async_work_when_started()
    return True


async def async_unload_entry(hass: HomeAssistant, entry: AidenConfigEntry) -> bool:
    """End the run, release everything on the phone, close all.

    The work ends while its entities are there: they tell of it, and a stop that comes
    meanwhile is refused in words instead of being lost.
    """
    await entry.runtime_data.async_stop(reload=True)
    return await hass.config_entries.async_unload_platforms(entry, PLATFORMS)


async def async_remove_entry(hass: HomeAssistant, entry: AidenConfigEntry) -> None:
    """Delete all that is the entry's own; pipelines that name its agent are the person's."""
    async_withdraw(hass, entry.entry_id)
    for domain, issue_id in list(ir.async_get(hass).issues):
        # The issues of an entry end with its id.
        if domain == DOMAIN and issue_id.endswith(entry.entry_id):
            ir.async_delete_issue(hass, domain, issue_id)
    storage = storage_folder(hass, entry.entry_id)
    cache = cache_folder(hass, entry.entry_id)
    mark = mark_file(hass, entry.entry_id)
    await hass.async_add_executor_job(_delete, storage, cache, mark)


def _delete(storage: Path, cache: Path, mark: Path) -> None:
    """Delete an entry's folders; say so when something stays."""
    with contextlib.suppress(OSError):
        mark.unlink(missing_ok=True)
    for folder in (storage, cache):
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            _LOGGER.warning("%s cannot be deleted; delete it by hand", folder)
    # It stays as long as another phone has pictures in it.
    with contextlib.suppress(OSError):
        cache.parent.rmdir()
