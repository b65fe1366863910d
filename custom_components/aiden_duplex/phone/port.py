"""One open port with a DX1 client on it: the only place that touches a transport."""

import asyncio
from collections.abc import Awaitable, Callable
import errno
from typing import override

import serialx

from .dx1_client import Dx1Client
from .dx1_events import Dx1Event, Lost

type PortOpener = Callable[
    [Callable[[], asyncio.Protocol]], Awaitable[asyncio.Transport]
]
"""Opens a port for the protocol that the factory makes."""

BAUDRATE = 115_200
OPEN_TIMEOUT_S = 10.0
CLOSE_TIMEOUT_S = 2.0
MAX_SAMPLE = 256

_SENTENCES = {
    errno.ENOENT: "there is no such port",
    errno.ENXIO: "there is no device behind this port",
    errno.ENODEV: "there is no device behind this port",
    errno.EACCES: "this user may not open the port",
    errno.EPERM: "this user may not open the port",
    errno.EBUSY: "another program has the port open",
    errno.ECONNREFUSED: "nobody listens at this address",
    errno.EHOSTUNREACH: "the host cannot be reached",
    errno.ENETUNREACH: "the host cannot be reached",
    errno.ENOTTY: "this is no serial port",
}


def serial_opener(url: str, baudrate: int = BAUDRATE) -> PortOpener:
    """Return an opener for a device path or URL that serialx knows.

    DTR and RTS stay low: on many ESP32 boards they reset the chip.
    """

    async def open_port(factory: Callable[[], asyncio.Protocol]) -> asyncio.Transport:
        transport, _ = await serialx.create_serial_connection(
            asyncio.get_running_loop(),
            factory,
            url,
            baudrate=baudrate,
            exclusive=True,
            dtr_on_open=serialx.PinState.LOW,
            rts_on_open=serialx.PinState.LOW,
            close_timeout=CLOSE_TIMEOUT_S / 2,
        )
        return transport

    return open_port


def shown(url: str) -> str:
    """Return a port's name without what may be secret in it."""
    return url.partition("?")[0]


def why_not_open(err: BaseException) -> str:
    """Return why a port did not open, for a person."""
    if isinstance(err, TimeoutError):
        return "it did not open in time"
    number = err.errno if isinstance(err, OSError) else None
    if number in _SENTENCES:
        return _SENTENCES[number]
    text = str(err)
    if isinstance(err, OSError) and "Connect call failed" in text:
        return _SENTENCES[errno.ECONNREFUSED]
    return text or type(err).__name__


def is_taken(err: BaseException) -> bool:
    """Return whether somebody else has the port."""
    return isinstance(err, OSError) and err.errno == errno.EBUSY


class Dx1Port(asyncio.Protocol):
    """Carries bytes between a transport and a client, and keeps the client's time.

    Args:
        client: The protocol's state; may outlive this port.
        on_event: Takes the client's events in their order.

    """

    def __init__(self, client: Dx1Client, on_event: Callable[[Dx1Event], None]) -> None:
        """Start without a transport."""
        self._client = client
        self._on_event = on_event
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._gone = asyncio.Event()
        self._ended = False
        self.useless = asyncio.Event()
        """Set when the port broke, or is of no use for another reason."""
        self.sample = bytearray()
        """The first bytes that came, for an error's text."""

    async def open(self, opener: PortOpener) -> None:
        """Open the port and begin a session; raises whatever the opener raises.

        Raises:
            TimeoutError: It took longer than 10 s.

        """
        async with asyncio.timeout(OPEN_TIMEOUT_S):
            await opener(lambda: self)

    async def close(self) -> None:
        """Close the port; returns when it is closed, after a few seconds at the latest."""
        self._end()
        transport = self._transport
        if transport is None:
            return
        transport.close()
        if not await self._is_gone():
            transport.abort()
            await self._is_gone()

    async def _is_gone(self) -> bool:
        """Wait for the transport's end; return whether it came."""
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._gone.wait()
        except TimeoutError:
            return False
        return True

    def step(self) -> None:
        """Send, tell and plan what the client has to send, to tell and to do."""
        data = self._client.take_output()
        if data and self._transport is not None and not self._transport.is_closing():
            try:
                self._transport.write(data)
            except OSError, serialx.SerialException:
                self._transport.abort()
        try:
            for event in self._client.take_events():
                if isinstance(event, Lost) and event.port_useless:
                    self.useless.set()
                self._on_event(event)
        finally:
            self._plan()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin a session."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._client.opened(self._loop.time())
        self.step()

    @override
    def data_received(self, data: bytes) -> None:
        """Pass on what came."""
        if self._ended:
            return
        self.sample += data[: MAX_SAMPLE - len(self.sample)]
        self._client.receive(data, self._loop.time())
        self.step()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """End the session."""
        self._transport = None
        self._gone.set()
        self._end()

    def _end(self) -> None:
        """End the session, once; the client may be on another port soon."""
        if self._ended:
            return
        self._ended = True
        self.useless.set()
        self._client.closed()
        self.step()
        self._cancel_timer()

    def _plan(self) -> None:
        """Wake up when the client has something to do."""
        self._cancel_timer()
        deadline = self._client.next_deadline()
        if deadline is not None and self._transport is not None:
            self._timer = self._loop.call_at(deadline, self._tick)

    def _tick(self) -> None:
        """Let the client do what is due."""
        self._timer = None
        self._client.tick(self._loop.time())
        self.step()

    def _cancel_timer(self) -> None:
        """Wake up no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
