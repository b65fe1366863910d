"""What can go wrong with a model, by class."""

from enum import StrEnum


class ModelErrorKind(StrEnum):
    """Classes of failure, each with its own remedy."""

    AUTHENTICATION = "authentication"
    """The key was refused: ask for a new one, do not retry."""
    QUOTA = "quota"
    """Credits are used up: tell the person, back off for long."""
    RATE_LIMITED = "rate_limited"
    """Too many requests: retry after ``retry_after_s``."""
    MODEL_UNKNOWN = "model_unknown"
    """The server does not know the model's name."""
    BAD_REQUEST = "bad_request"
    """The server refused what was sent; the same request would fail again."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The conversation is too long for the model."""
    TIMEOUT = "timeout"
    """No answer in time."""
    NETWORK = "network"
    """The server cannot be reached or the connection broke."""
    SERVER = "server"
    """The server failed (5xx)."""
    PROTOCOL = "protocol"
    """The answer was not what the interface promises (for example HTML)."""


class ModelError(Exception):
    """A model did not do what was asked.

    Attributes:
        kind: The class of the failure.
        message: One sentence for a person or a log; never contains a key.
        retry_after_s: Seconds the server asked to wait, if it did.

    """

    def __init__(
        self, kind: ModelErrorKind, message: str, *, retry_after_s: float | None = None
    ) -> None:
        """Keep the class and the sentence."""
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after_s = retry_after_s
