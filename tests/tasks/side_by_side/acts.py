"""One thing that somebody does: to the manager, and to the reference."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.tasks.house import House

from .reference import Model
from .things import ModelTask

UNKNOWN = "TaskNotFoundError"

type Start = Callable[[House], Awaitable[object]]
"""Does it; what it returns is compared with what the reference says."""
type Expect = Callable[[Model, object], object]
"""Lets the reference do it; it gets what the manager said, for the ids that it chose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What is done at one moment; a refusal is told as the name of its error."""

    name: str
    start: Start
    expect: Expect
    is_promised: bool = True
    """It is durable once it has returned."""


def of_task(task_id: str, change: Callable[[Model, ModelTask], object]) -> Expect:
    """Let the reference change a task; what was forgotten cannot be found."""

    def expect(model: Model, seen: object) -> object:
        if (task := model.tasks.get(task_id)) is None:
            return UNKNOWN
        return change(model, task)

    return expect


def of_all(change: Callable[[Model], object]) -> Expect:
    """Let the reference change something that is about no task in particular."""

    def expect(model: Model, seen: object) -> object:
        return change(model)

    return expect
