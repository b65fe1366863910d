"""The same code under a real MicroPython tells the same story."""

import json
from pathlib import Path
import re
import subprocess
from typing import Any

import pytest

from .micropython.scenario import tell


@pytest.fixture(scope="module")
def told_by_micropython() -> dict[str, Any]:
    """Play the scene under MicroPython; needs node and the project's node_modules."""
    command = ["node", str(Path(__file__).parent / "micropython" / "run.mjs")]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    told = json.loads(ran.stdout)
    assert re.fullmatch(r"micropython 1\.\d+", told["interpreter"])
    story: dict[str, Any] = told["story"]
    return story


@pytest.fixture(scope="module")
def told_here() -> dict[str, Any]:
    """Play it under CPython."""
    vectors = Path(__file__).parents[1] / "data" / "dx1_vectors.json"
    story: dict[str, Any] = json.loads(tell(vectors.read_text()))
    return story


def test_every_vector_holds_on_both(
    told_by_micropython: dict[str, Any], told_here: dict[str, Any]
) -> None:
    """CRC, COBS and frames."""
    assert told_here["failed"] == []
    assert told_by_micropython["failed"] == []


@pytest.mark.parametrize("clock", ["plain", "wraps", "wraps later"])
def test_the_scene_is_the_same_line_by_line(
    told_by_micropython: dict[str, Any], told_here: dict[str, Any], clock: str
) -> None:
    """Answers, reports, events and their times, over a clock that wraps, too."""
    assert told_by_micropython[clock] == told_here[clock]
    assert len(told_here[clock]) == len(told_here["plain"]) == 180


def test_the_scene_holds_what_it_is_about(told_here: dict[str, Any]) -> None:
    """Link loss, text, gesture, wake, restart guard: not an empty page."""
    lines = told_here["plain"]

    assert "605 report 4 03003075e80301" in lines
    assert "3500 report 4 00010100020001" in lines
    assert "5200 event 43 flags 0 seq 8" in lines
    assert lines[-1] == "starts [1, 1, 1, 0, 0, 1, 0]"


def test_the_descriptor_is_the_same(
    told_by_micropython: dict[str, Any], told_here: dict[str, Any]
) -> None:
    """What USB is told."""
    assert told_by_micropython["descriptor"] == told_here["descriptor"]
