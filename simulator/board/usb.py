"""The board's USB side: the cable to the virtual phone."""

import asyncio
from collections.abc import Callable
import errno

from hardware_bridge.firmware.aiden_bridge import profiles
from simulator.board.hid_log import HidLog
from simulator.phone.phone import VirtualPhone

ENUMERATE_S = 0.3
NONE = 0
MOUNTED = 1


class UsbSide:
    """What the firmware knows as ``hid``.

    ``changed`` is called soon after the state changed, never from within a call.
    """

    def __init__(self, phone: VirtualPhone, changed: Callable[[], None]) -> None:
        """Start with the cable in and the phone not having looked at the board yet."""
        self._phone = phone
        self._changed = changed
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._state = NONE
        self._cable = True
        self.log = HidLog()
        self.profile: int = profiles.ANDROID_TOUCH

    # The firmware's side.

    def send(self, report_id: int, report: bytes) -> None:
        """Send an input report.

        Raises:
            OSError: The phone has not taken the device.

        """
        if self._state != MOUNTED:
            raise OSError(errno.ESHUTDOWN, "USB is not mounted")
        # When it leaves: what the phone makes of it takes the simulation time, not the board.
        t_ms = self._loop.time() * 1000
        decoded = self._phone.report(report_id, bytes(report))
        self.log.add(t_ms, report_id, bytes(report), decoded)

    def usb_state(self) -> int:
        """Return 0 none, 1 mounted."""
        return self._state

    def leds(self) -> int:
        """Return the keyboard's LEDs as the phone set them."""
        return self._phone.leds if self._state == MOUNTED else 0

    def set_profile(self, profile: int) -> None:
        """Become another device: the phone loses this one and finds the other."""
        self.profile = profile
        self.enumerate()

    # The simulator's side.

    def enumerate(self, after_s: float = ENUMERATE_S) -> None:
        """Vanish from the phone and be found again, if the cable is in."""
        self._vanish()
        if self._cable:
            self._timer = self._loop.call_later(after_s, self._found)

    def unplug(self) -> None:
        """Pull the cable to the phone."""
        self._cable = False
        self._vanish()

    def plug(self) -> None:
        """Put the cable back."""
        if not self._cable:
            self._cable = True
            self.enumerate()

    def close(self) -> None:
        """Vanish for good."""
        self._cable = False
        self._vanish()

    def _vanish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._state = NONE
        self._phone.detach()
        self._loop.call_soon(self._changed)

    def _found(self) -> None:
        self._timer = None
        self._phone.attach(profiles.report_descriptor(self.profile))
        self._state = MOUNTED
        self._changed()
