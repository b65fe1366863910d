"""The seam between the pump and a provider's language; one file each implements it."""

from dataclasses import dataclass
from typing import Any, Protocol

from .events import Closed, RealtimeEvent
from .session import Command

type Frame = dict[str, Any]
"""One JSON object on the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What one message of the server comes to."""

    events: tuple[RealtimeEvent, ...] = ()
    replies: tuple[Frame, ...] = ()
    """Frames that the handshake demands now."""


class Dialect(Protocol):
    """Translates one session; pure, without I/O or time."""

    def opening(self) -> tuple[Frame, ...]:
        """Return the frames to send as soon as the socket is open."""
        ...

    def encode(self, command: Command) -> tuple[Frame, ...]:
        """Return the frames of a command."""
        ...

    def decode(self, data: str | bytes) -> Decoded:
        """Return what a message means; unknown messages mean nothing.

        Raises:
            ModelError: It is not in the provider's format at all.

        """
        ...

    def closed(self, code: int, reason: str) -> Closed:
        """Return what the end of the socket means."""
        ...
