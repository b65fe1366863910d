"""The foreground's tools by what they are for, and their arguments by their names."""

from collections.abc import Mapping
import re
from typing import Any

from .thoughts import Call, Reply, Tool

PURPOSES = {
    "create": r"create.*task",
    "query": r"query.*task|get.*task|list.*task",
    "cancel": r"cancel.*task",
    "pause": r"pause.*task",
    "update": r"update.*task",
    "answer": r"user_action|answer",
    "time": r"time",
    "end": r"end_conversation|standby|hang_?up",
}
"""What tools are for, by their names."""


def is_for(purpose: str, name: str) -> bool:
    """Tell whether a tool of this name is for a purpose."""
    return re.search(PURPOSES[purpose], name) is not None


class Hands:
    """The tools that are offered, by what they are for."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        """Sort the tools."""
        self._tools = {
            kind: next(
                (t for name, t in tools.items() if re.search(pattern, name)), None
            )
            for kind, pattern in PURPOSES.items()
        }

    def has(self, kind: str) -> bool:
        """Return whether a kind of tool is offered."""
        return self._tools[kind] is not None

    def call(self, kind: str, **values: Any) -> Reply:
        """Return a call with the values fitted to the tool's own argument names."""
        tool = self._tools[kind]
        if tool is None:
            return Reply(text="I am sorry, I cannot do that right now.")
        arguments = {
            name: value
            for name, schema in tool.properties.items()
            if (value := _argument(name, schema, values)) is not None
        }
        return Reply(calls=(Call(name=tool.name, arguments=arguments),))


def _argument(name: str, schema: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    patterns = {
        "distinct": r"distinct",
        "action_id": r"(action|question|request).*id",
        "task_id": r"(^|task_?)id$",
        "refused": r"decision|outcome|refus|agree|accept|completed",
        "timezone": r"zone|tz",
        "message": r"message|answer|response|text|reply",
        "goal": r"task|goal|prompt|request|instruction",
    }
    for key, pattern in patterns.items():
        if name.endswith("id") and not key.endswith("_id"):
            continue  # A goal or an answer is never an id.
        if key in values and re.search(pattern, name) and values[key] is not None:
            value = values[key]
            break
    else:
        return None
    if key != "refused":
        return value
    if schema.get("type") == "boolean":
        return bool(value) if "refus" in name else not value
    options = [str(o) for o in schema.get("enum", [])]
    wanted = r"refus|declin|no" if value else r"answer|done|complete|yes|accept"
    return next(
        (o for o in options if re.search(wanted, o)), options[0] if options else None
    )
