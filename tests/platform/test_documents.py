"""The documents: links lead somewhere, named tests and files exist."""

import ast
import functools
from pathlib import Path
import re

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "hardware_bridge/firmware/README.md",
    *sorted((ROOT / "simulator").glob("**/README.md")),
    TESTS / "behaviours.md",
]
EVIDENCE = ROOT / "docs/evidence.md"
BEHAVIOURS = TESTS / "behaviours.md"
WHY_NOT = ("Not built", "Built beside this", "Does not apply")
"""How a row of the behaviours begins that names no test."""


@functools.cache
def _names(path: Path) -> set[str]:
    """Return the test functions of a file, and the state machines that it runs."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                names.add(node.name)
            case ast.Assign(targets=[ast.Name(id=name)]) if name.startswith("Test"):
                names.add(name)
    return names


def _rows(document: Path) -> list[list[str]]:
    """Return the cells of the tables' rows, without those that are headings."""
    lines = document.read_text().splitlines()
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line, following in zip(lines, [*lines[1:], ""], strict=True)
        if line.startswith("| ")
        and not line.startswith(("| ---", "| **"))
        and not following.startswith("| ---")
    ]


def _anchor(heading: str) -> str:
    """Return how a heading is linked to."""
    words = re.sub(r"[^\w\- ]", "", heading.casefold())
    return words.strip().replace(" ", "-")


@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda it: str(it.relative_to(ROOT))
)
def test_links_lead_somewhere(document: Path) -> None:
    """To a file of the repository, or to a heading of the same document."""
    text = document.read_text()
    anchors = {
        _anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        elif "://" not in target:
            assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", [EVIDENCE, BEHAVIOURS], ids=lambda it: it.stem)
def test_every_named_test_exists(document: Path) -> None:
    """What is named is a file of tests, or one test in it, perhaps with its parameters."""
    text = document.read_text()
    named = re.findall(r"`(\w[\w/]*/test_\w+\.py)(?:::(\w+)(?:\[[^]`]+\])?)?`", text)
    assert named
    assert len(named) == text.count("/test_")
    for file, name in named:
        assert (TESTS / file).is_file(), file
        assert not name or name in _names(TESTS / file), f"{file}::{name}"


def test_every_row_says_how_it_was_run() -> None:
    """Simulated needs a test; without one, it was not run."""
    rows = _rows(EVIDENCE)
    assert rows
    for feature, tests, how in rows:
        assert feature
        if how == "simulated":
            assert "test_" in tests, feature
        else:
            assert how.startswith("not run"), feature


def test_every_behaviour_has_a_test_or_a_reason() -> None:
    """Each row is there once, and says what proves it or why nothing does."""
    rows = _rows(BEHAVIOURS)
    numbers = [number for number, _, _ in rows]
    assert numbers
    assert len(set(numbers)) == len(numbers)
    for number, behaviour, proof in rows:
        assert behaviour, number
        assert "`" in proof or proof.startswith(WHY_NOT), number
