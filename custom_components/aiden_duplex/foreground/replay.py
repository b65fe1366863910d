"""The transcript as quiet context of a new session."""

from collections.abc import Iterator, Sequence
import itertools
import json
from typing import TypeIs

from ..memory.entries import Entry, Role
from ..models.realtime.session import (
    AssistantText,
    CallWithOutput,
    ReplayItem,
    UserText,
)
from ..models.tools import ToolCall

MAX_ITEMS = 200
MAX_ITEM_CHARACTERS = 4_000
MAX_CHARACTERS = 40_000
"""Together; a session that replays for ever never begins (public reports)."""

LEFT_OUT = frozenset({"end_conversation"})
"""A goodbye that is replayed makes the model say goodbye again, for ever (public reports)."""


def replay_items(entries: Sequence[Entry]) -> tuple[ReplayItem, ...]:
    """Return what a new session is told of the past, newest kept, oldest first.

    A call goes with its result or not at all. Call ids are new: servers that count
    from one would otherwise meet theirs again.
    """
    items = list(_items(entries))
    kept: list[ReplayItem] = []
    characters = 0
    for item in reversed(items):
        characters += _size(item)
        if len(kept) == MAX_ITEMS or characters > MAX_CHARACTERS:
            break
        kept.append(item)
    return tuple(reversed(kept))


def _items(entries: Sequence[Entry]) -> Iterator[ReplayItem]:
    numbers = itertools.count(1)
    for entry, following in zip(entries, [*entries[1:], None], strict=False):
        match entry.role:
            case Role.USER | Role.NOTICE:
                yield UserText(text=_cut(entry.text))
            case Role.ASSISTANT:
                yield AssistantText(text=_cut(entry.text))
            case Role.TOOL_CALL if _is_result(following, entry):
                yield _pair(entry, following, next(numbers))


def _is_result(entry: Entry | None, call: Entry) -> TypeIs[Entry]:
    return (
        entry is not None
        and entry.role is Role.TOOL_RESULT
        and entry.call_id == call.call_id
        and bool(call.name)
        and call.name not in LEFT_OUT
    )


def _pair(call: Entry, result: Entry, number: int) -> CallWithOutput:
    return CallWithOutput(
        call=ToolCall(
            call_id=f"replay_{number}",
            name=call.name or "",
            arguments=_arguments(call.text),
        ),
        output=_cut(result.text),
    )


def _arguments(raw: str) -> str:
    """Return a JSON object: some servers parse what is replayed."""
    if len(raw) > MAX_ITEM_CHARACTERS:
        return "{}"
    try:
        return raw if isinstance(json.loads(raw), dict) else "{}"
    except ValueError:
        return "{}"


def _cut(text: str) -> str:
    if len(text) <= MAX_ITEM_CHARACTERS:
        return text
    return f"{text[: MAX_ITEM_CHARACTERS - 1]}…"


def _size(item: ReplayItem) -> int:
    match item:
        case UserText() | AssistantText():
            return len(item.text)
        case CallWithOutput():
            return len(item.call.arguments) + len(item.output)
