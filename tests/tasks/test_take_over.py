"""A person takes the phone over, and the kill switch."""

import asyncio
from datetime import timedelta

import pytest

from custom_components.aiden_duplex.tasks.errors import (
    HaltedError,
    NotRunningError,
    TaskNotFoundError,
    TaskStorageError,
)
from custom_components.aiden_duplex.tasks.limits import TaskLimits
from custom_components.aiden_duplex.tasks.model import (
    Outcome,
    ReasonClass,
    Task,
    TaskStatus,
)
from custom_components.aiden_duplex.tasks.runner import RunEnd, RunResult

from .house import ORIGIN, House, settle, virtual


def question(task: Task) -> ReasonClass | None:
    """Return why a task waits."""
    return task.pending_user_action.reason if task.pending_user_action else None


@virtual
async def test_the_run_stops_and_waits_and_goes_on_with_what_was_said() -> None:
    """Cut off from the phone first; the same task goes on, told what happened."""
    house = await House().open()
    task = await house.create()
    house.runner.log.clear()
    taken = await house.manager.take_over()
    assert house.runner.log == ["revoke", "returned goal"]
    assert house.runner.last.cancelled_with == "take_over"
    assert (taken.id, taken.status) == (task.id, TaskStatus.RUNNING)
    assert question(taken) is ReasonClass.TAKE_OVER
    await house.manager.respond(task.id, "I typed the code")
    await settle()
    request = house.runner.last.request
    assert (request.task_id, request.continuation) == (task.id, "I typed the code")
    assert request.asked == "The phone was taken over, to do a part by hand."
    assert not request.recovered
    assert house.events == [
        f"{event} goal"
        for event in (
            "created", "queued", "running", "needs_you", "answered", "running",
        )
    ]  # fmt: skip
    await house.close()


@virtual
async def test_the_phone_is_kept_for_the_person() -> None:
    """The next task may run after the reservation, and the taken one still waits."""
    house = await House().open()
    first = await house.create("first")
    second = await house.create("second")
    await house.manager.take_over(first.id)
    await asyncio.sleep(house.limits.reserve_s - 1)
    assert len(house.runner.calls) == 1
    await asyncio.sleep(2)
    assert house.runner.last.request.task_id == second.id
    assert house.manager.get(first.id).is_waiting
    await house.close()


@virtual
async def test_only_what_is_in_work_can_be_taken_over() -> None:
    """Nothing, a queued, an ended, an unknown task; one that waits is returned as it is."""
    house = await House().open()
    with pytest.raises(NotRunningError, match="no task is in work"):
        await house.manager.take_over()
    running = await house.create("running")
    queued = await house.create("queued")
    with pytest.raises(NotRunningError, match=queued.id):
        await house.manager.take_over(queued.id)
    with pytest.raises(TaskNotFoundError):
        await house.manager.take_over("task_nothing")
    house.runner.last.pause()
    await settle()
    waiting = await house.manager.take_over(running.id)
    assert question(waiting) is ReasonClass.AMBIGUOUS
    await house.manager.cancel(running.id)
    with pytest.raises(NotRunningError):
        await house.manager.take_over(running.id)
    await house.close()


@virtual
async def test_a_run_that_reached_its_goal_all_the_same_has_ended() -> None:
    """What is done is done; asking for more would be a lie."""
    house = await House().open()
    house.runner.late = RunResult(
        end=RunEnd.COMPLETED, text="done", outcome=Outcome.ACHIEVED
    )
    task = await house.create()
    ended = await house.manager.take_over(task.id)
    assert (ended.status, ended.result) == (TaskStatus.COMPLETED, "done")
    house = await house.crash()
    assert house.manager.get(task.id).status is TaskStatus.COMPLETED
    await house.close()


@virtual
async def test_a_run_that_does_not_return_is_not_waited_for() -> None:
    """The answer comes after three seconds; after ten the run is fenced and waits."""
    house = await House().open()
    house.runner.cleanup_s = 3600
    task = await house.create()
    started = asyncio.get_running_loop().time()
    taken = await house.manager.take_over(task.id)
    assert asyncio.get_running_loop().time() - started == pytest.approx(3, abs=0.1)
    assert not taken.is_waiting
    await asyncio.sleep(8)
    assert question(house.manager.get(task.id)) is ReasonClass.TAKE_OVER
    assert house.runner.log[-1] == "fence"
    await house.close()


@virtual
async def test_a_cancel_wins_over_a_take_over() -> None:
    """In either order."""
    house = await House().open()
    house.runner.cleanup_s = 1
    task = await house.create()
    taking = asyncio.create_task(house.manager.take_over(task.id))
    await settle()
    await house.manager.cancel(task.id)
    await taking
    assert house.manager.get(task.id).status is TaskStatus.CANCELLED
    await house.close()


@virtual
async def test_a_crash_does_not_let_it_go_on_under_the_persons_hands() -> None:
    """It waits after the start, whatever the run was doing."""
    house = await House().open()
    house.runner.cleanup_s = 2
    task = await house.create()
    taking = asyncio.create_task(house.manager.take_over(task.id))
    await settle()
    after = await house.crash()
    await taking
    assert question(after.manager.get(task.id)) is ReasonClass.TAKE_OVER
    assert not after.runner.calls
    await after.close()


@virtual
async def test_the_kill_switch_fails_the_run_and_holds_everything() -> None:
    """Nothing starts, nothing is created, until it is turned off; restarts included."""
    house = await House().open()
    running = await house.create("running")
    queued = await house.create("queued")
    await house.manager.halt()
    await settle()
    failed = house.manager.get(running.id)
    assert (failed.status, failed.outcome) == (TaskStatus.FAILED, Outcome.UNKNOWN)
    assert failed.error == "It was stopped by the kill switch."
    with pytest.raises(HaltedError):
        await house.manager.create("another", origin=ORIGIN)
    await asyncio.sleep(600)
    assert len(house.runner.calls) == 1
    house = await house.restart()
    assert house.manager.halted
    await asyncio.sleep(60)
    assert not house.runner.calls
    await house.manager.resume()
    await settle()
    assert house.runner.last.request.task_id == queued.id
    await house.close()


@virtual
async def test_a_question_stays_open_under_the_kill_switch() -> None:
    """It can be answered; the work goes on when the switch is off."""
    house = await House().open()
    task = await house.waiting()
    await house.manager.halt()
    await house.manager.respond(task.id, "the blue one")
    await asyncio.sleep(10)
    assert len(house.runner.calls) == 1
    await house.manager.resume()
    await settle()
    assert house.runner.last.request.continuation == "the blue one"
    await house.close()


@virtual
async def test_a_crash_does_not_undo_the_kill_switch() -> None:
    """The run that it cut off has failed, although it had not returned."""
    house = await House().open()
    house.runner.cleanup_s = 2
    task = await house.create()
    await house.manager.halt()
    house = await house.crash()
    assert house.manager.halted
    assert house.manager.get(task.id).status is TaskStatus.FAILED
    await house.close()


@virtual
async def test_the_kill_switch_works_on_a_full_disk() -> None:
    """On at once; off only when that can be stored."""
    house = await House().open()
    task = await house.create()
    house.journal.failing = "the disk is full"
    await house.manager.halt()
    await settle()
    assert house.runner.last.cancelled_with == "kill_switch"
    assert house.manager.get(task.id).status is TaskStatus.FAILED
    with pytest.raises(TaskStorageError):
        await house.manager.resume()
    assert len(house.runner.calls) == 1
    house.journal.failing = None
    await house.manager.resume()
    await house.create("next")
    assert len(house.runner.calls) == 2
    await house.close()


@virtual
async def test_turning_it_on_again_wins_over_turning_it_off() -> None:
    """Also while that is on its way to the disk; after a crash, too."""
    house = await House().open()
    await house.manager.halt()
    house.journal.hold()
    off = asyncio.create_task(house.manager.resume())
    await settle()
    on = asyncio.create_task(house.manager.halt())
    await settle()
    house.journal.let_go()
    await asyncio.gather(off, on)
    assert house.manager.halted
    house = await house.crash()
    assert house.manager.halted
    await house.close()


@virtual
async def test_a_reservation_that_ends_under_the_kill_switch_is_not_waited_for() -> (
    None
):
    """The worker sleeps; it once span here."""
    house = await House().open()
    await house.waiting(reason=ReasonClass.CAPTCHA)
    await house.manager.halt()
    await asyncio.sleep(house.limits.reserve_s + 1)
    await house.manager.resume()
    await house.create("next")
    assert house.runner.last.request.goal == "next"
    await house.close()


@virtual
async def test_a_changed_set_up_does_not_use_up_the_recoveries() -> None:
    """The run goes on however often the entry is reloaded."""
    house = await House().open()
    task = await house.create()
    for _ in range(5):
        await house.manager.close(counts=False)
        journal = house.journal.crash()
        await house.close()
        house = await House(journal=journal).open()
        request = house.runner.last.request
        assert (request.task_id, request.recovered) == (task.id, True)
    await house.close()


@pytest.mark.parametrize("stop", ["take_over", "halt"])
@pytest.mark.parametrize("end", ["complete", "pause"])
def test_an_end_that_is_being_written_stays_the_last_word(stop: str, end: str) -> None:
    """Memory and disk agree, whatever is said while the end is on its way there."""

    @virtual
    async def scenario() -> None:
        house = await House().open()
        task = await house.create()
        house.journal.hold()
        getattr(house.runner.last, end)()
        await settle()
        stopping = asyncio.create_task(getattr(house.manager, stop)())
        await settle()
        house.journal.let_go()
        await stopping
        await settle()
        before = house.manager.get(task.id)
        house = await house.crash(start=False)
        after = house.manager.get(task.id)
        assert (after.status, question(after), after.outcome) == (
            before.status,
            question(before),
            before.outcome,
        )
        if end == "complete":
            assert after.outcome is Outcome.ACHIEVED
        else:
            assert question(after) is ReasonClass.AMBIGUOUS
        await house.close()

    scenario()


@virtual
async def test_the_phone_stays_reserved_over_a_restart() -> None:
    """For what is left of the time."""
    house = await House().open()
    first = await house.create("first")
    await house.create("second")
    await house.manager.take_over(first.id)
    await asyncio.sleep(20)
    house = await house.restart()
    await asyncio.sleep(house.limits.reserve_s - 22)
    assert not house.runner.calls
    await asyncio.sleep(4)
    assert house.runner.last.request.goal == "second"
    await house.close()


@virtual
async def test_whoever_takes_over_is_not_hurried_by_the_option() -> None:
    """An option of no reservation is about questions, not about one's own hands."""
    house = await House(limits=TaskLimits(reserve_s=0)).open()
    first = await house.create("first")
    await house.create("second")
    await house.manager.take_over(first.id)
    await asyncio.sleep(100)
    assert len(house.runner.calls) == 1
    await house.close()


@virtual
async def test_taking_over_what_waits_keeps_the_phone_and_names_what_is_on_it() -> None:
    """Nothing new starts; what runs already is another task, and that can be asked for."""
    house = await House().open()
    first = await house.waiting("first")
    second = await house.create("second")
    third = await house.create("third")
    await house.manager.take_over(first.id)
    assert [house.manager.on_the_phone] == [second.id]
    house.runner.last.complete()
    await settle()
    assert [house.manager.on_the_phone] == [None]
    assert house.manager.get(third.id).status is TaskStatus.QUEUED
    await house.close()


@virtual
async def test_no_wait_right_after_the_answer() -> None:
    """In the queue, or while the start is being written: it waits again, answer kept."""
    for in_the_way in (True, False):
        house = await House().open()
        task = await house.waiting("first")
        if in_the_way:
            await house.create("in the way")
        house.journal.delay_s = 1
        await house.manager.respond(task.id, "done")
        await settle()
        runs = len(house.runner.calls)
        taken = await house.manager.take_over(task.id)
        assert question(taken) is ReasonClass.TAKE_OVER
        await asyncio.sleep(10)
        assert len(house.runner.calls) == runs
        house = await house.crash(start=False)
        assert question(house.manager.get(task.id)) is ReasonClass.TAKE_OVER
        await house.close()


@virtual
async def test_what_is_just_starting_can_be_taken_over() -> None:
    """Without naming it, as a person does."""
    house = await House().open()
    house.journal.delay_s = 1
    task = await house.manager.create("goal", origin=ORIGIN)
    await settle()
    taken = await house.manager.take_over()
    assert (taken.id, question(taken)) == (task.id, ReasonClass.TAKE_OVER)
    await asyncio.sleep(10)
    assert not house.runner.calls
    await house.close()


@virtual
async def test_old_work_asks_when_the_kill_switch_is_turned_off() -> None:
    """As after a restart: what was wanted yesterday is not simply done today."""
    house = await House().open()
    await house.create("running")
    queued = await house.create("queued")
    await house.manager.halt()
    await asyncio.sleep(26 * 3600)
    await house.manager.resume()
    await settle()
    assert question(house.manager.get(queued.id)) is ReasonClass.HELD
    assert len(house.runner.calls) == 1
    await house.close()


@virtual
async def test_what_a_start_decides_is_told_when_somebody_can_hear_it() -> None:
    """A held task asks, and an automation gets the event."""
    house = await House().open()
    await house.create("old")
    house = await house.restart(away=timedelta(hours=1), start=False)
    assert house.events == []
    house.manager.start()
    assert house.events == ["needs_you old"]
    await house.close()


@virtual
async def test_a_run_knows_that_an_earlier_one_has_begun() -> None:
    """Also when nothing was cut off: what that run did is done."""
    house = await House().open()
    task = await house.waiting()
    assert not house.runner.last.request.begun
    house = await house.restart()
    await house.manager.respond(task.id, "go on")
    await settle()
    assert house.runner.last.request.begun
    await house.close()


@virtual
async def test_holding_before_the_start_lets_nothing_run() -> None:
    """A stop that came while nobody was there."""
    house = await House().open(start=False)
    task = await house.create()
    await house.manager.hold()
    house.manager.start()
    await asyncio.sleep(10)
    assert question(house.manager.get(task.id)) is ReasonClass.TAKE_OVER
    assert not house.runner.calls


@virtual
async def test_who_is_on_the_phone() -> None:
    """The run, then the task that the phone is kept for, then nobody."""
    house = await House().open()
    seen = [house.manager.on_phone]
    task = await house.create()
    await settle()
    seen.append(house.manager.on_phone)
    await house.manager.take_over(task.id)
    seen.append(house.manager.on_phone)
    await asyncio.sleep(house.limits.reserve_s)
    seen.append(house.manager.on_phone)
    assert [on_phone and on_phone.id for on_phone in seen] == [
        *(None, task.id, task.id, None)
    ]
    assert house.manager.get(task.id).is_waiting
    await house.close()
