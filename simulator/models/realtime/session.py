"""A realtime session's state: client events in, server events and wishes out. No I/O."""

from collections.abc import Callable
from dataclasses import dataclass, field
import json
from typing import Any

from openai.types.realtime import (
    conversation_item_create_event_param as create,
    conversation_item_delete_event_param as delete,
    conversation_item_retrieve_event_param as retrieve,
    conversation_item_truncate_event_param as truncate,
    input_audio_buffer_append_event_param as append,
    input_audio_buffer_clear_event_param as clear,
    input_audio_buffer_commit_event_param as commit,
    output_audio_buffer_clear_event_param as output_clear,
    response_cancel_event_param as cancel,
    response_create_event_param as respond,
    session_update_event_param as update,
)

from simulator.models.brain.thoughts import Question
from simulator.models.identifiers import new_id
from simulator.models.schema import first_problem, missing, unsupported

from .asking import question_of
from .audio import InputAudio
from .config import check_options, default_session, updated_session
from .errors import RealtimeError, active_response, from_problem
from .items import Conversation, Item, check_item
from .responses import Response

_SHAPES: dict[str, Any] = {
    "session.update": update.SessionUpdateEventParam,
    "conversation.item.create": create.ConversationItemCreateEventParam,
    "conversation.item.delete": delete.ConversationItemDeleteEventParam,
    "conversation.item.retrieve": retrieve.ConversationItemRetrieveEventParam,
    "conversation.item.truncate": truncate.ConversationItemTruncateEventParam,
    "input_audio_buffer.append": append.InputAudioBufferAppendEventParam,
    "input_audio_buffer.clear": clear.InputAudioBufferClearEventParam,
    "input_audio_buffer.commit": commit.InputAudioBufferCommitEventParam,
    "output_audio_buffer.clear": output_clear.OutputAudioBufferClearEventParam,
    "response.create": respond.ResponseCreateEventParam,
    "response.cancel": cancel.ResponseCancelEventParam,
}
_NULLABLE = frozenset({"previous_item_id", "event_id"})

type Event = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What a client event leads to."""

    events: list[Event] = field(default_factory=list)
    """To send at once."""
    start: Response | None = None
    question: Question | None = None
    """What the brain is asked for ``start``."""
    cancel: Response | None = None


class Session:
    """One session."""

    def __init__(self, model: str, max_s: float) -> None:
        """Start with the vendor's defaults."""
        self._config = default_session(model, max_s)
        self._conversation = Conversation()
        self._conversation_id = new_id("conv")
        self._audio = InputAudio()
        self._active: dict[str, Response] = {}
        self._spoken_ms: dict[str, int] = {}
        self._handlers: dict[str, Callable[[Event], Outcome]] = {
            "session.update": self._update,
            "conversation.item.create": self._create_item,
            "conversation.item.delete": self._delete_item,
            "conversation.item.retrieve": self._retrieve_item,
            "conversation.item.truncate": self._truncate_item,
            "input_audio_buffer.append": self._append_audio,
            "input_audio_buffer.clear": self._clear_audio,
            "input_audio_buffer.commit": self._commit_audio,
            "output_audio_buffer.clear": self._clear_output,
            "response.create": self._respond,
            "response.cancel": self._cancel,
        }

    @property
    def id(self) -> str:
        """Return the session's id."""
        session_id: str = self._config["id"]
        return session_id

    def created(self) -> Event:
        """Return the greeting."""
        return _event("session.created", session=self._config)

    def receive(self, text: str) -> Outcome:
        """Take a client event; a refused one gives an ``error`` and changes nothing."""
        client_id: str | None = None
        try:
            event = _parsed(text)
            found = event.get("event_id")
            client_id = found if isinstance(found, str) else None
            self._check_shape(event)
            return self._handlers[event["type"]](event)
        except RealtimeError as err:
            return Outcome(events=[err.event(client_id)])

    def finished(self, response: Response) -> None:
        """Forget a response that has ended."""
        self._active.pop(response.id, None)
        self._spoken_ms.update(response.audio_ms)

    def unasked_response(self) -> Response:
        """Return a response that the server begins by itself."""
        return self._new_response({})

    def _check_shape(self, event: Event) -> None:
        """Check the event but its session, which has its own rules."""
        kind = event.get("type")
        if kind is None:
            raise from_problem(missing("type"))
        if kind not in _SHAPES:
            raise from_problem(
                unsupported(kind, [repr(name) for name in _SHAPES], "type")
            )
        shown = event
        if event["type"] == "session.update" and isinstance(event.get("session"), dict):
            shown = {**event, "session": {"type": "realtime"}}
        if problem := first_problem(shown, _SHAPES[event["type"]], nullable=_NULLABLE):
            raise from_problem(problem)

    def _update(self, event: Event) -> Outcome:
        self._config = updated_session(
            self._config, event["session"], audio_was_sent=bool(self._spoken_ms)
        )
        return Outcome(events=[_event("session.updated", session=self._config)])

    def _create_item(self, event: Event) -> Outcome:
        item, previous = self._conversation.create(
            event["item"], event.get("previous_item_id")
        )
        return Outcome(
            events=[
                _event(
                    f"conversation.item.{name}",
                    previous_item_id=previous,
                    item=dict(item),
                )
                for name in ("added", "done")
            ]
        )

    def _delete_item(self, event: Event) -> Outcome:
        self._conversation.delete(event["item_id"])
        return Outcome(
            events=[_event("conversation.item.deleted", item_id=event["item_id"])]
        )

    def _retrieve_item(self, event: Event) -> Outcome:
        item = self._conversation.named(event["item_id"], "retrieve", "retrieving")
        return Outcome(events=[_event("conversation.item.retrieved", item=dict(item))])

    def _truncate_item(self, event: Event) -> Outcome:
        item = self._conversation.named(event["item_id"], "truncate", "truncating")
        spoken = self._spoken(event["item_id"])
        if (
            item.get("role") != "assistant"
            or spoken is None
            or event["content_index"] != 0
        ):
            raise RealtimeError(
                message="Only model output audio messages can be truncated",
                code="invalid_value",
                param="item_id",
            )
        if event["audio_end_ms"] > spoken:
            raise RealtimeError(
                message=f"Audio content of {spoken}ms is already shorter than {event['audio_end_ms']}ms",
                code="invalid_value",
                param="audio_end_ms",
            )
        item["content"] = [{"type": "output_audio", "transcript": ""}]
        names = ("item_id", "content_index", "audio_end_ms")
        return Outcome(
            events=[
                _event("conversation.item.truncated", **{n: event[n] for n in names})
            ]
        )

    def _spoken(self, item_id: str) -> int | None:
        for response in self._active.values():
            if item_id in response.audio_ms:
                return response.audio_ms[item_id]
        return self._spoken_ms.get(item_id)

    def _append_audio(self, event: Event) -> Outcome:
        self._audio.append(event["audio"])
        return Outcome()

    def _clear_audio(self, event: Event) -> Outcome:
        del event
        self._audio.clear()
        return Outcome(events=[_event("input_audio_buffer.cleared")])

    def _commit_audio(self, event: Event) -> Outcome:
        del event
        self._audio.commit(self._config["audio"]["input"]["format"])
        item: Item = {
            "id": new_id("item"),
            "object": "realtime.item",
            "type": "message",
            "status": "completed",
            "role": "user",
            "content": [{"type": "input_audio", "transcript": None}],
        }
        previous = self._conversation.append(item)
        values = {"item_id": item["id"], "previous_item_id": previous}
        return Outcome(
            events=[
                _event("input_audio_buffer.committed", **values),
                _event("conversation.item.added", previous_item_id=previous, item=item),
                _event("conversation.item.done", previous_item_id=previous, item=item),
            ]
        )

    def _clear_output(self, event: Event) -> Outcome:
        del event
        raise RealtimeError(
            message="output_audio_buffer.clear is only supported over WebRTC and SIP.",
            code="invalid_value",
            param="type",
        )

    def _respond(self, event: Event) -> Outcome:
        options = event.get("response", {})
        self._check_response(options)
        beside = options.get("conversation") == "none"
        if not beside and (running := self._running()):
            raise active_response(running.id)
        response = self._new_response(options)
        items = options.get("input", self._conversation.items)
        question = question_of(response.session, items)
        response.input_tokens = sum(len(m.text) for m in question.messages) // 4
        return Outcome(start=response, question=question)

    def _check_response(self, options: Event) -> None:
        check_options(options, "response", model=self._config["model"])
        if options.get("conversation", "auto") not in ("auto", "none"):
            raise RealtimeError(
                message=f"Invalid value: '{options['conversation']}'. Supported values are: "
                "'auto' and 'none'.",
                code="invalid_value",
                param="response.conversation",
            )
        known = {item.get("call_id", "") for item in self._conversation.items}
        for index, item in enumerate(options.get("input", [])):
            check_item(item, f"response.input[{index}]", known_calls=known)
            known.add(item.get("call_id", ""))
        metadata = options.get("metadata") or {}
        if len(metadata) > 16 or any(
            len(k) > 64 or len(v) > 512 for k, v in metadata.items()
        ):
            raise RealtimeError(
                message="Invalid 'response.metadata': at most 16 pairs, keys of at most 64 and "
                "values of at most 512 characters.",
                code="invalid_value",
                param="response.metadata",
            )

    def _new_response(self, options: Event) -> Response:
        session = dict(self._config)
        for name in (
            "instructions",
            "output_modalities",
            "tools",
            "tool_choice",
            "max_output_tokens",
        ):
            session[name] = options.get(name, session[name])
        beside = options.get("conversation") == "none"
        response = Response(
            session=session,
            conversation=None if beside else self._conversation,
            conversation_id=self._conversation_id,
            metadata=options.get("metadata"),
        )
        self._active[response.id] = response
        return response

    def _running(self) -> Response | None:
        """Return the response that writes to the conversation."""
        return next(
            (r for r in self._active.values() if r.conversation is not None), None
        )

    def _cancel(self, event: Event) -> Outcome:
        wanted = event.get("response_id")
        found = self._active.get(wanted) if wanted is not None else self._running()
        if found is None:
            raise RealtimeError(
                message="Cancellation failed: no active response found",
                code="response_cancel_not_active",
            )
        return Outcome(cancel=found)


def _parsed(text: str) -> Event:
    try:
        event = json.loads(text)
    except ValueError as err:
        raise RealtimeError(
            message=f"We could not parse the JSON of your event: {err}.",
            code="invalid_json",
        ) from err
    if not isinstance(event, dict):
        raise RealtimeError(
            message="The event must be a JSON object.", code="invalid_json"
        )
    return event


def _event(kind: str, **values: Any) -> Event:
    return {"type": kind, "event_id": new_id("event"), **values}
