"""What a transcript is made of."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Role(StrEnum):
    """Who or what an entry of a transcript comes from."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    NOTICE = "notice"
    """An event of the runtime, such as a task's end; never said by the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a transcript. A call and its result are appended together."""

    role: Role
    text: str
    """What was said; a call's raw arguments; a result's JSON; a notice's text. Never empty."""
    at: datetime
    call_id: str | None = None
    name: str | None = None
    """The tool of a call or a result."""
    speaker: str | None = None
    """Home Assistant's user id of the person, for USER."""
