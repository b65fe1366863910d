"""The ledger by itself: what is in a journal that is written anew."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import override

from custom_components.aiden_duplex.storage.contract import Record
from custom_components.aiden_duplex.tasks.ledger import Ledger
from custom_components.aiden_duplex.tasks.limits import TaskLimits
from tests.storage.memory_journal import MemoryJournal
from tests.virtual_time import run

LIMITS = replace(TaskLimits(), compact_from=2, compact_factor=1)


class CompactedJournal(MemoryJournal):
    """Keeps what it was compacted to."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self.compacted: list[list[Record]] = []

    @override
    async def compact(self, records: Sequence[Record]) -> None:
        """Replace the records and remember by what."""
        self.compacted.append(list(records))
        await super().compact(records)


async def _opened(journal: MemoryJournal) -> Ledger:
    """Return a ledger that compacts at the third record."""
    ledger = Ledger(journal, LIMITS)
    ledger.adopt(await ledger.open())
    return ledger


def test_what_was_forgotten_on_its_way_to_the_disk_stays_forgotten() -> None:
    """A slow disk: the task is pruned before its last record is durable."""

    async def main() -> None:
        journal = MemoryJournal()
        ledger = await _opened(journal)
        journal.hold()
        writing = ledger.put({"id": "old", "n": 1}, owed=False)
        await asyncio.sleep(0)
        waiting = ledger.put({"id": "old", "n": 2}, owed=False)
        ledger.forget("old")
        journal.let_go()
        assert await writing
        assert await waiting
        assert await ledger.put({"id": "new", "n": 3}, owed=False)
        await ledger.close(5)
        assert journal.compactions == 1
        assert journal.records == [{"id": "new", "n": 3}]

    run(main())


def test_a_forgotten_task_stays_until_its_last_record_is_durable() -> None:
    """A crash right after a compaction must not find it gone before it is told."""

    async def main() -> None:
        journal = CompactedJournal()
        ledger = await _opened(journal)
        untold = {"id": "old", "told": False}
        other = {"id": "other", "n": 2}
        assert await ledger.put(untold, owed=False)
        assert await ledger.put({"id": "other", "n": 1}, owed=False)
        journal.hold()
        ledger.put(other, owed=False)
        await asyncio.sleep(0)
        told = ledger.put({"id": "old", "told": True}, owed=False)
        ledger.forget("old")
        journal.let_go()
        assert await told
        await ledger.close(5)
        assert journal.compacted == [[untold, other], [other]]

    run(main())


def test_what_was_forgotten_is_not_owed_to_a_broken_disk() -> None:
    """It failed after the task was pruned: healing does not bring it back."""

    async def main() -> None:
        journal = MemoryJournal()
        ledger = await _opened(journal)
        journal.hold()
        put = ledger.put({"id": "old", "n": 1}, owed=True)
        await asyncio.sleep(0)
        ledger.forget("old")
        journal.failing = "disk full"
        journal.let_go()
        assert not await put
        journal.failing = None
        assert await ledger.put({"id": "new", "n": 2}, owed=False)
        await ledger.close(5)
        assert journal.records == [{"id": "new", "n": 2}]

    run(main())


def test_a_task_that_is_put_again_is_known_again() -> None:
    """Only what was on its way is forgotten."""

    async def main() -> None:
        journal = MemoryJournal()
        ledger = await _opened(journal)
        first = ledger.put({"id": "a", "n": 1}, owed=False)
        ledger.forget("a")
        again = ledger.put({"id": "a", "n": 2}, owed=False)
        last = ledger.put({"id": "a", "n": 3}, owed=False)
        assert await first
        assert await again
        assert await last
        await ledger.close(5)
        assert journal.compactions == 1
        assert journal.records == [{"id": "a", "n": 3}]

    run(main())


def test_a_journal_written_anew_knows_as_much_as_the_disk_did() -> None:
    """A task is told and pruned while the last word of it still waits for the disk."""

    async def main() -> None:
        journal = MemoryJournal()
        ledger = await _opened(journal)
        assert await ledger.put({"id": "old", "told": False}, owed=False)
        assert await ledger.put({"id": "new", "n": 1}, owed=False)
        journal.hold()
        filler = ledger.put({"id": "new", "n": 2}, owed=False)
        await asyncio.sleep(0)
        told = ledger.put({"id": "old", "told": True}, owed=True)
        ledger.forget("old")
        written: list[list[object]] = []
        compact = journal.compact

        async def seen(records: Sequence[Record]) -> None:
            written.append([record["id"] for record in records])
            await compact(records)

        journal.compact = seen  # type: ignore[method-assign]
        journal.let_go()
        assert await filler
        assert await told
        await ledger.close(5)
        assert written == [["old", "new"], ["new"]]

    run(main())
