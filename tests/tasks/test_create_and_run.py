"""Creating tasks and running them to their end."""

import asyncio
from typing import Any

import pytest

from custom_components.aiden_duplex.tasks.errors import (
    DuplicateTaskError,
    TaskNotFoundError,
    TaskQueueFullError,
    TaskStorageError,
    TasksUnavailableError,
    TaskValueError,
)
from custom_components.aiden_duplex.tasks.limits import TaskLimits
from custom_components.aiden_duplex.tasks.model import (
    Delivery,
    Outcome,
    TaskEvent,
    TaskEventType,
    TaskStatus,
)
from custom_components.aiden_duplex.tasks.runner import RunEnd, RunRequest, RunResult

from .house import ORIGIN, House, settle, virtual


@virtual
async def test_a_created_task_is_queued_runs_and_completes() -> None:
    """The runner gets the goal; the ending waits to be told."""
    house = await House().open()
    at = house.now()
    task = await house.manager.create("  turn on airplane mode ", origin=ORIGIN)
    assert (task.status, task.prompt) == (TaskStatus.QUEUED, "turn on airplane mode")
    assert (task.queue_position, task.goal_revision) == (1, 1)
    assert (task.created_at, task.started_at, task.origin) == (at, None, ORIGIN)
    await settle()
    running = house.manager.get(task.id)
    assert (running.status, running.queue_position) == (TaskStatus.RUNNING, None)
    assert running.started_at is not None
    current = house.manager.current
    assert current == running
    assert house.runner.last.request == RunRequest(
        task_id=task.id, goal="turn on airplane mode", goal_revision=1
    )
    house.runner.last.complete("It is on.", evidence="an aeroplane in the status bar")
    await settle()
    ended = house.manager.get(task.id)
    assert (ended.status, ended.result) == (TaskStatus.COMPLETED, "It is on.")
    assert (ended.outcome, ended.error) == (Outcome.ACHIEVED, None)
    assert ended.evidence == "an aeroplane in the status bar"
    assert (ended.delivery, ended.terminal_sequence) == (Delivery.QUEUED, 1)
    assert ended.applied_revision == 1
    assert house.manager.current is None
    assert house.events == [
        f"{event} turn on airplane mode"
        for event in ("created", "queued", "running", "completed")
    ]
    assert house.published[0].task.status is TaskStatus.CREATED
    await house.close()


@virtual
async def test_create_returns_and_publishes_only_when_durable() -> None:
    """A person who was told "I will do it" must not find it forgotten after a crash."""
    house = await House().open()
    house.journal.hold()
    create = asyncio.create_task(house.manager.create("goal", origin=ORIGIN))
    await settle()
    assert not create.done()
    assert house.published == []
    assert house.manager.tasks() == []
    house.journal.let_go()
    task = await create
    assert house.journal.records[0]["id"] == task.id
    await house.close()


@virtual
async def test_a_start_is_durable_before_the_runner_is_called() -> None:
    """Otherwise a crash would let the same act happen twice without a warning."""
    house = await House().open()
    task = await house.manager.create("goal", origin=ORIGIN)
    house.journal.hold()
    await settle()
    assert house.runner.calls == []
    assert house.manager.get(task.id).status is TaskStatus.QUEUED
    house.journal.let_go()
    await settle()
    assert len(house.runner.calls) == 1
    assert house.journal.records[-1]["status"] == "running"
    await house.close()


@virtual
async def test_nothing_runs_before_the_start() -> None:
    """Home Assistant may still be starting; creating is possible already."""
    house = await House().open(start=False)
    await house.create("early")
    await asyncio.sleep(60)
    assert house.runner.calls == []
    house.manager.start()
    house.manager.start()
    await settle()
    assert [call.request.goal for call in house.runner.calls] == ["early"]
    await house.close()


@virtual
async def test_one_task_runs_at_a_time_in_the_order_of_creation() -> None:
    """Two hands on one phone would break both."""
    house = await House().open()
    for goal in ("a", "b", "c"):
        await house.create(goal)
    positions = {task.prompt: task.queue_position for task in house.manager.tasks()}
    assert positions == {"a": None, "b": 1, "c": 2}
    for _ in range(3):
        house.runner.last.complete()
        await settle()
    assert house.runner.log == [
        "run a", "returned a", "run b", "returned b", "run c", "returned c",
    ]  # fmt: skip
    assert house.runner.most_running == 1
    assert [task.prompt for task in house.manager.tasks()] == ["c", "b", "a"]
    await house.close()


@pytest.mark.parametrize(
    ("goal", "code"),
    [
        ("", "goal_empty"),
        (" \n\t", "goal_empty"),
        ("x" * 8001, "goal_too_long"),
    ],
)
@virtual
async def test_an_impossible_goal_is_refused(goal: str, code: str) -> None:
    """Nothing is created, nothing is journalled."""
    house = await House().open()
    with pytest.raises(TaskValueError) as caught:
        await house.manager.create(goal, origin=ORIGIN)
    assert caught.value.code == code
    assert house.manager.tasks() == []
    assert house.journal.records == []
    await house.close()


@virtual
async def test_a_goal_of_8000_characters_is_taken() -> None:
    """The limit itself is inside; half surrogates are replaced."""
    house = await House().open()
    task = await house.create("x" * 7999 + "\ud83d")
    assert task.prompt == "x" * 7999 + "?"
    await house.close()


@virtual
async def test_the_65th_waiting_task_is_refused() -> None:
    """One runs, 64 wait."""
    house = await House().open()
    for number in range(65):
        await house.create(f"goal {number}")
    with pytest.raises(TaskQueueFullError):
        await house.manager.create("one too many", origin=ORIGIN)
    assert len(house.manager.outstanding()) == 65
    house.runner.last.complete()
    await settle()
    await house.create("now there is room")
    await house.close()


@virtual
async def test_a_burst_of_creations_is_bounded_too() -> None:
    """While the disk is slow, requests do not pile up without end."""
    house = await House().open(start=False)
    house.journal.hold()
    burst = [
        asyncio.create_task(house.manager.create(f"goal {number}", origin=ORIGIN))
        for number in range(80)
    ]
    await settle()
    assert sum(create.done() for create in burst) == 16, "refused without waiting"
    house.journal.let_go()
    results = await asyncio.gather(*burst, return_exceptions=True)
    refused = [result for result in results if isinstance(result, TaskQueueFullError)]
    assert len(refused) == 16
    assert len(house.manager.outstanding()) == 64
    await house.close()


@virtual
async def test_a_runner_that_raises_makes_the_task_fail_with_class_and_message() -> (
    None
):
    """The text is for a person: no traceback, and not without end."""
    house = await House().open()
    task = await house.create()
    house.runner.last.end.set_exception(ConnectionError("no route" + "!" * 600))
    await settle()
    failed = house.manager.get(task.id)
    assert failed.status is TaskStatus.FAILED
    assert failed.error is not None
    assert failed.error.startswith("ConnectionError: no route!")
    assert len(failed.error) == 501
    assert (failed.outcome, failed.result) == (Outcome.UNKNOWN, None)
    await house.ended("the next one works")
    await house.close()


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (
            RunResult(end=RunEnd.FAILED, text="the picture is gone"),
            "the picture is gone",
        ),
        (RunResult(end=RunEnd.FAILED), "the run failed without saying why"),
        (RunResult(end=RunEnd.PAUSED), "the run paused without a question"),
    ],
)
@virtual
async def test_a_failed_run_keeps_its_error(result: RunResult, error: str) -> None:
    """Also a run that breaks the contract says so."""
    house = await House().open()
    task = await house.create()
    house.runner.last.end.set_result(result)
    await settle()
    failed = house.manager.get(task.id)
    assert (failed.status, failed.error) == (TaskStatus.FAILED, error)
    assert house.events[-1] == "failed goal"
    await house.close()


@virtual
async def test_a_runner_that_cancels_itself_fails_the_task_and_not_the_worker() -> None:
    """Nobody asked for it, so it is not a cancel."""
    house = await House().open()
    task = await house.create()
    house.runner.last.end.cancel()
    await settle()
    failed = house.manager.get(task.id)
    assert (failed.status, failed.error) == (
        TaskStatus.FAILED,
        "the run was stopped from inside",
    )
    await house.ended("the next one works")
    await house.close()


@virtual
async def test_a_long_result_is_cut() -> None:
    """8,000 characters and an ellipsis."""
    house = await House().open()
    task = await house.ended(text="r" * 8001)
    assert task.result == "r" * 8000 + "…"
    await house.close()


@virtual
async def test_completed_is_not_achieved() -> None:
    """The loop's end and what was wanted are two things; unverified is unknown."""
    house = await House().open()
    task = await house.create()
    house.runner.last.end.set_result(RunResult(end=RunEnd.COMPLETED, text="stopped"))
    await settle()
    ended = house.manager.get(task.id)
    assert (ended.status, ended.outcome) == (TaskStatus.COMPLETED, Outcome.UNKNOWN)
    await house.close()


@virtual
async def test_a_result_for_an_older_goal_does_not_count_as_applied() -> None:
    """Only the newest revision is applied."""
    house = await House().open()
    task = await house.create()
    house.runner.last.end.set_result(
        RunResult(end=RunEnd.COMPLETED, text="x", applied_revision=0)
    )
    await settle()
    assert house.manager.get(task.id).applied_revision == 0
    await house.close()


@virtual
async def test_a_run_that_never_returns_is_ended_by_the_backstop() -> None:
    """The queue must not be blocked for ever."""
    house = await House(limits=TaskLimits(run_s=600)).open()
    task = await house.create("endless")
    await house.create("next")
    await asyncio.sleep(599)
    assert house.manager.get(task.id).status is TaskStatus.RUNNING
    await asyncio.sleep(2)
    failed = house.manager.get(task.id)
    assert (failed.status, failed.error) == (TaskStatus.FAILED, "deadline_exceeded")
    assert house.runner.log == ["run endless", "revoke", "returned endless", "run next"]
    await house.close()


@virtual
async def test_live_steps_are_seen_and_never_journalled() -> None:
    """What is it doing right now? Without poking the runner."""
    house = await House().open()
    task = await house.create()
    appended = house.journal.appends
    for text in ("opening settings", "opening settings", " ", "scrolling " + "x" * 300):
        house.runner.last.on_step(text)
    steps = [event for event in house.published if event.is_step]
    assert [event.type for event in steps] == [TaskEventType.UPDATED] * 2
    assert steps[0].task.step == "opening settings"
    assert house.manager.get(task.id).step == "scrolling " + "x" * 190 + "…"
    await settle()
    assert house.journal.appends == appended
    house.runner.last.complete()
    await settle()
    assert house.manager.get(task.id).step is None
    house.runner.last.on_step("too late")
    assert house.manager.get(task.id).step is None
    assert house.published[-1].type is TaskEventType.COMPLETED
    assert "step" not in house.journal.records[-1]
    await house.close()


@virtual
async def test_a_reworded_or_repeated_goal_in_flight_is_not_created_again() -> None:
    """The expense would be filed twice."""
    house = await House().open()
    task = await house.create("File the expense report.")
    with pytest.raises(DuplicateTaskError) as caught:
        await house.manager.create("file  the EXPENSE report", origin=ORIGIN)
    assert caught.value.existing is not None
    assert caught.value.existing.id == task.id
    assert [one.id for one in caught.value.outstanding] == [task.id]
    again = await house.manager.create(
        "file the expense report", origin=ORIGIN, repeat=True
    )
    assert again.id != task.id
    await house.close()


@virtual
async def test_an_ended_goal_may_be_asked_for_again_by_an_action() -> None:
    """Nothing is in flight, so it is a genuine new request."""
    house = await House().open()
    first = await house.ended("open the door")
    second = await house.ended("open the door")
    assert first.id != second.id
    await house.close()


@virtual
async def test_two_equal_goals_at_the_same_moment_make_one_task() -> None:
    """A double click while the disk is slow."""
    house = await House().open()
    house.journal.delay_s = 1
    results = await asyncio.gather(
        house.manager.create("same", origin=ORIGIN),
        house.manager.create("Same!", origin=ORIGIN),
        return_exceptions=True,
    )
    assert isinstance(results[1], DuplicateTaskError)
    assert len(house.manager.tasks()) == 1
    await house.close()


@virtual
async def test_the_foreground_must_name_everything_outstanding() -> None:
    """Also what ended and was not told; otherwise nothing is created."""
    house = await House().open()
    manager = house.manager
    first = await manager.create("a", origin=ORIGIN, distinct_from=[])
    await settle()
    house.runner.last.complete()
    await settle()
    with pytest.raises(DuplicateTaskError) as caught:
        await manager.create("b", origin=ORIGIN, distinct_from=[])
    assert [task.id for task in caught.value.outstanding] == [first.id]
    assert caught.value.existing is None
    second = await manager.create(
        "b", origin=ORIGIN, distinct_from=[first.id, "task_x"]
    )
    with pytest.raises(DuplicateTaskError) as caught:
        await manager.create("c", origin=ORIGIN, distinct_from=[second.id], repeat=True)
    assert [task.id for task in caught.value.outstanding] == [second.id, first.id]
    # The foreground has looked and says it is other work, whatever the words.
    await manager.create("b", origin=ORIGIN, distinct_from={first.id, second.id})
    await house.close()


@virtual
async def test_a_told_result_is_not_outstanding_any_more() -> None:
    """The foreground has it in its context; asking again is a new request."""
    house = await House().open()
    task = await house.ended("a")
    house.manager.claim("s1")
    house.manager.begin("s1", [task.id])
    assert house.manager.outstanding() != []
    await house.manager.acknowledge([task.id])
    assert house.manager.outstanding() == []
    await house.manager.create("a", origin=ORIGIN, distinct_from=[])
    await house.close()


@virtual
async def test_a_caller_who_goes_away_leaves_a_whole_task() -> None:
    """A closed browser tab in the middle of a create: the record is on its way already."""
    house = await House().open()
    house.journal.hold()
    create = asyncio.create_task(house.manager.create("goal", origin=ORIGIN))
    await settle()
    create.cancel()
    with pytest.raises(asyncio.CancelledError):
        await create
    house.journal.let_go()
    await settle()
    assert [task.prompt for task in house.manager.tasks()] == ["goal"]
    assert len(house.runner.calls) == 1
    await house.close()


@virtual
async def test_a_listener_that_fails_disturbs_nobody() -> None:
    """Neither the manager nor the other listeners."""
    house = House()
    seen: list[str] = []

    def broken(event: TaskEvent) -> None:
        raise RuntimeError("broken listener")

    unsubscribe = house.manager.subscribe(broken)
    house.manager.subscribe(lambda event: seen.append(event.type))
    await house.open()
    await house.ended()
    assert seen == ["created", "queued", "running", "completed"]
    unsubscribe()
    unsubscribe()
    await house.close()


@virtual
async def test_events_stay_in_order_when_a_listener_acts_at_once() -> None:
    """A listener that cancels on "running" must not make others see it backwards."""
    house = House()
    tasks: list[asyncio.Task[Any]] = []

    def cancel_on_running(event: TaskEvent) -> None:
        if event.type is TaskEventType.RUNNING:
            tasks.append(
                asyncio.create_task(
                    house.manager.cancel(event.task.id), eager_start=True
                )
            )

    house.manager.subscribe(cancel_on_running)
    seen: list[str] = []
    house.manager.subscribe(lambda event: seen.append(event.type))
    await house.open()
    await house.create()
    await asyncio.gather(*tasks)
    assert seen == ["created", "queued", "running", "cancelling", "cancelled"]
    assert house.runner.calls == [], "it was cancelled before it could begin"
    await house.close()


@pytest.mark.parametrize(
    "kind", [TaskEventType.CREATED, TaskEventType.NEEDS_YOU, TaskEventType.COMPLETED]
)
@virtual
async def test_a_listener_may_cancel_on_any_event(kind: TaskEventType) -> None:
    """No state in which the task would stay in "cancelling" or come back."""
    house = House()
    tasks: list[asyncio.Task[Any]] = []

    def cancel(event: TaskEvent) -> None:
        if event.type is kind:
            tasks.append(
                asyncio.create_task(
                    house.manager.cancel(event.task.id), eager_start=True
                )
            )

    unsubscribe = house.manager.subscribe(cancel)
    await house.open()
    task = await house.create()
    if kind is TaskEventType.NEEDS_YOU:
        house.runner.last.pause()
    if kind is TaskEventType.COMPLETED:
        house.runner.last.complete()
    await settle()
    await asyncio.gather(*tasks)
    ended = house.manager.get(task.id)
    if kind is TaskEventType.COMPLETED:
        assert ended.status is TaskStatus.COMPLETED
        assert ended.delivery is Delivery.SUPPRESSED
    else:
        assert ended.status is TaskStatus.CANCELLED
    assert len(house.runner.calls) == (kind is not TaskEventType.CREATED)
    unsubscribe()
    await house.ended("next")
    await house.close()


@virtual
async def test_before_loading_and_after_closing_there_is_a_clear_error() -> None:
    """And no task by that id."""
    house = House()
    with pytest.raises(TasksUnavailableError):
        await house.manager.create("goal", origin=ORIGIN)
    house.manager.start()
    await house.open()
    task = await house.create()
    with pytest.raises(TaskNotFoundError) as caught:
        house.manager.get("task_x")
    assert caught.value.task_id == "task_x"
    await house.close()
    await house.close()
    for call in (
        house.manager.create("goal", origin=ORIGIN),
        house.manager.respond(task.id, "yes"),
        house.manager.cancel(task.id),
    ):
        with pytest.raises(TasksUnavailableError):
            await call


@virtual
async def test_creations_at_one_time_share_the_disk() -> None:
    """None waits for another one's write, and they run in the order of the wishes."""
    house = await House().open()
    house.journal.delay_s = 1
    began = asyncio.get_running_loop().time()
    tasks = await asyncio.gather(
        *(house.manager.create(f"goal {n}", origin=ORIGIN) for n in range(20))
    )
    assert asyncio.get_running_loop().time() - began < 3
    assert [task.prompt for task in tasks] == [f"goal {n}" for n in range(20)]
    places = [house.manager.get(task.id).slot for task in tasks]
    assert sorted(place for place in places if place) == [1, 2, 3, 4]
    house.journal.delay_s = 0
    for number in range(20):
        await asyncio.sleep(3)
        assert house.runner.last.request.goal == f"goal {number}"
        house.runner.last.complete()
    await house.close()


@virtual
async def test_the_same_goal_twice_at_one_time_is_created_once() -> None:
    """The second is judged when the first is decided, and refused as what it is."""
    house = await House().open()
    house.journal.hold()
    creations = [
        asyncio.create_task(house.manager.create(goal, origin=ORIGIN))
        for goal in ("Pay the rent", "pay the rent!")
    ]
    await settle()
    house.journal.let_go()
    created = await creations[0]
    with pytest.raises(DuplicateTaskError) as caught:
        await creations[1]
    assert caught.value.existing is not None
    assert caught.value.existing.id == created.id
    await house.close()


@virtual
async def test_a_creation_that_could_not_be_stored_is_nobodys_duplicate() -> None:
    """Both are refused for the disk, and the goal is free again."""
    house = await House().open()
    house.journal.hold()
    creations = [
        asyncio.create_task(house.manager.create("pay the rent", origin=ORIGIN))
        for _ in range(2)
    ]
    await settle()
    house.journal.failing = "the disk is full"
    house.journal.let_go()
    for creation in creations:
        with pytest.raises(TaskStorageError):
            await creation
    house.journal.failing = None
    await house.create("pay the rent")
    await house.close()


@virtual
async def test_the_foreground_knows_what_is_being_created() -> None:
    """It cannot name what it has not seen: it is told, once that is decided."""
    house = await House().open()
    house.journal.hold()
    first = asyncio.create_task(house.manager.create("one", origin=ORIGIN))
    await settle()
    second = asyncio.create_task(
        house.manager.create("two", origin=ORIGIN, distinct_from=())
    )
    await settle()
    assert not second.done()
    house.journal.let_go()
    created = await first
    with pytest.raises(DuplicateTaskError) as caught:
        await second
    assert [task.id for task in caught.value.outstanding] == [created.id]
    await house.close()
