"""Nothing stays held: silence, hold limits, resets, a clock that wraps."""

import struct

from hypothesis import given, settings, strategies as st
import pytest

from hardware_bridge.firmware.aiden_bridge import dx1, frames
from tests.examples import examples

from .rig import CONSUMER_UP, KEYS_UP, Rig, gesture, text, touch, touched

LINK_LOST = (dx1.FORCED_RELEASE, "01")
HOLD_LIMIT = (dx1.FORCED_RELEASE, "02")
USB_RESET = (dx1.FORCED_RELEASE, "04")

A_DOWN = bytes((0, 0, 4, 0, 0, 0, 0, 0))


@pytest.fixture
def rig() -> Rig:
    """A board with a session, at 0 ms."""
    rig = Rig()
    rig.hello()
    rig.events()
    return rig


def _done(seq: int, result: int, index: int) -> tuple[int, str]:
    return (dx1.DONE, struct.pack("<HBB", seq, result, index).hex())


def _rounds(start: int, *reports: tuple[int, str]) -> list[tuple[int, int, str]]:
    return [(start + at, *report) for at in (0, 15, 30) for report in reports]


def _hold_everything(rig: Rig) -> None:
    rig.request(dx1.TOUCH, touch(3, 7, 8))
    rig.request(dx1.KEYS, A_DOWN)
    rig.request(dx1.CONSUMER, struct.pack("<H", 0x223))
    rig.reports()


def test_after_1500_ms_of_silence_all_that_the_host_holds_is_released(rig: Rig) -> None:
    """Three rounds; the host hears of it when it is back."""
    _hold_everything(rig)
    rig.run(1499)
    assert rig.reports() == []
    rig.run(500)

    assert rig.reports() == _rounds(1500, KEYS_UP, CONSUMER_UP, touched(0, 7, 8))
    assert rig.events() == []
    rig.hello()
    assert rig.events() == [LINK_LOST, (dx1.LINK, "010100")]


def test_silence_with_empty_hands_is_not_worth_a_word(rig: Rig) -> None:
    """No reports, no event."""
    rig.run(5000)
    rig.hello()

    assert rig.reports() == []
    assert rig.events() == [(dx1.LINK, "010100")]


def test_garbage_does_not_keep_the_link_alive(rig: Rig) -> None:
    """Only a valid frame does."""
    rig.request(dx1.TOUCH, touch(3, 7, 8))
    for _ in range(16):
        rig.run(100)
        rig.feed(b"\x05\x11\x22\x00")

    assert rig.hid.down == {}


def test_a_ping_renews_the_link_but_not_the_hold(rig: Rig) -> None:
    """Ten seconds is the longest that a finger stays without being told again."""
    rig.request(dx1.TOUCH, touch(3, 7, 8))
    rig.request(dx1.KEYS, A_DOWN)
    rig.reports()
    rig.run_awake(5000)
    rig.request(dx1.KEYS, A_DOWN)
    rig.reports()
    rig.run_awake(4999)
    assert rig.reports() == []
    rig.run_awake(100)

    assert rig.reports() == _rounds(10000, touched(0, 7, 8))
    assert rig.events() == [HOLD_LIMIT]
    rig.run_awake(4901)
    assert rig.reports()[0] == (15000, *KEYS_UP)
    assert rig.events() == [HOLD_LIMIT]


def test_the_longest_tap_is_as_long_as_the_hold_limit(rig: Rig) -> None:
    """The plan ends it, not the limit."""
    rig.request(dx1.KEY_TAP, struct.pack("<BBH", 0, 4, 10000), seq=1)
    rig.run_awake(10100)

    assert [report[0] for report in rig.reports()] == [0, 10000]
    assert rig.events() == [_done(1, dx1.DONE_OK, 1)]


SWIPE_S = [(0, 1, 0, 0), (3000, 1, 3000, 0), (0, 0, 3000, 0)]


def test_a_short_rest_of_a_gesture_is_finished_without_the_link(rig: Rig) -> None:
    """1500 ms remain at the loss: a swipe cut in two would be a wrong tap."""
    rig.request(dx1.GESTURE, gesture(SWIPE_S), seq=1)
    rig.run(3100)

    assert rig.reports()[-2:] == [
        (3000, *touched(3, 3000, 0, 0)),
        (3000, *touched(0, 3000, 0, 0)),
    ]
    rig.hello()
    assert rig.events() == [_done(1, dx1.DONE_OK, 3), (dx1.LINK, "010100")]


@pytest.mark.parametrize(("plan_ms", "finished"), [(3500, True), (3501, False)])
def test_two_seconds_may_remain_and_not_one_more_ms(
    rig: Rig, plan_ms: int, finished: bool
) -> None:
    """At the loss, 1500 ms after the last frame."""
    points = [(0, 1, 0, 0), (plan_ms, 1, 0, 0), (0, 0, 0, 0)]
    rig.request(dx1.GESTURE, gesture(points), seq=1)
    rig.reports()
    rig.run(1600)
    forced = rig.reports() == _rounds(1500, touched(0, 0, 0, 0))
    rig.run(2500)
    rig.hello()

    assert forced is not finished
    assert rig.hid.down == {}
    expected = [_done(1, dx1.DONE_OK, 3)]
    if not finished:
        expected = [_done(1, dx1.DONE_LINK_LOST, 1), LINK_LOST]
    assert rig.events() == [*expected, (dx1.LINK, "010100")]


def test_a_long_text_stops_after_the_character_that_is_down(rig: Rig) -> None:
    """And the host learns how many were typed."""
    rig.request(dx1.TEXT, text([(0, 4)] * 99), seq=1)
    rig.run(20)
    rig.request(dx1.PING, seq=2)
    rig.run(2000)
    rig.hello()

    assert rig.reports()[-5:] == [
        (1500, 1, "0000040000000000"),
        (1530, *KEYS_UP),
        *_rounds(1550, KEYS_UP),
    ]
    assert rig.events() == [
        LINK_LOST,
        _done(1, dx1.DONE_LINK_LOST, 31),
        (dx1.LINK, "010100"),
    ]


@pytest.mark.parametrize(("count", "typed"), [(13, 13), (14, 7)])
def test_the_rest_of_a_text_is_reckoned_to_its_end(
    rig: Rig, count: int, typed: int
) -> None:
    """At the loss, at 1540, the seventh key is down; 1775 or 2030 ms remain."""
    rig.request(dx1.TEXT, text([(0, 4)] * count, 255), seq=1)
    rig.run(40)
    rig.request(dx1.PING, seq=2)
    rig.run(5000)

    assert sum(report[2] != KEYS_UP[1] for report in rig.reports()) == typed


def test_a_text_with_little_to_go_is_finished(rig: Rig) -> None:
    """70 characters at 50 ms end exactly two seconds after the loss."""
    rig.request(dx1.TEXT, text([(0, 4)] * 70), seq=1)
    rig.run(4000)

    assert len(rig.reports()) == 140


def test_what_the_host_holds_is_released_while_a_plan_finishes(rig: Rig) -> None:
    """A key tap plays over a held finger when the link goes."""
    rig.request(dx1.TOUCH, touch(3, 7, 8))
    rig.request(dx1.KEY_TAP, struct.pack("<BBH", 0, 4, 2000), seq=9)
    rig.reports()
    rig.run(2100)

    assert rig.reports() == [*_rounds(1500, touched(0, 7, 8)), (2000, *KEYS_UP)]


GESTURE = frames.encode(
    dx1.GESTURE, 0, 2, gesture([(0, 1, 5, 5), (400, 1, 900, 900), (0, 0, 900, 900)])
)


@pytest.mark.parametrize("cut", range(len(GESTURE)))
def test_a_link_cut_at_any_byte_of_a_gesture_leaves_nothing_held(cut: int) -> None:
    """Not played, or played to its end; never again after the reconnect."""
    rig = Rig()
    rig.hello()
    rig.request(dx1.KEYS, A_DOWN, seq=1)
    rig.feed(GESTURE[:cut])
    rig.run(5000)
    assert rig.hid.down == {}
    rig.reports()

    rig.hello(0x0BADCAFE)
    rig.request(dx1.RELEASE_ALL, seq=1)
    rig.run(5000)

    assert {report[1:] for report in rig.reports()} == {
        KEYS_UP,
        CONSUMER_UP,
        touched(0, 0, 0, 0),
    }


def test_a_whole_gesture_before_the_cut_is_played_once() -> None:
    """The last byte made it a plan."""
    rig = Rig()
    rig.hello()
    rig.feed(GESTURE)
    rig.run(5000)
    count = len(rig.reports())

    rig.hello()
    rig.request(dx1.GESTURE, GESTURE, seq=3)
    assert count == 1 + 25 + 1
    assert rig.hid.down == {}


def test_a_phone_that_goes_forgets_and_the_board_does_too(rig: Rig) -> None:
    """No reports into nowhere; the host hears what was lost."""
    _hold_everything(rig)
    rig.hid.usb = 0
    rig.run(100)

    assert rig.reports() == []
    assert rig.events() == [USB_RESET, (dx1.LINK, "000100")]
    rig.hid.usb = 1
    rig.run(100)
    assert rig.reports() == []
    assert rig.request(dx1.PING).payload[6] == 0


@pytest.mark.parametrize("usb", [0, 2])
def test_a_phone_that_goes_ends_the_plan(rig: Rig, usb: int) -> None:
    """DONE says how far it came."""
    rig.request(dx1.TEXT, text([(0, 4)] * 20), seq=1)
    rig.run(120)
    rig.reports()
    rig.hid.usb = usb
    rig.run(300)

    assert rig.reports() == []
    assert rig.events() == [
        _done(1, dx1.DONE_USB_LOST, 3),
        USB_RESET,
        (dx1.LINK, f"0{usb}0100"),
    ]


def test_a_phone_that_slept_with_a_key_down_is_told_when_it_wakes(rig: Rig) -> None:
    """It kept its idea of the keyboard over the sleep."""
    _hold_everything(rig)
    rig.hid.usb = 2
    rig.run(100)
    assert rig.reports() == []
    rig.hid.usb = 1
    rig.run(100)

    assert rig.reports() == _rounds(100, KEYS_UP, CONSUMER_UP, touched(0, 7, 8))


def test_a_cable_pulled_while_a_sleeping_phone_is_called(rig: Rig) -> None:
    """The tap ends there; nothing is sent into nowhere."""
    rig.hid.usb = 2
    rig.request(dx1.KEY_TAP, struct.pack("<BBH", 0, 4, 1000), seq=1)
    rig.run(100)
    rig.reports()
    rig.hid.usb = 0
    rig.run(1300)

    assert rig.reports() == []
    assert _done(1, dx1.DONE_USB_LOST, 1) in rig.events()


def test_events_for_an_absent_host_are_bounded(rig: Rig) -> None:
    """Sixteen, the newest."""
    rig.request(dx1.TOUCH, touch(3, 7, 8))
    rig.hid.failing = True
    rig.run(30_000)
    rig.hello()

    events = rig.events()
    assert len(events) == 16
    assert [kind for kind, _ in events] == [dx1.LOG] * 15 + [dx1.LINK]


def test_a_change_of_profile_forgets_what_could_not_be_released(rig: Rig) -> None:
    """The phone forgets it, too: it sees another device."""
    rig.request(dx1.TOUCH, touch(3, 7, 8))
    rig.hid.failing = True
    rig.request(dx1.SET_PROFILE, b"\x00")
    rig.run(100)

    assert rig.request(dx1.PING).payload[6] == 0


def test_the_board_lets_go_when_it_starts() -> None:
    """It may have restarted without its USB side."""
    rig = Rig(start_ms=0)

    assert rig.first_reports == _rounds(-40, KEYS_UP, CONSUMER_UP, touched(0, 0, 0, 0))


@pytest.mark.parametrize("wrap", [1 << 29, 1 << 30])
@pytest.mark.parametrize("before_ms", [0, 1, 30, 1499, 1510, 9000])
def test_deadlines_hold_over_the_clocks_wrap(wrap: int, before_ms: int) -> None:
    """The same reports at the same distances as on a clock that never wraps."""
    traces = []
    for start, wraps in ((0, 0), (wrap - before_ms, wrap)):
        rig = Rig(start_ms=start, wrap=wraps)
        rig.hello()
        rig.request(dx1.GESTURE, gesture(SWIPE_S), seq=1)
        rig.seq = 1
        rig.run_awake(3200)
        rig.request(dx1.KEYS, A_DOWN)
        rig.run_awake(10100)
        rig.request(dx1.TOUCH, touch(3, 7, 8))
        rig.run(2000)
        traces.append([(time - start, *rest) for time, *rest in rig.reports()])

    assert traces[0] == traces[1]
    assert len(traces[0]) == 190 + 1 + 3 + 1 + 3


def test_a_clock_that_steps_back_delays_and_does_not_break(rig: Rig) -> None:
    """No time has passed; then it goes on."""
    rig.request(dx1.TOUCH, touch(3, 7, 8))
    rig.run(1000)
    rig.clock.value -= 700
    rig.run(499)
    assert 4 in rig.hid.down
    rig.run(1)

    assert rig.hid.down == {}


def test_after_years_the_numbers_still_fit(rig: Rig) -> None:
    """Uptime is sent modulo 2**32; a month of silence is not a fresh frame."""
    step = (1 << 28) - 1000
    for _ in range(20):
        rig.clock.value += step
        rig.board.poll()

    rig.hello(7)
    answer = rig.request(dx1.PING)

    assert struct.unpack("<I", answer.payload[1:5])[0] == (40 + 20 * step) % (1 << 32)


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), st.integers(0, 100)),
        st.tuples(st.just("run"), st.integers(0, 2500)),
        st.tuples(st.just("stall"), st.integers(0, 700)),
        st.tuples(st.just("usb"), st.integers(0, 2)),
        st.tuples(st.just("fail"), st.integers(0, 1)),
        st.tuples(st.just("hello"), st.integers(1, 3)),
        st.tuples(st.just("ping"), st.just(0)),
        st.tuples(st.just("touch"), st.integers(0, 3)),
        st.tuples(st.just("keys"), st.integers(0, 2)),
        st.tuples(st.just("consumer"), st.integers(0, 1)),
        st.tuples(st.just("tap"), st.integers(0, 5000)),
        st.tuples(st.just("text"), st.integers(1, 60)),
        st.tuples(st.just("gesture"), st.integers(0, 5000)),
        st.tuples(st.just("abort"), st.just(0)),
        st.tuples(st.just("release"), st.just(0)),
        st.tuples(st.just("profile"), st.integers(0, 1)),
        st.tuples(st.just("noise"), st.integers(0, 255)),
    ),
    min_size=8,
    max_size=40,
)


def _request(name: str, value: int) -> tuple[int, bytes]:
    match name:
        case "touch":
            return dx1.TOUCH, touch(value, 100, 100)
        case "keys":
            return dx1.KEYS, bytes((0, 0, value, 0, 0, 0, 0, 0))
        case "consumer":
            return dx1.CONSUMER, struct.pack("<H", value)
        case "tap":
            return dx1.KEY_TAP, struct.pack("<BBH", 0, 4, value)
        case "text":
            return dx1.TEXT, text([(0, 4)] * value)
        case "gesture":
            return dx1.GESTURE, gesture([(0, 1, 0, 0), (value, 1, 9, 9), (0, 0, 9, 9)])
        case "profile":
            return dx1.SET_PROFILE, bytes((value,))
        case _:
            simple = {"ping": dx1.PING, "abort": dx1.ABORT, "release": dx1.RELEASE_ALL}
            return simple[name], b""


def _act(rig: Rig, name: str, value: int) -> None:
    match name:
        case "run":
            rig.run(value)
        case "stall":
            rig.clock.value += value
        case "usb":
            rig.hid.usb = value
            if value == 0:
                rig.hid.down.clear()
            rig.board.poll()
        case "fail":
            rig.hid.failing = bool(value)
        case "hello":
            rig.hello(value)
        case "noise":
            rig.feed(bytes((value, 0x11, 0)))
        case _:
            kind, payload = _request(name, value)
            rig.request(kind, payload)


@given(ACTIONS)
@settings(max_examples=examples(300), deadline=None)
def test_whatever_happened_silence_leaves_nothing_held(
    actions: list[tuple[str, int]],
) -> None:
    """Once the link is silent and USB takes reports again, all is up within 4 s.

    1500 ms to the loss, 2000 ms that a plan may still take, the rounds of the release.
    """
    rig = Rig()
    rig.hello()
    for name, value in actions:
        _act(rig, name, value)
    rig.hid.usb = 1
    rig.hid.failing = False
    rig.run(4000)

    assert rig.hid.down == {}
    rig.run(1000)
    assert rig.board.next_deadline_ms() is None


@given(ACTIONS)
@settings(max_examples=examples(100), deadline=None)
def test_polling_at_deadlines_equals_polling_every_millisecond(
    actions: list[tuple[str, int]],
) -> None:
    """A host of the board may sleep until the board asks."""
    calm = [action for action in actions if action[0] not in ("stall", "fail")]
    traces = []
    for busy in (False, True):
        rig = Rig()
        rig.hello()
        for name, value in calm:
            if name == "run" and busy:
                for _ in range(value):
                    rig.run(1)
            else:
                _act(rig, name, value)
        traces.append((rig.reports(), rig.events()))

    assert traces[0] == traces[1]
