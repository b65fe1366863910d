"""Requests on their way to the board, and the patience with each."""

from dataclasses import dataclass

from .dx1 import FrameType

ACK_TIMEOUT_S = 0.25
RETRIES = 3
"""Repetitions after silence; the fourth silence ends the link."""
PING_INTERVAL_S = 0.5
"""The board gives a silent host up after 1.5 s."""
HELLO_INTERVAL_S = 0.5
HELLO_DEADLINE_S = 5.0
"""A board that opening the port restarted needs seconds; one that talks to another
host gives that up 2 s after it fell silent."""
DONE_MARGIN_S = 1.0
"""How much later than planned a DONE may come: the board breaks off after 0.5 s."""
STOPPED_DONE_S = 0.7
"""After a stop: the board ends what it plays within 0.5 s."""
DONE_RETRY_S = 0.3
BUSY_WAIT_S = 0.1
DAMAGED_WAIT_S = 0.02
"""Before a repetition after "bad frame": several may arrive for one burst of noise."""
WAKE_MAX_AGE_S = 5.0
MAX_QUEUED = 8
SAFE_SEQ_DISTANCE = 12
"""The board remembers 16 answers; an older request must not be repeated."""
NO_TICKET = 0
"""Requests of the client's own: nobody waits for their end."""


@dataclass(slots=True, kw_only=True)
class Request:
    """A request on its way."""

    type: FrameType
    payload: bytes = b""
    ticket: int = NO_TICKET
    plan_s: float | None = None
    """How long the board will play it; None if an ACK ends it."""
    seq: int = 0
    sends: int = 0
    due: float = 0.0
    """When to repeat it, or to look for its DONE."""
    asks: int = 0
    """How often its missing DONE was asked for."""
    may_repeat: bool = True
