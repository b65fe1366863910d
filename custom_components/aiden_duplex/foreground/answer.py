"""The text of one answer on its way from the session to the caller."""

import asyncio
from collections.abc import AsyncGenerator

MAX_CHARACTERS = 100_000
"""A model that says more than this has lost its way; our choice."""


class Answer:
    """Collects what the model says until the caller takes it; never makes it wait."""

    def __init__(self) -> None:
        """Start empty."""
        self._pieces: list[str] = []
        self._news = asyncio.Event()
        self._over = False
        self._error: Exception | None = None
        self._length = 0
        self._has_words = False
        self._ends_in_space = True

    @property
    def is_over(self) -> bool:
        """Return whether it has ended."""
        return self._over

    @property
    def has_text(self) -> bool:
        """Return whether the model said anything."""
        return self._has_words

    @property
    def is_too_long(self) -> bool:
        """Return whether the model does not come to an end."""
        return self._length > MAX_CHARACTERS

    def push(self, text: str, *, new_part: bool) -> None:
        """Add text; a new part of the answer is set off from the one before."""
        if not text or self._over:
            return
        if new_part and not self._ends_in_space and not text[0].isspace():
            text = f" {text}"
        self._pieces.append(text)
        self._length += len(text)
        self._has_words = self._has_words or not text.isspace()
        self._ends_in_space = text[-1].isspace()
        self._news.set()

    def finish(self, error: Exception | None = None) -> None:
        """End the answer, with an error if it did not come to its end; once."""
        if self._over:
            return
        self._over = True
        self._error = error
        self._news.set()

    async def read(self) -> AsyncGenerator[str]:
        """Yield what was said since the last time, until the end.

        Raises:
            Exception: What :meth:`finish` was given, after all text.

        """
        while True:
            await self._news.wait()
            self._news.clear()
            while self._pieces:
                text, self._pieces = "".join(self._pieces), []
                yield text
            if self._over:
                break
        if self._error is not None:
            raise self._error
