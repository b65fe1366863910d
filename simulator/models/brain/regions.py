"""Stretches of one colour in a picture: pages, panels, cards, buttons.

Letters are easy to read dark on white. A picture of a phone has light letters on
coloured buttons beside dark ones on a light page; found as regions, each can be turned
into dark on white by itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
import itertools

import numpy as np
from numpy.typing import NDArray

type Pixels = NDArray[np.int16]
type _Run = tuple[int, int, int, NDArray[np.float64]]
"""First and last column, region and colour of a stretch."""

_STEP = 3
"""The picture is thinned out by this before regions are looked for."""
_NEXT = 10
"""Largest difference of neighbouring points within a region, per channel."""
_SAME = 14
"""Largest difference of two stretches of one region."""
_GAP = 2
_PIECE = 8
"""Smallest piece of a region, in points."""
_MIN_WIDTH, _MIN_HEIGHT = 0.1, 0.018
"""Smallest region worth it, of the picture's sides: a button with a short word."""
_MIN_FILL = 0.45
"""Share of its rectangle that a region fills; letters take the rest."""
_NOISE = 14
"""Difference from the region's colour that JPEG makes."""
_INK = 34
"""Difference up to which a point is still the region's own."""
_FULL_INK = 80
"""Difference that is drawn black."""
_EDGE = 5
"""Points around a region that its outline blurs into."""


@dataclass(slots=True)
class _Region:
    left: int
    top: int
    right: int
    bottom: int
    area: int
    colour: NDArray[np.float64]
    rows: dict[int, tuple[int, NDArray[np.float64]]] = field(default_factory=dict)
    """Points and colour of each row: a wallpaper changes its colour downwards."""

    def touches(self, other: _Region) -> bool:
        """Tell whether another region of the same colour lies in or at this one."""
        return (
            other.left <= self.right + _GAP
            and other.right >= self.left - _GAP
            and other.top <= self.bottom + _GAP
            and other.bottom >= self.top - _GAP
            and bool(np.abs(self.colour - other.colour).max() <= _SAME)
        )

    def absorb(self, other: _Region) -> None:
        """Take in a piece that letters cut off."""
        self.left, self.right = min(self.left, other.left), max(self.right, other.right)
        self.top, self.bottom = min(self.top, other.top), max(self.bottom, other.bottom)
        self.area += other.area
        self.rows = {**other.rows, **self.rows}

    def add(self, row: int, first: int, last: int, colour: NDArray[np.float64]) -> None:
        length = last - first
        self.left, self.right = min(self.left, first), max(self.right, last)
        self.top, self.bottom = min(self.top, row), max(self.bottom, row + 1)
        self.colour += (colour - self.colour) * (length / (self.area + length))
        self.area += length
        count, mean = self.rows.get(row, (0, colour))
        self.rows[row] = (
            count + length,
            mean + (colour - mean) * (length / (count + length)),
        )

    def colours(self) -> NDArray[np.int16]:
        """Return the colour of each of its rows; rows in between take their neighbour's."""
        found = self.colour
        result = []
        for row in range(self.top, self.bottom):
            found = self.rows[row][1] if row in self.rows else found
            result.append(found)
        return np.repeat(np.array(result), _STEP, axis=0).astype(np.int16)[:, None, :]


def dark_on_white(pixels: Pixels, fallback: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the picture with the letters of each region dark on white.

    Args:
        pixels: Height x width x 3.
        fallback: Grey levels for what lies in no region, such as a wallpaper.

    """
    result = fallback.copy()
    thin = pixels[::_STEP, ::_STEP]
    height, width = thin.shape[:2]
    found = [
        region
        for region in _whole(_regions(thin), height * width)
        if region.right - region.left >= _MIN_WIDTH * width
        and region.bottom - region.top >= _MIN_HEIGHT * height
        and region.area
        >= _MIN_FILL * (region.right - region.left) * (region.bottom - region.top)
    ]
    for region in sorted(found, key=lambda region: -region.area):
        _paint(pixels, result, region)
    return result


def _paint(pixels: Pixels, result: NDArray[np.uint8], region: _Region) -> None:
    """Write one region into the result, within its own outline."""
    top, bottom = region.top * _STEP, region.bottom * _STEP
    left, right = region.left * _STEP, region.right * _STEP
    part = pixels[top:bottom, left:right]
    distance = np.abs(part - region.colours()[: part.shape[0]]).max(axis=2)
    ink = np.clip((distance - _NOISE) * (255 / (_FULL_INK - _NOISE)), 0, 255)
    grey = 255 - ink.astype(np.uint8)
    inside = distance < _INK
    first = inside.argmax(axis=1)
    last = inside.shape[1] - inside[:, ::-1].argmax(axis=1)
    columns = np.arange(inside.shape[1])
    within = (columns >= first[:, None]) & (columns < last[:, None])
    within &= inside.any(axis=1)[:, None]
    if region.area * _STEP**2 < result.size / 3:
        result[
            max(0, top - _EDGE) : bottom + _EDGE, max(0, left - _EDGE) : right + _EDGE
        ] = 255
    area = result[top:bottom, left:right]
    area[within] = grey[within]


def _whole(regions: list[_Region], points: int) -> list[_Region]:
    """Join the pieces into which letters and noise cut small regions."""
    pieces = [region for region in regions if region.area >= _PIECE]
    whole: list[_Region] = []
    for piece in sorted(pieces, key=lambda region: -region.area):
        home = next(
            (r for r in whole if r.area < points / 3 and r.touches(piece)), None
        )
        if home is None:
            whole.append(piece)
        else:
            home.absorb(piece)
    return whole


def _regions(pixels: Pixels) -> list[_Region]:
    """Return the connected stretches of one colour."""
    regions: list[_Region] = []
    above: list[_Run] = []
    for row in range(pixels.shape[0]):
        here: list[_Run] = []
        for first, last in _runs(pixels[row]):
            colour = pixels[row, first:last].mean(axis=0)
            index = _join(regions, above, first, last, colour)
            if index is None:
                index = len(regions)
                regions.append(_Region(first, row, last, row + 1, 0, colour))
            regions[index].add(row, first, last, colour)
            here.append((first, last, index, colour))
        above = here
    return regions


def _join(
    regions: list[_Region],
    above: list[_Run],
    first: int,
    last: int,
    colour: NDArray[np.float64],
) -> int | None:
    """Return the region above that a stretch belongs to: the one it touches most."""
    best: tuple[int, int] | None = None
    for start, end, index, before in above:
        shared = min(end, last) - max(start, first)
        if shared > 0 and np.abs(before - colour).max() <= _SAME:
            if best is None or regions[index].area > best[0]:
                best = (regions[index].area, index)
    return best[1] if best else None


def _runs(row: Pixels) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a row without a jump; single points are left out."""
    jumps = np.flatnonzero(np.abs(np.diff(row, axis=0)).max(axis=1) > _NEXT) + 1
    edges = [0, *jumps.tolist(), row.shape[0]]
    for first, last in itertools.pairwise(edges):
        if last - first >= 2:
            yield first, last
