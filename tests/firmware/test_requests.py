"""What each request does, and what it is refused for."""

import struct

import pytest

from hardware_bridge.firmware.aiden_bridge import dx1, frames

from .rig import CONSUMER_UP, KEYS_UP, Rig, gesture, text, touch, touched


@pytest.fixture
def rig() -> Rig:
    """A board with a session and a phone."""
    rig = Rig()
    rig.hello()
    rig.events()
    return rig


def _code(frame: frames.Frame) -> int:
    return frame.payload[0] if frame.kind == dx1.NACK else 0


def test_touch_is_the_finger_as_the_host_says(rig: Rig) -> None:
    """Down, move, up: one report each."""
    for phase, x, y in ((3, 10, 20), (3, 30, 40), (0, 30, 40)):
        answer = rig.request(dx1.TOUCH, touch(phase, x, y))
        assert (answer.kind, answer.payload) == (dx1.ACK, b"\x00")

    assert [report[1:] for report in rig.reports()] == [
        touched(3, 10, 20),
        touched(3, 30, 40),
        touched(0, 30, 40),
    ]


def test_a_tip_that_is_down_is_in_range(rig: Rig) -> None:
    """Hovering is not touching."""
    rig.request(dx1.TOUCH, touch(1, 5, 5))
    rig.request(dx1.TOUCH, touch(2, 5, 5))

    assert [report[1:] for report in rig.reports()] == [
        touched(3, 5, 5),
        touched(2, 5, 5),
    ]


def test_the_profile_has_one_finger(rig: Rig) -> None:
    """A second one is refused; the first stays where it is."""
    rig.request(dx1.TOUCH, touch(3, 5, 5, contact=1))

    assert _code(rig.request(dx1.TOUCH, touch(3, 9, 9, contact=2))) == dx1.UNSUPPORTED
    assert len(rig.reports()) == 1


def test_keys_is_the_keyboards_whole_state(rig: Rig) -> None:
    """The reserved byte is the board's own."""
    rig.request(dx1.KEYS, bytes((2, 0x77, 4, 5, 0, 0, 0, 0)))
    rig.request(dx1.KEYS, bytes(8))

    assert [report[1:] for report in rig.reports()] == [
        (1, "0200040500000000"),
        KEYS_UP,
    ]


def test_consumer_is_a_state(rig: Rig) -> None:
    """AC Home down, up."""
    rig.request(dx1.CONSUMER, struct.pack("<H", 0x223))
    rig.request(dx1.CONSUMER, struct.pack("<H", 0))

    assert [report[1:] for report in rig.reports()] == [(2, "2302"), CONSUMER_UP]


REFUSALS = [
    ("hello too short", dx1.HELLO, bytes(5), dx1.BAD_PAYLOAD),
    ("ping with a payload", dx1.PING, b"\x01", dx1.BAD_PAYLOAD),
    ("touch too short", dx1.TOUCH, bytes(5), dx1.BAD_PAYLOAD),
    ("touch too long", dx1.TOUCH, bytes(7), dx1.BAD_PAYLOAD),
    ("touch phase", dx1.TOUCH, touch(4, 0, 0), dx1.BAD_PAYLOAD),
    ("touch x", dx1.TOUCH, touch(3, 32768, 0), dx1.OUT_OF_RANGE),
    ("touch y", dx1.TOUCH, touch(3, 0, 40000), dx1.OUT_OF_RANGE),
    ("touch contact", dx1.TOUCH, touch(3, 0, 0, contact=16), dx1.OUT_OF_RANGE),
    ("pointer", dx1.POINTER, bytes(7), dx1.UNSUPPORTED),
    ("keys too short", dx1.KEYS, bytes(7), dx1.BAD_PAYLOAD),
    ("keys usage", dx1.KEYS, bytes((0, 0, 4, 0x66, 0, 0, 0, 0)), dx1.OUT_OF_RANGE),
    ("consumer of 3 bytes", dx1.CONSUMER, bytes(3), dx1.BAD_PAYLOAD),
    ("consumer usage", dx1.CONSUMER, struct.pack("<H", 0x400), dx1.OUT_OF_RANGE),
    (
        "consumer tap usage",
        dx1.CONSUMER,
        struct.pack("<HH", 0x400, 50),
        dx1.OUT_OF_RANGE,
    ),
    (
        "consumer tap of nothing",
        dx1.CONSUMER,
        struct.pack("<HH", 0, 50),
        dx1.BAD_PAYLOAD,
    ),
    ("consumer tap hold", dx1.CONSUMER, struct.pack("<HH", 1, 10001), dx1.HOLD_LIMIT),
    ("key tap too short", dx1.KEY_TAP, bytes(3), dx1.BAD_PAYLOAD),
    ("key tap usage", dx1.KEY_TAP, struct.pack("<BBH", 0, 0xE0, 50), dx1.OUT_OF_RANGE),
    ("key tap of nothing", dx1.KEY_TAP, struct.pack("<BBH", 0, 0, 50), dx1.BAD_PAYLOAD),
    ("key tap hold", dx1.KEY_TAP, struct.pack("<BBH", 0, 4, 10001), dx1.HOLD_LIMIT),
    ("text empty", dx1.TEXT, b"", dx1.BAD_PAYLOAD),
    ("text of none", dx1.TEXT, text([]), dx1.BAD_PAYLOAD),
    ("text cut", dx1.TEXT, text([(0, 4), (0, 5)])[:-1], dx1.BAD_PAYLOAD),
    ("text too long", dx1.TEXT, text([(0, 4)] * 100), dx1.OUT_OF_RANGE),
    ("text usage", dx1.TEXT, text([(0, 4), (0, 0x66)]), dx1.OUT_OF_RANGE),
    ("text of no key", dx1.TEXT, text([(0, 4), (2, 0)]), dx1.BAD_PAYLOAD),
    ("gesture empty", dx1.GESTURE, b"\x00", dx1.BAD_PAYLOAD),
    ("gesture of none", dx1.GESTURE, gesture([]), dx1.BAD_PAYLOAD),
    (
        "gesture cut",
        dx1.GESTURE,
        gesture([(0, 1, 1, 1), (9, 0, 1, 1)])[:-1],
        dx1.BAD_PAYLOAD,
    ),
    ("gesture left down", dx1.GESTURE, gesture([(0, 1, 1, 1)]), dx1.BAD_PAYLOAD),
    ("gesture never down", dx1.GESTURE, gesture([(5, 0, 1, 1)]), dx1.BAD_PAYLOAD),
    (
        "gesture tip",
        dx1.GESTURE,
        gesture([(0, 2, 1, 1), (5, 0, 1, 1)]),
        dx1.BAD_PAYLOAD,
    ),
    (
        "gesture place",
        dx1.GESTURE,
        gesture([(0, 1, 32768, 1), (5, 0, 1, 1)]),
        dx1.OUT_OF_RANGE,
    ),
    (
        "gesture contact",
        dx1.GESTURE,
        gesture([(0, 1, 1, 1), (5, 0, 1, 1)], contact=16),
        dx1.OUT_OF_RANGE,
    ),
    (
        "gesture wait",
        dx1.GESTURE,
        gesture([(10001, 1, 1, 1), (5, 0, 1, 1)]),
        dx1.OUT_OF_RANGE,
    ),
    (
        "gesture hold",
        dx1.GESTURE,
        gesture([(0, 1, 1, 1), (6000, 1, 1, 1), (4001, 0, 1, 1)]),
        dx1.HOLD_LIMIT,
    ),
    (
        "gesture too long",
        dx1.GESTURE,
        gesture([(9000, 1, 1, 1), (10, 0, 1, 1)] * 4),
        dx1.OUT_OF_RANGE,
    ),
    ("profile too short", dx1.SET_PROFILE, b"", dx1.BAD_PAYLOAD),
    ("profile ios", dx1.SET_PROFILE, b"\x02", dx1.UNSUPPORTED),
    ("profile mouse", dx1.SET_PROFILE, b"\x04", dx1.UNSUPPORTED),
    ("profile unknown", dx1.SET_PROFILE, b"\x05", dx1.OUT_OF_RANGE),
    ("wake level", dx1.WAKE_CFG, struct.pack("<HBH", 20, 2, 500), dx1.BAD_PAYLOAD),
    (
        "wake debounce",
        dx1.WAKE_CFG,
        struct.pack("<HBH", 1001, 0, 500),
        dx1.OUT_OF_RANGE,
    ),
    ("event ack cut", dx1.EVENT_ACK, b"\x01", dx1.BAD_PAYLOAD),
]


@pytest.mark.parametrize(
    ("kind", "payload", "code"),
    [row[1:] for row in REFUSALS],
    ids=[row[0] for row in REFUSALS],
)
def test_a_refused_request_sends_nothing(
    rig: Rig, kind: int, payload: bytes, code: int
) -> None:
    """The answer names the reason; the phone notices nothing."""
    seq = 0 if kind == dx1.HELLO else None

    assert _code(rig.request(kind, payload, seq=seq)) == code
    rig.run(1000)
    assert rig.reports() == []


def test_32_points_are_a_gesture(rig: Rig) -> None:
    """The most that fits; 33 do not fit into a frame at all."""
    points = [(10, 1, 100, 100)] * 31 + [(10, 0, 100, 100)]

    assert rig.request(dx1.GESTURE, gesture(points)).kind == dx1.ACK
    with pytest.raises(ValueError):
        frames.encode(dx1.GESTURE, 0, 1, gesture([*points, (10, 0, 1, 1)]))


@pytest.mark.parametrize("usb", [0, 2])
@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (dx1.TOUCH, touch(3, 1, 1)),
        (dx1.KEYS, bytes(8)),
        (dx1.CONSUMER, struct.pack("<H", 0x223)),
        (dx1.TEXT, text([(0, 4)])),
        (dx1.GESTURE, gesture([(0, 1, 1, 1), (5, 0, 1, 1)])),
    ],
)
def test_without_a_phone_input_is_refused(usb: int, kind: int, payload: bytes) -> None:
    """NACK 06 with the state: no cable and a sleeping phone are not a dead link."""
    rig = Rig(usb=usb)
    rig.hello()

    answer = rig.request(kind, payload)

    assert (answer.kind, answer.payload) == (dx1.NACK, bytes((6, usb)))
    assert rig.request(dx1.PING).kind == dx1.ACK


@pytest.mark.parametrize("usb", [0, 1, 2])
def test_release_all_is_accepted_without_a_phone(usb: int) -> None:
    """Always allowed; reports only where somebody reads them."""
    rig = Rig(usb=usb)
    rig.hello()

    assert rig.request(dx1.RELEASE_ALL).payload == b"\x00"
    rig.run(100)
    assert bool(rig.reports()) == (usb == 1)


def test_a_report_that_usb_does_not_take_is_refused_and_then_let_go(rig: Rig) -> None:
    """The phone may have it or not: it counts as held and is released."""
    rig.hid.failing = True
    assert _code(rig.request(dx1.TOUCH, touch(3, 1, 1))) == dx1.USB_NOT_READY
    assert rig.request(dx1.PING).payload[6] == dx1.HELD_TOUCH
    assert (dx1.LOG, b"\x02USB did not take a report".hex()) in rig.events()

    assert rig.request(dx1.RELEASE_ALL).kind == dx1.ACK
    rig.run(200)
    rig.hid.failing = False
    rig.run(300)
    assert rig.request(dx1.PING).payload[6] == 0
    assert touched(0, 1, 1) in [report[1:] for report in rig.reports()]


def test_a_release_that_usb_does_not_take_is_not_forgotten(rig: Rig) -> None:
    """The host hears that it failed; the board goes on until the finger is up."""
    rig.request(dx1.TOUCH, touch(3, 1, 1))
    rig.hid.failing = True

    assert _code(rig.request(dx1.TOUCH, touch(0, 1, 1))) == dx1.USB_NOT_READY
    assert rig.request(dx1.PING).payload[6] == dx1.HELD_TOUCH
    rig.run(1000)
    rig.hid.failing = False
    rig.run(200)
    assert rig.hid.down == {}
    assert rig.request(dx1.PING).payload[6] == 0


def test_gestures_are_limited_to_twenty_a_second(rig: Rig) -> None:
    """In any second, not in each calendar second."""
    tap = gesture([(0, 1, 1, 1), (0, 0, 1, 1)])
    codes = []
    for _ in range(25):
        codes.append(_code(rig.request(dx1.GESTURE, tap)))
        rig.run(10)

    assert codes == [0] * 20 + [dx1.RATE_LIMITED] * 5
    rig.run(749)
    assert _code(rig.request(dx1.GESTURE, tap)) == dx1.RATE_LIMITED
    rig.run(1)
    assert _code(rig.request(dx1.GESTURE, tap)) == 0


def test_key_reports_are_limited_to_two_hundred_a_second(rig: Rig) -> None:
    """Keys and consumer together."""
    codes = []
    for number in range(205):
        if number % 2:
            frame = rig.request(dx1.KEYS, bytes(8))
        else:
            frame = rig.request(dx1.CONSUMER, struct.pack("<H", 0))
        codes.append(_code(frame))
        rig.run(2)

    assert codes == [0] * 200 + [dx1.RATE_LIMITED] * 5
    assert len(rig.reports()) == 200
    assert (
        _code(rig.request(dx1.KEY_TAP, struct.pack("<BBH", 0, 4, 50)))
        == dx1.RATE_LIMITED
    )


def test_ping_tells_uptime_usb_held_and_errors(rig: Rig) -> None:
    """Uptime, mounted, touch and keys held, one bad frame."""
    rig.run(700)
    rig.feed(b"\x05\x11\x00")
    rig.request(dx1.TOUCH, touch(3, 1, 1))
    rig.request(dx1.KEYS, bytes((1, 0, 0, 0, 0, 0, 0, 0)))

    answer = rig.request(dx1.PING)

    assert answer.payload == struct.pack("<BIBBH", 0, 740, 1, 3, 1)


def test_a_ping_that_wants_no_answer_gets_none_but_keeps_the_link(rig: Rig) -> None:
    """For a host that only shows that it is there."""
    for seq in range(1, 5):
        rig.run(1000)
        rig.feed(frames.encode(dx1.PING, dx1.FLAG_NO_ACK, seq))

    assert rig.sent() == []
    assert rig.request(dx1.PING, seq=5).kind == dx1.ACK


def test_get_caps_is_a_table_of_tags(rig: Rig) -> None:
    """Every tag once, in order, with the values that the host needs."""
    payload = rig.request(dx1.GET_CAPS).payload
    tags: dict[int, bytes] = {}
    rest = payload[1:]
    while rest:
        tags[rest[0]] = rest[2 : 2 + rest[1]]
        rest = rest[2 + rest[1] :]

    assert tags == {
        0x01: b"\x01\x01",
        0x02: b"aiden-bridge 0.1.0",
        0x03: bytes.fromhex("e661410403123456"),
        0x04: struct.pack("<I", 0x0B00714D),
        0x05: b"\x03",
        0x06: b"\x01",
        0x07: struct.pack("<H", 0x0379),
        0x08: b"\xe2",
        0x09: b"\x20",
        0x0A: b"\x63",
        0x0B: struct.pack("<HH", 10000, 10000),
        0x0C: b"\x04",
        0x0D: struct.pack("<BH", 0x65, 0x3FF),
        0x0E: bytes(16),
    }


def test_caps_count_what_went_wrong(rig: Rig) -> None:
    """CRC, COBS, length, oversize, USB errors, resets, forced releases, wakes."""
    wire = bytearray(frames.encode(dx1.PING, 0, 1))
    wire[-2] ^= 1
    rig.feed(bytes(wire) + b"\x05\x11\x00" + b"\x02\x11\x00" + b"\x01" * 300 + b"\x00")
    rig.request(dx1.TOUCH, touch(3, 1, 1))
    rig.hid.usb = 0
    rig.board.poll()

    payload = rig.request(dx1.GET_CAPS).payload

    assert payload[-16:] == struct.pack("<8H", 1, 1, 1, 1, 0, 1, 1, 0)


def test_identify_lights_the_led_for_two_seconds(rig: Rig) -> None:
    """Asked again, it starts again."""
    rig.request(dx1.IDENTIFY)
    rig.run_awake(1500)
    rig.request(dx1.IDENTIFY)
    rig.run_awake(1999)
    assert rig.pins.lit == [True, True]
    rig.run_awake(1)
    assert rig.pins.lit == [True, True, False]


def test_set_profile_lets_go_first_and_enumerates_after_its_answer(rig: Rig) -> None:
    """Three rounds of releases, then the phone sees another device."""
    rig.request(dx1.TOUCH, touch(3, 1, 1))
    rig.reports()

    assert rig.request(dx1.SET_PROFILE, b"\x00").payload == b"\x00"
    assert rig.hid.profiles == []
    assert _code(rig.request(dx1.TOUCH, touch(3, 1, 1))) == dx1.BUSY
    rig.run(60)

    assert [time for time, number, _ in rig.reports() if number == 4] == [0, 15, 30]
    assert rig.hid.profiles == [0]
    assert rig.events() == [(dx1.LINK, "010000")]
    assert _code(rig.request(dx1.TOUCH, touch(3, 1, 1))) == dx1.UNSUPPORTED
    assert rig.request(dx1.RELEASE_ALL).kind == dx1.ACK
    rig.run(100)
    assert rig.reports() == []


def test_set_profile_to_the_present_one_changes_nothing(rig: Rig) -> None:
    """The phone must not see a replug for nothing; the host hears the link's state."""
    assert rig.request(dx1.SET_PROFILE, b"\x01").kind == dx1.ACK
    rig.run(200)

    assert rig.hid.profiles == []
    assert rig.events() == [(dx1.LINK, "010100")]


def test_link_events_follow_usb_and_leds(rig: Rig) -> None:
    """Caps lock, cable out, cable in."""
    rig.hid.led_bits = 2
    rig.run(1)
    rig.hid.usb = 0
    rig.run(1)
    rig.hid.usb = 1
    rig.run(1)

    assert rig.events() == [
        (dx1.LINK, "010102"),
        (dx1.LINK, "000102"),
        (dx1.LINK, "010102"),
    ]


def test_log_lines_are_two_a_second_and_never_what_was_typed(rig: Rig) -> None:
    """A phone that takes nothing must not flood the host."""
    rig.hid.failing = True
    for _ in range(20):
        rig.request(dx1.KEYS, bytes((0, 0, 0x11, 0, 0, 0, 0, 0)))
        rig.run(10)

    logs = [payload for kind, payload in rig.events() if kind == dx1.LOG]
    assert logs == [b"\x02USB did not take a report".hex()] * 2


def test_the_board_opens_its_line_with_a_zero() -> None:
    """Whatever the host's receiver held from before is ended."""
    rig = Rig()

    assert rig.uart.written == [b"\x00"]


def test_each_frame_is_one_write(rig: Rig) -> None:
    """Two halves of a frame must not be parted by a network."""
    rig.feed(frames.encode(dx1.PING, 0, 1) + frames.encode(dx1.PING, 0, 2))

    assert len(rig.uart.written) == 2
    assert all(data.count(b"\x00") == 1 for data in rig.uart.written)
