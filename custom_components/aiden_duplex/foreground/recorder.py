"""Writes the conversation down. A full disk costs the history, not the conversation."""

from collections.abc import Callable
from datetime import datetime
import logging

from ..memory.entries import Entry, Role
from ..memory.transcript import Transcript
from ..models.tools import ToolCall
from ..storage.contract import JournalError

_LOGGER = logging.getLogger(__name__)


class Recorder:
    """Appends to the transcript; nothing empty gets in."""

    def __init__(self, transcript: Transcript, now: Callable[[], datetime]) -> None:
        """Write into a transcript."""
        self._transcript = transcript
        self._now = now

    async def user(self, text: str, speaker: str | None) -> None:
        """Keep what the person said."""
        await self._append(
            Entry(role=Role.USER, text=text, at=self._now(), speaker=speaker)
        )

    async def assistant(self, text: str) -> None:
        """Keep what the model said in a completed response."""
        if text.strip():
            await self._append(Entry(role=Role.ASSISTANT, text=text, at=self._now()))

    async def call(self, call: ToolCall, output: str) -> None:
        """Keep a call together with its output."""
        at = self._now()
        await self._append(
            Entry(
                role=Role.TOOL_CALL,
                text=call.arguments.strip() or "{}",
                at=at,
                call_id=call.call_id,
                name=call.name,
            ),
            Entry(
                role=Role.TOOL_RESULT,
                text=output,
                at=at,
                call_id=call.call_id,
                name=call.name,
            ),
        )

    async def notice(self, content: str) -> None:
        """Keep a notice with its label."""
        await self._append(Entry(role=Role.NOTICE, text=content, at=self._now()))

    async def _append(self, *entries: Entry) -> None:
        try:
            await self._transcript.append(*entries)
        except JournalError as err:
            _LOGGER.warning("The conversation could not be kept: %s", err)
