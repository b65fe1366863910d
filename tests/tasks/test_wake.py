"""One signal per batch of endings, apart from the events; a start alone never speaks."""

import asyncio
from datetime import timedelta

from custom_components.aiden_duplex.tasks.limits import TaskLimits
from custom_components.aiden_duplex.tasks.runner import RunEnd, RunResult

from .house import House, settle, virtual


def listen(house: House) -> list[tuple[float, int]]:
    """Keep when which batch was told of."""
    heard: list[tuple[float, int]] = []
    loop = asyncio.get_running_loop()
    house.manager.subscribe_wake(
        lambda sequence: heard.append((round(loop.time() - 1000, 1), sequence))
    )
    return heard


@virtual
async def test_endings_close_together_are_one_batch() -> None:
    """Each one begins the half second anew; the signal comes after the last."""
    house = await House().open()
    heard = listen(house)
    for number in range(3):
        await house.create(f"goal {number}")
    for _ in range(3):
        house.runner.last.complete()
        await asyncio.sleep(0.4)
    assert heard == []
    await asyncio.sleep(1)
    assert [sequence for _, sequence in heard] == [3]
    await house.close()


@virtual
async def test_endings_without_a_pause_do_not_put_it_off_for_ever() -> None:
    """After ten seconds it is said all the same."""
    house = await House().open()
    heard = listen(house)
    begun = asyncio.get_running_loop().time() - 1000
    for number in range(40):
        await house.ended(f"goal {number}")
        await asyncio.sleep(0.3)
    assert heard
    assert heard[0][0] - begun <= 10.1
    await house.close()


@virtual
async def test_a_batch_opens_one_session() -> None:
    """A session that could not tell it is no reason for another; a new ending is."""
    house = await House().open()
    heard = listen(house)
    await house.ended("one")
    await asyncio.sleep(1)
    [(_, sequence)] = heard
    house.manager.activated(sequence)
    claimed = house.manager.claim("s1")
    house.manager.release("s1")
    await asyncio.sleep(60)
    assert len(heard) == 1
    assert [task.prompt for task in claimed] == ["one"]
    await house.ended("two")
    await asyncio.sleep(1)
    assert [number for _, number in heard] == [1, 2]
    assert [task.prompt for task in house.manager.claim("s2")] == ["one", "two"]
    await house.close()


@virtual
async def test_what_was_told_meanwhile_makes_no_batch() -> None:
    """Read, suppressed, or told in a session that was open already."""
    house = await House().open()
    heard = listen(house)
    read = await house.ended("read")
    await house.manager.mark_delivered(read.id)
    suppressed = await house.ended("suppressed")
    await house.manager.cancel(suppressed.id)
    await house.ended("told")
    told = house.manager.claim("s1")
    house.manager.begin("s1", [task.id for task in told])
    await house.manager.acknowledge([task.id for task in told])
    await asyncio.sleep(5)
    assert heard == []
    await house.close()


@virtual
async def test_a_start_alone_never_speaks() -> None:
    """Neither what waited to be told, nor what the start itself ended."""
    house = await House(limits=TaskLimits(recoveries=0)).open()
    await house.ended("before")
    await house.create("cut off")
    house = await house.crash()
    heard = listen(house)
    await asyncio.sleep(60)
    assert house.manager.terminal_sequence == 2
    assert heard == []
    assert len(house.manager.claim("s1")) == 2
    await house.close()


@virtual
async def test_numbers_are_not_given_again() -> None:
    """Although the endings that had them are forgotten."""
    house = await House(limits=TaskLimits(remembered=1)).open()
    for number in range(3):
        task = await house.ended(f"goal {number}")
        await house.manager.mark_delivered(task.id)
    house = await house.restart(away=timedelta(minutes=1))
    assert house.manager.terminal_sequence == 3
    await settle()
    ended = await house.ended("later")
    assert ended.terminal_sequence == 4
    await house.close()


@virtual
async def test_what_ends_while_closing_is_not_waited_for() -> None:
    """No timer outlives the tasks."""
    house = await House().open()
    heard = listen(house)
    house.runner.late = RunResult(end=RunEnd.COMPLETED, text="done")
    task = await house.create("one")
    await house.manager.close()
    assert house.manager.get(task.id).status.is_terminal
    await asyncio.sleep(5)
    assert heard == []
    await house.close()
