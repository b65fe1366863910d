"""The benchmark of the tasks, with few of them: what it measures, not how much."""

from collections.abc import Awaitable, Callable
import math

import pytest

from benchmarks import growth, rates, remembered, tasks
from benchmarks.harness import Measurement
from benchmarks.lives import OPERATIONS
from benchmarks.place import Place

type Measure = Callable[[Place], Awaitable[list[Measurement]]]


async def _rates(place: Place) -> list[Measurement]:
    return await rates.measure(place, rates.Counts(rounds=2, alone=2, slower_rounds=1))


async def _growth(place: Place) -> list[Measurement]:
    return await growth.measure(
        place, growth.Counts(sizes=(100, 200), samples=2, smallest_runs=1)
    )


async def _memory(place: Place) -> list[Measurement]:
    return await remembered.measure_memory(place, remembered.Counts(finished=50))


async def _start(place: Place) -> list[Measurement]:
    return await remembered.measure_start(
        place, remembered.Counts(sizes=(50, 100), starts=1)
    )


@pytest.mark.parametrize(
    ("measure", "names"),
    [
        (
            _rates,
            [
                f"{name}, {how}"
                for how in (
                    "one after the other, against awaited fsyncs",
                    "64 at one time, against fsyncs",
                    "one after the other, against fsyncs that are slower",
                )
                for name in OPERATIONS
            ],
        ),
        (
            _growth,
            [
                *(f"{name} beside 200 tasks, against 100" for name in OPERATIONS),
                "a task's life among 200 tasks, against 100",
            ],
        ),
        (
            _memory,
            [
                "memory of 50 finished tasks",
                "memory after 150 finished tasks, against after 50",
            ],
        ),
        (
            _start,
            [
                "a record at the start with 100 tasks, against 50",
                "start with 100 tasks, against reading their journal",
            ],
        ),
    ],
    ids=list(tasks.MEASURES),
)
async def test_every_line_is_measured_against_a_limit(
    measure: Measure, names: list[str]
) -> None:
    """A value that is a number, and a limit below or above it."""
    async with Place.open() as place:
        found = await measure(place)
    assert [one.name for one in found] == names
    for one in found:
        assert 0 < one.value < math.inf
        assert one.least is not None or one.limit is not None
        assert one.samples > 0


async def test_the_disk_is_named() -> None:
    """A rate says nothing without what it was measured on."""
    async with Place.open() as place:
        kind, _, device = place.file_system.partition(" on ")
        assert kind
        assert device
