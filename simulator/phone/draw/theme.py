"""Colours."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import Image

from simulator.phone.persona import Theme

type Colour = tuple[int, int, int]

WHITE: Colour = (255, 255, 255)
BLACK: Colour = (0, 0, 0)

_ACCENTS: tuple[Colour, ...] = (
    (26, 95, 190),
    (12, 118, 92),
    (136, 58, 160),
    (176, 72, 20),
    (170, 38, 76),
    (60, 84, 120),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colours of one look; every text colour stands out clearly from what is behind it."""

    page: Colour
    sheet: Colour
    """A dialog's."""
    surface: Colour
    """Fields, cards, received bubbles."""
    text: Colour
    faint: Colour
    line: Colour
    accent: Colour
    on_accent: Colour
    quiet: Colour
    """Buttons of less weight."""
    track: Colour
    """A switch that is off."""
    wallpaper_top: Colour
    wallpaper_bottom: Colour


@lru_cache(maxsize=32)
def palette(theme: Theme, accent: int) -> Palette:
    """Return the colours of a theme with an accent."""
    strong = _ACCENTS[accent % len(_ACCENTS)]
    match theme:
        case Theme.DARK:
            bright = mix(strong, WHITE, 0.55)
            return Palette(
                page=(26, 27, 31),
                sheet=(52, 54, 61),
                surface=(48, 50, 57),
                text=(240, 241, 244),
                faint=(188, 191, 198),
                line=(66, 68, 75),
                accent=bright,
                on_accent=(16, 18, 22),
                quiet=(78, 81, 90),
                track=(98, 101, 110),
                wallpaper_top=mix(strong, (26, 28, 34), 0.5),
                wallpaper_bottom=mix(strong, (22, 24, 30), 0.85),
            )
        case Theme.COLOURED:
            tint = mix(strong, WHITE, 0.88)
            return Palette(
                page=tint,
                sheet=mix(strong, WHITE, 0.94),
                surface=mix(strong, WHITE, 0.97),
                text=mix(strong, (16, 16, 20), 0.8),
                faint=mix(strong, (60, 62, 68), 0.8),
                line=mix(strong, WHITE, 0.72),
                accent=strong,
                on_accent=WHITE,
                quiet=mix(strong, WHITE, 0.74),
                track=mix(strong, (150, 150, 156), 0.8),
                wallpaper_top=mix(strong, BLACK, 0.2),
                wallpaper_bottom=mix(strong, BLACK, 0.6),
            )
        case Theme.LIGHT:
            return Palette(
                page=(250, 250, 252),
                sheet=WHITE,
                surface=(233, 235, 240),
                text=(22, 24, 28),
                faint=(80, 84, 92),
                line=(222, 224, 230),
                accent=strong,
                on_accent=WHITE,
                quiet=(216, 220, 228),
                track=(160, 164, 172),
                wallpaper_top=mix(strong, (30, 44, 70), 0.4),
                wallpaper_bottom=mix(strong, BLACK, 0.68),
            )


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """Return a colour between two, ``share`` of the way to the other."""
    red, green, blue = (
        round(a + (b - a) * share) for a, b in zip(one, other, strict=True)
    )
    return red, green, blue


@lru_cache(maxsize=4)
def wallpaper(top: Colour, bottom: Colour, width: int, height: int) -> Image.Image:
    """Return a calm gradient. Do not draw on it: copy it."""
    share = np.linspace(0.0, 1.0, height)[:, None, None]
    start, end = np.array(top, dtype=float), np.array(bottom, dtype=float)
    column = (start * (1 - share) + end * share).round().astype(np.uint8)
    pixels = np.broadcast_to(column, (height, width, 3))
    return Image.fromarray(np.ascontiguousarray(pixels))
