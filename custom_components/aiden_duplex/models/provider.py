"""What a provider says beside its answers, made fit for a person and for a timer. No I/O."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
import re

DETAIL_LENGTH = 200
"""Characters of a provider's words that a message keeps; our choice."""
_SECRET_LIKE = re.compile(r"\b(?:sk|pk|key|gsk|xai|AIza)[-_A-Za-z0-9*.]{8,}|Bearer \S+")


def retry_after_s(value: str | None, *, now: datetime | None = None) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for; None if it says nothing."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
        except ValueError:
            return None
        if at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        seconds = (at - (now or datetime.now(UTC))).total_seconds()
    # A NaN fails this comparison too.
    return max(seconds, 0.0) if seconds < 1e9 else None


def redact(text: str, secret: str | None) -> str:
    """Return one short line without the secret and without what looks like one."""
    if secret:
        text = text.replace(secret, "***")
    line = " ".join(_SECRET_LIKE.sub("***", text).split())
    return line if len(line) <= DETAIL_LENGTH else line[: DETAIL_LENGTH - 1] + "…"
