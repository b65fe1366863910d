"""The board: one turn of the main loop at a time.

``uart``: ``read()`` gives the bytes that are there or None, ``write(data)``.
``hid``: ``send(report_id, report)`` (may raise OSError), ``usb_state()`` gives 0 none,
1 mounted, 2 suspended, ``leds()``, ``set_profile(profile)`` (keeps it and re-enumerates).
``clock``: ``ms()``. ``pins``: ``wake_level()``, ``identify(on)``.
None of them may block for longer than a report takes.
"""

import struct

from . import VERSION, caps, dx1, frames, profiles, timing
from .dx1 import Refused
from .hands import Hands
from .outbox import Outbox
from .session import Session
from .wake import SOURCE_GPIO, Wake

IDENTIFY_MS = 2000
PROFILE_DELAY_MS = 60
"""The answer leaves and three rounds of releases are sent before the board turns over."""
BAD_FRAMES_PER_S = 10
"""More are counted but not answered: noise must not fill the line."""

_OK = bytes((dx1.STATUS_OK,))
_FROM_BOARD = (
    dx1.WAKE,
    dx1.LINK,
    dx1.LOG,
    dx1.FORCED_RELEASE,
    dx1.DONE,
    dx1.ACK,
    dx1.NACK,
)


class Board:
    """DX1 in, HID reports out."""

    def __init__(
        self,
        uart,
        hid,
        clock,
        pins,
        *,
        board_id: bytes,
        boot_id: int,
        firmware: str = "aiden-bridge " + VERSION,
        profile: int = profiles.ANDROID_TOUCH,
        wake_source: int = SOURCE_GPIO,
    ) -> None:
        """Start: no session, nothing held.

        ``board_id`` is the chip's id, ``boot_id`` another number at every start,
        ``profile`` the one that USB has enumerated.
        """
        self._uart = uart
        self._hid = hid
        self._pins = pins
        self._board_id = board_id
        self._boot_id = boot_id
        self._firmware = firmware
        self._uptime = timing.Uptime(clock)
        self._receiver = frames.Receiver()
        self._outbox = Outbox(uart)
        self._session = Session()
        self._wake = Wake(wake_source)
        self._hands = Hands(hid, self._emit)
        self._hands.profile = profile
        self._bad_frames = timing.RateLimit(BAD_FRAMES_PER_S)
        self._usb = hid.usb_state()
        self._leds = hid.leds()
        self._hands.usb_changed(self._usb, 0)
        self._usb_resets = 0
        self._usb_errors = 0
        self._next_profile = profile
        self._profile_at: int | None = None
        self._identify_until: int | None = None
        self._handlers = self._table()
        self._opened = False

    def poll(self) -> None:
        """Do one turn: never waits."""
        now = self._uptime.read()
        if not self._opened:
            self._opened = True
            self._outbox.open()
            # A board that started again, but not its USB side, may have left keys down.
            self._hands.let_go(now)
        self._look_at_usb(now)
        self._read(now)
        if self._session.lost(now):
            self._hands.link_lost(now)
        self._hands.advance(now)
        self._tell_usb_errors(now)
        self._turn_over(now)
        self._look_at_pins(now)
        if self._session.live:
            self._outbox.flush()

    def next_deadline_ms(self) -> int | None:
        """Say when ``poll`` has to run again even without input, on the clock given.

        On a clock that wraps, compare by difference. None: not before something happens
        (bytes, the wake line, USB).
        """
        due = timing.earliest(
            (
                self._session.deadline(),
                self._hands.deadline(),
                self._wake.deadline(),
                self._profile_at,
                self._identify_until,
            )
        )
        return None if due is None else self._uptime.on_clock(due)

    def _table(self):
        """Give per type: what answers it, and the length of its payload if it is fixed."""
        hands = self._hands
        return {
            dx1.PING: (self._ping, 0),
            dx1.GET_CAPS: (self._get_caps, 0),
            dx1.SET_PROFILE: (self._set_profile, 1),
            dx1.IDENTIFY: (self._identify, 0),
            dx1.WAKE_CFG: (self._wake_cfg, 5),
            dx1.EVENT_ACK: (self._event_ack, 2),
            dx1.TOUCH: (hands.touch, 6),
            dx1.POINTER: (hands.pointer, None),
            dx1.KEYS: (hands.keys, 8),
            dx1.CONSUMER: (hands.consumer, None),
            dx1.KEY_TAP: (hands.key_tap, 4),
            dx1.TEXT: (hands.text, None),
            dx1.GESTURE: (hands.gesture, None),
            dx1.ABORT: (hands.abort, 0),
        }

    # Input.

    def _read(self, now: int) -> None:
        data = self._uart.read()
        if not data:
            return
        for frame in self._receiver.feed(data):
            if frame is None:
                if self._bad_frames.take(now):
                    self._outbox.nack(0, dx1.BAD_FRAME)
            elif frame.kind not in _FROM_BOARD:
                self._handle(frame, now)

    def _handle(self, frame, now: int) -> None:
        try:
            payload = self._answer(frame, now)
        except Refused as refused:
            if frame.kind != dx1.HELLO:
                self._session.heard(now)
            self._outbox.nack(frame.seq, refused.code, refused.detail)
            return
        self._session.heard(now)
        if frame.kind != dx1.PING or not frame.flags & dx1.FLAG_NO_ACK:
            self._outbox.ack(frame.seq, payload)

    def _answer(self, frame, now: int) -> bytes:
        """Do what the frame asks, once; give the payload of the ACK or raise Refused."""
        if frame.version != dx1.PROTOCOL:
            raise Refused(dx1.PROTO_VERSION, bytes((dx1.PROTOCOL, dx1.PROTOCOL)))
        if frame.flags & dx1.FLAG_AUTHENTICATED:
            raise Refused(dx1.NOT_AUTHENTICATED)
        if frame.kind == dx1.HELLO:
            return self._hello(frame.payload, now)
        if frame.kind == dx1.RELEASE_ALL:
            return self._hands.release_all(frame.payload, now, frame.seq)
        repeated = self._session.repeated(frame)
        if repeated is not None:
            if repeated.done:
                self._outbox.event(dx1.DONE, repeated.done)
            return repeated.payload
        entry = self._handlers.get(frame.kind)
        if entry is None:
            raise Refused(dx1.UNKNOWN_TYPE)
        handler, length = entry
        if length is not None and len(frame.payload) != length:
            raise Refused(dx1.BAD_PAYLOAD)
        payload: bytes = handler(frame.payload, now, frame.seq)
        self._session.remember(frame, payload)
        return payload

    # Requests about the board itself. Each gives the payload of its ACK.

    def _hello(self, payload: bytes, now: int) -> bytes:
        """HELLO: ``session u32, proto_min u8, proto_max u8``.

        ACK data: ``proto u8, boot_id u32, resumed u8``.
        """
        if len(payload) != 6:
            raise Refused(dx1.BAD_PAYLOAD)
        session_id, lowest, highest = struct.unpack("<IBB", payload)
        if not lowest <= dx1.PROTOCOL <= highest:
            raise Refused(dx1.PROTO_VERSION, bytes((dx1.PROTOCOL, dx1.PROTOCOL)))
        new = self._session.open(session_id, now)
        if new:
            self._hands.stop(dx1.DONE_ABORTED, now)
            self._outbox.drop(dx1.DONE)
        self._tell_link()
        boot_id = self._boot_id & 0xFFFFFFFF
        return _OK + struct.pack("<BIB", dx1.PROTOCOL, boot_id, 0 if new else 1)

    def _ping(self, payload: bytes, now: int, seq: int) -> bytes:
        """PING. ACK data: ``uptime_ms u32, usb u8, held u8, rx_err u16``."""
        errors = caps.capped(self._receiver.errors)
        values = (now & 0xFFFFFFFF, self._usb, self._hands.held, errors)
        return _OK + struct.pack("<IBBH", *values)

    def _get_caps(self, payload: bytes, now: int, seq: int) -> bytes:
        receiver = self._receiver
        counters = (
            receiver.crc_errors,
            receiver.cobs_errors,
            receiver.length_errors,
            receiver.oversize,
            self._hands.state.usb_errors,
            self._usb_resets,
            self._hands.forced_releases,
            self._wake.counter,
        )
        who = (self._firmware, self._board_id, self._boot_id, self._hands.profile)
        return _OK + caps.build(*who, counters)

    def _set_profile(self, payload: bytes, now: int, seq: int) -> bytes:
        """SET_PROFILE: ``profile u8``. The phone sees another device 60 ms later."""
        profile = payload[0]
        if profile not in profiles.KNOWN:
            raise Refused(dx1.OUT_OF_RANGE)
        if profile not in profiles.SUPPORTED:
            raise Refused(dx1.UNSUPPORTED)
        if profile == self._next_profile:
            self._tell_link()
            return _OK
        self._hands.let_go(now)
        self._hands.closing = True
        self._next_profile = profile
        self._profile_at = now + PROFILE_DELAY_MS
        return _OK

    def _identify(self, payload: bytes, now: int, seq: int) -> bytes:
        self._pins.identify(True)
        self._identify_until = now + IDENTIFY_MS
        return _OK

    def _wake_cfg(self, payload: bytes, now: int, seq: int) -> bytes:
        self._wake.configure(payload)
        return _OK

    def _event_ack(self, payload: bytes, now: int, seq: int) -> bytes:
        """EVENT_ACK: ``event seq u16``. Only a WAKE waits for it."""
        self._wake.acknowledged(struct.unpack("<H", payload)[0])
        return _OK

    # What happens by itself.

    def _look_at_usb(self, now: int) -> None:
        usb = self._hid.usb_state()
        leds = self._hid.leds()
        if usb == self._usb and leds == self._leds:
            return
        if usb != self._usb:
            if usb == dx1.USB_NONE:
                self._usb_resets += 1
            self._usb = usb
            self._hands.usb_changed(usb, now)
        self._leds = leds
        self._tell_link()

    def _turn_over(self, now: int) -> None:
        """Become another HID device, when that is due."""
        if self._profile_at is None or now < self._profile_at:
            return
        self._profile_at = None
        self._hands.forget()
        self._hands.profile = self._next_profile
        self._hands.closing = False
        self._hid.set_profile(self._next_profile)
        self._tell_link()

    def _look_at_pins(self, now: int) -> None:
        if self._identify_until is not None and now >= self._identify_until:
            self._identify_until = None
            self._pins.identify(False)
        if self._wake.look(self._pins.wake_level(), now):
            self._wake.tell(self._outbox.next_seq(), now)
        seq = self._wake.seq
        if seq is not None and self._wake.due(now):
            self._outbox.send(dx1.WAKE, self._wake.flags(), seq, self._wake.payload)

    # Events.

    def _emit(self, kind: int, payload: bytes) -> None:
        if kind == dx1.DONE:
            self._session.finished(struct.unpack("<H", payload[:2])[0], payload)
        self._outbox.event(kind, payload)

    def _tell_usb_errors(self, now: int) -> None:
        errors = self._hands.state.usb_errors
        if errors != self._usb_errors:
            self._usb_errors = errors
            self._outbox.log(dx1.LOG_WARNING, "USB did not take a report", now)

    def _tell_link(self) -> None:
        values = (self._usb, self._hands.profile, self._leds & 0xFF)
        self._outbox.event(dx1.LINK, bytes(values))
