"""What the phone's keys do: the system's own, and those that write."""

from simulator.phone import actions
from simulator.phone.actions import Effect
from simulator.phone.keyboard import Command
from simulator.phone.screen_code import ScreenId
from simulator.phone.state import PhoneState
from simulator.phone.widgets import Action, Motion, Verb

REPEATING = frozenset(
    {Command.ENTER, Command.BACKSPACE, Command.VOLUME_UP, Command.VOLUME_DOWN}
)
"""Commands that happen again while their key is held."""


def show_pin(state: PhoneState) -> Effect:
    """Show the PIN pad over the lock screen."""
    state.pin_shown = True
    return Effect(motion=Motion.RISE)


def write(state: PhoneState, text: str) -> Effect:
    """Write a character; on the lock screen the first one only shows the PIN pad."""
    if not state.locked:
        state.write(text)
    elif not state.pin_shown:
        return show_pin(state)
    elif text.isdigit():
        state.pin_key(text)
    return Effect()


def run(state: PhoneState, command: Command, at: float) -> Effect:
    """Do what a key of the system does."""
    match command:
        case Command.HOME:
            moved = state.place.screen not in {ScreenId.HOME, ScreenId.LOCK}
            state.home()
            return Effect(motion=Motion.SHRINK if moved else None)
        case Command.BACK:
            return actions.go_back(state, at)
        case Command.RECENTS if not state.locked:
            return actions.show_recents(state)
        case Command.LOCK if not state.locked:
            state.lock()
            return Effect(motion=Motion.FADE)
        case Command.ENTER:
            return _enter(state, at)
        case Command.BACKSPACE if state.locked:
            state.pin_typed = state.pin_typed[:-1]
        case Command.BACKSPACE:
            state.backspace()
        case Command.SELECT_ALL if state.focus:
            state.selected = bool(state.texts.get(state.focus))
        case Command.VOLUME_UP | Command.VOLUME_DOWN:
            step = 1 if command is Command.VOLUME_UP else -1
            state.volume = min(15, max(0, state.volume + step))
            state.say(f"Volume {state.volume}", at)
        case _:
            pass
    return Effect()


def _enter(state: PhoneState, at: float) -> Effect:
    """Do what Enter does here."""
    if not state.locked:
        return actions.enter_key(state, at)
    if not state.pin_shown:
        return show_pin(state)
    return actions.perform(state, Action(verb=Verb.PIN_ENTER), at)
