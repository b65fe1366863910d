"""Reading pictures with tesseract: words and their places, switches, black."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
import contextlib
import hashlib
from io import BytesIO
import os

import numpy as np
from PIL import Image, ImageOps

from .regions import Pixels, dark_on_white
from .screen import Box, Line, Screen, group_lines
from .thoughts import BrainError

_UPSCALED_WIDTH = 1200
"""Pixels; letters of a 486 pixel wide picture are too small for the reader."""
_BLACK = 12
"""Grey level up to which a picture counts as black; JPEG adds a little."""
_DARK = 110
_KEPT = 64
_STRIP = 2.6
"""Height of the strip above an On or Off in which its name stands, of the word's height."""
_MOST_AGAIN = 3
_MIN_CONFIDENCE = 25.0
_READABLE = frozenset("©®°»«|_~=-—–.,:;'‘’\"“”*•<>()[]{}\\/")


class Eyes:
    """Reads pictures, each once."""

    def __init__(
        self,
        *,
        program: str = "tesseract",
        timeout_s: float = 30.0,
    ) -> None:
        """Keep the name of the reading program.

        Args:
            program: The OCR program, found on PATH.
            timeout_s: Longest time for one picture.

        """
        self._program = program
        self._timeout_s = timeout_s
        self._seen: OrderedDict[str, Screen] = OrderedDict()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="eyes")
        self._one = asyncio.Lock()

    def close(self) -> None:
        """End the worker thread."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def look(self, picture: bytes) -> Screen:
        """Return what a picture shows.

        Raises:
            BrainError: The reading program is missing, fails or takes too long.

        """
        digest = hashlib.sha256(picture).hexdigest()
        async with self._one:
            if digest not in self._seen:
                self._seen[digest] = await self._read(picture, digest)
            self._seen.move_to_end(digest)
            while len(self._seen) > _KEPT:
                self._seen.popitem(last=False)
            return self._seen[digest]

    async def _read(self, picture: bytes, digest: str) -> Screen:
        loop = asyncio.get_running_loop()
        prepared = await loop.run_in_executor(self._pool, _prepare, picture)
        if prepared is None:
            return Screen(lines=(), black=True, digest=digest)
        image, switches = prepared
        words = await self._words(image)
        screen = _screen(words, image, switches, digest)
        for row in screen.nameless[:_MOST_AGAIN]:
            words += await self._words(image, above=row.box)
        if screen.nameless:
            screen = _screen(words, image, switches, digest)
        return screen

    async def _words(
        self, image: Image.Image, *, above: Box | None = None
    ) -> list[Line]:
        """Return the words on a picture, or on the strip just above a place."""
        top, mode = 0, "11"
        if above is not None:
            bottom = round(above.top / 1000 * image.height)
            top, mode = (
                max(0, bottom - round(_STRIP * above.height / 1000 * image.height)),
                "6",
            )
            part = image.crop((0, top, image.width, bottom))
        buffer = BytesIO()
        (image if above is None else part).save(buffer, "PPM")
        table = await self._recognise(buffer.getvalue(), mode)
        return list(_words(table, image.size, top))

    async def _recognise(self, data: bytes, mode: str) -> str:
        """Run the program on a picture and return its table."""
        try:
            process = await asyncio.create_subprocess_exec(
                self._program,
                "stdin",
                "stdout",
                "--psm",
                mode,
                "tsv",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            )
        except OSError as err:
            raise BrainError(f"{self._program} cannot be run: {err}") from err
        try:
            async with asyncio.timeout(self._timeout_s):
                output, _ = await process.communicate(data)
        except TimeoutError as err:
            raise BrainError(
                f"{self._program} took more than {self._timeout_s} s"
            ) from err
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            raise BrainError(f"{self._program} ended with {process.returncode}")
        return output.decode(errors="replace")


def _prepare(picture: bytes) -> tuple[Image.Image, list[Box]] | None:
    """Return the picture made for reading and its switches; None for black."""
    with Image.open(BytesIO(picture)) as image:
        colour = image.convert("RGB")
    grey = ImageOps.grayscale(colour)
    values = np.asarray(grey)
    if np.percentile(values, 99.5) <= _BLACK:
        return None
    pixels = np.asarray(colour, dtype=np.int16)
    switches = find_switches(pixels)
    if np.median(values) < _DARK:
        grey = ImageOps.invert(grey)
    plain = np.asarray(ImageOps.autocontrast(grey, cutoff=1))
    readable = Image.fromarray(dark_on_white(pixels, plain))
    _cover(readable, switches)
    scale = max(1.0, _UPSCALED_WIDTH / grey.width)
    size = (round(grey.width * scale), round(grey.height * scale))
    return readable.resize(size, Image.Resampling.LANCZOS), switches


def _screen(
    words: list[Line],
    image: Image.Image,
    switches: list[Box],
    digest: str,
) -> Screen:
    lines = group_lines(words, image.width / image.height)
    return Screen(lines=lines, switches=switches, digest=digest)


def _cover(grey: Image.Image, switches: list[Box]) -> None:
    """Paint switches white: they are not letters."""
    for box in switches:
        left, right = (
            round(box.left * grey.width / 1000),
            round(box.right * grey.width / 1000),
        )
        top, bottom = (
            round(box.top * grey.height / 1000),
            round(box.bottom * grey.height / 1000),
        )
        grey.paste(255, (left - 3, top - 3, right + 3, bottom + 3))


def _words(table: str, size: tuple[int, int], below: int) -> Iterator[Line]:
    """Yield the words of tesseract's table, their places scaled to 0-1000.

    ``below`` is how far down in the picture the table's piece begins.
    """
    width, height = size
    for row in table.splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) < 12 or cells[0] != "5":
            continue
        text = cells[11].strip()
        if not text or float(cells[10]) < _MIN_CONFIDENCE or set(text) <= _READABLE:
            continue
        left, top, wide, high = (int(cell) for cell in cells[6:10])
        top += below
        yield Line(
            text=text,
            box=Box(
                left=left / width * 1000,
                top=top / height * 1000,
                right=(left + wide) / width * 1000,
                bottom=(top + high) / height * 1000,
            ),
        )


def find_switches(pixels: Pixels) -> list[Box]:
    """Return the drawn switches: lying pills in the right quarter of the picture.

    A pill is a stretch that differs from the page's colour, two to three times as wide
    as high, and of the size of a fingertip.
    """
    height, width, _ = pixels.shape
    left = int(width * 0.72)
    part = pixels[:, left:]
    page = np.median(part.reshape(-1, 3), axis=0)
    differs = np.abs(part - page).max(axis=2) > 24
    found: list[Box] = []
    for top, bottom in _runs(differs.any(axis=1)):
        columns = np.flatnonzero(differs[top:bottom].any(axis=0))
        wide, high = columns[-1] - columns[0] + 1, bottom - top
        if not (0.07 * width < wide < 0.16 * width and 1.4 < wide / high < 3.2):
            continue
        if differs[top:bottom, columns[0] : columns[-1] + 1].mean() < 0.6:
            continue
        found.append(
            Box(
                left=float(left + columns[0]) / width * 1000,
                top=top / height * 1000,
                right=float(left + columns[-1] + 1) / width * 1000,
                bottom=bottom / height * 1000,
            )
        )
    return found


def _runs(flags: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the beginnings and ends of stretches of true."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    yield from ((int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True))
