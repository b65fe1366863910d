"""An event loop whose clock jumps to the next timer instead of waiting for it.

For code that needs neither real sockets nor threads: whenever nothing is ready, the
loop's time moves forward to the next scheduled call. Tests hand a coroutine to
:func:`run`. Where a thread works for the loop, ``busy`` says so, and no time passes.
"""

import asyncio
from collections.abc import Callable, Coroutine
import selectors
from typing import Any, override

MAX_ROUNDS = 20_000
"""Rounds of the loop at one moment after which something spins."""
THREAD_S = 30.0
"""Real time after which a thread that the loop waits for hangs."""


class _JumpingSelector(selectors.DefaultSelector):
    """A selector that reports its timeout as passed time when nothing is ready."""

    def __init__(self, busy: Callable[[], bool]) -> None:
        """Start at no skipped time."""
        super().__init__()
        self.skipped_s = 0.0
        self._busy = busy
        self._rounds = 0

    @override
    def select(
        self, timeout: float | None = None
    ) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready now; otherwise let the timeout pass at once."""
        ready = super().select(0)
        if ready or timeout == 0:
            self._rounds += 1
            if self._rounds > MAX_ROUNDS:
                raise RuntimeError(f"virtual time: something spins: {_stacks()}")
            return ready
        self._rounds = 0
        if self._busy():
            if ready := super().select(THREAD_S):
                return ready
            raise RuntimeError(f"virtual time: a thread does not answer: {_stacks()}")
        if timeout is None:
            raise RuntimeError(
                "virtual time: nothing is scheduled and nothing is ready; the test would hang"
            )
        self.skipped_s += max(timeout, 0)
        return []


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop that never waits."""

    def __init__(self, busy: Callable[[], bool] = lambda: False) -> None:
        """Start the clock at 1000 s."""
        self._jumping = _JumpingSelector(busy)
        super().__init__(self._jumping)

    @override
    def time(self) -> float:
        """Return virtual seconds."""
        return 1000.0 + self._jumping.skipped_s


def run[T](main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a fresh virtual loop; deadlines cost no real time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)


def _stacks() -> str:
    """Return where the tasks of the running loop are."""
    return "\n".join(
        f"{task.get_name()}: {task.get_stack(limit=1)}" for task in asyncio.all_tasks()
    )
