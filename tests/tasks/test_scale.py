"""The machine of tasks, often enough that what it never reaches is a fault of the machine."""

from .scale import never_taken, table, try_many

EXAMPLES = 20_000
SEED = 1


def test_the_manager_does_what_the_reference_says_very_often(counts: list[str]) -> None:
    """All rules and arrows are tried; none is found wrong."""
    taken = try_many(EXAMPLES, SEED)
    counts.append(f"tasks: {EXAMPLES:,} examples, seed {SEED}: {table(taken)}")
    assert never_taken(taken) == []
