"""Pictures of phones drawn for the tests, and screens as if they had been read."""

from collections.abc import Sequence
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

from simulator.models.brain.screen import Box, Line, Screen

_FONTS = "/usr/share/fonts/truetype/dejavu/DejaVuSans"
_LIGHT = {"page": (250, 250, 250), "ink": (25, 25, 25), "faint": (105, 105, 110)}
_DARK = {"page": (18, 18, 20), "ink": (235, 235, 235), "faint": (165, 165, 170)}
ACCENT = (30, 90, 200)

type Row = tuple[str, bool | str | None]
"""A name and its state, its summary, or nothing."""


def font(size: float, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Return a font."""
    return ImageFont.truetype(f"{_FONTS}{'-Bold' if bold else ''}.ttf", round(size))


def draw_list(
    title: str,
    rows: Sequence[Row],
    *,
    dark: bool = False,
    scale: float = 1.0,
    button: str = "",
) -> bytes:
    """Draw a list with switches, as settings show it; return a JPEG of 486x1080."""
    colours = _DARK if dark else _LIGHT
    image = Image.new("RGB", (1080, 2400), colours["page"])
    draw = ImageDraw.Draw(image)
    draw.text((50, 30), "12:41", font=font(36), fill=colours["ink"])
    draw.text((960, 30), "83%", font=font(36), fill=colours["ink"])
    draw.text((60, 150), title, font=font(66 * scale, bold=True), fill=colours["ink"])
    top = 330.0
    for name, state in rows:
        draw.text((160, top), name, font=font(54 * scale), fill=colours["ink"])
        if state is not None:
            said = state if isinstance(state, str) else ("On" if state else "Off")
            below = (160, top + 70 * scale)
            draw.text(below, said, font=font(49 * scale), fill=colours["faint"])
        if isinstance(state, bool):
            _draw_switch(draw, round(top + 20), on=state)
        top += 190 * scale
    if button:
        _draw_button(draw, button)
    return encode(image)


def draw_home(names: Sequence[str]) -> bytes:
    """Draw a home screen: icons with their names on a wallpaper that changes its colour."""
    image = Image.new("RGB", (1080, 2400))
    draw = ImageDraw.Draw(image)
    for y in range(2400):
        draw.line((0, y, 1080, y), fill=(20 + y // 60, 60, 120 - y // 40))
    for index, name in enumerate(names):
        row, column = divmod(index, 3)
        left, top = 90 + column * 340, 640 + row * 400
        colour = (80 + 40 * (index % 4), 120, 60 + 30 * (index % 5))
        draw.rounded_rectangle((left, top, left + 200, top + 200), 40, fill=colour)
        place = (left + 100, top + 250)
        draw.text(place, name, font=font(49), fill="white", anchor="mm")
    return encode(image)


def draw_black() -> bytes:
    """Draw a protected screen."""
    return encode(Image.new("RGB", (1080, 2400)))


def draw_texts(*texts: str) -> bytes:
    """Draw some lines in the middle."""
    image = Image.new("RGB", (1080, 2400), (40, 44, 60))
    draw = ImageDraw.Draw(image)
    for index, text in enumerate(texts):
        place = (540, 500 + index * 260)
        draw.text(place, text, font=font(60), fill="white", anchor="mm")
    return encode(image)


def encode(image: Image.Image) -> bytes:
    """Return a JPEG of the size in which the phone's pictures arrive."""
    buffer = BytesIO()
    image.resize((486, 1080), Image.Resampling.LANCZOS).save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def _draw_switch(draw: ImageDraw.ImageDraw, top: int, *, on: bool) -> None:
    draw.rounded_rectangle(
        (900, top, 1020, top + 66), 33, fill=ACCENT if on else (150, 150, 155)
    )
    knob = 958 if on else 906
    draw.ellipse((knob, top + 6, knob + 54, top + 60), fill="white")


def _draw_button(draw: ImageDraw.ImageDraw, text: str) -> None:
    width = draw.textlength(text, font=font(54, bold=True)) + 120
    draw.rounded_rectangle((1036 - width, 2120, 1036, 2280), 80, fill=ACCENT)
    middle = (1036 - width / 2, 2200)
    draw.text(middle, text, font=font(54, bold=True), fill="white", anchor="mm")


def line(text: str, left: float, top: float, height: float = 18.0) -> Line:
    """Return a line as if it had been read."""
    return Line(
        text=text,
        box=Box(left=left, top=top, right=left + 18 * len(text), bottom=top + height),
    )


def read_list(title: str, rows: Sequence[Row], *, digest: str = "") -> Screen:
    """Return a list as if it had been read from a picture."""
    lines, switches, top = [line(title, 60, 70, 24)], [], 140.0
    for name, state in rows:
        lines.append(line(name, 160, top))
        if state is not None:
            said = state if isinstance(state, str) else ("On" if state else "Off")
            lines.append(line(said, 160, top + 30, 16))
        if isinstance(state, bool):
            switches.append(Box(left=850, top=top + 12, right=950, bottom=top + 36))
        top += 85
    return Screen(lines=lines, switches=switches, digest=digest)


def read_home(names: Sequence[str]) -> Screen:
    """Return a home screen as if it had been read."""
    lines = [
        line(name, 90 + (index % 3) * 320, 360 + (index // 3) * 165)
        for index, name in enumerate(names)
    ]
    return Screen(lines=lines)
