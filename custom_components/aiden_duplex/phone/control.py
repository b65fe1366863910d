"""Who may act on the phone now: the lease, a loan, the stop word, the kill switch."""

import asyncio
from collections.abc import AsyncGenerator
import contextlib

from .hands import Hands
from .lease import Lease, LeaseDesk
from .types import NotObservedError, StoppedPhoneError

RELEASE_S = 7.0
"""How long giving the lease back waits for the phone to be let go: a stop takes at most
two rounds of a request (1 s), the act's safe point (1 s) and a question (1 s)."""
LOAN_S = 60.0
"""How long a single act may keep the phone: a look (20 s) and 500 characters (30 s)."""
UNSETTLED = "the screen is unsettled: look at it before acting; nothing was sent"


class Control:
    """Gives the phone out and takes it back; ends what runs when that is due."""

    def __init__(self, hands: Hands | None) -> None:
        """Start with nobody in control."""
        self._hands = hands
        self._desk = LeaseDesk()
        self._lent: Lease | None = None
        """The loan that may act; not yet while the owner's act comes to its end."""
        self._held_until: float | None = None
        """The person said stop: until then nobody acts."""
        self.observed: Lease | None = None
        """The lease under which the screen was looked at since it became unsettled."""
        self.changed = asyncio.Event()
        """Set when something changed that an act or a look may wait for."""

    def close(self) -> None:
        """Take lease and loan back; what waits ends."""
        self.recall()
        if (lease := self._desk.holder) is not None:
            self._desk.fence(lease.owner)
        self.changed.set()

    # The lease.

    def acquire(self, owner: str) -> Lease:
        """Give the control of the phone to an owner, who must look before acting.

        Raises:
            LeaseHeldError: Somebody has it, or the kill switch is on.

        """
        return self._desk.acquire(owner)

    def revoke(self, owner: str) -> None:
        """Let no new act of this owner start, end the running one, let go.

        A text stops between two characters; a gesture finishes if at most 500 ms of it
        remain. Never blocks; nothing happens if the owner has no lease.
        """
        if self._desk.revoke(owner):
            self._end_acts_of_owner(at_once=False)

    def fence(self, owner: str) -> None:
        """Take the lease from an owner who does not give it back, and let go at once."""
        if self._desk.fence(owner):
            self._end_acts_of_owner(at_once=True)

    def hold(self, seconds: float) -> None:
        """Let nobody act for so long; the running act ends at its safe point.

        For a stop word: who has the lease keeps it, but must look again when the time
        is over, and waits for that. A loan ends. Never blocks.
        """
        self.recall()
        until = asyncio.get_running_loop().time() + seconds
        self._held_until = max(until, self._held_until or until)
        self._end_acts(at_once=False)

    def halt(self) -> None:
        """Take the lease from whoever has it, let go of everything at once, give it to nobody.

        The kill switch; holds until :meth:`resume`. Never blocks.
        """
        self._desk.halted = True
        self.recall()
        if (lease := self._desk.holder) is not None:
            self._desk.fence(lease.owner)
        self._end_acts(at_once=True)

    def resume(self) -> None:
        """Turn the kill switch off."""
        self._desk.halted = False

    @property
    def is_held(self) -> bool:
        """Return whether a stop word holds everybody now."""
        until = self._held_until
        return until is not None and asyncio.get_running_loop().time() < until

    async def release(self, lease: Lease) -> None:
        """Give the lease back; after this no report is sent for its owner.

        Waits until the running act has ended and everything is let go, at most 7 s.
        """
        try:
            if self._desk.is_valid(lease):
                self.revoke(lease.owner)
            # The acts of a loan that goes on are not this owner's.
            if self._lent is None:
                await self._at_rest()
        finally:
            self._desk.free(lease)

    # The loan, for a single act beside the tasks.

    @property
    def loans(self) -> int:
        """Return how often the phone was lent so far."""
        return self._desk.loans

    @contextlib.asynccontextmanager
    async def borrow(
        self, owner: str, *, preempt: bool = False, reserved: bool = False
    ) -> AsyncGenerator[Lease]:
        """Lend the phone for a single act, at most :data:`LOAN_S`; all is let go afterwards.

        Nobody looks on between the acts of a loan, so keys and texts need no look at the
        screen; touches do, only a look tells where the screen lies in the picture.

        With ``preempt`` an owner's running act ends at its safe point. The owner keeps
        the lease but must look again, and waits with that for the loan's end.
        Without it, ``reserved`` counts as an owner: somebody is to get the phone next.

        Raises:
            StoppedPhoneError: The person said stop a moment ago.
            LeaseHeldError: Somebody has the phone, or the kill switch is on.

        """
        if self.is_held:
            raise StoppedPhoneError("the person said stop; nothing was sent")
        loan = self._desk.lend(owner, preempt=preempt, reserved=reserved)
        if self._desk.holder is not None:
            self._end_acts(at_once=False)
        deadline = asyncio.get_running_loop().call_later(LOAN_S, self._recall, loan)
        try:
            await self._at_rest()
            self._desk.check(loan)
            self._lent = loan
            yield loan
        finally:
            deadline.cancel()
            await self._take_back(loan)

    def recall(self) -> None:
        """End the loan, if the phone is lent; its running act ends at the safe point."""
        if (loan := self._desk.loan) is not None:
            self._recall(loan)

    def _recall(self, loan: Lease) -> None:
        """End this loan, if it is still out."""
        if self._desk.end_loan(loan):
            self._lent = None
            self._end_acts(at_once=False)

    async def _take_back(self, loan: Lease) -> None:
        """Let go of everything, then let the owner go on."""
        try:
            if self._desk.is_valid(loan):
                self._end_acts(at_once=False)
            await self._at_rest()
        finally:
            if self._desk.end_loan(loan):
                self._lent = None
                self.changed.set()

    async def _at_rest(self) -> None:
        """Wait until no act runs and all is let go, at most 7 s."""
        if self._hands is not None:
            await self._hands.at_rest(RELEASE_S)

    # Acting and looking.

    def check(self, lease: Lease) -> None:
        """Refuse a lease that is no longer valid.

        Raises:
            LeaseRevokedError: It was taken back.

        """
        self._desk.check(lease)

    def is_valid(self, lease: Lease) -> bool:
        """Return whether a lease was not taken back."""
        return self._desk.is_valid(lease)

    async def until_free(self, lease: Lease) -> None:
        """Wait until no stop word holds and no loan is out; both end by themselves.

        A lease that is taken back ends the wait.
        """
        while self.is_held or self._desk.is_lent_from(lease):
            self.changed.clear()
            self._desk.check(lease)
            until = self._held_until if self.is_held else None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self.changed.wait()
        self._desk.check(lease)

    def check_act(self, lease: Lease) -> None:
        """Refuse an act under a lease that is not valid or has not looked."""
        self._desk.check(lease)
        if self.is_held or (self.observed != lease and not lease.is_loan):
            raise NotObservedError(UNSETTLED)

    def _end_acts_of_owner(self, *, at_once: bool) -> None:
        """Stop what the owner of the lease does; a loan that may act goes on."""
        if self._lent is None:
            self._end_acts(at_once=at_once)
        self.changed.set()

    def _end_acts(self, *, at_once: bool) -> None:
        """Stop what runs and wake what waits."""
        self.observed = None
        if self._hands is not None:
            self._hands.let_go(at_once=at_once)
        self.changed.set()
