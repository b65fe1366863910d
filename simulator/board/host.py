"""Runs the firmware as a board would: one turn whenever something comes or is due."""

import asyncio
import logging
from pathlib import Path
import secrets
from typing import Any

from hardware_bridge.firmware.aiden_bridge.board import Board
from simulator.board.ports import Link, PtyPort, TcpPort
from simulator.board.sharing import Sharing
from simulator.board.usb import UsbSide
from simulator.phone.phone import VirtualPhone

_LOGGER = logging.getLogger(__name__)

BOARD_ID = b"AIDENSIM"
"""The chip's own number, of the first board; those of others follow it."""
BOOT_S = 0.25
WAKE_S = 0.15
_SOONEST_S = 0.001
_BOOT_TEXT = b"\r\nauto-reload is off\r\nsimulated board, nothing here is real\r\n"


class _Uart:
    """What the firmware knows as ``uart``."""

    def __init__(self, host: BoardHost) -> None:
        self._host = host
        self.arrived = bytearray()

    def read(self) -> bytes | None:
        """Return what came since the last time."""
        if not self.arrived:
            return None
        data = bytes(self.arrived)
        self.arrived.clear()
        return data

    def write(self, data: bytes) -> None:
        """Send."""
        self._host.send(bytes(data))


class _Clock:
    """What the firmware knows as ``clock``: milliseconds since the board started."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.started = loop.time()

    def ms(self) -> int:
        """Read it."""
        return int((self._loop.time() - self.started) * 1000)


class _Pins:
    """What the firmware knows as ``pins``."""

    def __init__(self) -> None:
        self.level = False
        self.lit = False

    def wake_level(self) -> bool:
        """Return the wake line."""
        return self.level

    def identify(self, on: bool) -> None:
        """Light the LED."""
        self.lit = on


class BoardHost:
    """The board: its serial side, its USB side, its button, its power."""

    def __init__(
        self,
        phone: VirtualPhone,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        pty_link: Path | None = None,
        number: int = 1,
    ) -> None:
        """Prepare; :meth:`start` opens the ports and boots. ``number`` says which board it is."""
        first = int.from_bytes(BOARD_ID)
        self._board_id = ((first + number - 1) % 2**64).to_bytes(8)
        self._loop = asyncio.get_running_loop()
        self._sharing: Sharing[Link] = Sharing()
        self._answering: Link | None = None
        self._board: Board | None = None
        self._clock = _Clock(self._loop)
        self._pins = _Pins()
        self._uart = _Uart(self)
        self._timer: asyncio.TimerHandle | None = None
        self._button: asyncio.TimerHandle | None = None
        self._boot: asyncio.TimerHandle | None = None
        self._closed = False
        self._plugged = False
        self.usb = UsbSide(phone, self.poll)
        self.pty = PtyPort(pty_link, self._received, self._gone)
        self.tcp = TcpPort(host, port, self._received, self._gone)
        self.boots = 0
        self.boot_id = 0
        self.crashed = False

    async def start(self) -> None:
        """Open the ports and boot; the phone finds the board a moment later."""
        await self.plug()
        self._start_firmware()
        self.usb.enumerate()

    async def close(self) -> None:
        """Stop the firmware, close the ports, remove the pty's name."""
        self._closed = True
        for timer in (self._timer, self._button, self._boot):
            if timer is not None:
                timer.cancel()
        self._board = None
        self.usb.close()
        await self.unplug()

    async def plug(self) -> None:
        """Put the serial cable in."""
        if not self._plugged:
            self._plugged = True
            self.pty.open()
            await self.tcp.open()

    async def unplug(self) -> None:
        """Pull the serial cable: the pty hangs up, the TCP port refuses."""
        if self._plugged:
            self._plugged = False
            self.pty.close()
            await self.tcp.close()

    def reboot(self) -> None:
        """Cut the power for a moment: another boot id, nothing held, nothing known."""
        if self._boot is not None or self._closed:
            return
        self._board = None
        self._uart.arrived.clear()
        self._answering = None
        self.usb.enumerate(BOOT_S * 2)
        self.send(_BOOT_TEXT)
        self._boot = self._loop.call_later(BOOT_S, self._start_firmware)

    def press_wake(self, hold_s: float = WAKE_S) -> None:
        """Press the wake button, or let the wake chip fire."""
        self._pins.level = True
        self.poll()
        if self._button is not None:
            self._button.cancel()
        self._button = self._loop.call_later(hold_s, self._release_wake)

    def make_noise(self, data: bytes, *, to_host: bool = True) -> None:
        """Put bytes on the line that nobody sent."""
        if to_host:
            for link in self._links():
                link.send(data)
        else:
            self._uart.arrived += data
            self.poll()

    def state(self) -> dict[str, Any]:
        """Return what can be known about the board, as JSON values."""
        return {
            "plugged": self._plugged,
            "running": self._board is not None,
            "crashed": self.crashed,
            "boots": self.boots,
            "boot_id": self.boot_id,
            "usb_state": self.usb.usb_state(),
            "profile": self.usb.profile,
            "identify": self._pins.lit,
            "links": [link.name for link in self.tcp.links],
        }

    def poll(self) -> None:
        """Let the firmware do one turn, and wait for its next deadline."""
        if self._board is None or self._closed:
            return
        try:
            self._board.poll()
            deadline = self._board.next_deadline_ms()
        except Exception:
            _LOGGER.exception("the firmware crashed; the board is dead until a reboot")
            self._board = None
            self.crashed = True
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if deadline is not None:
            at = self._clock.started + deadline / 1000
            at = max(at, self._loop.time() + _SOONEST_S)
            self._timer = self._loop.call_at(at, self.poll)

    def send(self, data: bytes) -> None:
        """Send to the host that is answered; by itself, to the one that has the session."""
        if self._answering is not None:
            self._answering.send(data)
        elif self._sharing.owner is not None:
            self._sharing.owner.send(data)
        else:
            for link in self._links():
                link.send(data)

    def _links(self) -> list[Link]:
        pty = [self.pty.link] if self.pty.link else []
        return [*pty, *self.tcp.links]

    def _start_firmware(self) -> None:
        """Boot."""
        self._boot = None
        self.boots += 1
        self.crashed = False
        self.boot_id = secrets.randbits(32)
        self._clock = _Clock(self._loop)
        self._board = Board(
            self._uart,
            self.usb,
            self._clock,
            self._pins,
            board_id=self._board_id,
            boot_id=self.boot_id,
            profile=self.usb.profile,
        )
        self.poll()

    def _received(self, link: Link, data: bytes) -> None:
        """Take in bytes that came over a link's line."""
        self._run(self._sharing.feed(link, data, self._loop.time()))

    def _gone(self, link: Link) -> None:
        """Forget a link."""
        self._run(self._sharing.gone(link, self._loop.time()))

    def _run(self, parts: list[tuple[Link, bytes]]) -> None:
        """Let the firmware answer each host in turn."""
        for link, data in parts:
            if self._board is None:
                continue
            self._uart.arrived += data
            self._answering = link
            try:
                self.poll()
            finally:
                self._answering = None

    def _release_wake(self) -> None:
        self._button = None
        self._pins.level = False
        self.poll()
