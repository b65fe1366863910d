"""One requested response: what came of it so far, and its end."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..models.realtime.events import (
    Failure,
    ResponseDone,
    ResponseStatus,
    TextDelta,
    TextFinal,
    TextSource,
)
from ..models.realtime.session import CreateResponse
from ..models.tools import ToolCall

type TextSink = Callable[[str, bool], None]
"""Takes text, and whether a new part of the answer begins with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response that has ended."""

    status: ResponseStatus
    text: str
    calls: tuple[ToolCall, ...]
    reason: str | None
    failure: Failure | None


class ResponseHandle:
    """A request for a response, until its end."""

    def __init__(
        self,
        command: CreateResponse,
        sink: TextSink,
        *,
        needs: frozenset[str] = frozenset(),
    ) -> None:
        """Start unanswered; ``needs`` are the commands it makes no sense without."""
        self.command = command
        self.needs = needs
        self.refusals = 0
        self._sink = sink
        self._calls: list[ToolCall] = []
        self._source: TextSource | None = None
        self._item: str | None = None
        self._said = ""
        self._part = ""
        self._is_new_part = True
        self._accepted = asyncio.Event()
        self._done: asyncio.Future[Response] = (
            asyncio.get_running_loop().create_future()
        )

    @property
    def accepted(self) -> bool:
        """Return whether the provider began the response."""
        return self._accepted.is_set()

    @property
    def is_awaited(self) -> bool:
        """Return whether the end is still of interest."""
        return not self._done.done()

    @property
    def calls_held(self) -> int:
        """Return how many calls wait for the end of the response."""
        return len(self._calls)

    async def started(self) -> bool:
        """Wait until the response began, or will not; return which."""
        accepted = asyncio.ensure_future(self._accepted.wait())
        try:
            ends: set[asyncio.Future[Any]] = {accepted, self._done}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            accepted.cancel()
        return self.accepted

    async def done(self) -> Response:
        """Wait for the end; being cancelled here abandons the response.

        Raises:
            SessionLostError: The session ended first.
            ModelError: The provider refused the request.

        """
        return await self._done

    def abandon(self) -> None:
        """Stop to wait."""
        self._done.cancel()

    def accept(self) -> None:
        """Take that the response began."""
        self._accepted.set()

    def take_text(self, event: TextDelta | TextFinal) -> None:
        """Take text; of a text and a transcript of the same, the first kind counts."""
        self._source = self._source or event.source
        if event.source is not self._source:
            return
        if event.item_id != self._item:
            self._item, self._part, self._is_new_part = event.item_id, "", True
        match event:
            case TextDelta():
                self._part += event.text
                self._say(event.text)
            case TextFinal():
                if event.text.startswith(self._part):
                    self._say(event.text[len(self._part) :])
                self._part = ""

    def take_call(self, call: ToolCall) -> None:
        """Take a call; it runs only if the response completes."""
        self._calls.append(call)

    def finish(self, done: ResponseDone) -> Response:
        """Take the end."""
        response = Response(
            status=done.status,
            text=self._said.strip(),
            calls=tuple(self._calls),
            reason=done.reason,
            failure=done.failure,
        )
        if not self._done.done():
            self._done.set_result(response)
        return response

    def fail(self, error: Exception) -> None:
        """Take that there will be no end."""
        if not self._done.done():
            self._done.set_exception(error)
            # Nobody may be waiting for it any more.
            self._done.exception()

    def _say(self, text: str) -> None:
        if not text:
            return
        self._sink(text, self._is_new_part)
        self._said = join(self._said, text, new_part=self._is_new_part)
        self._is_new_part = False


def join(before: str, text: str, *, new_part: bool) -> str:
    """Return both texts; a new part is set off by a space."""
    gap = new_part and before and not before[-1].isspace() and not text[0].isspace()
    return f"{before} {text}" if gap else before + text
