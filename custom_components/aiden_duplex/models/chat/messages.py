"""What is said to a chat model and what it answers, in no provider's words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from ..errors import ModelError, ModelErrorKind
from ..tools import ToolCall, ToolSpec

type ToolChoice = Literal["auto", "required", "none"]


class ChatRole(StrEnum):
    """Who a message is from."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class FinishReason(StrEnum):
    """Why the model stopped writing."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a conversation with a model."""

    role: ChatRole
    text: str = ""
    images: tuple[bytes, ...] = ()
    """JPEG files; on USER messages only, since most servers take them nowhere else."""
    tool_calls: tuple[ToolCall, ...] = ()
    """On ASSISTANT messages: each needs exactly one TOOL message before the next other one."""
    tool_call_id: str | None = None
    """On TOOL messages: the call that this is the result of."""
    echo: Mapping[str, Any] = field(default_factory=dict)
    """On ASSISTANT messages: the reply's ``echo``, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a reply cost, as the server counted it; 0 when it did not say."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """A model's answer. Both ``text`` and ``tool_calls`` may be empty."""

    text: str
    """What the model said, without its thinking."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Their ids are unique in the conversation that was sent."""
    finish_reason: FinishReason = FinishReason.STOP
    usage: Usage = field(default_factory=Usage)
    echo: Mapping[str, Any] = field(default_factory=dict)
    """Fields that the server wants back with this message (signed or plain thinking); opaque."""


class UnusableReplyError(ModelError):
    """The model answered, but nothing can be done with it; asking again may help."""

    def __init__(self, message: str) -> None:
        """Keep the sentence."""
        super().__init__(ModelErrorKind.PROTOCOL, message)


class ChatModel(Protocol):
    """A model that looks at pictures and calls tools."""

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
    ) -> ChatReply:
        """Return the model's next message.

        Raises:
            UnusableReplyError: The reply was cut off or is no message.
            ModelError: Everything else that can go wrong, by kind.

        """
        ...
