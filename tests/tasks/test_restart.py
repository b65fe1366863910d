"""Tasks over restarts: orderly stops and crashes, at most twice, and not when too old."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from custom_components.aiden_duplex.storage.journal import Journal
from custom_components.aiden_duplex.tasks.errors import (
    DuplicateTaskError,
    StaleQuestionError,
    TaskStorageError,
)
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import (
    Decision,
    Outcome,
    ReasonClass,
    TaskStatus,
)
from custom_components.aiden_duplex.tasks.runner import RunEnd, RunResult
from tests.storage.memory_journal import MemoryJournal

from .house import ORIGIN, START, House, ScriptedRunner, settle, virtual


@virtual
async def test_all_of_a_task_but_the_step_comes_back() -> None:
    """Of a running, a waiting, an ended and a queued one."""
    house = await House().open()
    await house.ended("ended", "the result")
    await house.waiting("waiting")
    await house.create("running")
    await house.create("queued")
    house.runner.last.on_step("tapping")
    before = house.manager.tasks()
    house = await house.crash(start=False)
    after = house.manager.tasks()
    by_goal = {task.prompt: task for task in after}
    expected = {task.prompt: task for task in before}
    assert by_goal["ended"] == expected["ended"]
    assert by_goal["waiting"] == expected["waiting"]
    assert by_goal["running"].status is TaskStatus.QUEUED
    assert by_goal["running"].queue_position == 1
    assert by_goal["running"].started_at == expected["running"].started_at
    assert by_goal["queued"].queue_position == 2
    assert [task.step for task in after] == [None] * 4
    await house.close()


@pytest.mark.parametrize("how", ["crash", "restart"])
@virtual
async def test_a_cut_off_run_is_recovered_before_anything_else(how: str) -> None:
    """It is told that the screen may be half-changed; the answer is not repeated."""
    house = await House().open()
    task = await house.waiting("cut off")
    await house.create("other")
    await house.manager.respond(task.id, "yes")
    house.runner.last.complete()
    await settle()
    assert house.runner.last.request.continuation == "yes"
    await house.create("queued")
    house = await (house.crash() if how == "crash" else house.restart())
    request = house.runner.last.request
    assert (request.goal, request.recovered) == ("cut off", True)
    assert request.continuation is None
    assert house.manager.get(task.id).started_at == task.started_at
    house.runner.last.complete()
    await settle()
    assert house.runner.last.request.goal == "queued"
    assert not house.runner.last.request.recovered
    await house.close()


@virtual
async def test_an_orderly_stop_is_not_a_cancel() -> None:
    """The run is ended as a shutdown; the task is queued for recovery."""
    house = await House().open()
    task = await house.create()
    await house.close()
    assert house.runner.log == ["run goal", "revoke", "returned goal"]
    assert house.runner.last.cancelled_with == "service_shutdown"
    assert house.manager.get(task.id).status is TaskStatus.QUEUED
    assert [record["status"] for record in house.journal.records] == [
        "queued",
        "running",
        "queued",
    ]
    assert house.events == ["created goal", "queued goal", "running goal"]


@pytest.mark.parametrize("how", ["crash", "restart"])
@virtual
async def test_a_run_is_recovered_at_most_twice(how: str) -> None:
    """A task that brings the process down does not do it for ever."""
    house = await House().open()
    task = await house.create()
    for _ in range(2):
        house = await (house.crash() if how == "crash" else house.restart())
        assert house.runner.last.request.recovered
    house = await (house.crash() if how == "crash" else house.restart())
    assert house.runner.calls == []
    failed = house.manager.get(task.id)
    assert (failed.status, failed.error) == (TaskStatus.FAILED, "recovery_cap")
    assert failed.outcome is Outcome.UNKNOWN
    assert house.manager.claim("s") != [], "somebody has to be told"
    await house.close()


@virtual
async def test_a_crash_before_the_recovered_run_begins_does_not_count() -> None:
    """Only runs that were cut off count."""
    house = await House().open()
    await house.create()
    for _ in range(5):
        house = await house.crash(start=False)
    house.manager.start()
    await settle()
    assert house.runner.last.request.recovered
    await house.close()


@virtual
async def test_a_stop_while_a_run_is_about_to_begin_leaves_the_task_as_it_was() -> None:
    """The start was stored, but nothing ran: nothing is to be recovered."""
    house = await House().open()
    house.journal.delay_s = 0.5
    await house.create()
    await asyncio.sleep(0.2)
    assert house.manager.tasks()[0].status is TaskStatus.QUEUED
    house = await house.restart()
    assert house.runner.last.request.recovered is False
    await house.close()


@virtual
async def test_a_recovered_run_that_asked_goes_on_as_a_normal_one() -> None:
    """What was half-done has been looked at; the next run is not a recovery."""
    house = await House().open()
    task = await house.create()
    house = await house.crash()
    house.runner.last.pause()
    await settle()
    await house.manager.respond(task.id, "yes")
    await settle()
    assert [call.request.recovered for call in house.runner.calls] == [True, False]
    await house.close()


@virtual
async def test_a_run_that_finishes_during_the_stop_has_finished() -> None:
    """Work that is done is not done again."""
    house = await House().open()
    task = await house.create()
    house.runner.last.late = RunResult(end=RunEnd.COMPLETED, text="just in time")
    house = await house.restart()
    assert house.manager.get(task.id).result == "just in time"
    assert house.runner.calls == []
    await house.close()


@virtual
async def test_a_run_that_fails_because_of_the_stop_is_recovered() -> None:
    """Its connection was closed under it; that is no failure of the task."""
    house = await House().open()
    await house.create()
    house.runner.last.late = RunResult(end=RunEnd.FAILED, text="connection closed")
    house = await house.restart()
    assert house.runner.last.request.recovered
    await house.close()


@virtual
async def test_a_cancel_under_way_at_the_stop_is_finished() -> None:
    """Not recovered: somebody wanted it to end."""
    house = await House().open()
    house.runner.cleanup_s = 60
    task = await house.create()
    await house.manager.cancel(task.id)
    before = asyncio.get_running_loop().time()
    await house.manager.close()
    assert asyncio.get_running_loop().time() - before <= 5
    assert house.runner.log == ["run goal", "revoke", "revoke", "fence"]
    house.runner.free.set()
    house = await House(journal=house.journal.crash()).open()
    ended = house.manager.get(task.id)
    assert (ended.status, ended.error) == (TaskStatus.CANCELLED, "runner_stuck")
    await house.close()


@virtual
async def test_a_crash_while_cancelling_ends_as_cancelled() -> None:
    """Never "cancelling" without a worker."""
    house = await House().open()
    house.runner.cleanup_s = 5
    task = await house.create()
    await house.manager.cancel(task.id)
    house = await house.crash()
    ended = house.manager.get(task.id)
    assert (ended.status, ended.outcome) == (TaskStatus.CANCELLED, Outcome.UNKNOWN)
    assert house.events == ["cancelled goal"]
    assert house.runner.calls == []
    assert house.manager.claim("s") != []
    await house.close()


@virtual
async def test_a_run_has_time_to_let_go_of_the_phone_at_the_stop() -> None:
    """A finger that is down has to come up."""
    house = await House().open()
    house.runner.cleanup_s = 2
    await house.create()
    await house.manager.close()
    assert house.runner.log == ["run goal", "revoke", "returned goal"]
    await house.close()


@virtual
async def test_a_hanging_run_does_not_hold_up_the_stop() -> None:
    """Five seconds in all, then it is cut off; it is recovered next time."""
    house = await House().open()
    house.runner.cleanup_s = 3600
    await house.create()
    before = asyncio.get_running_loop().time()
    await house.manager.close()
    assert asyncio.get_running_loop().time() - before <= 5
    assert house.runner.log == ["run goal", "revoke", "fence"]
    house.runner.free.set()
    house = await House(journal=house.journal.crash()).open()
    assert house.runner.last.request.recovered
    await house.close()


@virtual
async def test_a_hanging_disk_does_not_hold_up_the_stop() -> None:
    """Also with a create, an end and an acknowledgement under way."""
    house = await House().open()
    told = await house.ended("told")
    house.manager.claim("s")
    house.manager.begin("s", [told.id])
    await house.create()
    house.journal.hold()
    acknowledge = asyncio.create_task(house.manager.acknowledge([told.id]))
    create = asyncio.create_task(house.manager.create("new", origin=ORIGIN))
    house.runner.last.complete()
    await settle()
    before = asyncio.get_running_loop().time()
    await house.manager.close()
    assert asyncio.get_running_loop().time() - before <= 5
    await settle()
    assert acknowledge.done()
    with pytest.raises(TaskStorageError):
        await create
    await house.close()


@virtual
async def test_a_question_survives_and_can_be_answered() -> None:
    """Same question id; the answer reaches a run in the new process."""
    house = await House().open()
    task = await house.waiting()
    assert task.pending_user_action
    house = await house.restart(away=timedelta(hours=5))
    assert house.manager.get(task.id) == task
    with pytest.raises(StaleQuestionError):
        await house.manager.respond(task.id, "x", question_id="q_other")
    await house.manager.respond(
        task.id, "the blue one", question_id=task.pending_user_action.id
    )
    await settle()
    assert house.runner.last.request.continuation == "the blue one"
    assert not house.runner.last.request.recovered
    await house.close()


@virtual
async def test_an_answer_that_no_run_got_survives() -> None:
    """Answered, then the power went."""
    house = await House().open()
    task = await house.waiting("asks")
    await house.create("runs")
    await house.manager.respond(task.id, "the blue one")
    house = await house.crash(start=False)
    by_goal = {one.prompt: one for one in house.manager.tasks()}
    assert by_goal["asks"].status is TaskStatus.RUNNING
    # The run that was cut off has the phone half-way, so it goes first.
    assert (by_goal["runs"].queue_position, by_goal["asks"].queue_position) == (1, 2)
    house.manager.start()
    await settle()
    house.runner.last.complete()
    await settle()
    assert house.runner.last.request.continuation == "the blue one"
    assert not house.runner.last.request.recovered
    await house.close()


@virtual
async def test_the_order_of_the_queue_survives() -> None:
    """Answers in the order of answering, then new tasks in the order of creation."""
    house = await House().open()
    one = await house.waiting("asks 1")
    two = await house.waiting("asks 2")
    await house.create("runs")
    await house.create("new 1")
    await house.create("new 2")
    await house.manager.respond(two.id, "b")
    await house.manager.respond(one.id, "a")
    house.runner.last.complete()
    house = await house.crash(start=False)

    def order(house: House) -> list[str]:
        waiting = [task for task in house.manager.tasks() if task.queue_position]
        return [
            task.prompt
            for task in sorted(waiting, key=lambda task: task.queue_position or 0)
        ]

    expected = ["runs", "asks 2", "asks 1", "new 1", "new 2"]
    assert order(house) == expected
    await house.manager.create("new 3", origin=ORIGIN)
    house = await house.crash(start=False)
    assert order(house) == [*expected, "new 3"]
    await house.close()


@pytest.mark.parametrize("away", [timedelta(minutes=16), timedelta(minutes=-16)])
@virtual
async def test_old_work_is_held_with_a_question(away: timedelta) -> None:
    """Yesterday's "call me a taxi"; a clock that went back cannot tell its age."""
    house = await House().open()
    running = await house.create("running")
    queued = await house.create("queued")
    house = await house.crash(away=away)
    assert house.runner.calls == []
    for task in (running, queued):
        held = house.manager.get(task.id)
        assert (held.status, held.is_waiting) == (TaskStatus.RUNNING, True)
        assert held.pending_user_action is not None
        assert held.pending_user_action.reason is ReasonClass.HELD
        assert "2026-11-01 12:00" in held.pending_user_action.details
    assert sorted(house.events) == ["needs_you queued", "needs_you running"]
    await house.manager.respond(running.id, "yes, do it")
    refused = await house.manager.respond(queued.id, "no", decision=Decision.REFUSED)
    assert (refused.status, refused.outcome) == (
        TaskStatus.COMPLETED,
        Outcome.NOT_ACHIEVED,
    )
    await settle()
    request = house.runner.last.request
    assert (request.goal, request.recovered) == ("running", True)
    assert request.continuation == "yes, do it"
    await house.close()


@virtual
async def test_work_of_a_quarter_of_an_hour_is_not_too_old() -> None:
    """An update of Home Assistant takes some minutes."""
    house = await House().open()
    await house.create()
    house = await house.crash(away=timedelta(minutes=14, seconds=59))
    assert house.runner.last.request.recovered
    await house.close()


@virtual
async def test_a_held_task_stays_held_over_the_next_restart() -> None:
    """And keeps its question's id."""
    house = await House().open(start=False)
    task = await house.create()
    house = await house.crash(away=timedelta(hours=1))
    held = house.manager.get(task.id)
    house = await house.crash()
    assert house.manager.get(task.id) == held
    house = await house.crash(away=timedelta(hours=1))
    assert house.manager.get(task.id) == held
    await house.manager.respond(task.id, "go on")
    await settle()
    assert not house.runner.last.request.recovered, "it never ran"
    assert house.manager.get(task.id).started_at is not None
    await house.close()


@virtual
async def test_an_answer_held_up_is_kept_and_the_new_one_added() -> None:
    """The person answered, the house was without power for an hour."""
    house = await House().open()
    task = await house.waiting("asks")
    await house.create("runs")
    await house.manager.respond(task.id, "the blue one")
    house = await house.crash(away=timedelta(hours=1))
    assert house.manager.get(task.id).is_waiting
    await house.manager.respond(task.id, "still wanted")
    await settle()
    assert house.runner.last.request.continuation == "the blue one\n\nstill wanted"
    await house.close()


@virtual
async def test_work_in_flight_after_a_restart_is_a_duplicate_too() -> None:
    """The person asks again because nothing seems to happen."""
    house = await House().open()
    task = await house.create("order a taxi")
    house = await house.crash(start=False)
    with pytest.raises(DuplicateTaskError) as caught:
        await house.manager.create("Order a taxi!", origin=ORIGIN)
    assert caught.value.existing is not None
    assert caught.value.existing.id == task.id
    await house.close()


@virtual
async def test_a_journal_that_cannot_be_read_is_a_clear_error() -> None:
    """Home Assistant then tries the setup again later."""
    journal = MemoryJournal([{"kind": "other"}, {}, {"kind": "task", "id": "task_1"}])
    house = await House(journal=journal).open()
    assert house.manager.tasks() == [], "records that are not understood are left out"
    await house.close()


async def test_with_a_real_journal_on_a_real_disk(tmp_path: Path) -> None:
    """Create, end, tell; then read it all in another process."""
    path = tmp_path / "folder" / "tasks.journal"
    ended = asyncio.Event()

    async def first() -> str:
        runner = ScriptedRunner()
        manager = TaskManager(journal=Journal(path), runner=runner, now=lambda: START)
        await manager.load()
        manager.start()
        running = asyncio.Event()
        manager.subscribe(
            lambda event: running.set() if event.type == "running" else None
        )
        manager.subscribe(
            lambda event: ended.set() if event.type == "completed" else None
        )
        async with asyncio.timeout(10):
            task = await manager.create("goal", origin=ORIGIN)
            await running.wait()
            while not runner.calls:
                await asyncio.sleep(0)
            runner.last.complete("the result")
            await ended.wait()
            manager.claim("s")
            manager.begin("s", [task.id])
            await manager.acknowledge([task.id])
            await manager.close()
        return task.id

    task_id = await first()
    manager = TaskManager(
        journal=Journal(path), runner=ScriptedRunner(), now=lambda: START
    )
    await manager.load()
    assert manager.get(task_id).result == "the result"
    assert manager.outstanding() == []
    await manager.close()


@virtual
async def test_two_endings_with_one_number_get_their_own() -> None:
    """Both were on their way to the disk, and the second number was not."""
    house = await House().open()
    first = await house.ended("first")
    second = await house.ended("second")
    for record in house.journal.records:
        if record["id"] == second.id and record["terminal_sequence"]:
            record["terminal_sequence"] = first.terminal_sequence
    house = await house.crash()
    assert house.manager.get(first.id).terminal_sequence == 1
    assert house.manager.get(second.id).terminal_sequence == 2
    assert [task.prompt for task in house.manager.claim("s")] == ["first", "second"]
    house = await house.crash()
    assert house.manager.get(second.id).terminal_sequence == 2
    await house.close()


@virtual
async def test_what_comes_from_a_backup_waits_for_a_word() -> None:
    """Queued and running work is held; questions, cancels and endings stay as they are."""
    house = await House().open()
    ended = await house.ended("ended")
    asks = await house.waiting("asks")
    running = await house.create("running")
    queued = await house.create("queued")
    journal = house.journal.crash()
    await house.close()
    house = House(journal=journal)
    await house.manager.load(restored=True)
    house.manager.start()
    await settle()
    assert house.runner.calls == []
    assert house.manager.get(ended.id) == ended
    assert house.manager.get(asks.id) == asks
    for task_id in (running.id, queued.id):
        action = house.manager.get(task_id).pending_user_action
        assert action is not None
        assert action.reason is ReasonClass.HELD
        assert "restored backup" in action.details
    await house.manager.respond(queued.id, "yes, do it")
    await settle()
    assert house.runner.last.request.goal == "queued"
    await house.close()
