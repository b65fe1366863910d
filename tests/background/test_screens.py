"""Whether two pictures are the same screen."""

import pytest

from custom_components.aiden_duplex.background import screens

from . import pictures


def _same(one: bytes, other: bytes) -> bool:
    first, second = screens.fingerprint(one), screens.fingerprint(other)
    assert first is not None
    assert second is not None
    return screens.same(first, second)


@pytest.mark.parametrize("seed", range(1, 12))
def test_noise_is_the_same_screen(seed: int) -> None:
    """0.3 % of the pixels differ from shot to shot."""
    assert _same(pictures.screen("home", noise=seed), pictures.screen("home", noise=99))


def test_clock_in_the_status_bar_is_the_same_screen() -> None:
    """A minute later nothing has happened."""
    assert _same(pictures.screen("home", clock=1), pictures.screen("home", clock=59))


def test_switch_is_another_screen() -> None:
    """Something as small as a switch is seen."""
    assert not _same(pictures.screen("home"), pictures.screen("home", dot=True))


def test_other_screens_differ() -> None:
    """Two apps are two screens; black is one of its own."""
    assert not _same(pictures.screen("home"), pictures.screen("mail"))
    assert not _same(pictures.screen("home"), pictures.screen("black"))


@pytest.mark.parametrize("data", [b"", b"not a picture", b"\xff\xd8\xff\xe0 broken"])
def test_bytes_that_are_no_picture_have_no_fingerprint(data: bytes) -> None:
    """A broken picture is no screen, and no exception."""
    assert screens.fingerprint(data) is None


@pytest.mark.parametrize("missing", [2, 200, 5000])
def test_a_picture_that_was_cut_off_has_no_fingerprint(missing: int) -> None:
    """What is missing would look like another screen."""
    data = pictures.screen("home")
    assert len(data) > missing
    assert screens.fingerprint(data[:-missing]) is None
