"""What the board sent to the phone, for tests to look at."""

from collections import deque
from dataclasses import dataclass
from typing import Any

from simulator.phone.hid_input import Decoded

_KEPT = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One input report."""

    index: int
    """Counts from 1."""
    t_ms: float
    """Event loop's time."""
    report_id: int
    data: bytes
    decoded: Decoded

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "index": self.index,
            "t_ms": round(self.t_ms, 1),
            "report_id": self.report_id,
            "hex": self.data.hex(),
            "decoded": {
                "kind": self.decoded.kind,
                "text": self.decoded.text,
                "released": self.decoded.released,
            },
        }


class HidLog:
    """The newest reports and how many there were."""

    def __init__(self) -> None:
        """Start at none."""
        self._entries: deque[Entry] = deque(maxlen=_KEPT)
        self.count = 0

    def add(self, t_ms: float, report_id: int, data: bytes, decoded: Decoded) -> None:
        """Keep a report."""
        self.count += 1
        self._entries.append(
            Entry(
                index=self.count,
                t_ms=t_ms,
                report_id=report_id,
                data=data,
                decoded=decoded,
            )
        )

    def since(self, index: int) -> list[Entry]:
        """Return the reports after one, oldest first."""
        return [entry for entry in self._entries if entry.index > index]
