"""The guard against going round in circles."""

from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.aiden_duplex.background import screens
from custom_components.aiden_duplex.background.guard import (
    LOOKS,
    REPEATS,
    STOP_STREAK,
    STOP_WITHOUT_EFFECT,
    WARN_STREAK,
    Action,
    LoopGuard,
    Trouble,
    Verdict,
)
from tests.examples import examples

from . import pictures


def _screen(name: str, **more: Any) -> screens.Fingerprint:
    found = screens.fingerprint(pictures.screen(name, **more))
    assert found is not None
    return found


HOME, MAIL, MAPS = _screen("home"), _screen("mail"), _screen("maps")


def tap(x: float = 100, y: float = 100) -> Action:
    """Return a tap."""
    return Action(name="tap", arguments={"x": x, "y": y})


def _play(
    actions: Iterable[Action],
    shown: Iterable[screens.Fingerprint],
    *,
    changed: bool = True,
) -> list[str]:
    """Return what the guard says, action by action, until it stops the run."""
    guard = LoopGuard()
    guard.begin(HOME)
    said: list[str] = []
    for action, screen in zip(actions, shown, strict=False):
        verdict = guard.judge(action)
        if verdict is Verdict.ALLOW:
            trouble = guard.note(action, screen, changed=changed)
            said.append(f"told {trouble}" if trouble else "ran")
        else:
            said.append(verdict)
        if verdict is Verdict.STOP:
            break
    return said


def test_same_action_on_a_dead_screen_ends_within_six_tries() -> None:
    """Notice, refusal, stop: in this order, never only one warning for ever."""
    said = _play([tap()] * 20, [HOME] * 20)
    assert said == ["ran", "ran", "told repeated", "refuse", "refuse", "stop"]


def test_noise_and_a_ticking_clock_do_not_hide_a_dead_screen() -> None:
    """Live pictures are never equal byte by byte."""
    shown = [_screen("home", noise=seed, clock=seed) for seed in range(1, 21)]
    assert _play([tap()] * 20, shown)[-1] == "stop"
    assert len(_play([tap()] * 20, shown)) == 6


def test_trembling_taps_are_the_same_action() -> None:
    """A few units to the side is no other plan."""
    actions = [
        tap(100 + 7 * (number % 3), 100 - 5 * (number % 2)) for number in range(20)
    ]
    assert len(_play(actions, [HOME] * 20)) == 6


def test_a_b_a_b_is_one_circle() -> None:
    """Two actions that lead to and fro between two known screens."""
    actions = [tap(100), tap(800)] * 10
    shown = [MAIL, HOME] * 10
    said = _play(actions, shown)
    assert said[-1] == "stop"
    assert said.count("told repeated") == 2
    assert said.count("refuse") == 2
    assert len(said) <= 10


@pytest.mark.parametrize("period", [3, 4])
def test_longer_circles_end_too(period: int) -> None:
    """A circle of three or four screens is no progress either."""
    names = [_screen(f"s{number}") for number in range(period)]
    actions = [tap(100 + 200 * (number % period)) for number in range(60)]
    said = _play(actions, [names[number % period] for number in range(60)])
    assert said[-1] == "stop"
    assert len(said) < 30


def test_switch_flipped_to_and_fro_is_no_progress() -> None:
    """On, off, on, off: both screens are known after two taps."""
    on, off = _screen("home", dot=True), HOME
    said = _play([tap()] * 20, [on, off] * 10)
    assert said[-1] == "stop"
    assert len(said) <= 8


def test_each_new_screen_starts_anew() -> None:
    """Scrolling a long list is not a circle."""
    shown = [_screen(f"page {number}") for number in range(WARN_STREAK - 1)]
    assert _play([tap()] * len(shown), shown) == ["ran"] * len(shown)


def test_end_of_a_list_is_found() -> None:
    """Scrolling on at the end of a list shows the same frame again and again."""
    shown = [
        *[_screen(f"page {number}") for number in range(3)],
        *[_screen("page 2")] * 20,
    ]
    said = _play([tap()] * 23, shown)
    assert said[:3] == ["ran"] * 3
    assert said[3:] == ["ran", "ran", "told repeated", "refuse", "refuse", "stop"]


def test_same_action_for_ever_ends_even_if_the_picture_changes() -> None:
    """A video plays on: every picture is new, and still nothing is reached."""
    shown = [_screen(f"frame {number}") for number in range(40)]
    said = _play([tap()] * 40, shown)
    assert said[WARN_STREAK - 1] == "told streak"
    assert (len(said), said[-1]) == (STOP_STREAK + 1, "stop")


def test_nothing_has_an_effect() -> None:
    """Different taps on a phone that does not react."""
    said = _play([tap(100 * number, 900) for number in range(10)], [HOME] * 10)
    assert said[4] == "told no_effect"
    assert (len(said), said[-1]) == (STOP_WITHOUT_EFFECT + 1, "stop")


def test_phone_that_says_unchanged_is_believed() -> None:
    """Without the phone's own word no picture is progress."""
    shown = [_screen(f"frame {number}") for number in range(20)]
    assert _play([tap()] * 20, shown, changed=False)[-1] == "stop"


def test_waiting_may_last_longer_than_acting() -> None:
    """A minute of waiting for a download is allowed, an hour is not."""
    wait = Action(name="wait", arguments={"seconds": 10}, is_look=True)
    said = _play([wait] * 20, [HOME] * 20)
    assert said.index("told repeated") == LOOKS - 1
    assert said[-1] == "stop"


def test_looking_between_does_not_hide_a_circle() -> None:
    """Tap, look, tap, look is still the same tap."""
    look = Action(name="screenshot", arguments={}, is_look=True)
    said = _play([tap(), look] * 10, [HOME] * 20)
    assert said[4] == "told repeated"
    assert said[6] == "refuse"


def test_another_plan_is_allowed_after_a_refusal() -> None:
    """What was refused once does not block what is new."""
    guard = LoopGuard()
    guard.begin(HOME)
    for _ in range(REPEATS):
        guard.note(tap(), HOME, changed=False)
    assert guard.judge(tap()) is Verdict.REFUSE
    assert guard.trouble is Trouble.REPEATED
    assert guard.judge(tap(800)) is Verdict.ALLOW
    guard.note(tap(800), MAPS, changed=True)
    assert guard.judge(tap()) is Verdict.ALLOW


def test_refusals_are_forgiven_by_progress() -> None:
    """Refused twice, then a new screen: the next circle is judged by itself."""
    guard = LoopGuard()
    guard.begin(HOME)
    for new in (MAIL, MAPS):
        for _ in range(REPEATS):
            assert guard.judge(tap()) is Verdict.ALLOW
            guard.note(tap(), HOME, changed=False)
        assert [guard.judge(tap()) for _ in range(2)] == [Verdict.REFUSE] * 2
        guard.note(tap(800), new, changed=True)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ({"x": 1, "y": 1}, {"x": 16, "y": 1}, True),
        ({"x": 1, "y": 1}, {"x": 17, "y": 1}, False),
        ({"text": "a"}, {"text": "b"}, False),
        ({"text": "a", "submit": True}, {"text": "a"}, True),
        ({"key": "back"}, {"key": "home"}, False),
        ({"seconds": 1}, {"seconds": 9}, True),
        ({"x": 1}, {}, False),
    ],
)
def test_what_is_the_same_action(
    one: dict[str, Any], other: dict[str, Any], alike: bool
) -> None:
    """Place within 15 units and the same words; durations do not count."""
    first, second = Action(name="a", arguments=one), Action(name="a", arguments=other)
    assert first.is_like(second) is second.is_like(first) is alike
    assert not first.is_like(Action(name="b", arguments=one))


@given(
    st.lists(
        st.tuples(st.sampled_from([100, 400, 700]), st.integers(0, 2)),
        min_size=100,
        max_size=100,
    )
)
@settings(max_examples=examples(100), deadline=None)
def test_no_walk_over_few_screens_lasts(walk: list[tuple[int, int]]) -> None:
    """Three actions and three screens cannot keep a run alive, in whatever order.

    Two of the screens are new once; before, between and after them at most eight
    actions run and two are refused.
    """
    shown = [(HOME, MAIL, MAPS)[number] for _, number in walk]
    said = _play([tap(x) for x, _ in walk], shown)
    assert said[-1] == "stop"
    assert len(said) <= 3 * (STOP_WITHOUT_EFFECT + 2) + 1
