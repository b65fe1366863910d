"""Answers of Chat Completions in the vendor's shape, whole and streamed."""

from collections.abc import Iterator
from dataclasses import dataclass
import json
import re
import time
from typing import Any

from simulator.models.brain.thoughts import Call, Reply
from simulator.models.faults import ChatMode
from simulator.models.identifiers import new_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One finished answer."""

    id: str
    model: str
    created: int
    message: dict[str, Any]
    finish_reason: str
    usage: dict[str, Any]

    def body(self) -> dict[str, Any]:
        """Return the ``chat.completion`` object."""
        return {
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [
                {
                    "index": 0,
                    "message": self.message,
                    "logprobs": None,
                    "finish_reason": self.finish_reason,
                }
            ],
            "usage": self.usage,
            "service_tier": "default",
            "system_fingerprint": None,
        }

    def chunks(self, *, include_usage: bool) -> Iterator[dict[str, Any]]:
        """Yield the ``chat.completion.chunk`` objects of the streamed form."""
        for delta in self._deltas():
            yield self._chunk(
                [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]
            )
        yield self._chunk(
            [
                {
                    "index": 0,
                    "delta": {},
                    "logprobs": None,
                    "finish_reason": self.finish_reason,
                }
            ]
        )
        if include_usage:
            yield {**self._chunk([]), "usage": self.usage}

    def _deltas(self) -> Iterator[dict[str, Any]]:
        message = self.message
        yield {
            "role": "assistant",
            "content": None if "tool_calls" in message else "",
            "refusal": None,
        }
        if message["refusal"]:
            yield {"refusal": message["refusal"]}
        for piece in pieces(message["content"] or ""):
            yield {"content": piece}
        for index, call in enumerate(message.get("tool_calls", [])):
            function = call["function"]
            head = {key: value for key, value in call.items() if key != "function"}
            start = {
                "index": index,
                **head,
                "function": {"name": function["name"], "arguments": ""},
            }
            yield {"tool_calls": [start]}
            arguments = function["arguments"]
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            for piece in cuts(text):
                yield {
                    "tool_calls": [{"index": index, "function": {"arguments": piece}}]
                }

    def _chunk(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "service_tier": "default",
            "system_fingerprint": None,
            "choices": choices,
        }


def pieces(text: str) -> list[str]:
    """Cut a text as a model streams it: word by word, spaces in front."""
    return re.findall(r"\s*\S+|\s+$", text)


def cuts(text: str, count: int = 3) -> list[str]:
    """Cut arguments into about ``count`` parts, anywhere."""
    size = max(1, -(-len(text) // count))
    return [text[i : i + size] for i in range(0, len(text), size)]


def answer(
    reply: Reply, *, model: str, prompt_tokens: int, mode: ChatMode = ChatMode.OK
) -> Answer:
    """Return the answer that carries a brain's reply, with one fault if ordered."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": reply.text or None,
        "refusal": None,
        "annotations": [],
    }
    finish = "stop"
    if reply.calls:
        message["tool_calls"] = [_call(call) for call in reply.calls]
        finish = "tool_calls"
    message, finish = _spoiled(message, finish, mode)
    words = len(json.dumps(message)) // 4
    return Answer(
        id=new_id("chatcmpl", 29),
        model=model,
        created=int(time.time()),
        message=message,
        finish_reason=finish,
        usage=_usage(prompt_tokens, words),
    )


def _call(call: Call) -> dict[str, Any]:
    return {
        "id": new_id("call", 24),
        "type": "function",
        "function": {"name": call.name, "arguments": call.as_json()},
    }


def _spoiled(
    message: dict[str, Any], finish: str, mode: ChatMode
) -> tuple[dict[str, Any], str]:
    calls = message.get("tool_calls", [])
    bare = {key: value for key, value in message.items() if key != "tool_calls"}
    match mode:
        case ChatMode.EMPTY:
            return {**bare, "content": None}, "stop"
        case ChatMode.REFUSAL:
            refusal = "I'm sorry, I can't help with that."
            return {**bare, "content": None, "refusal": refusal}, "stop"
        case ChatMode.CONTENT_FILTER:
            return {**bare, "content": None}, "content_filter"
        case ChatMode.LENGTH:
            for call in calls:
                text = call["function"]["arguments"]
                call["function"]["arguments"] = text[: max(1, len(text) // 2)]
            if message["content"] and not calls:
                message["content"] = message["content"][: len(message["content"]) // 2]
            return message, "length"
        case ChatMode.OBJECT_ARGUMENTS:
            for call in calls:
                call["function"]["arguments"] = json.loads(
                    call["function"]["arguments"]
                )
        case ChatMode.BROKEN_ARGUMENTS:
            for call in calls:
                call["function"]["arguments"] = '{"x": 1, "y": '
        case ChatMode.NO_CALL_ID:
            for call in calls:
                del call["id"]
        case ChatMode.TEXT_CALL if calls:
            texts = [
                json.dumps(
                    {
                        "name": call["function"]["name"],
                        "arguments": json.loads(call["function"]["arguments"]),
                    }
                )
                for call in calls
            ]
            content = "".join(f"<tool_call>{text}</tool_call>" for text in texts)
            return {**bare, "content": content}, "stop"
    return message, finish


def _usage(prompt: int, completion: int) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
