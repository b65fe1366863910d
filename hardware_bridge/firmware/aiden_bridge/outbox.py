"""What the board sends: answers at once, events when a host is there."""

from . import dx1, frames, timing

MAX_EVENTS = 16
LOGS_PER_S = 2
MAX_LOG = 100


class Outbox:
    """Frames out, one ``write`` each."""

    def __init__(self, uart) -> None:
        """Start with nothing to say."""
        self._uart = uart
        self._seq = 0
        self._events: list[tuple[int, bytes]] = []
        self._logs = timing.RateLimit(LOGS_PER_S)

    def open(self) -> None:
        """End whatever the other side took for the beginning of a frame."""
        self._uart.write(b"\x00")

    def ack(self, seq: int, payload: bytes) -> None:
        """Answer yes: ``payload`` is the status and the data."""
        self.send(dx1.ACK, 0, seq, payload)

    def nack(self, seq: int, code: int, detail: bytes = b"") -> None:
        """Answer no."""
        self.send(dx1.NACK, 0, seq, bytes((code,)) + detail)

    def send(self, kind: int, flags: int, seq: int, payload: bytes) -> None:
        """Send a frame now."""
        self._uart.write(frames.encode(kind, flags, seq, payload))

    def next_seq(self) -> int:
        """Give the next seq of the board's own: 1 to 65535, then 1."""
        self._seq = self._seq % 65535 + 1
        return self._seq

    def event(self, kind: int, payload: bytes) -> None:
        """Keep an event for the host; the oldest of 16 gives way. One LINK is enough."""
        if kind == dx1.LINK:
            self.drop(dx1.LINK)
        self._events.append((kind, payload))
        if len(self._events) > MAX_EVENTS:
            self._events.pop(0)

    def log(self, level: int, text: str, now: int) -> None:
        """Keep a line for the host's log, at most two a second. Never what was typed."""
        if self._logs.take(now):
            self.event(dx1.LOG, bytes((level,)) + text.encode()[:MAX_LOG])

    def drop(self, kind: int) -> None:
        """Forget the events of a kind that were not sent."""
        self._events = [event for event in self._events if event[0] != kind]

    def flush(self) -> None:
        """Send what was kept."""
        events, self._events = self._events, []
        for kind, payload in events:
            self.send(kind, 0, self.next_seq(), payload)
