"""Several hosts on the board's one receiving line, a frame at a time.

Frames end in a zero byte. What one host sends is passed on as it comes; another waits
until that frame has ended, so that two hosts do not garble each other. Which of them the
board listens to is the firmware's business.
"""

from dataclasses import dataclass, field

STALE_S = 1.0
"""A host that stopped in the middle of a frame holds the line no longer than this."""
OWNER_S = 2.0
"""A host that was heard this recently is the one that events go to."""
_MOST = 8192


@dataclass(slots=True)
class Sharing[T]:
    """Who speaks, who waits, and to whom events go. Pure; seconds are passed in."""

    owner: T | None = None
    _owner_at: float = 0.0
    _speaking: T | None = None
    _spoke_at: float = 0.0
    _waiting: dict[T, bytearray] = field(default_factory=dict)

    def feed(self, host: T, data: bytes, now: float) -> list[tuple[T, bytes]]:
        """Take in what a host sent; return what goes to the board, in this order."""
        if self.owner is None or self.owner == host or now - self._owner_at >= OWNER_S:
            self.owner, self._owner_at = host, now
        out: list[tuple[T, bytes]] = []
        if self._speaking not in (None, host) and now - self._spoke_at >= STALE_S:
            out += self._cut()
        buffer = self._waiting.setdefault(host, bytearray())
        buffer += data[: _MOST - len(buffer)]
        return out + self._pass_on(now)

    def gone(self, host: T, now: float) -> list[tuple[T, bytes]]:
        """Forget a host; a frame that it began is ended, and others get their turn."""
        out = self._cut() if self._speaking == host else []
        self._waiting.pop(host, None)
        if self.owner == host:
            self.owner = None
        return out + self._pass_on(now)

    def _cut(self) -> list[tuple[T, bytes]]:
        """End the frame of the host that speaks."""
        assert self._speaking is not None
        host, self._speaking = self._speaking, None
        return [(host, b"\x00")]

    def _pass_on(self, now: float) -> list[tuple[T, bytes]]:
        """Let the speaker go on, or whoever waits begin."""
        out: list[tuple[T, bytes]] = []
        while True:
            host = self._speaking
            if host is None:
                host = next((h for h, b in self._waiting.items() if b), None)
            if host is None or not self._waiting.get(host):
                return out
            data = bytes(self._waiting.pop(host))
            out.append((host, data))
            self._spoke_at = now
            self._speaking = None if data.endswith(b"\x00") else host
