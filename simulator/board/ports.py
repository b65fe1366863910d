"""The ways to the board: a pseudo terminal and a TCP port, as fast as a serial line."""

import asyncio
from collections.abc import Callable
import contextlib
import fcntl
import logging
import os
from pathlib import Path
import struct
import termios
import tty
from typing import cast, override

from simulator.board.line import Pump

_LOGGER = logging.getLogger(__name__)

_PAUSE_AT = 4096
_RESUME_AT = 1024
_UNREAD_S = 1.0
_MOST_CLIENTS = 4
_MOST_UNSENT = 65536

type Received = Callable[[Link, bytes], None]
type Gone = Callable[[Link], None]


class Link:
    """One host's way to the board, paced in both directions."""

    def __init__(
        self, name: str, write: Callable[[bytes], None], received: Received
    ) -> None:
        """``write`` takes bytes for the host; ``received`` gets the host's."""
        self.name = name
        self._received = received
        self._inbound = Pump(self._arrived)
        self._outbound = Pump(write)
        self._resume: Callable[[], None] | None = None

    def send(self, data: bytes) -> None:
        """Send bytes of the board to the host."""
        self._outbound.push(data)

    def take(
        self, data: bytes, pause: Callable[[], None], resume: Callable[[], None]
    ) -> None:
        """Take in bytes of the host; ask it to pause when the line cannot follow."""
        self._inbound.push(data)
        if self._inbound.waiting > _PAUSE_AT and self._resume is None:
            self._resume = resume
            pause()

    def close(self) -> None:
        """Drop what is on the way."""
        self._resume = None
        self._inbound.close()
        self._outbound.close()

    def _arrived(self, data: bytes) -> None:
        self._received(self, data)
        if self._resume is not None and self._inbound.waiting < _RESUME_AT:
            resume, self._resume = self._resume, None
            resume()


class PtyPort:
    """The board as a terminal device, perhaps under a name that stays."""

    def __init__(self, link_path: Path | None, received: Received, gone: Gone) -> None:
        """``link_path`` becomes a symbolic link to the device as long as it is there."""
        self._link_path = link_path
        self._received = received
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        self._master = -1
        self._slave = -1
        self._unread_since: float | None = None
        self.link: Link | None = None
        self.device = ""

    @property
    def path(self) -> str:
        """Return the path to open."""
        return str(self._link_path) if self._link_path else self.device

    def open(self) -> None:
        """Make the device.

        Raises:
            FileExistsError: Something else than a symbolic link has the name.

        """
        path = self._link_path
        if path is not None and path.exists() and not path.is_symlink():
            raise FileExistsError(f"{path} is there and is no symbolic link")
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.device = os.ttyname(self._slave)
        if path is not None:
            fresh = path.with_name(f".{path.name}.new")
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(self.device)
            fresh.replace(path)
        self._unread_since = None
        self.link = Link("pty", self._write, self._received)
        self._listen()

    def close(self) -> None:
        """Hang up: whoever has the device open gets an error, and the name is gone."""
        if self.link is None:
            return
        self._loop.remove_reader(self._master)
        link, self.link = self.link, None
        link.close()
        path = self._link_path
        if (
            path is not None
            and path.is_symlink()
            and str(path.readlink()) == self.device
        ):
            path.unlink()
        os.close(self._slave)
        os.close(self._master)
        self._gone(link)

    def _listen(self) -> None:
        if self.link is not None:
            self._loop.add_reader(self._master, self._readable)

    def _readable(self) -> None:
        try:
            data = os.read(self._master, 1024)
        except BlockingIOError:
            return
        if self.link is not None:
            self.link.take(data, self._pause, self._listen)

    def _pause(self) -> None:
        self._loop.remove_reader(self._master)

    def _write(self, data: bytes) -> None:
        """Write to the host; nobody hears a serial line that is not open."""
        self._forget_unread()
        with contextlib.suppress(BlockingIOError):
            os.write(self._master, data)

    def _forget_unread(self) -> None:
        """Drop what nobody has read for a second, as a closed serial port does."""
        now = self._loop.time()
        answer = fcntl.ioctl(self._slave, termios.FIONREAD, bytes(4))
        if not struct.unpack("i", answer)[0]:
            self._unread_since = None
        elif self._unread_since is None:
            self._unread_since = now
        elif now - self._unread_since > _UNREAD_S:
            termios.tcflush(self._slave, termios.TCIFLUSH)
            self._unread_since = None


class TcpPort:
    """The board as a serial device server: ``socket://host:port``."""

    def __init__(self, host: str, port: int, received: Received, gone: Gone) -> None:
        """Port 0 takes a free one, which then stays."""
        self._host = host
        self._received = received
        self._gone = gone
        self._server: asyncio.Server | None = None
        self.port = port
        self.clients: dict[Link, asyncio.Transport] = {}

    @property
    def links(self) -> list[Link]:
        """Return the hosts that are connected."""
        return list(self.clients)

    async def open(self) -> None:
        """Listen."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Client(self), self._host, self.port
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Refuse new hosts and cut off those that are there."""
        if self._server is None:
            return
        server, self._server = self._server, None
        server.close()
        for link, transport in list(self.clients.items()):
            self.left(link)
            transport.abort()
        await server.wait_closed()

    def joined(self, transport: asyncio.Transport) -> Link | None:
        """Take in a host, unless there are too many."""
        if self._server is None or len(self.clients) >= _MOST_CLIENTS:
            _LOGGER.warning("one host too many on the board's TCP port")
            transport.abort()
            return None

        def write(data: bytes) -> None:
            if transport.get_write_buffer_size() < _MOST_UNSENT:
                transport.write(data)

        link = Link("tcp", write, self._received)
        self.clients[link] = transport
        return link

    def left(self, link: Link) -> None:
        """Forget a host."""
        if self.clients.pop(link, None) is not None:
            link.close()
            self._gone(link)


class _Client(asyncio.Protocol):
    """One TCP connection."""

    def __init__(self, port: TcpPort) -> None:
        """Belong to a port."""
        self._port = port
        self._link: Link | None = None
        self._transport: asyncio.Transport | None = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Join."""
        self._transport = cast("asyncio.Transport", transport)
        self._link = self._port.joined(self._transport)

    @override
    def data_received(self, data: bytes) -> None:
        """Pass bytes on to the line."""
        if self._link is not None and self._transport is not None:
            self._link.take(
                data, self._transport.pause_reading, self._transport.resume_reading
            )

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """Leave."""
        if self._link is not None:
            self._port.left(self._link)
