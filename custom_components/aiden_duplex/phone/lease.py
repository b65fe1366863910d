"""Who controls the phone: one owner at a time, with an epoch that only rises.

For a single act the phone can be lent to somebody else. The owner keeps the lease, and
whoever watches over the acts lets it wait until the loan is given back.
"""

from dataclasses import dataclass

from .types import HaltedPhoneError, LeaseHeldError, LeaseRevokedError, LentPhoneError


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to act, until it is revoked, fenced or released."""

    owner: str
    epoch: int
    is_loan: bool = False
    """For a single act of somebody who decides nothing by the picture."""


class LeaseDesk:
    """Hands out the one lease, and at most one loan."""

    def __init__(self) -> None:
        """Start with nobody in control."""
        self._epoch = 0
        self._lease: Lease | None = None
        self._revoked = False
        self._loan: Lease | None = None
        self.loans = 0
        """How often the phone was lent."""
        self.halted = False
        """The kill switch is on: nobody gets the lease."""

    @property
    def holder(self) -> Lease | None:
        """Return the lease that is out, revoked or not."""
        return self._lease

    @property
    def loan(self) -> Lease | None:
        """Return the loan that is out."""
        return self._loan

    def acquire(self, owner: str) -> Lease:
        """Give the lease to an owner, also while the phone is lent.

        Raises:
            LeaseHeldError: Somebody has it, be it the same owner, or nobody may.

        """
        self._check_free(is_held=self._lease is not None)
        self._epoch += 1
        self._lease = Lease(owner=owner, epoch=self._epoch)
        self._revoked = False
        return self._lease

    def lend(self, owner: str, *, preempt: bool, reserved: bool = False) -> Lease:
        """Give out the loan; with ``preempt`` although somebody has the lease.

        ``reserved`` counts as if somebody had it.

        Raises:
            LeaseHeldError: Somebody has the lease or the loan, or nobody may.

        """
        if self._loan is not None:
            raise LentPhoneError("the phone is in use for a single act")
        self._check_free(is_held=not preempt and (self._lease is not None or reserved))
        self._epoch += 1
        self.loans += 1
        self._loan = Lease(owner=owner, epoch=self._epoch, is_loan=True)
        return self._loan

    def is_lent_from(self, lease: Lease) -> bool:
        """Return whether somebody else than this one has the loan."""
        return self._loan not in (None, lease)

    def end_loan(self, loan: Lease) -> bool:
        """Take the loan back; return False for one that is no longer out."""
        if self._loan != loan:
            return False
        self._loan = None
        return True

    def _check_free(self, *, is_held: bool) -> None:
        """Refuse to give out anything against the kill switch or an owner."""
        if self.halted:
            raise HaltedPhoneError("the kill switch is on")
        if is_held:
            raise LeaseHeldError("the phone is controlled by another task")

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
        return self._loan == lease or (self._lease == lease and not self._revoked)

    def check(self, lease: Lease) -> None:
        """Refuse a lease that is no longer valid.

        Raises:
            LeaseRevokedError: It was revoked, fenced or released.

        """
        if not self.is_valid(lease):
            raise LeaseRevokedError(
                "the control of the phone was taken back; nothing was sent"
            )
