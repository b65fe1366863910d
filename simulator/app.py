"""Everything in one process: phone, picture, person, board, models."""

import logging
import time
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from simulator.board.host import BoardHost
from simulator.models import ModelSettings, add_routes
from simulator.phone.persona import make_persona
from simulator.phone.phone import VirtualPhone
from simulator.picture import PictureSource
from simulator.settings import SimulatorSettings
from simulator.web.control import ControlRoutes
from simulator.web.page import get_page
from simulator.web.pictures import PictureRoutes

__all__ = ["Simulator", "SimulatorSettings", "start"]

_LOGGER = logging.getLogger(__name__)

_END_S = 1.0


class Simulator:
    """A running simulator; :func:`start` makes one, ``async with`` or :meth:`close` ends it."""

    def __init__(self, settings: SimulatorSettings) -> None:
        """Prepare everything; nothing listens yet."""
        self._settings = settings
        self.phone = VirtualPhone(
            make_persona(settings.seed),
            clock=time.monotonic,
            touch_space=settings.touch_space,
            locked=settings.locked,
            speed=settings.speed,
        )
        self.picture = PictureSource(self.phone)
        self.board = BoardHost(
            self.phone,
            host=settings.host,
            port=settings.board_port,
            pty_link=settings.pty_link,
            number=settings.seed,
        )
        self._models = ModelSettings(api_key=settings.api_key)
        self._pictures = PictureRoutes(self.picture)
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def __aenter__(self) -> Self:
        """Return itself, running already."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End everything."""
        await self.close()

    @property
    def http(self) -> str:
        """Return the base address of everything HTTP."""
        return f"http://{self._settings.host}:{self.port}"

    def ready(self) -> dict[str, Any]:
        """Return where everything is."""
        return {
            "simulation": True,
            "http": self.http,
            "snapshot": f"{self.http}/snapshot.jpg",
            "mjpeg": f"{self.http}/stream.mjpg",
            "board_tcp": f"socket://{self._settings.host}:{self.board.tcp.port}",
            "board_pty": self.board.pty.path,
            "openai_base_url": f"{self.http}/v1",
            "api_key": self._settings.api_key,
            "realtime_model": self._models.realtime_model,
            "chat_model": self._models.chat_model,
        }

    async def open(self) -> None:
        """Listen, and boot the board."""
        app = web.Application()
        app.router.add_get("/", get_page)
        self._pictures.add_to(app)
        ControlRoutes(self.phone, self.board, self.picture).add_to(app)
        add_routes(app, self._models)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=_END_S)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._settings.host, self._settings.port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        await self.board.start()
        # The first picture takes longest: nobody who asks for one shall wait for fonts.
        await self.picture.shot()
        _LOGGER.info("the simulator runs at %s", self.http)

    async def close(self) -> None:
        """Stop everything; nothing is left running, no name of a device is left behind."""
        self._pictures.close()
        await self.board.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self.picture.close()


async def start(settings: SimulatorSettings) -> Simulator:
    """Start a simulator in this event loop.

    Raises:
        OSError: A port is taken, or something else has the name of the terminal device.

    """
    simulator = Simulator(settings)
    try:
        await simulator.open()
    except BaseException:
        await simulator.close()
        raise
    return simulator
