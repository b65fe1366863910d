"""Stopping: at once, always, and it wins over everything that comes late."""

import asyncio
import logging

import pytest

from custom_components.aiden_duplex.tasks.errors import TaskNotFoundError
from custom_components.aiden_duplex.tasks.model import (
    Delivery,
    Outcome,
    ReasonClass,
    TaskStatus,
)
from custom_components.aiden_duplex.tasks.runner import RunEnd, RunResult

from .house import House, settle, virtual


@virtual
async def test_a_waiting_task_is_cancelled_at_once_and_never_runs() -> None:
    """Queued cancellation is immediate."""
    house = await House().open()
    await house.create("running")
    task = await house.create("queued")
    result = await house.manager.cancel(task.id)
    assert result.task.status is TaskStatus.CANCELLED
    assert result.task.outcome is Outcome.NOT_ACHIEVED
    assert (result.already_ended, result.notification_cleared) == (False, False)
    assert result.task.delivery is Delivery.QUEUED
    house.runner.last.complete()
    await settle()
    assert house.runner.log == ["run running", "returned running"]
    await house.close()


@virtual
async def test_a_running_task_is_cancelling_until_its_run_returned() -> None:
    """The phone is cut off first, in the same moment."""
    house = await House().open()
    house.runner.cleanup_s = 3
    task = await house.create()
    result = await house.manager.cancel(task.id)
    assert result.task.status is TaskStatus.CANCELLING
    assert not result.already_ended
    assert house.runner.log == ["run goal", "revoke"]
    await asyncio.sleep(2.9)
    assert house.manager.get(task.id).status is TaskStatus.CANCELLING
    assert house.manager.current == house.manager.get(task.id)
    again = await house.manager.cancel(task.id)
    assert (again.task.status, again.already_ended) == (TaskStatus.CANCELLING, False)
    await asyncio.sleep(0.2)
    ended = house.manager.get(task.id)
    assert (ended.status, ended.outcome) == (TaskStatus.CANCELLED, Outcome.UNKNOWN)
    assert ended.error is None
    assert house.runner.last.cancelled_with == "canceled"
    assert house.events == [
        f"{event} goal"
        for event in ("created", "queued", "running", "cancelling", "cancelled")
    ]
    await house.close()


@virtual
async def test_the_phone_is_cut_off_before_anybody_is_told() -> None:
    """Revoking comes before publishing and before the disk."""
    house = House()
    log_at_event: list[str] = []
    house.manager.subscribe(
        lambda event: log_at_event.extend(
            house.runner.log if event.task.status is TaskStatus.CANCELLING else []
        )
    )
    await house.open()
    task = await house.create()
    house.journal.hold()
    cancel = asyncio.create_task(house.manager.cancel(task.id))
    await settle()
    assert log_at_event == ["run goal", "revoke"]
    house.journal.let_go()
    await cancel
    await house.close()


@pytest.mark.parametrize(
    "late",
    [
        RunResult(end=RunEnd.COMPLETED, text="I did it", outcome=Outcome.ACHIEVED),
        RunResult(end=RunEnd.FAILED, text="stopped"),
        RunResult(end=RunEnd.PAUSED),
    ],
    ids=lambda late: str(late.end),
)
@virtual
async def test_a_cancel_wins_over_any_late_result(late: RunResult) -> None:
    """The model wrote a graceful final text after the stop."""
    house = await House().open()
    house.runner.late = late
    house.runner.cleanup_s = 1
    task = await house.create()
    await house.manager.cancel(task.id)
    await asyncio.sleep(2)
    ended = house.manager.get(task.id)
    assert (ended.status, ended.result) == (TaskStatus.CANCELLED, None)
    assert ended.pending_user_action is None
    assert house.events[-2:] == ["cancelling goal", "cancelled goal"]
    await house.close()


def test_what_a_run_says_after_its_end_is_dropped_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Success and steps while cancelling and after it: no event, no change, one line each."""

    @virtual
    async def scenario() -> None:
        house = await House().open()
        house.runner.cleanup_s = 1
        house.runner.late = RunResult(end=RunEnd.COMPLETED, text="I did it")
        task = await house.create()
        await house.manager.cancel(task.id)
        call = house.runner.last
        call.on_step("going on")
        assert house.manager.get(task.id).step is None
        await asyncio.sleep(2)
        ended = house.manager.get(task.id)
        published = len(house.published)
        call.on_step("still going on")
        await settle()
        assert house.manager.get(task.id) == ended
        assert len(house.published) == published
        assert not [event for event in house.published if event.is_step]
        await house.close()

    caplog.set_level(logging.DEBUG)
    scenario()
    dropped = [one for one in caplog.messages if "dropped" in one]
    assert dropped == [
        "A step came after the end of its run and is dropped",
        "A result came after the cancel and is dropped",
        "A step came after the end of its run and is dropped",
    ]


@virtual
async def test_a_cancel_while_the_result_is_being_stored_still_wins() -> None:
    """Nobody has been told of the result yet; a restart finds the cancel, too."""
    house = await House().open()
    task = await house.create()
    house.journal.hold()
    house.runner.last.complete()
    await settle()
    assert house.manager.get(task.id).status is TaskStatus.RUNNING
    await house.manager.cancel(task.id)
    house.journal.let_go()
    await settle()
    assert house.manager.get(task.id).status is TaskStatus.CANCELLED
    assert "completed goal" not in house.events
    house = await house.crash()
    assert house.manager.get(task.id).status is TaskStatus.CANCELLED
    await house.close()


@virtual
async def test_a_cancel_while_the_start_is_being_stored_prevents_the_run() -> None:
    """The runner never sees the task."""
    house = await House().open()
    house.journal.delay_s = 0.5
    task = await house.create()
    await asyncio.sleep(0.2)
    assert house.manager.get(task.id).status is TaskStatus.QUEUED
    result = await house.manager.cancel(task.id)
    assert result.task.status is TaskStatus.CANCELLED
    await asyncio.sleep(5)
    assert house.runner.calls == []
    assert house.events == ["created goal", "queued goal", "cancelled goal"]
    await house.close()


@virtual
async def test_a_runner_that_hangs_is_fenced_after_ten_seconds() -> None:
    """The next task starts; what the old one still returns is dropped."""
    house = await House().open()
    house.runner.cleanup_s = 60
    house.runner.late = RunResult(end=RunEnd.COMPLETED, text="at last")
    task = await house.create("stuck")
    await house.create("next")
    house.runner.cleanup_s = 0
    await house.manager.cancel(task.id)
    await asyncio.sleep(9.9)
    assert house.manager.get(task.id).status is TaskStatus.CANCELLING
    await asyncio.sleep(0.2)
    ended = house.manager.get(task.id)
    assert (ended.status, ended.error) == (TaskStatus.CANCELLED, "runner_stuck")
    assert house.runner.log == ["run stuck", "revoke", "fence", "run next"]
    house.runner.calls[0].on_step("still tapping")
    await asyncio.sleep(60)
    assert "returned stuck" in house.runner.log
    assert house.manager.get(task.id) == ended
    assert [event for event in house.events if "stuck" in event][
        -1
    ] == "cancelled stuck"
    house.runner.last.complete()
    await settle()
    await house.close()


@virtual
async def test_cancelling_an_ended_task_keeps_its_status() -> None:
    """It lost, and says so."""
    house = await House().open()
    task = await house.ended()
    result = await house.manager.cancel(task.id)
    assert result.already_ended
    assert result.notification_cleared
    assert result.task.status is TaskStatus.COMPLETED
    assert result.task.delivery is Delivery.SUPPRESSED
    again = await house.manager.cancel(task.id)
    assert (again.already_ended, again.notification_cleared) == (True, False)
    await house.close()


@virtual
async def test_a_task_that_waits_for_a_person_is_cancelled_with_its_question() -> None:
    """No question about work that has ended, neither now nor in the journal."""
    house = await House().open()
    task = await house.waiting(reason=ReasonClass.CAPTCHA)
    result = await house.manager.cancel(task.id)
    assert result.task.status is TaskStatus.CANCELLED
    assert result.task.pending_user_action is None
    assert house.runner.log == ["run goal", "returned goal"]
    assert "pending_user_action" not in house.journal.records[-1]
    assert [one.pending_user_action for one in house.manager.claim("s")] == [None]
    house = await house.crash()
    assert house.manager.get(task.id).pending_user_action is None
    await house.close()


@virtual
async def test_an_answered_task_is_cancelled_in_the_queue() -> None:
    """The answer is forgotten with it."""
    house = await House().open()
    task = await house.waiting("asks")
    await house.create("runs meanwhile")
    await house.manager.respond(task.id, "the blue one")
    result = await house.manager.cancel(task.id)
    assert result.task.status is TaskStatus.CANCELLED
    assert result.task.outcome is Outcome.UNKNOWN
    house.runner.last.complete()
    await settle()
    assert len(house.runner.calls) == 2
    await house.close()


@virtual
async def test_stopping_works_on_a_full_disk() -> None:
    """A cancel that cannot be stored is a cancel all the same, and quick."""
    house = await House().open()
    task = await house.create()
    queued = await house.create("queued")
    house.journal.failing = "No space left on device"
    assert (await house.manager.cancel(queued.id)).task.status is TaskStatus.CANCELLED
    await house.manager.cancel(task.id)
    await settle()
    assert house.manager.get(task.id).status is TaskStatus.CANCELLED
    # When there is room again the cancels are stored before anything else is.
    house.journal.failing = None
    await house.create("next")
    house = await house.crash()
    assert house.manager.get(task.id).status is TaskStatus.CANCELLED
    assert house.manager.get(queued.id).status is TaskStatus.CANCELLED
    await house.close()


@virtual
async def test_a_cancel_does_not_wait_for_a_hanging_disk() -> None:
    """One second, then it answers."""
    house = await House().open()
    task = await house.create()
    house.journal.hold()
    before = asyncio.get_running_loop().time()
    result = await house.manager.cancel(task.id)
    assert asyncio.get_running_loop().time() - before == pytest.approx(1)
    assert result.task.status is TaskStatus.CANCELLED, "the run had returned meanwhile"
    house.journal.let_go()
    await house.close()


@virtual
async def test_an_unknown_task_cannot_be_cancelled() -> None:
    """The id is in the error."""
    house = await House().open()
    with pytest.raises(TaskNotFoundError, match="task_x"):
        await house.manager.cancel("task_x")
    await house.close()


@virtual
async def test_a_second_cancel_is_as_durable_as_the_first() -> None:
    """It says nothing that a crash could take back."""
    house = await House().open()
    house.runner.cleanup_s = 5
    task = await house.create()
    house.journal.hold()
    both = [asyncio.create_task(house.manager.cancel(task.id)) for _ in range(2)]
    await settle()
    assert [cancel.done() for cancel in both] == [False, False]
    house.journal.let_go()
    await asyncio.wait(both)
    assert house.journal.records[-1]["status"] == "cancelling"
    await house.close()
