"""What finished tasks hold in memory, and how long a start with them takes."""

from dataclasses import dataclass
import gc
from pathlib import Path
import time
import tracemalloc

from custom_components.aiden_duplex.storage.lines import scan
from custom_components.aiden_duplex.tasks.limits import TaskLimits

from . import parts
from .harness import Measurement, median
from .lives import EndlessRunner, FastFiles, Lives
from .place import Place

BATCH = 50
KEEP_ALL = TaskLimits(queued=20_000, remembered=20_000, undelivered=20_000)
FULL = TaskLimits(
    queued=20_000, remembered=20_000, undelivered=20_000, compact_from=10**9
)
"""Never compacted: a life's four records stay, as many as a journal holds at most."""
MOST_BYTES = 5 * 1024
"""For one finished task with a goal of 50 characters: its state and its journal record."""
MOST_HELD = 1.1
MOST_GROWTH = 2.0
MOST_AGAINST_READING = 8.0
"""Building tasks is more than taking JSON apart; quadratic work would be far beyond it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much is measured."""

    finished: int = 1_000
    sizes: tuple[int, ...] = (100, 1_000, 10_000)
    starts: int = 7


async def measure_memory(place: Place, counts: Counts = Counts()) -> list[Measurement]:
    """Return what finished tasks hold, and that no more of them are kept than should be."""
    all_kept = await _held(place, KEEP_ALL, counts.finished, 1)
    few_kept = await _held(place, TaskLimits(), counts.finished, 3)
    return [
        Measurement(
            name=f"memory of {counts.finished:,} finished tasks",
            value=all_kept[0] / 2**20,
            unit="MiB",
            samples=counts.finished,
            limit=counts.finished * MOST_BYTES / 2**20,
            how=f"traced allocations, all remembered: {all_kept[0] / counts.finished:,.0f} "
            "bytes each, with its record for the journal",
        ),
        Measurement(
            name=f"memory after {3 * counts.finished:,} finished tasks, "
            f"against after {counts.finished:,}",
            value=few_kept[-1] / few_kept[0],
            unit="x",
            samples=3 * counts.finished,
            limit=MOST_HELD,
            how=f"{few_kept[-1] / 2**20:.2f} MiB against {few_kept[0] / 2**20:.2f} MiB; "
            f"the newest {TaskLimits().remembered} are remembered",
        ),
    ]


async def measure_start(place: Place, counts: Counts = Counts()) -> list[Measurement]:
    """Return how long a start with a full journal takes, for each record."""
    starts = {size: await _start(place, size, counts.starts) for size in counts.sizes}
    first, *_, last = starts
    values = ", ".join(
        f"{one.took_s * 1000:,.1f} ms for {size:,} tasks ({one.records:,} records)"
        for size, one in starts.items()
    )
    dearest = max(one.took_s / one.records for one in starts.values())
    return [
        Measurement(
            name=f"a record at the start with {last:,} tasks, against {first:,}",
            value=dearest / (starts[first].took_s / starts[first].records),
            unit="x",
            samples=counts.starts,
            limit=MOST_GROWTH,
            how=f"the dearest of {values}",
        ),
        Measurement(
            name=f"start with {last:,} tasks, against reading their journal",
            value=starts[last].took_s / starts[last].read_s,
            unit="x",
            samples=counts.starts,
            limit=MOST_AGAINST_READING,
            how=f"{starts[last].took_s * 1000:,.0f} ms; read, checked and parsed in "
            f"{starts[last].read_s * 1000:,.0f} ms",
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a start took."""

    took_s: float
    read_s: float
    """For nothing but taking the journal's lines apart."""
    records: int


async def _start(place: Place, size: int, starts: int) -> Start:
    """Start with so many finished tasks, again and again."""
    folder = place.subfolder("start")
    await _finish(folder, size)
    journal = folder / "tasks.journal"
    data = journal.read_bytes()
    took: list[float] = []
    read: list[float] = []
    for _ in range(starts):
        journal.write_bytes(data)
        started = time.perf_counter()
        assert not scan(journal.read_bytes()).damaged
        read.append(time.perf_counter() - started)
        started = time.perf_counter()
        async with parts.manager(folder, EndlessRunner(), limits=FULL) as tasks:
            took.append(time.perf_counter() - started)
            if len(tasks.tasks()) < size:
                raise RuntimeError("tasks are missing after the start")
    records = data.count(b"\n")
    return Start(took_s=median(took), read_s=median(read), records=records)


async def _finish(folder: Path, count: int) -> None:
    """Fill a journal with finished tasks."""
    async with parts.manager(
        folder, EndlessRunner(), files=FastFiles(), limits=FULL
    ) as tasks:
        lives = Lives(tasks)
        await lives.occupy()
        for _ in range(count // BATCH):
            await lives.live(BATCH)


async def _held(place: Place, limits: TaskLimits, count: int, times: int) -> list[int]:
    """Return the bytes that are held each time after so many more tasks have finished."""
    held: list[int] = []
    folder = place.subfolder("memory")
    async with parts.manager(
        folder, EndlessRunner(), files=FastFiles(), limits=limits
    ) as tasks:
        lives = Lives(tasks)
        await lives.occupy()
        await lives.live(BATCH)
        tracemalloc.start()
        try:
            before = _traced()
            for _ in range(times):
                for _ in range(count // BATCH):
                    await lives.live(BATCH)
                lives.forget_times()
                held.append(_traced() - before)
        finally:
            tracemalloc.stop()
    return held


def _traced() -> int:
    """Return how many bytes are allocated now."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]
