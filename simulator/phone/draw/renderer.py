"""Frames to pictures, as large as the phone is in a 1080p picture: 486x1080.

Every scene is drawn once at the screen's full size and scaled down; what moves is put
together from those pictures. Text is thereby as smooth, and as small, as a capture shows it.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
import threading

from PIL import Image, ImageDraw, ImageEnhance

from simulator.phone import screen_code
from simulator.phone.draw import icons
from simulator.phone.draw.pen import caret, paint
from simulator.phone.draw.theme import (
    BLACK,
    WHITE,
    Colour,
    Palette,
    mix,
    palette,
    wallpaper,
)
from simulator.phone.text import clip, font, width
from simulator.phone.widgets import (
    HEIGHT,
    STATUS_HEIGHT,
    WIDTH,
    Background,
    Frame,
    Kind,
    Motion,
    Rect,
    Scene,
    Status,
    Transition,
    View,
    Widget,
)

SCALE = 0.45
PICTURE_WIDTH = 486
PICTURE_HEIGHT = 1080
_KEPT = 256
_GRID = 20
"""So many pixels of the screen are a whole number of the picture's."""
_TOAST_SIZE = 50

type Picture = Image.Image


class Renderer:
    """Draws frames; keeps parts of them. Any thread may call it, one at a time works."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._lock = threading.Lock()
        self._parts: OrderedDict[Hashable, Picture] = OrderedDict()

    def render(self, frame: Frame) -> Picture:
        """Return a new 486x1080 RGB picture of a frame."""
        with self._lock:
            return self._frame(frame)

    def _kept(self, key: Hashable, make: Callable[[], Picture]) -> Picture:
        """Return a part, drawn at most once as long as it is kept."""
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = make()
        self._parts.move_to_end(key)
        while len(self._parts) > _KEPT:
            self._parts.popitem(last=False)
        return part

    def _frame(self, frame: Frame) -> Picture:
        scene = frame.view.scene
        picture = self._view(frame.view)
        if frame.transition is not None:
            picture = self._moving(frame.transition, picture)
        elif scene.background is Background.BLACK:
            return picture
        if frame.caret:
            _draw_caret(picture, scene)
        if frame.toast:
            self._put_toast(picture, frame.toast)
        colours = palette(scene.theme, scene.accent)
        plain = scene.background is Background.PLAIN
        colour = colours.text if plain and scene.under is None else WHITE
        back = _top_colour(scene, colours)
        self._put_status(picture, frame.status, colour, back)
        _draw_pill(picture, scene, colours)
        if frame.transition is None:
            screen_code.encode(picture, scene.screen)
        return picture

    def _view(self, view: View) -> Picture:
        """Put a scene's parts together."""
        scene = view.scene
        if scene.under is not None and scene.panel is not None:
            picture = ImageEnhance.Brightness(self._view(scene.under)).enhance(0.4)
            part = self._kept(("panel", scene), lambda: _draw_panel(scene))
            _paste(picture, part, scene.panel, radius=60)
            return picture
        picture = self._kept(("base", scene), lambda: self._base(scene)).copy()
        viewport = scene.viewport
        if viewport is not None:
            part = self._kept(("body", scene), lambda: self._body(scene))
            top, height = round(viewport.top * SCALE), round(viewport.height * SCALE)
            start = round(view.offset * SCALE)
            box = (0, start, PICTURE_WIDTH, start + height)
            picture.paste(part.crop(box), (0, top))
        for widget in scene.floating:
            colours = palette(scene.theme, scene.accent)
            part = self._kept(
                ("floating", widget, colours),
                partial(
                    _draw_alone,
                    replace(widget, rect=replace(widget.rect, left=0, top=0)),
                    widget.rect,
                    colours.accent,
                    colours,
                ),
            )
            _paste(picture, part, widget.rect, radius=60)
        return picture

    def _base(self, scene: Scene) -> Picture:
        """Draw what does not scroll."""
        colours = palette(scene.theme, scene.accent)
        match scene.background:
            case Background.BLACK:
                return Image.new("RGB", (PICTURE_WIDTH, PICTURE_HEIGHT), BLACK)
            case Background.WALLPAPER:
                return _draw_on_wallpaper(scene, colours)
            case Background.PLAIN:
                size = (PICTURE_WIDTH, PICTURE_HEIGHT)
                return self._put_together(scene.fixed, size, colours)

    def _body(self, scene: Scene) -> Picture:
        """Draw what scrolls, all of it."""
        colours = palette(scene.theme, scene.accent)
        least = scene.viewport.height if scene.viewport else 0
        height = round(max(scene.content_height, least) * SCALE) + 2
        return self._put_together(scene.body, (PICTURE_WIDTH, height), colours)

    def _put_together(
        self, widgets: tuple[Widget, ...], size: tuple[int, int], colours: Palette
    ) -> Picture:
        """Put widgets on a page, each drawn once as long as it does not change."""
        picture = Image.new("RGB", size, colours.page)
        for widget in widgets:
            around = _aligned(widget.rect)
            moved = widget.rect.moved(dx=-around.left, dy=-around.top)
            alone = replace(widget, rect=moved, action=None, long_action=None)
            part = self._kept(
                ("widget", alone, colours),
                partial(_draw_alone, alone, around, colours.page, colours),
            )
            at = (round(around.left * SCALE), round(around.top * SCALE))
            picture.paste(part, at)
        return picture

    def _moving(self, transition: Transition, after: Picture) -> Picture:
        """Return what is between two screens."""
        before = self._view(transition.before)
        share = 1 - (1 - transition.progress) ** 2
        across = round(PICTURE_WIDTH * share)
        match transition.motion:
            case Motion.PUSH:
                before.paste(after, (PICTURE_WIDTH - across, 0))
                return before
            case Motion.POP:
                after.paste(before, (across, 0))
                return after
            case Motion.RISE:
                before.paste(after, (0, round(PICTURE_HEIGHT * (1 - share))))
                return before
            case Motion.GROW:
                return _grown(before, after, 0.35 + 0.65 * share)
            case Motion.SHRINK:
                return _grown(after, before, 1 - 0.65 * share)
            case Motion.FADE:
                return Image.blend(before, after, transition.progress)

    def _put_status(
        self,
        picture: Picture,
        status: Status,
        colour: Colour,
        back: Colour,
    ) -> None:
        """Put the status bar on top."""
        key = ("status", status, colour, back)
        picture.paste(
            self._kept(key, lambda: _draw_status(status, colour, back)), (0, 0)
        )

    def _put_toast(self, picture: Picture, text: str) -> None:
        """Put a short note near the bottom."""
        room = min(WIDTH - 120, width(text, _TOAST_SIZE) + 100) // 20 * 20
        rect = Rect(
            left=(WIDTH - room) // 2 // 20 * 20, top=1980, width=room, height=120
        )

        def make() -> Picture:
            part = Image.new("RGB", (rect.width, rect.height), (48, 50, 56))
            ImageDraw.Draw(part).text(
                (rect.width / 2, rect.height / 2),
                clip(text, _TOAST_SIZE, rect.width - 60),
                font=font(_TOAST_SIZE),
                fill=WHITE,
                anchor="mm",
            )
            return _small(part)

        _paste(picture, self._kept(("toast", text), make), rect, radius=56)


def _small(picture: Picture) -> Picture:
    """Scale from the screen's size to the picture's."""
    size = (round(picture.width * SCALE), round(picture.height * SCALE))
    return picture.resize(size, Image.Resampling.LANCZOS)


def _draw_on_wallpaper(scene: Scene, colours: Palette) -> Picture:
    """Draw a screen whose widgets let the wallpaper through."""
    top, bottom = colours.wallpaper_top, colours.wallpaper_bottom
    picture = wallpaper(top, bottom, WIDTH, HEIGHT).copy()
    draw = ImageDraw.Draw(picture)
    for widget in scene.fixed:
        paint(draw, widget, colours)
    return _small(picture)


def _draw_panel(scene: Scene) -> Picture:
    """Draw a dialog's sheet."""
    assert scene.panel is not None
    colours = palette(scene.theme, scene.accent)
    picture = Image.new("RGB", (WIDTH, HEIGHT), colours.sheet)
    draw = ImageDraw.Draw(picture)
    for widget in scene.fixed:
        paint(draw, widget, colours)
    panel = scene.panel
    return _small(picture.crop((panel.left, panel.top, panel.right, panel.bottom)))


def _draw_alone(
    widget: Widget, around: Rect, back: Colour, colours: Palette
) -> Picture:
    """Draw one widget, whose place is within ``around``, as a picture of its own."""
    picture = Image.new("RGB", (around.width, around.height), back)
    paint(ImageDraw.Draw(picture), widget, colours)
    return _small(picture)


def _aligned(rect: Rect) -> Rect:
    """Return the rectangle around it that is a whole number of pixels in the picture."""
    left, top = rect.left // _GRID * _GRID, rect.top // _GRID * _GRID
    right, bottom = -(-rect.right // _GRID) * _GRID, -(-rect.bottom // _GRID) * _GRID
    return Rect(left=left, top=top, width=right - left, height=bottom - top)


def _paste(picture: Picture, part: Picture, rect: Rect, *, radius: int) -> None:
    """Put a part with round corners at its place."""
    mask = Image.new("L", (part.width * 2, part.height * 2), 0)
    ImageDraw.Draw(mask).rounded_rectangle(
        (0, 0, mask.width - 1, mask.height - 1), radius=radius * SCALE * 2, fill=255
    )
    at = (round(rect.left * SCALE), round(rect.top * SCALE))
    picture.paste(part, at, mask.resize(part.size, Image.Resampling.BOX))


def _grown(behind: Picture, front: Picture, share: float) -> Picture:
    """Put a screen, made smaller, over another."""
    size = (round(PICTURE_WIDTH * share), round(PICTURE_HEIGHT * share))
    at = ((PICTURE_WIDTH - size[0]) // 2, (PICTURE_HEIGHT - size[1]) // 2)
    behind.paste(front.resize(size, Image.Resampling.BILINEAR), at)
    return behind


def _top_colour(scene: Scene, colours: Palette) -> Colour:
    """Return the colour behind the status bar."""
    if scene.under is not None:
        return mix(BLACK, _top_colour(scene.under.scene, colours), 0.4)
    match scene.background:
        case Background.BLACK:
            return BLACK
        case Background.WALLPAPER:
            return colours.wallpaper_top
        case Background.PLAIN:
            return colours.page


def _draw_status(status: Status, colour: Colour, back: Colour) -> Picture:
    """Draw the status bar: clock, the word SIM, radio, battery."""
    picture = Image.new("RGB", (WIDTH, STATUS_HEIGHT), back)
    draw = ImageDraw.Draw(picture)
    middle = STATUS_HEIGHT / 2 + 4
    draw.text((40, middle), status.clock, font=font(48), fill=colour, anchor="lm")
    draw.text((WIDTH / 2, middle), "SIM", font=font(48, True), fill=colour, anchor="mm")
    battery = f"{status.battery_percent}%"
    draw.text((WIDTH - 40, middle), battery, font=font(46), fill=colour, anchor="rm")
    left = WIDTH - 40 - width(battery, 46) - 90
    if status.wifi and not status.airplane:
        icons.wifi(draw, left, middle - 34, 64, colour)
    if status.airplane:
        icons.plane(draw, left, middle - 34, 64, colour)
    return _small(picture)


def _draw_caret(picture: Picture, scene: Scene) -> None:
    """Draw the caret of the focused field."""
    colours = palette(scene.theme, scene.accent)
    for widget in scene.fixed:
        if widget.kind is Kind.FIELD and widget.focused:
            bar = caret(widget)
            ImageDraw.Draw(picture).rectangle(
                (
                    round(bar.left * SCALE),
                    round(bar.top * SCALE),
                    round(bar.right * SCALE),
                    round(bar.bottom * SCALE),
                ),
                fill=colours.accent,
            )


def _draw_pill(picture: Picture, scene: Scene, colours: Palette) -> None:
    """Draw the pill at the bottom that one swipes up from."""
    plain = scene.background is Background.PLAIN and scene.under is None
    ImageDraw.Draw(picture).rounded_rectangle(
        (
            round((WIDTH / 2 - 150) * SCALE),
            round((HEIGHT - 38) * SCALE),
            round((WIDTH / 2 + 150) * SCALE),
            round((HEIGHT - 26) * SCALE),
        ),
        radius=3,
        fill=colours.faint if plain else WHITE,
    )
