"""Looks at the phone until its picture is fresh and has come to rest."""

import asyncio
from collections.abc import Awaitable, Callable
import logging
from typing import Any

from . import frame
from .frame import AreaMemory, Gray, Look
from .picture import PictureSource, SourceFrame
from .settle import SettleDetector, differ
from .types import Observation, PictureError, Settle

_LOGGER = logging.getLogger(__name__)

type RunBlocking = Callable[..., Awaitable[Any]]
"""Runs ``function(*arguments)`` where it may block; Home Assistant's executor."""

FRESH_AFTER_S = 0.05
"""A picture counts as newer than an act from this long after the act's end."""
POLL_S = 0.15
RETRY_S = 0.5
MAX_AGE_S = 3.0
"""A picture that admits to be older shows a capture that stands still. One that does not
say its age cannot be told from a still screen."""


class Observer:
    """Makes observations from a source's pictures.

    Args:
        source: Where pictures come from.
        run_blocking: For decoding and encoding.
        deadline_s: How long pictures may fail before an observation gives up.
        on_picture: Called with True for a good picture and False for a failure.

    """

    def __init__(
        self,
        source: PictureSource,
        *,
        run_blocking: RunBlocking,
        deadline_s: float,
        on_picture: Callable[[bool], None],
    ) -> None:
        """Start with nothing seen."""
        self._source = source
        self._run_blocking = run_blocking
        self._deadline_s = deadline_s
        self._on_picture = on_picture
        self._memory = AreaMemory()
        self._before: Gray | None = None

    async def observe(
        self, *, acted_at: float | None, check: Callable[[], None]
    ) -> Observation:
        """Return what the screen shows once it rests.

        ``acted_at`` is the end of an act since the observation before this one, None if
        there was none. ``check`` raises when nobody wants the observation any more.

        Raises:
            PictureError: No usable picture until the deadline.

        """
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + self._deadline_s
        while True:
            try:
                look, at, settle = await self._watch(acted_at, check)
            except PictureError as err:
                self._on_picture(False)
                _LOGGER.debug("No picture of the phone: %s", err)
                if loop.time() + RETRY_S > give_up_at:
                    raise
                check()
                await asyncio.sleep(RETRY_S)
                check()
            else:
                return await self._observation(look, at, settle)

    async def _watch(
        self, acted_at: float | None, check: Callable[[], None]
    ) -> tuple[Look, float, Settle]:
        """Return the picture at rest, when it was captured, and what became of waiting."""
        loop = asyncio.get_running_loop()
        if (
            acted_at is not None
            and (wait_s := acted_at + FRESH_AFTER_S - loop.time()) > 0
        ):
            await asyncio.sleep(wait_s)
        detector = SettleDetector(
            started_at=loop.time(),
            before=self._before if acted_at is not None else None,
        )
        last: tuple[bytes, Look] | None = None
        while True:
            check()
            asked_at = loop.time()
            source_frame = await self._source.fetch()
            check()
            _check_age(source_frame, asked_at, acted_at)
            if last is None or last[0] != source_frame.data:
                last = (source_frame.data, await self._look(source_frame.data))
            self._on_picture(True)
            look = last[1]
            settle = detector.feed(look.gray, black=look.black, at=asked_at)
            if settle is not None:
                return look, source_frame.captured_at, settle
            await asyncio.sleep(max(0.0, asked_at + POLL_S - loop.time()))

    async def _look(self, data: bytes) -> Look:
        """Decode a picture and remember where the phone lies in it."""
        look: Look = await self._run_blocking(frame.look, data, self._memory)
        self._memory = look.memory
        return look

    async def _observation(self, look: Look, at: float, settle: Settle) -> Observation:
        """Return the observation; its picture is what the next one is compared with."""
        jpeg, width, height = await self._run_blocking(
            frame.encode, look.image, look.area
        )
        changed = self._before is not None and differ(self._before, look.gray)
        self._before = look.gray
        return Observation(
            jpeg=jpeg,
            width=width,
            height=height,
            area=look.area,
            source_width=look.image.width,
            source_height=look.image.height,
            captured_at=at,
            settle=settle,
            changed=changed,
        )


def _check_age(
    source_frame: SourceFrame, asked_at: float, acted_at: float | None
) -> None:
    """Refuse a picture that says itself that it is old.

    Raises:
        PictureError: It was captured before the last act, or too long ago.

    """
    age_s = asked_at - source_frame.captured_at
    if age_s > MAX_AGE_S:
        raise PictureError(
            f"the picture is {age_s:.0f} s old: the capture stands still"
        )
    if acted_at is not None and source_frame.captured_at < acted_at + FRESH_AFTER_S:
        raise PictureError("the picture is older than the last act")
