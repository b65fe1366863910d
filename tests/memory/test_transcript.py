"""Transcripts: all on disk, the newest turns replayed, pairs never split."""

import asyncio
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from hypothesis import HealthCheck, given, settings, strategies as st
import pytest

from custom_components.aiden_duplex.memory.entries import Entry, Role
from custom_components.aiden_duplex.memory.transcript import Transcript
from custom_components.aiden_duplex.storage.contract import Record
from custom_components.aiden_duplex.storage.journal import (
    Journal,
    JournalError,
    RecordTooLargeError,
)
from tests.examples import examples
from tests.storage.memory_journal import MemoryJournal
from tests.virtual_time import run

AT = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)


def user(text: str) -> Entry:
    """Return what a person said."""
    return Entry(role=Role.USER, text=text, at=AT, speaker="user-1")


def said(text: str) -> Entry:
    """Return what the assistant said."""
    return Entry(role=Role.ASSISTANT, text=text, at=AT)


def notice(text: str) -> Entry:
    """Return a notice."""
    return Entry(role=Role.NOTICE, text=text, at=AT)


def pair(call_id: str) -> tuple[Entry, Entry]:
    """Return a call and its result."""
    call = Entry(
        role=Role.TOOL_CALL, text="{}", at=AT, call_id=call_id, name="get_current_time"
    )
    result = Entry(
        role=Role.TOOL_RESULT,
        text='{"time":"12:00"}',
        at=AT,
        call_id=call_id,
        name="get_current_time",
    )
    return call, result


async def opened(journal: MemoryJournal, **limits: int) -> Transcript:
    """Return a loaded transcript."""
    transcript = Transcript(journal, **limits)
    await transcript.load()
    return transcript


async def test_everything_comes_back_after_a_restart() -> None:
    """In order, with every field."""
    journal = MemoryJournal()
    transcript = await opened(journal)
    entries = [
        user("what time is it?"),
        *pair("c1"),
        said("twelve"),
        notice("a task ended"),
    ]
    await transcript.append(entries[0])
    await transcript.append(*entries[1:3])
    await transcript.append(*entries[3:])
    assert transcript.entries == tuple(entries)
    await transcript.close()
    again = await opened(journal.crash())
    assert again.entries == tuple(entries)
    await again.close()


async def test_a_call_and_its_result_are_one_record() -> None:
    """A crash keeps both or neither; the next request is always paired."""
    journal = MemoryJournal()
    transcript = await opened(journal)
    await transcript.append(*pair("c1"))
    assert len(journal.records) == 1
    await transcript.close()


@pytest.mark.parametrize(
    "entries",
    [
        (),
        (user(""),),
        (user("hello"), said(" \n")),
        pair("c1")[:1],
        pair("c1")[1:],
        tuple(reversed(pair("c1"))),
        (pair("c1")[0], pair("c2")[1]),
        (pair("c1")[0], *pair("c1")),
        (pair("c1")[0], user("wait"), pair("c1")[1]),
        (Entry(role=Role.TOOL_CALL, text="{}", at=AT, name="x"),),
    ],
    ids=[
        "nothing",
        "empty_text",
        "blank_text",
        "call_without_result",
        "result_without_call",
        "result_before_call",
        "result_of_another_call",
        "same_id_twice",
        "person_speaks_in_between",
        "call_without_id",
    ],
)
async def test_what_a_model_would_not_take_is_refused(
    entries: tuple[Entry, ...],
) -> None:
    """Nothing of it is stored."""
    journal = MemoryJournal()
    transcript = await opened(journal)
    with pytest.raises(ValueError):
        await transcript.append(*entries)
    assert (transcript.entries, journal.records) == ((), [])
    await transcript.close()


async def test_parallel_calls_belong_together() -> None:
    """Two calls, then two results in any order."""
    transcript = await opened(MemoryJournal())
    (call1, result1), (call2, result2) = pair("c1"), pair("c2")
    await transcript.append(call1, call2, result2, result1)
    assert len(transcript.entries) == 4
    await transcript.close()


async def test_a_replay_is_the_latest_turns_with_what_belongs_to_them() -> None:
    """Ten by default; it never begins with half a turn."""
    transcript = await opened(MemoryJournal())
    await transcript.append(notice("before anybody spoke"))
    await transcript.append(*pair("c0"))
    assert transcript.replay() == []
    turns = [
        [user(f"question {n}"), *pair(f"c{n}"), said(f"answer {n}")] for n in range(12)
    ]
    for turn in turns:
        await transcript.append(turn[0])
        await transcript.append(*turn[1:3])
        await transcript.append(turn[3])
    assert transcript.replay() == list(chain(*turns[2:]))
    assert transcript.replay(1) == turns[11]
    assert transcript.replay(99) == list(chain(*turns))
    assert transcript.replay(0) == []
    await transcript.close()


async def test_memory_has_a_bound_and_the_disk_has_all() -> None:
    """By entries and by turns; what was appended together goes together."""
    journal = MemoryJournal()
    transcript = await opened(journal, max_entries=10, max_turns=4)
    for n in range(6):
        await transcript.append(user(f"question {n}"))
        await transcript.append(*pair(f"c{n}"))
    texts = [entry.text for entry in transcript.entries if entry.role is Role.USER]
    assert texts == ["question 3", "question 4", "question 5"]
    assert len(transcript.entries) <= 10
    for n in range(6):
        await transcript.append(user(f"more {n}"))
    assert [entry.text for entry in transcript.replay()] == [
        f"more {n}" for n in range(2, 6)
    ]
    await transcript.close()
    assert len(journal.records) == 18
    again = await opened(journal.crash(), max_entries=10, max_turns=4)
    assert again.entries == transcript.entries
    await again.close()


async def test_a_record_that_is_not_understood_costs_only_itself() -> None:
    """Also an unpaired call, whoever wrote it."""
    journal = MemoryJournal()
    transcript = await opened(journal)
    await transcript.append(user("one"))
    await transcript.append(*pair("c1"))
    await transcript.append(user("two"))
    await transcript.close()
    records = journal.records
    records[1]["entries"].pop()
    damaged: list[Record] = [
        {},
        {"kind": "other"},
        {"kind": "entries", "entries": [3]},
        *records,
    ]
    again = await opened(MemoryJournal(damaged))
    assert [entry.text for entry in again.entries] == ["one", "two"]
    await again.close()


async def test_a_full_disk_does_not_make_the_conversation_forget() -> None:
    """It is an error, yet the turn is in memory, and is written later in its place."""
    journal = MemoryJournal()
    transcript = await opened(journal)
    await transcript.append(user("one"))
    journal.failing = "No space left on device"
    with pytest.raises(JournalError, match="No space"):
        await transcript.append(said("two"))
    with pytest.raises(JournalError, match="No space"):
        await transcript.append(user("three"))
    assert [entry.text for entry in transcript.replay()] == ["one", "two", "three"]
    journal.failing = None
    await transcript.append(said("four"))
    await transcript.close()
    again = await opened(journal.crash())
    assert [entry.text for entry in again.entries] == ["one", "two", "three", "four"]
    await again.close()


def test_what_is_owed_is_written_once_however_many_append_at_once() -> None:
    """On a slow disk that has just recovered."""

    async def scenario() -> None:
        journal = MemoryJournal()
        transcript = await opened(journal)
        journal.failing = "No space left on device"
        with pytest.raises(JournalError):
            await transcript.append(user("one"))
        journal.failing = None
        journal.delay_s = 1
        await asyncio.gather(
            *(transcript.append(said(text)) for text in ("two", "three", "four"))
        )
        expected = ["one", "two", "three", "four"]
        assert [entry.text for entry in transcript.entries] == expected
        stored = [record["entries"][0]["text"] for record in journal.records]
        assert stored == expected
        await transcript.close()

    run(scenario())


async def test_a_caller_who_is_cancelled_leaves_memory_and_disk_alike() -> None:
    """The person interrupts while the turn is being stored."""
    journal = MemoryJournal()
    transcript = await opened(journal)
    journal.hold()
    append = asyncio.create_task(transcript.append(user("one")))
    other = asyncio.create_task(transcript.append(said("two")))
    await asyncio.sleep(0)
    append.cancel()
    with pytest.raises(asyncio.CancelledError):
        await append
    journal.let_go()
    await other
    assert [entry.text for entry in transcript.entries] == ["one", "two"]
    await transcript.close()
    again = await opened(journal.crash())
    assert again.entries == transcript.entries
    await again.close()


def test_closing_does_not_wait_for_a_hanging_disk() -> None:
    """Three seconds."""

    async def scenario() -> float:
        journal = MemoryJournal()
        transcript = await opened(journal)
        journal.hold()
        append = asyncio.create_task(transcript.append(user("one")))
        await asyncio.sleep(0)
        before = asyncio.get_running_loop().time()
        await transcript.close()
        passed = asyncio.get_running_loop().time() - before
        journal.let_go()
        with pytest.raises(JournalError):
            await append
        return passed

    assert run(scenario()) == pytest.approx(3)


async def test_half_a_surrogate_pair_is_stored_as_it_is_remembered() -> None:
    """Models write such texts."""
    journal = MemoryJournal()
    transcript = await opened(journal)
    await transcript.append(said("ok \ud83d"))
    assert transcript.entries[0].text == "ok ?"
    await transcript.close()
    again = await opened(journal.crash())
    assert again.entries == transcript.entries
    await again.close()


async def test_an_entry_that_is_too_large_is_refused_alone(tmp_path: Path) -> None:
    """On a real disk; what comes next is kept."""
    path = tmp_path / "sessions" / "user.journal"
    transcript = Transcript(Journal(path, max_record_bytes=500))
    await transcript.load()
    with pytest.raises(RecordTooLargeError):
        await transcript.append(said("x" * 500))
    await transcript.append(user("short"))
    await transcript.close()
    again = Transcript(Journal(path))
    await again.load()
    assert [entry.text for entry in again.entries] == ["short"]
    await again.close()


GROUPS = st.lists(
    st.sampled_from(["user", "said", "notice", "pair", "user+pair", "pair+said"]),
    max_size=40,
)


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(GROUPS, st.integers(1, 12), st.integers(3, 12), st.integers(1, 6))
def test_whatever_was_said_a_replay_is_paired_and_begins_with_a_person(
    kinds: list[str], turns: int, max_entries: int, max_turns: int
) -> None:
    """Before and after a restart alike; a suffix of what was said."""

    async def scenario() -> None:
        journal = MemoryJournal()
        transcript = await opened(journal, max_entries=max_entries, max_turns=max_turns)
        all_entries: list[Entry] = []
        for number, kind in enumerate(kinds):
            group: list[Entry] = []
            for part in kind.split("+"):
                match part:
                    case "user":
                        group.append(user(f"u{number}"))
                    case "said":
                        group.append(said(f"a{number}"))
                    case "notice":
                        group.append(notice(f"n{number}"))
                    case _:
                        group.extend(pair(f"c{number}"))
            await transcript.append(*group)
            all_entries.extend(group)
        replay = transcript.replay(turns)
        spoken = [entry for entry in replay if entry.role is Role.USER]
        assert all_entries[len(all_entries) - len(replay) :] == replay
        assert replay[:1] == spoken[:1]
        assert len(spoken) <= min(turns, max_turns)
        assert len(transcript.entries) <= max_entries
        calls = [entry.call_id for entry in replay if entry.role is Role.TOOL_CALL]
        results = [entry.call_id for entry in replay if entry.role is Role.TOOL_RESULT]
        assert calls == results
        await transcript.close()
        again = await opened(
            journal.crash(), max_entries=max_entries, max_turns=max_turns
        )
        assert again.replay(turns) == replay
        await again.close()

    run(scenario())
