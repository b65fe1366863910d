"""What presses: the requests that end in HID reports, and when they have to stop."""

import struct

from . import dx1, plans, profiles, timing
from .dx1 import Refused
from .hid_state import HidState
from .playback import Gesture, Tap, Text

FINISH_AFTER_ABORT_MS = 500
FINISH_AFTER_LOSS_MS = 2000
GESTURES_PER_S = 20
KEY_REPORTS_PER_S = 200

_ACCEPTED = bytes((dx1.STATUS_ACCEPTED,))
_OK = bytes((dx1.STATUS_OK,))


class Hands:
    """Holds, plays and lets go. ``emit(kind, payload)`` takes its events."""

    def __init__(self, hid, emit) -> None:
        """Start with empty hands."""
        self.state = HidState(hid)
        self.profile = profiles.NONE
        self.usb = dx1.USB_NONE
        self.closing = False
        self.forced_releases = 0
        self._emit = emit
        self._player: Tap | Text | Gesture | None = None
        self._seq = 0
        self._lease_at = 0
        self._result = dx1.DONE_OK
        self._release_after = 0
        self._release_on_resume = False
        self._gestures = timing.RateLimit(GESTURES_PER_S)
        self._key_reports = timing.RateLimit(KEY_REPORTS_PER_S)

    @property
    def held(self) -> int:
        """What the phone believes is down (``dx1.HELD_*``), and whether a plan plays."""
        return self.state.held | (dx1.PLAYING if self._player else 0)

    # Requests. Each gives the payload of its ACK.

    def touch(self, payload: bytes, now: int, seq: int) -> bytes:
        """TOUCH: ``contact u8, phase u8, x u16, y u16``."""
        contact, phase, x, y = struct.unpack("<BBHH", payload)
        self._check_ready()
        if phase > profiles.TIP | profiles.IN_RANGE:
            raise Refused(dx1.BAD_PAYLOAD)
        plans.check_contact(contact, x, y)
        if self.state.held & dx1.HELD_TOUCH and contact != self.state.contact:
            raise Refused(dx1.UNSUPPORTED)
        self._check_idle()
        if phase & profiles.TIP:
            phase |= profiles.IN_RANGE
        self._now(self.state.touch, (contact, phase, x, y, now + dx1.MAX_HOLD_MS))
        return _OK

    def keys(self, payload: bytes, now: int, seq: int) -> bytes:
        """KEYS: a boot keyboard report of eight bytes."""
        self._check_ready()
        for usage in payload[2:]:
            plans.check_usage(usage)
        self._check_idle()
        self._spend_keys(now, 1)
        report = profiles.keyboard_report(payload[0], payload[2:])
        self._now(self.state.keys, (report, now + dx1.MAX_HOLD_MS))
        return _OK

    def consumer(self, payload: bytes, now: int, seq: int) -> bytes:
        """CONSUMER: ``usage u16`` as a state, or ``usage u16, hold_ms u16`` as a tap."""
        if len(payload) == 4:
            return self._tap(plans.consumer_tap, payload, now, seq)
        if len(payload) != 2:
            raise Refused(dx1.BAD_PAYLOAD)
        usage = struct.unpack("<H", payload)[0]
        self._check_ready()
        if usage > profiles.MAX_CONSUMER_USAGE:
            raise Refused(dx1.OUT_OF_RANGE)
        self._check_idle()
        self._spend_keys(now, 1)
        self._now(self.state.consumer, (usage, now + dx1.MAX_HOLD_MS))
        return _OK

    def pointer(self, payload: bytes, now: int, seq: int) -> bytes:
        """POINTER: no profile that can be set has one."""
        raise Refused(dx1.UNSUPPORTED)

    def key_tap(self, payload: bytes, now: int, seq: int) -> bytes:
        """KEY_TAP: the board times the release."""
        return self._tap(plans.key_tap, payload, now, seq)

    def text(self, payload: bytes, now: int, seq: int) -> bytes:
        """TEXT: the board paces it."""
        self._check_ready()
        plan = plans.text(payload)
        self._check_free(plan.kind)
        self._start(plan, seq, now)
        return _ACCEPTED

    def gesture(self, payload: bytes, now: int, seq: int) -> bytes:
        """GESTURE: the board plays it."""
        self._check_ready()
        plan = plans.gesture(payload)
        self._check_free(plan.kind)
        if not self._gestures.take(now):
            raise Refused(dx1.RATE_LIMITED)
        self._start(plan, seq, now)
        return _ACCEPTED

    def abort(self, payload: bytes, now: int, seq: int) -> bytes:
        """ABORT: end the plan at a safe point, then let go of everything."""
        player = self._player
        if player is None:
            self._release(dx1.HELD_ALL, now)
        else:
            self._release_after = dx1.HELD_ALL
            self._wind_down(player, dx1.DONE_ABORTED, FINISH_AFTER_ABORT_MS, now)
        return _OK

    def release_all(self, payload: bytes, now: int, seq: int) -> bytes:
        """RELEASE_ALL: at once and whatever is going on."""
        self.let_go(now)
        return _OK

    # What happens around them.

    def let_go(self, now: int) -> None:
        """Break the plan off and release everything, held or not."""
        if self._player is None:
            self._release(dx1.HELD_ALL, now)
        else:
            self._release_after = dx1.HELD_ALL
            self.stop(dx1.DONE_ABORTED, now)

    def stop(self, result: int, now: int) -> None:
        """Break the plan off, if one plays, and let go of what it held."""
        player = self._player
        if player is not None:
            self._result = result
            self._release_after |= player.kind
            self._finish(player, now)

    def link_lost(self, now: int) -> None:
        """Let go of what the host held; a plan may finish if it is short."""
        player = self._player
        own = player.kind if player else 0
        forced = self.state.held & ~own
        self._release(forced, now)
        if player is not None and player.remaining(now) > FINISH_AFTER_LOSS_MS:
            self._release_after |= own
            self._wind_down(player, dx1.DONE_LINK_LOST, 0, now)
            forced |= own
        if forced:
            self._forced(dx1.RELEASED_LINK_LOST)

    def usb_changed(self, usb: int, now: int) -> None:
        """Follow the phone's USB: what was held before a reset is held no more."""
        before, self.usb = self.usb, usb
        if usb == dx1.USB_MOUNTED:
            if before == dx1.USB_SUSPENDED and self._release_on_resume:
                self._release(dx1.HELD_ALL, now)
            self._release_on_resume = False
            return
        if before != dx1.USB_MOUNTED and not self._player:
            return
        anything = self.held != 0
        player = self._player
        if player is not None:
            self._result = dx1.DONE_USB_LOST
            self._finish(player, now)
        self.state.forget()
        if anything:
            self._release_on_resume = usb == dx1.USB_SUSPENDED
            self._forced(dx1.RELEASED_USB_RESET)

    def forget(self) -> None:
        """Hold nothing: the board becomes another device."""
        self.state.forget()
        self._release_on_resume = False

    def advance(self, now: int) -> None:
        """Play what is due and end what has lasted too long."""
        self._play(now)
        if self.state.advance(now):
            self._forced(dx1.RELEASED_HOLD_LIMIT)

    def deadline(self) -> int | None:
        """When ``advance`` has something to do."""
        due = [self.state.deadline()]
        if self._player:
            due += [self._player.due, self._lease_at]
        return timing.earliest(due)

    def _tap(self, read, payload: bytes, now: int, seq: int) -> bytes:
        self._check_profile()
        if self.usb == dx1.USB_NONE:
            raise Refused(dx1.USB_NOT_READY, bytes((self.usb,)))
        plan = read(payload)
        self._check_free(plan.kind)
        self._spend_keys(now, 2)
        self._start(plan, seq, now)
        # A sleeping phone takes the reports as a call to wake; a tap is what may do that.
        if self.usb == dx1.USB_SUSPENDED:
            self._result = dx1.DONE_SUSPENDED
        return _ACCEPTED

    def _start(self, plan: Tap | Text | Gesture, seq: int, now: int) -> None:
        self._player = plan
        self._seq = seq
        self._result = dx1.DONE_OK
        self._release_after = 0
        self._lease_at = now + plan.lease_ms
        plan.start(now)

    def _play(self, now: int) -> None:
        player = self._player
        if player is None:
            return
        if now >= self._lease_at:
            self.stop(dx1.DONE_LEASE, now)
            self._forced(dx1.RELEASED_LEASE)
            return
        try:
            while player.due is not None and now >= player.due:
                player.step(now, self.state)
        except OSError:
            self.stop(dx1.DONE_USB_LOST, now)
            return
        if player.due is None:
            self._finish(player, now)

    def _finish(self, player: Tap | Text | Gesture, now: int) -> None:
        self._player = None
        values = (self._seq, self._result, player.index)
        self._emit(dx1.DONE, struct.pack("<HBB", *values))
        self._release(self._release_after, now)

    def _wind_down(
        self, player: Tap | Text | Gesture, result: int, finish_ms: int, now: int
    ) -> None:
        """End a plan: a text between two characters, others at their end or at once."""
        if isinstance(player, Text):
            player.stop(now)
            if not player.complete:
                self._result = result
        elif player.remaining(now) > finish_ms:
            self.stop(result, now)

    def _release(self, kinds: int, now: int) -> None:
        if self.profile == profiles.NONE:
            return
        if self.usb == dx1.USB_MOUNTED:
            self.state.release(kinds, now)
        elif kinds and self.usb == dx1.USB_SUSPENDED:
            self._release_on_resume = True

    def _forced(self, reason: int) -> None:
        self.forced_releases += 1
        self._emit(dx1.FORCED_RELEASE, bytes((reason,)))

    def _now(self, send, values) -> None:
        try:
            send(*values)
        except OSError:
            sent = False
        else:
            sent = True
        if not sent:
            raise Refused(dx1.USB_NOT_READY, bytes((self.usb,)))

    def _spend_keys(self, now: int, reports: int) -> None:
        if not self._key_reports.take(now, reports):
            raise Refused(dx1.RATE_LIMITED)

    def _check_profile(self) -> None:
        if self.profile == profiles.NONE:
            raise Refused(dx1.UNSUPPORTED)

    def _check_ready(self) -> None:
        self._check_profile()
        if self.usb != dx1.USB_MOUNTED:
            raise Refused(dx1.USB_NOT_READY, bytes((self.usb,)))

    def _check_idle(self) -> None:
        if self._player or self.closing:
            raise Refused(dx1.BUSY, bytes((self.held,)))

    def _check_free(self, kind: int) -> None:
        self._check_idle()
        if self.state.held & kind:
            raise Refused(dx1.BUSY, bytes((self.held,)))
