"""Counts what was reached, so that a machine that no longer reaches something is noticed."""

from collections import Counter


class Tally:
    """What the examples of a process did together."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.counts: Counter[str] = Counter()

    def add(self, name: str) -> None:
        """Count something."""
        self.counts[name] += 1

    def rule(self, name: str) -> None:
        """Count a rule that was taken."""
        self.counts["steps"] += 1
        self.counts[f"rule: {name}"] += 1

    def change(self, how: str, before: str, after: str) -> None:
        """Count that a task went from one state to another."""
        if before != after:
            self.counts[f"{how}: {before} > {after}"] += 1

    def take(self) -> Counter[str]:
        """Return the counts and begin anew."""
        counts, self.counts = self.counts, Counter()
        return counts


TALLY = Tally()
