"""What a provider says beside its answers."""

from datetime import UTC, datetime

import pytest

from custom_components.aiden_duplex.models.provider import redact, retry_after_s

NOW = datetime(2026, 10, 1, 12, 0, 0, tzinfo=UTC)


def test_long_and_broken_texts_become_one_short_line() -> None:
    """The message fits into a log and a form."""
    line = redact("a\n\n  b" + "x" * 1000, None)
    assert line.startswith("a b")
    assert len(line) == 200


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Thu, 01 Oct 2026 12:00:20 GMT", 20.0),
        ("Thu, 01 Oct 2026 12:00:20 -0000", 20.0),
        ("Thu, 01 Oct 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("", None),
        (None, None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_retry_after(value: str | None, expected: float | None) -> None:
    """Seconds and dates; what is neither says nothing."""
    assert retry_after_s(value, now=NOW) == expected
