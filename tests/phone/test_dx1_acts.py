"""What becomes of an act, in the phone's words; what a board says it can do."""

import pytest

from custom_components.aiden_duplex.phone.driver import Played
from custom_components.aiden_duplex.phone.dx1_acts import driver_caps, played
from custom_components.aiden_duplex.phone.dx1_events import End, Outcome
from custom_components.aiden_duplex.phone.dx1_messages import (
    BoardCaps,
    Feature,
    Nack,
    parse_caps,
)
from custom_components.aiden_duplex.phone.types import (
    ActRefusedError,
    ActUnknownError,
    LinkLostError,
    PhoneError,
)


@pytest.mark.parametrize(
    ("outcome", "error", "sentence"),
    [
        (Outcome(end=End.NOT_SENT), LinkLostError, "nothing was sent"),
        (Outcome(end=End.UNKNOWN), ActUnknownError, "may or may not have happened"),
        (
            Outcome(end=End.REFUSED, code=Nack.USB_NOT_READY, data=b"\x00"),
            LinkLostError,
            "not connected",
        ),
        (
            Outcome(end=End.REFUSED, code=Nack.USB_NOT_READY, data=b"\x02"),
            ActRefusedError,
            "sleeps",
        ),
        (Outcome(end=End.REFUSED, code=Nack.BUSY), ActRefusedError, "busy"),
        (Outcome(end=End.REFUSED, code=Nack.HOLD_LIMIT), ActRefusedError, "hold"),
        (Outcome(end=End.REFUSED, code=0xEE), ActRefusedError, "code 238"),
        (
            Outcome(end=End.REFUSED, code=Nack.PROTO_VERSION),
            ActRefusedError,
            "code 10",
        ),
    ],
)
def test_every_bad_end_is_an_error_that_says_what_happened(
    outcome: Outcome, error: type[PhoneError], sentence: str
) -> None:
    """Whether anything was sent is always in it."""
    with pytest.raises(error, match=sentence):
        played(outcome)


def test_good_ends_say_how_far_it_went() -> None:
    """Done, or stopped on request."""
    assert played(Outcome(end=End.DONE, index=3)) == Played(complete=True, steps=3)
    assert played(Outcome(end=End.STOPPED, index=2)) == Played(complete=False, steps=2)


def test_a_board_without_a_profile_can_do_nothing() -> None:
    """Whatever its features say."""
    caps = driver_caps(BoardCaps(boot_id=1, profile=0, features=Feature(0x3FF)))
    assert (caps.touch, caps.keys, caps.consumer) == (False, False, False)
    assert caps.profile == "none"
    assert driver_caps(BoardCaps(profile=9)).profile == "profile_9"


def test_a_modest_board_gets_modest_frames() -> None:
    """Its limits hold, and its payload's size."""
    caps = driver_caps(BoardCaps(profile=1, max_text=99, max_points=32, max_payload=50))
    assert (caps.max_strokes, caps.max_points) == (24, 6)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x04\x04\x01\x00\x00", b"\x04", b"\x02\x01x", b"\x04\x04\x01\0\0\0\x02"],
    ids=["empty", "cut value", "cut length", "no boot id", "cut at the end"],
)
def test_broken_capabilities_are_none(data: bytes) -> None:
    """Nothing is guessed from half a list."""
    assert parse_caps(data) is None
