"""When the picture has come to rest."""

from collections.abc import Callable
import subprocess
import sys
from typing import Unpack

from PIL import Image
import pytest

from custom_components.aiden_duplex.phone.frame import AreaMemory, Gray, look
from custom_components.aiden_duplex.phone.settle import SettleDetector, differ
from custom_components.aiden_duplex.phone.types import Settle

from .screens import Drawing, captured, screen

POLL_S = 0.15


def gray(content: Image.Image | None, *, noise: float = 0.0, seed: int = 0) -> Gray:
    """Return what is compared of a captured screen."""
    known = look(captured(screen(498, 1080)), AreaMemory()).memory
    return look(captured(content, noise=noise, seed=seed), known).gray


def app(**drawing: Unpack[Drawing]) -> Image.Image:
    """Draw an app."""
    return screen(498, 1080, **drawing)


STILL = gray(app())


def watch(
    picture: Callable[[int], Gray],
    *,
    before: Gray | None = None,
    black: bool = False,
    poll_s: float = POLL_S,
) -> tuple[Settle, float]:
    """Feed pictures until the verdict; return it and the seconds it took."""
    detector = SettleDetector(started_at=50.0, before=before)
    for number in range(200):
        at = 50.0 + number * poll_s
        verdict = detector.feed(picture(number), black=black, at=at)
        if verdict is not None:
            return verdict, round(at - 50.0, 2)
    raise AssertionError("no verdict")


def test_a_still_picture_rests_after_two_unchanged_pairs() -> None:
    """No sooner, no later."""
    assert watch(lambda _: STILL) == (Settle.SETTLED, 0.3)


def test_an_animation_is_waited_for() -> None:
    """Rest counts from its end."""
    frames = [gray(app(scroll=step * 40)) for step in range(6)]
    assert watch(lambda n: frames[min(n, 5)]) == (Settle.SETTLED, 1.05)


def test_a_picture_that_never_rests_is_a_timeout() -> None:
    """A result at the cap, not an error."""
    frames = [gray(app(scroll=40)), gray(app(scroll=80))]
    assert watch(lambda n: frames[n % 2]) == (Settle.TIMEOUT, 2.55)


@pytest.mark.parametrize("noise", [6.0, 24.0])
def test_capture_noise_is_no_motion(noise: float) -> None:
    """Grain on every picture of a cheap capture stick, or of a worse one."""
    frames = [gray(app(), noise=noise, seed=seed) for seed in range(4)]
    assert watch(lambda n: frames[n % 4]) == (Settle.SETTLED, 0.3)


def test_motion_is_seen_through_noise() -> None:
    """A switch that turns, in grain."""
    off = gray(app(), noise=6.0, seed=1)
    on = gray(app(toggle=True), noise=6.0, seed=2)
    assert differ(off, on)


def test_a_blinking_caret_is_no_motion() -> None:
    """A text field has focus."""
    frames = [STILL, gray(app(caret=True))]
    assert watch(lambda n: frames[n % 2]) == (Settle.SETTLED, 0.3)


def test_the_status_bars_clock_is_no_motion() -> None:
    """A minute passes."""
    frames = [STILL, gray(app(clock="12:01"))]
    assert watch(lambda n: frames[n % 2]) == (Settle.SETTLED, 0.3)


@pytest.mark.parametrize(
    "change",
    [{"toggle": True}, {"scroll": 9}, {"lines": 9}, {"dark": True}],
    ids=str,
)
def test_what_an_act_does_is_a_difference(change: Drawing) -> None:
    """A switch, a short scroll, another app, another theme."""
    assert differ(STILL, gray(app(**change)))
    assert not differ(STILL, STILL)


def test_a_slow_fade_is_a_difference() -> None:
    """Brightness moves everywhere by little."""
    assert differ(STILL, (STILL * 0.97).astype(STILL.dtype))


def test_a_turned_phone_is_a_difference() -> None:
    """The shapes differ."""
    assert differ(STILL, STILL.T.copy())


def test_a_phone_that_has_not_reacted_yet_is_given_time() -> None:
    """Right after a tap the old screen stands still: that is not rest."""
    opened = gray(app(toggle=True, scroll=100))
    assert watch(lambda n: STILL if n < 4 else opened, before=STILL) == (
        Settle.SETTLED,
        0.9,
    )


def test_an_act_without_effect_rests_after_the_reaction_time() -> None:
    """It is not waited for until the cap."""
    verdict, took_s = watch(lambda _: STILL, before=STILL)
    assert verdict is Settle.SETTLED
    assert 0.8 <= took_s <= 0.95


def test_black_is_reported_at_the_cap_only() -> None:
    """Between two apps a phone is black for a moment."""
    nothing = gray(None)
    assert watch(lambda _: nothing, black=True) == (Settle.BLACK, 2.55)


def test_a_slow_source_rests_with_one_long_pair() -> None:
    """Two equal pictures a second apart show more rest than three in 0.3 s."""
    assert watch(lambda _: STILL, poll_s=1.2) == (Settle.SETTLED, 1.2)


def test_a_source_that_is_polled_too_fast_does_not_settle_early() -> None:
    """Equal pictures 10 ms apart prove nothing."""
    verdict, took_s = watch(lambda _: STILL, poll_s=0.01)
    assert verdict is Settle.SETTLED
    assert took_s >= 0.28


def test_comparing_pictures_imports_nothing() -> None:
    """It happens on the event loop, where a late import of NumPy's parts takes 50 ms."""
    code = """
import sys
import numpy as np
from custom_components.aiden_duplex.phone.settle import differ
before = set(sys.modules)
differ(np.zeros((160, 80), np.uint8), np.full((160, 80), 9, np.uint8))
print(sorted(set(sys.modules) - before))
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout == "[]\n"
