"""Buttons: stop the current task, answer or refuse what it asks."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import override

from homeassistant.components.button import ButtonEntity, ButtonEntityDescription
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .actions import translated_errors
from .entity import AidenEntity, oldest_waiting, origin_of
from .home.people import async_assent
from .runtime import Aiden, AidenConfigEntry
from .tasks.errors import NotRunningError, RolloverError
from .tasks.model import ConsentHow, Decision, Origin, Task

# A stop must not wait behind anything.
PARALLEL_UPDATES = 0

SHOWN_S = 2.0
"""How long a question must stand here before a press can mean it, and how long a second
press means what the first one did. Our choice."""
DONE = "Done."
YES = "Yes."
NO = "No."
"""What the person is taken to have said."""


@dataclass(frozen=True, kw_only=True)
class AidenButtonDescription(ButtonEntityDescription):
    """What a button works on, and what it does to it."""

    task: Callable[[Aiden], Task | None]
    press: Callable[[AidenButton, Task], Awaitable[object]]
    is_always_there: bool = False
    """Also with nothing to do: coming and going with every task would fill the history."""


def _unfinished(aiden: Aiden) -> Task | None:
    """Return the task in work, one that waits for a person, or the next one."""
    unfinished = [
        task for task in aiden.tasks.outstanding() if not task.status.is_terminal
    ]
    return aiden.tasks.current or (unfinished[-1] if unfinished else None)


async def _respond(button: AidenButton, task: Task, decision: Decision) -> None:
    """Answer the question that the task has asked, and no later one."""
    assent = await async_assent(button.hass, button.origin, ConsentHow.BUTTON)
    question = task.pending_user_action
    words = YES if question and question.consent else DONE
    await button.aiden.tasks.respond(
        task.id,
        NO if decision is Decision.REFUSED else words,
        decision=decision,
        question_id=question.id if question else None,
        assent=assent,
    )


BUTTONS = (
    AidenButtonDescription(
        key="cancel",
        task=_unfinished,
        press=lambda button, task: button.aiden.tasks.cancel(task.id),
        is_always_there=True,
    ),
    AidenButtonDescription(
        key="proceed",
        task=oldest_waiting,
        press=lambda button, task: _respond(button, task, Decision.ANSWERED),
    ),
    AidenButtonDescription(
        key="refuse",
        task=oldest_waiting,
        press=lambda button, task: _respond(button, task, Decision.REFUSED),
    ),
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: AidenConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up the buttons."""
    async_add_entities(AidenButton(entry, description) for description in BUTTONS)


class AidenButton(AidenEntity, ButtonEntity):
    """A button; those that answer are there while something is asked."""

    entity_description: AidenButtonDescription

    def __init__(
        self, entry: AidenConfigEntry, description: AidenButtonDescription
    ) -> None:
        """Name the button."""
        super().__init__(entry, description.key)
        self.entity_description = description
        self._shown: str | None = None
        self._shown_since = 0.0
        self._last_press: tuple[str, float] | None = None

    @property
    @override
    def available(self) -> bool:
        """Return whether there is something to do."""
        description = self.entity_description
        return description.is_always_there or description.task(self.aiden) is not None

    @property
    def origin(self) -> Origin:
        """Return who pressed."""
        return origin_of(self._context)

    @override
    async def async_press(self) -> None:
        """Do it, to what the person can have meant."""
        with translated_errors():
            if (task := self.entity_description.task(self.aiden)) is None:
                raise NotRunningError
            self._refuse_rollover(task)
            self.async_note_request(self.entity_description.key, task.id)
            await self.entity_description.press(self, task)

    def _refuse_rollover(self, task: Task) -> None:
        """Refuse a press that was meant for what stood here a moment ago.

        Raises:
            RolloverError: Another task or question has just taken its place.

        """
        now = self.hass.loop.time()
        if not self.entity_description.is_always_there:
            self._note_shown()
            if now - self._shown_since < SHOWN_S:
                raise RolloverError
        last, self._last_press = self._last_press, (task.id, now)
        if last is not None and last[0] != task.id and now - last[1] < SHOWN_S:
            self._last_press = last
            raise RolloverError

    @callback
    @override
    def _async_changed(self) -> None:
        """Note since when the present question is shown."""
        self._note_shown()
        super()._async_changed()

    def _note_shown(self) -> None:
        """Keep the question that the button stands for, and since when."""
        task = self.entity_description.task(self.aiden)
        action = task.pending_user_action if task else None
        shown = action.id if action else None
        if shown != self._shown:
            self._shown = shown
            self._shown_since = self.hass.loop.time()
