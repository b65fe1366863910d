"""Requests, runs, tellings and crashes in any order, many thousand times."""

from tests.examples import examples

from .side_by_side.explore import explore
from .side_by_side.wanted import missing, report

SEED = 1


def test_twenty_thousand_examples(counts: list[str]) -> None:
    """The manager does what the reference says, and everything of note is reached."""
    done = explore(examples(20_000), SEED)
    counts += report(done)
    assert not missing(done)
