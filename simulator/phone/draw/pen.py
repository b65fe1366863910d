"""One widget at a time, at the screen's full size."""

from functools import partial

from PIL import ImageDraw

from simulator.phone.draw import icons
from simulator.phone.draw.theme import WHITE, Colour, Palette, mix
from simulator.phone.layout.sheet import ICON_SIDE, MARGIN, SWITCH_WIDTH
from simulator.phone.text import font, line_height, width
from simulator.phone.widgets import Kind, Rect, Tone, Widget

_APP_ICON = 200
_SWITCH_HEIGHT = 68
FIELD_PADDING = 36


def paint(draw: ImageDraw.ImageDraw, widget: Widget, colours: Palette) -> None:
    """Draw a widget at its place."""
    match widget.kind:
        case Kind.APP:
            _app(draw, widget)
        case Kind.ROW:
            _row(draw, widget, colours)
        case Kind.TEXT:
            _text(draw, widget, colours)
        case Kind.BUTTON:
            _button(draw, widget, colours)
        case Kind.FIELD:
            _field(draw, widget, colours)
        case Kind.BUBBLE:
            _bubble(draw, widget, colours)
        case Kind.PIN_KEY:
            _pin_key(draw, widget)
        case Kind.PIN_DOTS:
            _pin_dots(draw, widget)
        case Kind.BACK:
            _back(draw, widget, colours)
        case Kind.CARD:
            _card(draw, widget, colours)


def caret(widget: Widget) -> Rect:
    """Return where a focused field's caret stands."""
    rect = widget.rect
    height = round(widget.size * 1.15)
    last = len(widget.lines) - 1
    left = rect.left + FIELD_PADDING + width(widget.lines[last], widget.size) + 4
    if widget.centred:
        top = rect.top + (rect.height - height) // 2
    else:
        top = rect.top + 30 + last * line_height(widget.size)
    return Rect(left=left, top=top, width=7, height=height)


def _write(
    draw: ImageDraw.ImageDraw,
    at: tuple[float, float],
    text: str,
    size: int,
    colour: Colour,
    *,
    bold: bool = False,
    anchor: str,
) -> None:
    """Write a line at a place, by the anchor that Pillow names."""
    draw.text(at, text, font=font(size, bold), fill=colour, anchor=anchor)


_left = partial(_write, anchor="lm")
"""Write a line that starts at a place and is centred vertically on it."""
_middle = partial(_write, anchor="mm")
"""Write a line around a place."""


def _rounded(
    draw: ImageDraw.ImageDraw,
    rect: Rect,
    radius: int,
    fill: Colour,
    outline: Colour | None = None,
) -> None:
    """Fill a rounded rectangle."""
    draw.rounded_rectangle(
        (rect.left, rect.top, rect.right - 1, rect.bottom - 1),
        radius=radius,
        fill=fill,
        outline=outline,
        width=6,
    )


def _app(draw: ImageDraw.ImageDraw, widget: Widget) -> None:
    """Draw an icon with its name below."""
    rect = widget.rect
    left = rect.left + (rect.width - _APP_ICON) // 2
    icon = Rect(left=left, top=rect.top, width=_APP_ICON, height=_APP_ICON)
    icons.app_icon(draw, icon, widget.icon)
    at = (rect.centre[0], icon.bottom + 54)
    _middle(draw, at, widget.label, widget.size, WHITE)


def _row(draw: ImageDraw.ImageDraw, widget: Widget, colours: Palette) -> None:
    """Draw a row of a list."""
    rect = widget.rect
    left = MARGIN
    if widget.icon:
        middle = rect.top + (rect.height - ICON_SIDE) // 2
        icon = Rect(left=left, top=middle, width=ICON_SIDE, height=ICON_SIDE)
        icons.row_icon(draw, icon, widget.icon, colours.accent, colours.surface)
        left += ICON_SIDE + 36
    block = line_height(widget.size)
    if widget.summary:
        block += line_height(widget.small_size)
    top = rect.top + (rect.height - block) / 2
    first = top + line_height(widget.size) / 2
    _left(draw, (left, first), widget.label, widget.size, colours.text)
    if widget.summary:
        second = top + block - line_height(widget.small_size) / 2
        colour = colours.faint if widget.knob is None else colours.text
        _left(draw, (left, second), widget.summary, widget.small_size, colour)
    if widget.knob is not None:
        _switch(draw, rect, widget.knob, colours)
    draw.line(
        (left, rect.bottom - 1, rect.right, rect.bottom - 1), fill=colours.line, width=3
    )


def _switch(
    draw: ImageDraw.ImageDraw, rect: Rect, knob: float, colours: Palette
) -> None:
    """Draw a switch at a row's right end."""
    track = Rect(
        left=rect.right - MARGIN - SWITCH_WIDTH,
        top=rect.top + (rect.height - _SWITCH_HEIGHT) // 2,
        width=SWITCH_WIDTH,
        height=_SWITCH_HEIGHT,
    )
    fill = mix(colours.track, colours.accent, knob)
    _rounded(draw, track, _SWITCH_HEIGHT // 2, fill)
    reach = _SWITCH_HEIGHT / 2
    x = track.left + reach + knob * (track.width - 2 * reach)
    y = track.top + reach
    radius = reach - 9
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colours.page)


def _text(draw: ImageDraw.ImageDraw, widget: Widget, colours: Palette) -> None:
    """Write a line, or several."""
    rect = widget.rect
    colour = {
        Tone.FAINT: colours.faint,
        Tone.ACCENT: colours.accent,
        Tone.ON_WALLPAPER: WHITE,
    }.get(widget.tone, colours.text)
    if not widget.lines:
        middle = rect.top + rect.height / 2
        if widget.centred:
            at = (rect.centre[0], middle)
            _middle(draw, at, widget.label, widget.size, colour)
        else:
            bold = widget.tone is Tone.PLAIN
            _left(
                draw, (rect.left, middle), widget.label, widget.size, colour, bold=bold
            )
        return
    y = rect.top + line_height(widget.size) / 2
    for line in widget.lines:
        if widget.centred:
            _middle(draw, (rect.centre[0], y), line, widget.size, colour)
        else:
            _left(draw, (rect.left, y), line, widget.size, colour)
        y += line_height(widget.size)


def _button(draw: ImageDraw.ImageDraw, widget: Widget, colours: Palette) -> None:
    """Draw a button."""
    quiet = widget.tone is Tone.QUIET
    radius = min(widget.rect.height // 2, 60)
    _rounded(draw, widget.rect, radius, colours.quiet if quiet else colours.accent)
    colour = colours.text if quiet else colours.on_accent
    _middle(draw, widget.rect.centre, widget.label, widget.size, colour, bold=True)


def _field(draw: ImageDraw.ImageDraw, widget: Widget, colours: Palette) -> None:
    """Draw a text field."""
    rect = widget.rect
    outline = colours.accent if widget.focused else colours.line
    _rounded(draw, rect, 36, colours.surface, outline)
    empty = widget.lines in ((), ("",))
    lines = (widget.hint,) if empty else widget.lines
    colour = colours.faint if empty else colours.text
    if widget.centred:
        y = rect.top + rect.height / 2
    else:
        y = rect.top + 30 + line_height(widget.size) / 2
    for line in lines:
        left = rect.left + FIELD_PADDING
        if widget.selected and line:
            half = widget.size * 0.62
            draw.rectangle(
                (left, y - half, left + width(line, widget.size), y + half),
                fill=mix(colours.accent, colours.surface, 0.65),
            )
        _left(draw, (left, y), line, widget.size, colour)
        y += line_height(widget.size)


def _bubble(draw: ImageDraw.ImageDraw, widget: Widget, colours: Palette) -> None:
    """Draw a message."""
    mine = widget.tone is Tone.ACCENT
    _rounded(draw, widget.rect, 44, colours.accent if mine else colours.surface)
    y = widget.rect.centre[1] - (len(widget.lines) - 1) * line_height(widget.size) / 2
    for line in widget.lines:
        at = (widget.rect.left + 40, y)
        _left(draw, at, line, widget.size, colours.on_accent if mine else colours.text)
        y += line_height(widget.size)


def _pin_key(draw: ImageDraw.ImageDraw, widget: Widget) -> None:
    """Draw a key of the PIN pad."""
    rect = widget.rect
    if len(widget.label) == 1:
        box = (rect.left, rect.top, rect.right, rect.bottom)
        draw.ellipse(box, outline=(236, 238, 242), width=5)
    _middle(draw, rect.centre, widget.label, widget.size, WHITE)


def _pin_dots(draw: ImageDraw.ImageDraw, widget: Widget) -> None:
    """Draw a dot for each digit typed."""
    x, y = widget.rect.centre
    x -= (widget.count - 1) * 36
    for _ in range(widget.count):
        draw.ellipse((x - 18, y - 18, x + 18, y + 18), fill=WHITE)
        x += 72


def _back(draw: ImageDraw.ImageDraw, widget: Widget, colours: Palette) -> None:
    """Draw an arrow to the left."""
    x, y = widget.rect.centre
    draw.line((x + 34, y, x - 30, y), fill=colours.text, width=9)
    draw.line(
        (x, y - 32, x - 32, y, x, y + 32), fill=colours.text, width=9, joint="curve"
    )


def _card(draw: ImageDraw.ImageDraw, widget: Widget, colours: Palette) -> None:
    """Draw a card with an app's icon, and its name if it has one."""
    rect = widget.rect
    _rounded(draw, rect, 48, colours.surface)
    side = 180
    if not widget.label:
        left, top = round(rect.centre[0] - side / 2), round(rect.centre[1] - side / 2)
        icons.app_icon(
            draw, Rect(left=left, top=top, width=side, height=side), widget.icon
        )
        return
    top = rect.top + (rect.height - side) // 2
    icon = Rect(left=rect.left + 60, top=top, width=side, height=side)
    icons.app_icon(draw, icon, widget.icon)
    at = (icon.right + 50, rect.centre[1])
    _left(draw, at, widget.label, widget.size, colours.text)
