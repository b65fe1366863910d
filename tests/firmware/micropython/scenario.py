"""One long scene with the board, told line by line.

Played under CPython and under MicroPython; the two stories have to be the same. Plain
Python for a board's interpreter.
"""

import json
import struct

from hardware_bridge.firmware.aiden_bridge import cobs, dx1, frames, profiles, settings
from tests.firmware.rig import Rig, gesture, text, to_hex, touch


def check_vectors(text_of_vectors: str) -> list[str]:
    """Run the shared vectors; give the names of those that failed."""
    vectors = json.loads(text_of_vectors)
    checks = (
        ("cobs", _stuffs),
        ("cobs_malformed", _refuses),
        ("frames", _frames),
        ("frames_malformed", _drops),
    )
    return [
        vector["name"]
        for group, check in checks
        for vector in vectors[group]
        if not check(vector)
    ]


def _stuffs(vector: dict[str, str]) -> bool:
    data, encoded = from_hex(vector["data"]), from_hex(vector["encoded"])
    return cobs.encode(data) == encoded and cobs.decode(encoded) == data


def _refuses(vector: dict[str, str]) -> bool:
    try:
        cobs.decode(from_hex(vector["encoded"]))
    except ValueError:
        return True
    return False


def _frames(vector: dict[str, str]) -> bool:
    payload, wire = from_hex(vector["payload"]), from_hex(vector["wire"])
    kind, flags, seq = int(vector["type"]), int(vector["flags"]), int(vector["seq"])
    (found,) = frames.Receiver().feed(wire)
    if found is None:
        return False
    read = (found.kind, found.flags, found.seq, found.payload)
    return frames.encode(kind, flags, seq, payload) == wire and read == (
        kind,
        flags,
        seq,
        payload,
    )


def _drops(vector: dict[str, str]) -> bool:
    return frames.Receiver().feed(from_hex(vector["wire"])) == [None]


def from_hex(digits: str) -> bytes:
    """Read hex digits."""
    return bytes([int(digits[at : at + 2], 16) for at in range(0, len(digits), 2)])


class Story:
    """What went over the wire and into the phone, in order."""

    def __init__(self, rig: Rig) -> None:
        """Start with an empty page."""
        self.rig = rig
        self.lines: list[str] = []

    def ask(self, kind: int, payload: bytes = b"", seq: int | None = None) -> None:
        """Send a request and write down what came of it."""
        answer = self.rig.request(kind, payload, seq=seq)
        told = f"{answer.kind:02x} seq {answer.seq} {to_hex(answer.payload)}"
        self.lines.append(f"{self.rig.now} ask {kind:02x}: {told}")

    def pass_time(self, ms: int) -> None:
        """Let time pass and write down what happened."""
        self.rig.run(ms)
        for at, report_id, report in self.rig.reports():
            self.lines.append(f"{at} report {report_id} {report}")
        for frame in self.rig.sent():
            told = f"{frame.kind:02x} flags {frame.flags} seq {frame.seq}"
            self.lines.append(f"{self.rig.now} event {told}")
            self.lines.append("  " + to_hex(frame.payload))


def play(start_ms: int, wrap: int) -> list[str]:
    """Play the scene on a clock of its own; give its lines."""
    rig = Rig(start_ms=start_ms, wrap=wrap)
    story = Story(rig)
    hello = struct.pack("<IBB", 0xDEADBEEF, 1, 1)
    story.ask(dx1.PING)
    story.ask(dx1.HELLO, hello, seq=0)
    story.ask(dx1.GET_CAPS)
    story.ask(dx1.WAKE_CFG, struct.pack("<HBH", 30, 0, 500))
    story.ask(dx1.TOUCH, touch(3, 16384, 16384))
    story.ask(dx1.TOUCH, touch(3, 20000, 16384))
    story.ask(dx1.TOUCH, touch(0, 20000, 16384))
    story.ask(dx1.TOUCH, touch(3, 40000, 1))
    story.ask(dx1.KEYS, bytes((2, 0, 4, 0, 0, 0, 0, 0)))
    story.ask(dx1.CONSUMER, struct.pack("<H", 0x223))
    story.pass_time(100)
    story.ask(dx1.RELEASE_ALL)
    story.pass_time(100)
    story.ask(dx1.TEXT, text([(2, 11), (0, 12), (0, 12), (2, 30)], 60))
    story.ask(dx1.GESTURE, gesture([(0, 1, 1, 1), (10, 0, 1, 1)]))
    story.pass_time(400)
    swipe = [(5, 1, 30000, 1000), (200, 1, 100, 31000), (0, 0, 100, 31000)]
    story.ask(dx1.GESTURE, gesture(swipe))
    story.ask(dx1.GESTURE, gesture(swipe), seq=rig.seq)
    story.pass_time(300)
    story.ask(dx1.KEY_TAP, struct.pack("<BBH", 8, 0x28, 120))
    story.pass_time(200)
    story.ask(dx1.CONSUMER, struct.pack("<HH", 0x29F, 50))
    story.pass_time(100)
    story.ask(dx1.GESTURE, gesture([(0, 1, 5, 5), (900, 0, 5, 5)]))
    story.pass_time(100)
    story.ask(dx1.ABORT)
    story.pass_time(100)
    rig.feed(b"ESP-ROM:esp32s3\r\n\x00\x02\x11\x00" + b"\x55" * 300 + b"\x00")
    story.ask(dx1.PING)
    rig.pins.level = True
    story.pass_time(600)
    rig.pins.level = False
    story.ask(dx1.IDENTIFY)
    story.ask(dx1.TOUCH, touch(3, 1, 2))
    story.ask(dx1.TEXT, text([(0, 5)] * 99, 255))
    story.pass_time(3000)
    story.ask(dx1.PING)
    story.ask(dx1.HELLO, hello, seq=0)
    rig.hid.failing = True
    story.ask(dx1.TOUCH, touch(3, 9, 9))
    story.pass_time(200)
    rig.hid.failing = False
    story.pass_time(300)
    rig.hid.usb = 0
    story.pass_time(10)
    story.ask(dx1.KEYS, bytes(8))
    rig.hid.usb = 1
    story.pass_time(10)
    story.ask(dx1.SET_PROFILE, b"\x00")
    story.pass_time(100)
    story.ask(dx1.GET_CAPS)
    story.ask(0x2A)
    story.ask(dx1.POINTER, bytes(7))
    story.lines.append(f"lit {rig.pins.lit}")
    memory = bytearray(8)
    starts = [settings.profile_at_boot(memory) for _ in range(5)]
    settings.healthy(memory)
    starts.append(settings.profile_at_boot(memory))
    settings.keep_profile(memory, profiles.NONE)
    starts.append(settings.profile_at_boot(memory))
    story.lines.append(f"starts {starts}")
    return story.lines


def tell(text_of_vectors: str) -> str:
    """Give all as JSON: the vectors that failed, the descriptor, the scene on three clocks."""
    return json.dumps(
        {
            "failed": check_vectors(text_of_vectors),
            "descriptor": to_hex(profiles.report_descriptor(profiles.ANDROID_TOUCH)),
            "plain": play(0, 0),
            "wraps": play((1 << 29) - 1000, 1 << 29),
            "wraps later": play((1 << 30) - 2500, 1 << 30),
        }
    )
