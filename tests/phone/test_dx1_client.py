"""The host's side of DX1 against a scripted board and a clock made of numbers."""

from collections.abc import Iterable
import struct

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.aiden_duplex.phone.dx1 import Frame, FrameType, Receiver, encode
from custom_components.aiden_duplex.phone.dx1_client import Dx1Client
from custom_components.aiden_duplex.phone.dx1_events import (
    Dx1Event,
    End,
    Finished,
    LinkChanged,
    LossReason,
    Lost,
    Outcome,
    Ready,
    Released,
    Woken,
)
from custom_components.aiden_duplex.phone.dx1_messages import Nack
from tests.examples import examples

SESSION = 0xDEADBEEF


def caps(boot_id: int) -> bytes:
    """Return what GET_CAPS answers, with a tag of the future."""
    values = (
        (0x02, b"test 1"),
        (0x03, bytes.fromhex("e661410403123456")),
        (0x04, struct.pack("<I", boot_id)),
        (0x06, b"\x01"),
        (0x07, struct.pack("<H", 0x33F)),
        (0x08, b"\xe2"),
        (0x09, b"\x20"),
        (0x0A, b"\x63"),
        (0xEE, b"later"),
    )
    return b"".join(bytes((tag, len(value))) + value for tag, value in values)


class Talk:
    """A client, its clock, and the frames it sent that nobody answered yet."""

    def __init__(self, boot_id: int = 7, *, board_id: str | None = None) -> None:
        """Open the port."""
        self.client = Dx1Client(session=SESSION, board_id=board_id)
        self.now = 100.0
        self.boot_id = boot_id
        self.events: list[Dx1Event] = []
        self.heard = Receiver()
        self.client.opened(self.now)

    def frames(self) -> list[Frame]:
        """Return what the client sent since the last call."""
        self.events += self.client.take_events()
        return self.heard.feed(self.client.take_output())

    def types(self) -> list[int]:
        """Return the types of what the client sent."""
        return [frame.type for frame in self.frames()]

    def board(self, kind: FrameType, seq: int, payload: bytes = b"") -> None:
        """Let the board say something."""
        self.client.receive(
            encode(Frame(type=kind, seq=seq, payload=payload)), self.now
        )
        self.events += self.client.take_events()

    def ack(self, seq: int, data: bytes = b"", status: int = 0) -> None:
        """Let the board say yes."""
        self.board(FrameType.ACK, seq, bytes((status,)) + data)

    def nack(self, seq: int, code: int) -> None:
        """Let the board say no."""
        self.board(FrameType.NACK, seq, bytes((code,)))

    def done(self, seq: int, result: int = 0, index: int = 1) -> None:
        """Let the board tell the end of a plan."""
        self.board(FrameType.DONE, 900, struct.pack("<HBB", seq, result, index))

    def ping_data(self, usb: int = 1) -> bytes:
        """Return what PING answers; the board has run since time 0."""
        return struct.pack("<IBBH", int(self.now * 1000), usb, 0, 0)

    def answer_all(self) -> list[int]:
        """Answer as a healthy board until the client is quiet; return what it asked."""
        asked = []
        while frames := self.frames():
            for frame in frames:
                asked.append(frame.type)
                match frame.type:
                    case FrameType.GET_CAPS:
                        self.ack(frame.seq, caps(self.boot_id))
                    case FrameType.PING:
                        self.ack(frame.seq, self.ping_data())
                    case _:
                        self.ack(frame.seq)
        return asked

    def ready(self) -> Talk:
        """Shake hands."""
        self.answer_all()
        assert self.client.is_ready
        return self

    def pass_time(self, seconds: float) -> None:
        """Let time pass, in the steps that the client asks for."""
        end = self.now + seconds
        while (due := self.client.next_deadline()) is not None and due <= end:
            self.now = max(self.now, due)
            self.client.tick(self.now)
        self.now = end
        self.client.tick(end)
        self.events += self.client.take_events()

    def live(self, seconds: float) -> list[Frame]:
        """Let time pass with a healthy board; return the gestures that were sent."""
        gestures = []
        end = self.now + seconds
        while self.now < end:
            self.pass_time(0.05)
            for frame in self.frames():
                if frame.type == FrameType.GESTURE:
                    gestures.append(frame)
                else:
                    self.ack(frame.seq, self.ping_data())
        return gestures

    def gesture(self, plan_s: float = 0.1) -> tuple[int, Frame]:
        """Submit a gesture; return its ticket and frame."""
        ticket = self.client.submit(
            FrameType.GESTURE, b"\x00\x01plan...", self.now, plan_s=plan_s
        )
        (frame,) = self.frames()
        return ticket, frame

    def end_of(self, ticket: int) -> Outcome | None:
        """Return how a request ended; fail if it ended twice."""
        ends = [
            event.outcome
            for event in self.events
            if isinstance(event, Finished) and event.ticket == ticket
        ]
        assert len(ends) <= 1
        return ends[0] if ends else None

    def of_type[T: Dx1Event](self, kind: type[T]) -> list[T]:
        """Return the events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]


def test_a_session_begins_with_everything_released() -> None:
    """HELLO, GET_CAPS, RELEASE_ALL, in this order, each after the other's answer."""
    talk = Talk()
    first = talk.client.take_output()
    assert first.startswith(b"\x00")
    assert talk.heard.feed(first) == [
        Frame(type=FrameType.HELLO, seq=0, payload=struct.pack("<IBB", SESSION, 1, 1))
    ]
    talk.ack(0, struct.pack("<BIB", 1, 7, 0))
    assert talk.types() == [FrameType.GET_CAPS]
    talk.ack(1, caps(7))
    assert talk.types() == [FrameType.RELEASE_ALL]
    talk.ack(2)
    assert talk.types() == [FrameType.PING]
    assert talk.events == []
    talk.ack(3, talk.ping_data(usb=0))
    (ready,) = talk.of_type(Ready)
    assert ready.caps.board_id == "e661410403123456"
    assert ready.caps.firmware == "test 1"
    assert (ready.caps.max_text, ready.usb, ready.rebooted) == (99, 0, False)


def test_another_board_gets_nothing_but_questions() -> None:
    """A swapped port: its phone may be in somebody's hand, so not even a release is sent."""
    talk = Talk(board_id="00" * 8)
    assert talk.answer_all() == [FrameType.HELLO, FrameType.GET_CAPS]
    assert talk.of_type(Lost) == [
        Lost(reason=LossReason.OTHER_BOARD, board_id="e661410403123456")
    ]
    talk.pass_time(10)
    assert talk.frames() == []
    assert talk.of_type(Ready) == []


def test_a_board_that_does_not_say_what_it_is_gets_nothing_more() -> None:
    """Without an identity it might be anybody's."""
    talk = Talk()
    talk.frames()
    talk.ack(0, struct.pack("<BIB", 1, 7, 0))
    (asked,) = talk.frames()
    talk.ack(asked.seq, b"\x02")
    assert talk.frames() == []
    assert talk.of_type(Lost) == [Lost(reason=LossReason.NO_ANSWER)]


def test_nothing_is_sent_before_the_release_is_acknowledged() -> None:
    """An act that comes too early is not sent, and says so."""
    talk = Talk()
    talk.frames()
    ticket = talk.client.submit(FrameType.KEY_TAP, b"1234", talk.now, plan_s=0.1)
    assert talk.frames() == []
    assert talk.end_of(ticket) == Outcome(end=End.NOT_SENT)


def test_an_act_ends_with_its_done() -> None:
    """The ACK alone proves nothing."""
    talk = Talk().ready()
    ticket, frame = talk.gesture()
    talk.ack(frame.seq, status=1)
    assert talk.end_of(ticket) is None
    talk.done(frame.seq, index=3)
    assert talk.end_of(ticket) == Outcome(end=End.DONE, index=3)


def test_a_lost_answer_is_asked_for_again_under_the_same_number() -> None:
    """Three repetitions with the retry bit, then the link is down and the end unknown."""
    talk = Talk().ready()
    ticket, frame = talk.gesture()
    assert frame.flags == 0
    for _ in range(3):
        talk.pass_time(0.25)
        (again,) = talk.frames()
        assert (again.seq, again.flags, again.payload) == (frame.seq, 1, frame.payload)
    assert talk.end_of(ticket) is None
    talk.pass_time(0.25)
    assert talk.end_of(ticket) == Outcome(end=End.UNKNOWN)
    assert talk.of_type(Lost) == [Lost(reason=LossReason.SILENT)]
    assert talk.frames() == []


def test_one_lost_answer_is_no_loss() -> None:
    """The repetition's answer counts."""
    talk = Talk().ready()
    ticket, frame = talk.gesture()
    talk.pass_time(0.25)
    talk.frames()
    talk.ack(frame.seq, status=1)
    talk.done(frame.seq)
    end = talk.end_of(ticket)
    assert end is not None and end.end is End.DONE


def test_late_doubled_and_foreign_answers_are_ignored() -> None:
    """They belong to nothing that waits."""
    talk = Talk().ready()
    ticket, frame = talk.gesture()
    talk.ack(frame.seq - 1)
    talk.ack(frame.seq + 1000)
    talk.done(frame.seq + 1000)
    assert talk.end_of(ticket) is None
    talk.ack(frame.seq, status=1)
    talk.ack(frame.seq, status=1)
    talk.done(frame.seq)
    talk.done(frame.seq)
    end = talk.end_of(ticket)
    assert end is not None and end.end is End.DONE
    assert talk.client.late_answers == 4


def test_a_done_that_overtakes_its_lost_ack_counts() -> None:
    """The board would not play what it had not accepted."""
    talk = Talk().ready()
    ticket, frame = talk.gesture()
    talk.done(frame.seq)
    assert talk.end_of(ticket) == Outcome(end=End.DONE, index=1)
    talk.pass_time(0.3)
    assert FrameType.GESTURE not in talk.types()


@pytest.mark.parametrize(
    ("code", "repeats"),
    [
        (Nack.BUSY, 3),
        (Nack.UNSUPPORTED, 0),
        (Nack.OUT_OF_RANGE, 0),
        (Nack.RATE_LIMITED, 0),
        (Nack.USB_NOT_READY, 0),
        (0xEE, 0),
    ],
)
def test_only_busy_is_worth_a_repetition(code: int, repeats: int) -> None:
    """Every other refusal is final, and had no effect."""
    talk = Talk().ready()
    ticket, frame = talk.gesture()
    for _ in range(repeats):
        talk.nack(frame.seq, code)
        assert talk.end_of(ticket) is None
        talk.pass_time(0.1)
        (again,) = talk.frames()
        assert (again.seq, again.flags) == (frame.seq, 1)
    talk.nack(frame.seq, code)
    assert talk.end_of(ticket) == Outcome(end=End.REFUSED, code=code)


def test_a_burst_of_damaged_frames_costs_one_repetition() -> None:
    """A damaged frame names no request; several may come for one burst of noise."""
    talk = Talk().ready()
    ticket, frame = talk.gesture()
    for _ in range(5):
        talk.nack(0, Nack.BAD_FRAME)
    talk.pass_time(0.02)
    (again,) = talk.frames()
    assert (again.seq, again.flags) == (frame.seq, 1)
    talk.ack(frame.seq, status=1)
    talk.done(frame.seq)
    end = talk.end_of(ticket)
    assert end is not None and end.end is End.DONE


def test_a_lost_done_is_asked_for_and_then_told_again() -> None:
    """The repetition of an accepted act brings its DONE, not the act, again."""
    talk = Talk().ready()
    ticket, frame = talk.gesture(plan_s=0.1)
    talk.ack(frame.seq, status=1)
    (again,) = talk.live(1.3)
    assert (again.seq, again.flags) == (frame.seq, 1)
    talk.ack(frame.seq, status=1)
    talk.done(frame.seq)
    end = talk.end_of(ticket)
    assert end is not None and end.end is End.DONE


def test_a_done_that_never_comes_leaves_the_end_unknown() -> None:
    """After a second of grace and three questions, with a healthy link."""
    talk = Talk().ready()
    ticket, frame = talk.gesture(plan_s=0.1)
    talk.ack(frame.seq, status=1)
    assert len(talk.live(2.3)) == 3
    assert talk.end_of(ticket) == Outcome(end=End.UNKNOWN)
    assert talk.client.is_ready


def test_an_old_act_is_never_repeated_past_the_boards_memory() -> None:
    """The board remembers 16 answers; after that a repetition could be a second act."""
    talk = Talk().ready()
    ticket, frame = talk.gesture(plan_s=9.0)
    talk.ack(frame.seq, status=1)
    assert talk.live(12.0) == []
    assert talk.end_of(ticket) == Outcome(end=End.UNKNOWN)


def test_the_link_is_kept_alive_and_its_death_noticed() -> None:
    """PING every 500 ms; silence is loss within two seconds."""
    talk = Talk().ready()
    for _ in range(4):
        talk.pass_time(0.5)
        assert talk.answer_all() == [FrameType.PING]
    lost_from = talk.now
    while not talk.of_type(Lost) and talk.now < lost_from + 10:
        talk.pass_time(0.05)
    assert talk.of_type(Lost) == [Lost(reason=LossReason.SILENT)]
    assert 1.0 <= talk.now - lost_from <= 2.0
    assert talk.client.next_deadline() is None


def test_a_stalled_host_does_not_take_its_own_delay_for_silence() -> None:
    """Answers that lie ready count, however late the timer comes."""
    talk = Talk().ready()
    talk.pass_time(0.5)
    (ping,) = talk.frames()
    talk.now += 5.0
    talk.ack(ping.seq, talk.ping_data())
    talk.client.tick(talk.now)
    assert talk.of_type(Lost) == []


def test_only_one_request_waits_at_a_time() -> None:
    """The next goes out after the answer to the one before."""
    talk = Talk().ready()
    one = talk.client.submit(FrameType.IDENTIFY, b"", talk.now)
    two = talk.client.submit(FrameType.IDENTIFY, b"", talk.now)
    (first,) = talk.frames()
    talk.ack(first.seq)
    (second,) = talk.frames()
    assert talk.end_of(one) == Outcome(end=End.DONE)
    assert talk.end_of(two) is None
    talk.nack(second.seq, Nack.UNKNOWN_TYPE)
    assert talk.end_of(two) == Outcome(end=End.REFUSED, code=Nack.UNKNOWN_TYPE)


def test_a_second_act_waits_for_the_first_ones_end() -> None:
    """Two plans never reach the board together."""
    talk = Talk().ready()
    _, frame = talk.gesture()
    talk.client.submit(FrameType.KEY_TAP, b"1234", talk.now, plan_s=0.1)
    talk.ack(frame.seq, status=1)
    assert talk.frames() == []
    talk.done(frame.seq)
    assert talk.types() == [FrameType.KEY_TAP]


def test_a_stop_overtakes_what_waits() -> None:
    """It does not wait for an answer that may be lost, and what waited is not sent."""
    talk = Talk().ready()
    running, frame = talk.gesture()
    queued = talk.client.submit(FrameType.KEY_TAP, b"1234", talk.now, plan_s=0.1)
    stop = talk.client.stop(talk.now)
    (abort,) = talk.frames()
    assert abort.type == FrameType.ABORT
    assert talk.end_of(queued) == Outcome(end=End.NOT_SENT)
    talk.ack(abort.seq)
    assert talk.end_of(stop) == Outcome(end=End.DONE)
    talk.ack(frame.seq, status=1)
    talk.done(frame.seq, result=1, index=2)
    assert talk.end_of(running) == Outcome(end=End.STOPPED, code=1, index=2)


def test_a_stopped_act_whose_answer_was_lost_is_not_repeated() -> None:
    """A repetition after the stop would start it anew."""
    talk = Talk().ready()
    running, _ = talk.gesture()
    talk.client.stop(talk.now, at_once=True)
    (release,) = talk.frames()
    assert release.type == FrameType.RELEASE_ALL
    talk.ack(release.seq)
    talk.pass_time(0.25)
    assert FrameType.GESTURE not in talk.types()
    assert talk.end_of(running) == Outcome(end=End.UNKNOWN)
    assert talk.client.is_ready


def test_the_done_of_a_stopped_act_is_asked_for_soon() -> None:
    """Not only when the act would have ended by itself."""
    talk = Talk().ready()
    running, frame = talk.gesture(plan_s=9.0)
    talk.ack(frame.seq, status=1)
    talk.client.stop(talk.now)
    (again,) = talk.live(0.9)
    assert (again.seq, again.flags) == (frame.seq, 1)
    talk.done(frame.seq, result=1)
    end = talk.end_of(running)
    assert end is not None and end.end is End.STOPPED


def test_a_broken_port_leaves_a_sent_act_unknown_and_an_unsent_one_unsent() -> None:
    """And the next session repeats neither."""
    talk = Talk().ready()
    sent, frame = talk.gesture()
    talk.ack(frame.seq, status=1)
    queued = talk.client.submit(FrameType.TEXT, b"..", talk.now, plan_s=1.0)
    talk.client.closed()
    talk.frames()
    assert talk.end_of(sent) == Outcome(end=End.UNKNOWN)
    assert talk.end_of(queued) == Outcome(end=End.NOT_SENT)
    assert talk.of_type(Lost) == [Lost(reason=LossReason.PORT)]
    talk.client.opened(talk.now)
    assert talk.answer_all() == [
        FrameType.HELLO,
        FrameType.GET_CAPS,
        FrameType.RELEASE_ALL,
        FrameType.PING,
    ]
    assert [ready.rebooted for ready in talk.of_type(Ready)] == [False, False]


def test_a_board_that_restarted_during_an_act_leaves_its_end_unknown() -> None:
    """Same port, new boot id: session anew, nothing repeated."""
    talk = Talk().ready()
    ticket, frame = talk.gesture(plan_s=5.0)
    talk.ack(frame.seq, status=1)
    talk.boot_id = 8
    talk.pass_time(0.5)
    (ping,) = talk.frames()
    talk.nack(ping.seq, Nack.SESSION_EXPIRED)
    assert talk.end_of(ticket) == Outcome(end=End.UNKNOWN)
    assert talk.of_type(Lost) == [Lost(reason=LossReason.SESSION)]
    assert not Lost(reason=LossReason.SESSION).port_useless
    assert talk.answer_all()[0] == FrameType.HELLO
    assert [ready.rebooted for ready in talk.of_type(Ready)] == [False, True]


def test_an_expired_session_is_no_effect_for_a_request_sent_once() -> None:
    """The board refused it; only a repeated one could have been carried out before."""
    talk = Talk().ready()
    once, frame = talk.gesture()
    talk.nack(frame.seq, Nack.SESSION_EXPIRED)
    assert talk.end_of(once) == Outcome(end=End.NOT_SENT)
    talk.answer_all()
    twice, frame = talk.gesture()
    talk.pass_time(0.25)
    talk.frames()
    talk.nack(frame.seq, Nack.SESSION_EXPIRED)
    assert talk.end_of(twice) == Outcome(end=End.UNKNOWN)


def test_a_board_that_boots_slowly_is_waited_for() -> None:
    """HELLO is said again for five seconds, then the port is given up."""
    talk = Talk()
    talk.pass_time(4.0)
    assert {frame.type for frame in talk.frames()} == {FrameType.HELLO}
    talk.answer_all()
    talk.ack(0)
    talk.answer_all()
    assert talk.client.is_ready

    silent = Talk()
    silent.pass_time(6.0)
    assert silent.of_type(Lost) == [Lost(reason=LossReason.NO_ANSWER)]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (Nack.BUSY, LossReason.BUSY),
        (Nack.PROTO_VERSION, LossReason.WRONG_VERSION),
    ],
)
def test_a_board_that_refuses_the_greeting_says_why(
    code: Nack, reason: LossReason
) -> None:
    """So that a person learns what to do."""
    talk = Talk()
    for _ in range(14):
        for _frame in talk.frames():
            talk.nack(0, code)
        talk.pass_time(0.5)
    assert talk.of_type(Lost) == [Lost(reason=reason)]


def test_the_phone_leaving_is_told_by_event_and_by_ping() -> None:
    """Either may be lost."""
    talk = Talk().ready()
    talk.board(FrameType.LINK, 1, bytes((0, 1, 0)))
    assert talk.of_type(LinkChanged) == [LinkChanged(usb=0, profile=1)]
    talk.pass_time(0.5)
    (ping,) = talk.frames()
    talk.ack(ping.seq, talk.ping_data(usb=1))
    assert talk.of_type(LinkChanged)[1:] == [LinkChanged(usb=1, profile=1)]


def wake(talk: Talk, counter: int, *, age_s: float = 0.0) -> None:
    """Let the board tell of an activation."""
    t_ms = int((talk.now - age_s) * 1000)
    talk.board(FrameType.WAKE, counter + 50, struct.pack("<IIBB", counter, t_ms, 0, 1))


def test_a_repeated_wake_is_acknowledged_each_time_and_told_once() -> None:
    """The board repeats until it hears the acknowledgement."""
    talk = Talk().ready()
    for _ in range(3):
        wake(talk, 1)
        (ack,) = talk.frames()
        assert (ack.type, ack.payload) == (FrameType.EVENT_ACK, b"\x33\x00")
    wake(talk, 2)
    assert talk.of_type(Woken) == [
        Woken(counter=1, source=0),
        Woken(counter=2, source=0),
    ]


def test_the_same_counter_after_a_restart_is_another_wake() -> None:
    """The board counts from its start."""
    talk = Talk().ready()
    wake(talk, 1)
    talk.client.closed()
    talk.boot_id = 8
    talk.client.opened(talk.now)
    talk.ready()
    wake(talk, 1)
    assert len(talk.of_type(Woken)) == 2


def test_a_wake_of_long_ago_is_dropped() -> None:
    """Nobody wants to be answered half a minute later."""
    talk = Talk().ready()
    wake(talk, 1, age_s=5.5)
    assert [frame.type for frame in talk.frames()] == [FrameType.EVENT_ACK]
    assert talk.of_type(Woken) == []


def test_a_release_by_the_board_is_told() -> None:
    """It means that an act may have been cut short."""
    talk = Talk().ready()
    talk.board(FrameType.FORCED_RELEASE, 1, b"\x02")
    assert talk.of_type(Released) == [Released(reason=2)]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=40),
            st.builds(
                lambda kind, seq, payload: encode(
                    Frame(type=kind, seq=seq, payload=payload)
                ),
                st.integers(0, 255),
                st.integers(0, 12),
                st.binary(max_size=12),
            ),
            st.floats(0.01, 2.0),
            st.sampled_from(("act", "stop", "close", "open")),
        ),
        max_size=40,
    )
)
def test_whatever_the_board_says_every_request_ends_exactly_once(
    steps: Iterable[bytes | float | str],
) -> None:
    """No crash, no request without an end, nothing sent twice without the retry bit."""
    talk = Talk().ready()
    tickets: list[int] = []
    first_sends: set[int] = set()
    for step in steps:
        match step:
            case bytes():
                talk.client.receive(step, talk.now)
            case float():
                talk.pass_time(step)
            case "act":
                tickets.append(
                    talk.client.submit(FrameType.GESTURE, b"..", talk.now, plan_s=0.2)
                )
            case "stop":
                tickets.append(talk.client.stop(talk.now))
            case "close":
                talk.client.closed()
            case "open":
                talk.client.closed()
                talk.client.opened(talk.now)
        for frame in talk.frames():
            if frame.type == FrameType.GESTURE and not frame.flags & 1:
                assert frame.seq not in first_sends
                first_sends.add(frame.seq)
    talk.client.closed()
    talk.frames()
    for ticket in tickets:
        assert talk.end_of(ticket) is not None
