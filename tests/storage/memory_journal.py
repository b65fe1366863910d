"""A journal in memory, for tests on virtual time: it can be slow, hang or fail."""

import asyncio
from collections.abc import Sequence
from typing import override

import orjson

from custom_components.aiden_duplex.storage.contract import (
    JournalError,
    JournalProtocol,
    Record,
)


class MemoryJournal(JournalProtocol):
    """Keeps copies of records.

    Attributes:
        records: What is durable.
        failing: Set it to let every write fail with this text.
        failing_compactions: Set it to let only compactions fail, without consequences.
        delay_s: How long an append takes.
        opens: How often it was opened.
        appends: How many appends were durable.
        compactions: How many compactions were tried.
        is_open: Between open and close.

    """

    def __init__(self, records: Sequence[Record] = ()) -> None:
        """Start with what an earlier journal kept."""
        self.records = list(records)
        self.failing: str | None = None
        self.failing_compactions: str | None = None
        self.delay_s = 0.0
        self.opens = 0
        self.appends = 0
        self.compactions = 0
        self.is_open = False
        self._refusing = False
        self._gate = asyncio.Event()
        self._gate.set()

    def hold(self) -> None:
        """Let appends wait until :meth:`let_go`."""
        self._gate.clear()

    def let_go(self) -> None:
        """Let held appends go on."""
        self._gate.set()

    def crash(self) -> MemoryJournal:
        """Return the journal that the next process finds."""
        return MemoryJournal(self.records)

    @override
    async def open(self) -> list[Record]:
        """Return copies of all records."""
        self.is_open = True
        self.opens += 1
        self._refusing = False
        return [_copy(record) for record in self.records]

    @override
    async def append(self, record: Record) -> None:
        """Keep a copy, unless it fails."""
        copy = _copy(record)
        self._check()
        await self._gate.wait()
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        self._check()
        self.records.append(copy)
        self.appends += 1

    @override
    async def compact(self, records: Sequence[Record]) -> None:
        """Replace all records."""
        copies = [_copy(record) for record in records]
        self.compactions += 1
        await self._gate.wait()
        self._check()
        if self.failing_compactions is not None:
            raise JournalError(self.failing_compactions)
        self.records = copies

    @override
    async def close(self) -> None:
        """Refuse from now on."""
        self.is_open = False

    def _check(self) -> None:
        if not self.is_open:
            raise JournalError("the journal is not open")
        if self.failing is not None:
            self._refusing = True
            raise JournalError(self.failing)
        if self._refusing:
            raise JournalError("the journal refuses until it is opened again")


def _copy(record: Record) -> Record:
    copy: Record = orjson.loads(orjson.dumps(record))
    return copy
