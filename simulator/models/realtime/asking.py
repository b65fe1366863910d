"""From a session's items to a question for the brain."""

import json
from typing import Any

from simulator.models.brain.thoughts import Call, Message, Question, Tool
from simulator.models.pictures import decode_data_url

from .items import Item


def question_of(session: dict[str, Any], items: list[Item]) -> Question:
    """Return what the brain is asked: instructions, items, tools."""
    choice = session["tool_choice"]
    tools = {
        tool["name"]: Tool(
            name=tool["name"],
            description=tool.get("description", ""),
            parameters=tool.get("parameters", {}),
        )
        for tool in session["tools"]
        if tool.get("type") == "function"
    }
    system = Message(role="system", text=session["instructions"])
    return Question(
        messages=[system, *(message for item in items if (message := _message(item)))],
        tools=tools,
        tool_choice=choice if isinstance(choice, str) else choice.get("name", "auto"),
    )


def _message(item: Item) -> Message | None:
    match item["type"]:
        case "message":
            texts = [
                p.get("text") or p.get("transcript") or "" for p in item["content"]
            ]
            images = [p["image_url"] for p in item["content"] if "image_url" in p]
            return Message(
                role=item["role"],
                text="\n".join(text for text in texts if text),
                images=tuple(decode_data_url(url) for url in images),
            )
        case "function_call":
            call = Call(
                name=item["name"],
                arguments=_arguments(item["arguments"]),
                call_id=item["call_id"],
            )
            return Message(role="assistant", calls=(call,))
        case "function_call_output":
            return Message(role="tool", text=item["output"], call_id=item["call_id"])
    return None


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
