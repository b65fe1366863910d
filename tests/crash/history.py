"""What was put into a journal, and from when on it must not be lost any more."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import override

import orjson

from custom_components.aiden_duplex.storage.contract import JournalProtocol, Record

from .power_cut import PowerCutFiles

TOLD = ("delivered", "suppressed")
ENDED = ("completed", "failed", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Durable:
    """From a position on, a record or a later one must be there."""

    position: int
    name: str
    index: int


@dataclass(slots=True, kw_only=True)
class History:
    """The records of every task in the order in which they were put."""

    records: dict[str, list[Record]] = field(default_factory=dict)
    durable: list[Durable] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)
    """Tasks that a compaction left out, and from when on they may be gone."""

    def until(self, position: int) -> History:
        """Return what the next process owes after a cut at a position."""
        return History(
            records={name: list(records) for name, records in self.records.items()},
            durable=[
                Durable(position=0, name=one.name, index=one.index)
                for one in self.durable
                if one.position <= position
            ],
            dropped={
                name: 0 for name, since in self.dropped.items() if since <= position
            },
        )

    def put(self, record: Record) -> int:
        """Note a record on its way to the disk; returns its number."""
        copy: Record = orjson.loads(orjson.dumps(record))
        records = self.records.setdefault(copy["id"], [])
        records.append(copy)
        return len(records) - 1

    def found(self, position: int, records: Sequence[Record]) -> None:
        """Note what a process has read: from then on it acts on it."""
        for record in {record["id"]: record for record in records}.values():
            known = self.records.get(record["id"], [])
            index = max(
                (number for number, one in enumerate(known) if one == record),
                default=None,
            )
            assert index is not None, f"nobody wrote this: {record}"
            self.keep(position, record["id"], index)

    def keep(self, position: int, name: str, index: int) -> None:
        """Note that a record is durable."""
        self.durable.append(Durable(position=position, name=name, index=index))

    def compacted(self, position: int, records: Sequence[Record]) -> None:
        """Note what a compaction leaves out: nothing that has to be told."""
        for record in records:
            if record not in self.records.get(record["id"], []):
                self.put(record)
        kept = {record["id"] for record in records}
        last = {one.name: self.records[one.name][one.index] for one in self.durable}
        for name, record in last.items():
            if name not in kept and name not in self.dropped:
                assert record.get("status") in ENDED, f"dropped unfinished: {record}"
                assert record.get("delivery") in TOLD, f"dropped untold: {record}"
                self.dropped[name] = position

    def required(self, position: int) -> dict[str, int]:
        """Return the least number of each task's record at a position."""
        found: dict[str, int] = {}
        for one in self.durable:
            if one.position <= position:
                found[one.name] = max(found.get(one.name, 0), one.index)
        return found

    def version(self, position: int) -> int:
        """Return how much is required at a position: equal where the same is."""
        return sum(one.position <= position for one in self.durable)


class Busy:
    """Counts calls that a thread works on."""

    def __init__(self) -> None:
        """Start idle."""
        self.calls = 0

    def __call__(self) -> bool:
        """Return whether the loop has to wait for a thread."""
        return self.calls > 0

    def __enter__(self) -> None:
        """Begin a call."""
        self.calls += 1

    def __exit__(self, *_: object) -> None:
        """End a call."""
        self.calls -= 1


class Threaded(JournalProtocol):
    """A journal that says when the loop has to wait for its thread."""

    def __init__(self, journal: JournalProtocol, busy: Busy) -> None:
        """Count the calls of a journal."""
        self._journal = journal
        self._busy = busy

    @override
    async def open(self) -> list[Record]:
        """Open."""
        with self._busy:
            return await self._journal.open()

    @override
    async def append(self, record: Record) -> None:
        """Append."""
        with self._busy:
            await self._journal.append(record)

    @override
    async def compact(self, records: Sequence[Record]) -> None:
        """Compact."""
        with self._busy:
            await self._journal.compact(records)

    @override
    async def close(self) -> None:
        """Close."""
        with self._busy:
            await self._journal.close()


class Witness(JournalProtocol):
    """A journal that writes down what it acknowledged, and when."""

    def __init__(
        self, journal: JournalProtocol, files: PowerCutFiles, history: History
    ) -> None:
        """Watch a journal on these files."""
        self._journal = journal
        self._files = files
        self._history = history

    @override
    async def open(self) -> list[Record]:
        """Note what is found."""
        records = await self._journal.open()
        self._history.found(self._files.position, records)
        return records

    @override
    async def append(self, record: Record) -> None:
        """Note the record before it is written and after it is durable."""
        index = self._history.put(record)
        await self._journal.append(record)
        self._history.keep(self._files.position, record["id"], index)

    @override
    async def compact(self, records: Sequence[Record]) -> None:
        """Note what is left out."""
        self._history.compacted(self._files.position, records)
        await self._journal.compact(records)

    @override
    async def close(self) -> None:
        """Close."""
        await self._journal.close()
