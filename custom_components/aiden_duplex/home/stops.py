"""Stops that come while an entry is not loaded, as during a reload.

Home Assistant lets an action on entities that are not there succeed without doing
anything. A stop must not be lost like that: it is kept and carried out before the entry
works again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import ATTR_ENTITY_ID, EVENT_CALL_SERVICE
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN

_STOPS: HassKey[dict[str, Stops]] = HassKey(f"{DOMAIN}_stops")

MAX_CANCELS: Final = 64
"""Cancellations that are kept for one entry; our choice."""


@dataclass(slots=True, kw_only=True)
class Stops:
    """What somebody asked for while an entry was not there."""

    halt: bool = False
    """The kill switch was turned on."""
    hold: bool = False
    """The work was to be cancelled or taken over, whatever it is."""
    cancel: list[str] = field(default_factory=list)
    """Tasks that were cancelled by their ids."""


@callback
def async_keep_stops(hass: HomeAssistant) -> None:
    """Begin to listen for stops."""
    if _STOPS in hass.data:
        return
    hass.data[_STOPS] = {}

    @callback
    def is_stop(data: Mapping[str, Any]) -> bool:
        """Return whether an event may concern us."""
        return _stop_in(data) is not None

    async def take(event: Event) -> None:
        """Keep a stop for every entry of its targets that is not loaded."""
        given = event.data["service_data"].get(ATTR_ENTITY_ID, [])
        stop = _stop_in(event.data)
        if stop is None:
            return
        for entity_id in [given] if isinstance(given, str) else given:
            if (entry_id := _absent(hass, entity_id, stop[0])) and (
                await _may_control(hass, event.context, entity_id)
            ):
                _note(hass.data[_STOPS].setdefault(entry_id, Stops()), *stop)

    hass.bus.async_listen(EVENT_CALL_SERVICE, take, event_filter=is_stop)


@callback
def async_take_stops(hass: HomeAssistant, entry_id: str) -> Stops | None:
    """Return what an entry has to carry out, once."""
    return hass.data.get(_STOPS, {}).pop(entry_id, None)


def _stop_in(data: Mapping[str, Any]) -> tuple[str, str | None] | None:
    """Return the key of the entity that a stop aims at, and its task; None for others."""
    given = data["service_data"]
    match data["domain"], data["service"]:
        case "switch", "turn_on" | "toggle":
            return "kill_switch", None
        case "button", "press":
            return "cancel", None
        case domain, "set_kill_switch" if domain == DOMAIN and given.get("active"):
            return "task", None
        case domain, "cancel_task" if domain == DOMAIN:
            return "task", str(given.get("task_id", ""))
        case domain, "take_over" if domain == DOMAIN:
            return "task", ""
        case _:
            return None


def _note(stops: Stops, key: str, task_id: str | None) -> None:
    """Add a stop to what is kept."""
    if key == "kill_switch" or (key == "task" and task_id is None):
        stops.halt = True
    elif task_id:
        if task_id not in stops.cancel:
            stops.cancel = [*stops.cancel, task_id][-MAX_CANCELS:]
    else:
        stops.hold = True


def _absent(hass: HomeAssistant, entity_id: str, key: str) -> str | None:
    """Return the entry of an entity, if that is not loaded and the entity is the one meant."""
    found = er.async_get(hass).async_get(entity_id)
    if found is None or found.platform != DOMAIN or found.config_entry_id is None:
        return None
    entry = hass.config_entries.async_get_entry(found.config_entry_id)
    if entry is None or found.unique_id != f"{entry.entry_id}_{key}":
        return None
    return None if entry.state is ConfigEntryState.LOADED else entry.entry_id


async def _may_control(hass: HomeAssistant, context: Context, entity_id: str) -> bool:
    """Return whether the context may control an entity; one without a user may."""
    if context.user_id is None:
        return True
    user = await hass.auth.async_get_user(context.user_id)
    return user is not None and user.permissions.check_entity(entity_id, POLICY_CONTROL)
