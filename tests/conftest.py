"""Settings of all tests; prints how much some of them tried."""

from hypothesis import settings
import pytest

from tests.examples import examples

# For script/soak. By its name: where CI is set, the usual profile knows no chance.
settings.register_profile(
    "soak", max_examples=examples(100), deadline=None, derandomize=False
)

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
