"""The wake line: a button, a touch sensor or the output of a wake word chip.

One event per activation, told again every 250 ms until the host has it, for 10 s at most.
A newer one takes the place of an older one that is still being told: its counter shows it.
"""

import struct

from . import dx1, timing

IGNORE_MS = 1000
"""After the board started: floating pins make phantom wakes."""
RESEND_MS = 250
GIVE_UP_MS = 10000
MAX_DEBOUNCE_MS = 1000

SOURCE_BUTTON = 0
SOURCE_TOUCH = 1
SOURCE_WAKE_WORD = 2
SOURCE_GPIO = 3


class Wake:
    """The level of the line in, activations out."""

    def __init__(self, source: int = SOURCE_GPIO) -> None:
        """Start deaf: the line has to be seen inactive once."""
        self._source = source
        self._debounce_ms = 20
        self._active_low = False
        self._min_interval_ms = 500
        self.counter = 0
        self._ready = False
        self._active = True
        self._change_at: int | None = None
        self._last_at: int | None = None
        self.seq: int | None = None
        self.payload = b""
        self._told = 0
        self._send_at = 0
        self._give_up_at = 0

    def configure(self, payload: bytes) -> None:
        """Take WAKE_CFG: ``debounce_ms u16, active_low u8, min_interval_ms u16``."""
        debounce_ms, active_low, min_interval_ms = struct.unpack("<HBH", payload)
        if active_low > 1:
            raise dx1.Refused(dx1.BAD_PAYLOAD)
        if debounce_ms > MAX_DEBOUNCE_MS:
            raise dx1.Refused(dx1.OUT_OF_RANGE)
        self._debounce_ms = debounce_ms
        self._active_low = active_low == 1
        self._min_interval_ms = min_interval_ms
        self._active = True
        self._change_at = None

    def look(self, level: bool, now: int) -> bool:
        """Take the level of the line; say whether this is an activation."""
        if now < IGNORE_MS:
            return False
        self._ready = True
        active = bool(level) != self._active_low
        if active == self._active:
            self._change_at = None
            return False
        if self._change_at is None:
            self._change_at = now + self._debounce_ms
        if now < self._change_at:
            return False
        self._active = active
        self._change_at = None
        return active and self._accept(now)

    def tell(self, seq: int, now: int) -> None:
        """Begin to tell the host of the activation under an event's seq."""
        self.seq = seq
        values = (self.counter, now & 0xFFFFFFFF, self._source, 1)
        self.payload = struct.pack("<IIBB", *values)
        self._told = 0
        self._send_at = now
        self._give_up_at = now + GIVE_UP_MS

    def due(self, now: int) -> bool:
        """Say whether the event is to be sent now; it is planned again."""
        if self.seq is None:
            return False
        if now >= self._give_up_at:
            self.seq = None
            return False
        if now < self._send_at:
            return False
        self._send_at = now + RESEND_MS
        self._told += 1
        return True

    def flags(self) -> int:
        """Give the flags of the frame that is due."""
        return dx1.FLAG_RETRY if self._told > 1 else 0

    def acknowledged(self, seq: int) -> None:
        """Stop telling, if this is the event."""
        if seq == self.seq:
            self.seq = None

    def deadline(self) -> int | None:
        """When the line or the host has to be looked at again."""
        due = [self._change_at, None if self._ready else IGNORE_MS]
        if self.seq is not None:
            due += [self._send_at, self._give_up_at]
        return timing.earliest(due)

    def _accept(self, now: int) -> bool:
        last = self._last_at
        if last is not None and now - last < self._min_interval_ms:
            return False
        self._last_at = now
        self.counter = (self.counter + 1) & 0xFFFFFFFF
        return True
