"""How long callbacks keep the event loop, and whose they are."""

import asyncio
from collections.abc import Iterator
import contextlib
from dataclasses import dataclass
import functools
import operator
import os
from pathlib import Path
import time
from typing import Any
from unittest.mock import patch

HERE = f"{Path(__file__).parents[1]}/"
OWN = ("benchmarks.", f"{HERE}benchmarks/")
_SCHEDSTAT = Path("/proc/thread-self/schedstat")
_callback = operator.attrgetter("_callback")


@dataclass(slots=True)
class Watch:
    """The longest callback and how many there were."""

    count: int = 0
    longest_ms: float = 0.0
    longest: str = "none"
    is_over: bool = False
    waits: int = -1
    """Descriptor of the kernel's account of this thread; -1 when it keeps none."""

    def waited_ms(self) -> float:
        """Return how long this thread was ready to run and did not, since its start."""
        if self.waits < 0:
            return 0.0
        return int(os.pread(self.waits, 64, 0).split()[1]) / 1e6


@contextlib.contextmanager
def watching() -> Iterator[Watch]:
    """Time every callback of this thread's loops, but those of the benchmarks.

    While other processes have the processor nobody's callback is at fault, so that this
    time is taken off where the kernel tells it (Linux).
    """
    watch = Watch()
    if _SCHEDSTAT.exists():
        watch.waits = os.open(_SCHEDSTAT, os.O_RDONLY)
    # As asyncio's debug mode measures, without its cost for every callback.
    run = vars(asyncio.Handle)["_run"]

    def timed(handle: asyncio.Handle) -> None:
        """Run a callback and note how long it took."""
        callback = _callback(handle)
        waited_ms = watch.waited_ms()
        started = time.perf_counter()
        run(handle)
        if watch.is_over:
            return
        took_ms = (time.perf_counter() - started) * 1000
        took_ms -= watch.waited_ms() - waited_ms
        watch.count += 1
        if took_ms > watch.longest_ms and not (name := _name(callback)).startswith(OWN):
            watch.longest_ms, watch.longest = took_ms, name.removeprefix(HERE)

    try:
        with patch.object(asyncio.Handle, "_run", timed):
            yield watch
    finally:
        # The step that ends this is itself being timed.
        watch.is_over = True
        if watch.waits >= 0:
            os.close(watch.waits)


def _name(callback: Any) -> str:
    """Return the module and name of a callback; of a task's step, those of its coroutine."""
    owner = getattr(callback, "__self__", None)
    what = owner.get_coro() if isinstance(owner, asyncio.Task) else callback
    while isinstance(what, functools.partial):
        what = what.func
    name = getattr(what, "__qualname__", type(what).__qualname__)
    code = getattr(what, "cr_code", getattr(what, "__code__", None))
    module = getattr(what, "__module__", None) or getattr(code, "co_filename", "")
    return f"{module} {name}"
