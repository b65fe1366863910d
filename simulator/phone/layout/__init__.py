"""Where everything is on each screen: pure functions from the phone's state to a scene."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from simulator.phone.layout import alarms, apps, messages, notes, settings, system
from simulator.phone.layout.sheet import Sheet
from simulator.phone.screen_code import ScreenId
from simulator.phone.state import HOME, SCREEN_OF_PAGE, PhoneState, Place
from simulator.phone.widgets import Scene, View

_SCENES: dict[ScreenId, Callable[[Sheet, Place], Scene]] = {
    ScreenId.LOCK: system.lock,
    ScreenId.PIN: system.pin,
    ScreenId.HOME: system.home,
    ScreenId.RECENTS: system.recents,
    ScreenId.MESSAGES: messages.threads,
    ScreenId.THREAD: messages.thread,
    ScreenId.COMPOSE: messages.compose,
    ScreenId.NOTES: notes.notes,
    ScreenId.NOTE_EDITOR: notes.editor,
    ScreenId.NOTE_DELETE: notes.delete,
    ScreenId.ALARMS: alarms.alarms,
    ScreenId.ALARM_EDITOR: alarms.editor,
    ScreenId.PERMISSION: apps.permission,
    ScreenId.BANK: apps.bank,
    ScreenId.OTHER_APP: apps.other,
    **dict.fromkeys(SCREEN_OF_PAGE.values(), settings.page),
}
_DIALOGS = frozenset({ScreenId.PERMISSION, ScreenId.NOTE_DELETE})


def scene(
    state: PhoneState, clock: str = "", knobs: Mapping[str, float] | None = None
) -> Scene:
    """Lay out what is on the screen.

    ``clock`` is "HH:MM", drawn large on the lock and home screens; ``knobs`` holds where
    the knobs of moving switches are, 0 to 1.
    """
    sheet = Sheet(state, clock=clock, knobs=knobs or {})
    place = state.place
    laid = _SCENES[place.screen](sheet, place)
    if place.screen not in _DIALOGS or state.locked:
        return laid
    below = state.stack[-2] if len(state.stack) > 1 else HOME
    under = _SCENES[below.screen](sheet, below)
    scroll = state.scrolls.get(below)
    offset = min(round(scroll.offset), under.max_offset) if scroll else 0
    return replace(laid, under=View(scene=under, offset=offset))
