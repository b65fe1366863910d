"""The host's side of DX1: bytes, requests and the time in; bytes, events and ends out.

One request waits for its answer at a time; a stop may overtake it. A request is repeated,
under its own number, only after silence or a damaged or busy answer; across a session or
a restart of the board never: its end is then *unknown*.
"""

from enum import Enum, auto
import logging

from . import dx1_messages as messages
from .dx1 import Frame, FrameType, Receiver
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
from .dx1_exchange import Exchange
from .dx1_messages import BoardCaps, Nack
from .dx1_requests import HELLO_DEADLINE_S, NO_TICKET, WAKE_MAX_AGE_S, Request

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
        self._exchange = Exchange(self._finish)
        self._events: list[Dx1Event] = []
        self._ticket = NO_TICKET
        self._opened_at = 0.0
        self._was_busy = False
        self._caps: BoardCaps | None = None
        self._boot_id: int | None = None
        self._rebooted = False
        self._last_wake: tuple[int, int] | None = None
        self._uptime: tuple[int, float] = (0, 0.0)
        self._link: tuple[int, int] = (messages.Usb.NONE, messages.Profile.NONE)

    @property
    def late_answers(self) -> int:
        """Return how many answers were to nothing that waits; they are ignored."""
        return self._exchange.late_answers

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
        self._exchange.delimit()
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
        self._exchange.pump(now)

    def tick(self, now: float) -> None:
        """Do what is due."""
        if self._state is _State.CLOSED:
            return
        for request in self._exchange.overdue(now):
            if not self._ask_again(request, now):
                return
        self._exchange.ask_for_done(now)
        if self._state is _State.READY and self._exchange.is_idle(now):
            self._exchange.enqueue(Request(type=FrameType.PING), first=True)
        self._exchange.pump(now)

    def next_deadline(self) -> float | None:
        """Return when :meth:`tick` has something to do; None while closed."""
        return None if self._state is _State.CLOSED else self._exchange.next_due()

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
        if self._state is not _State.READY or self._exchange.is_full:
            self._finish(request, Outcome(end=End.NOT_SENT))
        else:
            self._exchange.enqueue(request)
            self._exchange.pump(now)
        return request.ticket

    def stop(self, now: float, *, at_once: bool = False) -> int:
        """End what the board plays and release everything; return the ticket.

        The board ends at a safe point (between two strokes; a gesture finishes if at most
        500 ms remain), or ``at_once``. What was not sent yet never is; what was sent is
        not repeated.
        """
        self._exchange.give_up(now)
        kind = FrameType.RELEASE_ALL if at_once else FrameType.ABORT
        request = self._new_request(kind, b"")
        if self._state is _State.READY:
            self._exchange.send(request, now)
        else:
            self._finish(request, Outcome(end=End.NOT_SENT))
        return request.ticket

    def take_output(self) -> bytes:
        """Return the bytes to be written, in one piece."""
        return self._exchange.take_output()

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
        self._exchange.send(request, now)

    def _greeted(self) -> None:
        """Go on after the board's answer to HELLO."""
        self._state = _State.PREPARING
        self._exchange.enqueue(Request(type=FrameType.GET_CAPS))

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
        self._exchange.end_all()
        self._events.append(Lost(reason=reason, board_id=board_id))

    def _new_request(
        self, kind: FrameType, payload: bytes, *, plan_s: float | None = None
    ) -> Request:
        """Return a request with the next ticket."""
        self._ticket += 1
        return Request(type=kind, payload=payload, ticket=self._ticket, plan_s=plan_s)

    # Silence.

    def _ask_again(self, request: Request, now: float) -> bool:
        """Repeat a request that got no answer; return whether the session still stands."""
        if request.type is FrameType.HELLO:
            self._greet_again(request, now)
        elif not self._exchange.repeat(request, now):
            self._lose(LossReason.SILENT)
        return self._state is not _State.CLOSED

    def _greet_again(self, request: Request, now: float) -> None:
        """Say HELLO again, until its deadline."""
        if now < self._opened_at + HELLO_DEADLINE_S:
            self._exchange.transmit(request, now)
        elif self._was_busy:
            self._lose(LossReason.BUSY)
        elif self._receiver.other_version is not None:
            self._lose(LossReason.WRONG_VERSION)
        else:
            self._lose(LossReason.NO_ANSWER)

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
        request = self._exchange.take_acked(frame.seq)
        if request is None:
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
                self._exchange.accepted(request, now)
            case _:
                self._finish(request, Outcome(end=End.DONE, data=data))

    def _nacked(self, frame: Frame, now: float) -> None:
        """Take a NACK: code and detail."""
        code = frame.payload[0] if frame.payload else Nack.UNKNOWN_TYPE
        if code == Nack.BAD_FRAME and frame.seq == 0:
            self._exchange.damaged(now)
            return
        request = self._exchange.answered(frame.seq)
        if request is None:
            return
        match code:
            case Nack.BUSY if request.type is FrameType.HELLO:
                self._was_busy = True
            case Nack.BUSY if self._exchange.postpone(request, now):
                pass
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
        self._exchange.end(request, Outcome(end=End.REFUSED, code=code, data=detail))
        if request.ticket == NO_TICKET and self._state is _State.PREPARING:
            self._lose(LossReason.NO_ANSWER)

    def _session_expired(self, request: Request, now: float) -> None:
        """Begin a session anew over the same port.

        A request that was sent once and refused had no effect; one that was repeated may
        have been carried out before the board forgot it.
        """
        if self._state is _State.PREPARING:
            self._lose(LossReason.SILENT)
            return
        if request.sends == 1:
            self._exchange.end(request, Outcome(end=End.NOT_SENT))
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
            self._exchange.enqueue(Request(type=kind))

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
        if done is not None:
            self._exchange.done(done)

    def _woken(self, frame: Frame, now: float) -> None:
        """Acknowledge a wake and tell of it once, unless it is too old."""
        wake = messages.parse_wake(frame.payload)
        if wake is None or self._state is not _State.READY or self._boot_id is None:
            return
        self._exchange.tell(FrameType.EVENT_ACK, messages.event_ack(frame.seq), now)
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
