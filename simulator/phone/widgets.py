"""What a screen consists of: frozen descriptions that the finger hits and the pen draws."""

from dataclasses import dataclass, replace
from enum import StrEnum

from simulator.phone.persona import Theme
from simulator.phone.screen_code import ScreenId

WIDTH = 1080
HEIGHT = 2400
STATUS_HEIGHT = 90
BODY_BOTTOM = 2330
"""Below it lies the navigation pill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    """A rectangle in pixels of the 1080x2400 screen."""

    left: int
    top: int
    width: int
    height: int

    @property
    def right(self) -> int:
        """Return the first column behind it."""
        return self.left + self.width

    @property
    def bottom(self) -> int:
        """Return the first row below it."""
        return self.top + self.height

    @property
    def centre(self) -> tuple[float, float]:
        """Return the middle."""
        return self.left + self.width / 2, self.top + self.height / 2

    def contains(self, x: float, y: float) -> bool:
        """Tell whether a point lies inside."""
        return self.left <= x < self.right and self.top <= y < self.bottom

    def moved(self, dx: int = 0, dy: int = 0) -> Rect:
        """Return it elsewhere."""
        return replace(self, left=self.left + dx, top=self.top + dy)


SCREEN = Rect(left=0, top=0, width=WIDTH, height=HEIGHT)


class Verb(StrEnum):
    """What touching something does."""

    OPEN_APP = "open_app"
    OPEN_PAGE = "open_page"
    TOGGLE = "toggle"
    FOCUS = "focus"
    BACK = "back"
    PIN_KEY = "pin_key"
    PIN_DELETE = "pin_delete"
    PIN_ENTER = "pin_enter"
    ALLOW = "allow"
    DENY = "deny"
    OPEN_THREAD = "open_thread"
    COMPOSE = "compose"
    SEND = "send"
    NEW_NOTE = "new_note"
    OPEN_NOTE = "open_note"
    SAVE_NOTE = "save_note"
    ASK_DELETE_NOTE = "ask_delete_note"
    DELETE_NOTE = "delete_note"
    NEW_ALARM = "new_alarm"
    SAVE_ALARM = "save_alarm"
    TOGGLE_ALARM = "toggle_alarm"
    CLEAR_RECENTS = "clear_recents"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A verb and what it is about."""

    verb: Verb
    argument: str = ""


class Kind(StrEnum):
    """How a widget looks."""

    APP = "app"
    """An icon with its name below."""
    ROW = "row"
    """A name, a summary below it, perhaps a switch at the right."""
    TEXT = "text"
    BUTTON = "button"
    FIELD = "field"
    BUBBLE = "bubble"
    PIN_KEY = "pin_key"
    PIN_DOTS = "pin_dots"
    BACK = "back"
    CARD = "card"


class Tone(StrEnum):
    """Which of the palette's colours a widget takes."""

    PLAIN = "plain"
    FAINT = "faint"
    ACCENT = "accent"
    QUIET = "quiet"
    ON_WALLPAPER = "on_wallpaper"


@dataclass(frozen=True, slots=True, kw_only=True)
class Widget:
    """One thing on a screen."""

    kind: Kind
    rect: Rect
    label: str = ""
    summary: str = ""
    lines: tuple[str, ...] = ()
    size: int = 56
    small_size: int = 50
    action: Action | None = None
    long_action: Action | None = None
    icon: str = ""
    tone: Tone = Tone.PLAIN
    centred: bool = False
    knob: float | None = None
    """Place of a switch's knob, 0 off to 1 on; None draws no switch."""
    focused: bool = False
    selected: bool = False
    """All of a field's text is selected."""
    hint: str = ""
    count: int = 0
    """Dots of a PIN."""


class Background(StrEnum):
    """What is behind everything."""

    PLAIN = "plain"
    WALLPAPER = "wallpaper"
    BLACK = "black"
    """Protected: nothing else is drawn, not even the status bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Everything that one screen shows but the status bar, and where its scrolled part lies."""

    screen: ScreenId
    theme: Theme
    accent: int
    background: Background = Background.PLAIN
    fixed: tuple[Widget, ...] = ()
    body: tuple[Widget, ...] = ()
    """In coordinates of the content: its top is 0, its left the screen's left."""
    viewport: Rect | None = None
    content_height: int = 0
    floating: tuple[Widget, ...] = ()
    """Drawn over the body, touched before it."""
    panel: Rect | None = None
    """A dialog's sheet; ``fixed`` is drawn on it and ``under`` is dimmed behind it."""
    under: View | None = None

    @property
    def max_offset(self) -> int:
        """Return how far the body scrolls."""
        if self.viewport is None:
            return 0
        return max(0, self.content_height - self.viewport.height)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A scene, scrolled somewhere."""

    scene: Scene
    offset: int = 0

    def visible(self) -> list[tuple[Widget, Rect]]:
        """Return what can be touched or read, with its place on the screen; topmost first."""
        found = [(widget, widget.rect) for widget in self.scene.floating]
        found += [(widget, widget.rect) for widget in self.scene.fixed]
        viewport = self.scene.viewport
        if viewport is None:
            return found
        for widget in self.scene.body:
            rect = widget.rect.moved(dy=viewport.top - self.offset)
            top, bottom = max(rect.top, viewport.top), min(rect.bottom, viewport.bottom)
            if bottom > top:
                found.append((widget, replace(rect, top=top, height=bottom - top)))
        return found

    def at(self, x: float, y: float) -> Widget | None:
        """Return the topmost widget with an action at a place."""
        for widget, rect in self.visible():
            if rect.contains(x, y) and (widget.action or widget.long_action):
                return widget
        return None


class Motion(StrEnum):
    """How one screen gives way to another."""

    PUSH = "push"
    POP = "pop"
    GROW = "grow"
    SHRINK = "shrink"
    RISE = "rise"
    FADE = "fade"


MOTION_S: dict[Motion, float] = {
    Motion.PUSH: 0.30,
    Motion.POP: 0.25,
    Motion.GROW: 0.40,
    Motion.SHRINK: 0.35,
    Motion.RISE: 0.30,
    Motion.FADE: 0.15,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The status bar."""

    clock: str
    battery_percent: int
    airplane: bool
    wifi: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """A screen that is still giving way."""

    motion: Motion
    before: View
    progress: float
    """Above 0, below 1, in steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """All that a picture of the phone needs; two equal frames are the same picture."""

    view: View
    status: Status
    transition: Transition | None = None
    caret: bool = False
    toast: str = ""
