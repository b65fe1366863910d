"""Whether two pictures show the same screen, in spite of noise and clocks. No I/O."""

from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

type Fingerprint = NDArray[np.int16]
"""Mean colours of blocks, without the status bar: ``[row, column, 3]``.

Usually 48 rows of 24 blocks; eight times as many each way if it is close.
"""

_COLUMNS = 24
_ROWS = 48
_STATUS_ROWS = 3
"""About 6 % of the height, where the clock of a phone ticks."""
_BLOCK_SHIFT = 12
"""Change of a block's mean colour (of 255) that noise and compression do not reach."""
_CHANGED_BLOCKS = 2
"""A switch changes that many; a pixel's noise changes none."""
_CLOSE = 8
_CLOSE_BLOCK = 4
"""Side of the blocks that are compared in a close fingerprint."""
_CLOSE_CHANGE = 10
"""Mean change of such a block: a digit of 40 px reaches it, noise does not (measured)."""
_STRONG = 24
"""Change that belongs to a caret rather than to noise."""
_CARET_COLUMNS = 3
_CARET_ROWS = range(8, 24)
"""A caret is narrow and upright, about 2 % of the height; a digit is lower or wider."""


def fingerprint(jpeg: bytes, *, close: bool = False) -> Fingerprint | None:
    """Return what to compare a picture by; None for bytes that are no picture.

    Decodes at an eighth of the size where possible: about a millisecond.
    """
    scale = _CLOSE if close else 1
    columns, rows = _COLUMNS * scale, _ROWS * scale
    try:
        with Image.open(BytesIO(jpeg)) as image:
            # A close one needs more of the picture, but not four times its own size.
            image.draft(
                "RGB", (columns * 4, rows * 4) if not close else (columns, rows)
            )
            small = image.convert("RGB").resize((columns, rows), Image.Resampling.BOX)
    except OSError, SyntaxError, ValueError, Image.DecompressionBombError:
        return None
    return np.asarray(small, dtype=np.int16)[_STATUS_ROWS * scale :]


def same(one: Fingerprint, other: Fingerprint) -> bool:
    """Return whether two pictures show the same screen."""
    moved = np.abs(one - other).max(axis=2) > _BLOCK_SHIFT
    return int(np.count_nonzero(moved)) < _CHANGED_BLOCKS


def same_to_the_letter(one: Fingerprint, other: Fingerprint) -> bool:
    """Return whether two close fingerprints show the same screen with the same texts.

    Only a caret may have come or gone: it blinks.
    """
    delta = np.abs(one - other)
    rows, columns = (side // _CLOSE_BLOCK for side in delta.shape[:2])
    blocks = delta.reshape(rows, _CLOSE_BLOCK, columns, _CLOSE_BLOCK, 3)
    changed = blocks.mean(axis=(1, 3)).max(axis=2) > _CLOSE_CHANGE
    if not changed.any():
        return True
    within = changed.repeat(_CLOSE_BLOCK, axis=0).repeat(_CLOSE_BLOCK, axis=1)
    return _is_caret((delta.max(axis=2) > _STRONG) & within)


def _is_caret(changed: NDArray[np.bool]) -> bool:
    """Return whether all that changed is one narrow upright line."""
    rows, columns = np.nonzero(changed)
    return (
        rows.size > 0
        and int(np.ptp(columns)) < _CARET_COLUMNS
        and int(np.ptp(rows)) in _CARET_ROWS
    )
