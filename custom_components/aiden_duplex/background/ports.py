"""What the device loop needs of others."""

from typing import Protocol

from ..memory.entries import Entry
from ..phone.lease import Lease
from ..phone.types import Key, Observation, Point


class PhoneControl(Protocol):
    """The phone under a lease; every failure is a ``PhoneError``."""

    @property
    def loans(self) -> int:
        """Return how often the phone was lent for a single act of somebody else.

        The owner of the lease must look again afterwards; ``observe`` waits for that.
        """
        ...

    def acquire(self, owner: str) -> Lease:
        """Take control of the phone.

        Raises:
            LeaseHeldError: Somebody else has it.

        """
        ...

    def revoke(self, owner: str) -> object:
        """Let no new act of this owner start."""
        ...

    def fence(self, owner: str) -> object:
        """Let nothing of this owner reach the phone any more."""
        ...

    async def release(self, lease: Lease) -> None:
        """Let go of everything on the phone, then give the control back."""
        ...

    async def observe(self, lease: Lease) -> Observation:
        """Return what the screen shows once it rests; see ``PictureError``."""
        ...

    async def tap(self, lease: Lease, point: Point, *, hold_ms: int = 60) -> None:
        """Touch a point shortly."""
        ...

    async def long_press(
        self, lease: Lease, point: Point, *, hold_ms: int = 600
    ) -> None:
        """Touch a point and stay."""
        ...

    async def swipe(
        self, lease: Lease, start: Point, end: Point, *, duration_ms: int = 400
    ) -> None:
        """Draw a finger from one point to another."""
        ...

    async def type_text(
        self, lease: Lease, text: str, *, allow_enter: bool = False
    ) -> None:
        """Type on a hardware keyboard; a newline is Enter and needs ``allow_enter``."""
        ...

    async def press_key(self, lease: Lease, key: Key) -> None:
        """Press a key."""
        ...


class TranscriptWriter(Protocol):
    """Where the background's conversation is kept (``sessions/backend``)."""

    async def append(self, *entries: Entry) -> None:
        """Append entries that belong together; return when they are durable."""
        ...
