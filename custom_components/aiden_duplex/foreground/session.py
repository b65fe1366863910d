"""One open session with the provider: the only sender, and who gets which output."""

import asyncio
from collections.abc import Callable, Iterable
import contextlib
import itertools
import logging
import secrets

from ..models.errors import ModelError, ModelErrorKind
from ..models.realtime.events import (
    Closed,
    Failure,
    NothingToCancel,
    RealtimeEvent,
    ResponseDone,
    ResponseRefused,
    ResponseStarted,
    ResponseStatus,
    SessionError,
    TextDelta,
    TextFinal,
    ToolCallReady,
)
from ..models.realtime.session import (
    AddToolOutput,
    CancelResponse,
    Command,
    CreateResponse,
    RealtimeSession,
)
from ..models.tools import ToolCall
from .response import ResponseHandle, TextSink
from .turn_state import TurnState

_LOGGER = logging.getLogger(__name__)

CANCEL_TIMEOUT_S = 5.0
"""How long a cancelled response may take to end; beyond it the session is closed."""
MAX_CALLS_HELD = 64
"""A response with more calls has lost its way: the session is closed. Our choice."""
REFUSED_WAIT_S = 5.0
"""Without any event for so long a refused request is sent again: some providers do not
report the end of what was in its way. Our choice; with MAX_REFUSALS below a turn's limit."""
MAX_REFUSALS = 8
"""How often one request may be refused for another response before it fails."""


NOT_EXECUTED = '{"error":"not_executed","what_to_do":"Nothing was done. Call it again if it is still wanted."}'
_CANCELLED = ResponseDone(response_id=None, status=ResponseStatus.CANCELLED)


class SessionLostError(Exception):
    """The session ended under a request.

    Attributes:
        closed: How it ended.

    """

    def __init__(self, closed: Closed) -> None:
        """Keep the end."""
        super().__init__(closed.reason)
        self.closed = closed

    def as_error(self) -> ModelError:
        """Return what a caller is told."""
        if self.closed.failure is not None:
            return self.closed.failure.as_error()
        return ModelError(
            ModelErrorKind.NETWORK,
            "The conversation's session ended before the answer was complete. Say it again.",
        )


class LiveSession:
    """Wraps a provider's session. Ends when that ends."""

    def __init__(
        self, link: RealtimeSession, *, on_end: Callable[[LiveSession, Closed], None]
    ) -> None:
        """Begin to take events."""
        self.id = f"session_{secrets.token_hex(6)}"
        self._link = link
        self._on_end = on_end
        self._state = TurnState()
        self._handles: dict[str, ResponseHandle] = {}
        self._open_calls: dict[str, ToolCall] = {}
        self._foreign_calls: list[ToolCall] = []
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._numbers = itertools.count(1)
        self._ended: Closed | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None
        self._pump = asyncio.create_task(self._run(), name="aiden_duplex foreground")

    @property
    def ended(self) -> Closed | None:
        """Return how the session ended; None while it is open."""
        return self._ended

    def next_id(self, kind: str) -> str:
        """Return a new command id."""
        return f"{kind}_{next(self._numbers)}"

    async def send(self, command: Command) -> None:
        """Send a command.

        Raises:
            SessionLostError: The session is gone.

        """
        try:
            await self._link.send(command)
        except ModelError as err:
            raise SessionLostError(self._ended or _lost(err)) from err

    async def request(
        self, sink: TextSink, *, use_tools: bool = True, needs: Iterable[str] = ()
    ) -> ResponseHandle:
        """Ask for a response; it is sent as soon as no other response is active.

        ``needs`` names commands without which the response has no sense.

        Raises:
            SessionLostError: The session is gone.

        """
        if self._ended is not None:
            raise SessionLostError(self._ended)
        command = CreateResponse(id=self.next_id("response"), use_tools=use_tools)
        handle = ResponseHandle(command, sink, needs=frozenset(needs))
        self._handles[command.id] = handle
        self._state.submit(command.id)
        self._quiet.clear()
        await self._send_next()
        return handle

    def fail(self, error: Exception) -> None:
        """Let everybody who waits for a response have an error instead."""
        for handle in self._handles.values():
            handle.fail(error)

    async def withdraw(self) -> None:
        """Give up every request; return when the provider has confirmed the end.

        A session that does not confirm in time is closed.
        """
        must_cancel = self._state.cancel()
        for request, handle in list(self._handles.items()):
            handle.abandon()
            if request != self._state.request:
                del self._handles[request]
        self._settle()
        command = CancelResponse(
            id=self.next_id("cancel"), response_id=self._state.response_id
        )
        try:
            async with asyncio.timeout(CANCEL_TIMEOUT_S):
                if must_cancel:
                    await self.send(command)
                    await self._quiet.wait()
                # A response may have completed with calls just before.
                await self.refuse_calls()
        except TimeoutError, SessionLostError:
            _LOGGER.debug("A cancellation was not confirmed: closing the session")
            await self.close()

    async def refuse_calls(self) -> None:
        """Answer the calls that have not run and will not; every call gets one output.

        Raises:
            SessionLostError: The session is gone.

        """
        while self._open_calls:
            await self.send_output(next(iter(self._open_calls.values())), NOT_EXECUTED)

    async def send_output(self, call: ToolCall, output: str) -> None:
        """Answer one call.

        Raises:
            SessionLostError: The session is gone.

        """
        self._open_calls.pop(call.call_id, None)
        command = AddToolOutput(
            id=self.next_id("output"), call_id=call.call_id, output=output
        )
        await self.send(command)

    async def close(self) -> None:
        """End the session and wait until nothing of it is left."""
        await self._link.close()
        await asyncio.wait({self._pump})
        if self._sending is not None:
            await asyncio.wait({self._sending})

    async def _run(self) -> None:
        """Take events until the last one."""
        closed = Closed(code=1006, reason="internal failure")
        try:
            async for event in self._link.events():
                if isinstance(event, Closed):
                    closed = event
                else:
                    await self._take(event)
        except Exception:
            _LOGGER.exception("Unexpected failure while taking the model's events")
            await self._link.close()
        finally:
            self._ended = closed
            self._renew_patience()
            self.fail(SessionLostError(closed))
            self._handles.clear()
            self._quiet.set()
            self._on_end(self, closed)

    async def _take(self, event: RealtimeEvent) -> None:
        state = self._state
        match event:
            case ResponseStarted():
                self._accept(state.on_started(event.response_id, event.request_id))
            case TextDelta() | TextFinal():
                if handle := self._owner(event.response_id):
                    handle.take_text(event)
            case ToolCallReady():
                await self._take_call(event)
            case ResponseDone():
                if state.is_foreign(event.response_id):
                    await self._finish_foreign(event)
                await self._finish(state.on_done(event.response_id), event)
            case ResponseRefused():
                self._refuse(state.on_refused(event.request_id))
            case NothingToCancel():
                await self._finish(state.on_nothing_to_cancel(), _CANCELLED)
            case SessionError():
                self._report(event)
        with contextlib.suppress(SessionLostError):
            await self._send_next()
        self._renew_patience()
        self._settle()

    async def _take_call(self, event: ToolCallReady) -> None:
        """Keep a call until its response ends; a response that only calls has no end."""
        if handle := self._owner(event.response_id):
            handle.take_call(event.call)
            held = handle.calls_held
        elif self._state.is_foreign(event.response_id):
            self._foreign_calls.append(event.call)
            held = len(self._foreign_calls)
        else:
            return
        if held > MAX_CALLS_HELD:
            self.fail(
                ModelError(
                    ModelErrorKind.PROTOCOL,
                    "The model did not stop calling tools. Say it again.",
                )
            )
            await self._link.close()

    def _owner(self, response_id: str | None) -> ResponseHandle | None:
        """Return the request that output belongs to."""
        if not self._state.owns(response_id):
            return None
        return self._accept(self._state.request)

    def _accept(self, request: str | None) -> ResponseHandle | None:
        handle = self._handles.get(request) if request else None
        if handle is not None:
            handle.accept()
        return handle

    async def _finish(self, request: str | None, done: ResponseDone) -> None:
        """End a request. Calls that nobody will run are answered where that is expected."""
        handle = self._handles.pop(request, None) if request else None
        if handle is None:
            return
        is_awaited = handle.is_awaited
        response = handle.finish(done)
        if done.status is ResponseStatus.CANCELLED:
            return
        self._open_calls.update({call.call_id: call for call in response.calls})
        if not is_awaited:
            with contextlib.suppress(SessionLostError):
                await self.refuse_calls()

    async def _finish_foreign(self, done: ResponseDone) -> None:
        """End a response that nobody here asked for.

        Its calls go to the request that it kept waiting, which then needs no response of
        its own until they are answered. Without such a request they do not run.
        """
        calls, self._foreign_calls = self._foreign_calls, []
        if not calls or done.status is ResponseStatus.CANCELLED:
            return
        self._open_calls.update({call.call_id: call for call in calls})
        waiting = [h for h in self._handles.values() if h.refusals and h.is_awaited]
        if not waiting or done.status is not ResponseStatus.COMPLETED:
            with contextlib.suppress(SessionLostError):
                await self.refuse_calls()
            return
        handle = waiting[0]
        self._state.drop(handle.command.id)
        del self._handles[handle.command.id]
        for call in calls:
            handle.take_call(call)
        handle.accept()
        handle.finish(done)

    def _refuse(self, request: str | None) -> None:
        """Count a refusal; the state has queued the request again."""
        handle = self._handles.get(request) if request else None
        if request is None or handle is None:
            return
        handle.refusals += 1
        _LOGGER.debug("Another response is active: request %s waits", request)
        if handle.is_awaited and handle.refusals <= MAX_REFUSALS:
            return
        self._state.drop(request)
        del self._handles[request]
        handle.fail(
            ModelError(
                ModelErrorKind.SERVER,
                "The server keeps refusing to answer. Try again later.",
            )
        )

    def _report(self, event: SessionError) -> None:
        """Give an error to the request it is about; others are only logged."""
        request = self._state.on_failed(event.command_id)
        handle = self._handles.pop(request, None) if request else None
        if handle is None:
            handle = next(
                (
                    handle
                    for handle in self._handles.values()
                    if event.command_id in handle.needs
                ),
                None,
            )
        _LOGGER.debug(
            "The provider reported %s (%s)", event.failure.kind, event.failure.code
        )
        if handle is not None:
            handle.fail(event.failure.as_error())

    async def _send_next(self) -> None:
        """Send the next request if none is out; the only place that does."""
        request = self._state.take()
        if request is not None:
            await self.send(self._handles[request].command)

    def _renew_patience(self) -> None:
        """Plan when a refused request goes again; every event of the session puts it off."""
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        if self._state.is_blocked and self._ended is None:
            loop = asyncio.get_running_loop()
            self._patience = loop.call_later(REFUSED_WAIT_S, self._lose_patience)

    def _lose_patience(self) -> None:
        """Send a refused request again although no end of another response was seen."""
        self._patience = None
        self._state.on_silence()
        self._sending = asyncio.create_task(
            self._send_again(), name="aiden_duplex refused request"
        )

    async def _send_again(self) -> None:
        with contextlib.suppress(SessionLostError):
            await self._send_next()

    def _settle(self) -> None:
        """Note when nothing is out any more."""
        if self._state.request is None and not self._handles:
            self._quiet.set()


def _lost(error: ModelError) -> Closed:
    """Return the end of a session that takes no more commands."""
    return Closed(
        code=1006,
        reason=error.message,
        failure=Failure(kind=error.kind, message=error.message),
    )
