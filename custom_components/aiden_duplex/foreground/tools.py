"""The tools of the foreground. Each returns at once; none raises to the model."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..models.tools import ToolSpec, object_schema
from ..tasks.model import Decision
from .answer_tool import respond
from .task_tools import cancel, create, pause, query, update
from .tool_context import ToolContext
from .tool_errors import Output, error

type Handler = Callable[[ToolContext, Mapping[str, Any]], Awaitable[Output]]

_ID = {"type": "string", "minLength": 1, "maxLength": 100}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool and what it does."""

    spec: ToolSpec
    handler: Handler


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
        handler=create,
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
        handler=update,
    ),
    Tool(
        spec=ToolSpec(
            name="query_agent_task",
            description="Look how work stands: one piece by its id, or without an id everything "
            "that is under way or whose result was not told yet.",
            parameters=object_schema({"task_id": _ID}),
        ),
        handler=query,
    ),
    Tool(
        spec=ToolSpec(
            name="cancel_agent_task",
            description="Stop one piece of work, because the person wants that.",
            parameters=object_schema({"task_id": _ID}, required=["task_id"]),
        ),
        handler=cancel,
    ),
    Tool(
        spec=ToolSpec(
            name="pause_agent_task",
            description="Pause work because the person wants to do a part on the phone "
            "themselves. It waits until they say that they are done. Without an id: what is in "
            "work now.",
            parameters=object_schema({"task_id": _ID}),
        ),
        handler=pause,
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
        handler=respond,
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
