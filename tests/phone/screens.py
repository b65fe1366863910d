"""Pictures of a phone as a capture stick would give them."""

from io import BytesIO
from typing import TypedDict

import numpy as np
from PIL import Image, ImageDraw

from custom_components.aiden_duplex.phone.types import Area

FULL_HD = (1920, 1080)
PORTRAIT = Area(left=711, top=0, width=498, height=1080)
LANDSCAPE = Area(left=0, top=106, width=1920, height=868)


class Drawing(TypedDict, total=False):
    """What :func:`screen` can draw differently."""

    dark: bool
    clock: str
    lines: int
    scroll: int
    caret: bool
    toggle: bool


def screen(
    width: int,
    height: int,
    *,
    dark: bool = False,
    clock: str = "12:00",
    lines: int = 8,
    scroll: int = 0,
    caret: bool = False,
    toggle: bool = False,
) -> Image.Image:
    """Draw an app: status bar, lines of text, a text field, a switch, a gesture bar."""
    paper, ink = (
        ((0, 0, 0), (230, 230, 230)) if dark else ((245, 245, 248), (20, 20, 20))
    )
    image = Image.new("RGB", (width, height), paper)
    draw = ImageDraw.Draw(image)
    bar = max(10, height // 40)
    draw.text((width // 20, bar // 4), clock, fill=ink, font_size=bar * 3 // 4)
    for index in range(lines):
        top = bar * 2 + (index * height // (lines + 2) + scroll) % (height - bar * 4)
        draw.rectangle(
            (width // 10, top, width * 6 // 10 + index * 9, top + bar // 3), fill=ink
        )
    left, top = width * 7 // 10, height // 3
    draw.rectangle(
        (left, top, left + width // 8, top + bar),
        fill=(40, 120, 240) if toggle else (160, 160, 160),
    )
    if caret:
        draw.rectangle(
            (width // 4, height * 2 // 3, width // 4 + 2, height * 2 // 3 + bar),
            fill=ink,
        )
    draw.rectangle((width * 4 // 10, height - 9, width * 6 // 10, height - 6), fill=ink)
    return image


def captured(
    content: Image.Image | None,
    area: Area = PORTRAIT,
    size: tuple[int, int] = FULL_HD,
    *,
    black_level: int = 0,
    noise: float = 0.0,
    seed: int = 0,
    quality: int = 90,
) -> bytes:
    """Put a screen into its letterbox and compress it; None for a black signal."""
    frame = Image.new("RGB", size, (black_level,) * 3)
    if content is not None:
        frame.paste(content.resize((area.width, area.height)), (area.left, area.top))
    if noise:
        pixels = np.asarray(frame).astype(np.float32)
        grain = np.random.default_rng(seed).normal(0, noise, pixels.shape[:2])
        pixels += grain[..., None]
        frame = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    out = BytesIO()
    frame.save(out, "JPEG", quality=quality)
    return out.getvalue()
