"""Failures of tools as values that tell the model what to do. No tool raises to a model."""

from typing import Any

from ..tasks.errors import (
    ConsentNeedsPersonError,
    DuplicateTaskError,
    HaltedError,
    NotRunningError,
    NotUpdatableError,
    NotWaitingError,
    StaleQuestionError,
    TaskError,
    TaskNotFoundError,
    TaskQueueFullError,
)
from .task_view import task_views

type Output = dict[str, Any]


def error(code: str, what_to_do: str, **more: Any) -> Output:
    """Return a failure as a value that tells the model what to do about it."""
    return {"error": code, "what_to_do": what_to_do, **more}


def task_error(err: TaskError) -> Output:
    """Return the value of a refusal by the task manager."""
    match err:
        case DuplicateTaskError():
            return error(
                "outstanding_work",
                "Nothing was created. If one of these covers the wish, tell the person how it "
                "stands. If the wish is other work, call again with all these ids in distinct_from.",
                outstanding=task_views(err.outstanding),
            )
        case TaskNotFoundError():
            return error(
                err.code,
                "There is no such id. Look with query_agent_task without an id.",
            )
        case NotWaitingError():
            return error(
                err.code,
                "It does not wait for the person. Look with query_agent_task how it stands.",
            )
        case StaleQuestionError():
            return error(
                err.code,
                "The question has changed. Look with query_agent_task and ask the person again.",
            )
        case ConsentNeedsPersonError():
            return error(
                err.code,
                "Not passed on: it asks for a consent that only a signed-in person can give. "
                "Tell the person to allow it with the button of Home Assistant, or to refuse.",
            )
        case NotUpdatableError():
            return error(
                err.code,
                "Its goal was not changed: it has ended or is being stopped. Look with "
                "query_agent_task; what is still wanted is new work.",
            )
        case NotRunningError():
            return error(
                err.code,
                "Nothing was paused: it is not in work now. Look with query_agent_task how it stands.",
            )
        case HaltedError():
            return error(
                err.code,
                "Nothing was created: the kill switch is on, and only the person can turn it off. "
                "Tell them so.",
            )
        case TaskQueueFullError():
            return error(
                err.code,
                "Nothing was created: too much work waits. Tell the person; offer to stop some.",
            )
        case _:
            return error(err.code, f"It was not done: {err}. Tell the person.")
