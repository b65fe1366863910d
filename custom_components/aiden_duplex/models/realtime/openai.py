"""OpenAI's Realtime interface (GA): frames to events. No I/O.

Compatible servers still speak the beta's names: they are understood, never sent.
"""

from collections.abc import Callable
import contextlib
import json
from typing import Any

import orjson

from ..errors import ModelErrorKind
from ..tools import ToolCall
from .dialect import Decoded, Frame
from .events import (
    Closed,
    Failure,
    NothingToCancel,
    Ready,
    RealtimeEvent,
    ResponseDone,
    ResponseRefused,
    ResponseStarted,
    ResponseStatus,
    SessionError,
    TextDelta,
    TextFinal,
    TextSource,
    ToolCallReady,
    Usage,
)
from .failures import failure, from_close, from_provider
from .openai_commands import REQUEST_ID, encode, session_update
from .session import Command, SessionConfig

MAX_RESPONSES = 8
"""Responses that are told apart at one time; more than one is rare already."""

_BETA_NAMES = {
    "response.text.delta": "response.output_text.delta",
    "response.text.done": "response.output_text.done",
    "response.audio_transcript.delta": "response.output_audio_transcript.delta",
    "response.audio_transcript.done": "response.output_audio_transcript.done",
}


class OpenAIDialect:
    """One session's translation."""

    def __init__(self, config: SessionConfig, *, secret: str | None = None) -> None:
        """Start before the server's greeting; ``secret`` never leaves in a message."""
        self._config = config
        self._secret = secret
        self._greeted = False
        self._ready = False
        self._expired = False
        self._outputs: dict[str | None, _Output] = {}
        self._handlers: dict[str, Callable[[Frame], list[RealtimeEvent]]] = {
            "session.updated": self._session_updated,
            "response.created": self._response_created,
            "response.output_text.delta": self._text_delta,
            "response.output_text.done": self._text_done,
            "response.output_audio_transcript.delta": self._text_delta,
            "response.output_audio_transcript.done": self._text_done,
            "response.output_item.added": self._item_added,
            "response.output_item.done": self._item_done,
            "response.function_call_arguments.done": self._arguments_done,
            "response.cancelled": self._response_cancelled,
            "response.done": self._response_done,
            "error": self._error,
        }

    def opening(self) -> tuple[Frame, ...]:
        """Return what is sent at once: nothing, the server speaks first."""
        return ()

    def encode(self, command: Command) -> tuple[Frame, ...]:
        """Return the frames of a command."""
        return encode(command)

    def decode(self, data: str | bytes) -> Decoded:
        """Return the events of a message and what must be sent in answer to it.

        Raises:
            ModelError: It is no JSON object.

        """
        frame = _loads(data)
        if not isinstance(frame, dict):
            raise failure(ModelErrorKind.PROTOCOL, "no JSON object").as_error()
        name = _text(frame, "type") or ""
        if name == "session.created":
            return self._session_created()
        handler = self._handlers.get(_BETA_NAMES.get(name, name))
        return Decoded(events=tuple(handler(frame)) if handler else ())

    def closed(self, code: int, reason: str) -> Closed:
        """Return what the end of the WebSocket means."""
        # Seen as an error event before the close, as 1001 and as 1000.
        if self._expired or "maximum duration" in reason.lower():
            return Closed(code=code, reason=reason, expired=True)
        return Closed(
            code=code,
            reason=reason,
            failure=from_close(code, reason, secret=self._secret),
        )

    def _session_created(self) -> Decoded:
        if self._greeted:
            return Decoded()
        self._greeted = True
        return Decoded(replies=(session_update(self._config),))

    def _session_updated(self, frame: Frame) -> list[RealtimeEvent]:
        if self._ready:
            return []
        self._ready = True
        return [Ready(session_id=_text(_object(frame, "session"), "id"))]

    def _output(self, response_id: str | None) -> _Output:
        """Return what is known of one response; the oldest of too many are forgotten."""
        output = self._outputs.pop(response_id, None) or _Output()
        self._outputs[response_id] = output
        while len(self._outputs) > MAX_RESPONSES:
            del self._outputs[next(iter(self._outputs))]
        return output

    def _response_created(self, frame: Frame) -> list[RealtimeEvent]:
        response = _object(frame, "response")
        return [
            ResponseStarted(
                response_id=_text(response, "id"),
                request_id=_text(_object(response, "metadata"), REQUEST_ID),
            )
        ]

    def _text_delta(self, frame: Frame) -> list[RealtimeEvent]:
        output = self._output(_text(frame, "response_id"))
        text = output.whole(frame.get("delta"))
        if not text:
            return []
        output.has_text = True
        return [
            TextDelta(
                response_id=_text(frame, "response_id"),
                item_id=_text(frame, "item_id"),
                text=text,
                source=_source(frame),
            )
        ]

    def _text_done(self, frame: Frame) -> list[RealtimeEvent]:
        text = _text(frame, "text") or _text(frame, "transcript")
        if not text:
            return []
        self._output(_text(frame, "response_id")).has_text = True
        return [
            TextFinal(
                response_id=_text(frame, "response_id"),
                item_id=_text(frame, "item_id"),
                text=text,
                source=_source(frame),
            )
        ]

    def _item_added(self, frame: Frame) -> list[RealtimeEvent]:
        """Remember a call's name: the beta's ``arguments.done`` has none."""
        item = _object(frame, "item")
        name, item_id = _text(item, "name"), _text(item, "id")
        if name and item_id:
            self._output(_text(frame, "response_id")).names[item_id] = name
        return []

    def _item_done(self, frame: Frame) -> list[RealtimeEvent]:
        return self._call(_text(frame, "response_id"), _object(frame, "item"))

    def _arguments_done(self, frame: Frame) -> list[RealtimeEvent]:
        item_id = _text(frame, "item_id") or ""
        names = self._output(_text(frame, "response_id")).names
        item = {
            "type": "function_call",
            "id": item_id,
            "call_id": frame.get("call_id"),
            "name": frame.get("name") or names.get(item_id),
            "arguments": frame.get("arguments"),
        }
        return self._call(_text(frame, "response_id"), item)

    def _call(self, response_id: str | None, item: Frame) -> list[RealtimeEvent]:
        """Report a call once: three kinds of frames carry it."""
        call_id = _text(item, "call_id") or _text(item, "id")
        name = _text(item, "name")
        if item.get("type") != "function_call" or not call_id or not name:
            return []
        calls = self._output(response_id).calls
        if call_id in calls:
            return []
        calls.add(call_id)
        call = ToolCall(call_id=call_id, name=name, arguments=_arguments(item))
        return [ToolCallReady(response_id=response_id, call=call)]

    def _response_cancelled(self, frame: Frame) -> list[RealtimeEvent]:
        """Take the beta's acknowledgement; a ``response.done`` after it is a duplicate."""
        response_id = _text(frame, "response_id")
        if response_id is None:
            response_id = _text(_object(frame, "response"), "id")
        return [ResponseDone(response_id=response_id, status=ResponseStatus.CANCELLED)]

    def _response_done(self, frame: Frame) -> list[RealtimeEvent]:
        response = _object(frame, "response")
        response_id = _text(response, "id")
        events: list[RealtimeEvent] = []
        output = [item for item in _list(response, "output") if isinstance(item, dict)]
        if not self._output(response_id).has_text:
            events += [_final(response_id, item) for item in output if _said(item)]
        for item in output:
            events += self._call(response_id, item)
        self._outputs.pop(response_id, None)
        return [*events, self._end(response_id, response)]

    def _end(self, response_id: str | None, response: Frame) -> ResponseDone:
        details = _object(response, "status_details")
        reason = _text(details, "reason")
        try:
            status = ResponseStatus(_text(response, "status") or "completed")
        except ValueError:
            status = ResponseStatus.FAILED
        error = None
        if status is ResponseStatus.FAILED:
            found = _object(details, "error")
            error = from_provider(
                _text(found, "code"),
                _text(found, "type"),
                _text(found, "message"),
                secret=self._secret,
            )
        elif status is ResponseStatus.INCOMPLETE:
            error = _incomplete(reason)
        return ResponseDone(
            response_id=response_id,
            status=status,
            reason=reason,
            failure=error,
            usage=_usage(_object(response, "usage")),
        )

    def _error(self, frame: Frame) -> list[RealtimeEvent]:
        error = _object(frame, "error")
        command_id, code = _text(error, "event_id"), _text(error, "code")
        match code:
            case "conversation_already_has_active_response":
                return [ResponseRefused(request_id=command_id)]
            case "response_cancel_not_active":
                return [NothingToCancel()]
            case "session_expired":
                self._expired = True
        found = from_provider(
            code, _text(error, "type"), _text(error, "message"), secret=self._secret
        )
        return [SessionError(failure=found, command_id=command_id)]


class _Output:
    """What the current response has reported so far."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.names: dict[str, str] = {}
        self.calls: set[str] = set()
        self.has_text = False
        self._half = ""

    def whole(self, delta: object) -> str:
        """Return a delta without half a character: some servers cut emoji in two."""
        text = self._half + (delta if isinstance(delta, str) else "")
        is_cut = "\ud800" <= text[-1:] <= "\udbff"
        self._half, text = (text[-1:], text[:-1]) if is_cut else ("", text)
        return _clean(text)


def _incomplete(reason: str | None) -> Failure:
    sentence = "The model's answer was cut off at its length limit."
    if reason == "content_filter":
        sentence = "A content filter of the provider stopped the model's answer."
    return Failure(kind=ModelErrorKind.BAD_REQUEST, message=sentence, code=reason)


def _final(response_id: str | None, item: Frame) -> TextFinal:
    return TextFinal(
        response_id=response_id, item_id=_text(item, "id"), text=_said(item)
    )


def _said(item: Frame) -> str:
    """Return the text of an output item; empty for anything but a message."""
    if item.get("type") != "message":
        return ""
    return "".join(
        _text(part, "text") or _text(part, "transcript") or ""
        for part in _list(item, "content")
        if isinstance(part, dict)
    )


def _source(frame: Frame) -> TextSource:
    audio = "audio_transcript" in str(frame["type"])
    return TextSource.AUDIO if audio else TextSource.TEXT


def _arguments(item: Frame) -> str:
    """Return a call's raw arguments; compatible servers also send an object."""
    value = item.get("arguments")
    if isinstance(value, str):
        return _clean(value)
    return "" if value is None else json.dumps(value)


def _usage(usage: Frame) -> Usage | None:
    if not usage:
        return None
    return Usage(
        input_tokens=_number(usage, "input_tokens"),
        output_tokens=_number(usage, "output_tokens"),
        cached_tokens=_number(_object(usage, "input_token_details"), "cached_tokens"),
    )


def _loads(data: str | bytes) -> object:
    """Return the JSON, also with half characters, which the fast parser refuses."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(data)
    return None


def _clean(text: str) -> str:
    """Return the text with surrogate pairs joined and halves replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(frame: Frame, name: str) -> str | None:
    value = frame.get(name)
    return _clean(value) if isinstance(value, str) else None


def _number(frame: Frame, name: str) -> int:
    value = frame.get(name)
    return value if isinstance(value, int) else 0


def _object(frame: Frame, name: str) -> Frame:
    value = frame.get(name)
    return value if isinstance(value, dict) else {}


def _list(frame: Frame, name: str) -> list[Any]:
    value = frame.get(name)
    return value if isinstance(value, list) else []
