"""A measurement, its limit, the table of them, and what the shell is told."""

from collections.abc import Sequence
from dataclasses import dataclass
import math
import sys
from typing import Self


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least so many percent of the values reach (nearest rank).

    Raises:
        ValueError: There are no values.

    """
    if not values:
        raise ValueError("no samples")
    rank = math.ceil(len(values) * percent / 100)
    return sorted(values)[max(rank, 1) - 1]


def median(values: Sequence[float]) -> float:
    """Return the 50th percentile."""
    return percentile(values, 50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One line of the table."""

    name: str
    value: float
    unit: str
    samples: int
    how: str
    """What was measured, against what."""
    limit: float | None = None
    """The most that is well."""
    least: float | None = None
    """The least that is well. A value without any limit is only told."""

    @property
    def is_met(self) -> bool:
        """Return whether the limits hold; no number holds no limit."""
        return (self.limit is None or self.value <= self.limit) and (
            self.least is None or self.value >= self.least
        )

    @classmethod
    def of(
        cls,
        name: str,
        values: Sequence[float],
        percent: float,
        *,
        unit: str,
        how: str,
        limit: float | None = None,
    ) -> Self:
        """Return a percentile of samples."""
        return cls(
            name=f"{name}, p{percent:g}",
            value=percentile(values, percent),
            unit=unit,
            samples=len(values),
            how=how,
            limit=limit,
        )


def table(measurements: Sequence[Measurement]) -> str:
    """Return the measurements as a Markdown table."""
    rows = [
        ("Measurement", "Value", "Limit", "Samples", "", "How"),
        *map(_row, measurements),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = [_line(row, widths) for row in rows]
    rule = "|".join("-" * (width + 2) for width in widths)
    return "\n".join([lines[0], f"|{rule}|---|", *lines[1:]])


def exit_code(measurements: Sequence[Measurement]) -> int:
    """Return 1 past a limit, or when nothing was measured."""
    return 0 if measurements and all(one.is_met for one in measurements) else 1


def progress(text: str) -> None:
    """Tell whoever waits what goes on; the table alone goes to the standard output."""
    print(text, file=sys.stderr, flush=True)


def _row(one: Measurement) -> tuple[str, ...]:
    """Return the cells of a measurement."""
    bounds = [
        f"{sign} {bound:.4g} {one.unit}".rstrip()
        for sign, bound in (("≥", one.least), ("≤", one.limit))
        if bound is not None
    ]
    limit = ", ".join(bounds)
    verdict = ("ok" if one.is_met else "MISSED") if bounds else ""
    value = f"{one.value:.4g} {one.unit}".rstrip()
    return one.name, value, limit, str(one.samples), verdict, one.how


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return cells side by side; the last one is as long as it is."""
    cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)]
    return f"| {' | '.join(cells)} | {row[-1]} |"
