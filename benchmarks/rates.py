"""How many operations of the task manager a second lets through, against fsyncs."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import parts
from .create import Fsync, SlowFiles
from .harness import Measurement, median
from .lives import OPERATIONS, EndlessRunner, Lives
from .place import Place

LEAST_ALONE = 0.7
LEAST_TOGETHER = 1.0
TOGETHER = 64
"""All that may wait in the queue."""
SLOWER_S = 0.001
"""What an fsync takes longer on a disk that does not confirm from a cache; still a quick one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much is measured."""

    rounds: int = 30
    alone: int = 30
    """Operations of each kind, one after the other, in a round."""
    slower_rounds: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Rates a second, one of each round."""

    fsyncs: list[float]
    awaited: list[float]
    """Fsyncs, each awaited from the event loop."""
    alone: Mapping[str, list[float]]
    together: Mapping[str, list[float]]


async def measure(place: Place, counts: Counts = Counts()) -> list[Measurement]:
    """Return the rates on this disk, and on one that is a little slower."""
    disk = await _rounds(place.subfolder("rates"), counts.rounds, counts.alone)
    slower = await _rounds(
        place.subfolder("rates-slower"), counts.slower_rounds, counts.alone, SLOWER_S
    )
    where = place.file_system
    longer = f"{where}, each fsync {SLOWER_S * 1000:.0f} ms longer"
    return [
        *(_alone(name, disk, where) for name in OPERATIONS),
        *(_together(name, disk, where) for name in OPERATIONS),
        *(_alone_slower(name, slower, longer) for name in OPERATIONS),
    ]


async def _rounds(folder: Path, rounds: int, alone: int, delay_s: float = 0.0) -> Rates:
    """Take fsyncs and operations in turns."""
    rates = Rates(
        fsyncs=[], awaited=[], alone=defaultdict(list), together=defaultdict(list)
    )
    files = SlowFiles(delay_s) if delay_s else None
    async with parts.manager(folder, EndlessRunner(), files=files) as tasks:
        lives = Lives(tasks)
        await lives.occupy()
        await lives.live(TOGETHER)
        fsync = Fsync(folder, delay_s, size=_record_size(folder / "tasks.journal"))
        for _ in range(rounds):
            rates.fsyncs.append(alone / await parts.run_blocking(fsync.measure, alone))
            lives.forget_times()
            awaited_s = 0.0
            for _ in range(alone):
                awaited_s += await fsync.measure_awaited()
                await lives.live()
            rates.awaited.append(alone / awaited_s)
            _note(rates.alone, lives, alone)
            await lives.live(TOGETHER)
            _note(rates.together, lives, TOGETHER)
        fsync.close()
    return rates


def _note(rates: Mapping[str, list[float]], lives: Lives, count: int) -> None:
    """Keep the rates of so many operations of each kind."""
    for name, took_s in lives.forget_times().items():
        rates[name].append(count / sum(took_s))


def _record_size(journal: Path) -> int:
    """Return how long the journal's lines are."""
    lines = journal.read_bytes().splitlines(keepends=True)
    return round(sum(map(len, lines)) / len(lines))


def _alone(name: str, rates: Rates, where: str) -> Measurement:
    """Return a rate of one after the other against fsyncs that do not block the loop, either."""
    return _row(
        f"{name}, one after the other, against awaited fsyncs",
        rates.alone[name],
        rates.awaited,
        least=LEAST_ALONE,
        how=f"fsyncs awaited from the loop, in turns: {median(rates.awaited):,.0f}, "
        f"blocking and at a stretch {median(rates.fsyncs):,.0f}; {where}",
    )


def _together(name: str, rates: Rates, where: str) -> Measurement:
    """Return a rate of many at one time."""
    return _row(
        f"{name}, {TOGETHER} at one time, against fsyncs",
        rates.together[name],
        rates.fsyncs,
        least=LEAST_TOGETHER,
        how=f"blocking fsyncs at a stretch: {median(rates.fsyncs):,.0f}; {where}",
    )


def _alone_slower(name: str, rates: Rates, where: str) -> Measurement:
    """Return a rate of one after the other where the disk weighs more than Python."""
    return _row(
        f"{name}, one after the other, against fsyncs that are slower",
        rates.alone[name],
        rates.fsyncs,
        least=LEAST_ALONE,
        how=f"blocking fsyncs at a stretch: {median(rates.fsyncs):,.0f}; {where}",
    )


def _row(
    name: str, found: list[float], fsyncs: list[float], *, least: float, how: str
) -> Measurement:
    """Return the median of the rounds' rates as parts of the fsyncs' rates."""
    ratios = [one / other for one, other in zip(found, fsyncs, strict=True)]
    return Measurement(
        name=name,
        value=median(ratios),
        unit="x",
        samples=len(ratios),
        least=least,
        how=f"{median(found):,.0f} a second; {how}",
    )
