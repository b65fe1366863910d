"""The pure parts: goals compared, places in the queue, records."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
import orjson
import pytest

from custom_components.aiden_duplex.tasks.duplicates import normalise_goal
from custom_components.aiden_duplex.tasks.model import (
    Consent,
    ConsentHow,
    ConsentRequest,
    Delivery,
    Origin,
    Outcome,
    ReasonClass,
    Task,
    TaskStatus,
    UserAction,
)
from custom_components.aiden_duplex.tasks.queue import Lane, TaskQueue
from custom_components.aiden_duplex.tasks.records import Stored, decode_all, encode
from tests.examples import examples

UNHURRIED = settings(
    deadline=None,
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Turn on airplane mode.", "turn on  AIRPLANE mode"),
        ("“Open” the app!", "open the app"),
        ("Straße öffnen", "STRASSE ÖFFNEN"),
        ("打开飞行模式。", "打开飞行模式"),
        ("turn\non\tit", "turn on it"),
        ("\uff34urn on", "turn on"),
    ],
)
def test_goals_that_mean_the_same(one: str, other: str) -> None:
    """Case, space, width and sentence punctuation do not matter."""
    assert normalise_goal(one) == normalise_goal(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("set it to -5", "set it to 5"),
        ("set it to 1.5", "set it to 15"),
        ("set it to 1.5", "set it to 1 5"),
        ("alarm at 10:30", "alarm at 1030"),
        ("learn C#", "learn C"),
        ("learn C++", "learn C"),
        ("call Ann", "call Anna"),
        ("?", "!"),
        ("send 👍", "send 👎"),
        ("turn it on", "turn it off"),
    ],
)
def test_goals_that_differ(one: str, other: str) -> None:
    """A wrong "already running" would be worse than asking twice."""
    assert normalise_goal(one) != normalise_goal(other)


@UNHURRIED
@given(st.text())
def test_space_around_a_goal_does_not_matter(text: str) -> None:
    """Whatever the goal is, also nothing at all."""
    assert normalise_goal(text) == normalise_goal(f" {text}\n")


def test_resumed_tasks_stand_before_new_ones() -> None:
    """And what is recovered before all."""
    queue = TaskQueue()
    queue.put("new 1", queue.next_place(Lane.NEW))
    queue.put("answered 1", queue.next_place(Lane.RESUMED))
    queue.put("new 2", queue.next_place(Lane.NEW))
    queue.put("answered 2", queue.next_place(Lane.RESUMED))
    queue.put("recovered", queue.first_place())
    order = ["recovered", "answered 1", "answered 2", "new 1", "new 2"]
    assert [queue.position(task_id) for task_id in order] == [1, 2, 3, 4, 5]
    assert (queue.head, queue.new_tasks, len(queue)) == ("recovered", 2, 5)
    queue.discard("recovered")
    queue.discard("unknown")
    queue.put("new 1", queue.next_place(Lane.NEW))
    order = ["answered 1", "answered 2", "new 2", "new 1"]
    assert [queue.position(task_id) for task_id in order] == [1, 2, 3, 4]
    assert queue.position("recovered") is None


def test_the_first_place_is_also_before_those_not_taken_yet() -> None:
    """The task that was given one is on its way to the disk; nobody else stands there."""
    queue = TaskQueue()
    given = queue.next_place(Lane.RESUMED)
    first, before_that = queue.first_place(), queue.first_place()
    assert before_that < first < given
    queue.put("new", given)
    assert queue.first_place() < before_that


TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
ACTIONS = st.builds(
    UserAction,
    id=TEXTS,
    reason=st.sampled_from(ReasonClass),
    details=TEXTS,
    suggested_action=TEXTS,
    created_at=TIMES,
    consent=st.none() | st.builds(ConsentRequest, act=TEXTS, screen=TEXTS),
)
ORIGINS = st.builds(
    Origin,
    source=st.sampled_from(["conversation", "action", "system"]),
    user_id=st.none() | TEXTS,
    context_id=st.none() | TEXTS,
    device_id=st.none() | TEXTS,
)
CONSENTS = st.builds(
    Consent,
    question_id=TEXTS,
    act=TEXTS,
    screen=TEXTS,
    revision=st.integers(1, 9),
    given_at=TIMES,
    given_by=ORIGINS,
    given_how=st.sampled_from(ConsentHow),
    used_at=st.none() | TIMES,
)
TASKS = st.builds(
    Task,
    id=TEXTS,
    prompt=TEXTS,
    status=st.sampled_from([status for status in TaskStatus if status != "created"]),
    created_at=TIMES,
    updated_at=TIMES,
    origin=ORIGINS,
    result=st.none() | TEXTS,
    error=st.none() | TEXTS,
    started_at=st.none() | TIMES,
    completed_at=st.none() | TIMES,
    pending_user_action=st.none() | ACTIONS,
    outcome=st.none() | st.sampled_from(Outcome),
    evidence=st.none() | TEXTS,
    goal_revision=st.integers(1, 9),
    applied_revision=st.integers(0, 9),
    delivery=st.sampled_from(
        [Delivery.NONE, Delivery.QUEUED, Delivery.DELIVERED, Delivery.SUPPRESSED]
    ),
    terminal_sequence=st.none() | st.integers(1, 10**6),
)
STORED = st.builds(
    Stored,
    task=TASKS,
    place=st.tuples(st.sampled_from(Lane), st.integers(-(10**6), 10**6)),
    resumed=st.booleans(),
    continuation=st.none() | TEXTS,
    recovered=st.booleans(),
    recoveries=st.integers(0, 3),
    consent=st.none() | CONSENTS,
)


@UNHURRIED
@given(STORED)
def test_a_record_gives_the_task_back(stored: Stored) -> None:
    """Through JSON and back, all but what ends with the process."""
    record: dict[str, Any] = orjson.loads(orjson.dumps(encode(stored)))
    assert decode_all([record]) == {stored.task.id: stored}


@UNHURRIED
@given(STORED, st.sampled_from([Delivery.CLAIMED, Delivery.DELIVERING]))
def test_a_claim_is_kept_as_queued(stored: Stored, delivery: Delivery) -> None:
    """A session does not survive the process."""
    record = encode(stored.with_task(delivery=delivery, step="x", queue_position=3))
    expected = stored.with_task(delivery=Delivery.QUEUED)
    assert decode_all([record]) == {stored.task.id: expected}


@UNHURRIED
@given(STORED, STORED, st.data())
def test_a_record_that_lost_a_field_costs_only_itself(
    good: Stored, bad: Stored, data: st.DataObject
) -> None:
    """Never an error that keeps everything from loading."""
    record = encode(bad)
    field = data.draw(st.sampled_from(sorted(record)))
    del record[field]
    result = decode_all([encode(good), record])
    assert good.task.id in result or bad.task.id == good.task.id
