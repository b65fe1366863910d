"""Is what the manager shows what the reference says?"""

from typing import Any

from custom_components.aiden_duplex.tasks.consents import ConsentState
from custom_components.aiden_duplex.tasks.model import ReasonClass, Task
from tests.tasks.house import House

from .reference import Model
from .things import ModelTask

_ON_THE_PHONE = (
    ReasonClass.CAPTCHA,
    ReasonClass.SENSITIVE_OPERATION,
    ReasonClass.TAKE_OVER,
)


def difference(house: House, model: Model) -> str | None:
    """Return what differs, for a person; None if nothing does."""
    seen, expected = _seen(house), _expected(model)
    for name, value in expected.items():
        if seen[name] != value:
            return f"{name}\n   seen: {seen[name]}\nexpected: {value}"
    if model.run is not None:
        current = house.manager.current
        assert current is not None
        assert current.id == model.run.task.id
    return None


def labels(model: Model) -> dict[str, tuple[str, str]]:
    """Return in words how every task stands and how far its ending got."""
    return {
        task.id: (_state(model, task), task.delivery) for task in model.tasks.values()
    }


def _state(model: Model, task: ModelTask) -> str:
    if task.asks:
        return "waiting"
    if task.status == "running" and task in model.resumed:
        return "resumed"
    return task.status


def _seen(house: House) -> dict[str, Any]:
    manager = house.manager
    return {
        "tasks": [_seen_task(task) for task in manager.tasks()],
        "outstanding": [task.id for task in manager.outstanding()],
        "unheard": [task.id for task in manager.unheard()],
        "number of the last ending": manager.terminal_sequence,
        "kill switch": manager.halted,
        "consents": _seen_consents(house),
        # Shown to nobody, but two pasts may differ in nothing else.
        "recoveries": {
            item.stored.task.id: item.stored.recoveries for item in manager._book.items
        },
        "runs": [
            (
                call.request.task_id,
                call.request.goal,
                call.request.goal_revision,
                call.request.continuation,
                call.request.recovered,
            )
            for call in house.runner.calls
        ],
    }


def _seen_consents(house: House) -> list[int]:
    """Return how often this process asked for a consent and used one.

    A yes that is withdrawn before it is durable is not noted as given.
    """
    states = [change.state for _, change in house.audit]
    assert states.count(ConsentState.USED) <= states.count(ConsentState.GIVEN)
    return [states.count(ConsentState.ASKED), states.count(ConsentState.USED)]


def _expected(model: Model) -> dict[str, Any]:
    positions = {task.id: number for number, task in enumerate(model.queue, 1)}
    return {
        "tasks": [
            _expected_task(task, positions.get(task.id))
            for task in model.newest_first()
        ],
        "outstanding": model.outstanding(),
        "unheard": model.unheard(),
        "number of the last ending": model.endings,
        "kill switch": model.halted,
        "consents": [model.asked, model.used],
        "recoveries": {task.id: task.recoveries for task in model.tasks.values()},
        "runs": [
            (run.task.id, run.goal, run.began_with, run.answer, run.recovered)
            for run in model.runs
        ],
    }


def _seen_task(task: Task) -> tuple[object, ...]:
    assert not (task.status.is_terminal and task.pending_user_action)
    assert task.applied_revision <= task.goal_revision
    if task.status == "completed" and task.outcome == "achieved":
        assert task.applied_revision == task.goal_revision
    action = task.pending_user_action
    return (
        task.id,
        task.prompt,
        str(task.status),
        task.is_waiting,
        action is not None and action.reason in _ON_THE_PHONE,
        task.queue_position,
        str(task.delivery),
        task.terminal_sequence,
        task.started_at is not None,
        task.goal_revision,
        task.applied_revision,
        task.tellings,
        task.heard is not None,
    )


def _expected_task(task: ModelTask, position: int | None) -> tuple[object, ...]:
    return (
        task.id,
        task.goal,
        task.status,
        task.asks,
        task.asks and task.asked_at is not None,
        position,
        task.delivery,
        task.number,
        task.started,
        task.revision,
        task.applied,
        task.tellings,
        task.heard,
    )
