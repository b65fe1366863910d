"""The truth about the virtual phone, for tests: what no picture has to be read for."""

from typing import Any

from simulator.phone.persona import App, Page, Toggle
from simulator.phone.phone import VirtualPhone
from simulator.phone.screen_code import ScreenId
from simulator.phone.state import SCREEN_OF_PAGE, PhoneState, Place
from simulator.phone.widgets import HEIGHT, WIDTH, View


class UnknownThingError(ValueError):
    """There is no such app, page or switch; the text names it."""


def truth(phone: VirtualPhone) -> dict[str, Any]:
    """Return everything about the phone as JSON values.

    ``visible`` lists what can be read or touched, with its middle in thousandths of the
    screen.
    """
    moving = phone.moving
    state = phone.state
    persona = state.persona
    screen = state.place.screen
    return {
        "simulation": True,
        "seed": persona.seed,
        "screen": screen.name.lower(),
        "screen_id": int(screen),
        "about": state.place.argument,
        "moving": moving,
        "locked": state.locked,
        "pin": persona.pin,
        "clock": phone.clock_text,
        "theme": state.theme,
        "font_scale": persona.font_scale,
        "toggles": {key.value: on for key, on in state.toggles.items()},
        "pages": {key.value: persona.page_of(key).value for key in Toggle},
        "names": {
            **{app.value: name for app, name in persona.app_names.items()},
            **{key.value: name for key, name in persona.toggle_names.items()},
        },
        "page_names": {key.value: name for key, name in persona.page_names.items()},
        "words": dict(persona.words),
        "asking": sorted(persona.asking),
        "permissions": {app.value: given for app, given in state.permissions.items()},
        "notes": list(state.notes),
        "messages_sent": [
            {"to": contact, "text": text} for contact, text in state.sent
        ],
        "alarms": [{"time": a.time, "on": a.on} for a in state.alarms],
        "volume": state.volume,
        "focused": state.focus or None,
        "focused_text": state.texts.get(state.focus, "") if state.focus else None,
        "visible": visible(phone.view()),
    }


def visible(view: View) -> list[dict[str, Any]]:
    """Return what a person sees: kind, text and middle of every widget."""
    found: list[dict[str, Any]] = []
    for widget, rect in view.visible():
        x, y = rect.centre
        found.append(
            {
                "kind": widget.kind.value,
                "label": widget.label or " ".join(widget.lines),
                "summary": widget.summary,
                "x": round(x / WIDTH * 1000, 1),
                "y": round(y / HEIGHT * 1000, 1),
            }
        )
    return found


def check_values(values: dict[str, Any]) -> None:
    """Refuse what :func:`set_values` cannot set.

    Raises:
        UnknownThingError: A key is not known, or its value is of another type.

    """
    for key, value in values.items():
        match key, value:
            case "locked", bool():
                pass
            case "notes", list():
                pass
            case str(), bool() if key in list(Toggle):
                pass
            case _:
                raise UnknownThingError(f"nothing called {key!r} takes this value")


def set_values(state: PhoneState, values: dict[str, Any]) -> None:
    """Set switches by canonical key, ``locked``, ``notes``; all were checked."""
    for key, value in values.items():
        match key:
            case "locked":
                if value:
                    state.lock()
                else:
                    state.unlock()
            case "notes":
                state.notes = [str(note) for note in value]
            case _:
                state.toggles[Toggle(key)] = value


def check_place(name: str) -> None:
    """Refuse what :func:`open_place` cannot open.

    Raises:
        UnknownThingError: There is no such place.

    """
    app, slash, page = name.partition("/")
    if slash:
        known = app == App.SETTINGS and page in list(Page)
    else:
        known = app in {"home", "lock", "pin", "recents", *App}
    if not known:
        raise UnknownThingError(f"there is no place called {name!r}")


def open_place(state: PhoneState, name: str) -> None:
    """Open ``home``, ``lock``, ``pin``, ``recents``, an app, or ``settings/<page>``."""
    app, _, page = name.partition("/")
    match app:
        case "home":
            state.unlock()
            state.home()
        case "lock":
            state.lock()
        case "pin":
            state.lock()
            state.pin_shown = True
        case "recents":
            state.unlock()
            state.stack = [Place(screen=ScreenId.RECENTS)]
        case _:
            state.unlock()
            state.open_app(App(app))
            if page:
                state.push(Place(screen=SCREEN_OF_PAGE[Page(page)]))
