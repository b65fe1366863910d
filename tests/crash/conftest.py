"""Prints how much was tried."""

import pytest

COUNTS = pytest.StashKey[list[str]]()


@pytest.fixture
def counts(request: pytest.FixtureRequest) -> list[str]:
    """Return the lines that are printed at the end."""
    return request.config.stash.setdefault(COUNTS, [])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the counts."""
    for line in config.stash.get(COUNTS, []):
        terminalreporter.write_line(line)
