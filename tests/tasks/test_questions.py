"""Tasks that need a person: they wait, go on with the answer, or end refused."""

import asyncio

import pytest

from custom_components.aiden_duplex.tasks.errors import (
    NotWaitingError,
    StaleQuestionError,
    TaskNotFoundError,
    TaskStorageError,
    TaskValueError,
)
from custom_components.aiden_duplex.tasks.model import (
    Decision,
    Outcome,
    ReasonClass,
    TaskStatus,
)

from .house import ORIGIN, House, settle, virtual


@virtual
async def test_a_paused_task_waits_and_goes_on_with_the_answer() -> None:
    """Same task, same start; the run gets the answer as it was said."""
    house = await House().open()
    task = await house.waiting()
    action = task.pending_user_action
    assert action is not None
    assert action.id.startswith("q_")
    assert (action.reason, action.details) == (ReasonClass.AMBIGUOUS, "Which account?")
    assert (task.status, task.is_waiting) == (TaskStatus.RUNNING, True)
    assert house.manager.current == task
    await asyncio.sleep(3600)
    assert house.manager.get(task.id) == task, "silence is no answer"
    answered = await house.manager.respond(
        task.id, " the blue one ", question_id=action.id
    )
    assert (answered.status, answered.is_waiting) == (TaskStatus.RUNNING, False)
    assert answered.queue_position == 1
    await settle()
    request = house.runner.last.request
    assert (request.task_id, request.continuation) == (task.id, "the blue one")
    assert not request.recovered
    house.runner.last.complete()
    await settle()
    ended = house.manager.get(task.id)
    assert (ended.status, ended.started_at) == (TaskStatus.COMPLETED, task.started_at)
    assert house.events == [
        f"{event} goal"
        for event in (
            "created", "queued", "running", "needs_you", "answered", "running", "completed",
        )
    ]  # fmt: skip
    await house.close()


@virtual
async def test_a_question_is_published_when_it_is_durable() -> None:
    """A question that a crash forgets would be answered into the void."""
    house = await House().open()
    task = await house.create()
    house.journal.hold()
    house.runner.last.pause()
    await settle()
    assert not house.manager.get(task.id).is_waiting
    assert "needs_you goal" not in house.events
    house.journal.let_go()
    await settle()
    assert house.manager.get(task.id).is_waiting
    await house.close()


@virtual
async def test_a_refused_question_completes_the_task_as_not_achieved() -> None:
    """Refused, answered and silent are three things."""
    house = await House().open()
    task = await house.waiting()
    ended = await house.manager.respond(task.id, "no, never", decision=Decision.REFUSED)
    assert (ended.status, ended.outcome) == (TaskStatus.COMPLETED, Outcome.NOT_ACHIEVED)
    assert ended.result is not None
    assert "refused (Which account?)" in ended.result
    assert "no, never" in ended.result
    assert ended.pending_user_action is None
    assert ended.error is None
    await settle()
    assert len(house.runner.calls) == 1
    assert house.events[-1] == "completed goal"
    await house.close()


@virtual
async def test_an_answer_to_an_older_question_is_refused() -> None:
    """The task asked again meanwhile; a "yes" must not hit the new question."""
    house = await House().open()
    task = await house.waiting()
    assert task.pending_user_action
    old = task.pending_user_action.id
    await house.manager.respond(task.id, "one", question_id=old)
    await settle()
    house.runner.last.pause()
    await settle()
    with pytest.raises(StaleQuestionError) as caught:
        await house.manager.respond(task.id, "two", question_id=old)
    assert caught.value.task_id == task.id
    assert house.manager.get(task.id).is_waiting
    await house.manager.respond(task.id, "two")
    await house.close()


@virtual
async def test_only_a_waiting_task_takes_an_answer() -> None:
    """Not a running, an answered, an ended or an unknown one."""
    house = await House().open()
    task = await house.create()
    with pytest.raises(NotWaitingError) as caught:
        await house.manager.respond(task.id, "yes")
    assert caught.value.task_id == task.id
    house.runner.last.pause()
    await settle()
    await house.manager.respond(task.id, "yes")
    with pytest.raises(NotWaitingError):
        await house.manager.respond(task.id, "yes again")
    await settle()
    house.runner.last.complete()
    await settle()
    with pytest.raises(NotWaitingError):
        await house.manager.respond(task.id, "too late")
    with pytest.raises(TaskNotFoundError):
        await house.manager.respond("task_x", "yes")
    assert len(house.runner.calls) == 2
    await house.close()


@pytest.mark.parametrize("decision", list(Decision))
@pytest.mark.parametrize(
    ("message", "code"), [(" ", "message_empty"), ("x" * 8001, "message_too_long")]
)
@virtual
async def test_an_impossible_message_leaves_the_question_open(
    message: str, code: str, decision: Decision
) -> None:
    """An empty transcript is no answer."""
    house = await House().open()
    task = await house.waiting()
    with pytest.raises(TaskValueError) as caught:
        await house.manager.respond(task.id, message, decision=decision)
    assert caught.value.code == code
    assert house.manager.get(task.id).is_waiting
    await house.close()


@virtual
async def test_two_answers_at_the_same_moment_count_once() -> None:
    """Two people press at once while the disk is slow."""
    house = await House().open()
    task = await house.waiting()
    house.journal.delay_s = 1
    results = await asyncio.gather(
        house.manager.respond(task.id, "left"),
        house.manager.respond(task.id, "right"),
        return_exceptions=True,
    )
    assert isinstance(results[1], NotWaitingError)
    await asyncio.sleep(2)
    assert house.runner.last.request.continuation == "left"
    assert len(house.runner.calls) == 2
    stored = [record["continuation"] for record in house.journal.records]
    assert [answer for answer in stored if answer] == ["left"]
    await house.close()


@virtual
async def test_a_cancel_while_an_answer_is_being_stored_wins() -> None:
    """The answer is refused, the task does not come back to life, also after a crash."""
    house = await House().open()
    task = await house.waiting()
    house.journal.hold()
    answer = asyncio.create_task(house.manager.respond(task.id, "yes"))
    await settle()
    await house.manager.cancel(task.id)
    house.journal.let_go()
    with pytest.raises(NotWaitingError):
        await answer
    await settle()
    assert house.manager.get(task.id).status is TaskStatus.CANCELLED
    house = await house.crash()
    assert house.manager.get(task.id).status is TaskStatus.CANCELLED
    assert house.runner.calls == []
    await house.close()


@virtual
async def test_an_answer_that_cannot_be_stored_leaves_the_question_open() -> None:
    """And may be given again."""
    house = await House().open()
    task = await house.waiting()
    house.journal.failing = "No space left on device"
    with pytest.raises(TaskStorageError, match="No space left"):
        await house.manager.respond(task.id, "yes")
    assert house.manager.get(task.id).is_waiting
    house.journal.failing = None
    await house.manager.respond(task.id, "yes")
    await settle()
    assert house.runner.last.request.continuation == "yes"
    await house.close()


@virtual
async def test_the_next_task_runs_while_a_question_is_open() -> None:
    """Choosing an account needs no phone, so the phone is free."""
    house = await House().open()
    await house.waiting("asks", ReasonClass.AMBIGUOUS)
    await house.create("next")
    assert house.runner.last.request.goal == "next"
    await house.close()


@pytest.mark.parametrize(
    "reason",
    [
        ReasonClass.AUTHENTICATION,
        ReasonClass.CAPTCHA,
        ReasonClass.VERIFICATION_CODE,
        ReasonClass.BLACK_SCREEN,
        ReasonClass.SENSITIVE_OPERATION,
        ReasonClass.UNSUPPORTED_ACTION,
    ],
)
@virtual
async def test_the_phone_is_kept_for_the_person_for_two_minutes(
    reason: ReasonClass,
) -> None:
    """Somebody types a password on it: no task may tap in between."""
    house = await House().open()
    task = await house.waiting("asks", reason)
    await house.create("next")
    await asyncio.sleep(119)
    assert len(house.runner.calls) == 1
    await asyncio.sleep(2)
    assert house.runner.last.request.goal == "next"
    # The answer comes late: it is at the head and waits for the run.
    answered = await house.manager.respond(task.id, "done")
    assert answered.queue_position == 1
    house.runner.last.complete()
    await settle()
    assert house.runner.last.request.continuation == "done"
    await house.close()


@virtual
async def test_an_answer_within_the_two_minutes_resumes_at_once() -> None:
    """Before anything else that waits, and the reservation is over."""
    house = await House().open()
    task = await house.waiting("asks", ReasonClass.CAPTCHA)
    await house.create("next")
    await asyncio.sleep(30)
    await house.manager.respond(task.id, "solved")
    await settle()
    assert house.runner.last.request.continuation == "solved"
    house.runner.last.complete()
    await settle()
    assert house.runner.last.request.goal == "next"
    await house.close()


@pytest.mark.parametrize("how", ["refused", "cancelled"])
@virtual
async def test_giving_up_the_question_frees_the_phone_at_once(how: str) -> None:
    """Nobody works on the phone any more."""
    house = await House().open()
    task = await house.waiting("asks", ReasonClass.CAPTCHA)
    await house.create("next")
    if how == "refused":
        await house.manager.respond(task.id, "no", decision=Decision.REFUSED)
    else:
        await house.manager.cancel(task.id)
    await settle()
    assert house.runner.last.request.goal == "next"
    await house.close()


@virtual
async def test_another_answer_does_not_break_the_reservation() -> None:
    """Task A waits since yesterday and is answered while a person types for task B."""
    house = await House().open()
    older = await house.waiting("older", ReasonClass.AMBIGUOUS)
    task = await house.waiting("on the phone", ReasonClass.AUTHENTICATION)
    await house.manager.respond(older.id, "the blue one")
    await settle()
    assert len(house.runner.calls) == 2
    await house.manager.respond(task.id, "logged in")
    await settle()
    assert house.runner.last.request.continuation == "logged in"
    house.runner.last.complete()
    await settle()
    assert house.runner.last.request.continuation == "the blue one"
    await house.close()


@virtual
async def test_an_answer_is_never_refused_because_the_queue_is_full() -> None:
    """A resumed task has a reserved place at the head."""
    house = await House().open()
    first = await house.waiting("asks first")
    second = await house.waiting("asks second")
    for number in range(65):
        await house.manager.create(f"goal {number}", origin=ORIGIN)
        await settle()
    one = await house.manager.respond(first.id, "1")
    two = await house.manager.respond(second.id, "2")
    assert (one.queue_position, two.queue_position) == (1, 2)
    house.runner.last.complete()
    await settle()
    assert house.runner.last.request.continuation == "1"
    await house.close()


@virtual
async def test_an_answered_task_comes_before_waiting_ones_in_current() -> None:
    """What is in work: the run, else what was answered, else the longest wait."""
    house = await House().open()
    older = await house.waiting("older")
    await asyncio.sleep(1)
    newer = await house.waiting("newer", ReasonClass.CAPTCHA)
    assert house.manager.current == house.manager.get(older.id)
    # The phone is reserved for the newer one, so the older one stays in the queue.
    answered = await house.manager.respond(older.id, "x")
    assert house.manager.current == answered
    await house.manager.cancel(newer.id)
    await settle()
    assert house.runner.last.request.task_id == older.id
    await house.close()
