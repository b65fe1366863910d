"""What was put into a journal, and from when on it must not be lost any more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import override

import orjson

from custom_components.aiden_duplex.storage.contract import JournalProtocol, Record

from .power_cut import PowerCutFiles

TOLD = ("delivered", "suppressed")
ENDED = ("completed", "failed", "cancelled")
WAITS = "waits"
ANSWERED = "answered"
PASSING = (WAITS, ANSWERED)
"""Facts that the work itself ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Durable:
    """From a position on, a record or a later one must be there."""

    position: int
    name: str
    index: int


@dataclass(slots=True, kw_only=True)
class Fact:
    """What somebody was told of a task, and so must be true of what is found."""

    name: str
    kind: str
    is_true: Callable[[Record], bool]
    since: int
    until: int | None = None
    """The position at which it stopped to matter."""


@dataclass(slots=True, kw_only=True)
class History:
    """The records of every task in the order in which they were put."""

    records: dict[str, list[Record]] = field(default_factory=dict)
    durable: list[Durable] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    is_faulty: bool = False
    """Not all that happened could be stored, so the last record may not be the last state."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Tasks that a compaction left out, and from when on they may be gone."""

    def until(self, position: int) -> History:
        """Return what the next process owes after a cut at a position."""
        return History(
            is_faulty=self.is_faulty,
            facts=[
                replace(fact, since=0, until=None)
                for fact in self.facts
                if fact.since <= position and (fact.until or position + 1) > position
            ],
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
        for name in self.records:
            self.end(position, name)
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

    def fact(
        self, position: int, name: str, kind: str, is_true: Callable[[Record], bool]
    ) -> None:
        """Note what somebody was told of a task."""
        self.facts.append(Fact(name=name, kind=kind, is_true=is_true, since=position))

    def end(self, position: int, name: str, *kinds: str) -> None:
        """Note that facts of a task stop to matter: the passing ones, if no others are named."""
        for fact in self.facts:
            if (
                fact.name == name
                and fact.until is None
                and fact.kind in (kinds or PASSING)
            ):
                fact.until = position

    def untrue(self, position: int, records: dict[str, Record]) -> list[str]:
        """Return what was said until a position and is not so."""
        return [
            f"{fact.kind} is not true of {records[fact.name]}"
            for fact in self.facts
            if fact.since <= position
            and (fact.until is None or position < fact.until)
            and fact.name in records
            and not fact.is_true(records[fact.name])
        ]

    def compacted(self, position: int, records: Sequence[Record]) -> None:
        """Note what a compaction leaves out: nothing that has to be told."""
        for record in records:
            if record not in self.records.get(record["id"], []):
                self.put(record)
        kept = {record["id"] for record in records}
        last = {one.name: self.records[one.name][one.index] for one in self.durable}
        for name, record in last.items():
            if name in kept or name in self.dropped:
                continue
            self.dropped[name] = position
            if not self.is_faulty:
                assert record.get("status") in ENDED, f"dropped unfinished: {record}"
                assert record.get("delivery") in TOLD, f"dropped untold: {record}"

    def required(self, position: int) -> dict[str, int]:
        """Return the least number of each task's record at a position."""
        found: dict[str, int] = {}
        for one in self.durable:
            if one.position <= position:
                found[one.name] = max(found.get(one.name, 0), one.index)
        return found

    def version(self, position: int) -> int:
        """Return how much is required at a position: equal where the same is."""
        return sum(one.position <= position for one in self.durable) + sum(
            (fact.since <= position)
            + (fact.until is not None and fact.until <= position)
            for fact in self.facts
        )


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
