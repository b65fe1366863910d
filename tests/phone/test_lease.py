"""One owner of the phone, and an epoch that only rises."""

from hypothesis import given, strategies as st
import pytest

from custom_components.aiden_duplex.phone.lease import Lease, LeaseDesk
from custom_components.aiden_duplex.phone.types import LeaseHeldError, LeaseRevokedError


def test_only_one_owner_at_a_time() -> None:
    """Not even the same one twice."""
    desk = LeaseDesk()
    lease = desk.acquire("a")
    for owner in ("a", "b"):
        with pytest.raises(LeaseHeldError):
            desk.acquire(owner)
    desk.check(lease)
    assert desk.free(lease)
    assert desk.acquire("b").epoch > lease.epoch


def test_a_revoked_lease_is_invalid_but_still_out() -> None:
    """The phone is free only when the owner has let go of it."""
    desk = LeaseDesk()
    lease = desk.acquire("a")
    assert desk.revoke("a")
    assert not desk.revoke("a")
    with pytest.raises(LeaseRevokedError):
        desk.check(lease)
    with pytest.raises(LeaseHeldError):
        desk.acquire("b")


def test_a_fenced_owner_cannot_come_back() -> None:
    """Its lease is nothing, the phone is free, its late release changes nothing."""
    desk = LeaseDesk()
    old = desk.acquire("a")
    assert desk.fence("a")
    new = desk.acquire("a")
    with pytest.raises(LeaseRevokedError):
        desk.check(old)
    assert not desk.free(old)
    desk.check(new)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("acquire", "revoke", "fence", "free")),
            st.sampled_from(("a", "b")),
        ),
        max_size=30,
    )
)
def test_whatever_happens_at_most_one_lease_is_valid(
    steps: list[tuple[str, str]],
) -> None:
    """And no epoch is given twice."""
    desk = LeaseDesk()
    leases: list[Lease] = []
    for step, owner in steps:
        match step:
            case "acquire":
                try:
                    leases.append(desk.acquire(owner))
                except LeaseHeldError:
                    assert desk.holder is not None
            case "revoke":
                desk.revoke(owner)
            case "fence":
                desk.fence(owner)
            case "free" if leases:
                desk.free(leases[-1])
        assert sum(desk.is_valid(lease) for lease in leases) <= 1
    epochs = [lease.epoch for lease in leases]
    assert epochs == sorted(set(epochs))
