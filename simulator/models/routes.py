"""The routes of the model servers, and the control of their faults."""

from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from .brain.background import BackgroundBrain
from .brain.eyes import Eyes
from .brain.foreground import ForegroundBrain
from .brain.thoughts import Brain
from .chat.server import ChatServer
from .faults import ENDS_SESSION, FaultError, Faults
from .realtime.server import RealtimeServer
from .record import Record
from .settings import ModelSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Brains:
    """Who thinks, and how to put them to rest."""

    chat: Brain
    realtime: Brain
    close: Callable[[], None] = lambda: None


def scripted_brains(settings: ModelSettings) -> Brains:
    """Return the brains that the simulator uses."""
    eyes = Eyes(program=settings.tesseract, timeout_s=settings.ocr_timeout_s)
    return Brains(
        chat=BackgroundBrain(eyes.look), realtime=ForegroundBrain(), close=eyes.close
    )


def add_routes(
    app: web.Application, settings: ModelSettings, *, brains: Brains | None = None
) -> None:
    """Add the model servers to an application.

    ``GET /v1/models``, ``POST /v1/chat/completions``, ``GET /v1/realtime`` (WebSocket)
    and ``GET``/``POST /control/models``. They end with the application.
    """
    chosen = brains or scripted_brains(settings)
    faults = Faults()
    requests, frames = Record(settings.recorded), Record(settings.recorded)
    chat = ChatServer(settings, faults, requests, chosen.chat)
    realtime = RealtimeServer(settings, faults, frames, chosen.realtime)
    control = _Control(faults, requests, frames, realtime)
    app.router.add_get("/v1/models", chat.models)
    app.router.add_post("/v1/chat/completions", chat.complete)
    app.router.add_get("/v1/realtime", realtime.connect)
    app.router.add_get("/control/models", control.show)
    app.router.add_post("/control/models", control.order)

    async def shut_down(_: web.Application) -> None:
        chat.close()
        await realtime.close()

    async def clean_up(_: web.Application) -> None:
        chosen.close()

    app.on_shutdown.append(shut_down)
    app.on_cleanup.append(clean_up)


class _Control:
    """Orders faults and shows what was sent."""

    def __init__(
        self, faults: Faults, requests: Record, frames: Record, realtime: RealtimeServer
    ) -> None:
        """Keep what it controls."""
        self._faults = faults
        self._requests = requests
        self._frames = frames
        self._realtime = realtime

    async def show(self, request: web.Request) -> web.Response:
        """Return the faults in force and the record."""
        del request
        return web.json_response(
            {
                "faults": self._faults.as_dict(),
                "chat": {"requests": self._requests.entries()},
                "realtime": {
                    "open_sessions": self._realtime.open_sessions,
                    "frames": self._frames.entries(),
                },
            }
        )

    async def order(self, request: web.Request) -> web.Response:
        """Take an order.

        ``{"chat": {...}, "realtime": {...}}`` sets faults, ``{"clear": true}`` forgets
        the record, ``{"api_key": ...}`` revokes the key and takes another from now on (an
        empty one: that of the start again). A realtime fault that ends sessions, with ``"value": "now"``, meets
        the open sessions at once and is not kept.
        """
        try:
            body = await request.json()
            clear = isinstance(body, dict) and body.pop("clear", False) is True
            before = self._faults.realtime
            self._faults.order(body)
        except (ValueError, FaultError) as err:
            return web.json_response({"error": str(err)}, status=400)
        if clear:
            self._requests.clear()
            self._frames.clear()
        ordered = self._faults.realtime
        if ordered.mode in ENDS_SESSION and ordered.value == "now":
            self._faults.realtime = before
            self._realtime.end_sessions(ordered.mode)
        return web.json_response(self._faults.as_dict())
