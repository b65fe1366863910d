"""Counts what was reached, so that a machine that no longer reaches something is noticed."""

from collections import Counter
from collections.abc import Iterable

type Label = tuple[str, str]
"""How a task stands and how far its ending got."""


class Tally:
    """What all examples of a process did together."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.counts: Counter[str] = Counter()

    def add(self, name: str) -> None:
        """Count something."""
        self.counts[name] += 1

    def change(self, how: str, before: str, after: str) -> None:
        """Count that a task went from one state to another."""
        if before != after:
            self.counts[f"{how}: {before} > {after}"] += 1


TALLY = Tally()


def table(counts: Counter[str], wanted: Iterable[str]) -> list[str]:
    """Return the lines to print: the wanted ones first, then what else there was."""
    wanted = list(wanted)
    names = [*wanted, *sorted(counts.keys() - set(wanted))]
    return [f"  {counts[name]:>9,}  {name}" for name in names]
