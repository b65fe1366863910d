"""What a new session is told of the past."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, strategies as st
import pytest

from custom_components.aiden_duplex.foreground.replay import (
    MAX_CHARACTERS,
    MAX_ITEM_CHARACTERS,
    MAX_ITEMS,
    replay_items,
)
from custom_components.aiden_duplex.memory.entries import Entry, Role
from custom_components.aiden_duplex.models.realtime.session import (
    AssistantText,
    CallWithOutput,
    UserText,
)

_NOW = datetime(2026, 11, 2, tzinfo=UTC)


def _entry(role: Role, text: str = "x", **more: Any) -> Entry:
    return Entry(role=role, text=text, at=_NOW, **more)


def _call(call_id: str, arguments: str = "{}", name: str = "get_x") -> Entry:
    return _entry(Role.TOOL_CALL, arguments, call_id=call_id, name=name)


def _result(call_id: str, output: str = "{}") -> Entry:
    return _entry(Role.TOOL_RESULT, output, call_id=call_id, name="get_x")


def test_servers_that_count_their_calls_get_ids_of_their_own() -> None:
    """The same call id twice in the history: two pairs, two ids, each with its own output."""
    items = replay_items(
        [_call("c1"), _result("c1", "1"), _call("c1"), _result("c1", "2")]
    )
    pairs = [item for item in items if isinstance(item, CallWithOutput)]
    assert [(pair.call.call_id, pair.output) for pair in pairs] == [
        ("replay_1", "1"),
        ("replay_2", "2"),
    ]


@pytest.mark.parametrize(
    "entries",
    [
        [_call("a")],
        [_result("a")],
        [_call("a"), _entry(Role.USER), _result("a")],
        [_call("a"), _result("b")],
    ],
)
def test_half_a_pair_is_left_out(entries: list[Entry]) -> None:
    """[105] Never a call without its result."""
    items = replay_items(entries)
    assert not [item for item in items if isinstance(item, CallWithOutput)]


@pytest.mark.parametrize("arguments", ["{", "[]", "no", '"x"', "null"])
def test_broken_arguments_are_replayed_as_none(arguments: str) -> None:
    """Some servers parse what is replayed."""
    (pair,) = replay_items([_call("a", arguments), _result("a")])
    assert isinstance(pair, CallWithOutput)
    assert pair.call.arguments == "{}"


def test_the_past_is_bounded_and_the_newest_kept() -> None:
    """[114] 200 items, 4,000 characters each, 40,000 together."""
    many = [_entry(Role.USER, f"u{number}") for number in range(MAX_ITEMS + 50)]
    items = replay_items(many)
    assert len(items) == MAX_ITEMS
    assert items[-1] == UserText(text=f"u{MAX_ITEMS + 49}")
    long = [_entry(Role.ASSISTANT, "y" * 9000) for _ in range(20)]
    items = replay_items(long)
    assert all(isinstance(item, AssistantText) for item in items)
    assert len(items) == MAX_CHARACTERS // MAX_ITEM_CHARACTERS


_ENTRIES = st.lists(
    st.builds(
        _entry,
        st.sampled_from(Role),
        st.text(min_size=1, max_size=20),
        call_id=st.sampled_from([None, "a", "b"]),
        name=st.sampled_from([None, "get_x", "end_conversation"]),
    ),
    max_size=30,
)


@given(_ENTRIES)
def test_whatever_the_history_holds_ids_are_unique_and_nothing_is_empty(
    entries: list[Entry],
) -> None:
    """Balanced, unique, and without the call that ended a conversation."""
    items = replay_items(entries)
    pairs = [item for item in items if isinstance(item, CallWithOutput)]
    ids = [pair.call.call_id for pair in pairs]
    assert len(set(ids)) == len(ids)
    assert all(pair.call.name == "get_x" for pair in pairs)
    assert len(items) <= len(entries)
