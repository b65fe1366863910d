"""A host of the board that is none of ours: writes a frame, waits for its end, nothing else."""

import os
import secrets
import time
import tty

from custom_components.aiden_duplex.phone import dx1, dx1_messages as messages
from custom_components.aiden_duplex.phone.dx1 import FrameType


class BareHost:
    """Blocks; one thread uses it. What it measures is the line, the board and this machine."""

    def __init__(self, path: str) -> None:
        """Open the terminal device and a session."""
        self._port = os.open(path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self._port)
        self._receiver = dx1.Receiver()
        self._seq = 0
        self._send(FrameType.HELLO, messages.hello(secrets.randbelow(1 << 31) + 1))
        self._until(FrameType.ACK)

    def play(self, kind: FrameType, payload: bytes) -> tuple[float, float]:
        """Play an act; return when it was sent and when the board said that it ended."""
        started = time.monotonic()
        self._send(kind, payload)
        self._until(FrameType.DONE)
        return started, time.monotonic()

    def close(self) -> None:
        """Close the device."""
        os.close(self._port)

    def _send(self, kind: FrameType, payload: bytes) -> None:
        """Send a request."""
        self._seq += 1
        frame = dx1.Frame(type=kind, seq=self._seq, payload=payload)
        os.write(self._port, dx1.encode(frame))

    def _until(self, kind: FrameType) -> None:
        """Read until a frame of a kind."""
        while True:
            for frame in self._receiver.feed(os.read(self._port, 256)):
                if frame.type == kind:
                    return
                if frame.type == FrameType.NACK:
                    raise RuntimeError(f"the board refuses: {frame.payload.hex()}")
