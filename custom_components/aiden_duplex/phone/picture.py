"""Where the phone's picture comes from."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
import re
from typing import Protocol

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    InvalidURL,
    NonHttpUrlClientError,
    TooManyRedirects,
)
from yarl import URL

from .types import PictureError

MAX_BYTES = 16 * 1024 * 1024
TIMEOUT_S = 10.0
SEQUENCE_HEADER = "X-Frame-Sequence"
"""Numbers the pictures of a source; for diagnosis. Some sources count captures, some
count changes, so that a number that stands still proves nothing."""

AGE_MS_HEADER = "X-Frame-Age-Ms"
"""Says how long ago the picture was captured, as ``Age`` does in whole seconds."""

_MAGIC = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")
_WORDS = 80
_READ_FOR_WORDS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFrame:
    """A picture as the source gave it: JPEG or PNG."""

    data: bytes
    content_type: str
    captured_at: float
    """Event loop's time: when it was asked for, or earlier if the source admits an age."""
    sequence: str | None = None
    """The source's own number of the picture; None if it does not count."""


class PictureSource(Protocol):
    """Gives the phone's picture as it is now."""

    async def fetch(self) -> SourceFrame:
        """Return a picture that was asked for after this call began.

        Raises:
            PictureError: None came; the text says what came instead.

        """
        ...


class HttpSnapshotSource:
    """Fetches one picture per HTTP request.

    The URL may carry a name and a password; neither they nor the query ever appear in
    an error.
    """

    def __init__(self, session: ClientSession, url: str) -> None:
        """Keep the session, which is not closed here, and the address."""
        self._session = session
        self._url = url
        self._shown = _without_secrets(url)

    async def fetch(self) -> SourceFrame:
        """Return the picture that the address gives now.

        Raises:
            PictureError: Not reachable in 10 s, not a JPEG or PNG, or above 16 MB.

        """
        asked_at = asyncio.get_running_loop().time()
        try:
            async with self._session.get(
                self._url,
                timeout=ClientTimeout(total=TIMEOUT_S),
                headers={
                    "Accept": "image/jpeg, image/png",
                    "Cache-Control": "no-cache",
                },
            ) as response:
                answered_at = asyncio.get_running_loop().time()
                data = await self._read(response)
        except TimeoutError as err:
            raise PictureError(
                f"{self._shown} gave no picture within {TIMEOUT_S:.0f} s"
            ) from err
        except ClientError as err:
            raise PictureError(f"{self._shown}: {_reason(err)}") from None
        return SourceFrame(
            data=data,
            content_type=response.content_type,
            captured_at=min(asked_at, answered_at - _age_s(response.headers)),
            sequence=response.headers.get(SEQUENCE_HEADER),
        )

    async def _read(self, response: ClientResponse) -> bytes:
        """Return the body, if it is a picture of a size that we take."""
        if response.status != 200:
            start = await response.content.read(_READ_FOR_WORDS)
            raise PictureError(
                f"{self._shown} answered {response.status} "
                f"({response.content_type}){_first_words(start)}"
            )
        data = bytearray()
        async for chunk in response.content.iter_chunked(64 * 1024):
            data += chunk
            if len(data) > MAX_BYTES:
                raise PictureError(
                    f"{self._shown} sent more than {MAX_BYTES // 1024 // 1024} MB; "
                    "give the address of a single picture, not of a video stream"
                )
            if not _could_be_picture(data):
                break
        if not data:
            raise PictureError(f"{self._shown} answered with nothing")
        if not data.startswith(_MAGIC):
            raise PictureError(
                f"{self._shown} sent no JPEG or PNG picture but "
                f"{response.content_type}{_first_words(bytes(data))}"
            )
        return bytes(data)


def _could_be_picture(data: bytearray) -> bool:
    """Return whether the first bytes can still become a picture's."""
    return any(data.startswith(magic[: len(data)]) for magic in _MAGIC)


def _without_secrets(url: str) -> str:
    """Return the address as it may be shown."""
    try:
        return str(URL(url).with_user(None).with_query(None).with_fragment(None))
    except ValueError:
        return "the picture's address"


def _first_words(data: bytes) -> str:
    """Return the beginning of a text, for an error; empty for binary data."""
    head = data[:_READ_FOR_WORDS]
    if b"\x00" in head:
        return ""
    text = re.sub(
        r"<(script|style).*?(</\1>|$)|<[^>]*>",
        " ",
        head.decode("utf-8", "replace"),
        flags=re.DOTALL,
    )
    words = " ".join(text.split())[:_WORDS]
    return f": “{words}”" if words else ""


def _reason(err: ClientError) -> str:
    """Return what went wrong, without the address."""
    match err:
        case InvalidURL() | NonHttpUrlClientError():
            return "this is no valid http or https address"
        case TooManyRedirects():
            return "it redirects in circles"
        case ClientConnectorError():
            return f"cannot connect ({err.os_error.strerror or type(err).__name__})"
        case _:
            return f"the transfer broke ({type(err).__name__})"


def _age_s(headers: Mapping[str, str]) -> float:
    """Return the age in seconds that the source admits; 0 if it says nothing."""
    for name, unit_s in ((AGE_MS_HEADER, 0.001), ("Age", 1.0)):
        try:
            return max(0.0, float(headers[name]) * unit_s)
        except KeyError, ValueError:
            continue
    return 0.0
