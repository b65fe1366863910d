"""Writes what the background says and does into its transcript."""

from collections import deque
from collections.abc import Callable
from datetime import datetime
import logging

from ..memory.entries import Entry, Role
from ..models.tools import ToolCall
from ..storage.contract import JournalError
from .ports import TranscriptWriter

_LOGGER = logging.getLogger(__name__)

TEXT_LIMIT = 4000
"""Characters of one entry."""
_MAX_OWED = 50


class Scribe:
    """Appends to a transcript; one that cannot be written never stops the hands."""

    def __init__(
        self, transcript: TranscriptWriter | None, now: Callable[[], datetime]
    ) -> None:
        """Keep where to write, if anywhere."""
        self._transcript = transcript
        self._now = now
        self._owed: deque[tuple[Entry, ...]] = deque(maxlen=_MAX_OWED)

    async def said(self, words: str) -> None:
        """Append a goal or an answer of the person."""
        if words.strip():
            self._owed.append((self._entry(Role.USER, words),))
        await self._write()

    async def call(self, call: ToolCall, result: str) -> None:
        """Append a call together with its result."""
        self.owe_call(call, result)
        await self._write()

    def owe_call(self, call: ToolCall, result: str) -> None:
        """Append a call and its result with whatever is written next."""
        entries = [
            self._entry(role, text, call_id=call.call_id, name=call.name)
            for role, text in (
                (Role.TOOL_CALL, call.arguments.strip() or "{}"),
                (Role.TOOL_RESULT, result),
            )
        ]
        self._owed.append(tuple(entries))

    async def notice(self, text: str) -> None:
        """Append a notice."""
        self.owe_notice(text)
        await self._write()

    def owe_notice(self, text: str) -> None:
        """Append a notice with whatever is written next: a run that is stopped cannot wait."""
        self._owed.append((self._entry(Role.NOTICE, text),))

    def _entry(
        self,
        role: Role,
        text: str,
        *,
        call_id: str | None = None,
        name: str | None = None,
    ) -> Entry:
        """Return an entry of this moment."""
        return Entry(
            role=role,
            text=text[:TEXT_LIMIT],
            at=self._now(),
            call_id=call_id,
            name=name,
        )

    async def _write(self) -> None:
        """Write what is owed, the oldest first."""
        if self._transcript is None:
            self._owed.clear()
            return
        while self._owed:
            entries = self._owed.popleft()
            try:
                await self._transcript.append(*entries)
            except JournalError as err:
                _LOGGER.warning("The background's transcript is not written: %s", err)
