"""What touching a widget does to the phone's state."""

from dataclasses import dataclass

from simulator.phone.persona import App, Page, Toggle
from simulator.phone.screen_code import ScreenId
from simulator.phone.state import (
    FIELD_ALARM,
    FIELD_COMPOSE,
    FIELD_NOTE,
    FIELD_REPLY,
    FIELD_TO,
    SCREEN_OF_PAGE,
    PhoneState,
    Place,
)
from simulator.phone.widgets import Action, Motion, Verb

_FAR_DOWN = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """How a change is shown."""

    motion: Motion | None = None
    """None: the screen stays."""
    knob: str = ""
    """Key of a switch whose knob moves."""
    on: bool = False


def perform(state: PhoneState, action: Action, now: float) -> Effect:
    """Do what an action says; never fails, a person's finger always does something or nothing."""
    argument = action.argument
    match action.verb:
        case Verb.OPEN_APP:
            state.open_app(App(argument))
            return Effect(motion=Motion.GROW)
        case Verb.OPEN_PAGE:
            state.push(Place(screen=SCREEN_OF_PAGE[Page(argument)]))
            return Effect(motion=Motion.PUSH)
        case Verb.TOGGLE:
            toggle = Toggle(argument)
            state.toggles[toggle] = not state.toggles[toggle]
            return Effect(knob=toggle, on=state.toggles[toggle])
        case Verb.FOCUS:
            state.focus = argument
            state.selected = False
            return Effect()
        case Verb.BACK:
            return go_back(state, now)
        case Verb.CLEAR_RECENTS:
            state.recents.clear()
            state.home()
            return Effect(motion=Motion.SHRINK)
        case Verb.ALLOW | Verb.DENY:
            app = App(state.place.argument)
            state.permissions[app] = action.verb is Verb.ALLOW
            state.stack.pop()
            return Effect(motion=Motion.FADE)
        case Verb.PIN_KEY | Verb.PIN_DELETE | Verb.PIN_ENTER:
            return _pin(state, action)
        case Verb.OPEN_THREAD | Verb.COMPOSE | Verb.SEND:
            return _messages(state, action, now)
        case Verb.NEW_ALARM | Verb.SAVE_ALARM | Verb.TOGGLE_ALARM:
            return _alarms(state, action, now)
        case _:
            return _notes(state, action, now)


def go_back(state: PhoneState, now: float) -> Effect:
    """Go back one step; what was not saved is lost, and said so."""
    place = state.place
    if place.screen in {ScreenId.HOME, ScreenId.LOCK}:
        return Effect()
    if place.screen is ScreenId.NOTE_EDITOR and state.texts.get(FIELD_NOTE):
        state.say("Note not saved", now)
    state.back()
    if place.screen in {ScreenId.PERMISSION, ScreenId.NOTE_DELETE}:
        return Effect(motion=Motion.FADE)
    return Effect(motion=Motion.POP if state.stack else Motion.SHRINK)


def show_recents(state: PhoneState) -> Effect:
    """Show the apps used last."""
    state.unfocus()
    state.stack = [Place(screen=ScreenId.RECENTS)]
    return Effect(motion=Motion.SHRINK)


def enter_key(state: PhoneState, now: float) -> Effect:
    """Do what Enter does in the focused field."""
    match state.focus:
        case "":
            return Effect()
        case f if f == FIELD_TO:
            return perform(state, Action(verb=Verb.FOCUS, argument=FIELD_COMPOSE), now)
        case f if f == FIELD_REPLY:
            return perform(state, Action(verb=Verb.SEND), now)
        case f if f == FIELD_ALARM:
            return perform(state, Action(verb=Verb.SAVE_ALARM), now)
        case _:
            state.write("\n")
            return Effect()


def _pin(state: PhoneState, action: Action) -> Effect:
    """Type a PIN."""
    match action.verb:
        case Verb.PIN_KEY:
            state.pin_key(action.argument)
        case Verb.PIN_DELETE:
            state.pin_typed = state.pin_typed[:-1]
        case _ if state.pin_enter():
            return Effect(motion=Motion.FADE)
    return Effect()


def _messages(state: PhoneState, action: Action, now: float) -> Effect:
    """Read and write messages."""
    if action.verb is Verb.OPEN_THREAD:
        _open_thread(state, action.argument)
        return Effect(motion=Motion.PUSH)
    if action.verb is Verb.COMPOSE:
        state.texts[FIELD_TO] = state.texts[FIELD_COMPOSE] = ""
        state.push(Place(screen=ScreenId.COMPOSE))
        return Effect(motion=Motion.PUSH)
    composing = state.place.screen is ScreenId.COMPOSE
    contact = state.texts.get(FIELD_TO, "") if composing else state.place.argument
    if not state.send(contact, FIELD_COMPOSE if composing else FIELD_REPLY):
        state.say("Nothing was sent", now)
        return Effect()
    state.say("Message sent", now)
    if composing:
        state.stack.pop()
        _open_thread(state, state.sent[-1][0])
        return Effect(motion=Motion.FADE)
    state.scroll.offset = _FAR_DOWN
    return Effect()


def _open_thread(state: PhoneState, contact: str) -> None:
    """Open a thread at its end."""
    state.texts[FIELD_REPLY] = ""
    state.push(Place(screen=ScreenId.THREAD, argument=contact))
    state.scroll.offset = _FAR_DOWN


def _notes(state: PhoneState, action: Action, now: float) -> Effect:
    """Read, write and delete notes."""
    argument = action.argument
    match action.verb:
        case Verb.NEW_NOTE | Verb.OPEN_NOTE:
            state.texts[FIELD_NOTE] = state.notes[int(argument)] if argument else ""
            state.push(Place(screen=ScreenId.NOTE_EDITOR, argument=argument))
            return Effect(motion=Motion.PUSH)
        case Verb.ASK_DELETE_NOTE:
            state.push(Place(screen=ScreenId.NOTE_DELETE, argument=argument))
            return Effect(motion=Motion.FADE)
        case Verb.DELETE_NOTE:
            del state.notes[int(argument)]
            state.back()
            state.say("Note deleted", now)
            return Effect(motion=Motion.FADE)
        case _ if state.save_note(argument):
            state.back()
            state.say("Note saved", now)
            return Effect(motion=Motion.POP)
        case _:
            state.say("The note is empty", now)
            return Effect()


def _alarms(state: PhoneState, action: Action, now: float) -> Effect:
    """Switch and add alarms."""
    if action.verb is Verb.NEW_ALARM:
        state.texts[FIELD_ALARM] = ""
        state.push(Place(screen=ScreenId.ALARM_EDITOR))
        return Effect(motion=Motion.PUSH)
    if action.verb is Verb.TOGGLE_ALARM:
        alarm = state.alarms[int(action.argument)]
        alarm.on = not alarm.on
        return Effect(knob=f"alarm {alarm.time}", on=alarm.on)
    time = state.save_alarm()
    if time is None:
        state.say("Not a time of day", now)
        return Effect()
    state.back()
    state.say(f"Alarm set for {time}", now)
    return Effect(motion=Motion.POP)
