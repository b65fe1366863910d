"""The host's side of DX1: bytes, requests and the time in; bytes, events and ends out.

One request waits for its answer at a time; a stop may overtake it. A request is repeated,
under its own number, only after silence or a damaged or busy answer; across a session or
a restart of the board never: its end is then *unknown*.
"""

from collections import deque
from enum import Enum, auto
import logging

from . import dx1_messages as messages
from .dx1 import DELIMITER, MAX_SEQ, Flag, Frame, FrameType, Receiver, encode
from .dx1_events import (
    BoardLog,
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
from .dx1_messages import BoardCaps, DoneResult, Nack
from .dx1_requests import (
    ACK_TIMEOUT_S,
    BUSY_WAIT_S,
    DAMAGED_WAIT_S,
    DONE_MARGIN_S,
    DONE_RETRY_S,
    HELLO_DEADLINE_S,
    HELLO_INTERVAL_S,
    MAX_QUEUED,
    NO_TICKET,
    PING_INTERVAL_S,
    RETRIES,
    SAFE_SEQ_DISTANCE,
    STOPPED_DONE_S,
    WAKE_MAX_AGE_S,
    Request,
)

_LOGGER = logging.getLogger(__name__)


class _State(Enum):
    """How far the session is."""

    CLOSED = auto()
    GREETING = auto()
    PREPARING = auto()
    """Asking what the board is; then, if it is the right one, releasing everything."""
    READY = auto()


class Dx1Client:
    """One host's conversation with one board.

    Call :meth:`opened` when the port is open and :meth:`closed` when it is gone; give it
    what was received, call :meth:`tick` at :meth:`next_deadline`; after each call send
    :meth:`take_output` and handle :meth:`take_events`.
    """

    def __init__(self, *, session: int, board_id: str | None = None) -> None:
        """Start closed.

        Args:
            session: Random, 1 to 2**32 - 1, one per run of this host.
            board_id: Talk to this board only; None for whichever answers.

        """
        self._session = session
        self._board_id = board_id
        self._state = _State.CLOSED
        self._receiver = Receiver()
        self._output = bytearray()
        self._events: list[Dx1Event] = []
        self._queue: deque[Request] = deque()
        self._waiting: dict[int, Request] = {}
        self._playing: Request | None = None
        self._seq = 0
        self._ticket = NO_TICKET
        self._opened_at = 0.0
        self._sent_at = 0.0
        self._was_busy = False
        self._caps: BoardCaps | None = None
        self._boot_id: int | None = None
        self._rebooted = False
        self._last_wake: tuple[int, int] | None = None
        self._uptime: tuple[int, float] = (0, 0.0)
        self._link: tuple[int, int] = (messages.Usb.NONE, messages.Profile.NONE)
        self.late_answers = 0
        """Answers to nothing that waits: late, repeated or foreign. Ignored."""

    @property
    def is_ready(self) -> bool:
        """Return whether requests can be sent."""
        return self._state is _State.READY

    @property
    def receiver(self) -> Receiver:
        """Return the receiver, for its counters."""
        return self._receiver

    # The owner's side.

    def opened(self, now: float) -> None:
        """Begin a session over a fresh port."""
        self._receiver.reset()
        self._output += DELIMITER
        self._greet(now)

    def closed(self) -> None:
        """Take note that the port is gone."""
        if self._state is not _State.CLOSED:
            self._lose(LossReason.PORT)

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes as they came."""
        if self._state is _State.CLOSED:
            return
        for frame in self._receiver.feed(data):
            self._handle(frame, now)
        self._pump(now)

    def tick(self, now: float) -> None:
        """Do what is due."""
        if self._state is _State.CLOSED:
            return
        for request in tuple(self._waiting.values()):
            if now >= request.due and self._waiting.get(request.seq) is request:
                self._not_answered(request, now)
        playing = self._playing
        if playing is not None and now >= playing.due:
            self._ask_for_done(playing, now)
        idle = not self._waiting and now >= self._sent_at + PING_INTERVAL_S
        if self._state is _State.READY and idle:
            self._queue.appendleft(Request(type=FrameType.PING))
        self._pump(now)

    def next_deadline(self) -> float | None:
        """Return when :meth:`tick` has something to do; None while closed."""
        if self._state is _State.CLOSED:
            return None
        due = [request.due for request in self._waiting.values()]
        if self._playing is not None:
            due.append(self._playing.due)
        if not self._waiting:
            due.append(self._sent_at + PING_INTERVAL_S)
        return min(due)

    def submit(
        self,
        kind: FrameType,
        payload: bytes,
        now: float,
        *,
        plan_s: float | None = None,
    ) -> int:
        """Send a request as soon as it may go; return its ticket.

        With ``plan_s``, the time that the board plays it in seconds, the request ends with
        its DONE, otherwise with its ACK. Every ticket gets exactly one ``Finished``.
        """
        request = self._new_request(kind, payload, plan_s=plan_s)
        if self._state is not _State.READY or len(self._queue) >= MAX_QUEUED:
            self._finish(request, Outcome(end=End.NOT_SENT))
        else:
            self._queue.append(request)
            self._pump(now)
        return request.ticket

    def stop(self, now: float, *, at_once: bool = False) -> int:
        """End what the board plays and release everything; return the ticket.

        The board ends at a safe point (between two strokes; a gesture finishes if at most
        500 ms remain), or ``at_once``. What was not sent yet never is; what was sent is
        not repeated.
        """
        for unsent in tuple(self._queue):
            if unsent.ticket != NO_TICKET:
                self._queue.remove(unsent)
                self._finish(unsent, Outcome(end=End.NOT_SENT))
        for waiting in self._waiting.values():
            waiting.may_repeat = waiting.may_repeat and waiting.plan_s is None
        if self._playing is not None:
            self._playing.due = min(self._playing.due, now + STOPPED_DONE_S)
        kind = FrameType.RELEASE_ALL if at_once else FrameType.ABORT
        request = self._new_request(kind, b"")
        if self._state is _State.READY:
            self._send_new(request, now)
        else:
            self._finish(request, Outcome(end=End.NOT_SENT))
        return request.ticket

    def take_output(self) -> bytes:
        """Return the bytes to be written, in one piece."""
        data = bytes(self._output)
        self._output.clear()
        return data

    def take_events(self) -> list[Dx1Event]:
        """Return what happened."""
        events, self._events = self._events, []
        return events

    # Session.

    def _greet(self, now: float) -> None:
        """Say HELLO."""
        self._state = _State.GREETING
        self._opened_at = now
        self._was_busy = False
        request = Request(type=FrameType.HELLO, payload=messages.hello(self._session))
        self._waiting[0] = request
        self._transmit(request, now)

    def _greeted(self) -> None:
        """Go on after the board's answer to HELLO."""
        self._state = _State.PREPARING
        self._queue.append(Request(type=FrameType.GET_CAPS))

    def _prepared(self, caps: BoardCaps) -> None:
        """Open the session for requests."""
        self._state = _State.READY
        self._events.append(
            Ready(
                caps=caps,
                usb=self._link[0],
                uptime_ms=self._uptime[0],
                rebooted=self._rebooted,
            )
        )

    def _lose(self, reason: LossReason, *, board_id: str | None = None) -> None:
        """End the session; nothing of it is ever repeated."""
        self._state = _State.CLOSED
        requests = [*self._waiting.values(), *self._queue]
        if self._playing is not None:
            requests.append(self._playing)
        self._waiting.clear()
        self._queue.clear()
        self._playing = None
        self._output.clear()
        for request in requests:
            end = End.UNKNOWN if request.sends else End.NOT_SENT
            self._finish(request, Outcome(end=end))
        self._events.append(Lost(reason=reason, board_id=board_id))

    # Sending.

    def _new_request(
        self, kind: FrameType, payload: bytes, *, plan_s: float | None = None
    ) -> Request:
        """Return a request with the next ticket."""
        self._ticket += 1
        return Request(type=kind, payload=payload, ticket=self._ticket, plan_s=plan_s)

    def _pump(self, now: float) -> None:
        """Send the next queued request, if it may go."""
        while self._queue and not self._waiting:
            if self._queue[0].plan_s is not None and self._playing is not None:
                return
            self._send_new(self._queue.popleft(), now)

    def _send_new(self, request: Request, now: float) -> None:
        """Give a request its number and send it."""
        request.seq = self._next_seq()
        self._waiting[request.seq] = request
        self._transmit(request, now)

    def _transmit(self, request: Request, now: float) -> None:
        """Send a request, for the first time or again."""
        flags = Flag.RETRY if request.sends else Flag.NONE
        request.sends += 1
        wait_s = HELLO_INTERVAL_S if request.type is FrameType.HELLO else ACK_TIMEOUT_S
        request.due = now + wait_s
        self._write(
            Frame(
                type=request.type, seq=request.seq, payload=request.payload, flags=flags
            ),
            now,
        )

    def _write(self, frame: Frame, now: float) -> None:
        """Put a frame on the wire."""
        self._sent_at = now
        self._output += encode(frame)

    def _next_seq(self) -> int:
        """Return the next number: 1 to 65535, then 1."""
        self._seq = self._seq % MAX_SEQ + 1
        return self._seq

    # Silence.

    def _not_answered(self, request: Request, now: float) -> None:
        """Repeat a request that got no answer, or give up."""
        if request.type is FrameType.HELLO:
            self._greet_again(request, now)
        elif not request.may_repeat:
            del self._waiting[request.seq]
            self._finish(request, Outcome(end=End.UNKNOWN))
        elif request.sends > RETRIES:
            self._lose(LossReason.SILENT)
        else:
            self._transmit(request, now)

    def _greet_again(self, request: Request, now: float) -> None:
        """Say HELLO again, until its deadline."""
        if now < self._opened_at + HELLO_DEADLINE_S:
            self._transmit(request, now)
        elif self._was_busy:
            self._lose(LossReason.BUSY)
        elif self._receiver.other_version is not None:
            self._lose(LossReason.WRONG_VERSION)
        else:
            self._lose(LossReason.NO_ANSWER)

    def _ask_for_done(self, request: Request, now: float) -> None:
        """Repeat a request whose DONE is missing: the board then says it again."""
        distance = (self._seq - request.seq) % MAX_SEQ
        if (
            not request.may_repeat
            or request.asks >= RETRIES
            or distance > SAFE_SEQ_DISTANCE
        ):
            self._playing = None
            self._finish(request, Outcome(end=End.UNKNOWN))
            return
        if self._waiting:
            request.due = now + BUSY_WAIT_S
            return
        request.asks += 1
        self._transmit(request, now)
        request.due = now + DONE_RETRY_S

    # Receiving.

    def _handle(self, frame: Frame, now: float) -> None:
        """Take one good frame."""
        if self._state is _State.CLOSED:
            return
        match frame.type:
            case FrameType.ACK:
                self._acked(frame, now)
            case FrameType.NACK:
                self._nacked(frame, now)
            case FrameType.DONE:
                self._done(frame)
            case FrameType.WAKE:
                self._woken(frame, now)
            case FrameType.LINK if len(frame.payload) >= 2:
                self._note_link(frame.payload[0], frame.payload[1])
            case FrameType.FORCED_RELEASE if frame.payload:
                self._events.append(Released(reason=frame.payload[0]))
            case FrameType.LOG if frame.payload:
                text = frame.payload[1:].decode("ascii", "replace")
                self._events.append(BoardLog(level=frame.payload[0], text=text))
            case _:
                _LOGGER.debug("Frame of unknown type %#04x ignored", frame.type)

    def _acked(self, frame: Frame, now: float) -> None:
        """Take an ACK: status and data."""
        request = self._waiting.pop(frame.seq, None)
        if request is None:
            self._late(frame)
            return
        data = frame.payload[1:]
        match request.type:
            case FrameType.HELLO:
                self._greeted()
            case FrameType.PING:
                self._ponged(data, now)
                self._finish(request, Outcome(end=End.DONE, data=data))
            case FrameType.GET_CAPS if request.ticket == NO_TICKET:
                self._learned(data)
            case _ if request.plan_s is not None:
                request.due = now + request.plan_s + DONE_MARGIN_S
                self._playing = request
            case _:
                self._finish(request, Outcome(end=End.DONE, data=data))

    def _late(self, frame: Frame) -> None:
        """Ignore an answer to nothing that waits, except a repeated acceptance."""
        if self._playing is None or frame.seq != self._playing.seq:
            self.late_answers += 1

    def _nacked(self, frame: Frame, now: float) -> None:
        """Take a NACK: code and detail."""
        code = frame.payload[0] if frame.payload else Nack.UNKNOWN_TYPE
        if code == Nack.BAD_FRAME and frame.seq == 0:
            for damaged in self._waiting.values():
                damaged.due = min(damaged.due, now + DAMAGED_WAIT_S)
            return
        request = self._waiting.get(frame.seq)
        if request is None:
            self._late(frame)
            return
        match code:
            case Nack.BUSY if request.type is FrameType.HELLO:
                self._was_busy = True
            case Nack.BUSY if request.may_repeat and request.sends <= RETRIES:
                request.due = now + BUSY_WAIT_S
            case Nack.PROTO_VERSION:
                self._lose(LossReason.WRONG_VERSION)
            case Nack.SESSION_EXPIRED:
                self._session_expired(request, now)
            case _:
                self._refused(request, code, frame.payload[1:])

    def _refused(self, request: Request, code: int, detail: bytes) -> None:
        """End a request that the board does not carry out."""
        if request.type is FrameType.HELLO:
            return
        del self._waiting[request.seq]
        if request.ticket == NO_TICKET and self._state is _State.PREPARING:
            self._lose(LossReason.NO_ANSWER)
        else:
            self._finish(request, Outcome(end=End.REFUSED, code=code, data=detail))

    def _session_expired(self, request: Request, now: float) -> None:
        """Begin a session anew over the same port.

        A request that was sent once and refused had no effect; one that was repeated may
        have been carried out before the board forgot it.
        """
        if self._state is _State.PREPARING:
            self._lose(LossReason.SILENT)
            return
        if request.sends == 1:
            del self._waiting[request.seq]
            self._finish(request, Outcome(end=End.NOT_SENT))
        self._lose(LossReason.SESSION)
        self._greet(now)

    def _ponged(self, data: bytes, now: float) -> None:
        """Take what an answered PING says."""
        reply = messages.parse_ping(data)
        if reply is not None:
            self._uptime = (reply.uptime_ms, now)
            self._note_link(reply.usb, self._link[1])
        if self._state is _State.PREPARING and self._caps is not None:
            self._prepared(self._caps)

    def _learned(self, data: bytes) -> None:
        """Take what the board says it is; have nothing more to do with another one."""
        caps = messages.parse_caps(data)
        if caps is None:
            self._lose(LossReason.NO_ANSWER)
            return
        if self._board_id not in (None, caps.board_id):
            self._lose(LossReason.OTHER_BOARD, board_id=caps.board_id)
            return
        self._caps = caps
        self._rebooted = self._boot_id not in (None, caps.boot_id)
        self._boot_id = caps.boot_id
        self._link = (self._link[0], caps.profile)
        for kind in (FrameType.RELEASE_ALL, FrameType.PING):
            self._queue.append(Request(type=kind))

    def _note_link(self, usb: int, profile: int) -> None:
        """Tell of the phone's side, if it changed."""
        if (usb, profile) == self._link:
            return
        self._link = (usb, profile)
        if self._state is _State.READY:
            self._events.append(LinkChanged(usb=usb, profile=profile))

    def _done(self, frame: Frame) -> None:
        """Take the end of what the board played."""
        done = messages.parse_done(frame.payload)
        if done is None:
            return
        request = self._playing
        if request is not None and request.seq == done.seq:
            self._playing = None
        else:
            request = self._waiting.get(done.seq)
            if request is None or request.plan_s is None:
                self.late_answers += 1
                return
            del self._waiting[done.seq]
        match done.result:
            case DoneResult.OK | DoneResult.SUSPENDED:
                end = End.DONE
            case DoneResult.ABORTED:
                end = End.STOPPED
            case _:
                end = End.UNKNOWN
        self._finish(request, Outcome(end=end, code=done.result, index=done.index))

    def _woken(self, frame: Frame, now: float) -> None:
        """Acknowledge a wake and tell of it once, unless it is too old."""
        wake = messages.parse_wake(frame.payload)
        if wake is None or self._state is not _State.READY or self._boot_id is None:
            return
        self._write(
            Frame(
                type=FrameType.EVENT_ACK,
                seq=self._next_seq(),
                payload=messages.event_ack(frame.seq),
            ),
            now,
        )
        key = (self._boot_id, wake.counter)
        if key == self._last_wake:
            return
        self._last_wake = key
        uptime_ms, at = self._uptime
        age_ms = (uptime_ms + int((now - at) * 1000) - wake.t_ms) % 2**32
        if WAKE_MAX_AGE_S * 1000 < age_ms < 2**31:
            _LOGGER.debug("A wake of %d ms ago came too late", age_ms)
            return
        self._events.append(Woken(counter=wake.counter, source=wake.source))

    def _finish(self, request: Request, outcome: Outcome) -> None:
        """Tell the owner that a request ended."""
        if request.ticket != NO_TICKET:
            self._events.append(Finished(ticket=request.ticket, outcome=outcome))
