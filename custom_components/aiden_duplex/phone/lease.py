"""Who controls the phone: one owner at a time, with an epoch that only rises."""

from dataclasses import dataclass

from .types import LeaseHeldError, LeaseRevokedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to act, until it is revoked, fenced or released."""

    owner: str
    epoch: int


class LeaseDesk:
    """Hands out the one lease."""

    def __init__(self) -> None:
        """Start with nobody in control."""
        self._epoch = 0
        self._lease: Lease | None = None
        self._revoked = False
        self.halted = False
        """The kill switch is on: nobody gets the lease."""

    @property
    def holder(self) -> Lease | None:
        """Return the lease that is out, revoked or not."""
        return self._lease

    def acquire(self, owner: str) -> Lease:
        """Give the lease to an owner.

        Raises:
            LeaseHeldError: Somebody has it, be it the same owner, or nobody may.

        """
        if self.halted:
            raise LeaseHeldError("the kill switch is on")
        if self._lease is not None:
            raise LeaseHeldError("the phone is controlled by another task")
        self._epoch += 1
        self._lease = Lease(owner=owner, epoch=self._epoch)
        self._revoked = False
        return self._lease

    def revoke(self, owner: str) -> bool:
        """Let no new act of this owner start; the lease stays out until released."""
        if self._lease is None or self._lease.owner != owner or self._revoked:
            return False
        self._revoked = True
        return True

    def fence(self, owner: str) -> bool:
        """Take the lease away from an owner who does not give it back."""
        if self._lease is None or self._lease.owner != owner:
            return False
        self._epoch += 1
        self._lease = None
        return True

    def free(self, lease: Lease) -> bool:
        """Take the lease back; return False for one that is no longer out."""
        if self._lease != lease:
            return False
        self._lease = None
        return True

    def is_valid(self, lease: Lease) -> bool:
        """Return whether acts may be sent under this lease."""
        return self._lease == lease and not self._revoked

    def check(self, lease: Lease) -> None:
        """Refuse a lease that is no longer valid.

        Raises:
            LeaseRevokedError: It was revoked, fenced or released.

        """
        if not self.is_valid(lease):
            raise LeaseRevokedError(
                "the control of the phone was taken back; nothing was sent"
            )
