"""Pictures of a phone, small enough to be drawn by the hundred."""

from functools import cache
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw

WIDTH, HEIGHT = 360, 800


@cache
def screen(
    name: str, *, noise: int = 0, clock: int = 0, dot: bool = False, text: str = ""
) -> bytes:
    """Return the JPEG of a screen.

    ``noise`` seeds 0.3 % of disturbed pixels, ``clock`` is what the status bar shows,
    ``dot`` draws something as small as a switch, ``text`` is written in the middle.
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
    if text:
        draw.text((60, 400), text, fill=(0, 0, 0), font_size=20)
    if noise:
        pixels = np.asarray(image).copy()
        random = np.random.default_rng(noise)
        count = int(WIDTH * HEIGHT * 0.003)
        rows = random.integers(0, HEIGHT, count)
        columns = random.integers(0, WIDTH, count)
        pixels[rows, columns] = random.integers(0, 255, (count, 3))
        image = Image.fromarray(pixels)
    return _jpeg(image)


def _jpeg(image: Image.Image) -> bytes:
    out = BytesIO()
    image.save(out, "JPEG", quality=80)
    return out.getvalue()
