"""A goal is replaced: queued, running, waiting, answered, ending, ended."""

import asyncio

import pytest

from custom_components.aiden_duplex.tasks.errors import (
    NotUpdatableError,
    NotWaitingError,
    StaleQuestionError,
    TaskNotFoundError,
    TaskStorageError,
    TaskValueError,
)
from custom_components.aiden_duplex.tasks.model import Outcome, TaskStatus
from tests.storage.memory_journal import MemoryJournal

from .house import ORIGIN, House, settle, virtual


@virtual
async def test_a_queued_task_runs_with_the_new_goal() -> None:
    """In its place, as the same task; the run gets nothing of the old goal."""
    house = await House().open()
    await house.create("first")
    second = await house.create("second")
    third = await house.create("third")
    updated = await house.manager.update(second.id, "  the better second ")
    assert (updated.prompt, updated.goal_revision) == ("the better second", 2)
    assert (updated.status, updated.queue_position) == (TaskStatus.QUEUED, 1)
    house.runner.last.complete()
    await settle()
    request = house.runner.last.request
    assert (request.goal, request.goal_revision) == ("the better second", 2)
    assert house.manager.get(third.id).queue_position == 1
    assert "updated the better second" in house.events
    await house.close()


@virtual
async def test_a_run_gets_the_latest_goal_and_its_result_counts_then() -> None:
    """The latest wins; a result for it is the task's."""
    house = await House().open()
    task = await house.create("one")
    await house.manager.update(task.id, "two")
    await house.manager.update(task.id, "three")
    call = house.runner.last
    assert [(steer.goal, steer.goal_revision) for steer in call.steers] == [
        ("two", 2),
        ("three", 3),
    ]
    call.take_up()
    call.complete("three is done")
    await settle()
    ended = house.manager.get(task.id)
    assert (ended.status, ended.result) == (TaskStatus.COMPLETED, "three is done")
    assert (ended.goal_revision, ended.applied_revision) == (3, 3)
    assert len(house.runner.calls) == 1
    await house.close()


@pytest.mark.parametrize("end", ["complete", "fail", "pause"])
def test_what_a_run_says_of_an_older_goal_is_discarded(end: str) -> None:
    """A result, an error, a question: the task runs again at once with the new goal."""

    @virtual
    async def scenario() -> None:
        house = await House().open()
        task = await house.create("one")
        other = await house.create("other")
        await house.manager.update(task.id, "two")
        first = house.runner.last
        {
            "complete": first.complete,
            "fail": lambda: first.fail("no"),
            "pause": first.pause,
        }[end]()
        await settle()
        request = house.runner.last.request
        assert (request.task_id, request.goal, request.goal_revision) == (
            task.id,
            "two",
            2,
        )
        assert not request.recovered
        running = house.manager.get(task.id)
        assert (running.status, running.is_waiting) == (TaskStatus.RUNNING, False)
        assert not {"completed one", "needs_you one", "failed one"} & set(house.events)
        house.runner.last.complete()
        await settle()
        assert house.runner.last.request.task_id == other.id
        await house.close()

    scenario()


@virtual
async def test_a_run_that_breaks_on_the_new_goal_is_not_tried_for_ever() -> None:
    """It began with the goal that it broke on."""
    house = await House().open()
    task = await house.create("one")
    await house.manager.update(task.id, "two")
    for _ in range(2):
        house.runner.last.end.set_exception(OSError("gone"))
        await settle()
    assert house.manager.get(task.id).status is TaskStatus.FAILED
    assert len(house.runner.calls) == 2
    await house.close()


@virtual
async def test_a_question_of_the_old_goal_is_withdrawn() -> None:
    """The task goes on; an answer to the old question hits nothing."""
    house = await House().open()
    task = await house.waiting("one")
    assert task.pending_user_action
    question = task.pending_user_action.id
    updated = await house.manager.update(task.id, "two")
    assert (updated.status, updated.is_waiting) == (TaskStatus.RUNNING, False)
    with pytest.raises(NotWaitingError):
        await house.manager.respond(task.id, "yes", question_id=question)
    await settle()
    request = house.runner.last.request
    assert (request.goal, request.continuation) == ("two", None)
    house.runner.last.pause()
    await settle()
    with pytest.raises(StaleQuestionError):
        await house.manager.respond(task.id, "yes", question_id=question)
    await house.close()


@virtual
async def test_an_answer_that_no_run_has_got_is_kept() -> None:
    """Answered, then changed: the next run gets both."""
    house = await House().open()
    task = await house.waiting("one")
    await house.create("in the way")
    await house.manager.respond(task.id, "the blue one")
    await house.manager.update(task.id, "two")
    house.runner.last.complete()
    await settle()
    request = house.runner.last.request
    assert (request.goal, request.continuation) == ("two", "the blue one")
    assert request.asked == "Which account?"
    await house.close()


@virtual
async def test_what_has_ended_or_is_being_cancelled_stays() -> None:
    """Nothing is changed, also not in the journal."""
    house = await House().open()
    ended = await house.ended("one")
    house.runner.cleanup_s = 5
    cancelling = await house.create("two")
    await house.manager.cancel(cancelling.id)
    for task in (ended, cancelling):
        with pytest.raises(NotUpdatableError):
            await house.manager.update(task.id, "three")
    with pytest.raises(TaskNotFoundError):
        await house.manager.update("task_0", "three")
    with pytest.raises(TaskValueError):
        await house.manager.update(cancelling.id, " ")
    house = await house.crash()
    assert house.manager.get(ended.id).prompt == "one"
    assert house.manager.get(cancelling.id).status is TaskStatus.CANCELLED
    await house.close()


@virtual
async def test_an_end_while_the_new_goal_is_being_written_wins_also_on_disk() -> None:
    """The update is refused, and a crash does not bring the ended task back."""
    house = await House().open()
    task = await house.create("one")
    house.journal.hold()
    house.runner.last.complete("one is done")
    await settle()
    update = asyncio.create_task(house.manager.update(task.id, "two"))
    await settle()
    house.journal.let_go()
    with pytest.raises(NotUpdatableError):
        await update
    await settle()
    house = await house.crash()
    ended = house.manager.get(task.id)
    assert (ended.status, ended.prompt) == (TaskStatus.COMPLETED, "one")
    await house.close()


@virtual
async def test_an_update_while_an_answer_is_being_written() -> None:
    """In either order nobody's words are lost, and the disk says the same as memory."""
    for first in ("update", "respond"):
        house = await House().open()
        task = await house.waiting("one")
        await house.create("in the way")
        house.journal.hold()
        work = {
            "update": lambda house=house, task=task: house.manager.update(
                task.id, "two"
            ),
            "respond": lambda house=house, task=task: house.manager.respond(
                task.id, "the blue one"
            ),
        }
        order = [first, *(name for name in work if name != first)]
        running = []
        for name in order:
            running.append(asyncio.create_task(work[name]()))
            await settle()
        house.journal.let_go()
        results = await asyncio.gather(*running, return_exceptions=True)
        await settle()
        assert house.manager.get(task.id).prompt == "two"
        if first == "update":
            assert isinstance(results[1], NotWaitingError)
        house = await house.crash(start=False)
        after = house.manager.get(task.id)
        assert (after.prompt, after.goal_revision, after.is_waiting) == (
            "two",
            2,
            False,
        )
        await house.close()


@virtual
async def test_an_update_while_the_start_is_being_written() -> None:
    """The task starts with the new goal, once."""
    house = await House().open()
    house.journal.delay_s = 1
    task = await house.manager.create("one", origin=ORIGIN)
    await settle()
    updated = await house.manager.update(task.id, "two")
    assert updated.prompt == "two"
    await asyncio.sleep(5)
    goals = [steer.goal for call in house.runner.calls for steer in call.steers] or [
        call.request.goal for call in house.runner.calls
    ]
    assert goals[-1] == "two"
    assert len(house.runner.calls) == 1
    await house.close()


@virtual
async def test_a_cancel_wins_over_an_update_that_is_being_written() -> None:
    """And over the run that would have come of it."""
    house = await House().open()
    task = await house.create("one")
    house.journal.hold()
    update = asyncio.create_task(house.manager.update(task.id, "two"))
    await settle()
    cancel = asyncio.create_task(house.manager.cancel(task.id))
    await settle()
    house.journal.let_go()
    await cancel
    with pytest.raises(NotUpdatableError):
        await update
    await settle()
    house = await house.crash()
    assert house.manager.get(task.id).status is TaskStatus.CANCELLED
    assert not house.runner.calls
    await house.close()


@virtual
async def test_a_goal_that_cannot_be_stored_is_refused() -> None:
    """The old one stays, and the run goes on with it."""
    house = await House().open()
    task = await house.create("one")
    house.journal.failing = "the disk is full"
    with pytest.raises(TaskStorageError):
        await house.manager.update(task.id, "two")
    assert house.manager.get(task.id).prompt == "one"
    assert house.runner.last.steers == []
    house.journal.failing = None
    house.runner.last.complete()
    await settle()
    assert house.manager.get(task.id).outcome is Outcome.ACHIEVED
    await house.close()


@virtual
async def test_an_update_survives_a_crash_right_after_it() -> None:
    """The recovered run has the new goal."""
    house = await House().open()
    task = await house.create("one")
    await house.manager.update(task.id, "two")
    house = await house.crash()
    request = house.runner.last.request
    assert (request.task_id, request.goal, request.recovered) == (task.id, "two", True)
    await house.close()


@virtual
async def test_an_update_of_a_task_that_is_being_taken_over() -> None:
    """It waits for the person all the same, also after a crash."""
    house = await House().open()
    house.runner.cleanup_s = 2
    task = await house.create("one")
    taking = asyncio.create_task(house.manager.take_over(task.id))
    await settle()
    await house.manager.update(task.id, "two")
    after = await house.crash()
    await taking
    found = after.manager.get(task.id)
    assert (found.prompt, found.is_waiting) == ("two", True)
    await after.close()


@pytest.mark.parametrize("stop", ["take_over", "kill_switch"])
@virtual
async def test_no_record_of_a_new_goal_lets_a_stopped_run_go_on(stop: str) -> None:
    """A crash right after any of the records finds the task stopped, as it was said."""
    house = await House().open()
    house.runner.cleanup_s = 2
    task = await house.create("one")
    manager = house.manager
    stopping = asyncio.create_task(
        manager.take_over(task.id) if stop == "take_over" else manager.halt()
    )
    await settle()
    said = len(house.journal.records)
    await manager.update(task.id, "two")
    left = [
        MemoryJournal(house.journal.records[:end])
        for end in range(said, len(house.journal.records) + 1)
    ]
    await stopping
    await house.close()
    goals = set()
    for journal in left:
        after = await House(journal=journal).open()
        found = after.manager.get(task.id)
        assert found.is_waiting or found.status is TaskStatus.FAILED
        assert not after.runner.calls
        goals.add(found.prompt)
        await after.close()
    assert goals == {"one", "two"}


@virtual
async def test_a_start_on_its_way_to_the_disk_takes_no_update_back() -> None:
    """No record with the old goal follows, so no crash brings that back."""
    house = await House().open(start=False)
    task = await house.create("old")
    house.journal.hold()
    update = asyncio.create_task(house.manager.update(task.id, "new"))
    await settle()
    house.manager.start()
    await settle()
    house.journal.let_go()
    await update
    await settle()
    goals = [record["prompt"] for record in house.journal.records]
    assert goals == ["old", "new", "new"]
    assert house.runner.last.request.goal == "new"
    await house.close()


@virtual
async def test_a_take_over_of_a_run_that_just_ended_does_not_bring_it_back() -> None:
    """Its end was on its way to the disk; that is the last word on it."""
    house = await House().open()
    task = await house.create()
    house.journal.hold()
    house.runner.last.complete()
    await settle()
    over = asyncio.create_task(house.manager.take_over(task.id))
    await settle()
    house.journal.let_go()
    assert (await over).status is TaskStatus.COMPLETED
    house = await house.crash()
    assert house.manager.get(task.id).status is TaskStatus.COMPLETED
    await house.close()
