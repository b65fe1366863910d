"""What a task claims, against the truth about the phone."""

from typing import Any

import pytest

from benchmarks.path import Wish, judge
from simulator.phone.persona import Toggle


@pytest.mark.parametrize(
    ("task", "holds", "expected"),
    [
        ({"status": "completed", "outcome": "achieved"}, True, "achieved"),
        (
            {"status": "completed", "outcome": "achieved"},
            False,
            "WRONG CLAIM: achieved",
        ),
        ({"status": "completed", "outcome": "not_achieved"}, False, "not achieved"),
        ({"status": "completed", "outcome": "unknown"}, True, "unknown"),
        ({"status": "failed"}, False, "failed"),
        ({"status": "running"}, False, "asked a person"),
    ],
)
def test_a_claim_is_held_against_the_phone(
    task: dict[str, Any], holds: bool, expected: str
) -> None:
    """Only an achievement that is none is wrong."""
    assert judge(task, holds=holds) == expected


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        (Wish(goal="", toggle=Toggle.WIFI, on=False), True),
        (Wish(goal="", toggle=Toggle.WIFI, on=True), False),
        (Wish(goal="", note="milk"), True),
        (Wish(goal="", note="paint"), False),
    ],
)
def test_a_wish_holds_by_the_truth(wish: Wish, expected: bool) -> None:
    """The phone's own state counts, not what its picture shows."""
    assert wish.holds({"toggles": {"wifi": False}, "notes": ["buy milk"]}) is expected
