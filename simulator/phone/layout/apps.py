"""The black app, the apps without a use, and the question for a permission."""

from simulator.phone.layout.sheet import BODY_TOP, MARGIN, Sheet
from simulator.phone.persona import App
from simulator.phone.screen_code import ScreenId
from simulator.phone.state import Place
from simulator.phone.widgets import (
    WIDTH,
    Action,
    Background,
    Kind,
    Rect,
    Scene,
    Tone,
    Verb,
    Widget,
)

_WANTS: dict[App, str] = {
    App.CAMERA: "take pictures",
    App.MESSAGES: "read your contacts",
    App.NOTES: "read your files",
    App.ALARMS: "send notifications",
}


def bank(sheet: Sheet, _place: Place) -> Scene:
    """Lay out a protected screen: whoever looks at the picture sees nothing at all."""
    return sheet.scene(ScreenId.BANK, background=Background.BLACK)


def other(sheet: Sheet, place: Place) -> Scene:
    """Lay out an app that is there to be the wrong one."""
    app = App(place.argument)
    line = WIDTH - 2 * MARGIN
    card = Rect(left=MARGIN, top=BODY_TOP + 20, width=line, height=900)
    note = Rect(left=MARGIN, top=BODY_TOP + 980, width=line, height=200)
    return sheet.scene(
        ScreenId.OTHER_APP,
        fixed=(
            *sheet.bar(sheet.persona.app_names[app], back=False),
            Widget(kind=Kind.CARD, rect=card, icon=app, size=sheet.label_size),
            sheet.caption(
                note,
                "Nothing to do here: this phone is simulated",
                tone=Tone.FAINT,
                centred=True,
            ),
        ),
    )


def permission(sheet: Sheet, place: Place) -> Scene:
    """Lay out the question that an app asks when it is first opened."""
    app = App(place.argument)
    name = sheet.persona.app_names[app]
    panel = sheet.panel(780)
    inner = Rect(
        left=panel.left + 60, top=panel.top + 60, width=panel.width - 120, height=300
    )
    button = Rect(
        left=inner.left, top=panel.bottom - 380, width=inner.width, height=140
    )
    return sheet.scene(
        ScreenId.PERMISSION,
        fixed=(
            sheet.caption(inner, f"Allow {name} to {_WANTS[app]}?", centred=True),
            sheet.button(button, sheet.word("allow"), Action(verb=Verb.ALLOW)),
            sheet.button(
                button.moved(dy=180),
                sheet.word("deny"),
                Action(verb=Verb.DENY),
                tone=Tone.QUIET,
            ),
        ),
        panel=panel,
    )
