"""The phone with somebody who writes down what is done on it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol, override

from ..phone.lease import Lease
from ..phone.types import Key, Observation, PhoneError, Point
from .ports import PhoneControl


class NoteAct(Protocol):
    """Keeps an act; must not fail or block."""

    def __call__(self, task_id: str, act: str, **details: Any) -> None:
        """Note an act of a task."""
        ...


class WitnessedPhone(PhoneControl):
    """Notes every act before it is sent, and whether it failed.

    Of a text only its length is noted: it may be a password.
    """

    def __init__(self, phone: PhoneControl, note: NoteAct) -> None:
        """Watch a phone."""
        self._phone = phone
        self._note = note

    @property
    @override
    def loans(self) -> int:
        """Return how often the phone was lent."""
        return self._phone.loans

    @override
    def acquire(self, owner: str) -> Lease:
        """Take control of the phone."""
        return self._phone.acquire(owner)

    @override
    def revoke(self, owner: str) -> object:
        """Let no new act of this owner start."""
        return self._phone.revoke(owner)

    @override
    def fence(self, owner: str) -> object:
        """Let nothing of this owner reach the phone any more."""
        return self._phone.fence(owner)

    @override
    async def release(self, lease: Lease) -> None:
        """Give the control back."""
        await self._phone.release(lease)

    @override
    async def observe(self, lease: Lease) -> Observation:
        """Look; that changes nothing."""
        return await self._phone.observe(lease)

    @override
    async def tap(self, lease: Lease, point: Point, *, hold_ms: int = 60) -> None:
        """Touch a point shortly."""
        async with self._noted(lease, "tap", x=point.x, y=point.y):
            await self._phone.tap(lease, point, hold_ms=hold_ms)

    @override
    async def long_press(
        self, lease: Lease, point: Point, *, hold_ms: int = 600
    ) -> None:
        """Touch a point and stay."""
        async with self._noted(
            lease, "long_press", x=point.x, y=point.y, hold_ms=hold_ms
        ):
            await self._phone.long_press(lease, point, hold_ms=hold_ms)

    @override
    async def swipe(
        self, lease: Lease, start: Point, end: Point, *, duration_ms: int = 400
    ) -> None:
        """Draw a finger from one point to another."""
        places = {"x1": start.x, "y1": start.y, "x2": end.x, "y2": end.y}
        async with self._noted(lease, "swipe", **places):
            await self._phone.swipe(lease, start, end, duration_ms=duration_ms)

    @override
    async def type_text(
        self, lease: Lease, text: str, *, allow_enter: bool = False
    ) -> None:
        """Type."""
        async with self._noted(
            lease, "type_text", characters=len(text), enter=allow_enter
        ):
            await self._phone.type_text(lease, text, allow_enter=allow_enter)

    @override
    async def press_key(self, lease: Lease, key: Key) -> None:
        """Press a key."""
        async with self._noted(lease, "press_key", key=str(key)):
            await self._phone.press_key(lease, key)

    @asynccontextmanager
    async def _noted(
        self, lease: Lease, act: str, **details: object
    ) -> AsyncIterator[None]:
        """Note an act, and how it failed if it does."""
        self._note(lease.owner, act, **details)
        try:
            yield
        except PhoneError as err:
            # The class alone: the words may quote what was to be typed.
            self._note(lease.owner, act, failed=type(err).__name__)
            raise
