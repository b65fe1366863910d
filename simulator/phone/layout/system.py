"""Lock screen, PIN pad, home screen, recent apps."""

from simulator.phone import text
from simulator.phone.layout.sheet import MARGIN, Sheet
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

_COLUMNS = 3
_CELL_WIDTH = 340
_CELL_HEIGHT = 400
_GRID_TOP = 640


def lock(sheet: Sheet, _place: Place) -> Scene:
    """Lay out the lock screen."""
    return sheet.scene(
        ScreenId.LOCK,
        background=Background.WALLPAPER,
        fixed=(
            _clock(sheet, 480),
            _on_wallpaper(sheet, 720, "Locked"),
            _on_wallpaper(sheet, 2090, "Swipe up to unlock"),
        ),
    )


def pin(sheet: Sheet, _place: Place) -> Scene:
    """Lay out the PIN pad."""
    state = sheet.state
    title = "Wrong PIN" if state.pin_wrong else "Enter PIN"
    keys: list[Widget] = []
    for index, label in enumerate("123456789"):
        action = Action(verb=Verb.PIN_KEY, argument=label)
        keys.append(_pin_key(sheet, index, label, action))
    keys.append(_pin_key(sheet, 9, "Delete", Action(verb=Verb.PIN_DELETE)))
    zero = Action(verb=Verb.PIN_KEY, argument="0")
    keys.append(_pin_key(sheet, 10, "0", zero))
    keys.append(_pin_key(sheet, 11, "OK", Action(verb=Verb.PIN_ENTER)))
    dots = Widget(
        kind=Kind.PIN_DOTS,
        rect=Rect(left=140, top=640, width=800, height=100),
        count=len(state.pin_typed),
    )
    return sheet.scene(
        ScreenId.PIN,
        background=Background.WALLPAPER,
        fixed=(_on_wallpaper(sheet, 460, title), dots, *keys),
    )


def home(sheet: Sheet, _place: Place) -> Scene:
    """Lay out the home screen."""
    icons: list[Widget] = []
    left = (WIDTH - _COLUMNS * _CELL_WIDTH) // 2
    for index, app in enumerate(sheet.persona.home):
        row, column = divmod(index, _COLUMNS)
        label = sheet.persona.app_names[app]
        icons.append(
            Widget(
                kind=Kind.APP,
                rect=Rect(
                    left=left + column * _CELL_WIDTH + 10,
                    top=_GRID_TOP + row * _CELL_HEIGHT,
                    width=_CELL_WIDTH - 20,
                    height=_CELL_HEIGHT - 60,
                ),
                label=label,
                size=text.fit(label, sheet.small_size, _CELL_WIDTH - 16, smallest=40),
                icon=app,
                action=Action(verb=Verb.OPEN_APP, argument=app),
            )
        )
    return sheet.scene(
        ScreenId.HOME,
        background=Background.WALLPAPER,
        fixed=(_clock(sheet, 280), *icons),
    )


def recents(sheet: Sheet, _place: Place) -> Scene:
    """Lay out the apps used last."""
    cards: list[Widget] = []
    for index, app in enumerate(sheet.state.recents[:4]):
        cards.append(
            Widget(
                kind=Kind.CARD,
                rect=Rect(left=100, top=320 + index * 420, width=880, height=380),
                label=sheet.persona.app_names[app],
                size=sheet.label_size,
                icon=app,
                action=Action(verb=Verb.OPEN_APP, argument=app),
            )
        )
    if not cards:
        return sheet.scene(
            ScreenId.RECENTS,
            background=Background.WALLPAPER,
            fixed=(_on_wallpaper(sheet, 1100, "No recent apps"),),
        )
    clear = sheet.button(
        Rect(left=340, top=2060, width=400, height=140),
        "Clear all",
        Action(verb=Verb.CLEAR_RECENTS),
        tone=Tone.QUIET,
    )
    return sheet.scene(
        ScreenId.RECENTS, background=Background.WALLPAPER, fixed=(*cards, clear)
    )


def _clock(sheet: Sheet, top: int) -> Widget:
    """Return the large clock."""
    return Widget(
        kind=Kind.TEXT,
        rect=Rect(left=MARGIN, top=top, width=WIDTH - 2 * MARGIN, height=210),
        label=sheet.clock,
        size=180,
        tone=Tone.ON_WALLPAPER,
        centred=True,
    )


def _on_wallpaper(sheet: Sheet, top: int, label: str) -> Widget:
    """Return a line in the middle."""
    return Widget(
        kind=Kind.TEXT,
        rect=Rect(left=MARGIN, top=top, width=WIDTH - 2 * MARGIN, height=100),
        label=label,
        size=sheet.label_size,
        tone=Tone.ON_WALLPAPER,
        centred=True,
    )


def _pin_key(sheet: Sheet, index: int, label: str, action: Action) -> Widget:
    """Return one key of the PIN pad."""
    row, column = divmod(index, 3)
    return Widget(
        kind=Kind.PIN_KEY,
        rect=Rect(left=120 + column * 290, top=840 + row * 300, width=260, height=260),
        label=label,
        size=90 if len(label) == 1 else 60,
        action=action,
    )
