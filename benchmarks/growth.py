"""What one more task costs when there are many, without the disk."""

from collections.abc import AsyncIterator
import contextlib
from dataclasses import dataclass
import time

from custom_components.aiden_duplex.tasks.limits import TaskLimits

from . import parts
from .harness import Measurement, median
from .lives import OPERATIONS, EndlessRunner, FastFiles, Lives
from .place import Place

MOST_GROWTH = 2.0
"""Linear growth is a constant cost for each task: 1. A look through all tasks would be
100, a logarithm 2; the rest is for what no longer fits the processor's caches."""
LIMITS = TaskLimits(queued=20_000, remembered=20_000, undelivered=20_000)
"""So that nothing is refused or forgotten."""
BATCH = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much is measured."""

    sizes: tuple[int, ...] = (100, 1_000, 10_000)
    samples: int = 100
    """Operations of each kind at each size."""
    smallest_runs: int = 9
    """How often few lives are measured, which are over soon."""


async def measure(place: Place, counts: Counts = Counts()) -> list[Measurement]:
    """Return the cost of one operation beside many tasks, and of a life among many."""
    beside = await _beside(place, counts)
    whole = {size: await _whole(place, counts, size) for size in counts.sizes}
    return [
        *(_row(f"{name} beside", beside[name], counts.samples) for name in OPERATIONS),
        _row("a task's life among", whole, counts.sizes[-1]),
    ]


async def _beside(place: Place, counts: Counts) -> dict[str, dict[int, float]]:
    """Return how long each operation takes, in seconds, beside so many tasks.

    One half of them waits in the queue, the other has ended and was told. The sizes take
    turns: a processor that changes its speed changes it for all.
    """
    async with contextlib.AsyncExitStack() as stack:
        beside: dict[int, Lives] = {}
        for size in counts.sizes:
            beside[size] = await stack.enter_async_context(_among(place, size))
        for _ in range(counts.samples):
            for lives in beside.values():
                await lives.live()
    return {
        name: {size: median(lives.took_s[name]) for size, lives in beside.items()}
        for name in OPERATIONS
    }


@contextlib.asynccontextmanager
async def _among(place: Place, size: int) -> AsyncIterator[Lives]:
    """Return lives among so many tasks."""
    async with parts.manager(
        place.subfolder("growth"), EndlessRunner(), files=FastFiles(), limits=LIMITS
    ) as tasks:
        lives = Lives(tasks)
        await lives.occupy()
        for _ in range(size // (2 * BATCH)):
            await lives.create(BATCH)
            await lives.live(BATCH)
        lives.forget_times()
        yield lives


async def _whole(place: Place, counts: Counts, size: int) -> float:
    """Return how long a task's life takes, in seconds, when there are so many in all."""
    took: list[float] = []
    for _ in range(counts.smallest_runs if size == min(counts.sizes) else 1):
        folder = place.subfolder("lives")
        async with parts.manager(
            folder, EndlessRunner(), files=FastFiles(), limits=LIMITS
        ) as tasks:
            lives = Lives(tasks)
            await lives.occupy()
            started = time.perf_counter()
            for _ in range(size // BATCH):
                await lives.live(BATCH)
            took.append((time.perf_counter() - started) / size)
    return median(took)


def _row(what: str, costs: dict[int, float], samples: int) -> Measurement:
    """Return how much more something costs among the most tasks than among the fewest."""
    first, *_, last = costs
    values = ", ".join(
        f"{cost * 1e6:,.0f} µs at {size:,}" for size, cost in costs.items()
    )
    return Measurement(
        name=f"{what} {last:,} tasks, against {first:,}",
        value=max(costs.values()) / costs[first],
        unit="x",
        samples=samples,
        limit=MOST_GROWTH,
        how=f"the dearest of {values}; no waiting for the disk",
    )
