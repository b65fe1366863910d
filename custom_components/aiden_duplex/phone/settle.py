"""When the phone's picture has come to rest: pictures and times in, a verdict out.

A fixed wait misses (1 of 5 against 5 of 5 for waiting on the picture, in one published
comparison); two unchanged pairs at least 150 ms apart with a cap of 2.5 s is the
practice of several phone agents.
"""

import numpy as np
from numpy.typing import NDArray

from .frame import BLOCK, Gray
from .types import Settle

_CLOCK_ROWS = 0.06
"""Share of the height where the status bar's clock lives; never compared."""
_SHIFT = 2.0
"""A block whose brightness moved by this much has changed (of 255)."""
_EXCESS = 3.0
"""A block that differs by this much more than the picture's noise has changed."""
_NOISE_CAP = 6.0
"""Mean difference that may be noise; more everywhere is motion."""
_STRONG = 24
"""Difference of a pixel that belongs to a caret rather than to noise."""
_CARET_WIDTH = 2
_CARET_HEIGHT = 14
_CARET_BLOCKS = 6
"""Blocks that a caret can touch."""
_EARLY_S = 0.01
"""How much too early a picture may be and still count as one interval later."""


def differ(one: Gray, other: Gray) -> bool:
    """Return whether two comparison pictures show different things.

    Noise over the whole picture, the status bar's clock and a blinking caret are no
    difference.
    """
    if one.shape != other.shape:
        return True
    delta = other.astype(np.int16) - one.astype(np.int16)
    delta[: round(delta.shape[0] * _CLOCK_ROWS)] = 0
    rows, columns = (side // BLOCK for side in delta.shape)
    blocks = delta.reshape(rows, BLOCK, columns, BLOCK)
    shift = np.abs(blocks.mean(axis=(1, 3)))
    size = np.abs(blocks).mean(axis=(1, 3))
    noise = min(_middle(size), _NOISE_CAP)
    moving = (shift > _SHIFT) | (size > noise + _EXCESS)
    count = np.count_nonzero(moving)
    return bool(count > _CARET_BLOCKS or (count > 0 and not _is_caret(delta)))


def _middle(values: NDArray[np.floating]) -> float:
    """Return the median, the greater of two.

    NumPy's own imports the masked arrays at its first call, which takes 50 ms of the
    event loop.
    """
    return float(np.sort(values, axis=None)[values.size // 2])


def _is_caret(delta: NDArray[np.int16]) -> bool:
    """Return whether all that changed is a narrow upright line."""
    rows, columns = np.nonzero(np.abs(delta) > _STRONG)
    if rows.size == 0:
        return False
    return bool(np.ptp(columns) < _CARET_WIDTH and np.ptp(rows) < _CARET_HEIGHT)


class SettleDetector:
    """Watches one wait for a still picture.

    Args:
        started_at: When the wait began, in seconds.
        before: The picture before the last act. As long as the picture looks like it, the
            phone may not have reacted yet, so that rest counts only after ``reaction_s``.
        rest_s: How long the picture has to stay the same: two pairs of pictures.
        interval_s: Least time between the two pictures of a pair.
        cap_s: When to give up; a result, not an error.
        reaction_s: How long a phone may take before anything moves.

    """

    def __init__(
        self,
        *,
        started_at: float,
        before: Gray | None = None,
        rest_s: float = 0.3,
        interval_s: float = 0.15,
        cap_s: float = 2.5,
        reaction_s: float = 0.8,
    ) -> None:
        """Start with no picture seen."""
        self._started_at = started_at
        self._before = before
        self._rest_s = rest_s
        self._interval_s = interval_s
        self._cap_s = cap_s
        self._reaction_s = reaction_s
        self._last: tuple[float, Gray] | None = None
        self._still_since = started_at

    def feed(self, gray: Gray, *, black: bool, at: float) -> Settle | None:
        """Take a picture; return the verdict, or None to go on watching.

        Black is reported only at the cap: phones show it for a moment between apps.
        """
        if self._last is None:
            self._last = (at, gray)
            self._still_since = at
        elif at - self._last[0] >= self._interval_s - _EARLY_S:
            if differ(self._last[1], gray):
                self._still_since = at
            self._last = (at, gray)
        rests = at - self._still_since >= self._rest_s - _EARLY_S
        if rests and not black and self._may_rest(gray, at):
            return Settle.SETTLED
        if at - self._started_at < self._cap_s:
            return None
        return Settle.BLACK if black else Settle.TIMEOUT

    def _may_rest(self, gray: Gray, at: float) -> bool:
        """Return whether a still picture counts already."""
        if self._before is None or at - self._started_at >= self._reaction_s:
            return True
        return differ(self._before, gray)
