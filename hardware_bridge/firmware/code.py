"""CircuitPython: the board's pins, UART and USB put behind the seam of ``Board``.

Thin on purpose, because it runs on a board only. Nothing here has run on hardware yet.
"""

import os

from aiden_bridge import profiles, settings
from aiden_bridge.board import Board
import board
import busio
import digitalio
import microcontroller
import supervisor
import usb_hid
from watchdog import WatchDogMode


class Clock:
    """Milliseconds; wraps at 2**29."""

    def ms(self):
        """Read it."""
        return supervisor.ticks_ms()


class Uart:
    """The port to Home Assistant."""

    def __init__(self):
        """Open it."""
        self._port = busio.UART(
            getattr(board, settings.UART_TX_PIN),
            getattr(board, settings.UART_RX_PIN),
            baudrate=settings.BAUD_RATE,
            timeout=0,
            receiver_buffer_size=settings.RECEIVER_BUFFER,
        )

    def read(self):
        """Give what is there, or None."""
        waiting = self._port.in_waiting
        return self._port.read(waiting) if waiting else None

    def write(self, data):
        """Send it."""
        self._port.write(data)


class Hid:
    """The phone's side."""

    def __init__(self, profile, watchdog):
        """Find the devices that ``boot.py`` enabled."""
        self._watchdog = watchdog
        self._leds = 0
        parts = profiles.DESCRIPTORS[profile]
        self._devices = {
            part["report_id"]: device
            for part, device in zip(parts, usb_hid.devices)  # the order of boot.py
        }

    def send(self, report_id, report):
        """Send a report. Waits up to 2 s for a phone that does not poll, then OSError."""
        self._watchdog.feed()
        self._devices[report_id].send_report(report, report_id)

    def usb_state(self):
        """Give 0 or 1; CircuitPython does not tell that the bus sleeps."""
        return 1 if supervisor.runtime.usb_connected else 0

    def leds(self):
        """Give the keyboard's LEDs as the phone last set them."""
        keyboard = self._devices.get(profiles.KEYBOARD_ID)
        if keyboard is not None:
            report = keyboard.get_last_received_report(profiles.KEYBOARD_ID)
            if report:
                self._leds = report[0]
        return self._leds

    def set_profile(self, profile):
        """Keep it and start again: only ``boot.py`` can change what USB shows."""
        settings.keep_profile(microcontroller.nvm, profile)
        microcontroller.reset()


class Pins:
    """The wake line and the LED."""

    def __init__(self):
        """Take the pins; the wake line is pulled, so that a loose wire is silent."""
        up = settings.WAKE_PULL_UP
        self._wake = digitalio.DigitalInOut(getattr(board, settings.WAKE_PIN))
        self._wake.switch_to_input(
            pull=digitalio.Pull.UP if up else digitalio.Pull.DOWN
        )
        self._led = None
        pin = getattr(board, settings.IDENTIFY_PIN, None)
        if pin is not None:
            self._led = digitalio.DigitalInOut(pin)
            self._led.switch_to_output(value=False)

    def wake_level(self):
        """Give the level of the line."""
        return self._wake.value

    def identify(self, on):
        """Light the LED or put it out."""
        if self._led is not None:
            self._led.value = on


def main():
    """Run for good; the watchdog restarts a board that does not come round in 8 s."""
    watchdog = microcontroller.watchdog
    watchdog.timeout = settings.WATCHDOG_S
    watchdog.mode = WatchDogMode.RESET
    profile = profiles.ANDROID_TOUCH if usb_hid.devices else profiles.NONE
    clock = Clock()
    bridge = Board(
        Uart(),
        Hid(profile, watchdog),
        clock,
        Pins(),
        board_id=bytes(microcontroller.cpu.uid),
        boot_id=int.from_bytes(os.urandom(4), "little"),
        profile=profile,
    )
    started = clock.ms()
    settled = False
    while True:
        watchdog.feed()
        bridge.poll()
        if not settled and (clock.ms() - started) % (1 << 29) >= settings.HEALTHY_MS:
            settled = True
            settings.healthy(microcontroller.nvm)


main()
