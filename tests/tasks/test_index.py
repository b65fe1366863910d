"""The index of tasks, against a look through all of them."""

from datetime import UTC, datetime

from hypothesis import given, settings, strategies as st

from custom_components.aiden_duplex.tasks.duplicates import normalise_goal
from custom_components.aiden_duplex.tasks.index import TaskIndex
from custom_components.aiden_duplex.tasks.model import (
    Delivery,
    Heard,
    Origin,
    Task,
    TaskStatus,
)
from custom_components.aiden_duplex.tasks.queue import Lane, Place, TaskQueue
from tests.examples import examples

AT = datetime(2026, 10, 1, tzinfo=UTC)
IDS = st.sampled_from("abcdef")
GOALS = st.sampled_from(["open the app", "Open the app!", "close it", "?"])
IN_FLIGHT = st.builds(
    Task,
    id=IDS,
    prompt=GOALS,
    status=st.sampled_from(
        [TaskStatus.QUEUED, TaskStatus.RUNNING, TaskStatus.CANCELLING]
    ),
    created_at=st.just(AT),
    updated_at=st.just(AT),
    origin=st.just(Origin(source="action")),
)
ENDED = st.builds(
    Task,
    id=IDS,
    prompt=GOALS,
    status=st.sampled_from([status for status in TaskStatus if status.is_terminal]),
    created_at=st.just(AT),
    updated_at=st.just(AT),
    origin=st.just(Origin(source="action")),
    delivery=st.sampled_from([state for state in Delivery if state != Delivery.NONE]),
    heard=st.none() | st.just(Heard.PLAYED),
    terminal_sequence=st.none() | st.integers(1, 5),
)
CHANGES = st.lists(IN_FLIGHT | ENDED | IDS, max_size=20)
"""A task as it stands from then on, or the id of one that is forgotten."""


def _play(changes: list[Task | str]) -> tuple[TaskIndex, dict[str, Task]]:
    """Return the index and the tasks as they stand after the changes."""
    index = TaskIndex()
    tasks: dict[str, Task] = {}
    for change in changes:
        if isinstance(change, Task):
            index.put(change)
            tasks[change.id] = change
        elif tasks.pop(change, None) is not None:
            index.drop(change)
    return index, tasks


@settings(deadline=None, max_examples=examples(200))
@given(CHANGES)
def test_the_index_finds_what_a_look_through_all_finds(
    changes: list[Task | str],
) -> None:
    """By what a task waits for, and by what its goal means."""
    index, tasks = _play(changes)
    every = tasks.values()
    assert set(index.outstanding) == {task.id for task in every if task.is_outstanding}
    assert set(index.waiting_for(Delivery.DELIVERED)) == {
        task.id for task in every if task.status.is_terminal and task.is_unheard
    }
    for state in (Delivery.QUEUED, Delivery.CLAIMED, Delivery.DELIVERING):
        assert set(index.waiting_for(state)) == {
            task.id for task in every if task.delivery is state
        }
    for goal in ("open the app", "close it", "?", "nobody's"):
        assert set(index.with_goal(goal)) == {
            task.id
            for task in every
            if not task.status.is_terminal
            and normalise_goal(task.prompt) == normalise_goal(goal)
        }


@settings(deadline=None, max_examples=examples(200))
@given(CHANGES, st.integers(0, 4), st.integers(0, 4))
def test_old_endings_are_surplus_and_untold_ones_last(
    changes: list[Task | str], remembered: int, untold: int
) -> None:
    """Counted from the newest ending; those that must be told have a bound of their own."""
    index, tasks = _play(changes)
    ended = sorted(
        (task for task in tasks.values() if task.status.is_terminal),
        key=lambda task: (task.terminal_sequence or 0, task.id),
        reverse=True,
    )
    waiting = [task for task in ended if task.is_outstanding]
    expected = {task.id for task in waiting[untold:]} | {
        task.id for task in ended[remembered:] if not task.is_outstanding
    }
    if len(ended) <= remembered:
        expected = set()
    assert set(index.surplus(remembered=remembered, untold=untold)) == expected


PLACES = st.tuples(st.sampled_from(Lane), st.integers(-3, 3))


@settings(deadline=None, max_examples=examples(200))
@given(st.lists(st.tuples(IDS, st.none() | PLACES), max_size=20))
def test_the_queue_is_sorted_by_places(moves: list[tuple[str, Place | None]]) -> None:
    """Whatever is put, put again and taken out."""
    queue = TaskQueue()
    places: dict[str, Place] = {}
    for task_id, place in moves:
        if place is None:
            queue.discard(task_id)
            places.pop(task_id, None)
        else:
            queue.put(task_id, place)
            places[task_id] = place
    order = sorted(places, key=lambda task_id: (places[task_id], task_id))
    assert [queue.position(task_id) for task_id in order] == [*range(1, len(order) + 1)]
    assert {
        queue.position(task_id) for task_id in "abcdef" if task_id not in places
    } <= {None}
    assert (queue.head, len(queue)) == (order[0] if order else None, len(order))
    assert queue.new_tasks == sum(lane is Lane.NEW for lane, _number in places.values())
    assert all(queue.first_place() < place for place in places.values())
