"""One open realtime connection: the pump between the socket, the session and the brain."""

import asyncio
import contextlib
import json
from typing import Any

from aiohttp import WSMsgType, web

from simulator.models.brain.thoughts import Brain, BrainError, Question, Reply
from simulator.models.faults import ENDS_SESSION, Faults, RealtimeMode
from simulator.models.identifiers import new_id
from simulator.models.record import Record
from simulator.models.settings import ModelSettings

from .errors import RealtimeError, active_response
from .responses import (
    CLIENT_CANCELLED,
    COMPLETED,
    TURN_DETECTED,
    Ending,
    Response,
    failed,
)
from .session import Event, Outcome, Session

_EXPIRED = "Your session hit the maximum duration of 60 minutes."
_BETA_NAMES = {
    "response.output_text": "response.text",
    "response.output_audio_transcript": "response.audio_transcript",
    "response.output_audio": "response.audio",
    "conversation.item.added": "conversation.item.created",
}
_FAILURES = {
    RealtimeMode.MODEL_NOT_FOUND: failed(
        "model_not_found",
        "The model does not exist or you do not have access to it.",
        "invalid_request_error",
    ),
    RealtimeMode.RATE_LIMIT_EXCEEDED: failed(
        "rate_limit_exceeded",
        "Rate limit reached. Please try again in 20s.",
        "requests",
    ),
    RealtimeMode.INSUFFICIENT_QUOTA: failed(
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
    ),
    RealtimeMode.SERVER_ERROR: failed(
        "server_error", "The server had an error while processing your request."
    ),
}
_CUT = {
    RealtimeMode.MAX_OUTPUT_TOKENS: Ending(
        status="incomplete", reason="max_output_tokens"
    ),
    RealtimeMode.CONTENT_FILTER: Ending(status="incomplete", reason="content_filter"),
}


class Connection:
    """Serves one socket; its responses run beside the reading."""

    def __init__(
        self,
        socket: web.WebSocketResponse,
        request: web.Request,
        *,
        session: Session,
        settings: ModelSettings,
        faults: Faults,
        record: Record,
        brain: Brain,
    ) -> None:
        """Take over a socket that is open."""
        self._socket = socket
        self._request = request
        self._session = session
        self._settings = settings
        self._faults = faults
        self._record = record
        self._brain = brain
        self._running: dict[str, asyncio.Task[None]] = {}
        self._silent = False

    async def run(self) -> None:
        """Serve until the socket closes or the session expires."""
        try:
            await self._send(self._session.created())
            async with asyncio.timeout(self._settings.session_max_s):
                await self._read()
        except TimeoutError:
            await self.meet(RealtimeMode.CLOSE_1001)
        finally:
            for task in list(self._running.values()):
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def close(self, code: int, reason: str) -> None:
        """Close the socket with a code and a reason."""
        await self._socket.close(code=code, message=reason.encode())

    async def meet(self, mode: RealtimeMode) -> None:
        """Let the session end, or fall silent."""
        match mode:
            case RealtimeMode.CLOSE_1000:
                await self.close(1000, _EXPIRED)
            case RealtimeMode.CLOSE_1001:
                error = RealtimeError(message=_EXPIRED, code="session_expired")
                await self._send(error.event(None))
                await self.close(1001, _EXPIRED)
            case RealtimeMode.CLOSE_1011:
                await self.close(1011, "internal error")
            case RealtimeMode.DROP:
                if self._request.transport is not None:
                    self._request.transport.abort()
            case RealtimeMode.STALL:
                self._silent = True

    async def _read(self) -> None:
        async for message in self._socket:
            match message.type:
                case WSMsgType.TEXT:
                    await self._take(message.data)
                case WSMsgType.BINARY:
                    error = RealtimeError(
                        message="Binary messages are not supported.",
                        code="invalid_message",
                    )
                    await self._send(error.event(None))
                case WSMsgType.PING if not self._silent:
                    await self._socket.pong(message.data)

    async def _take(self, text: str) -> None:
        self._record.add(direction="in", session=self._session.id, frame=_shown(text))
        outcome = self._session.receive(text)
        for event in outcome.events:
            await self._send(event)
        if outcome.cancel is not None:
            await self._stop(outcome.cancel, CLIENT_CANCELLED)
        if outcome.start is not None:
            await self._start(outcome, text)

    async def _start(self, outcome: Outcome, text: str) -> None:
        response, question = outcome.start, outcome.question
        if response is None or question is None:
            return
        mode = self._faults.take_response()
        refusal: Event | None = None
        if mode in (RealtimeMode.COLLISION, RealtimeMode.COLLISION_NULL):
            # The server's own response was a moment faster: this one becomes that one.
            response.metadata = None
            known = mode is RealtimeMode.COLLISION
            client_id = json.loads(text).get("event_id") if known else None
            refusal = active_response(response.id).event(client_id)
        await self._send_all(list(response.begin()), mode)
        if refusal is not None:
            await self._send(refusal)
        task = asyncio.create_task(self._play(response, question, mode))
        self._running[response.id] = task
        task.add_done_callback(lambda _: self._running.pop(response.id, None))

    async def _stop(self, response: Response, ending: Ending) -> None:
        """Cut a response short and say so."""
        task = self._running.get(response.id)
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._session.finished(response)
        await self._send_all(list(response.end(ending)))

    async def _play(
        self, response: Response, question: Question, mode: RealtimeMode
    ) -> None:
        with contextlib.suppress(ConnectionError):
            ending = _FAILURES.get(mode)
            if ending is None:
                ending = await self._say(response, question, mode)
            self._session.finished(response)
            await self._send_all(list(response.end(ending)), mode)

    async def _say(
        self, response: Response, question: Question, mode: RealtimeMode
    ) -> Ending:
        """Send the output and return how the response ends."""
        await asyncio.sleep(self._settings.realtime_think_s)
        try:
            reply = await self._brain.reply(question)
        except BrainError as err:
            return failed("server_error", str(err))
        if mode is RealtimeMode.ARGUMENTS:
            response.arguments_override = self._faults.realtime.value
        events = response.say(_spoiled(reply, mode))
        cut = mode in ENDS_SESSION or mode in _CUT
        limit = _cut_after(reply) if cut else None
        for number, event in enumerate(events, 1):
            if event["type"].endswith(".delta"):
                await asyncio.sleep(self._settings.delta_pace_s)
            await self._send(event, mode)
            if number == limit:
                break
        if mode in ENDS_SESSION:
            await self.meet(mode)
        if mode is RealtimeMode.CANCELLED:
            return TURN_DETECTED
        return _CUT.get(mode, COMPLETED)

    async def _send_all(
        self, events: list[Event], mode: RealtimeMode = RealtimeMode.OK
    ) -> None:
        for event in events:
            await self._send(event, mode)

    async def _send(self, event: Event, mode: RealtimeMode = RealtimeMode.OK) -> None:
        if self._silent or self._socket.closed:
            return
        if mode is RealtimeMode.BETA_NAMES:
            event = _in_beta(event)
        if mode is RealtimeMode.UNKNOWN_EVENTS:
            await self._socket.send_json(
                {"type": "response.weather_changed", "event_id": new_id("event")}
            )
        if not event["type"].endswith(".delta"):
            self._record.add(direction="out", session=self._session.id, frame=event)
        await self._socket.send_json(event)


def _spoiled(reply: Reply, mode: RealtimeMode) -> Reply:
    match mode:
        case RealtimeMode.CLAIM:
            return Reply(text="Okay, I am doing that now.")
        case RealtimeMode.EMPTY:
            return Reply()
        case RealtimeMode.MAX_OUTPUT_TOKENS | RealtimeMode.CONTENT_FILTER if (
            not reply.text
        ):
            return Reply(text="Well, let me think about that for a moment.")
    return reply


def _cut_after(reply: Reply) -> int:
    """Return after how many events half of the output was sent: three open an item."""
    return 3 + max(1, len(reply.text.split()) // 2)


def _in_beta(event: Event) -> Event:
    kind = event["type"]
    for new, old in _BETA_NAMES.items():
        if kind == new or kind.startswith(f"{new}."):
            return {**event, "type": kind.replace(new, old, 1)}
    return event


def _shown(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
