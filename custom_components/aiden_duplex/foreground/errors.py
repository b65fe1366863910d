"""What a caller of the foreground may meet."""

from enum import StrEnum


class Guard(StrEnum):
    """What keeps the next text from being taken."""

    CONNECTING = "connecting"
    """The session is being opened."""
    RESPONSE = "response"
    """An answer is being given."""
    TOOLS = "tools"
    """An answer waits for the tools it called."""
    CANCELLING = "cancelling"
    """An answer was given up, and the provider has not confirmed it yet."""
    CLOSING = "closing"
    """The foreground is being shut down."""


class ForegroundBusyError(Exception):
    """A text came while an earlier one is still being answered.

    Attributes:
        guard: What stands in the way.

    """

    def __init__(self, guard: Guard) -> None:
        """Keep the guard."""
        super().__init__(f"the conversation is busy: {guard}")
        self.guard = guard
