"""Pictures: decode, find the phone inside its letterbox, shrink for comparison, encode.

Everything here computes for milliseconds and belongs in an executor. The letterbox
thresholds (mean luma 30, deviation 6, symmetry 4 pixels or 1 %) are field values of a
capture stick behind a phone's HDMI output.
"""

from dataclasses import dataclass
from io import BytesIO
from statistics import median

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from .types import Area, PictureError

type Gray = NDArray[np.uint8]
"""Luma, ``[row, column]``, 0..255."""

MAX_PIXELS = 40_000_000
BLOCK = 8
"""Both sides of a comparison picture are multiples of this."""

_COMPARE_EDGE = 320
_BORDER_MEAN = 30
_BORDER_DEVIATION = 6
_VISIBLE_LUMA = 48
_VISIBLE_SHARE = 0.0005
_STATUS_BAR = 0.06
_NAVIGATION_BAR = 0.03
_MIN_SHARE = 0.2
_MAX_SMALL_BAR = 0.05
_ASPECTS = (1.2, 2.6)
_BIG_MOVE = 0.1
_CONFIRMATIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaMemory:
    """What is known about where the phone lies in the source picture."""

    size: tuple[int, int] | None = None
    """Width and height of the source picture that this is about."""
    area: Area | None = None
    trusted: bool = False
    """The area looks like a whole phone, not like what a dark screen leaves visible."""
    candidates: tuple[Area, ...] = ()
    """Smaller areas seen lately; a smaller one is taken only when several agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One decoded picture, with the phone found in it."""

    image: Image.Image
    area: Area
    gray: Gray
    """The active area, small, for comparison."""
    black: bool
    """Nothing can be seen in the active area."""
    memory: AreaMemory


def look(data: bytes, memory: AreaMemory) -> Look:
    """Decode a JPEG or PNG and find the phone in it.

    Raises:
        PictureError: The bytes are no picture that can be decoded.

    """
    image = decode_frame(data)
    luma_image = image.convert("L")
    luma = np.asarray(luma_image)
    memory = track(memory, find_area(luma), image.size)
    area = memory.area or _whole(image.size)
    return Look(
        image=image,
        area=area,
        gray=_shrink(luma_image, area),
        black=is_black(luma, area),
        memory=memory,
    )


def decode_frame(data: bytes) -> Image.Image:
    """Return the RGB picture in JPEG or PNG bytes.

    Raises:
        PictureError: Not a picture, damaged, cut off, or absurdly large.

    """
    try:
        image = Image.open(BytesIO(data), formats=("JPEG", "PNG"))
        if image.width * image.height > MAX_PIXELS:
            raise PictureError(
                f"the picture is too large: {image.width} x {image.height} pixels"
            )
        return image.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as err:
        raise PictureError(
            "the picture source sent a damaged or incomplete picture"
        ) from err


def encode(
    image: Image.Image, area: Area, *, max_edge: int = 1280
) -> tuple[bytes, int, int]:
    """Return the active area as JPEG (quality 80) with its width and height in pixels."""
    cut = image.crop(_box(area))
    cut.thumbnail((max_edge, max_edge), Image.Resampling.LANCZOS)
    out = BytesIO()
    cut.save(out, "JPEG", quality=80)
    return out.getvalue(), cut.width, cut.height


def is_black(luma: Gray, area: Area) -> bool:
    """Return whether nothing can be seen in the area.

    The status bar and the navigation bar do not count: a protected screen often keeps
    them.
    """
    top = area.top + round(area.height * _STATUS_BAR)
    bottom = area.top + area.height - round(area.height * _NAVIGATION_BAR)
    middle = luma[top:bottom, area.left : area.left + area.width]
    return bool(
        np.count_nonzero(middle > _VISIBLE_LUMA) <= middle.size * _VISIBLE_SHARE
    )


def find_area(luma: Gray) -> Area | None:
    """Return the picture without dark, even, symmetric bars; None when all is dark."""
    height, width = luma.shape
    columns = _bars(luma, axis=0)
    if columns is None:
        return None
    left, right = columns
    rows = _bars(luma[:, left : width - right], axis=1)
    if rows is None:
        return None
    top, bottom = rows
    return Area(
        left=left, top=top, width=width - left - right, height=height - top - bottom
    )


def track(memory: AreaMemory, found: Area | None, size: tuple[int, int]) -> AreaMemory:
    """Return the memory after one more picture.

    A picture that shows something outside the known area widens it at once. A smaller
    area is believed only if it looks like a phone that turned or moved, and after three
    pictures that agree: a dark app must not shrink the phone.
    """
    if memory.size != size:
        memory = AreaMemory(size=size)
    if found is None:
        return memory
    plausible = _is_plausible(found, size)
    if memory.area is None or (plausible and not memory.trusted):
        area = found if plausible else _whole(size)
        return AreaMemory(size=size, area=area, trusted=plausible)
    if _agree(found, memory.area):
        return AreaMemory(size=size, area=memory.area, trusted=memory.trusted)
    if _reaches_outside(found, memory.area):
        area = found if plausible else _union(found, memory.area)
        return AreaMemory(size=size, area=area, trusted=plausible)
    if not (plausible and _has_moved(found, memory.area, size)):
        return AreaMemory(size=size, area=memory.area, trusted=memory.trusted)
    candidates = (*memory.candidates, found)[-_CONFIRMATIONS:]
    middle = _median(candidates)
    if len(candidates) == _CONFIRMATIONS and all(_agree(c, middle) for c in candidates):
        return AreaMemory(size=size, area=middle, trusted=True)
    return AreaMemory(
        size=size, area=memory.area, trusted=memory.trusted, candidates=candidates
    )


def _bars(luma: Gray, *, axis: int) -> tuple[int, int] | None:
    """Return the bars before and after the content along the other axis, in pixels."""
    mean = luma.mean(axis=axis, dtype=np.float32)
    deviation = luma.std(axis=axis, dtype=np.float32)
    content = np.flatnonzero((mean > _BORDER_MEAN) | (deviation > _BORDER_DEVIATION))
    if content.size == 0:
        return None
    total = mean.size
    before, after = int(content[0]), total - 1 - int(content[-1])
    if abs(before - after) > max(4, total // 100):
        before = after = min(before, after)
    return before, after


def _shrink(luma: Image.Image, area: Area) -> Gray:
    """Return the area's luma, its longer side about 320 pixels, averaged."""
    scale = min(1.0, _COMPARE_EDGE / max(area.width, area.height))
    width = max(BLOCK, round(area.width * scale / BLOCK) * BLOCK)
    height = max(BLOCK, round(area.height * scale / BLOCK) * BLOCK)
    small = luma.resize((width, height), Image.Resampling.BOX, box=_box(area))
    return np.asarray(small)


def _whole(size: tuple[int, int]) -> Area:
    """Return the whole source picture."""
    return Area(left=0, top=0, width=size[0], height=size[1])


def _box(area: Area) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom, as Pillow wants them."""
    return (area.left, area.top, area.left + area.width, area.top + area.height)


def _is_plausible(area: Area, size: tuple[int, int]) -> bool:
    """Return whether the area looks like a whole phone or tablet.

    A mirrored screen fills the picture along one axis, up to an overscan border.
    """
    width, height = size
    aspect = max(area.width, area.height) / min(area.width, area.height)
    small_x = area.left <= width * _MAX_SMALL_BAR
    small_y = area.top <= height * _MAX_SMALL_BAR
    return (
        _ASPECTS[0] <= aspect <= _ASPECTS[1]
        and area.width >= width * _MIN_SHARE
        and area.height >= height * _MIN_SHARE
        and (small_x or small_y)
    )


def _agree(one: Area, other: Area) -> bool:
    """Return whether two areas are the same up to what compression blurs."""
    return all(abs(a - b) <= 4 for a, b in zip(_box(one), _box(other), strict=True))


def _reaches_outside(found: Area, known: Area) -> bool:
    """Return whether something is visible outside the known area."""
    left, top, right, bottom = _box(known)
    return (
        found.left < left - 4
        or found.top < top - 4
        or found.left + found.width > right + 4
        or found.top + found.height > bottom + 4
    )


def _has_moved(found: Area, known: Area, size: tuple[int, int]) -> bool:
    """Return whether the phone turned, or its bars moved by a tenth of the picture."""
    turned = (found.width > found.height) != (known.width > known.height)
    return (
        turned
        or abs(found.left - known.left) > size[0] * _BIG_MOVE
        or abs(found.top - known.top) > size[1] * _BIG_MOVE
    )


def _union(one: Area, other: Area) -> Area:
    """Return the smallest area that holds both."""
    edges = list(zip(_box(one), _box(other), strict=True))
    left, top = min(edges[0]), min(edges[1])
    return Area(
        left=left, top=top, width=max(edges[2]) - left, height=max(edges[3]) - top
    )


def _median(areas: tuple[Area, ...]) -> Area:
    """Return the area of the median edges."""
    left, top, right, bottom = (
        round(median(edge)) for edge in zip(*map(_box, areas), strict=True)
    )
    return Area(left=left, top=top, width=right - left, height=bottom - top)
