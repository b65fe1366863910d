"""Who is heard: one host at a time, the order of its requests, its last 16 answers."""

from . import dx1
from .dx1 import Refused
from .frames import Frame

LINK_LOSS_MS = 1500
"""Without a valid frame."""
OWNED_MS = 2000
"""A session is not taken from a host that was heard this recently."""
REMEMBERED = 16
_CYCLE = 65535


class Answer:
    """What a request was answered, to answer its repetition without doing it again."""

    def __init__(self, frame: Frame, payload: bytes) -> None:
        """Keep the ACK's payload; ``done`` is the payload of the DONE that followed."""
        self.seq = frame.seq
        self.digest = frame.digest()
        self.payload = payload
        self.done = b""


class Session:
    """The one session of the board."""

    def __init__(self) -> None:
        """Start without one."""
        self.id: int | None = None
        self.live = False
        self._heard_at = 0
        self._newest: int | None = None
        self._answers: list[Answer] = []

    def open(self, session_id: int, now: int) -> bool:
        """Take a HELLO; say whether the session is a new one.

        Raises:
            Refused: ``busy``, another host was heard less than 2 s ago.

        """
        new = session_id != self.id
        if new and self.id is not None and now - self._heard_at < OWNED_MS:
            raise Refused(dx1.BUSY)
        if new:
            self.id = session_id
            self._newest = None
            self._answers = []
        self.live = True
        self._heard_at = now
        return new

    def heard(self, now: int) -> None:
        """Take note of a valid frame of the session."""
        if self.live:
            self._heard_at = now

    def lost(self, now: int) -> bool:
        """Say once that the host has gone silent; only a HELLO opens the session again."""
        if not self.live or now - self._heard_at < LINK_LOSS_MS:
            return False
        self.live = False
        return True

    def deadline(self) -> int | None:
        """When silence becomes loss."""
        return self._heard_at + LINK_LOSS_MS if self.live else None

    def repeated(self, frame: Frame) -> Answer | None:
        """Give the answer if this request was done before; else take its seq as seen.

        Raises:
            Refused: No session, seq 0, a seq of another request, or one that is long past.

        """
        if not self.live:
            raise Refused(dx1.SESSION_EXPIRED)
        if frame.seq == 0:
            raise Refused(dx1.BAD_PAYLOAD)
        for answer in self._answers:
            if answer.seq == frame.seq:
                if answer.digest != frame.digest():
                    raise Refused(dx1.BAD_PAYLOAD)
                return answer
        self._see(frame.seq)
        return None

    def remember(self, frame: Frame, payload: bytes) -> None:
        """Keep an ACK. A NACK is not kept: nothing was done, a repetition may succeed."""
        self._answers.append(Answer(frame, payload))
        self._answers = [one for one in self._answers if not self._is_past(one.seq)]

    def finished(self, seq: int, done: bytes) -> None:
        """Keep the DONE of a request, for a host that repeats it because the DONE was lost."""
        for answer in self._answers:
            if answer.seq == seq:
                answer.done = done

    def _see(self, seq: int) -> None:
        if self._newest is None:
            self._newest = seq
            return
        if 0 < (seq - self._newest) % _CYCLE <= _CYCLE // 2:
            self._newest = seq
        elif self._is_past(seq):
            raise Refused(dx1.OUT_OF_RANGE)

    def _is_past(self, seq: int) -> bool:
        """Say whether a seq is further back than the answers that are kept."""
        newest = self._newest
        return newest is not None and (newest - seq) % _CYCLE >= REMEMBERED
