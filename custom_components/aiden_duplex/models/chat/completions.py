"""Chat Completions, as OpenAI and every compatible server speak it. No I/O.

Only fields that all known servers take are sent: Ollama knows no ``tool_choice``, LM
Studio no ``developer`` role, several answer 400 to a field that they do not know.
"""

import base64
from collections.abc import Collection, Iterator, Mapping, Sequence
import json
import re
from typing import Any

from ..tools import ToolCall, ToolSpec
from . import plain_calls
from .messages import (
    ChatMessage,
    ChatReply,
    ChatRole,
    FinishReason,
    ToolChoice,
    UnusableReplyError,
    Usage,
)

NO_OUTPUT = "(no output)"
_INVALID_IN_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_FINISH_REASONS = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
# What servers call the model's thinking when they keep it apart from the text.
_THINKING_FIELDS = ("reasoning_content", "reasoning", "thinking")


def request_body(
    model: str,
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolSpec],
    tool_choice: ToolChoice = "auto",
) -> dict[str, Any]:
    """Return the JSON body of a request; ``auto`` is every server's default and not sent."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [
            encoded
            for message in messages
            if (encoded := _encode_message(message)) is not None
        ],
    }
    if tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in tools
        ]
        if tool_choice != "auto":
            body["tool_choice"] = tool_choice
    return body


def parse_reply(
    payload: object,
    *,
    tool_names: Collection[str] = (),
    taken_ids: Collection[str] = (),
) -> ChatReply:
    """Return the reply in a response's JSON value.

    ``tool_names`` are the tools that were offered: only these are recognised in text
    that carries no wrapper. ``taken_ids`` are the call ids of the conversation: a
    missing or repeated id is replaced by a new one.

    Raises:
        UnusableReplyError: The value is no chat completion, or the reply was cut off.

    """
    choice = _first_choice(payload)
    message = choice["message"]
    finish = _FINISH_REASONS.get(
        str(choice.get("finish_reason")).lower(), FinishReason.OTHER
    )
    split = plain_calls.split_thinking(_text(message))
    calls = list(_structured_calls(message))
    text = split.text
    if not calls:
        thinking = split.thinking or _thinking(message)
        found = plain_calls.find(text, thinking=thinking, tool_names=tool_names)
        calls = [(None, call.name, call.arguments, None) for call in found.calls]
        text = found.text
    if finish is FinishReason.LENGTH and not _is_whole(calls):
        raise UnusableReplyError(
            "The model's answer was cut off at its length limit before it was complete."
        )
    tool_calls, extras = _with_ids(calls, taken_ids)
    return ChatReply(
        text=text,
        tool_calls=tool_calls,
        finish_reason=finish,
        usage=_usage(payload),
        echo=_echo(message, extras) if tool_calls else {},
    )


def call_ids(messages: Sequence[ChatMessage]) -> set[str]:
    """Return the ids of all calls in a conversation."""
    return {call.call_id for message in messages for call in message.tool_calls}


# ---- to the server ---------------------------------------------------------------


def _encode_message(message: ChatMessage) -> dict[str, Any] | None:
    """Return a message's JSON value; None for one with nothing in it (servers refuse those)."""
    match message.role:
        case ChatRole.SYSTEM:
            return {"role": "system", "content": message.text} if message.text else None
        case ChatRole.TOOL:
            return {
                "role": "tool",
                "tool_call_id": message.tool_call_id,
                "content": message.text or NO_OUTPUT,
            }
        case ChatRole.ASSISTANT:
            return _encode_assistant(message)
        case ChatRole.USER:
            return _encode_user(message)


def _encode_user(message: ChatMessage) -> dict[str, Any] | None:
    """Return words and pictures as one message; plain text where there is no picture."""
    if not message.images:
        return {"role": "user", "content": message.text} if message.text else None
    parts: list[dict[str, Any]] = []
    if message.text:
        parts.append({"type": "text", "text": message.text})
    parts.extend(
        {
            "type": "image_url",
            "image_url": {
                "url": f"data:image/jpeg;base64,{base64.b64encode(image).decode()}"
            },
        }
        for image in message.images
    )
    return {"role": "user", "content": parts}


def _encode_assistant(message: ChatMessage) -> dict[str, Any] | None:
    """Return an answer of the model as it is sent back."""
    if not message.tool_calls:
        return {"role": "assistant", "content": message.text} if message.text else None
    extras = message.echo.get("extra_content", {})
    calls: list[dict[str, Any]] = []
    for call in message.tool_calls:
        encoded: dict[str, Any] = {
            "id": call.call_id,
            "type": "function",
            "function": {
                "name": _INVALID_IN_NAME.sub("_", call.name)[:64] or "unnamed",
                "arguments": _safe_arguments(call.arguments),
            },
        }
        if call.call_id in extras:
            encoded["extra_content"] = extras[call.call_id]
        calls.append(encoded)
    result: dict[str, Any] = {
        "role": "assistant",
        "content": message.text or None,
        "tool_calls": calls,
    }
    if (reasoning := message.echo.get("reasoning_content")) is not None:
        result["reasoning_content"] = reasoning
    return result


def _safe_arguments(raw: str) -> str:
    """Return arguments that a server can parse: Ollama and vLLM answer 400 to broken JSON."""
    return raw if _is_object(raw) else "{}"


def _is_object(raw: str) -> bool:
    """Return whether a text is a JSON object."""
    try:
        return isinstance(json.loads(raw), dict)
    except ValueError, RecursionError:
        return False


# ---- from the server -------------------------------------------------------------

type _RawCall = tuple[object, str, str, object]
"""Id, name, arguments and opaque extra content, as the server wrote them."""


def _first_choice(payload: object) -> Mapping[str, Any]:
    """Return the choice that holds the message."""
    choices = payload.get("choices") if isinstance(payload, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping) or not isinstance(
        choice.get("message"), Mapping
    ):
        raise UnusableReplyError("The server's answer holds no message.")
    return choice


def _text(message: Mapping[str, Any]) -> str:
    """Return the text of a message whose content may be a text, parts, or nothing."""
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(
            part["text"]
            for part in content
            if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        )
    if isinstance(content, str) and content.strip():
        return content
    refusal = message.get("refusal")
    return refusal if isinstance(refusal, str) else ""


def _thinking(message: Mapping[str, Any]) -> str:
    """Return thinking that the server kept apart from the text."""
    for name in _THINKING_FIELDS:
        if isinstance(value := message.get(name), str) and value:
            return value
    return ""


def _structured_calls(message: Mapping[str, Any]) -> Iterator[_RawCall]:
    """Yield the calls in their proper place, as far as they have a name."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, Mapping):
            continue
        function = call.get("function")
        if not isinstance(function, Mapping):
            # Some servers leave the nesting out.
            function = call
        name = function.get("name")
        if isinstance(name, str) and name.strip():
            yield (
                call.get("id"),
                name.strip(),
                plain_calls.arguments_text(function.get("arguments")),
                call.get("extra_content"),
            )


def _is_whole(calls: Sequence[_RawCall]) -> bool:
    """Return whether a reply that was cut off still begins with a complete call."""
    return bool(calls) and _is_object(calls[0][2])


def _with_ids(
    calls: Sequence[_RawCall], taken_ids: Collection[str]
) -> tuple[tuple[ToolCall, ...], dict[str, Any]]:
    """Return the calls with ids of their own, and their extra content by id."""
    taken = set(taken_ids)
    result: list[ToolCall] = []
    extras: dict[str, Any] = {}
    for raw_id, name, arguments, extra in calls:
        call_id = raw_id.strip() if isinstance(raw_id, str) else ""
        if not call_id or call_id in taken:
            call_id = _new_id(taken)
        taken.add(call_id)
        if extra is not None:
            extras[call_id] = extra
        result.append(ToolCall(call_id=call_id, name=name, arguments=arguments))
    return tuple(result), extras


def _new_id(taken: Collection[str]) -> str:
    """Return an id that is not taken."""
    number = len(taken) + 1
    while (call_id := f"call_{number}") in taken:
        number += 1
    return call_id


def _echo(message: Mapping[str, Any], extras: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the server demands back on a turn with calls.

    DeepSeek and Kimi answer 400 when ``reasoning_content`` is missing (an empty text
    counts), Gemini when a call's ``extra_content`` (its signature) is.
    """
    echo: dict[str, Any] = {}
    if isinstance(reasoning := message.get("reasoning_content"), str):
        echo["reasoning_content"] = reasoning
    if extras:
        echo["extra_content"] = dict(extras)
    return echo


def _usage(payload: object) -> Usage:
    """Return what the server counted."""
    usage = payload.get("usage") if isinstance(payload, Mapping) else None
    if not isinstance(usage, Mapping):
        return Usage()
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _count(value: object) -> int:
    """Return a count; 0 for anything else."""
    return value if isinstance(value, int) and value > 0 else 0
