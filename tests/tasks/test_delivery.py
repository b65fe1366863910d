"""Endings on their way to the foreground: told once, never lost, never told when cancelled."""

import asyncio

import pytest

from custom_components.aiden_duplex.tasks.errors import TaskNotFoundError
from custom_components.aiden_duplex.tasks.model import (
    Delivery,
    Task,
    TaskEventType,
    TaskStatus,
)

from .house import House, settle, virtual


def ids(tasks: list[Task]) -> list[str]:
    """Return ids in order."""
    return [task.id for task in tasks]


@virtual
async def test_an_ending_is_claimed_begun_and_acknowledged() -> None:
    """It is outstanding until then."""
    house = await House().open()
    manager = house.manager
    task = await house.ended()
    assert ids(manager.outstanding()) == [task.id]
    claimed = manager.claim("s1")
    assert [one.delivery for one in claimed] == [Delivery.CLAIMED]
    assert manager.claim("s2") == []
    begun = manager.begin("s1", [task.id])
    assert [one.delivery for one in begun] == [Delivery.DELIVERING]
    assert ids(manager.outstanding()) == [task.id]
    await manager.acknowledge([task.id])
    assert manager.get(task.id).delivery is Delivery.DELIVERED
    assert manager.outstanding() == []
    assert manager.claim("s3") == []
    assert ids(manager.tasks()) == [task.id]
    await house.close()


@virtual
async def test_endings_are_handed_out_in_the_order_in_which_they_happened() -> None:
    """Not in the order of creation."""
    house = await House().open()
    first = await house.waiting("first")
    second = await house.ended("second")
    third = await house.create("third")
    await house.manager.cancel(first.id)
    house.runner.last.complete()
    await settle()
    assert ids(house.manager.outstanding()) == [third.id, second.id, first.id]
    assert ids(house.manager.claim("s")) == [second.id, first.id, third.id]
    await house.close()


@virtual
async def test_looking_takes_nothing_away() -> None:
    """However often somebody looks, the ending is still to be told, once."""
    house = await House().open()
    manager = house.manager
    task = await house.ended()
    for _ in range(3):
        assert ids(manager.outstanding()) == ids(manager.tasks()) == [task.id]
        assert manager.get(task.id).delivery is Delivery.QUEUED
        assert manager.terminal_sequence == 1
        assert manager.unheard() == []
    assert ids(manager.claim("s")) == [task.id]
    assert manager.claim("s") == []
    assert manager.terminal_sequence == 1
    await house.close()


@virtual
async def test_a_session_that_ends_gives_back_what_it_did_not_tell() -> None:
    """Claimed and half delivered alike, once."""
    house = await House().open()
    manager = house.manager
    first, second = await house.ended("first"), await house.ended("second")
    manager.claim("s1")
    manager.begin("s1", [first.id])
    manager.release("s2")
    assert manager.claim("s2") == [], "another session's end changes nothing"
    manager.release("s1")
    manager.release("s1")
    assert ids(manager.claim("s2")) == [first.id, second.id]
    assert manager.begin("s1", [first.id]) == [], "the claim is another session's now"
    await manager.acknowledge([first.id])
    assert manager.get(first.id).delivery is Delivery.CLAIMED, "nothing was begun"
    await house.close()


@virtual
async def test_a_told_ending_does_not_come_back_with_the_session_s_end() -> None:
    """Also when the record is not durable yet."""
    house = await House().open()
    manager = house.manager
    task = await house.ended()
    manager.claim("s1")
    manager.begin("s1", [task.id])
    house.journal.hold()
    acknowledge = asyncio.create_task(manager.acknowledge([task.id]))
    await settle()
    manager.release("s1")
    assert manager.claim("s2") == []
    assert house.events[-1] == "completed goal", "published when durable"
    house.journal.let_go()
    await acknowledge
    assert house.published[-1].type is TaskEventType.UPDATED
    assert house.published[-1].task.delivery is Delivery.DELIVERED
    await house.close()


@virtual
async def test_cancelling_an_ended_task_lets_a_queued_ending_not_be_told() -> None:
    """The person said "never mind": the status stays, nothing is told."""
    house = await House().open()
    task = await house.ended()
    result = await house.manager.cancel(task.id)
    assert result.notification_cleared
    assert result.task.status is TaskStatus.COMPLETED
    assert house.manager.claim("s") == []
    assert house.manager.outstanding() == []
    await house.close()


@virtual
async def test_cancelling_lets_only_that_claimed_ending_not_be_told() -> None:
    """It is dropped at the last look; its sibling survives; no release revives it."""
    house = await House().open()
    manager = house.manager
    first, second = await house.ended("first"), await house.ended("second")
    manager.claim("s1")
    assert (await manager.cancel(first.id)).notification_cleared
    assert ids(manager.begin("s1", [first.id, second.id])) == [second.id]
    manager.release("s1")
    assert ids(manager.claim("s2")) == [second.id]
    assert manager.get(first.id).delivery is Delivery.SUPPRESSED
    await house.close()


@virtual
async def test_cancelling_while_it_is_told_is_too_late_but_it_is_not_told_again() -> (
    None
):
    """The point of no return: not cleared, and not restored either."""
    house = await House().open()
    manager = house.manager
    task = await house.ended()
    manager.claim("s1")
    manager.begin("s1", [task.id])
    result = await manager.cancel(task.id)
    assert (result.already_ended, result.notification_cleared) == (True, False)
    assert manager.get(task.id).delivery is Delivery.DELIVERING
    manager.release("s1")
    assert manager.claim("s2") == []
    assert manager.get(task.id).delivery is Delivery.SUPPRESSED
    await house.close()


@pytest.mark.parametrize("acknowledged", [True, False])
@virtual
async def test_a_crash_after_such_a_cancel_does_not_repeat_it(
    acknowledged: bool,
) -> None:
    """What was cancelled while being told stays quiet after a restart."""
    house = await House().open()
    task = await house.ended()
    house.manager.claim("s1")
    house.manager.begin("s1", [task.id])
    await house.manager.cancel(task.id)
    if acknowledged:
        await house.manager.acknowledge([task.id])
    house = await house.crash()
    assert house.manager.claim("s1") == []
    await house.close()


@virtual
async def test_a_result_that_a_query_returned_is_not_announced_again() -> None:
    """Read through the tool while the same result was queued, claimed or begun."""
    house = await House().open()
    manager = house.manager
    tasks = [await house.ended(goal) for goal in ("a", "b", "c")]
    await manager.mark_delivered(tasks[0].id)
    manager.claim("s1")
    await manager.mark_delivered(tasks[1].id)
    manager.begin("s1", [tasks[2].id])
    await manager.mark_delivered(tasks[2].id)
    assert manager.begin("s1", ids(tasks)) == []
    manager.release("s1")
    assert manager.claim("s2") == []
    assert {task.delivery for task in manager.tasks()} == {Delivery.DELIVERED}
    await house.close()


@virtual
async def test_reading_a_task_in_flight_delivers_nothing() -> None:
    """Its ending is still to come; a suppressed one stays suppressed."""
    house = await House().open()
    task = await house.create()
    await house.manager.mark_delivered(task.id)
    house.runner.last.complete()
    await settle()
    assert ids(house.manager.claim("s")) == [task.id]
    await house.manager.cancel(task.id)
    await house.manager.mark_delivered(task.id)
    assert house.manager.get(task.id).delivery is Delivery.SUPPRESSED
    with pytest.raises(TaskNotFoundError):
        await house.manager.mark_delivered("task_x")
    await house.close()


@virtual
async def test_delivered_is_durable_and_claimed_is_not() -> None:
    """A restart repeats what was not told, and only that."""
    house = await House().open()
    manager = house.manager
    told, begun, claimed, queued = [
        await house.ended(goal) for goal in ("told", "begun", "claimed", "queued")
    ]
    manager.claim("s1")
    manager.begin("s1", [told.id, begun.id])
    await manager.acknowledge([told.id])
    house = await house.crash()
    assert house.manager.get(told.id).delivery is Delivery.DELIVERED
    assert {task.delivery for task in house.manager.outstanding()} == {Delivery.QUEUED}
    assert ids(house.manager.claim("s1")) == ids([begun, claimed, queued])
    await house.close()


@virtual
async def test_the_number_of_endings_rises_with_each_and_with_nothing_else() -> None:
    """One batch activates at most one session, so it must not move by delivering."""
    house = await House().open()
    manager = house.manager
    assert manager.terminal_sequence == 0
    first = await house.ended("first")
    assert manager.terminal_sequence == 1
    waiting = await house.waiting("second")
    assert manager.terminal_sequence == 1
    await manager.cancel(waiting.id)
    assert manager.terminal_sequence == 2
    manager.claim("s")
    manager.begin("s", [first.id])
    await manager.acknowledge([first.id])
    manager.release("s")
    assert manager.terminal_sequence == 2
    house = await house.restart()
    assert house.manager.terminal_sequence == 2
    await house.ended("third")
    assert house.manager.terminal_sequence == 3
    await house.close()


@virtual
async def test_endings_at_the_same_moment_have_different_numbers() -> None:
    """One is being stored while another task is cancelled; both raise the number."""
    house = await House().open()
    waiting = await house.waiting("asks")
    running = await house.create("runs")
    house.journal.hold()
    house.runner.last.complete()
    await settle()
    await house.manager.cancel(waiting.id)
    assert house.manager.terminal_sequence == 1
    house.journal.let_go()
    await settle()
    assert house.manager.get(waiting.id).terminal_sequence == 1
    assert house.manager.get(running.id).terminal_sequence == 2
    assert ids(house.manager.claim("s")) == [waiting.id, running.id]
    house = await house.crash()
    assert house.manager.get(running.id).terminal_sequence == 2
    await house.close()


@virtual
async def test_telling_works_when_it_cannot_be_stored() -> None:
    """It was said; after a restart it may be said again, but not before."""
    house = await House().open()
    task = await house.ended()
    house.manager.claim("s1")
    house.manager.begin("s1", [task.id])
    house.journal.failing = "No space left on device"
    await house.manager.acknowledge([task.id])
    house.manager.release("s1")
    assert house.manager.outstanding() == []
    house.journal.failing = None
    # It is stored as soon as that works again, without anybody asking.
    await asyncio.sleep(10)
    house = await house.crash()
    assert house.manager.outstanding() == []
    await house.close()
