"""A board with a clock, a port, a phone and a wake line made of numbers.

Plain Python that a board's interpreter runs as well: the same scenario is played under
CPython and under MicroPython.
"""

import binascii
import struct

from hardware_bridge.firmware.aiden_bridge import dx1, frames
from hardware_bridge.firmware.aiden_bridge.board import Board

SESSION = 0xDEADBEEF
BOARD_ID = b"\xe6\x61\x41\x04\x03\x12\x34\x56"

SETTLED_MS = 40
"""From the board's start to where the tests begin."""

KEYS_UP = (1, "0000000000000000")
CONSUMER_UP = (2, "0000")


class FakeClock:
    """Milliseconds that stand still until somebody moves them."""

    def __init__(self, value: int, wrap: int) -> None:
        """Start at ``value``; wrap at ``wrap``, 0 for never."""
        self.value = value
        self.wrap = wrap

    def ms(self) -> int:
        """Read it."""
        return self.value % self.wrap if self.wrap else self.value


class FakeUart:
    """What the host wrote, what the board wrote."""

    def __init__(self) -> None:
        """Start silent."""
        self.incoming = b""
        self.written: list[bytes] = []

    def read(self) -> bytes | None:
        """Give what is there."""
        data, self.incoming = self.incoming, b""
        return data or None

    def write(self, data: bytes) -> None:
        """Keep it."""
        self.written.append(bytes(data))


class FakeHid:
    """A phone that notes the reports and follows what is down."""

    def __init__(self, clock: FakeClock, usb: int) -> None:
        """Start with nothing down."""
        self._clock = clock
        self.usb = usb
        self.led_bits = 0
        self.failing = False
        self.profiles: list[int] = []
        self.reports: list[tuple[int, int, str]] = []
        self.down: dict[int, bytes] = {}

    def send(self, report_id: int, report: bytes) -> None:
        """Take a report."""
        if self.failing:
            raise OSError("USB busy")
        self.reports.append((self._clock.value, report_id, to_hex(report)))
        pressed = report[:1] if report_id == 4 else report
        if any(pressed):
            self.down[report_id] = report
        else:
            self.down.pop(report_id, None)

    def usb_state(self) -> int:
        """Say whether a phone is there."""
        return self.usb

    def leds(self) -> int:
        """Give the LEDs."""
        return self.led_bits

    def set_profile(self, profile: int) -> None:
        """Become another device: the phone forgets what the old one held."""
        self.profiles.append(profile)
        self.down = {}


class FakePins:
    """The wake line, and the LED's history."""

    def __init__(self) -> None:
        """Start low and dark."""
        self.level = False
        self.lit: list[bool] = []

    def wake_level(self) -> bool:
        """Give the level."""
        return self.level

    def identify(self, on: bool) -> None:
        """Note it."""
        self.lit.append(on)


class Rig:
    """A board on a bench. ``run`` polls it exactly when it says that it has to be."""

    def __init__(self, start_ms: int = 0, wrap: int = 0, usb: int = 1) -> None:
        """Build it; its first releases are over at ``start_ms``."""
        self.clock = FakeClock(start_ms - SETTLED_MS, wrap)
        self.uart = FakeUart()
        self.hid = FakeHid(self.clock, usb)
        self.pins = FakePins()
        self.seq = 0
        self.boot(0x0B00714D)
        self.run(SETTLED_MS)
        self.first_reports = self.reports()

    def boot(self, boot_id: int) -> None:
        """Start the board (again)."""
        self.board = Board(
            self.uart,
            self.hid,
            self.clock,
            self.pins,
            board_id=BOARD_ID,
            boot_id=boot_id,
        )
        self.board.poll()

    @property
    def now(self) -> int:
        """Give the time."""
        return self.clock.value

    def run(self, ms: int) -> None:
        """Let time pass."""
        end = self.clock.value + ms
        while True:
            self.board.poll()
            deadline = self.board.next_deadline_ms()
            if deadline is None:
                break
            left = deadline - self.clock.ms()
            if left <= 0:
                raise AssertionError("the board asks for a turn that it just had")
            if self.clock.value + left > end:
                break
            self.clock.value += left
        self.clock.value = end
        self.board.poll()

    def run_awake(self, ms: int) -> None:
        """Let time pass with a PING every 500 ms."""
        end = self.clock.value + ms
        while self.clock.value < end:
            self.request(dx1.PING)
            self.run(min(500, end - self.clock.value))

    def feed(self, data: bytes) -> None:
        """Let bytes arrive, and poll."""
        self.uart.incoming += data
        self.board.poll()

    def sent(self) -> list[frames.Frame]:
        """Take the frames that the board wrote since the last call."""
        data, self.uart.written = b"".join(self.uart.written), []
        return [frame for frame in frames.Receiver().feed(data) if frame is not None]

    def request(
        self, kind: int, payload: bytes = b"", seq: int | None = None, flags: int = 0
    ) -> frames.Frame:
        """Send a request and give its answer; other frames stay to be taken."""
        if seq is None:
            self.seq += 1
            seq = self.seq
        before = len(self.uart.written)
        self.feed(frames.encode(kind, flags, seq, payload))
        for index in range(before, len(self.uart.written)):
            for frame in frames.Receiver().feed(self.uart.written[index]):
                if frame and frame.kind in (dx1.ACK, dx1.NACK) and frame.seq == seq:
                    self.uart.written.pop(index)
                    return frame
        raise AssertionError("no answer")

    def hello(self, session: int = SESSION) -> frames.Frame:
        """Open a session."""
        return self.request(dx1.HELLO, struct.pack("<IBB", session, 1, 1), seq=0)

    def events(self) -> list[tuple[int, str]]:
        """Take the events since the last call: kind and payload."""
        return [
            (frame.kind, to_hex(frame.payload))
            for frame in self.sent()
            if frame.kind not in (dx1.ACK, dx1.NACK)
        ]

    def reports(self) -> list[tuple[int, int, str]]:
        """Take the reports since the last call: time, report id, bytes."""
        taken, self.hid.reports = self.hid.reports, []
        return taken


def to_hex(data: bytes) -> str:
    """Give hex digits."""
    return binascii.hexlify(data).decode()


def touch(phase: int, x: int, y: int, contact: int = 1) -> bytes:
    """Give the payload of TOUCH."""
    return struct.pack("<BBHH", contact, phase, x, y)


def touched(flags: int, x: int, y: int, contact: int = 1) -> tuple[int, str]:
    """Give the report that a touch ends in."""
    return (4, to_hex(struct.pack("<BBHHB", flags, contact, x, y, 1)))


def gesture(points: list[tuple[int, int, int, int]], contact: int = 0) -> bytes:
    """Give the payload of GESTURE."""
    body = [struct.pack("<HBHH", dt_ms, tip, x, y) for dt_ms, tip, x, y in points]
    return bytes((contact, len(points))) + b"".join(body)


def text(characters: list[tuple[int, int]], pace_ms: int = 0) -> bytes:
    """Give the payload of TEXT."""
    body = [bytes((mods, usage)) for mods, usage in characters]
    return bytes((pace_ms, len(characters))) + b"".join(body)
