"""A small code in the picture that names the screen, so that a model without eyes can see.

Twelve black or white squares in one row, at the left edge just under the status bar:
white, black, eight data bits (highest first), even parity, white. It names the screen's
id and nothing of what the screen says.
"""

from enum import IntEnum
import itertools

import numpy as np
from PIL import Image, ImageDraw

_SQUARES = 12
_SIDE = 1 / 45
"""A square's side in screen widths: 24 px of 1080."""
_TOP = 92 / 1080
"""The row's upper edge in screen widths."""
_MARGIN = 6 / 1080
_PHONE_ASPECT = 1080 / 2400
_SEARCH_PX = 8
_OFFSETS = sorted(
    itertools.product(range(-_SEARCH_PX, _SEARCH_PX + 1), repeat=2),
    key=lambda offset: abs(offset[0]) + abs(offset[1]),
)
"""Where the code may lie beside its place, the nearest first."""
_WHITE = 160
_BLACK = 95


class ScreenId(IntEnum):
    """Every screen that the virtual phone has, with the number in its code."""

    LOCK = 1
    PIN = 2
    HOME = 3
    RECENTS = 4
    SETTINGS = 10
    SETTINGS_NETWORK = 11
    SETTINGS_DISPLAY = 12
    SETTINGS_SOUND = 13
    SETTINGS_BATTERY = 14
    SETTINGS_APPS = 15
    SETTINGS_STORAGE = 16
    SETTINGS_SECURITY = 17
    SETTINGS_ABOUT = 18
    MESSAGES = 20
    THREAD = 21
    COMPOSE = 22
    NOTES = 30
    NOTE_EDITOR = 31
    NOTE_DELETE = 32
    ALARMS = 40
    ALARM_EDITOR = 41
    PERMISSION = 50
    BANK = 60
    """All black: its code is never drawn."""
    OTHER_APP = 70


def encode(image: Image.Image, screen: ScreenId) -> None:
    """Draw a screen's code into a picture of the whole screen, whatever its size."""
    draw = ImageDraw.Draw(image)
    side = _SIDE * image.width
    top = round(_TOP * image.width)
    left = _MARGIN * image.width
    for place, bit in enumerate(_bits(screen)):
        draw.rectangle(
            (
                round(left + place * side),
                top,
                round(left + (place + 1) * side) - 1,
                top + round(side) - 1,
            ),
            fill=(255, 255, 255) if bit else (0, 0, 0),
        )


def decode(image: Image.Image) -> int | None:
    """Read the code from a picture of the screen, or of the letterboxed 16:9 frame around it.

    Any size from about 300 px width up, cropped within a few pixels. Returns the number,
    which may be unknown to this version, or None when there is no whole code: a black
    screen, a screen in motion, another picture.
    """
    if image.width > image.height:
        width = round(image.height * _PHONE_ASPECT)
        left = (image.width - width) // 2
        image = image.crop((left, 0, left + width, image.height))
    side = _SIDE * image.width
    strip = image.crop(
        (0, 0, round(side * (_SQUARES + 2)), round(_TOP * image.width + side * 3))
    )
    pixels = np.asarray(strip.convert("L"), dtype=np.int16)
    for dx, dy in _OFFSETS:
        number = _read_at(pixels, side, image.width, dx, dy)
        if number is not None:
            return number
    return None


def _bits(number: int) -> list[int]:
    """Return the twelve squares of a number, 1 is white."""
    data = [number >> shift & 1 for shift in range(7, -1, -1)]
    return [1, 0, *data, sum(data) % 2, 1]


def _read_at(
    pixels: np.ndarray[tuple[int, ...], np.dtype[np.int16]],
    side: float,
    width: int,
    dx: int,
    dy: int,
) -> int | None:
    """Return the number of a whole code at an offset of a few pixels."""
    y = round(_TOP * width + side / 2) + dy
    reach = max(1, round(side / 4))
    columns = [
        round(_MARGIN * width + side * (place + 0.5)) + dx for place in range(_SQUARES)
    ]
    if y - reach < 0 or columns[0] - reach < 0:
        return None
    if y + reach >= pixels.shape[0] or columns[-1] + reach >= pixels.shape[1]:
        return None
    if pixels[y, columns[0]] < _WHITE or pixels[y, columns[1]] > _BLACK:
        return None
    rows = pixels[y - reach : y + reach + 1]
    patches = np.stack([rows[:, x - reach : x + reach + 1].ravel() for x in columns])
    white = patches.min(axis=1) >= _WHITE
    if not np.all(white | (patches.max(axis=1) <= _BLACK)):
        return None
    bits = white.astype(int).tolist()
    number = int("".join(map(str, bits[2:10])), 2)
    return number if bits == _bits(number) else None
