"""Pictures of a phone, small enough to be drawn by the hundred."""

from functools import cache
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw

WIDTH, HEIGHT = 360, 800


@cache
def screen(name: str, *, noise: int = 0, clock: int = 0, dot: bool = False) -> bytes:
    """Return the JPEG of a screen.

    ``noise`` seeds 0.3 % of disturbed pixels, ``clock`` is what the status bar shows,
    ``dot`` draws something as small as a switch.
    """
    if name == "black":
        return _jpeg(Image.new("RGB", (WIDTH, HEIGHT)))
    shades = np.random.default_rng(list(name.encode())).integers(60, 250, (8, 4, 3))
    image = Image.fromarray(shades.astype(np.uint8)).resize(
        (WIDTH, HEIGHT), Image.Resampling.NEAREST
    )
    draw = ImageDraw.Draw(image)
    draw.text((8, 8), f"12:{clock:02}", fill=(0, 0, 0))
    draw.rectangle((300, 6, 300 + clock, 20), fill=(0, 0, 0))
    if dot:
        draw.rectangle((280, 400, 320, 420), fill=(0, 0, 0))
    if noise:
        image = _disturbed(image, noise)
    return _jpeg(image)


def page(text: str, *, noise: int = 0, caret: bool = False) -> bytes:
    """Return the JPEG of a page with a text, as large as a phone's, to be read closely."""
    image = Image.new("RGB", (1080, 2400), (245, 245, 250))
    draw = ImageDraw.Draw(image)
    draw.text((80, 1060), text, fill=(20, 20, 20), font_size=42)
    draw.text((40, 40), f"12:{noise:02}", fill=(0, 0, 0), font_size=42)
    if caret:
        draw.rectangle((400, 1055, 405, 1115), fill=(0, 80, 220))
    return _jpeg(_disturbed(image, noise) if noise else image)


def _disturbed(image: Image.Image, seed: int) -> Image.Image:
    """Return a picture in which 0.3 % of the pixels are wrong."""
    pixels = np.asarray(image).copy()
    random = np.random.default_rng(seed)
    count = int(image.width * image.height * 0.003)
    rows = random.integers(0, image.height, count)
    columns = random.integers(0, image.width, count)
    pixels[rows, columns] = random.integers(0, 255, (count, 3))
    return Image.fromarray(pixels)


def _jpeg(image: Image.Image) -> bytes:
    out = BytesIO()
    image.save(out, "JPEG", quality=80)
    return out.getvalue()
