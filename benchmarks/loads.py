"""What else keeps an event loop busy."""

import asyncio
from collections.abc import Iterator
import contextlib
import random
import time

SLICES_S = (0.002, 0.03)
"""Shortest and longest callback of the hog: a busy Home Assistant has such ones."""
SHARE = 0.6
"""Of the time that the hog takes."""


@contextlib.contextmanager
def busy_loop(seed: int) -> Iterator[None]:
    """Let another callback hog the loop in slices."""
    loop = asyncio.get_running_loop()
    numbers = random.Random(seed)
    handle: asyncio.Handle | None = None

    def hog() -> None:
        """Compute for a slice, then leave the loop to the others for a moment."""
        nonlocal handle
        slice_s = numbers.uniform(*SLICES_S)
        until = time.perf_counter() + slice_s
        while time.perf_counter() < until:
            pass
        handle = loop.call_later(slice_s * (1 - SHARE) / SHARE, hog)

    hog()
    try:
        yield
    finally:
        if handle is not None:
            handle.cancel()
