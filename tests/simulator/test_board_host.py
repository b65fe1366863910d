"""The board on its pseudo terminal and its TCP port, hosted with the real firmware."""

import asyncio
from pathlib import Path
import struct
import time

import pytest

from hardware_bridge.firmware.aiden_bridge import dx1
from simulator.app import Simulator

from .client import ControlClient, Dx1Client, until

SESSION = 0xDEADBEEF


@pytest.fixture(params=["pty", "tcp"])
def url(request: pytest.FixtureRequest, simulator: Simulator) -> str:
    """Return each way to the board."""
    ready = simulator.ready()
    return str(ready["board_pty"] if request.param == "pty" else ready["board_tcp"])


def _touch(x: int, y: int, flags: int) -> bytes:
    return struct.pack("<BBHH", 0, flags, x, y)


async def test_serialx_opens_the_board_and_gets_a_hello_answered(
    simulator: Simulator, url: str
) -> None:
    """The boot id in the answer is the board's."""
    client = await Dx1Client.open(url)
    try:
        answer = await client.hello(SESSION)
        assert answer.kind == dx1.ACK
        status, _proto, boot_id, _resumed = struct.unpack("<BBIB", answer.payload)
        assert (status, boot_id) == (0, simulator.board.boot_id)
    finally:
        await client.close()


async def test_a_tap_over_the_board_reaches_the_phone(
    simulator: Simulator, control: ControlClient, url: str
) -> None:
    """DX1 in, HID report out, icon opened; the log has every report."""
    await control.mounted()
    phone = await control.get("phone")
    icon = next(
        thing
        for thing in phone["visible"]
        if thing["label"] == phone["names"]["settings"]
    )
    x = round((717 + icon["x"] / 1000 * 486) / 1920 * 0x7FFF)
    y = round(icon["y"] / 1000 * 0x7FFF)
    client = await Dx1Client.open(url)
    try:
        await client.hello(SESSION)
        before = (await control.get("hid"))["count"]
        assert (await client.ask(dx1.TOUCH, _touch(x, y, 3))).kind == dx1.ACK
        held = (await control.get("hid"))["held"]
        assert len(held["touches"]) == 1
        assert (await client.ask(dx1.TOUCH, _touch(x, y, 0))).kind == dx1.ACK
        await control.screen("settings")
        hid = await control.get(f"hid?since={before}")
    finally:
        await client.close()
    assert not any(hid["held"].values())
    assert [entry["index"] for entry in hid["reports"]] == list(
        range(before + 1, hid["count"] + 1)
    )
    kinds = [
        (entry["decoded"]["kind"], entry["decoded"]["released"])
        for entry in hid["reports"]
    ]
    assert ("touch", False) in kinds
    assert kinds[-1] == ("touch", True)


async def test_the_line_is_as_slow_as_115200_baud(simulator: Simulator) -> None:
    """Twenty pings with 200 bytes of noise each cannot be answered faster than the line."""
    client = await Dx1Client.open(simulator.ready()["board_pty"])
    try:
        await client.hello(SESSION)
        started = time.monotonic()
        for _ in range(20):
            client._writer.write(b"\x00" * 200)
            await client.ask(dx1.PING)
        seconds = time.monotonic() - started
    finally:
        await client.close()
    assert seconds >= 20 * 200 * 10 / 115200


async def test_pulling_the_cable_hangs_up_and_putting_it_back_keeps_the_name(
    simulator: Simulator, control: ControlClient, tmp_path: Path
) -> None:
    """The pty's path is gone meanwhile; the TCP port refuses, and is the same afterwards."""
    ready = simulator.ready()
    path = tmp_path / "board"
    clients = [await Dx1Client.open(ready[way]) for way in ("board_pty", "board_tcp")]
    try:
        assert (await clients[0].hello(SESSION)).kind == dx1.ACK
        await control.post("board", action="unplug")
        for client in clients:
            with pytest.raises((OSError, asyncio.IncompleteReadError)):
                await client.next(lambda frame: False)
        assert not path.is_symlink()
        with pytest.raises(OSError):
            await Dx1Client.open(ready["board_tcp"])
    finally:
        for client in clients:
            await client.close()
    await control.post("board", action="plug")
    assert simulator.ready() == ready
    assert path.is_symlink()
    for way in ("board_pty", "board_tcp"):
        client = await Dx1Client.open(ready[way])
        try:
            assert (await client.hello(SESSION)).kind == dx1.ACK
        finally:
            await client.close()


async def test_a_reboot_has_another_boot_id_and_holds_nothing(
    simulator: Simulator, control: ControlClient
) -> None:
    """What was down on the phone is up; boot text on the line is survived."""
    await control.mounted()
    client = await Dx1Client.open(simulator.ready()["board_pty"])
    try:
        await client.hello(SESSION)
        before = simulator.board.boot_id
        await client.ask(dx1.TOUCH, _touch(0x4000, 0x1000, 3))
        await control.post("board", action="reboot")
        assert not any((await control.get("hid"))["held"].values())
        await control.mounted()
        answer = await client.hello(SESSION)
        boot_id = struct.unpack("<BBIB", answer.payload)[2]
    finally:
        await client.close()
    assert boot_id == simulator.board.boot_id != before
    assert (await control.get("board"))["boots"] == 2


async def test_the_usb_cable_is_seen_by_the_board(
    simulator: Simulator, control: ControlClient
) -> None:
    """LINK says none, acts are refused, LINK says mounted."""
    await control.mounted()
    client = await Dx1Client.open(simulator.ready()["board_tcp"])
    try:
        await client.hello(SESSION)
        await control.post("board", action="usb_unplug")
        await client.next(lambda f: f.kind == dx1.LINK and f.payload[0] == 0)
        answer = await client.ask(dx1.TOUCH, _touch(0x4000, 0x1000, 3))
        assert (answer.kind, answer.payload[0]) == (dx1.NACK, dx1.USB_NOT_READY)
        await control.post("board", action="usb_plug")
        await client.next(lambda f: f.kind == dx1.LINK and f.payload[0] == 1)
    finally:
        await client.close()


async def test_the_wake_button_makes_an_event(
    simulator: Simulator, control: ControlClient
) -> None:
    """On the link that has the session."""
    client = await Dx1Client.open(simulator.ready()["board_tcp"])
    try:
        await client.hello(SESSION)

        async def listens() -> bool:
            ping = await client.ask(dx1.PING)
            return int(struct.unpack_from("<I", ping.payload, 1)[0]) > 1100

        # A board that has just started takes no wake: pins float.
        await until(listens)
        await control.post("board", action="wake")
        event = await client.next(lambda frame: frame.kind == dx1.WAKE)
        answer = await client.ask(dx1.EVENT_ACK, struct.pack("<H", event.seq))
        assert answer.kind == dx1.ACK
    finally:
        await client.close()


async def test_noise_on_the_line_loses_no_session(
    simulator: Simulator, control: ControlClient
) -> None:
    """In either direction; the next frame is understood."""
    client = await Dx1Client.open(simulator.ready()["board_pty"])
    try:
        await client.hello(SESSION)
        await control.post("board", action="noise", hex="ff00ff4142")
        await control.post("board", action="noise", bytes=300, to="board")
        client._writer.write(b"\x00")
        assert (await client.ask(dx1.PING)).kind == dx1.ACK
    finally:
        await client.close()


async def test_two_hosts_do_not_garble_each_other(simulator: Simulator) -> None:
    """The firmware decides about the second one; the first one's session goes on."""
    ready = simulator.ready()
    first = await Dx1Client.open(ready["board_pty"])
    second = await Dx1Client.open(ready["board_tcp"])
    try:
        assert (await first.hello(SESSION)).kind == dx1.ACK
        assert (await second.hello(SESSION + 1)).kind == dx1.NACK
        answers = await asyncio.gather(*(first.ask(dx1.PING) for _ in range(1)))
        assert [answer.kind for answer in answers] == [dx1.ACK]
    finally:
        await first.close()
        await second.close()


async def test_a_lost_link_releases_what_was_held(
    simulator: Simulator, control: ControlClient
) -> None:
    """The firmware's own deadline runs although nothing comes any more."""
    await control.mounted()
    client = await Dx1Client.open(simulator.ready()["board_pty"])
    try:
        await client.hello(SESSION)
        await client.ask(dx1.TOUCH, _touch(0x4000, 0x1000, 3))
    finally:
        await client.close()
    assert (await control.get("hid"))["held"]["touches"]

    async def released() -> bool:
        return not any((await control.get("hid"))["held"].values())

    await until(released)
