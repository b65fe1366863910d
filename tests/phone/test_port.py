"""Real ports: loopback TCP and a pseudo-terminal, through serialx, with the firmware."""

import asyncio
from collections.abc import Callable
from functools import partial
import gc
from pathlib import Path
import socket
import threading
import warnings

import pytest

from custom_components.aiden_duplex.phone.driver import ConsumerTap, Typing
from custom_components.aiden_duplex.phone.dx1 import Frame, FrameType, encode
from custom_components.aiden_duplex.phone.link import Dx1Driver, ProbeError, probe
from custom_components.aiden_duplex.phone.port import shown, why_not_open
from custom_components.aiden_duplex.phone.text import to_strokes
from custom_components.aiden_duplex.phone.types import ActUnknownError, LinkState
from hardware_bridge.firmware.aiden_bridge import dx1 as wire

from .board import BOARD_ID, CONSUMER, KEYS, BoardRig, FakePhone, on_pty, on_tcp, until

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def drive(url: str, rig: BoardRig, unplug: Callable[[], None]) -> None:
    """Connect, act, lose the port during an act, close; look at what remains."""
    threads = set(threading.enumerate())
    driver = Dx1Driver(url)
    await driver.start()
    try:
        await until(lambda: driver.link is LinkState.UP)
        await driver.play(ConsumerTap(usage=0x223, hold_ms=30))
        assert rig.phone.pressed(CONSUMER) == [b"\x23\x02"]
        played = await driver.play(Typing(strokes=tuple(to_strokes("ab")), pace_ms=50))
        assert (played.complete, len(rig.phone.pressed(KEYS))) == (True, 2)
        playing = asyncio.create_task(
            driver.play(Typing(strokes=tuple(to_strokes("x" * 99))))
        )
        await until(lambda: len(rig.phone.pressed(KEYS)) > 3)
        unplug()
        with pytest.raises(ActUnknownError):
            await playing
        await until(lambda: driver.link is LinkState.DOWN)
    finally:
        await driver.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    assert not {task for task in others if "serve" not in repr(task)}, others
    extra = set(threading.enumerate()) - threads
    # Only the loop's own executor may have started a worker.
    own = ("asyncio_", "SyncWorker_")
    assert all(thread.name.startswith(own) for thread in extra), extra


async def released(phone: FakePhone) -> None:
    """Wait until the board, left alone with a key down, lets go of it by itself."""
    await until(lambda: not phone.down)
    first, second = phone.pressed(KEYS)[:2]
    assert (first[2], second[2]) == (0x04, 0x05)
    assert len(phone.pressed(KEYS)) < 2 + 99


async def test_a_board_on_tcp() -> None:
    """A board behind a network serial server."""
    with BoardRig() as rig:
        async with on_tcp(rig) as (url, hang_up):
            await drive(url, rig, hang_up)
        await released(rig.phone)


async def test_a_board_on_a_terminal() -> None:
    """A board behind a serial device."""
    with BoardRig() as rig, on_pty(rig) as (path, unplug):
        await drive(path, rig, unplug)
        await released(rig.phone)


def is_up(driver: Dx1Driver) -> bool:
    """Return whether the link is up."""
    return driver.link is LinkState.UP


async def test_closing_leaves_no_file_and_no_warning() -> None:
    """Opened and closed a few times: no descriptor stays behind."""
    with BoardRig() as rig, on_pty(rig) as (path, _), warnings.catch_warnings():
        warnings.simplefilter("error")
        before: set[str] | None = None
        for _ in range(3):
            driver = Dx1Driver(path)
            await driver.start()
            await until(partial(is_up, driver))
            await driver.close()
            rig.restart(rig.boot_id + 1)
            gc.collect()
            files = {entry.name for entry in Path("/proc/self/fd").iterdir()}
            before = before or files
            assert files == before


async def test_a_probe_says_what_the_board_is() -> None:
    """And leaves the port free for the next."""
    with BoardRig() as rig, on_pty(rig) as (path, _):
        for _ in range(2):
            info = await probe(path)
            assert (info.board_id, info.profile) == (BOARD_ID, "android_touch")
            assert info.phone_connected
            rig.restart(rig.boot_id + 1)


async def test_a_probe_tells_a_board_without_a_phone() -> None:
    """Not an error: the phone may come later."""
    with BoardRig(FakePhone(usb=wire.USB_NONE)) as rig:
        async with on_tcp(rig) as (url, _):
            assert not (await probe(url)).phone_connected


async def test_a_probe_of_a_port_in_use_says_so() -> None:
    """The entry's own connection holds it."""
    with BoardRig() as rig, on_pty(rig) as (path, _):
        driver = Dx1Driver(path)
        await driver.start()
        try:
            await until(lambda: driver.link is LinkState.UP)
            with pytest.raises(ProbeError, match="another program has the port") as err:
                await probe(path)
            assert err.value.reason == "busy"
        finally:
            await driver.close()


def free_port() -> int:
    """Return a number that nobody listens at."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        number: int = unused.getsockname()[1]
        return number


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("/dev/serial/by-id/usb-nothing", "there is no such port"),
        ("socket://127.0.0.1:{free}", "nobody listens"),
        ("{file}", "this is no serial port"),
        ("quantum://x", "No handler registered"),
    ],
)
async def test_a_port_that_does_not_open_says_why(
    url: str, sentence: str, tmp_path: Path
) -> None:
    """Missing, refused, not a terminal, unknown scheme."""
    file = tmp_path / "file"
    file.write_bytes(b"")
    address = url.format(free=free_port(), file=file)
    with pytest.raises(ProbeError, match=sentence) as err:
        await probe(address, 1)
    assert err.value.reason == "cannot_open"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (PermissionError(13, "Permission denied"), "this user may not open the port"),
        (TimeoutError(), "it did not open in time"),
        (OSError("Multiple exceptions: [Errno 111] Connect call failed"), "nobody"),
        (RuntimeError("proxy says no"), "proxy says no"),
        (ValueError(), "ValueError"),
    ],
)
def test_every_failure_to_open_has_a_sentence(error: Exception, sentence: str) -> None:
    """Also those that a foreign handler raises."""
    assert sentence in why_not_open(error)


def test_the_name_of_a_port_hides_its_key() -> None:
    """An ESPHome address may carry one."""
    assert shown("esphome://10.0.0.2:6053/?key=secret") == "esphome://10.0.0.2:6053/"


async def serve(
    answer: Callable[[bytes], bytes],
) -> tuple[asyncio.Server, str]:
    """Listen; answer whatever comes."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(b""))
        try:
            while data := await reader.read(1000):
                writer.write(answer(data))
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    return server, f"socket://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    ("answer", "reason", "sentence"),
    [
        (b"", "not_a_board", "nothing there answers"),
        (
            b"ESP-ROM:esp32s3-20210327\r\nBuild:Mar 27 2021\r\n",
            "not_a_board",
            "it sent “ESP-ROM:esp32s3-20210327 Build:Mar 27 2021",
        ),
        (bytes(range(128, 200)), "not_a_board", "bytes of something else"),
        (
            encode(Frame(type=FrameType.NACK, seq=0, payload=b"\x0a\x02\x02")),
            "wrong_protocol",
            "does not speak version 1",
        ),
    ],
    ids=["silence", "boot text", "binary", "newer board"],
)
async def test_a_port_without_a_board_says_what_is_there(
    answer: bytes, reason: str, sentence: str
) -> None:
    """So that a person can tell a wrong port from missing firmware."""
    server, url = await serve(lambda data: b"" if data else answer)
    try:
        with pytest.raises(ProbeError, match=sentence) as err:
            await probe(url, 0.4)
        assert err.value.reason == reason
    finally:
        server.close()
        await server.wait_closed()
