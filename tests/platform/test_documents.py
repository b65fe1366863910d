"""The documents: links lead somewhere, named tests and files exist."""

import ast
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
]
EVIDENCE = (ROOT / "docs/evidence.md").read_text()


def _names(path: Path) -> set[str]:
    """Return the test functions of a file."""
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


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


def test_every_named_test_exists() -> None:
    """The evidence is a file of tests, or one test in it."""
    named = re.findall(r"`(\w[\w/]*/test_\w+\.py)(?:::(\w+))?`", EVIDENCE)
    assert len(named) == EVIDENCE.count("/test_")
    for file, name in named:
        assert (TESTS / file).is_file(), file
        assert not name or name in _names(TESTS / file), f"{file}::{name}"


def test_every_row_says_how_it_was_run() -> None:
    """Simulated needs a test; without one, it was not run."""
    rows = [
        [cell.strip() for cell in row.split("|")[1:-1]]
        for row in EVIDENCE.splitlines()
        if row.startswith("| ") and not row.startswith(("| Feature", "| ---", "| **"))
    ]
    assert rows
    for feature, tests, how in rows:
        assert feature
        if how == "simulated":
            assert "test_" in tests, feature
        else:
            assert how.startswith("not run"), feature
