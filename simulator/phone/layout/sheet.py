"""The means that every screen is laid out with."""

from collections.abc import Mapping, Sequence

from simulator.phone import text
from simulator.phone.screen_code import ScreenId
from simulator.phone.state import PhoneState
from simulator.phone.widgets import (
    BODY_BOTTOM,
    HEIGHT,
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

MARGIN = 44
BAR_TOP = 126
BAR_HEIGHT = 150
BODY_TOP = 290
ICON_SIDE = 88
SWITCH_WIDTH = 120


class Sheet:
    """Collects the widgets of one scene, in the sizes of one phone."""

    def __init__(
        self, state: PhoneState, *, clock: str, knobs: Mapping[str, float]
    ) -> None:
        """Take what the layout depends on."""
        self.state = state
        self.persona = state.persona
        self.clock = clock
        self._knobs = knobs
        self.label_size = self.scaled(54)
        self.small_size = self.scaled(49)
        self.title_size = self.scaled(66)

    def scaled(self, size: int) -> int:
        """Return a font size by the phone's font scale; 49 is the least to begin with."""
        return round(size * self.persona.font_scale)

    def knob(self, key: str, on: bool) -> float:
        """Return where a switch's knob is."""
        return self._knobs.get(key, 1.0 if on else 0.0)

    def word(self, key: str) -> str:
        """Return this phone's word for something."""
        return self.persona.words[key]

    def bar(
        self, title: str, *, back: bool = True, room: int = WIDTH
    ) -> tuple[Widget, ...]:
        """Return a screen's title, with an arrow back when it is not an app's first screen."""
        left = MARGIN
        widgets: list[Widget] = []
        if back:
            rect = Rect(left=16, top=BAR_TOP + 10, width=120, height=BAR_HEIGHT - 20)
            widgets.append(
                Widget(kind=Kind.BACK, rect=rect, action=Action(verb=Verb.BACK))
            )
            left = 150
        rect = Rect(
            left=left, top=BAR_TOP, width=room - left - MARGIN, height=BAR_HEIGHT
        )
        size = text.fit(title, self.title_size, rect.width, bold=True)
        widgets.append(Widget(kind=Kind.TEXT, rect=rect, label=title, size=size))
        return tuple(widgets)

    def row(
        self,
        top: int,
        label: str,
        summary: str = "",
        *,
        icon: str = "",
        knob: float | None = None,
        action: Action | None = None,
        long_action: Action | None = None,
    ) -> Widget:
        """Return a list's row at a height of the content; its own height follows the fonts."""
        height = 44 + text.line_height(self.label_size)
        if summary:
            height += text.line_height(self.small_size)
        left = MARGIN + (ICON_SIDE + 36 if icon else 0)
        room = WIDTH - MARGIN - left - (SWITCH_WIDTH + 30 if knob is not None else 0)
        return Widget(
            kind=Kind.ROW,
            rect=Rect(left=0, top=top, width=WIDTH, height=aligned(height + 10)),
            label=text.clip(
                label, text.fit(label, self.label_size, room, smallest=46), room
            ),
            summary=text.clip(summary, self.small_size, room),
            size=text.fit(label, self.label_size, room, smallest=46),
            small_size=self.small_size,
            icon=icon,
            knob=knob,
            action=action,
            long_action=long_action,
        )

    def button(
        self,
        rect: Rect,
        label: str,
        action: Action,
        *,
        tone: Tone = Tone.ACCENT,
    ) -> Widget:
        """Return a button, its label as large as fits."""
        size = text.fit(label, self.label_size, rect.width - 40, bold=True, smallest=40)
        return Widget(
            kind=Kind.BUTTON,
            rect=rect,
            label=label,
            size=size,
            tone=tone,
            action=action,
        )

    def floating(self, label: str, action: Action) -> Widget:
        """Return the button over the lower right corner of a list."""
        width = min(700, text.width(label, self.label_size, True) + 120)
        rect = Rect(
            left=_down(WIDTH - MARGIN - width),
            top=_down(BODY_BOTTOM - 200),
            width=_down(width),
            height=160,
        )
        return self.button(rect, label, action)

    def field(
        self, rect: Rect, field_id: str, hint: str, *, many: bool = False
    ) -> Widget:
        """Return a text field; ``many`` lines or one."""
        content = self.state.texts.get(field_id, "")
        room = rect.width - 72
        if many:
            fitting = (rect.height - 60) // text.line_height(self.label_size)
            lines = text.wrap(content, self.label_size, room)[-fitting:]
        else:
            lines = (text.tail(content, self.label_size, room),)
        focused = self.state.focus == field_id
        return Widget(
            kind=Kind.FIELD,
            rect=rect,
            label=field_id,
            lines=lines,
            size=self.label_size,
            hint=text.clip(hint, self.label_size, room),
            focused=focused,
            selected=focused and self.state.selected,
            centred=not many,
            action=Action(verb=Verb.FOCUS, argument=field_id),
        )

    def caption(
        self,
        rect: Rect,
        label: str,
        *,
        size: int | None = None,
        tone: Tone = Tone.PLAIN,
        centred: bool = False,
    ) -> Widget:
        """Return a text that may take several lines."""
        size = size or self.label_size
        return Widget(
            kind=Kind.TEXT,
            rect=rect,
            lines=text.wrap(label, size, rect.width),
            size=size,
            tone=tone,
            centred=centred,
        )

    def scene(
        self,
        screen: ScreenId,
        *,
        fixed: tuple[Widget, ...] = (),
        rows: Sequence[Widget] = (),
        body_bottom: int = BODY_BOTTOM,
        floating: tuple[Widget, ...] = (),
        background: Background = Background.PLAIN,
        panel: Rect | None = None,
    ) -> Scene:
        """Put a scene together; ``rows`` scroll between the title and ``body_bottom``."""
        viewport = None
        height = 0
        if rows:
            viewport = Rect(
                left=0, top=BODY_TOP, width=WIDTH, height=body_bottom - BODY_TOP
            )
            # Room for the last row above a floating button.
            height = rows[-1].rect.bottom + (240 if floating else 20)
        return Scene(
            screen=screen,
            theme=self.state.theme,
            accent=self.persona.accent,
            background=background,
            fixed=fixed,
            body=tuple(rows),
            viewport=viewport,
            content_height=height,
            floating=floating,
            panel=panel,
        )

    def panel(self, height: int) -> Rect:
        """Return a dialog's sheet in the middle of the screen."""
        return Rect(
            left=80, top=_down((HEIGHT - height) // 2), width=920, height=_down(height)
        )


def aligned(pixels: int) -> int:
    """Return the next multiple of 20 px: a whole number of pixels in the picture (0.45)."""
    return -(-pixels // 20) * 20


def _down(pixels: int) -> int:
    """Return the multiple of 20 px below."""
    return pixels // 20 * 20
