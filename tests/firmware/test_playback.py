"""What the board times by itself: exact reports at exact milliseconds."""

import itertools
import struct

from hypothesis import given, settings, strategies as st
import pytest

from hardware_bridge.firmware.aiden_bridge import dx1, frames
from tests.examples import examples

from .rig import CONSUMER_UP, KEYS_UP, Rig, gesture, text, touch, touched

Report = tuple[int, int, str]


@pytest.fixture
def rig() -> Rig:
    """A board with a session, at 0 ms."""
    rig = Rig()
    rig.hello()
    rig.events()
    return rig


def _done(seq: int, result: int, index: int) -> tuple[int, str]:
    return (dx1.DONE, struct.pack("<HBB", seq, result, index).hex())


def _key(usage: int, mods: int = 0) -> tuple[int, str]:
    return (1, f"{mods:02x}00{usage:02x}0000000000")


def _rounds(start: int, *reports: tuple[int, str]) -> list[Report]:
    """Give a release: three rounds, 15 ms apart."""
    return [(start + at, *report) for at in (0, 15, 30) for report in reports]


def _everything(start: int, x: int = 0, y: int = 0, contact: int = 0) -> list[Report]:
    return _rounds(start, KEYS_UP, CONSUMER_UP, touched(0, x, y, contact))


def test_a_key_tap_is_held_as_long_as_asked(rig: Rig) -> None:
    """Accepted at once; DONE when the next key may follow."""
    answer = rig.request(dx1.KEY_TAP, struct.pack("<BBH", 2, 0x28, 50), seq=1)
    assert answer.payload == b"\x01"
    assert rig.reports() == [(0, *_key(0x28, 2))]
    rig.run(69)
    assert rig.reports() == [(50, *KEYS_UP)]
    assert rig.events() == []

    rig.run(1)

    assert rig.events() == [_done(1, dx1.DONE_OK, 1)]


@pytest.mark.parametrize("hold_ms", [0, 1, 29, 30])
def test_a_key_is_down_for_30_ms_at_least(rig: Rig, hold_ms: int) -> None:
    """Shorter taps may fall between two polls of the phone."""
    rig.request(dx1.KEY_TAP, struct.pack("<BBH", 0, 4, hold_ms))
    rig.run(100)

    assert rig.reports() == [(0, *_key(4)), (30, *KEYS_UP)]


def test_a_modifier_alone_is_a_key(rig: Rig) -> None:
    """Meta opens the launcher on some phones."""
    rig.request(dx1.KEY_TAP, struct.pack("<BBH", 8, 0, 100))
    rig.run(200)

    assert rig.reports() == [(0, *_key(0, 8)), (100, *KEYS_UP)]


def test_a_consumer_tap_is_timed_by_the_board(rig: Rig) -> None:
    """Recent Apps, 0x29F, which no KEY_TAP can say."""
    answer = rig.request(dx1.CONSUMER, struct.pack("<HH", 0x29F, 120), seq=1)
    rig.run(140)

    assert answer.payload == b"\x01"
    assert rig.reports() == [(0, 2, "9f02"), (120, *CONSUMER_UP)]
    assert rig.events() == [_done(1, dx1.DONE_OK, 1)]


def test_text_releases_between_characters_even_the_same(rig: Rig) -> None:
    """'aaB' is three presses with all keys up between: 30 ms down, 20 ms up."""
    rig.request(dx1.TEXT, text([(0, 4), (0, 4), (2, 5)]), seq=1)
    rig.run(150)

    assert rig.reports() == [
        (0, *_key(4)),
        (30, *KEYS_UP),
        (50, *_key(4)),
        (80, *KEYS_UP),
        (100, *_key(5, 2)),
        (130, *KEYS_UP),
    ]
    assert rig.events() == [_done(1, dx1.DONE_OK, 3)]


@pytest.mark.parametrize(
    ("pace_ms", "step_ms"), [(0, 50), (49, 50), (51, 51), (255, 255)]
)
def test_pace_is_the_time_from_key_to_key(rig: Rig, pace_ms: int, step_ms: int) -> None:
    """Never faster than 50 ms; a slow pace is a long gap, not a long press."""
    rig.request(dx1.TEXT, text([(0, 4), (0, 5)], pace_ms))
    rig.run(600)

    assert [report[0] for report in rig.reports()] == [0, 30, step_ms, step_ms + 30]


def test_a_text_of_99_characters_is_typed_whole(rig: Rig) -> None:
    """With the link alive it may take longer than any other limit."""
    rig.request(dx1.TEXT, text([(0, 4)] * 99, 150), seq=500)
    rig.seq = 500
    rig.run_awake(99 * 150 - 1)
    assert rig.events() == []
    rig.run_awake(1)

    assert rig.events() == [_done(500, dx1.DONE_OK, 99)]
    assert len(rig.reports()) == 198


def test_a_tap_gesture_is_down_then_up(rig: Rig) -> None:
    """60 ms between; no report for a finger that rests."""
    rig.request(dx1.GESTURE, gesture([(0, 1, 500, 600), (60, 0, 500, 600)]), seq=1)
    assert rig.reports() == [(0, *touched(3, 500, 600, 0))]
    rig.run(59)
    assert rig.events() == []
    rig.run(1)

    assert rig.reports() == [(60, *touched(0, 500, 600, 0))]
    assert rig.events() == [_done(1, dx1.DONE_OK, 2)]


def test_a_swipe_moves_in_steps_of_16_ms(rig: Rig) -> None:
    """In a straight line between two points that touch, the points exactly in time."""
    points = [(10, 1, 1000, 100), (64, 1, 200, 900), (5, 0, 200, 900)]
    rig.request(dx1.GESTURE, gesture(points), seq=1)
    rig.run(100)

    assert rig.reports() == [
        (10, *touched(3, 1000, 100, 0)),
        (26, *touched(3, 800, 300, 0)),
        (42, *touched(3, 600, 500, 0)),
        (58, *touched(3, 400, 700, 0)),
        (74, *touched(3, 200, 900, 0)),
        (79, *touched(0, 200, 900, 0)),
    ]
    assert rig.events() == [_done(1, dx1.DONE_OK, 3)]


def test_a_long_press_rests_and_a_double_tap_lifts(rig: Rig) -> None:
    """Nothing is filled in while the finger rests or is up."""
    points = [
        (0, 1, 5, 5),
        (500, 1, 5, 5),
        (0, 0, 5, 5),
        (100, 1, 900, 5),
        (60, 0, 900, 5),
    ]
    rig.request(dx1.GESTURE, gesture(points, contact=3))
    rig.run(700)

    assert rig.reports() == [
        (0, *touched(3, 5, 5, 3)),
        (500, *touched(3, 5, 5, 3)),
        (500, *touched(0, 5, 5, 3)),
        (600, *touched(3, 900, 5, 3)),
        (660, *touched(0, 900, 5, 3)),
    ]


def test_a_late_turn_moves_the_rest_and_squeezes_nothing(rig: Rig) -> None:
    """A tap of 60 ms stays one when the loop was away for 45 of them."""
    rig.request(dx1.GESTURE, gesture([(20, 1, 5, 5), (60, 0, 5, 5)]))
    rig.clock.value += 65
    rig.run(200)

    assert [report[0] for report in rig.reports()] == [65, 125]


def test_a_late_turn_in_a_swipe_goes_on_where_the_finger_should_be(rig: Rig) -> None:
    """No burst of the moves that were missed."""
    rig.request(
        dx1.GESTURE, gesture([(0, 1, 0, 0), (160, 1, 1600, 0), (0, 0, 1600, 0)])
    )
    rig.clock.value += 70
    rig.run(200)

    moves = [(time, report) for time, _, report in rig.reports()]
    assert moves[1] == (70, touched(3, 700, 0, 0)[1])
    assert [time for time, _ in moves] == [0, 70, 80, 96, 112, 128, 144, 160, 160]


def test_a_plan_that_lasts_500_ms_too_long_is_broken_off(rig: Rig) -> None:
    """The loop stood still; nobody knows what the phone has made of the finger."""
    rig.request(dx1.GESTURE, gesture([(0, 1, 5, 6), (100, 0, 5, 6)]), seq=1)
    rig.reports()
    rig.clock.value += 600
    rig.run(100)

    assert rig.reports() == _rounds(600, touched(0, 5, 6, 0))
    assert rig.events() == [_done(1, dx1.DONE_LEASE, 1), (dx1.FORCED_RELEASE, "03")]


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (dx1.TOUCH, touch(3, 1, 1)),
        (dx1.KEYS, bytes(8)),
        (dx1.CONSUMER, bytes(2)),
        (dx1.CONSUMER, b"\x23\x02\x32\x00"),
        (dx1.KEY_TAP, b"\x00\x04\x32\x00"),
        (dx1.TEXT, text([(0, 4)])),
        (dx1.GESTURE, gesture([(0, 1, 1, 1), (5, 0, 1, 1)])),
    ],
)
def test_while_a_plan_plays_other_input_is_refused_as_busy(
    rig: Rig, kind: int, payload: bytes
) -> None:
    """One finger and one keyboard: two plans would mix."""
    rig.request(dx1.TEXT, text([(0, 5)] * 3))

    answer = rig.request(kind, payload)

    assert (answer.kind, answer.payload) == (dx1.NACK, bytes((5, 0x82)))
    rig.run(300)
    assert len(rig.reports()) == 6


def test_a_plan_does_not_start_on_a_finger_that_the_host_holds(rig: Rig) -> None:
    """But a key may be tapped under it."""
    rig.request(dx1.TOUCH, touch(3, 5, 5))

    swipe = rig.request(dx1.GESTURE, gesture([(0, 1, 1, 1), (5, 0, 1, 1)]))

    assert (swipe.kind, swipe.payload) == (dx1.NACK, bytes((5, 1)))
    assert rig.request(dx1.KEY_TAP, b"\x00\x04\x32\x00").kind == dx1.ACK


def test_a_key_is_not_tapped_over_keys_that_the_host_holds(rig: Rig) -> None:
    """Its release would release them, too."""
    rig.request(dx1.KEYS, bytes((2, 0, 0, 0, 0, 0, 0, 0)))

    for kind, payload in (
        (dx1.KEY_TAP, b"\x00\x04\x32\x00"),
        (dx1.TEXT, text([(0, 4)])),
    ):
        answer = rig.request(kind, payload)
        assert (answer.kind, answer.payload) == (dx1.NACK, bytes((5, 2)))
    assert len(rig.reports()) == 1


def test_a_long_text_survives_a_slow_bus(rig: Rig) -> None:
    """Each report 8 ms late, as long as a full-speed phone may take to ask for one."""
    rig.request(dx1.TEXT, text([(0, 4)] * 99), seq=1)
    rig.seq = 1
    while rig.board.next_deadline_ms() is not None and len(rig.hid.reports) < 198:
        deadline = rig.board.next_deadline_ms()
        assert deadline is not None
        rig.clock.value = deadline + 8
        rig.request(dx1.PING)
    rig.run_awake(100)

    assert _done(1, dx1.DONE_OK, 99) in rig.events()


def test_abort_without_a_plan_lets_go_of_everything(rig: Rig) -> None:
    """Three rounds, 15 ms apart, of all that the profile has."""
    rig.request(dx1.TOUCH, touch(3, 7, 8))
    rig.reports()
    rig.request(dx1.ABORT)
    rig.run(200)

    assert rig.reports() == _everything(0, 7, 8, 1)
    assert rig.events() == []


def test_abort_stops_a_text_between_two_characters(rig: Rig) -> None:
    """The character that is down is finished; DONE tells how many were typed."""
    rig.request(dx1.TEXT, text([(0, 4)] * 10), seq=1)
    rig.run(110)
    rig.reports()

    assert rig.request(dx1.ABORT, seq=2).payload == b"\x00"
    rig.run(200)

    assert rig.reports() == [(130, *KEYS_UP), *_everything(150)]
    assert rig.events() == [_done(1, dx1.DONE_ABORTED, 3)]


def test_abort_in_the_gap_stops_a_text_at_once(rig: Rig) -> None:
    """All keys are up there already."""
    rig.request(dx1.TEXT, text([(0, 4)] * 10), seq=1)
    rig.run(40)
    rig.reports()

    rig.request(dx1.ABORT, seq=2)

    assert rig.events() == [_done(1, dx1.DONE_ABORTED, 1)]
    rig.run(100)
    assert rig.reports() == _everything(40)


def test_abort_at_the_last_character_is_too_late_to_be_an_abort(rig: Rig) -> None:
    """Everything was typed, and the host is told so."""
    rig.request(dx1.TEXT, text([(0, 4)] * 2), seq=1)
    rig.run(60)
    rig.request(dx1.ABORT, seq=2)
    rig.run(100)

    assert rig.events() == [_done(1, dx1.DONE_OK, 2)]


SWIPE = [(0, 1, 0, 0), (800, 1, 800, 0), (0, 0, 800, 0)]


def test_abort_lets_a_gesture_finish_within_500_ms(rig: Rig) -> None:
    """Half a swipe would be another gesture."""
    rig.request(dx1.GESTURE, gesture(SWIPE), seq=1)
    rig.run(300)
    rig.reports()
    rig.request(dx1.ABORT, seq=2)
    assert rig.events() == []
    rig.run(600)

    reports = rig.reports()
    assert (800, *touched(0, 800, 0, 0)) in reports
    assert reports[-9:] == _everything(800, 800, 0)
    assert rig.events() == [_done(1, dx1.DONE_OK, 3)]


def test_abort_breaks_off_a_gesture_that_has_longer_to_go(rig: Rig) -> None:
    """The finger is lifted where it is."""
    rig.request(dx1.GESTURE, gesture(SWIPE), seq=1)
    rig.run(299)
    rig.reports()
    rig.request(dx1.ABORT, seq=2)
    rig.run(100)

    assert rig.reports() == _everything(299, 288, 0)
    assert rig.events() == [_done(1, dx1.DONE_ABORTED, 1)]


def test_abort_in_the_same_breath_as_a_long_tap_ends_it(rig: Rig) -> None:
    """Both frames in one read: ten seconds of a key must not come out of it."""
    tap = struct.pack("<BBH", 0, 4, 10000)
    rig.feed(frames.encode(dx1.KEY_TAP, 0, 1, tap) + frames.encode(dx1.ABORT, 0, 2))
    rig.run(100)

    assert rig.reports() == _everything(0)
    assert rig.events() == [_done(1, dx1.DONE_ABORTED, 0)]


def test_release_all_breaks_off_whatever_plays(rig: Rig) -> None:
    """At once, even with 100 ms to go."""
    rig.request(dx1.GESTURE, gesture([(0, 1, 5, 5), (200, 0, 5, 5)]), seq=1)
    rig.run(100)
    rig.reports()
    rig.request(dx1.RELEASE_ALL, seq=2)
    rig.run(200)

    assert rig.reports() == _everything(100, 5, 5)
    assert rig.events() == [_done(1, dx1.DONE_ABORTED, 1)]


def test_a_press_during_the_rounds_of_a_release_is_not_released_by_them(
    rig: Rig,
) -> None:
    """The host let go, then pressed again within 30 ms."""
    rig.request(dx1.RELEASE_ALL)
    rig.run(5)
    rig.request(dx1.TOUCH, touch(3, 9, 9))
    rig.run(100)

    assert [report for report in rig.reports() if report[1] == 4] == [
        (0, *touched(0, 0, 0, 0)),
        (5, *touched(3, 9, 9)),
    ]
    assert 4 in rig.hid.down


def test_a_plan_whose_report_usb_refuses_ends_with_usb_lost(rig: Rig) -> None:
    """And lets go of what may be down."""
    rig.request(dx1.TEXT, text([(0, 4)] * 5), seq=1)
    rig.run(49)
    rig.hid.failing = True
    rig.run(1)
    rig.hid.failing = False
    rig.reports()
    rig.run(400)

    assert (
        dx1.DONE,
        struct.pack("<HBB", 1, dx1.DONE_USB_LOST, 1).hex(),
    ) in rig.events()
    assert rig.hid.down == {}
    assert rig.reports() == [(65, *KEYS_UP), (80, *KEYS_UP)]


def test_a_tap_calls_a_sleeping_phone(rig: Rig) -> None:
    """Played into a suspended bus, and DONE says that it was no more than a call."""
    rig.hid.usb = 2
    rig.request(dx1.KEY_TAP, b"\x00\x29\x32\x00", seq=1)
    rig.hid.usb = 1
    rig.run(100)

    assert (
        dx1.DONE,
        struct.pack("<HBB", 1, dx1.DONE_SUSPENDED, 1).hex(),
    ) in rig.events()
    assert rig.reports() == [(0, *_key(0x29)), (50, *KEYS_UP)]


PLACES = st.integers(0, 32767)
POINTS = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 1), PLACES, PLACES), max_size=20
)


@given(POINTS, st.integers(0, 300))
@settings(max_examples=examples(60), deadline=None)
def test_any_gesture_plays_its_points_in_time_and_ends_up(
    points: list[tuple[int, int, int, int]], last_ms: int
) -> None:
    """Each point exactly when it was planned, in order; the finger is up at the end."""
    points = [(0, 1, 1, 1), *points, (last_ms, 0, 5, 5)]
    rig = Rig()
    rig.hello()
    rig.request(dx1.GESTURE, gesture(points), seq=1)
    rig.seq = 1
    rig.run_awake(sum(point[0] for point in points))
    rig.board.poll()

    reports = [(time, report) for time, _, report in rig.reports()]
    at = 0
    planned = []
    for dt_ms, tip, x, y in points:
        at += dt_ms
        planned.append((at, touched(3 if tip else 0, x, y, 0)[1]))
    rest = iter(reports)
    assert all(point in rest for point in planned)
    assert rig.hid.down == {}
    assert [time for time, _ in reports] == sorted(time for time, _ in reports)


@given(
    st.lists(
        st.tuples(st.integers(0, 255), st.integers(1, 0x65)), min_size=1, max_size=99
    ),
    st.integers(0, 255),
)
@settings(max_examples=examples(40), deadline=None)
def test_any_text_is_pressed_and_released_key_by_key(
    characters: list[tuple[int, int]], pace_ms: int
) -> None:
    """In order, all up between, never less than 30 ms down and 20 ms up."""
    rig = Rig()
    rig.hello()
    rig.request(dx1.TEXT, text(characters, pace_ms))
    rig.run_awake(99 * 255)

    reports = rig.reports()
    assert [report[1:] for report in reports[::2]] == [
        _key(usage, mods) for mods, usage in characters
    ]
    assert {report[1:] for report in reports[1::2]} == {KEYS_UP}
    times = [report[0] for report in reports]
    steps = [after - before for before, after in itertools.pairwise(times)]
    assert set(steps[::2]) == {30}
    assert set(steps[1::2]) <= {max(pace_ms, 50) - 30}
