"""The audit trail: in order, bounded, without secrets, and over a failing disk."""

import asyncio
from datetime import timedelta
from typing import Any

from custom_components.aiden_duplex.tasks.audit import TEXT_CHARS, AuditTrail
from custom_components.aiden_duplex.tasks.model import (
    ConsentRequest,
    Decision,
    ReasonClass,
)
from tests.storage.memory_journal import MemoryJournal

from .house import ASSENT, ORIGIN, START, House, settle, virtual


async def opened(journal: MemoryJournal, house: House, **limits: int) -> AuditTrail:
    """Return a trail of a house."""
    trail = AuditTrail(journal, now=house.now, **limits)
    await trail.load()
    house.manager.subscribe(trail.note_task)
    return trail


def numbers(journal: MemoryJournal) -> list[Any]:
    """Return the numbers of the records on the disk."""
    return [record["number"] for record in journal.records]


@virtual
async def test_a_task_s_life_can_be_read_afterwards() -> None:
    """Who asked for what, what it needed, how it ended; no answer and no result."""
    journal = MemoryJournal()
    house = await House().open()
    trail = await opened(journal, house)
    task = await house.waiting("open the bank", ReasonClass.AUTHENTICATION)
    await house.manager.respond(task.id, "hunter2")
    await settle()
    house.runner.last.complete("your balance is 12")
    await settle()
    await trail.close()
    await house.close()
    again = await opened(MemoryJournal(journal.records), house)
    records, more = again.records(task_id=task.id, limit=100)
    assert not more
    assert [(record["kind"], record["event"]) for record in records] == [
        ("task", event)
        for event in (
            *("created", "queued", "running", "needs_you"),
            *("answered", "running", "completed"),
        )
    ]
    assert records[0]["goal"] == "open the bank"
    assert records[0]["user_id"] == ORIGIN.user_id
    assert records[3]["reason"] == "authentication"
    assert records[-1]["outcome"] == "achieved"
    assert "hunter2" not in str(journal.records)
    assert "balance" not in str(journal.records)
    await again.close()


@virtual
async def test_consents_are_in_the_trail() -> None:
    """Asked, given by whom and how, used, refused; not what would be typed."""
    house = House()
    trail = AuditTrail(MemoryJournal(), now=house.now)
    await trail.load()
    house.tell = trail.note_consent
    await house.open()
    screen = "0123456789abcdef"
    request = ConsentRequest(act='type_text {"text": "hunter2"}', screen=screen)
    task = await house.asking(request)
    await house.manager.respond(task.id, "yes", assent=ASSENT)
    await settle()
    assert await house.runner.last.request.spend(request.act, screen)
    house.runner.last.pause(ReasonClass.SENSITIVE_OPERATION, request)
    await settle()
    await house.manager.respond(task.id, "no", decision=Decision.REFUSED)
    records, _ = trail.records(task_id=task.id, limit=100)
    assert [(record["kind"], record["state"]) for record in records] == [
        ("consent", state) for state in ("asked", "given", "used", "asked", "refused")
    ]
    assert {record["act"] for record in records} == {"type_text"}
    assert {record["screen"] for record in records} == {"0123456789ab"}
    questions = [record["question"] for record in records]
    assert len(set(questions[:3])) == len(set(questions[3:])) == 1
    assert questions[0] != questions[3]
    given = records[1]
    assert (given["user_id"], given["how"]) == (ORIGIN.user_id, "action")
    assert "user_id" not in records[0]
    assert "hunter2" not in str(records)
    await trail.close()
    await house.close()


@virtual
async def test_the_newest_that_fit_are_returned() -> None:
    """By task, by time, at most so many, the oldest first."""
    house = House()
    trail = await opened(MemoryJournal(), house)
    for number in range(6):
        trail.note("act", task=f"task_{number % 2}", number=number)
        await asyncio.sleep(60)

    def found(**query: Any) -> list[int]:
        records, _ = trail.records(**({"limit": 100} | query))
        return [record["number"] for record in records]

    assert found(task_id="task_1") == [1, 3, 5]
    assert found(since=START + timedelta(seconds=61)) == [2, 3, 4, 5]
    assert found(until=START + timedelta(seconds=61)) == [0, 1]
    assert trail.records(limit=2)[1]
    assert found(limit=2) == [4, 5]
    await trail.close()


@virtual
async def test_texts_are_cut_and_records_bounded() -> None:
    """The oldest go, in memory at once and on the disk now and then."""
    journal = MemoryJournal()
    trail = await opened(journal, House(), kept=10, extra=5)
    trail.note("request", number=0, action="x" * 1000)
    assert len(trail.records(limit=1)[0][0]["action"]) == TEXT_CHARS + 1
    for number in range(1, 40):
        trail.note("act", number=number)
        await trail.flush()
        assert len(journal.records) <= 15
    assert numbers(journal)[-10:] == list(range(30, 40))
    assert len(trail.records(limit=100)[0]) == 10
    await trail.close()


@virtual
async def test_nothing_is_cut_off_while_a_backup_is_made() -> None:
    """It only grows for that time, which has an end of its own."""
    journal = MemoryJournal()
    trail = await opened(journal, House(), kept=2, extra=2)
    trail.pause_compaction(60)
    for number in range(9):
        trail.note("act", number=number)
        await trail.flush()
    assert numbers(journal) == list(range(9))
    await asyncio.sleep(61)
    trail.note("act", number=9)
    await trail.flush()
    assert numbers(journal) == [8, 9]
    await trail.close()


@virtual
async def test_a_disk_that_fails_costs_no_record() -> None:
    """They are written when it heals; a dead disk is not asked all the time."""
    journal = MemoryJournal()
    trail = await opened(journal, House())
    trail.note("act", number=0)
    await trail.flush()
    journal.failing = "No space left on device"
    for number in range(1, 50):
        trail.note("act", number=number)
        await trail.flush()
    assert journal.opens == 1
    journal.failing = None
    await asyncio.sleep(61)
    trail.note("act", number=50)
    await trail.flush()
    assert numbers(journal) == list(range(51))
    journal.failing = "No space left on device"
    trail.note("act", number=51)
    await trail.flush()
    journal.failing = None
    await trail.close()
    assert numbers(journal) == list(range(52))
    assert not journal.is_open


@virtual
async def test_many_at_once_are_written_in_order() -> None:
    """More than a journal lets wait."""
    journal = MemoryJournal()
    trail = await opened(journal, House())
    for number in range(1200):
        trail.note("act", number=number)
    await trail.flush()
    assert numbers(journal) == list(range(1200))
    await trail.close()
    trail.note("act", number=1200)
    assert len(trail.records(limit=5000)[0]) == 1200
