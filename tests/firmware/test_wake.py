"""The wake line: one event for one press, told until it is heard."""

import struct

import pytest

from hardware_bridge.firmware.aiden_bridge import dx1, frames

from .rig import Rig


@pytest.fixture
def rig() -> Rig:
    """A board that has listened to a quiet line for two seconds, with a session."""
    rig = Rig(start_ms=-2000)
    rig.run(2000)
    rig.hello()
    rig.sent()
    return rig


def _wakes(rig: Rig) -> list[frames.Frame]:
    return [frame for frame in rig.sent() if frame.kind == dx1.WAKE]


def _press(rig: Rig, ms: int = 100) -> None:
    rig.pins.level = True
    rig.run(ms)
    rig.pins.level = False
    rig.run(ms)


def _ack(rig: Rig, frame: frames.Frame) -> None:
    assert rig.request(dx1.EVENT_ACK, struct.pack("<H", frame.seq)).kind == dx1.ACK


def test_a_press_is_told_once_it_has_lasted_20_ms(rig: Rig) -> None:
    """Counter 1, the uptime at which it counted, source gpio, level 1."""
    rig.pins.level = True
    rig.run(19)
    assert _wakes(rig) == []
    rig.run(1)

    (wake,) = _wakes(rig)
    assert wake.payload == struct.pack("<IIBB", 1, 2040 + 20, 3, 1)
    assert wake.flags == 0
    _ack(rig, wake)
    rig.run_awake(5000)
    assert _wakes(rig) == []


def test_bounces_shorter_than_20_ms_are_nothing(rig: Rig) -> None:
    """Neither on the way down nor on the way up."""
    for _ in range(50):
        rig.pins.level = True
        rig.run(15)
        rig.pins.level = False
        rig.run(5)
    assert _wakes(rig) == []

    rig.pins.level = True
    rig.run(30)
    for _ in range(20):
        rig.pins.level = False
        rig.run(15)
        rig.pins.level = True
        rig.run(30)

    assert len({wake.payload for wake in _wakes(rig)}) == 1


def test_a_wake_is_repeated_every_250_ms_for_ten_seconds(rig: Rig) -> None:
    """The same seq and counter, the repetitions marked, whether a host is there or not."""
    rig.pins.level = True
    rig.run(20 + 20000)

    wakes = _wakes(rig)
    assert len(wakes) == 40
    assert len({(wake.seq, wake.payload) for wake in wakes}) == 1
    assert [wake.flags for wake in wakes] == [0] + [1] * 39


def test_an_event_ack_stops_the_repetition(rig: Rig) -> None:
    """And only the ack of this event does."""
    _press(rig)
    (wake,) = _wakes(rig)
    rig.request(dx1.EVENT_ACK, struct.pack("<H", wake.seq + 1))
    rig.run(300)
    assert len(_wakes(rig)) == 1
    _ack(rig, wake)

    rig.run_awake(3000)
    assert _wakes(rig) == []


def test_a_lost_ack_is_harmless(rig: Rig) -> None:
    """The host acknowledges the repetition; its counter says that it is no second press."""
    _press(rig)
    first = _wakes(rig)[0]
    rig.run(200)
    (again,) = _wakes(rig)
    _ack(rig, again)

    assert (again.seq, again.payload) == (first.seq, first.payload)


def test_presses_closer_than_half_a_second_are_one(rig: Rig) -> None:
    """A trembling finger does not start two conversations."""
    _press(rig, 100)
    _press(rig, 100)
    assert {struct.unpack("<I", wake.payload[:4])[0] for wake in _wakes(rig)} == {1}
    rig.run(300)
    _press(rig, 100)

    assert struct.unpack("<I", _wakes(rig)[-1].payload[:4])[0] == 2


def test_a_storm_of_presses_is_bounded_and_counted(rig: Rig) -> None:
    """The newest takes the place of one that nobody has acknowledged."""
    for _ in range(20):
        _press(rig, 300)

    wakes = _wakes(rig)
    assert struct.unpack("<I", wakes[-1].payload[:4])[0] == 20
    assert len(wakes) <= 20 * 3
    rig.hello()
    _ack(rig, wakes[-1])
    rig.run_awake(2000)
    assert _wakes(rig) == []


def test_a_line_that_is_active_at_the_start_wakes_nobody() -> None:
    """It has to be seen inactive after the first second."""
    rig = Rig()
    rig.pins.level = True
    rig.run(900)
    rig.pins.level = False
    rig.run(30)
    rig.pins.level = True
    rig.run(3000)
    assert _wakes(rig) == []

    rig.pins.level = False
    rig.run(100)
    _press(rig)
    assert len(_wakes(rig)) == 1


def test_a_press_in_the_first_second_is_ignored() -> None:
    """Floating pins make phantom wakes while the board comes up."""
    rig = Rig()
    rig.run(500)
    _press(rig)
    rig.run(2000)

    assert _wakes(rig) == []
    _press(rig)
    assert len(_wakes(rig)) == 1


def test_wake_cfg_turns_the_line_round(rig: Rig) -> None:
    """Active low, 50 ms, two seconds between; it has to rest once first."""
    answer = rig.request(dx1.WAKE_CFG, struct.pack("<HBH", 50, 1, 2000))
    assert answer.kind == dx1.ACK
    rig.run(1000)
    assert _wakes(rig) == []
    rig.pins.level = True
    rig.run(100)
    assert _wakes(rig) == []

    rig.pins.level = False
    rig.run(49)
    assert _wakes(rig) == []
    rig.run(1)
    (wake,) = _wakes(rig)
    _ack(rig, wake)
    for level in (True, False):
        rig.pins.level = level
        rig.run(100)
    assert _wakes(rig) == []


def test_a_wake_without_a_host_is_heard_by_the_one_that_comes(rig: Rig) -> None:
    """Within ten seconds; the host judges its age by the uptime in PING."""
    rig.run(5000)
    _press(rig)
    rig.run(4000)
    rig.sent()
    rig.hello()
    rig.run(250)

    wake = _wakes(rig)[-1]
    told_at = struct.unpack("<I", wake.payload[4:8])[0]
    uptime = struct.unpack("<I", rig.request(dx1.PING).payload[1:5])[0]
    assert 4000 <= uptime - told_at <= 4500
