"""GET /v1/realtime: who may connect, and the sessions that are open."""

import asyncio

from aiohttp import web

from simulator.models.brain.thoughts import Brain
from simulator.models.errors import (
    ApiError,
    check_key,
    dead_key,
    rate_limited,
    server_error,
    wrong_country,
)
from simulator.models.faults import Faults, RealtimeMode
from simulator.models.record import Record
from simulator.models.settings import ModelSettings

from .connection import Connection
from .errors import RealtimeError
from .session import Session

_MAX_FRAME = 32 << 20
"""Bytes; an append may carry 15 MiB of sound in base64."""
_CLOSE_S = 2.0
"""How long the client's half of a close is waited for."""


class RealtimeServer:
    """Takes connections.

    What cannot be known at the upgrade is answered as the real server does: the
    upgrade succeeds, an ``error`` event says why, and close code 4000 follows with
    ``invalid_request_error.<code>`` as its reason.
    """

    def __init__(
        self, settings: ModelSettings, faults: Faults, record: Record, brain: Brain
    ) -> None:
        """Keep what is shared with the chat server and the control routes."""
        self._settings = settings
        self._faults = faults
        self._record = record
        self._brain = brain
        self._connections: set[Connection] = set()
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def open_sessions(self) -> int:
        """Return how many sessions are open."""
        return len(self._connections)

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Serve one WebSocket until it ends."""
        try:
            check_key(request.headers, self._faults.api_key or self._settings.api_key)
            self._refuse_upgrade()
        except ApiError as err:
            self._record.add(direction="in", upgrade=request.path_qs, status=err.status)
            return err.response()
        self._record.add(direction="in", upgrade=request.path_qs, status=101)
        socket = web.WebSocketResponse(
            autoping=False, max_msg_size=_MAX_FRAME, timeout=_CLOSE_S
        )
        await socket.prepare(request)
        if refusal := self._refusal(request):
            await socket.send_json(refusal.event(None))
            await socket.close(
                code=4000, message=f"{refusal.type}.{refusal.code}".encode()
            )
            return socket
        session = Session(self._settings.realtime_model, self._settings.session_max_s)
        connection = Connection(
            socket,
            request,
            session=session,
            settings=self._settings,
            faults=self._faults,
            record=self._record,
            brain=self._brain,
        )
        self._connections.add(connection)
        try:
            await connection.run()
        finally:
            self._connections.discard(connection)
        return socket

    def end_sessions(self, mode: RealtimeMode) -> None:
        """Let every open session meet a fault, without waiting for its end."""
        for connection in self._connections:
            task = asyncio.create_task(connection.meet(mode))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Close every session: the server goes away."""
        for task in self._ending:
            task.cancel()
        await asyncio.gather(
            *self._ending,
            *(c.close(1001, "going away") for c in list(self._connections)),
            return_exceptions=True,
        )

    def _refuse_upgrade(self) -> None:
        match self._faults.take_upgrade():
            case RealtimeMode.UNAUTHORIZED:
                raise dead_key()
            case RealtimeMode.FORBIDDEN:
                raise wrong_country()
            case RealtimeMode.NOT_FOUND:
                raise ApiError(status=404, message="Not found.")
            case RealtimeMode.RATE_LIMITED:
                raise rate_limited(self._faults.realtime.retry_after_s)
            case RealtimeMode.UNAVAILABLE:
                raise server_error(503)

    def _refusal(self, request: web.Request) -> RealtimeError | None:
        """Return what is wrong with an upgrade that was accepted."""
        if "realtime=v1" in request.headers.get("OpenAI-Beta", ""):
            return RealtimeError(
                message="The Realtime Beta API is no longer supported. Please use /v1/realtime for "
                "the GA API (without the header OpenAI-Beta).",
                code="beta_api_shape_disabled",
            )
        model = request.query.get("model")
        if not model:
            return RealtimeError(
                message="You must provide a model parameter.",
                code="missing_model",
            )
        if model != self._settings.realtime_model:
            return RealtimeError(
                message=f'Model "{model}" is not supported in realtime mode.',
                code="invalid_model",
                param="model",
            )
        return None
