"""Sessions: who is heard, what is done once, what is never done again."""

import struct
import zlib

from hypothesis import given, settings, strategies as st
import pytest

from hardware_bridge.firmware.aiden_bridge import cobs, dx1, frames
from tests.examples import examples

from .rig import SESSION, Rig, gesture, touch, touched

TAP = gesture([(0, 1, 100, 200), (60, 0, 100, 200)])
OTHER = 0x0BADCAFE


def _nack(frame: frames.Frame) -> int:
    assert frame.kind == dx1.NACK
    return frame.payload[0]


def test_hello_opens_a_session_and_names_the_boot() -> None:
    """Protocol 1, the boot's number, a new session; then the state of the link."""
    rig = Rig()

    answer = rig.hello()

    assert (answer.kind, answer.seq) == (dx1.ACK, 0)
    assert answer.payload == struct.pack("<BBIB", 0, 1, 0x0B00714D, 0)
    assert rig.events() == [(dx1.LINK, "010100")]
    assert rig.hello().payload[-1] == 1


@pytest.mark.parametrize(("lowest", "highest"), [(2, 3), (0, 0), (2, 1)])
def test_hello_without_a_common_version_is_refused(lowest: int, highest: int) -> None:
    """NACK 0A with the versions that the board speaks."""
    rig = Rig()

    answer = rig.request(
        dx1.HELLO, struct.pack("<IBB", SESSION, lowest, highest), seq=0
    )

    assert (answer.kind, answer.payload) == (dx1.NACK, b"\x0a\x01\x01")
    assert _nack(rig.request(dx1.PING)) == dx1.SESSION_EXPIRED


def test_a_frame_of_another_version_is_refused() -> None:
    """Its CRC holds, so its seq is answered."""
    rig = Rig()
    rig.hello()
    body = struct.pack("<BBBH", 2, dx1.PING, 0, 9)
    rig.sent()

    rig.feed(cobs.encode(body + struct.pack("<I", zlib.crc32(body))) + b"\x00")

    answers = [frame for frame in rig.sent() if frame.kind == dx1.NACK]
    assert [(frame.seq, frame.payload) for frame in answers] == [(9, b"\x0a\x01\x01")]


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (dx1.PING, b""),
        (dx1.GET_CAPS, b""),
        (dx1.TOUCH, touch(3, 1, 1)),
        (dx1.GESTURE, TAP),
    ],
)
def test_nothing_is_done_without_a_session(kind: int, payload: bytes) -> None:
    """A host that missed the board's restart finds out at its next request."""
    rig = Rig()

    assert _nack(rig.request(kind, payload)) == dx1.SESSION_EXPIRED
    rig.run(1000)
    assert rig.reports() == []


def test_release_all_needs_no_session() -> None:
    """Whoever speaks DX1 may let go."""
    rig = Rig()

    assert rig.request(dx1.RELEASE_ALL).kind == dx1.ACK
    assert {report[1] for report in rig.reports()} == {1, 2, 4}


def test_a_second_host_waits_until_the_first_is_silent_for_two_seconds() -> None:
    """And it cannot keep the first one's session alive by asking."""
    rig = Rig()
    rig.hello()
    for _ in range(3):
        rig.run(500)
        assert _nack(rig.hello(OTHER)) == dx1.BUSY
    assert rig.request(dx1.PING).payload[0] == dx1.SESSION_EXPIRED

    rig.run(499)
    assert _nack(rig.hello(OTHER)) == dx1.BUSY
    rig.run(1)
    assert rig.hello(OTHER).payload[-1] == 0


def test_the_same_host_comes_back_at_once() -> None:
    """A HELLO whose answer was lost is repeated with the same session."""
    rig = Rig()
    rig.hello()

    assert rig.hello().kind == dx1.ACK
    assert rig.request(dx1.PING).kind == dx1.ACK


def test_silence_ends_the_session_until_the_next_hello() -> None:
    """A host that stalled must not go on dragging where it stopped."""
    rig = Rig()
    rig.hello()
    rig.run(1499)
    assert rig.request(dx1.PING).kind == dx1.ACK
    rig.run(1500)

    assert _nack(rig.request(dx1.TOUCH, touch(3, 5, 5))) == dx1.SESSION_EXPIRED
    assert rig.hello().payload[-1] == 1
    assert rig.request(dx1.TOUCH, touch(3, 5, 5)).kind == dx1.ACK


def test_a_repeated_request_is_answered_and_not_done_again() -> None:
    """The ACK was lost: same seq, retry flag."""
    rig = Rig()
    rig.hello()
    first = rig.request(dx1.GESTURE, TAP, seq=5)
    again = rig.request(dx1.GESTURE, TAP, seq=5, flags=dx1.FLAG_RETRY)
    rig.run(200)

    assert (
        (again.kind, again.payload) == (first.kind, first.payload) == (dx1.ACK, b"\x01")
    )
    assert rig.reports() == [
        (0, *touched(3, 100, 200, 0)),
        (60, *touched(0, 100, 200, 0)),
    ]


def test_a_host_that_missed_done_hears_it_with_the_repeated_answer() -> None:
    """DONE is sent once by itself; asking again brings it again."""
    rig = Rig()
    rig.hello()
    rig.request(dx1.GESTURE, TAP, seq=5)
    rig.run(60)
    assert (dx1.DONE, "05000002") in rig.events()

    rig.request(dx1.GESTURE, TAP, seq=5, flags=dx1.FLAG_RETRY)

    assert rig.events() == [(dx1.DONE, "05000002")]
    rig.run(500)
    assert len(rig.reports()) == 2


def test_the_retry_of_a_lost_request_is_its_first_arrival() -> None:
    """The flag says nothing about whether the board has seen it."""
    rig = Rig()
    rig.hello()

    answer = rig.request(dx1.TOUCH, touch(3, 7, 7), seq=9, flags=dx1.FLAG_RETRY)

    assert answer.kind == dx1.ACK
    assert len(rig.reports()) == 1


def test_the_last_16_answers_are_kept() -> None:
    """The seventeenth back is refused rather than done twice."""
    rig = Rig()
    rig.hello()
    for seq in range(1, 18):
        rig.request(dx1.TOUCH, touch(3, seq, seq), seq=seq)
    assert len(rig.reports()) == 17

    assert rig.request(dx1.TOUCH, touch(3, 2, 2), seq=2).kind == dx1.ACK
    assert _nack(rig.request(dx1.TOUCH, touch(3, 1, 1), seq=1)) == dx1.OUT_OF_RANGE
    assert rig.reports() == []


def test_a_late_first_arrival_does_not_push_out_a_younger_answer() -> None:
    """Seq 5 came after 16; when 21 is the newest, 6 is still known."""
    rig = Rig()
    rig.hello()
    order = [*range(1, 5), *range(6, 17), 5, *range(17, 22)]
    for seq in order:
        rig.request(dx1.TOUCH, touch(3, seq, seq), seq=seq)
    assert len(rig.reports()) == 21

    for seq in range(6, 22):
        assert rig.request(dx1.TOUCH, touch(3, seq, seq), seq=seq).kind == dx1.ACK
    assert rig.reports() == []


def test_a_new_session_starts_its_own_seqs() -> None:
    """Seq 1 of another session is another request."""
    rig = Rig()
    rig.hello()
    rig.request(dx1.TOUCH, touch(3, 1, 1), seq=1)
    rig.run(2000)
    rig.reports()
    rig.hello(OTHER)

    assert rig.request(dx1.TOUCH, touch(3, 1, 1), seq=1).kind == dx1.ACK
    assert len(rig.reports()) == 1


def test_another_request_under_an_old_seq_is_refused() -> None:
    """Answering it with the old answer would say that it was done."""
    rig = Rig()
    rig.hello()
    rig.request(dx1.TOUCH, touch(3, 1, 1), seq=4)

    assert _nack(rig.request(dx1.TOUCH, touch(3, 2, 2), seq=4)) == dx1.BAD_PAYLOAD
    assert len(rig.reports()) == 1


def test_a_refused_request_may_be_tried_again_under_its_seq() -> None:
    """NACK 05 means: nothing was done, come back."""
    rig = Rig()
    rig.hello()
    rig.request(dx1.GESTURE, TAP, seq=1)
    assert _nack(rig.request(dx1.GESTURE, TAP, seq=2)) == dx1.BUSY
    rig.run(60)

    answer = rig.request(dx1.GESTURE, TAP, seq=2, flags=dx1.FLAG_RETRY)

    assert (answer.kind, answer.payload) == (dx1.ACK, b"\x01")


def test_seq_goes_round_from_65535_to_1() -> None:
    """And 0 belongs to HELLO."""
    rig = Rig()
    rig.hello()
    for seq in (65534, 65535, 1, 2):
        assert rig.request(dx1.TOUCH, touch(3, seq % 100, 1), seq=seq).kind == dx1.ACK
    assert rig.request(dx1.TOUCH, touch(3, 65535 % 100, 1), seq=65535).kind == dx1.ACK
    assert len(rig.reports()) == 4

    assert _nack(rig.request(dx1.TOUCH, touch(3, 1, 1), seq=0)) == dx1.BAD_PAYLOAD


def test_after_a_restart_nothing_is_replayed() -> None:
    """Request, crash, retry: the boot id differs and the request is refused."""
    rig = Rig()
    before = rig.hello().payload
    rig.request(dx1.GESTURE, TAP, seq=1)
    rig.boot(0x0B00714E)

    retried = rig.request(dx1.GESTURE, TAP, seq=1, flags=dx1.FLAG_RETRY)
    rig.run(1000)

    assert _nack(retried) == dx1.SESSION_EXPIRED
    touches = [report for report in rig.reports() if report[1] == 4]
    assert touches[0] == (0, *touched(3, 100, 200, 0))
    assert touches[1:] == [(at, *touched(0, 0, 0, 0)) for at in (0, 15, 30)]
    assert rig.hid.down == {}
    assert rig.hello().payload[2:6] != before[2:6]


def test_a_new_session_breaks_off_what_the_old_one_left_playing() -> None:
    """The new host must not hear the old host's DONE, nor meet its finger."""
    rig = Rig()
    rig.hello()
    long = gesture([(0, 1, 1, 1), (3400, 1, 2, 2), (0, 0, 2, 2)])
    rig.request(dx1.GESTURE, long, seq=1)
    rig.run(2000)
    rig.events()
    rig.reports()

    assert rig.hello(OTHER).kind == dx1.ACK
    rig.run(1000)

    assert rig.hid.down == {}
    assert [kind for kind, _ in rig.events()] == [dx1.LINK]


def test_unknown_types_are_refused_and_the_boards_own_are_ignored() -> None:
    """A port whose ends are joined must not talk with itself."""
    rig = Rig()
    rig.hello()
    rig.sent()
    assert _nack(rig.request(0x2A)) == dx1.UNKNOWN_TYPE

    for kind in (dx1.WAKE, dx1.LINK, dx1.LOG, dx1.DONE, dx1.ACK, dx1.NACK):
        rig.feed(frames.encode(kind, 0, 3, b"\x01"))

    assert rig.sent() == []


def test_an_authenticated_frame_is_refused_by_name() -> None:
    """This firmware has no key; the tag must not be taken for payload."""
    rig = Rig()
    rig.hello()

    answer = rig.request(dx1.PING, bytes(8), flags=dx1.FLAG_AUTHENTICATED)

    assert _nack(answer) == dx1.NOT_AUTHENTICATED


def test_bad_frames_are_answered_ten_times_a_second_at_most() -> None:
    """Noise must not fill the line back to the host; all of it is counted."""
    rig = Rig()
    rig.hello()
    rig.sent()

    for _ in range(30):
        rig.feed(b"\x05\x11\x22\x00")

    answers = [frame for frame in rig.sent() if frame.kind == dx1.NACK]
    assert [(frame.seq, frame.payload) for frame in answers] == [(0, b"\x01")] * 10
    assert rig.request(dx1.PING).payload[-2:] == struct.pack("<H", 30)


@given(st.data())
@settings(max_examples=examples(50), deadline=None)
def test_repeated_and_damaged_traffic_taps_once_for_each_seq(
    data: st.DataObject,
) -> None:
    """Whatever is doubled or lost on the way, no tap comes twice and none out of order."""
    rig = Rig()
    rig.hello()
    done: list[int] = []
    for seq in range(1, 9):
        wire = frames.encode(dx1.TOUCH, 0, seq, touch(3, seq, seq))
        for _ in range(data.draw(st.integers(1, 3))):
            copy = wire
            if data.draw(st.booleans()):
                at = data.draw(st.integers(0, len(wire) - 2))
                copy = wire[:at] + bytes((wire[at] ^ 0x10,)) + wire[at + 1 :]
            before = len(rig.hid.reports)
            rig.feed(copy + b"\x00")
            if len(rig.hid.reports) > before:
                done.append(seq)

    assert done == sorted(set(done))
    assert [report[2] for report in rig.reports()] == [
        touched(3, seq, seq)[1] for seq in done
    ]
