"""What a realtime model reports, the same for every provider."""

from dataclasses import dataclass
from enum import StrEnum

from ..errors import ModelError, ModelErrorKind
from ..tools import ToolCall


class ResponseStatus(StrEnum):
    """How a response came to its end."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    INCOMPLETE = "incomplete"
    """Cut off by a limit or a filter; see the reason."""
    FAILED = "failed"


class TextSource(StrEnum):
    """Where a text of the model comes from."""

    TEXT = "text"
    """Written."""
    AUDIO = "audio"
    """The transcript of what it speaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one response."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """The part of the input that was cached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong, in the provider's words."""

    kind: ModelErrorKind
    message: str
    """A sentence for a person or a log; without a key."""
    code: str | None = None
    """The provider's code, for logs."""

    def as_error(self) -> ModelError:
        """Return it as an exception."""
        return ModelError(self.kind, self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """The provider took the configuration; items may be sent now."""

    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseStarted:
    """A response began: the one that was requested, or one of the provider's own."""

    response_id: str | None
    request_id: str | None = None
    """The ``CreateResponse.id`` it answers, when the provider says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """The next piece of the model's text."""

    response_id: str | None
    item_id: str | None
    text: str
    source: TextSource = TextSource.TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFinal:
    """The complete text of one part of the model's answer."""

    response_id: str | None
    item_id: str | None
    text: str
    source: TextSource = TextSource.TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallReady:
    """A call with complete arguments; it may run only once its response is completed."""

    response_id: str | None
    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseDone:
    """A response ended. Everything that belongs to it was reported before."""

    response_id: str | None
    status: ResponseStatus
    reason: str | None = None
    """The provider's reason for an end that is not ``completed``."""
    failure: Failure | None = None
    """Set when the status is ``failed`` or ``incomplete``."""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRefused:
    """A request for a response was refused because another response is active.

    No ``ResponseStarted`` or ``ResponseDone`` follows for it.
    """

    request_id: str | None
    """None when the provider does not say which request it refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingToCancel:
    """A cancellation found no active response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionError:
    """The provider refused a command or reported trouble; the session goes on."""

    failure: Failure
    command_id: str | None = None
    """The ``id`` of the command it is about, when the provider says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The session is gone; always the last event."""

    code: int
    """WebSocket's close code; 1006 when the connection broke without one."""
    reason: str
    expired: bool = False
    """The provider's own limit on a session's length was met: not a failure."""
    failure: Failure | None = None
    """None when we closed it, or it expired."""


type RealtimeEvent = (
    Ready
    | ResponseStarted
    | TextDelta
    | TextFinal
    | ToolCallReady
    | ResponseDone
    | ResponseRefused
    | NothingToCancel
    | SessionError
    | Closed
)
