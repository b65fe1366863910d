"""Keeps the one session: opened when it is needed, closed when nothing is asked for long."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
import logging
from typing import Any

from ..models.errors import ModelError, ModelErrorKind
from ..models.realtime.events import Closed
from ..models.realtime.session import RealtimeSession, Replay, ReplayItem, SessionConfig
from .session import LiveSession, SessionLostError

_LOGGER = logging.getLogger(__name__)

CONNECT_S = 35.0
"""Backstop; the session's own deadlines for connecting and configuring are nearer."""


class SessionKeeper:
    """Opens and closes sessions.

    Attributes:
        live: The open session.
        sessions: Sessions opened so far.
        last_end: How the last one ended.

    """

    def __init__(
        self,
        connect: Callable[[SessionConfig], Awaitable[RealtimeSession]],
        config: SessionConfig,
        *,
        idle_close_s: float,
        spawn: Callable[[Coroutine[Any, Any, Any], str], object],
        on_change: Callable[[], None],
    ) -> None:
        """Open nothing yet."""
        self._connect = connect
        self._config = config
        self._idle_close_s = idle_close_s
        self._spawn = spawn
        self._on_change = on_change
        self._idle_timer: asyncio.TimerHandle | None = None
        self.live: LiveSession | None = None
        self.sessions = 0
        self.last_end: Closed | None = None

    async def open(
        self, replay: tuple[ReplayItem, ...], *, on_connecting: Callable[[], None]
    ) -> LiveSession:
        """Return the open session, or a new one that knows the latest history."""
        if self.live is not None:
            return self.live
        on_connecting()
        try:
            async with asyncio.timeout(CONNECT_S):
                link = await self._connect(self._config)
        except TimeoutError:
            raise ModelError(
                ModelErrorKind.TIMEOUT, "The model's server did not answer in time."
            ) from None
        live = LiveSession(link, on_end=self._on_end)
        self.live = live
        self.sessions += 1
        if replay:
            try:
                await live.send(Replay(id="replay", items=replay))
            except SessionLostError as err:
                raise err.as_error() from err
        return live

    def _on_end(self, live: LiveSession, closed: Closed) -> None:
        """Note the end of a session, whoever ended it."""
        self.last_end = closed
        if closed.failure is not None:
            _LOGGER.info("The conversation's session ended: %s", closed.failure.message)
        if self.live is live:
            self.live = None
            self.stop_idle_timer()
        self._on_change()

    def dismiss(self) -> None:
        """Let go of the session; it is closed beside."""
        live, self.live = self.live, None
        if live is not None:
            self._spawn(live.close(), "close")

    def start_idle_timer(self) -> None:
        """Close the session when nothing is asked for long."""
        if self.live is not None:
            loop = asyncio.get_running_loop()
            self._idle_timer = loop.call_later(self._idle_close_s, self._idle_out)

    def stop_idle_timer(self) -> None:
        """Let the session stand open."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _idle_out(self) -> None:
        self._idle_timer = None
        self.dismiss()
