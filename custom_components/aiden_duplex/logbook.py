"""Logbook: what happened to tasks, in the context of who asked for them."""

from collections.abc import Callable

from homeassistant.components.logbook.const import (
    LOGBOOK_ENTRY_ENTITY_ID,
    LOGBOOK_ENTRY_MESSAGE,
    LOGBOOK_ENTRY_NAME,
)
from homeassistant.const import ATTR_ENTITY_ID, ATTR_NAME
from homeassistant.core import Event, HomeAssistant, callback

from .const import ATTR_GOAL, ATTR_TYPE, DOMAIN, EVENT_TASK
from .tasks.model import TaskEventType

_MESSAGES = {
    TaskEventType.CREATED: "was asked to: {goal}",
    TaskEventType.UPDATED: "was told what to do instead: {goal}",
    TaskEventType.NEEDS_YOU: "needs you for: {goal}",
    TaskEventType.ANSWERED: "goes on with: {goal}",
    TaskEventType.CONSENT_USED: "does what a person agreed to, for: {goal}",
    TaskEventType.COMPLETED: "ended: {goal}",
    TaskEventType.FAILED: "failed: {goal}",
    TaskEventType.CANCELLED: "cancelled: {goal}",
}


@callback
def async_describe_events(
    hass: HomeAssistant,
    async_describe_event: Callable[[str, str, Callable[[Event], dict[str, str]]], None],
) -> None:
    """Describe the events of tasks."""

    @callback
    def async_describe_task_event(event: Event) -> dict[str, str]:
        """Return the line of one event."""
        message = _MESSAGES.get(event.data[ATTR_TYPE], "{goal}")
        return {
            LOGBOOK_ENTRY_NAME: event.data[ATTR_NAME],
            LOGBOOK_ENTRY_MESSAGE: message.replace("{goal}", event.data[ATTR_GOAL]),
            LOGBOOK_ENTRY_ENTITY_ID: event.data[ATTR_ENTITY_ID],
        }

    async_describe_event(DOMAIN, EVENT_TASK, async_describe_task_event)
