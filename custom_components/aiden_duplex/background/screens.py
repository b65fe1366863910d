"""Whether two pictures show the same screen, in spite of noise and clocks. No I/O."""

from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

type Fingerprint = NDArray[np.int16]
"""Mean colours of blocks, without the status bar: ``[row, column, 3]``.

Usually 48 rows of 24 blocks; twice as many each way if it is close.
"""

_COLUMNS = 24
_ROWS = 48
_STATUS_ROWS = 3
"""About 6 % of the height, where the clock of a phone ticks."""
_BLOCK_SHIFT = 12
"""Change of a block's mean colour (of 255) that noise and compression do not reach."""
_CHANGED_BLOCKS = 2
"""A switch changes that many; a pixel's noise changes none."""
_CLOSE_SHIFT = 10
"""A single digit of 40 px changes a small block by 30, noise by 3 (measured)."""


def fingerprint(jpeg: bytes, *, close: bool = False) -> Fingerprint | None:
    """Return what to compare a picture by; None for bytes that are no picture.

    Decodes at an eighth of the size where possible: about a millisecond.
    """
    scale = 2 if close else 1
    columns, rows = _COLUMNS * scale, _ROWS * scale
    try:
        with Image.open(BytesIO(jpeg)) as image:
            image.draft("RGB", (columns * 4, rows * 4))
            small = image.convert("RGB").resize((columns, rows), Image.Resampling.BOX)
    except OSError, SyntaxError, ValueError, Image.DecompressionBombError:
        return None
    return np.asarray(small, dtype=np.int16)[_STATUS_ROWS * scale :]


def same(one: Fingerprint, other: Fingerprint) -> bool:
    """Return whether two pictures show the same screen."""
    moved = np.abs(one - other).max(axis=2) > _BLOCK_SHIFT
    return int(np.count_nonzero(moved)) < _CHANGED_BLOCKS


def same_to_the_letter(one: Fingerprint, other: Fingerprint) -> bool:
    """Return whether two close fingerprints show the same screen with the same texts."""
    return bool(np.abs(one - other).max() <= _CLOSE_SHIFT)
