"""The tools of the foreground. Each returns at once; none raises to the model."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from ..models.tools import ToolSpec, object_schema
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
from ..tasks.manager import TaskManager
from ..tasks.model import Assent, ConsentHow, Decision, Origin, Task, UserAction
from .delivery import Delivery
from .task_view import WHOLE_VIEWS, task_view, task_views
from .yes_words import is_yes

type Output = dict[str, Any]
type Handler = Callable[[ToolContext, Mapping[str, Any]], Awaitable[Output]]

SHOWN_S = 3.0
"""How long a question must have been on show before a text can be its answer."""
_ID = {"type": "string", "minLength": 1, "maxLength": 100}


async def nobody(_speaker: Origin) -> bool:
    """Return that this is no person for certain."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What the tools of one turn work with."""

    tasks: TaskManager
    delivery: Delivery
    speaker: Origin
    now: Callable[[], datetime]
    """The local time, aware."""
    time_zone: Callable[[str], Awaitable[tzinfo | None]]
    """Finds a time zone by its IANA name."""
    phone_ready: Callable[[], str | None]
    """Why the phone cannot be worked now, as a sentence; None when it can."""
    arrived_at: datetime
    """When the person's text arrived, aware: what was asked later is not answered by it."""
    ending: asyncio.Event
    """Set when the session is to be closed after the answer."""
    text: str = ""
    """What the person said in this turn, to the letter."""
    is_latest: Callable[[], bool] = lambda: True
    """Whether they have said nothing since."""
    is_person: Callable[[Origin], Awaitable[bool]] = nobody
    """Whether a speaker certainly is a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool and what it does."""

    spec: ToolSpec
    handler: Handler


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


async def _create(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
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


async def _query(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
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


async def _cancel(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
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


async def _update(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
    task = await context.tasks.update(arguments["task_id"], arguments["task"])
    return {
        "task_id": task.id,
        "status": str(task.status),
        "note": "The goal is replaced; the work goes on with it. It is NOT done yet, and what "
        "was done for the old goal is not undone.",
    }


async def _pause(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
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


async def _respond(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
    task = context.tasks.get(arguments["task_id"])
    told = context.delivery.question_told(task.id)
    question = task.pending_user_action
    current = question if question and told in (None, question.id) else None
    if current and not _was_asked(context, task):
        context.delivery.note_question(task)
        return error(
            "question_not_asked",
            "The person has not been asked this. Ask now; pass on only their answer to it.",
            **task_view(task),
        )
    decision = Decision(arguments.get("decision", Decision.ANSWERED))
    message, assent = arguments["user_message"], None
    if current and current.consent and decision is Decision.ANSWERED:
        if (refusal := _no_consent(context, task, current)) is not None:
            return refusal
        if await context.is_person(context.speaker) and context.is_latest():
            assent = Assent(by=context.speaker, how=ConsentHow.SAID)
        # Nothing of the model goes along with the person's yes.
        message = context.text
    task = await context.tasks.respond(
        task.id,
        message,
        decision=decision,
        question_id=told or (question.id if question else None),
        assent=assent,
    )
    if decision is Decision.REFUSED:
        await context.delivery.note_read(task)
        return {
            "task_id": task.id,
            "status": str(task.status),
            "outcome": task.outcome and str(task.outcome),
            "note": "Refused: the work has ended and does NOT go on. Tell the person so.",
        }
    return {
        "task_id": task.id,
        "status": str(task.status),
        "note": "Passed on. The work goes on with it, it is NOT done yet."
        if not task.status.is_terminal
        else "Passed on; the work has ended.",
    }


def _no_consent(
    context: ToolContext, task: Task, question: UserAction
) -> Output | None:
    """Return why what the person said is no yes to what they heard; None if it is.

    Code decides, not the model: a consent is theirs alone.
    """
    if context.delivery.question_heard(task.id) != question.id:
        # Shown is not enough here: a yes may have been meant for something else.
        context.delivery.note_question(task)
        return error(
            "question_not_asked",
            "The person has not heard this yet. Ask now whether it may be done, yes or no; "
            "pass on only their answer to it.",
            **task_view(task),
        )
    if not is_yes(context.text) or not context.is_latest():
        return error(
            "no_clear_yes",
            "Not passed on: it needs a plain yes of the person to exactly this. Ask them "
            "plainly: yes or no. If they want it otherwise, call update_agent_task; if they "
            "do not want it, pass on that they refused.",
            **task_view(task),
        )
    return None


def _was_asked(context: ToolContext, task: Task) -> bool:
    """Return whether the person knew the question before they said their text.

    They heard it in an earlier reply, or saw it: questions are shown as a notification
    at once.
    """
    question = task.pending_user_action
    if question is None:
        return False
    if context.delivery.question_heard(task.id) == question.id:
        return True
    return (context.arrived_at - question.created_at).total_seconds() >= SHOWN_S


async def _time(context: ToolContext, arguments: Mapping[str, Any]) -> Output:
    now = context.now()
    if name := arguments.get("timezone"):
        zone = await context.time_zone(name)
        if zone is None:
            return error(
                "unknown_timezone",
                "Use an IANA name such as Europe/Berlin, or none for the local time.",
            )
        now = now.astimezone(zone)
    return {
        "local_time": now.isoformat(timespec="seconds"),
        "weekday": now.strftime("%A"),
        "timezone": str(now.tzinfo),
        "utc_offset": now.strftime("%:z"),
    }


async def _end(context: ToolContext, _arguments: Mapping[str, Any]) -> Output:
    context.ending.set()
    return {"status": "ending", "note": "Say a short goodbye now."}


TOOLS: tuple[Tool, ...] = (
    Tool(
        spec=ToolSpec(
            name="create_agent_task",
            description="Give away work on the person's phone. Only queues it: the result comes "
            "later by itself. Look with query_agent_task first at what is outstanding; all "
            "outstanding ids must be named in distinct_from, or nothing is created.",
            parameters=object_schema(
                {
                    "task": {
                        "type": "string",
                        "description": "The complete goal, with every detail the person gave.",
                        "minLength": 1,
                        "maxLength": 8000,
                    },
                    "distinct_from": {
                        "type": "array",
                        "items": _ID,
                        "description": "The ids of all outstanding work that this is not.",
                    },
                },
                required=["task"],
            ),
        ),
        handler=_create,
    ),
    Tool(
        spec=ToolSpec(
            name="update_agent_task",
            description="Replace the goal of work that is under way, because the person changed "
            "their mind about it. Never cancel and create anew instead.",
            parameters=object_schema(
                {
                    "task_id": _ID,
                    "task": {
                        "type": "string",
                        "description": "The complete new goal; it replaces the old one.",
                        "minLength": 1,
                        "maxLength": 8000,
                    },
                },
                required=["task_id", "task"],
            ),
        ),
        handler=_update,
    ),
    Tool(
        spec=ToolSpec(
            name="query_agent_task",
            description="Look how work stands: one piece by its id, or without an id everything "
            "that is under way or whose result was not told yet.",
            parameters=object_schema({"task_id": _ID}),
        ),
        handler=_query,
    ),
    Tool(
        spec=ToolSpec(
            name="cancel_agent_task",
            description="Stop one piece of work, because the person wants that.",
            parameters=object_schema({"task_id": _ID}, required=["task_id"]),
        ),
        handler=_cancel,
    ),
    Tool(
        spec=ToolSpec(
            name="pause_agent_task",
            description="Pause work because the person wants to do a part on the phone "
            "themselves. It waits until they say that they are done. Without an id: what is in "
            "work now.",
            parameters=object_schema({"task_id": _ID}),
        ),
        handler=_pause,
    ),
    Tool(
        spec=ToolSpec(
            name="response_user_action",
            description="Pass on what the person answered to work that waits for them, or that "
            "they did what was asked. Only after the person said it.",
            parameters=object_schema(
                {
                    "task_id": _ID,
                    "user_message": {
                        "type": "string",
                        "description": "What the person said, in their words.",
                        "minLength": 1,
                        "maxLength": 8000,
                    },
                    "decision": {
                        "type": "string",
                        "enum": [str(decision) for decision in Decision],
                        "description": "refused when the person says no; else answered.",
                    },
                },
                required=["task_id", "user_message"],
            ),
        ),
        handler=_respond,
    ),
    Tool(
        spec=ToolSpec(
            name="get_current_time",
            description="The date, time and time zone now.",
            parameters=object_schema(
                {
                    "timezone": {
                        "type": "string",
                        "description": "An IANA name; the local one without it.",
                        "maxLength": 100,
                    }
                }
            ),
        ),
        handler=_time,
    ),
    Tool(
        spec=ToolSpec(
            name="end_conversation",
            description="End the conversation after a goodbye, because the person takes leave "
            "in their latest message.",
        ),
        handler=_end,
    ),
)
