"""When the journal cannot be written, and that it does not grow without end."""

import asyncio

import pytest

from custom_components.aiden_duplex.tasks.errors import (
    TaskNotFoundError,
    TaskStorageError,
)
from custom_components.aiden_duplex.tasks.limits import TaskLimits
from custom_components.aiden_duplex.tasks.model import Delivery, Outcome, TaskStatus

from .house import ORIGIN, House, settle, virtual

FULL = "No space left on device"


async def told(house: House, *task_ids: str) -> None:
    """Deliver endings."""
    house.manager.claim("s")
    house.manager.begin("s", task_ids)
    await house.manager.acknowledge(task_ids)


@virtual
async def test_what_cannot_be_stored_is_not_created() -> None:
    """A clear error, no task, no run; and it works again when there is room."""
    house = await House().open()
    house.journal.failing = FULL
    with pytest.raises(TaskStorageError, match=FULL):
        await house.manager.create("goal", origin=ORIGIN)
    assert house.manager.tasks() == []
    assert house.published == []
    house.journal.failing = None
    task = await house.create("goal")
    assert house.manager.get(task.id).status is TaskStatus.RUNNING
    house = await house.crash()
    assert [one.id for one in house.manager.tasks()] == [task.id]
    await house.close()


@virtual
async def test_a_run_s_end_is_told_even_if_it_cannot_be_stored() -> None:
    """It happened; it is stored later."""
    house = await House().open()
    task = await house.create()
    house.journal.failing = FULL
    house.runner.last.complete("it is on")
    await settle()
    assert house.manager.get(task.id).result == "it is on"
    assert house.events[-1] == "completed goal"
    house.journal.failing = None
    await asyncio.sleep(10)
    house = await house.crash()
    assert house.manager.get(task.id).result == "it is on"
    await house.close()


@virtual
async def test_what_is_owed_is_stored_at_the_stop() -> None:
    """The last chance."""
    house = await House().open()
    task = await house.create()
    house.journal.failing = FULL
    house.runner.last.complete("it is on")
    await settle()
    house.journal.failing = None
    house = await house.restart()
    assert house.manager.get(task.id).result == "it is on"
    await house.close()


@virtual
async def test_attempts_to_store_what_is_owed_become_rare() -> None:
    """From five seconds to five minutes: a dead disk is not asked all the time."""
    house = await House().open()
    await house.create()
    house.journal.failing = FULL
    house.runner.last.complete()
    await asyncio.sleep(3600)
    assert 10 <= house.journal.opens <= 20
    await house.close()


@virtual
async def test_a_task_whose_start_cannot_be_stored_does_not_run() -> None:
    """After a crash it would run a second time; it fails with the reason instead."""
    house = await House().open(start=False)
    task = await house.create()
    house.journal.failing = FULL
    house.manager.start()
    await asyncio.sleep(5)
    assert house.manager.get(task.id).status is TaskStatus.QUEUED
    await asyncio.sleep(15)
    failed = house.manager.get(task.id)
    assert failed.status is TaskStatus.FAILED
    assert failed.error is not None
    assert FULL in failed.error
    assert failed.outcome is Outcome.NOT_ACHIEVED
    assert house.runner.calls == []
    await house.close()


@virtual
async def test_a_start_is_tried_again_when_the_disk_recovers() -> None:
    """A short hiccup costs a second."""
    house = await House().open(start=False)
    await house.create()
    house.journal.failing = FULL
    house.manager.start()
    await settle()
    house.journal.failing = None
    await asyncio.sleep(1.1)
    assert len(house.runner.calls) == 1
    await house.close()


@virtual
async def test_a_task_that_cannot_start_can_be_cancelled() -> None:
    """And the worker does not wait any longer for it."""
    house = await House().open(start=False)
    task = await house.create()
    other = await house.create("other")
    house.journal.failing = FULL
    house.manager.start()
    await asyncio.sleep(4)
    await house.manager.cancel(task.id)
    await settle()
    house.journal.failing = None
    await asyncio.sleep(1.1)
    assert house.runner.last.request.task_id == other.id
    await house.close()


@virtual
async def test_the_newest_200_endings_are_remembered() -> None:
    """Older ones that were told are forgotten, in memory and on disk."""
    house = await House(limits=TaskLimits(remembered=5)).open()
    tasks = [await house.ended(f"goal {number}") for number in range(8)]
    assert len(house.manager.tasks()) == 8, "none was told yet"
    await told(house, *[task.id for task in tasks[:2]])
    assert len(house.manager.tasks()) == 6
    await told(house, *[task.id for task in tasks])
    remembered = [task.id for task in reversed(house.manager.tasks())]
    assert remembered == [task.id for task in tasks[3:]]
    with pytest.raises(TaskNotFoundError):
        house.manager.get(tasks[0].id)
    house = await house.crash()
    assert len(house.manager.tasks()) == 5
    await house.ended("one more")
    assert house.manager.terminal_sequence == 9
    await house.close()


@virtual
async def test_endings_that_nobody_hears_have_a_bound_too() -> None:
    """A house that only uses actions: the oldest untold results go."""
    limits = TaskLimits(remembered=2, undelivered=4)
    house = await House(limits=limits).open()
    for number in range(6):
        await house.ended(f"goal {number}")
    assert [task.prompt for task in house.manager.outstanding()] == [
        f"goal {number}" for number in (5, 4, 3, 2)
    ]
    await house.close()


@virtual
async def test_the_journal_is_compacted_and_loses_nothing() -> None:
    """When it is four times as long as needed, and not before it is long."""
    limits = TaskLimits(compact_from=40, remembered=3)
    house = await House(limits=limits).open()
    waiting = await house.waiting("asks")
    for number in range(30):
        task = await house.ended(f"goal {number}")
        await told(house, task.id)
        assert len(house.journal.records) <= 41
    assert house.journal.compactions >= 2
    before = house.manager.tasks()
    house = await house.crash()
    assert house.manager.tasks() == before
    assert house.manager.get(waiting.id).is_waiting
    await house.close()


@virtual
async def test_a_compaction_that_fails_stops_nothing() -> None:
    """It is tried again much later."""
    limits = TaskLimits(compact_from=10, remembered=1)
    house = await House(limits=limits).open()
    house.journal.failing_compactions = FULL
    for number in range(10):
        task = await house.ended(f"goal {number}")
        await told(house, task.id)
    assert len(house.journal.records) == 40
    assert 1 <= house.journal.compactions <= 4
    house = await house.crash()
    assert house.manager.tasks()[0].delivery is Delivery.DELIVERED
    await house.close()
