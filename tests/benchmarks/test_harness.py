"""Percentiles, the table, limits and the exit code."""

import math

import pytest

from benchmarks.harness import Measurement, exit_code, percentile, table


def _measurement(
    value: float, limit: float | None = None, least: float | None = None
) -> Measurement:
    return Measurement(
        name="tap",
        value=value,
        unit="ms",
        samples=3,
        how="call to end",
        limit=limit,
        least=least,
    )


@pytest.mark.parametrize(
    ("percent", "expected"),
    [(0, 1), (1, 1), (50, 50), (50.1, 51), (99, 99), (99.9, 100), (100, 100)],
)
def test_a_percentile_is_a_sample(percent: float, expected: int) -> None:
    """Nearest rank: the smallest sample that so many percent do not exceed."""
    assert percentile(range(100, 0, -1), percent) == expected


def test_there_is_no_percentile_of_nothing() -> None:
    """A benchmark that took no sample fails instead of reporting zero."""
    with pytest.raises(ValueError, match="no samples"):
        percentile([], 50)


def test_samples_become_a_measurement() -> None:
    """The name says which percentile, and how many samples are behind it."""
    one = Measurement.of("tap", [3, 1, 2], 99.9, unit="ms", how="", limit=5)
    assert (one.name, one.value, one.samples) == ("tap, p99.9", 3, 3)


@pytest.mark.parametrize(
    ("value", "limit", "expected"),
    [(5, 5, 0), (5.001, 5, 1), (math.nan, 5, 1), (1e9, None, 0)],
)
def test_the_exit_code_says_whether_the_limit_holds(
    value: float, limit: float | None, expected: int
) -> None:
    """A limit may be reached; what is no number does not hold it."""
    assert exit_code([_measurement(value, limit), _measurement(0)]) == expected


@pytest.mark.parametrize(
    ("value", "least", "expected"), [(0.7, 0.7, 0), (0.699, 0.7, 1), (math.nan, 0.7, 1)]
)
def test_a_rate_has_a_least(value: float, least: float, expected: int) -> None:
    """Where more is better the limit is below."""
    assert exit_code([_measurement(value, least=least), _measurement(0)]) == expected


def test_nothing_measured_is_no_success() -> None:
    """A run without a line in its table has shown nothing."""
    assert exit_code([]) == 1


def test_the_table_shows_value_limit_samples_and_verdict() -> None:
    """One line each, aligned."""
    lines = table(
        [
            _measurement(4.25, 5),
            _measurement(6, 5),
            _measurement(7),
            _measurement(1, least=2),
        ]
    ).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["Measurement", "Value", "Limit", "Samples", "", "How"]
    assert cells[2] == ["tap", "4.25 ms", "≤ 5 ms", "3", "ok", "call to end"]
    assert cells[3] == ["tap", "6 ms", "≤ 5 ms", "3", "MISSED", "call to end"]
    assert cells[4] == ["tap", "7 ms", "", "3", "", "call to end"]
    assert cells[5] == ["tap", "1 ms", "≥ 2 ms", "3", "MISSED", "call to end"]
    assert len({line.rindex("|", 0, -1) for line in lines}) == 1
