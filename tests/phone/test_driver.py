"""The driver on the real firmware, over a pipe in virtual time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
import contextlib
import itertools
import logging
import struct
from typing import override

import pytest

from custom_components.aiden_duplex.phone.driver import (
    Act,
    ConsumerTap,
    Gesture,
    GesturePoint,
    KeyTap,
    Played,
    Typing,
)
from custom_components.aiden_duplex.phone.dx1 import Frame, FrameType, Receiver, encode
from custom_components.aiden_duplex.phone.dx1_client import Dx1Client
from custom_components.aiden_duplex.phone.dx1_events import (
    Dx1Event,
    LossReason,
    Lost,
    Woken,
)
from custom_components.aiden_duplex.phone.link import Dx1Driver
from custom_components.aiden_duplex.phone.port import Dx1Port
from custom_components.aiden_duplex.phone.text import to_strokes
from custom_components.aiden_duplex.phone.types import (
    ActRefusedError,
    ActUnknownError,
    LinkLostError,
    LinkState,
)
from hardware_bridge.firmware.aiden_bridge import dx1 as wire
from tests.virtual_time import run

from .board import BOARD_ID, CONSUMER, KEYS, TOUCH, BoardRig, Cable, FakePhone, until

TAP = Gesture(
    points=(
        GesturePoint(dt_ms=0, tip=True, x=100, y=200),
        GesturePoint(dt_ms=60, tip=False, x=100, y=200),
    )
)
LONG = Gesture(
    points=(
        GesturePoint(dt_ms=0, tip=True, x=0, y=0),
        GesturePoint(dt_ms=4000, tip=True, x=32767, y=32767),
        GesturePoint(dt_ms=16, tip=False, x=32767, y=32767),
    )
)
HELLO_TEXT = Typing(strokes=tuple(to_strokes("Hello, world")))
ACTS: dict[str, Act] = {
    "gesture": LONG,
    "text": Typing(strokes=tuple(to_strokes("x" * 60))),
    "key": KeyTap(stroke=to_strokes("a")[0], hold_ms=2000),
    "consumer": ConsumerTap(usage=0x223, hold_ms=2000),
}


class Bench:
    """A driver, its board, the cable between them."""

    def __init__(self, rig: BoardRig) -> None:
        """Put them together."""
        self.rig = rig
        self.phone = rig.phone
        self.cable = Cable(rig)
        self.wakes: list[Woken] = []
        self.links: list[LinkState] = []
        self.driver = Dx1Driver(
            "/dev/serial/by-id/board",
            open_port=self.cable.open,
            on_wake=self.wakes.append,
        )
        self.driver.subscribe(lambda: self.links.append(self.driver.link))

    async def up(self) -> None:
        """Wait for the link and for the end of the first release."""
        await until(lambda: self.driver.link is LinkState.UP, timeout_s=30)
        await asyncio.sleep(0.1)

    def types_received(self) -> list[int]:
        """Return the types of the frames that reached the board."""
        return [frame.type for frame in Receiver().feed(b"".join(self.rig.received))]


@contextlib.asynccontextmanager
async def bench(phone: FakePhone | None = None) -> AsyncIterator[Bench]:
    """Give a started bench; close the driver and look that nothing is left."""
    with BoardRig(phone) as rig:
        it = Bench(rig)
        await it.driver.start()
        try:
            yield it
        finally:
            await it.driver.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            assert not others, others


def on_bench(
    test: Callable[[Bench], Awaitable[None]],
) -> Callable[[], None]:
    """Run a test on a bench whose link is up, in virtual time."""

    async def main() -> None:
        async with bench() as it:
            await it.up()
            await test(it)

    def wrapper() -> None:
        run(main())

    wrapper.__name__ = test.__name__
    wrapper.__doc__ = test.__doc__
    return wrapper


@on_bench
async def test_a_tap_is_one_touch_down_and_up(it: Bench) -> None:
    """At the place, for the time, and reported as done."""
    start = len(it.phone.reports)
    assert await it.driver.play(TAP) == Played(complete=True, steps=2)
    (down_at, kind, down), (up_at, _, up) = it.phone.reports[start:]
    assert (kind, down) == (TOUCH, struct.pack("<BBHHB", 3, 0, 100, 200, 1))
    assert up == struct.pack("<BBHHB", 0, 0, 100, 200, 1)
    assert 0.058 <= up_at - down_at <= 0.065


@on_bench
async def test_a_text_arrives_key_by_key(it: Bench) -> None:
    """With shift where it belongs, and nothing held at the end."""
    played = await it.driver.play(HELLO_TEXT)
    assert played == Played(complete=True, steps=12)
    pressed = [(report[0], report[2]) for report in it.phone.pressed(KEYS)]
    assert pressed == [(s.mods, s.usage) for s in to_strokes("Hello, world")]
    assert it.phone.down == {}


@on_bench
async def test_keys_and_consumer_controls_are_timed_by_the_board(it: Bench) -> None:
    """Home is one consumer usage, down and up."""
    await it.driver.play(ConsumerTap(usage=0x223))
    assert it.phone.pressed(CONSUMER) == [b"\x23\x02"]
    await it.driver.play(KeyTap(stroke=to_strokes("A")[0]))
    assert it.phone.pressed(KEYS) == [bytes((2, 0, 4, 0, 0, 0, 0, 0))]
    assert it.phone.down == {}


@on_bench
async def test_what_the_board_is_can_be_seen(it: Bench) -> None:
    """For the entry's id and for what may be sent."""
    info, caps = it.driver.info, it.driver.caps
    assert info is not None and caps is not None
    assert (info.board_id, info.profile) == (BOARD_ID, "android_touch")
    assert info.firmware.startswith("aiden-bridge ")
    assert info.phone_connected
    assert (caps.touch, caps.keys, caps.consumer) == (True, True, True)
    assert (caps.max_strokes, caps.max_points) == (99, 32)


@on_bench
async def test_acts_beyond_the_board_are_refused_before_sending(it: Bench) -> None:
    """Too many strokes for one frame; a usage that no descriptor has."""
    received = len(it.rig.received)
    with pytest.raises(ActRefusedError, match="nothing was sent"):
        await it.driver.play(Typing(strokes=tuple(to_strokes("x" * 100))))
    assert len(it.rig.received) == received
    with pytest.raises(ActRefusedError, match="beyond what the board plays"):
        await it.driver.play(ConsumerTap(usage=0x400))
    assert it.phone.pressed(CONSUMER) == []


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_unplugging_during_an_act_leaves_it_unknown_and_repeats_nothing(
    act: Act,
) -> None:
    """After the reconnection everything is released first and the act is not sent."""

    async def main() -> None:
        async with bench() as it:
            await it.up()
            playing = asyncio.create_task(it.driver.play(act))
            await until(lambda: it.phone.down)
            it.cable.pull()
            with pytest.raises(ActUnknownError):
                await playing
            assert it.driver.link is LinkState.DOWN
            with pytest.raises(LinkLostError, match="nothing was sent"):
                await it.driver.play(TAP)
            received = len(it.rig.received)
            it.cable.plugged = True
            await it.up()
            await asyncio.sleep(6)
            it.rig.received = it.rig.received[received:]
            types = it.types_received()
            assert types[:3] == [
                FrameType.HELLO,
                FrameType.GET_CAPS,
                FrameType.RELEASE_ALL,
            ]
            assert set(types[3:]) == {FrameType.PING}
            assert it.phone.down == {}

    run(main())


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_a_board_that_browns_out_during_an_act_leaves_it_unknown(act: Act) -> None:
    """The port stays open: another boot id, the session anew, nothing repeated."""

    async def main() -> None:
        async with bench() as it:
            await it.up()
            playing = asyncio.create_task(it.driver.play(act))
            await until(lambda: it.phone.down)
            it.phone.down.clear()
            presses = len(it.phone.reports)
            it.rig.restart(boot_id=2)
            with pytest.raises(ActUnknownError):
                await playing
            await it.up()
            await asyncio.sleep(3)
            assert it.phone.presses_after(presses) == []
            assert it.cable.opened == 1

    run(main())


@on_bench
async def test_a_silent_board_is_given_up_and_found_again(it: Bench) -> None:
    """A half-open connection: nothing arrives, nothing breaks."""
    it.rig.mute = True
    await until(lambda: it.driver.link is LinkState.DOWN)
    it.rig.mute = False
    await it.up()
    assert it.cable.opened >= 2


@on_bench
async def test_lost_and_damaged_frames_do_not_double_an_act(it: Bench) -> None:
    """Every second frame of the board is lost; each tap is played once."""
    toggle = [False]

    def lossy(data: bytes) -> bytes:
        toggle[0] = not toggle[0]
        return b"" if toggle[0] else data

    it.rig.to_host = lossy
    for _ in range(5):
        assert (await it.driver.play(TAP)).complete
    it.rig.to_host = bytes
    assert len(it.phone.pressed(TOUCH)) == 5


@on_bench
async def test_a_damaged_act_is_repeated_and_played_once(it: Bench) -> None:
    """The board says "bad frame" and gets it again under the same number."""
    damaged: list[bytes] = []

    def damage(data: bytes) -> bytes:
        if not damaged and len(data) > 20:
            damaged.append(data)
            return data[:8] + bytes((data[8] ^ 1,)) + data[9:]
        return data

    it.rig.to_board = damage
    assert (await it.driver.play(TAP)).complete
    assert damaged
    assert len(it.phone.pressed(TOUCH)) == 1


@on_bench
async def test_the_phone_leaving_is_not_the_board_leaving(it: Bench) -> None:
    """USB without a phone is its own state, and nothing is sent into it."""
    it.phone.usb = wire.USB_NONE
    it.phone.down.clear()
    it.rig.poll()
    await until(lambda: it.driver.link is LinkState.NO_PHONE)
    with pytest.raises(LinkLostError, match="not connected"):
        await it.driver.play(TAP)
    it.phone.usb = wire.USB_MOUNTED
    it.rig.poll()
    await it.up()
    assert (await it.driver.play(TAP)).complete


@on_bench
async def test_a_sleeping_phone_takes_a_key_but_no_touch(it: Bench) -> None:
    """A touch is refused with what to do; a key is what wakes it."""
    it.phone.usb = wire.USB_SUSPENDED
    it.rig.poll()
    await asyncio.sleep(0.1)
    assert it.driver.link is LinkState.UP
    with pytest.raises(ActRefusedError, match="wake it with a key"):
        await it.driver.play(TAP)
    assert (await it.driver.play(ConsumerTap(usage=0x30))).complete


@on_bench
async def test_a_phone_that_resets_its_usb_during_an_act(it: Bench) -> None:
    """The act's end is unknown; the board is still there."""
    playing = asyncio.create_task(it.driver.play(LONG))
    await until(lambda: it.phone.down)
    it.phone.usb = wire.USB_NONE
    it.phone.down.clear()
    it.rig.poll()
    with pytest.raises(ActUnknownError):
        await playing
    assert it.cable.opened == 1


@on_bench
async def test_stopping_a_text_ends_between_two_characters(it: Bench) -> None:
    """No report follows the stop's end, nothing is held."""
    playing = asyncio.create_task(it.driver.play(ACTS["text"]))
    await until(lambda: len(it.phone.pressed(KEYS)) == 5)
    assert await it.driver.stop()
    reports = len(it.phone.reports)
    assert it.phone.down == {}
    assert await playing == Played(complete=False, steps=5)
    await asyncio.sleep(5)
    assert len(it.phone.reports) == reports
    assert len(it.phone.pressed(KEYS)) == 5


@on_bench
async def test_stopping_a_long_gesture_breaks_it_off(it: Bench) -> None:
    """And a gesture that has half a second left is finished."""
    playing = asyncio.create_task(it.driver.play(LONG))
    await until(lambda: it.phone.down)
    await asyncio.sleep(1)
    assert await it.driver.stop()
    assert not (await playing).complete
    reports = len(it.phone.reports)

    playing = asyncio.create_task(it.driver.play(LONG))
    await asyncio.sleep(3.7)
    assert await it.driver.stop()
    assert (await playing).complete
    last_touch = it.phone.pressed(TOUCH)[-1]
    assert struct.unpack("<BBHHB", last_touch)[2:4] == (32767, 32767)
    assert len(it.phone.reports) > reports
    assert it.phone.down == {}


@on_bench
async def test_stopping_at_once_does_not_wait_for_a_safe_point(it: Bench) -> None:
    """For an owner who is not to be trusted any more."""
    playing = asyncio.create_task(it.driver.play(LONG))
    await asyncio.sleep(3.7)
    assert await it.driver.stop(at_once=True)
    assert not (await playing).complete
    assert it.phone.down == {}


@on_bench
async def test_a_wake_is_told_once(it: Bench) -> None:
    """Pressed once, acknowledged, not told again."""
    await asyncio.sleep(2)
    it.rig.pins.wake = True
    for _ in range(50):
        it.rig.poll()
        await asyncio.sleep(0.02)
    assert [wake.counter for wake in it.wakes] == [1]


def test_a_swapped_board_drives_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The entry is bound to one board; another phone must not be touched."""

    async def main() -> None:
        with BoardRig() as rig:
            driver = Dx1Driver(
                "/dev/ttyUSB0", board_id="00" * 8, open_port=Cable(rig).open
            )
            await driver.start()
            await asyncio.sleep(10)
            assert driver.link is LinkState.DOWN
            with pytest.raises(LinkLostError):
                await driver.play(TAP)
            await driver.close()
            received = Receiver().feed(b"".join(rig.received))
            assert {frame.type for frame in received} == {
                FrameType.HELLO,
                FrameType.GET_CAPS,
            }
            assert rig.phone.presses_after(0) == []

    run(main())
    assert f"another board answers there: {BOARD_ID}" in caplog.text


def test_a_listener_that_fails_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """The others hear of it, a wake too, and the board works."""

    def fail(*_: object) -> None:
        raise ValueError("a listener's own fault")

    async def main() -> None:
        with BoardRig() as rig:
            heard: list[LinkState] = []
            driver = Dx1Driver("/dev/ttyUSB0", open_port=Cable(rig).open, on_wake=fail)
            driver.subscribe(fail)
            driver.subscribe(lambda: heard.append(driver.link))
            await driver.start()
            await until(lambda: driver.link is LinkState.UP)
            await asyncio.sleep(2)
            rig.pins.wake = True
            for _ in range(50):
                rig.poll()
                await asyncio.sleep(0.02)
            assert (await driver.play(TAP)).complete
            assert heard == [LinkState.UP]
            await driver.close()
            assert heard == [LinkState.UP, LinkState.DOWN]

    run(main())
    failures = [record for record in caplog.records if record.exc_info]
    assert [record.getMessage() for record in failures] == [
        "A listener to the board at /dev/ttyUSB0 failed"
    ] * 3


def test_a_loss_is_logged_once_and_the_return_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """However many attempts lie between them; the pauses between those grow."""

    async def main() -> None:
        async with bench() as it:
            await it.up()
            it.cable.pull()
            await asyncio.sleep(60)
            it.cable.plugged = True
            await it.up()

    caplog.set_level(logging.INFO)
    run(main())
    lines = [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith("custom_components.aiden_duplex.phone")
    ]
    assert lines == [
        "No connection to the board at /dev/serial/by-id/board: the port was closed",
        "The board at /dev/serial/by-id/board answers again",
    ]


def test_reconnecting_backs_off() -> None:
    """From a quarter of a second to five, with jitter."""

    async def main() -> list[float]:
        attempts: list[float] = []

        async def refuse(_factory: Callable[[], asyncio.Protocol]) -> asyncio.Transport:
            attempts.append(asyncio.get_running_loop().time())
            raise ConnectionRefusedError(111, "Connection refused")

        driver = Dx1Driver("socket://127.0.0.1:1", open_port=refuse)
        await driver.start()
        await asyncio.sleep(60)
        await driver.close()
        return attempts

    attempts = run(main())
    pauses = [b - a for a, b in itertools.pairwise(attempts)]
    assert 0.2 <= pauses[0] <= 0.31
    assert all(pause <= 6.01 for pause in pauses)
    assert all(pause >= 4 for pause in pauses[6:])
    assert len({round(pause, 4) for pause in pauses[6:]}) > 3


def test_closing_releases_what_is_held() -> None:
    """An unload in the middle of a gesture leaves no finger on the screen."""

    async def main() -> None:
        async with bench() as it:
            await it.up()
            playing = asyncio.create_task(it.driver.play(LONG))
            await until(lambda: it.phone.down)
            await it.driver.close()
            assert it.phone.down == {}
            assert it.driver.link is LinkState.DOWN
            assert not (await playing).complete

    run(main())


class StuckTransport(asyncio.Transport):
    """A port whose orderly close never ends."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        """Note what happens."""
        super().__init__()
        self.protocol = protocol
        self.aborted = False

    @override
    def write(self, data: object) -> None:
        """Swallow it."""

    @override
    def is_closing(self) -> bool:
        """Return False."""
        return False

    @override
    def close(self) -> None:
        """Hang."""

    @override
    def abort(self) -> None:
        """Close at last."""
        self.aborted = True
        asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)


def test_a_port_that_does_not_close_is_aborted_and_not_listened_to() -> None:
    """What it still brings belongs to no session, least of all to the next port's."""

    async def main() -> None:
        client = Dx1Client(session=1)
        events: list[Dx1Event] = []
        port = Dx1Port(client, events.append)
        transports: list[StuckTransport] = []

        async def opener(factory: Callable[[], asyncio.Protocol]) -> asyncio.Transport:
            protocol = factory()
            transports.append(StuckTransport(protocol))
            protocol.connection_made(transports[0])
            return transports[0]

        await port.open(opener)
        closing = asyncio.create_task(port.close())
        await asyncio.sleep(1)
        assert events == [Lost(reason=LossReason.PORT)]
        client.opened(asyncio.get_running_loop().time())
        port.data_received(encode(Frame(type=FrameType.ACK, seq=0, payload=b"\x00")))
        assert client.take_output().count(b"\x00") == 2
        await closing
        assert transports[0].aborted
        assert events == [Lost(reason=LossReason.PORT)]

    run(main())
