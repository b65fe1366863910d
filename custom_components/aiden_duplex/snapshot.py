"""What a dashboard shows of one phone: small, bounded, without secrets."""

from typing import Any, Final

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from .const import DOMAIN
from .entity import waiting
from .runtime import Aiden, AidenConfigEntry
from .sensor import GOAL_SHORT_LENGTH, TEXT_SHORT_LENGTH, shorten
from .tasks.model import Task

SHOWN_ENTITIES: Final = {
    "conversation": ("conversation", "assistant"),
    "kill_switch": ("switch", "kill_switch"),
    "screen": ("image", "screen"),
    "task": ("sensor", "task"),
}
"""Entities that a dashboard uses: platform and key of each."""
MAX_QUESTIONS: Final = 8
"""Open questions that are shown at once; more wait behind them."""


@callback
def async_snapshot(hass: HomeAssistant, entry: AidenConfigEntry) -> dict[str, Any]:
    """Return everything a dashboard shows of an entry, loaded or not."""
    shown: dict[str, Any] = {
        "title": entry.title,
        "loaded": entry.state is ConfigEntryState.LOADED,
        "entities": _entities(hass, entry),
    }
    if not shown["loaded"]:
        return shown
    aiden = entry.runtime_data
    tasks = aiden.tasks.tasks()
    current = aiden.tasks.current or next(iter(tasks), None)
    return shown | {
        "phone": _phone(aiden),
        "current": current and _task(current),
        "questions": [_question(task) for task in waiting(aiden)[:MAX_QUESTIONS]],
        "tasks": _rows(aiden),
        "outstanding": sum(task.is_outstanding for task in tasks),
    }


def _entities(hass: HomeAssistant, entry: AidenConfigEntry) -> dict[str, str]:
    """Return the ids of the entry's entities that are there."""
    registry = er.async_get(hass)
    found = {
        name: registry.async_get_entity_id(platform, DOMAIN, f"{entry.entry_id}_{key}")
        for name, (platform, key) in SHOWN_ENTITIES.items()
    }
    return {name: entity_id for name, entity_id in found.items() if entity_id}


def _phone(aiden: Aiden) -> dict[str, Any]:
    """Return how the phone is reached."""
    return {
        "has_board": aiden.has_board,
        "halted": aiden.is_halted,
        "link": str(aiden.phone.link),
        "picture": aiden.phone.picture_ok,
    }


def _rows(aiden: Aiden) -> list[dict[str, Any]]:
    """Return the tasks in the slots, in their order."""
    shown = [aiden.tasks.slot(number) for number in range(1, aiden.slots + 1)]
    return [_row(task) for task in shown if task is not None]


def _row(task: Task) -> dict[str, Any]:
    """Return one line of the list of tasks."""
    return {
        "id": task.id,
        "goal": shorten(task.prompt, GOAL_SHORT_LENGTH),
        "status": str(task.status),
        "is_waiting": task.is_waiting,
        "outcome": task.outcome and str(task.outcome),
        "queue_position": task.queue_position,
        "slot": task.slot,
    }


def _task(task: Task) -> dict[str, Any]:
    """Return the current task with what it does and what came of it."""
    return _row(task) | {
        "step": shorten(task.step, GOAL_SHORT_LENGTH),
        "result": shorten(task.result, TEXT_SHORT_LENGTH),
        "error": shorten(task.error, TEXT_SHORT_LENGTH),
        "evidence": shorten(task.evidence, TEXT_SHORT_LENGTH),
    }


def _question(task: Task) -> dict[str, Any]:
    """Return what a waiting task asks."""
    action = task.pending_user_action
    assert action is not None
    return {
        "id": action.id,
        "task_id": task.id,
        "goal": shorten(task.prompt, GOAL_SHORT_LENGTH),
        "reason": str(action.reason),
        "details": shorten(action.details, TEXT_SHORT_LENGTH),
        "suggested_action": shorten(action.suggested_action, TEXT_SHORT_LENGTH),
        "needs_consent": action.consent is not None,
    }
