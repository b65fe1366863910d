"""Fonts, and how much room a text takes. All sizes in pixels of the 1080 px wide screen."""

from functools import lru_cache
from pathlib import Path

from PIL import ImageFont

type Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

_FOLDER = Path("/usr/share/fonts/truetype/dejavu")
_FILES = {False: "DejaVuSans.ttf", True: "DejaVuSans-Bold.ttf"}


@lru_cache(maxsize=64)
def font(size: int, bold: bool = False) -> Font:
    """Return DejaVu Sans; Pillow's own font where DejaVu is not installed."""
    path = _FOLDER / _FILES[bold]
    if not path.exists():
        return ImageFont.load_default(size)
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


def line_height(size: int) -> int:
    """Return the height of a line."""
    return round(size * 1.3)


@lru_cache(maxsize=4096)
def width(text: str, size: int, bold: bool = False) -> int:
    """Return a line's width."""
    return round(font(size, bold).getlength(text))


def fit(text: str, size: int, room: int, bold: bool = False, smallest: int = 44) -> int:
    """Return the largest size up to ``size`` at which the text fits, not below ``smallest``."""
    while size > smallest and width(text, size, bold) > room:
        size -= 1
    return size


@lru_cache(maxsize=512)
def wrap(text: str, size: int, room: int) -> tuple[str, ...]:
    """Break a text into lines that fit, at spaces where there are any. At least one line."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in _words(paragraph, size, room):
            if line and width(line + word.rstrip(" "), size) > room:
                lines.append(line)
                line = word
            else:
                line += word
        lines.append(line)
    return tuple(lines)


def clip(text: str, size: int, room: int) -> str:
    """Shorten a line to the room that there is."""
    if width(text, size) <= room:
        return text
    while text and width(text + "...", size) > room:
        text = text[:-1]
    return text + "..."


def tail(text: str, size: int, room: int) -> str:
    """Return the end of a line that still fits: what a one-line field shows."""
    while text and width(text, size) > room:
        text = text[1:]
    return text


def _words(paragraph: str, size: int, room: int) -> list[str]:
    """Split into words with the space that follows; a word too long is cut."""
    words: list[str] = []
    for word in paragraph.split(" "):
        rest = word
        while len(rest) > 1 and width(rest, size) > room:
            cut = len(rest) - 1
            while cut > 1 and width(rest[:cut], size) > room:
                cut -= 1
            words.append(rest[:cut])
            rest = rest[cut:]
        words.append(rest + " ")
    if words:
        words[-1] = words[-1][:-1]
    return words
