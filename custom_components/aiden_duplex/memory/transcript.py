"""A transcript: all of it on disk, and in memory what a new session is told."""

import asyncio
from collections import deque
from dataclasses import replace
from datetime import datetime
import logging
from typing import Any

from ..storage.contract import (
    JournalError,
    JournalProtocol,
    Record,
    RecordTooLargeError,
)
from ..storage.lines import storable
from .entries import Entry, Role

_LOGGER = logging.getLogger(__name__)

MAX_ENTRIES = 2000
"""Entries kept in memory; our choice."""
MAX_TURNS = 50
"""User turns kept in memory: five times what a session replays. Our choice."""
REPLAYED_TURNS = 10
"""User turns that a new session is told (seed)."""
CLOSE_DEADLINE_S = 3.0
"""How long closing waits for what is being appended; our choice."""
_MAX_OWED = 200
"""Records kept for a journal that cannot be written; our choice."""

type _Group = tuple[Entry, ...]
"""What was appended together; never split."""


class Transcript:
    """Entries in their order. What is appended together stays together.

    A tool's call and its result are always appended together, so every replay has
    both or neither. A *turn* is what a person said and all that followed it.
    """

    def __init__(
        self,
        journal: JournalProtocol,
        *,
        max_entries: int = MAX_ENTRIES,
        max_turns: int = MAX_TURNS,
    ) -> None:
        """Touch nothing yet."""
        self._journal = journal
        self._max_entries = max_entries
        self._max_turns = max_turns
        self._groups: deque[_Group] = deque()
        self._count = 0
        self._turns = 0
        self._owed: deque[Record] = deque(maxlen=_MAX_OWED)
        self._appending = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def load(self) -> None:
        """Read the newest entries.

        Raises:
            JournalError: The journal cannot be read.

        """
        unknown = 0
        for record in await self._journal.open():
            try:
                group = _decode(record)
                _check(group)
            except KeyError, TypeError, ValueError, AttributeError:
                unknown += 1
                continue
            self._remember(group)
        if unknown:
            _LOGGER.error("%d records of a transcript were not understood", unknown)

    async def append(self, *entries: Entry) -> None:
        """Keep entries as one; durable on return.

        Raises:
            ValueError: Nothing or an empty text; a call without its result or the
                reverse; a person's words between a call and its result.
            RecordTooLargeError: Nothing is kept.
            JournalError: Not durable. The entries are in memory all the same, and are
                written with the next append that works.

        """
        _check(entries)
        group = tuple(map(_clean, entries))
        # A caller that stops waiting must not leave memory and disk apart.
        task = asyncio.create_task(self._append(group))
        self._tasks.add(task)
        task.add_done_callback(self._appended)
        await asyncio.wait({task})
        task.result()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Return the entries in memory, the oldest first."""
        return tuple(entry for group in self._groups for entry in group)

    def replay(self, user_turns: int = REPLAYED_TURNS) -> list[Entry]:
        """Return the newest turns, as far as they are in memory, the oldest first.

        It begins with what a person said; what came before that is left out.
        """
        entries = self.entries
        starts = [
            number for number, entry in enumerate(entries) if entry.role is Role.USER
        ]
        if not starts or user_turns < 1:
            return []
        return list(entries[starts[-user_turns:][0] :])

    async def flush(self) -> None:
        """Return when all that was appended so far is on the disk, or cannot be."""
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self) -> None:
        """Let go of the journal."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=CLOSE_DEADLINE_S)
        await self._journal.close()

    async def _append(self, group: _Group) -> None:
        record = _encode(group)
        # One at a time, so that memory has the order of the disk.
        async with self._appending:
            try:
                await self._write(record)
            except RecordTooLargeError:
                raise
            except JournalError:
                self._owed.append(record)
                self._remember(group)
                raise
            self._remember(group)

    def _appended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # The caller has it, or has gone.
            task.exception()

    async def _write(self, record: Record) -> None:
        """Write a record, behind those that could not be written before."""
        if self._owed:
            await self._journal.open()
        while self._owed:
            await self._journal.append(self._owed[0])
            self._owed.popleft()
        await self._journal.append(record)

    def _remember(self, group: _Group) -> None:
        """Keep entries in memory and forget the oldest that no replay needs."""
        self._groups.append(group)
        self._count += len(group)
        self._turns += _turns(group)
        while len(self._groups) > 1 and (
            self._count > self._max_entries or self._turns > self._max_turns
        ):
            oldest = self._groups.popleft()
            self._count -= len(oldest)
            self._turns -= _turns(oldest)


def _turns(group: _Group) -> int:
    return sum(entry.role is Role.USER for entry in group)


def _check(entries: _Group) -> None:
    """Refuse what would make a replay that a model does not take."""
    if not entries:
        raise ValueError("nothing to append")
    open_calls: set[str | None] = set()
    for entry in entries:
        if not entry.text.strip():
            raise ValueError(f"an entry of role {entry.role} has no text")
        match entry.role:
            case Role.TOOL_CALL:
                if not entry.call_id or not entry.name or entry.call_id in open_calls:
                    raise ValueError("a call needs a name and an id of its own")
                open_calls.add(entry.call_id)
            case Role.TOOL_RESULT:
                if entry.call_id not in open_calls:
                    raise ValueError("a result needs its call right before it")
                open_calls.remove(entry.call_id)
            case Role.USER if open_calls:
                raise ValueError("a call and its result belong to one turn")
    if open_calls:
        raise ValueError("a call needs its result")


def _clean(entry: Entry) -> Entry:
    return replace(entry, text=storable(entry.text))


def _encode(entries: _Group) -> Record:
    return {"kind": "entries", "entries": [_encode_entry(entry) for entry in entries]}


def _encode_entry(entry: Entry) -> dict[str, Any]:
    values = {
        "role": str(entry.role),
        "text": entry.text,
        "at": entry.at.isoformat(),
        "call_id": entry.call_id,
        "name": entry.name,
        "speaker": entry.speaker,
    }
    return {name: value for name, value in values.items() if value is not None}


def _decode(record: Record) -> _Group:
    if record["kind"] != "entries":
        raise ValueError("not entries")
    return tuple(
        Entry(
            role=Role(value["role"]),
            text=value["text"],
            at=datetime.fromisoformat(value["at"]),
            call_id=value.get("call_id"),
            name=value.get("name"),
            speaker=value.get("speaker"),
        )
        for value in record["entries"]
    )
