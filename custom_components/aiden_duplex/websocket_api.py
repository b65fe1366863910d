"""The websocket command of the dashboard: what a phone does, now and from now on."""

from collections.abc import Callable
from typing import Any

from homeassistant.auth.permissions.const import POLICY_READ
from homeassistant.components.websocket_api import async_register_command
from homeassistant.components.websocket_api.connection import ActiveConnection
from homeassistant.components.websocket_api.const import ERR_NOT_FOUND, ERR_UNAUTHORIZED
from homeassistant.components.websocket_api.decorators import websocket_command
from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
    ConfigEntryState,
)
from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.event import async_call_later
import voluptuous as vol

from .const import DOMAIN
from .runtime import AidenConfigEntry
from .snapshot import async_snapshot

BURST_S = 0.1
"""Changes within this time become one message."""


@callback
def async_setup_websocket_api(hass: HomeAssistant) -> None:
    """Register the command."""
    async_register_command(hass, websocket_subscribe)


@websocket_command(
    {
        vol.Required("type"): f"{DOMAIN}/subscribe",
        vol.Required("entity_id"): cv.entity_id,
    }
)
@callback
def websocket_subscribe(
    hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]
) -> None:
    """Send what the phone of a task sensor does, now and after every change."""
    entity_id = msg["entity_id"]
    if not _may_read(connection, entity_id):
        connection.send_error(
            msg["id"],
            ERR_UNAUTHORIZED,
            f"You may not read {entity_id}",
            translation_domain=DOMAIN,
            translation_key="may_not_read",
            translation_placeholders={"entity_id": entity_id},
        )
        return
    if (entry := _find_entry(hass, entity_id)) is None:
        connection.send_error(
            msg["id"],
            ERR_NOT_FOUND,
            f"{entity_id} is no task sensor of a phone",
            translation_domain=DOMAIN,
            translation_key="no_task_sensor",
            translation_placeholders={"entity_id": entity_id},
        )
        return

    @callback
    def send(event: dict[str, Any]) -> None:
        """Send one message of the subscription."""
        connection.send_event(msg["id"], event)

    feed = Feed(hass, entry, send)
    connection.subscriptions[msg["id"]] = feed.async_close
    connection.send_result(msg["id"])
    feed.async_open()


class Feed:
    """Follows one entry through its reloads and sends what has changed.

    The first message is complete; each later one has the names whose values changed.
    ``removed`` is the last message of an entry that was deleted.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        entry: AidenConfigEntry,
        send: Callable[[dict[str, Any]], None],
    ) -> None:
        """Follow nothing yet."""
        self._hass = hass
        self._entry = entry
        self._send = send
        self._sent: dict[str, Any] = {}
        self._unsubscribe_signal: CALLBACK_TYPE | None = None
        self._unsubscribe_aiden: list[CALLBACK_TYPE] = []
        self._cancel_timer: CALLBACK_TYPE | None = None

    @callback
    def async_open(self) -> None:
        """Send the whole and begin to follow."""
        self._unsubscribe_signal = async_dispatcher_connect(
            self._hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_entry_changed
        )
        if self._entry.state is ConfigEntryState.LOADED:
            self._async_attach()
        self._async_flush()

    @callback
    def async_close(self) -> None:
        """Follow nothing any more."""
        self._async_detach()
        if self._unsubscribe_signal is not None:
            self._unsubscribe_signal()
            self._unsubscribe_signal = None
        if self._cancel_timer is not None:
            self._cancel_timer()
            self._cancel_timer = None

    @callback
    def _async_entry_changed(
        self, change: ConfigEntryChange, entry: ConfigEntry[Any]
    ) -> None:
        """Follow the entry through loading, unloading and its end."""
        if entry.entry_id != self._entry.entry_id:
            return
        if change is ConfigEntryChange.REMOVED:
            self.async_close()
            self._send({"loaded": False, "removed": True})
            return
        self._async_detach()
        if entry.state is ConfigEntryState.LOADED:
            self._async_attach()
        self._async_changed()

    @callback
    def _async_attach(self) -> None:
        """Follow what the loaded entry runs; steps of tasks are told by these alone."""
        aiden = self._entry.runtime_data
        self._unsubscribe_aiden = [
            aiden.async_subscribe(self._async_changed),
            aiden.tasks.subscribe(lambda _event: self._async_changed()),
        ]

    @callback
    def _async_detach(self) -> None:
        """Let go of what the entry ran."""
        for unsubscribe in self._unsubscribe_aiden:
            unsubscribe()
        self._unsubscribe_aiden = []

    @callback
    def _async_changed(self) -> None:
        """Send soon: what else changes until then goes along."""
        if self._cancel_timer is None:
            job = HassJob(self._async_flush, f"{DOMAIN} feed", cancel_on_shutdown=True)
            self._cancel_timer = async_call_later(self._hass, BURST_S, job)

    @callback
    def _async_flush(self, _now: object = None) -> None:
        """Send the names whose values differ from what was sent."""
        self._cancel_timer = None
        shown = async_snapshot(self._hass, self._entry)
        changed = {
            name: value
            for name, value in shown.items()
            if name not in self._sent or self._sent[name] != value
        }
        self._sent |= changed
        if changed:
            self._send(changed)


def _may_read(connection: ActiveConnection, entity_id: str) -> bool:
    """Return whether the connection's user may read an entity."""
    return connection.user.permissions.check_entity(entity_id, POLICY_READ)


def _find_entry(hass: HomeAssistant, entity_id: str) -> AidenConfigEntry | None:
    """Return the entry whose task sensor this is."""
    found = er.async_get(hass).async_get(entity_id)
    if found is None or found.platform != DOMAIN or found.config_entry_id is None:
        return None
    entry = hass.config_entries.async_get_entry(found.config_entry_id)
    if entry is None or found.unique_id != f"{entry.entry_id}_task":
        return None
    return entry
