"""One response: its events in the vendor's order, whatever ends it.

The order within an item is that of the general availability interface as seen on the
wire: ``output_item.added``, ``conversation.item.added``, the deltas, their ``.done``,
``content_part.done``, ``conversation.item.done``, ``output_item.done``. The ``.done``
events also come when the response is cut short.
"""

import base64
from collections.abc import Iterator
import copy
from dataclasses import dataclass, field
import json
from typing import Any

from simulator.models.brain.thoughts import Call, Reply
from simulator.models.chat.answers import cuts, pieces
from simulator.models.identifiers import new_id

from .items import Conversation, Item

type Event = dict[str, Any]

_PCM_BYTES_PER_MS = 48
"""24 kHz, 16 bit, one channel."""
_MS_PER_PIECE = 60
"""Silence sent for one word; short, but counted for truncation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a response ends."""

    status: str = "completed"
    reason: str | None = None
    error: dict[str, str] | None = None

    def details(self) -> dict[str, Any] | None:
        """Return ``status_details``; None for a completed response."""
        if self.status == "completed":
            return None
        values = {"type": self.status, "reason": self.reason, "error": self.error}
        return {name: value for name, value in values.items() if value is not None}


COMPLETED = Ending()
CLIENT_CANCELLED = Ending(status="cancelled", reason="client_cancelled")
TURN_DETECTED = Ending(status="cancelled", reason="turn_detected")


def failed(code: str, message: str, kind: str = "server_error") -> Ending:
    """Return the ending of a response that failed."""
    return Ending(
        status="failed", error={"type": kind, "code": code, "message": message}
    )


@dataclass(slots=True, kw_only=True)
class _Open:
    """The item that is being said."""

    item: Item
    index: int
    text: str = ""
    has_part: bool = False


@dataclass(slots=True, kw_only=True)
class Response:
    """A response on its way; every method yields the events to send."""

    session: dict[str, Any]
    """The session with the response's own options applied."""
    conversation: Conversation | None
    """Where its output goes; None for a response outside the conversation."""
    conversation_id: str
    metadata: dict[str, str] | None = None
    input_tokens: int = 0
    id: str = field(default_factory=lambda: new_id("resp"))
    audio_ms: dict[str, int] = field(default_factory=dict)
    """Milliseconds of sound sent, by item."""
    arguments_override: str | None = None
    _output: list[Item] = field(default_factory=list)
    _open: _Open | None = None

    @property
    def has_audio(self) -> bool:
        """Return whether it speaks."""
        modalities: list[str] = self.session["output_modalities"]
        return modalities == ["audio"]

    def begin(self) -> Iterator[Event]:
        """Yield the first events."""
        yield _event("response.created", response=self._body("in_progress"))
        yield _event(
            "rate_limits.updated",
            rate_limits=[
                {
                    "name": "requests",
                    "limit": 10000,
                    "remaining": 9999,
                    "reset_seconds": 0.006,
                },
                {
                    "name": "tokens",
                    "limit": 200000,
                    "remaining": 199000,
                    "reset_seconds": 0.3,
                },
            ],
        )

    def say(self, reply: Reply) -> Iterator[Event]:
        """Yield the events of the output; a pause belongs before each delta."""
        if reply.text:
            yield from self._say_text(reply.text)
        for call in reply.calls:
            yield from self._say_call(call)

    def end(self, ending: Ending = COMPLETED) -> Iterator[Event]:
        """Close what is open and yield ``response.done``."""
        if self._open is not None:
            yield from self._close("incomplete")
        yield _event("response.done", response=self._body(ending.status, ending))

    def _say_text(self, text: str) -> Iterator[Event]:
        item: Item = {
            "id": new_id("item"),
            "object": "realtime.item",
            "type": "message",
            "status": "in_progress",
            "role": "assistant",
            "content": [],
        }
        yield from self._start(item)
        state = self._current()
        yield self._in_part("response.content_part.added", part=self._part(""))
        state.has_part = True
        for piece in pieces(text):
            state.text += piece
            if self.has_audio:
                yield self._in_part(
                    "response.output_audio_transcript.delta", delta=piece
                )
                yield self._in_part(
                    "response.output_audio.delta", delta=self._silence(item["id"])
                )
            else:
                yield self._in_part("response.output_text.delta", delta=piece)
        yield from self._close("completed")

    def _say_call(self, call: Call) -> Iterator[Event]:
        item = {
            "id": new_id("item"),
            "object": "realtime.item",
            "type": "function_call",
            "status": "in_progress",
            "name": call.name,
            "call_id": new_id("call", 16),
            "arguments": "",
        }
        yield from self._start(item)
        text = (
            call.as_json()
            if self.arguments_override is None
            else self.arguments_override
        )
        for piece in cuts(text):
            self._current().text += piece
            yield self._in_item(
                "response.function_call_arguments.delta",
                call_id=item["call_id"],
                delta=piece,
            )
        yield from self._close("completed")

    def _start(self, item: Item) -> Iterator[Event]:
        self._open = _Open(item=item, index=len(self._output))
        self._output.append(item)
        yield _event(
            "response.output_item.added",
            response_id=self.id,
            output_index=self._open.index,
            item=_copy(item),
        )
        if self.conversation is not None:
            previous = self.conversation.append(item)
            yield _event(
                "conversation.item.added", previous_item_id=previous, item=_copy(item)
            )

    def _close(self, status: str) -> Iterator[Event]:
        state = self._current()
        item = state.item
        item["status"] = status
        if item["type"] == "function_call":
            item["arguments"] = state.text
            yield self._in_item(
                "response.function_call_arguments.done",
                call_id=item["call_id"],
                name=item["name"],
                arguments=state.text,
            )
        elif state.has_part:
            yield from self._close_part(state)
        if self.conversation is not None:
            yield _event(
                "conversation.item.done",
                previous_item_id=self.conversation.before(item["id"]),
                item=_copy(item),
            )
        yield _event(
            "response.output_item.done",
            response_id=self.id,
            output_index=state.index,
            item=_copy(item),
        )
        self._open = None

    def _close_part(self, state: _Open) -> Iterator[Event]:
        if self.has_audio:
            state.item["content"] = [{"type": "output_audio", "transcript": state.text}]
            yield self._in_part("response.output_audio.done")
            yield self._in_part(
                "response.output_audio_transcript.done", transcript=state.text
            )
        else:
            state.item["content"] = [{"type": "output_text", "text": state.text}]
            yield self._in_part("response.output_text.done", text=state.text)
        yield self._in_part("response.content_part.done", part=self._part(state.text))

    def _current(self) -> _Open:
        if self._open is None:
            raise RuntimeError("no item is being said")
        return self._open

    def _part(self, text: str) -> dict[str, str]:
        if self.has_audio:
            return {"type": "audio", "transcript": text}
        return {"type": "text", "text": text}

    def _silence(self, item_id: str) -> str:
        self.audio_ms[item_id] = self.audio_ms.get(item_id, 0) + _MS_PER_PIECE
        return base64.b64encode(bytes(_MS_PER_PIECE * _PCM_BYTES_PER_MS)).decode()

    def _in_item(self, kind: str, **values: Any) -> Event:
        state = self._current()
        return _event(
            kind,
            response_id=self.id,
            item_id=state.item["id"],
            output_index=state.index,
            **values,
        )

    def _in_part(self, kind: str, **values: Any) -> Event:
        return self._in_item(kind, content_index=0, **values)

    def _body(self, status: str, ending: Ending | None = None) -> dict[str, Any]:
        return {
            "object": "realtime.response",
            "id": self.id,
            "status": status,
            "status_details": ending.details() if ending else None,
            "output": [_copy(item) for item in self._output] if ending else [],
            "conversation_id": self.conversation_id
            if self.conversation is not None
            else None,
            "output_modalities": self.session["output_modalities"],
            "max_output_tokens": self.session["max_output_tokens"],
            "audio": {
                "output": {
                    name: self.session["audio"]["output"][name]
                    for name in ("format", "voice")
                }
            },
            "usage": self._usage() if ending else None,
            "metadata": self.metadata,
        }

    def _usage(self) -> dict[str, Any]:
        output = sum(len(json.dumps(item)) // 4 for item in self._output)
        audio = sum(self.audio_ms.values()) // 50
        return {
            "total_tokens": self.input_tokens + output + audio,
            "input_tokens": self.input_tokens,
            "output_tokens": output + audio,
            "input_token_details": {
                "text_tokens": self.input_tokens,
                "audio_tokens": 0,
                "image_tokens": 0,
                "cached_tokens": 0,
                "cached_tokens_details": {
                    "text_tokens": 0,
                    "audio_tokens": 0,
                    "image_tokens": 0,
                },
            },
            "output_token_details": {"text_tokens": output, "audio_tokens": audio},
        }


def _event(kind: str, **values: Any) -> Event:
    return {"type": kind, "event_id": new_id("event"), **values}


def _copy(item: Item) -> Item:
    return copy.deepcopy(item)
