"""Tells the person at once, by Home Assistant's notifications."""

from collections.abc import Iterable
import re

from homeassistant.components import persistent_notification
from homeassistant.core import HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..tasks.model import Delivery, Outcome, Task, TaskEvent, TaskEventType, TaskStatus

_MARKDOWN = re.compile(r"[\\`*_{}\[\]()<>#!|~&:@/]|(?<=www)\.", re.IGNORECASE)
_UNSEEN = re.compile(
    r"[^\S\n ]|[\u200b-\u200f\u202a-\u202e\u2066-\u2069\x00-\x09\x0b-\x1f\x7f]"
)
"""Control characters, and those that turn the direction of what follows."""
_SHOWN: HassKey[dict[str, set[str]]] = HassKey(f"{DOMAIN}_notifications")
"""Ids of what was shown since Home Assistant started, by entry."""
GOAL_LENGTH = 100
TEXT_LENGTH = 2000

_TITLES = {
    Outcome.ACHIEVED: "Done",
    Outcome.NOT_ACHIEVED: "Not done",
    Outcome.UNKNOWN: "Ended, result unknown",
}


class TaskNotifier:
    """One notification per task: its question, then its end."""

    def __init__(self, hass: HomeAssistant, entry_id: str, name: str) -> None:
        """Keep the name that titles begin with."""
        self._hass = hass
        self._name = name
        self._shown = hass.data.setdefault(_SHOWN, {}).setdefault(entry_id, set())

    @callback
    def async_handle(self, event: TaskEvent) -> None:
        """Show, replace or withdraw the task's notification."""
        task = event.task
        match event.type:
            case TaskEventType.NEEDS_YOU:
                self._show_question(task)
            case TaskEventType.COMPLETED | TaskEventType.FAILED:
                self._show_end(task)
            case TaskEventType.UPDATED if event.is_step or task.status.is_terminal:
                pass
            case (
                TaskEventType.ANSWERED | TaskEventType.CANCELLED | TaskEventType.UPDATED
            ):
                self._shown.discard(_id(task))
                persistent_notification.async_dismiss(self._hass, _id(task))

    @callback
    def async_show_open(self, tasks: Iterable[Task]) -> None:
        """Show again what is open after a start: Home Assistant forgets notifications."""
        for task in tasks:
            if task.is_waiting:
                self._show_question(task)
            elif task.delivery is Delivery.QUEUED or task.is_unheard:
                self._show_end(task)

    def _show_question(self, task: Task) -> None:
        """Show what a task asks."""
        self._show(task, "needs you", _question(task))

    def _show_end(self, task: Task) -> None:
        """Show how a task ended; a cancellation was the person's own."""
        if task.status is TaskStatus.COMPLETED:
            self._show(task, _TITLES[task.outcome or Outcome.UNKNOWN], task.result)
        elif task.status is TaskStatus.FAILED:
            self._show(task, "failed", task.error)

    def _show(self, task: Task, title: str, text: str | None) -> None:
        """Create or replace the notification."""
        goal = (
            task.prompt
            if len(task.prompt) <= GOAL_LENGTH
            else f"{task.prompt[:GOAL_LENGTH]}…"
        )
        self._shown.add(_id(task))
        persistent_notification.async_create(
            self._hass,
            f"{plain(goal)}\n\n{plain((text or '')[:TEXT_LENGTH])}",
            title=f"{self._name}: {title}",
            notification_id=_id(task),
        )


@callback
def async_withdraw(hass: HomeAssistant, entry_id: str) -> None:
    """Withdraw every notification of an entry that is removed."""
    for notification_id in hass.data.get(_SHOWN, {}).pop(entry_id, ()):
        persistent_notification.async_dismiss(hass, notification_id)


def plain(text: str) -> str:
    """Escape Markdown: what came from a screen or a model must not become a link.

    That includes bare addresses, which are links without any mark.
    """
    return _MARKDOWN.sub(r"\\\g<0>", _UNSEEN.sub(" ", text))


def _id(task: Task) -> str:
    """Return the notification's id."""
    return f"{DOMAIN}_{task.id}"


def _question(task: Task) -> str:
    """Return a question in words."""
    if (action := task.pending_user_action) is None:
        return ""
    return f"{action.details}\n\n{action.suggested_action}"
