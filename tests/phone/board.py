"""The real firmware behind ports of every kind: in process, on TCP, on a pty."""

import asyncio
from collections.abc import Awaitable, Callable
import contextlib
from dataclasses import dataclass, field
import os
import tty
from typing import Any, Self, override

from hardware_bridge.firmware.aiden_bridge import dx1 as wire, profiles
from hardware_bridge.firmware.aiden_bridge.board import Board

BOARD_ID = "e661410403123456"
KEYS, CONSUMER, TOUCH = profiles.KEYBOARD_ID, profiles.CONSUMER_ID, profiles.TOUCH_ID

type Report = tuple[float, int, bytes]
"""Seconds, report id, report."""


class LoopClock:
    """The board's clock: the event loop's."""

    def ms(self) -> int:
        """Read it."""
        return int(asyncio.get_running_loop().time() * 1000)


@dataclass
class FakePhone:
    """The board's USB side: notes every report, knows what is down."""

    usb: int = wire.USB_MOUNTED
    reports: list[Report] = field(default_factory=list)
    down: dict[int, bytes] = field(default_factory=dict)
    on_report: Callable[[int, bytes], None] | None = None

    def send(self, report_id: int, report: bytes) -> None:
        """Take a report."""
        if self.usb == wire.USB_NONE:
            raise OSError("no phone")
        self.reports.append((asyncio.get_running_loop().time(), report_id, report))
        pressed = report[:1] if report_id == TOUCH else report
        if any(pressed):
            self.down[report_id] = report
        else:
            self.down.pop(report_id, None)
        if self.on_report is not None:
            self.on_report(report_id, report)

    def usb_state(self) -> int:
        """Say whether a phone is there."""
        return self.usb

    def leds(self) -> int:
        """Say which lamps are lit."""
        return 0

    def set_profile(self, profile: int) -> None:
        """Become another device."""

    def pressed(self, report_id: int) -> list[bytes]:
        """Return the reports that press something, in order."""
        return [
            report
            for _, kind, report in self.reports
            if kind == report_id and any(report[:1] if kind == TOUCH else report)
        ]

    def presses_after(self, index: int) -> list[Report]:
        """Return the reports since ``index`` that press something."""
        return [
            entry
            for entry in self.reports[index:]
            if any(entry[2][:1] if entry[1] == TOUCH else entry[2])
        ]


class FakePins:
    """The wake line and the lamp."""

    wake = False

    def wake_level(self) -> bool:
        """Read the line."""
        return self.wake

    def identify(self, on: bool) -> None:
        """Switch the lamp."""


class BoardRig:
    """A board that runs on the event loop, whoever carries its bytes.

    Faults: ``deaf`` loses what the host sends, ``mute`` what the board sends,
    ``to_host`` and ``to_board`` may change or drop any piece of bytes.
    """

    def __init__(self, phone: FakePhone | None = None, *, boot_id: int = 1) -> None:
        """Start a board with a phone."""
        self.phone = phone or FakePhone()
        self.pins = FakePins()
        self.boot_id = boot_id
        self.deaf = False
        self.mute = False
        self.to_host: Callable[[bytes], bytes] = bytes
        self.to_board: Callable[[bytes], bytes] = bytes
        self.sent: list[bytes] = []
        self.received: list[bytes] = []
        self.carrier: Callable[[bytes], None] | None = None
        self._incoming = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._board: Board | None = None

    def __enter__(self) -> Self:
        """Power on."""
        self.restart(self.boot_id)
        return self

    def __exit__(self, *_: object) -> None:
        """Power off."""
        self._board = None
        if self._timer is not None:
            self._timer.cancel()

    def restart(self, boot_id: int) -> None:
        """Lose everything and begin anew, as after a brown-out."""
        self.boot_id = boot_id
        self._incoming.clear()
        self._board = Board(
            self,
            self.phone,
            LoopClock(),
            self.pins,
            board_id=bytes.fromhex(BOARD_ID),
            boot_id=boot_id,
        )
        self.poll()

    def feed(self, data: bytes) -> None:
        """Take bytes of the host."""
        if self.deaf:
            return
        data = self.to_board(data)
        self.received.append(data)
        self._incoming += data
        self.poll()

    def poll(self) -> None:
        """Let the board do a turn and plan its next."""
        if self._board is None:
            return
        self._board.poll()
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        due_ms = self._board.next_deadline_ms()
        if due_ms is not None:
            # A millisecond more: the board's clock has no fractions.
            wait_s = max(due_ms - int(loop.time() * 1000), 0) / 1000 + 0.001
            self._timer = loop.call_later(wait_s, self.poll)

    # The board's port.

    def read(self) -> bytes | None:
        """Give the board what the host sent."""
        data, self._incoming = bytes(self._incoming), bytearray()
        return data or None

    def write(self, data: bytes) -> None:
        """Take what the board sends."""
        if self.mute:
            return
        data = self.to_host(data)
        self.sent.append(data)
        if data and self.carrier is not None:
            self.carrier(data)


class PipeTransport(asyncio.Transport):
    """A port without a system below it: bytes arrive in the next turn of the loop."""

    def __init__(self, rig: BoardRig, protocol: asyncio.Protocol) -> None:
        """Join a host's protocol and a board."""
        super().__init__()
        self._rig = rig
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._open = True
        rig.carrier = self._carry

    def _carry(self, data: bytes) -> None:
        """Bring the board's bytes to the host."""
        self._loop.call_soon(self._arrive, data)

    def _arrive(self, data: bytes) -> None:
        """Hand bytes over, if the port is still open."""
        if self._open:
            self._protocol.data_received(data)

    @override
    def write(self, data: Any) -> None:
        """Bring the host's bytes to the board."""
        self._loop.call_soon(self._rig.feed, bytes(data))

    @override
    def is_closing(self) -> bool:
        """Return whether it is closed."""
        return not self._open

    @override
    def close(self) -> None:
        """Close it from the host's side."""
        self.cut(None)

    @override
    def abort(self) -> None:
        """Close it from the host's side."""
        self.cut(None)

    def cut(self, error: Exception | None = None) -> None:
        """Pull the cable."""
        if self._open:
            self._open = False
            self._rig.carrier = None
            self._loop.call_soon(self._protocol.connection_lost, error)


class Cable:
    """Opens in-process ports to a board; can be pulled and put back."""

    def __init__(self, rig: BoardRig) -> None:
        """Plug it in."""
        self.rig = rig
        self.plugged = True
        self.opened = 0
        self.port: PipeTransport | None = None

    async def open(self, factory: Callable[[], asyncio.Protocol]) -> asyncio.Transport:
        """Open a port."""
        if not self.plugged:
            raise FileNotFoundError(2, "No such file or directory")
        self.opened += 1
        protocol = factory()
        self.port = PipeTransport(self.rig, protocol)
        protocol.connection_made(self.port)
        return self.port

    def pull(self) -> None:
        """Unplug: the port breaks, another cannot be opened."""
        self.plugged = False
        if self.port is not None:
            self.port.cut(OSError(5, "Input/output error"))


@contextlib.asynccontextmanager
async def on_tcp(rig: BoardRig) -> Any:
    """Serve the board on a loopback TCP port; yields (url, hang_up)."""
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        rig.carrier = writer.write
        try:
            while data := await reader.read(4096):
                rig.feed(data)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    number = server.sockets[0].getsockname()[1]

    def hang_up() -> None:
        for writer in writers:
            writer.transport.abort()

    try:
        yield f"socket://127.0.0.1:{number}", hang_up
    finally:
        hang_up()
        server.close()
        await server.wait_closed()


@contextlib.contextmanager
def on_pty(rig: BoardRig) -> Any:
    """Put the board on a pseudo-terminal; yields (path, unplug)."""
    loop = asyncio.get_running_loop()
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    path = os.ttyname(slave)

    def readable() -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            rig.feed(os.read(master, 4096))

    def carry(data: bytes) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            os.write(master, data)

    def unplug() -> None:
        nonlocal master
        if master >= 0:
            loop.remove_reader(master)
            os.close(master)
            master = -1

    rig.carrier = carry
    loop.add_reader(master, readable)
    try:
        yield path, unplug
    finally:
        unplug()
        os.close(slave)


async def until(
    condition: Callable[[], object], *, timeout_s: float = 10.0, step_s: float = 0.005
) -> None:
    """Wait for a condition, with a deadline."""
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(step_s)


async def run_inline(function: Callable[..., Any], *arguments: Any) -> Any:
    """Stand in for an executor."""
    return function(*arguments)


type RunBlocking = Callable[..., Awaitable[Any]]
