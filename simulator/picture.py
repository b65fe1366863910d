"""The phone's picture as a capture device shows it: letterboxed 1080p, and what can go wrong."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from io import BytesIO
import time

from PIL import Image

from simulator.phone.draw.renderer import PICTURE_WIDTH, Renderer
from simulator.phone.phone import VirtualPhone
from simulator.phone.widgets import Frame

FRAME_WIDTH = 1920
FRAME_HEIGHT = 1080
_QUALITY = 85


class PictureMode(StrEnum):
    """What the picture server does."""

    NORMAL = "normal"
    HTML = "html"
    """200 with a page instead of a picture, as a gateway's login does."""
    BLACK = "black"
    FROZEN = "frozen"
    """The picture of the moment it froze, older and older."""
    MISSING = "missing"
    """503."""
    SLOW = "slow"
    """Right, but late."""
    GARBAGE = "garbage"
    """A JPEG that breaks off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One encoded picture."""

    jpeg: bytes
    sequence: int
    """Counts pictures that differ from the one before; starts at 1."""
    captured_at: float
    """``time.monotonic()``."""


class PictureSource:
    """Draws and encodes the phone's frames, on one thread of its own."""

    def __init__(self, phone: VirtualPhone) -> None:
        """Take the phone; nothing is drawn yet."""
        self._phone = phone
        self._renderer = Renderer()
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="simulator-picture")
        self._lock = asyncio.Lock()
        self._last: tuple[Frame, Shot] | None = None
        self._frozen: Shot | None = None
        self._black: bytes | None = None
        self.mode = PictureMode.NORMAL
        self.delay_s = 0.0

    async def set_mode(self, mode: PictureMode, delay_s: float = 0.0) -> None:
        """Change what the server does from now on; freezing keeps the picture of now."""
        self._frozen = await self._capture() if mode is PictureMode.FROZEN else None
        self.delay_s = delay_s
        self.mode = mode

    async def shot(self) -> Shot:
        """Return the picture of now, or what the mode makes of it."""
        match self.mode:
            case PictureMode.FROZEN if self._frozen is not None:
                return self._frozen
            case PictureMode.BLACK:
                return await self._blackened()
            case PictureMode.GARBAGE:
                shot = await self._capture()
                broken = shot.jpeg[: len(shot.jpeg) // 3]
                return Shot(
                    jpeg=broken, sequence=shot.sequence, captured_at=shot.captured_at
                )
            case _:
                return await self._capture()

    def close(self) -> None:
        """End the thread."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    async def _capture(self) -> Shot:
        """Draw the phone, unless nothing changed since the last time."""
        async with self._lock:
            frame = self._phone.frame()
            captured_at = time.monotonic()
            if self._last is not None and self._last[0] == frame:
                last = self._last[1]
                return Shot(
                    jpeg=last.jpeg, sequence=last.sequence, captured_at=captured_at
                )
            loop = asyncio.get_running_loop()
            jpeg = await loop.run_in_executor(self._executor, self._draw, frame)
            sequence = self._last[1].sequence + 1 if self._last else 1
            shot = Shot(jpeg=jpeg, sequence=sequence, captured_at=captured_at)
            self._last = (frame, shot)
            return shot

    async def _blackened(self) -> Shot:
        """Return a black picture with the numbers of the right one."""
        shot = await self._capture()
        if self._black is None:
            self._black = encode(Image.new("RGB", (FRAME_WIDTH, FRAME_HEIGHT)))
        return Shot(
            jpeg=self._black, sequence=shot.sequence, captured_at=shot.captured_at
        )

    def _draw(self, frame: Frame) -> bytes:
        """Draw a frame into the letterbox; runs on the thread."""
        return encode(letterbox(self._renderer.render(frame)))


def letterbox(picture: Image.Image) -> Image.Image:
    """Put the phone's picture into the middle of a 1080p one."""
    whole = Image.new("RGB", (FRAME_WIDTH, FRAME_HEIGHT))
    whole.paste(picture, ((FRAME_WIDTH - PICTURE_WIDTH) // 2, 0))
    return whole


def encode(picture: Image.Image) -> bytes:
    """Return a JPEG."""
    buffer = BytesIO()
    picture.save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()
