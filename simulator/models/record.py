"""What the model servers were sent, for tests to look at."""

from collections import deque
import hashlib
import itertools
from typing import Any

_LONG = 4000
"""Texts beyond this many characters are shortened in the record."""


class Record:
    """A bounded list of requests or frames, without keys, pictures or sound."""

    def __init__(self, limit: int) -> None:
        """Keep at most ``limit`` entries, newest last."""
        self._entries: deque[dict[str, Any]] = deque(maxlen=limit)
        self._numbers = itertools.count(1)

    def add(self, **entry: Any) -> None:
        """Add an entry; data URLs and base64 sound become a length and a hash."""
        self._entries.append({"number": next(self._numbers), **_shortened(entry)})

    def clear(self) -> None:
        """Forget everything; numbers go on."""
        self._entries.clear()

    def entries(self) -> list[dict[str, Any]]:
        """Return the entries, oldest first."""
        return list(self._entries)


def _shortened(value: Any, key: str = "") -> Any:
    match value:
        case dict():
            return {name: _shortened(item, name) for name, item in value.items()}
        case list():
            return [_shortened(item, key) for item in value]
        case str() if value.startswith("data:"):
            return f"{value.partition(',')[0]},<{_digest(value)}>"
        case str() if key in ("audio", "delta") and len(value) > 200:
            return f"<{_digest(value)}>"
        case str() if len(value) > _LONG:
            return f"{value[:_LONG]}... <{_digest(value)}>"
        case _:
            return value


def _digest(text: str) -> str:
    return f"{len(text)} characters, sha256 {hashlib.sha256(text.encode()).hexdigest()[:16]}"
