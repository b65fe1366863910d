"""What a brain is asked and what it answers, whatever protocol carries it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import json
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a tool; in history with its id, in a fresh reply without."""

    name: str
    arguments: Mapping[str, Any]
    call_id: str = ""

    def as_json(self) -> str:
        """Return the arguments as a model writes them."""
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of the conversation."""

    role: str
    """``system``, ``user``, ``assistant`` or ``tool``."""
    text: str = ""
    images: tuple[bytes, ...] = ()
    """Encoded pictures (JPEG or PNG)."""
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    """For ``tool``: the call that this answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that may be called."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """JSON schema of the arguments."""

    @property
    def properties(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the schema of each argument."""
        properties: Mapping[str, Mapping[str, Any]] = self.parameters.get(
            "properties", {}
        )
        return properties


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Everything a brain is sent at one time."""

    messages: Sequence[Message]
    tools: Mapping[str, Tool] = field(default_factory=dict)
    tool_choice: str = "auto"
    """``auto``, ``none``, ``required`` or the name of the only tool allowed."""

    @property
    def usable(self) -> Mapping[str, Tool]:
        """Return the tools that the choice leaves."""
        if self.tool_choice == "none":
            return {}
        if self.tool_choice in self.tools:
            return {self.tool_choice: self.tools[self.tool_choice]}
        return self.tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a brain says and calls."""

    text: str = ""
    calls: tuple[Call, ...] = ()


class Brain(Protocol):
    """Something that answers."""

    async def reply(self, question: Question) -> Reply:
        """Return the next thing to say or call.

        Raises:
            BrainError: It cannot work at all (for example: nothing can read a picture).

        """


class BrainError(Exception):
    """The brain cannot work; the server answers with a server error."""
