"""Tools that create, look up, change and stop work."""

from collections.abc import Mapping
from typing import Any

from ..tasks.errors import DuplicateTaskError
from .task_view import WHOLE_VIEWS, task_views
from .tool_context import ToolContext
from .tool_errors import Output, error


async def create(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
    """Create work: tool ``create_agent_task``."""
    if (reason := context.phone_ready()) is not None:
        return error(
            "phone_not_connected",
            f"Nothing was created: {reason}. Tell the person that it cannot be done now, and why.",
        )
    distinct_from = tuple(arguments.get("distinct_from", ()))
    # What this very answer reports has not been heard: it may be what the person means.
    unheard = context.delivery.unheard_endings
    if any(task.id not in distinct_from for task in unheard):
        outstanding = context.tasks.outstanding()
        raise DuplicateTaskError(outstanding=(*unheard, *outstanding))
    task = await context.tasks.create(
        arguments["task"], origin=context.speaker, distinct_from=distinct_from
    )
    return {
        "task_id": task.id,
        "status": "queued",
        "note": "queued, NOT done yet. The result comes later by itself. "
        "Tell the person that you are on it, not that it is done.",
    }


async def query(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
    """Tell how work stands: tool ``query_agent_task``."""
    if (task_id := arguments.get("task_id")) is not None:
        tasks = [context.tasks.get(task_id)]
    else:
        tasks = list(context.tasks.outstanding())
    for task in tasks[:WHOLE_VIEWS]:
        await context.delivery.note_read(task)
    views = task_views(tasks)
    if task_id is not None:
        return views[0]
    if not views:
        return {"tasks": [], "note": "Nothing is under way and no result is untold."}
    return {"tasks": views}


async def cancel(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
    """Stop work: tool ``cancel_agent_task``."""
    result = await context.tasks.cancel(arguments["task_id"])
    output: Output = {
        "task_id": result.task.id,
        "status": str(result.task.status),
        "pending_notification_cleared": result.notification_cleared,
    }
    if result.already_ended:
        output["note"] = (
            "It had ended before: nothing was stopped, and what it did is not undone."
        )
    elif result.task.status.is_terminal:
        # The model has it with this: it is not told once more.
        await context.delivery.note_read(result.task)
        output["note"] = (
            "Stopped before it was done. What it did already is not undone."
        )
    else:
        output["note"] = "Being stopped, NOT stopped yet. What it did is not undone."
    return output


async def update(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
    """Replace a goal: tool ``update_agent_task``."""
    task = await context.tasks.update(arguments["task_id"], arguments["task"])
    return {
        "task_id": task.id,
        "status": str(task.status),
        "note": "The goal is replaced; the work goes on with it. It is NOT done yet, and what "
        "was done for the old goal is not undone.",
    }


async def pause(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
    """Pause work for the person: tool ``pause_agent_task``."""
    task = await context.tasks.take_over(arguments.get("task_id"))
    output: Output = {"task_id": task.id, "status": str(task.status)}
    on_the_phone = context.tasks.on_the_phone
    if task.is_waiting:
        # Who asked for it knows the question.
        context.delivery.note_question(task)
    if task.is_waiting and on_the_phone not in (None, task.id):
        output["note"] = (
            "It waits already, but OTHER work is on the phone now, so the phone is NOT the "
            "person's. Pause that one if they want the phone now."
        )
        output["on_the_phone"] = on_the_phone
    elif task.is_waiting:
        output["note"] = (
            "Paused: the phone is the person's now. When they say that their part is done, "
            "pass that on with response_user_action."
        )
    elif task.status.is_terminal:
        output["note"] = "It ended before it could be paused."
    else:
        output["note"] = (
            "Being paused, NOT paused yet: the person should wait a moment."
        )
    return output
