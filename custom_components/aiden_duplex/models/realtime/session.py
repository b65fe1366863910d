"""The seam to a realtime model: commands in, events out."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
import re
from typing import Protocol

from ..tools import ToolCall, ToolSpec
from .events import RealtimeEvent

LABEL_LENGTH = 32
"""Characters of a notice's label at most (seed 2)."""


class Modality(StrEnum):
    """What a session's answers are made of."""

    TEXT = "text"
    AUDIO = "audio"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConfig:
    """What a session begins with."""

    instructions: str
    tools: tuple[ToolSpec, ...] = ()
    modality: Modality = Modality.TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something the runtime says to the model. It reaches the model as user content."""

    label: str
    """Brought to ``[A-Z0-9 _-]{1,32}``; ``SYSTEM`` when nothing of it is left (seed 2)."""
    text: str

    @property
    def content(self) -> str:
        """Return ``[LABEL]: text``."""
        label = re.sub(r"[^A-Z0-9 _-]", "", self.label.upper())[:LABEL_LENGTH].strip()
        return f"[{label or 'SYSTEM'}]: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserText:
    """A replayed message that stands as user content."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantText:
    """A replayed message of the model."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWithOutput:
    """A replayed tool call together with its output; never one without the other."""

    call: ToolCall
    output: str


type ReplayItem = UserText | AssistantText | CallWithOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class AddText:
    """Add what the person wrote; asks for no response."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddNotice:
    """Add a notice; asks for no response."""

    id: str
    notice: Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class AddToolOutput:
    """Answer one call; asks for no response."""

    id: str
    call_id: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Add earlier conversation as quiet context; asks for no response."""

    id: str
    items: tuple[ReplayItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateResponse:
    """Ask for a response. It is started, or refused, or the session ends."""

    id: str
    use_tools: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelResponse:
    """End the active response; acknowledged by ``ResponseDone`` or ``NothingToCancel``."""

    id: str
    response_id: str | None = None
    """None for whichever is active."""


type Command = (
    AddText | AddNotice | AddToolOutput | Replay | CreateResponse | CancelResponse
)


class RealtimeSession(Protocol):
    """A configured session with a realtime model.

    A command's ``id`` is unique within the session; errors name it.
    """

    def events(self) -> AsyncIterator[RealtimeEvent]:
        """Return the events, once; the last one is always ``Closed``."""
        ...

    async def send(self, command: Command) -> None:
        """Hand over a command; it may wait for room.

        Raises:
            ModelError: The session is gone or does not take data in time.

        """
        ...

    async def close(self) -> None:
        """End the session and wait until nothing of it is left. May be called again."""
        ...
