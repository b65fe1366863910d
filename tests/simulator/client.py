"""Clients of the simulator: HTTP, and DX1 over anything that serialx opens."""

import asyncio
from collections.abc import Callable, Coroutine
import contextlib
import struct
from typing import Any, Self

import aiohttp
import serialx

from hardware_bridge.firmware.aiden_bridge import dx1, frames

DEADLINE_S = 15.0


async def until(condition: Callable[[], Coroutine[Any, Any, bool]]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(DEADLINE_S):
        while not await condition():
            await asyncio.sleep(0.02)


class ControlClient:
    """Talks to the control routes."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        """Use a session whose base is the simulator."""
        self.session = session

    async def get(self, path: str) -> dict[str, Any]:
        """Return what a route says."""
        async with self.session.get(f"/control/{path}") as response:
            assert response.status == 200
            found: dict[str, Any] = await response.json()
            return found

    async def post(self, path: str, /, **body: Any) -> dict[str, Any]:
        """Tell a route something that it accepts."""
        async with self.session.post(f"/control/{path}", json=body) as response:
            assert response.status == 200, await response.text()
            found: dict[str, Any] = await response.json()
            return found

    async def mounted(self) -> None:
        """Wait until the phone has found the board."""

        async def is_mounted() -> bool:
            return bool((await self.get("board"))["usb_state"] == 1)

        await until(is_mounted)

    async def screen(self, name: str) -> None:
        """Wait until a screen is there and still."""

        async def is_there() -> bool:
            phone = await self.get("phone")
            return bool(phone["screen"] == name and not phone["moving"])

        await until(is_there)


class Dx1Client:
    """A host of the board, one request at a time."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: serialx.SerialStreamWriter[Any]
    ) -> None:
        """Use an open port."""
        self._reader = reader
        self._writer = writer
        self._receiver = frames.Receiver()
        self._frames: list[frames.Frame] = []
        self._seq = 0

    @classmethod
    async def open(cls, url: str) -> Self:
        """Open a port."""
        reader, writer = await serialx.open_serial_connection(url, baudrate=115200)
        return cls(reader, writer)

    async def close(self) -> None:
        """Close the port; one that was lost is closed already."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def hello(self, session: int) -> frames.Frame:
        """Begin a session."""
        self._writer.write(
            b"\x00" + frames.encode(dx1.HELLO, 0, 0, struct.pack("<IBB", session, 1, 1))
        )
        return await self.next(lambda frame: frame.kind in (dx1.ACK, dx1.NACK))

    async def ask(self, kind: int, payload: bytes = b"") -> frames.Frame:
        """Send a request and return its ACK or NACK."""
        self._seq += 1
        seq = self._seq
        self._writer.write(frames.encode(kind, 0, seq, payload))
        return await self.next(
            lambda frame: frame.kind in (dx1.ACK, dx1.NACK) and frame.seq == seq
        )

    async def next(self, wanted: Callable[[frames.Frame], bool]) -> frames.Frame:
        """Return the first frame that is wanted; bad frames are skipped."""
        async with asyncio.timeout(DEADLINE_S):
            while True:
                for index, frame in enumerate(self._frames):
                    if wanted(frame):
                        del self._frames[: index + 1]
                        return frame
                data = await self._reader.read(256)
                if not data:
                    raise ConnectionResetError
                self._frames += [f for f in self._receiver.feed(data) if f is not None]
