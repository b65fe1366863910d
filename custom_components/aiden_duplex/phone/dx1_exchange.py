"""Requests and their answers: numbers, order, repetitions, ends. Knows no session."""

from collections import deque
from collections.abc import Callable

from .dx1 import DELIMITER, MAX_SEQ, Flag, Frame, FrameType, encode
from .dx1_events import End, Outcome
from .dx1_messages import DoneMessage, DoneResult
from .dx1_requests import (
    ACK_TIMEOUT_S,
    BUSY_WAIT_S,
    DAMAGED_WAIT_S,
    DONE_MARGIN_S,
    DONE_RETRY_S,
    HELLO_INTERVAL_S,
    MAX_QUEUED,
    NO_TICKET,
    PING_INTERVAL_S,
    RETRIES,
    SAFE_SEQ_DISTANCE,
    STOPPED_DONE_S,
    Request,
)


class Exchange:
    """What was sent, what waits to be sent, and what came of it.

    One request waits for its answer at a time; a stop may overtake it. Besides, one that
    was accepted may be playing: it ends with its DONE.

    Args:
        on_end: Called once with each request that ended.

    """

    def __init__(self, on_end: Callable[[Request, Outcome], None]) -> None:
        """Start with nothing to send."""
        self._on_end = on_end
        self._output = bytearray()
        self._queue: deque[Request] = deque()
        self._waiting: dict[int, Request] = {}
        self._playing: Request | None = None
        self._seq = 0
        self._sent_at = 0.0
        self.late_answers = 0
        """Answers to nothing that waits: late, repeated or foreign. Ignored."""

    @property
    def is_full(self) -> bool:
        """Return whether no more requests may wait to be sent."""
        return len(self._queue) >= MAX_QUEUED

    def is_idle(self, now: float) -> bool:
        """Return whether it is time to show the board that this host lives."""
        return not self._waiting and now >= self._sent_at + PING_INTERVAL_S

    def next_due(self) -> float:
        """Return when something is to be done next."""
        due = [request.due for request in self._waiting.values()]
        if self._playing is not None:
            due.append(self._playing.due)
        if not self._waiting:
            due.append(self._sent_at + PING_INTERVAL_S)
        return min(due)

    def overdue(self, now: float) -> tuple[Request, ...]:
        """Return the requests whose answer, or next attempt, is due."""
        return tuple(
            request for request in self._waiting.values() if now >= request.due
        )

    # Sending.

    def delimit(self) -> None:
        """End whatever the board took for the beginning of a frame."""
        self._output += DELIMITER

    def take_output(self) -> bytes:
        """Return the bytes to be written, in one piece."""
        data = bytes(self._output)
        self._output.clear()
        return data

    def enqueue(self, request: Request, *, first: bool = False) -> None:
        """Let a request wait until it may go."""
        if first:
            self._queue.appendleft(request)
        else:
            self._queue.append(request)

    def pump(self, now: float) -> None:
        """Send the next request that waits, if it may go."""
        while self._queue and not self._waiting:
            if self._queue[0].plan_s is not None and self._playing is not None:
                return
            self.send(self._queue.popleft(), now)

    def send(self, request: Request, now: float) -> None:
        """Give a request its number and send it at once; a HELLO has the number 0."""
        if request.type is not FrameType.HELLO:
            request.seq = self._next_seq()
        self._waiting[request.seq] = request
        self.transmit(request, now)

    def transmit(self, request: Request, now: float) -> None:
        """Send a request, for the first time or again."""
        flags = Flag.RETRY if request.sends else Flag.NONE
        request.sends += 1
        wait_s = HELLO_INTERVAL_S if request.type is FrameType.HELLO else ACK_TIMEOUT_S
        request.due = now + wait_s
        self._write(request.type, request.seq, request.payload, now, flags)

    def tell(self, kind: FrameType, payload: bytes, now: float) -> None:
        """Send what gets no answer."""
        self._write(kind, self._next_seq(), payload, now)

    def repeat(self, request: Request, now: float) -> bool:
        """Repeat a request that got no answer; return False if that is of no use."""
        if request.may_repeat and request.sends > RETRIES:
            return False
        if request.may_repeat:
            self.transmit(request, now)
        else:
            self.end(request, Outcome(end=End.UNKNOWN))
        return True

    def ask_for_done(self, now: float) -> None:
        """Repeat a request whose DONE is overdue: the board then says it again."""
        request = self._playing
        if request is None or now < request.due:
            return
        distance = (self._seq - request.seq) % MAX_SEQ
        if (
            not request.may_repeat
            or request.asks >= RETRIES
            or distance > SAFE_SEQ_DISTANCE
        ):
            self.end(request, Outcome(end=End.UNKNOWN))
        elif self._waiting:
            request.due = now + BUSY_WAIT_S
        else:
            request.asks += 1
            self.transmit(request, now)
            request.due = now + DONE_RETRY_S

    def give_up(self, now: float) -> None:
        """Send nothing more of what waits; repeat no act that was sent."""
        for unsent in tuple(self._queue):
            if unsent.ticket != NO_TICKET:
                self._queue.remove(unsent)
                self._on_end(unsent, Outcome(end=End.NOT_SENT))
        for waiting in self._waiting.values():
            waiting.may_repeat = waiting.may_repeat and waiting.plan_s is None
        if self._playing is not None:
            self._playing.due = min(self._playing.due, now + STOPPED_DONE_S)

    # Answers.

    def take_acked(self, seq: int) -> Request | None:
        """Return the request that an ACK answers; it waits no longer."""
        request = self.answered(seq)
        if request is not None:
            del self._waiting[seq]
        return request

    def answered(self, seq: int) -> Request | None:
        """Return the request that an answer is about; None if it is about nothing.

        A repeated acceptance of what plays is no late answer.
        """
        request = self._waiting.get(seq)
        if request is None and (self._playing is None or seq != self._playing.seq):
            self.late_answers += 1
        return request

    def accepted(self, request: Request, now: float) -> None:
        """Take that the board plays a request; its DONE will tell the end."""
        request.due = now + (request.plan_s or 0.0) + DONE_MARGIN_S
        self._playing = request

    def damaged(self, now: float) -> None:
        """Take that the board could not read a frame: repeat soon."""
        for request in self._waiting.values():
            request.due = min(request.due, now + DAMAGED_WAIT_S)

    def postpone(self, request: Request, now: float) -> bool:
        """Repeat a request after a while, if it may be; return whether."""
        if not request.may_repeat or request.sends > RETRIES:
            return False
        request.due = now + BUSY_WAIT_S
        return True

    def done(self, done: DoneMessage) -> None:
        """Take the end of what the board played; it may overtake its lost ACK."""
        request = self._playing
        if request is None or request.seq != done.seq:
            request = self._waiting.get(done.seq)
        if request is None or request.plan_s is None:
            self.late_answers += 1
            return
        match done.result:
            case DoneResult.OK | DoneResult.SUSPENDED:
                end = End.DONE
            case DoneResult.ABORTED:
                end = End.STOPPED
            case _:
                end = End.UNKNOWN
        self.end(request, Outcome(end=end, code=done.result, index=done.index))

    # Ends.

    def end(self, request: Request, outcome: Outcome) -> None:
        """End a request."""
        if self._playing is request:
            self._playing = None
        if self._waiting.get(request.seq) is request:
            del self._waiting[request.seq]
        self._on_end(request, outcome)

    def end_all(self) -> None:
        """End everything: what was sent may or may not have been carried out."""
        requests = [*self._waiting.values(), *self._queue]
        if self._playing is not None:
            requests.append(self._playing)
        self._waiting.clear()
        self._queue.clear()
        self._playing = None
        self._output.clear()
        for request in requests:
            end = End.UNKNOWN if request.sends else End.NOT_SENT
            self._on_end(request, Outcome(end=end))

    def _write(
        self,
        kind: FrameType,
        seq: int,
        payload: bytes,
        now: float,
        flags: Flag = Flag.NONE,
    ) -> None:
        """Put a frame on the wire."""
        self._sent_at = now
        self._output += encode(Frame(type=kind, seq=seq, payload=payload, flags=flags))

    def _next_seq(self) -> int:
        """Return the next number: 1 to 65535, then 1."""
        self._seq = self._seq % MAX_SEQ + 1
        return self._seq
