"""What the DX1 client tells its owner."""

from dataclasses import dataclass
from enum import StrEnum

from .dx1_messages import BoardCaps


class End(StrEnum):
    """How a request ended."""

    DONE = "done"
    """Carried out."""
    STOPPED = "stopped"
    """Broken off on request; ``Outcome.index`` steps were played."""
    REFUSED = "refused"
    """Refused by the board; it had no effect."""
    UNKNOWN = "unknown"
    """It may or may not have been carried out, in whole or in part."""
    NOT_SENT = "not_sent"
    """Nothing left this host, or the board had no session for it: no effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The end of one request."""

    end: End
    code: int = 0
    """A NACK's code when refused, a DONE's result otherwise."""
    index: int = 0
    """Steps (strokes, points) that were played."""
    data: bytes = b""
    """What came with the ACK or NACK."""


class LossReason(StrEnum):
    """Why there is no session with a board."""

    PORT = "port"
    """The port was closed or broke."""
    NO_ANSWER = "no_answer"
    """Nobody answered the greeting."""
    OTHER_BOARD = "other_board"
    """Another board than the wanted one answered; it got nothing but questions."""
    BUSY = "busy"
    """The board talks to another host."""
    WRONG_VERSION = "wrong_version"
    """The board speaks another version of the protocol."""
    SILENT = "silent"
    """The board stopped answering."""
    SESSION = "session"
    """The board forgot the session: it restarted, or this host was silent for too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """The session stands, everything on the board is released."""

    caps: BoardCaps
    usb: int
    """:class:`.dx1_messages.Usb`."""
    uptime_ms: int
    rebooted: bool
    """The board started anew since the session before this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """The session ended, or none came about."""

    reason: LossReason
    board_id: str | None = None
    """Who answered instead of the wanted board."""

    @property
    def port_useless(self) -> bool:
        """Return whether the port should be closed and opened anew."""
        return self.reason is not LossReason.SESSION


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkChanged:
    """The phone's side of the board changed."""

    usb: int
    profile: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Woken:
    """Somebody pressed, touched or called the wake line; each is told once."""

    counter: int
    source: int
    """:class:`.dx1_messages.WakeSource`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The board let go of everything by itself."""

    reason: int
    """:class:`.dx1_messages.ReleaseReason`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardLog:
    """A line of the board's own log; data, to be shown at debug only."""

    level: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A submitted request ended."""

    ticket: int
    outcome: Outcome


type Dx1Event = Ready | Lost | LinkChanged | Woken | Released | BoardLog | Finished
