"""The phone as its users see it: real firmware, drawn pictures, virtual time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
import contextlib
from io import BytesIO
import logging
import struct
from typing import Unpack

from PIL import Image
import pytest

from custom_components.aiden_duplex.phone.controller import PhoneController
from custom_components.aiden_duplex.phone.coordinates import TouchSpace
from custom_components.aiden_duplex.phone.dx1 import FrameType, Receiver
from custom_components.aiden_duplex.phone.lease import Lease
from custom_components.aiden_duplex.phone.link import Dx1Driver
from custom_components.aiden_duplex.phone.picture import SourceFrame
from custom_components.aiden_duplex.phone.types import (
    ActRefusedError,
    ActUnknownError,
    Area,
    Key,
    LeaseHeldError,
    LeaseRevokedError,
    LinkLostError,
    LinkState,
    NotObservedError,
    PictureError,
    Point,
    Settle,
    UnsupportedTextError,
)
from hardware_bridge.firmware.aiden_bridge import dx1 as wire
from tests.virtual_time import run

from .board import CONSUMER, KEYS, TOUCH, BoardRig, Cable, run_inline, until
from .screens import Drawing, captured, screen

SIZE = (960, 540)
PHONE = Area(left=355, top=0, width=250, height=540)


def shown(**drawing: Unpack[Drawing]) -> bytes:
    """Return the capture of an app; small, to be decoded quickly."""
    app = screen(PHONE.width, PHONE.height, **drawing)
    return captured(app, PHONE, SIZE)


IDLE = shown()
TOGGLED = shown(toggle=True)
MOVING = [shown(scroll=step * 20) for step in range(4)]
BLACK = captured(None, size=SIZE)
CENTRE = Point(x=500, y=500)


class FakeSource:
    """Gives what it is told to; remembers when it was asked."""

    def __init__(self) -> None:
        """Start with a still app."""
        self.picture: Callable[[], bytes] = lambda: IDLE
        self.sequence: Callable[[], str | None] = lambda: None
        self.age_s: Callable[[], float] = lambda: 0.0
        self.latency_s = 0.02
        self.asked: list[float] = []

    async def fetch(self) -> SourceFrame:
        """Return a picture."""
        now = asyncio.get_running_loop().time()
        self.asked.append(now)
        await asyncio.sleep(self.latency_s)
        return SourceFrame(
            data=self.picture(),
            content_type="image/jpeg",
            captured_at=now - self.age_s(),
            sequence=self.sequence(),
        )

    def fail(self, reason: str = "answered 503") -> None:
        """Give no picture any more."""

        def broken() -> bytes:
            raise PictureError(reason)

        self.picture = broken


class World:
    """A phone with a board and a picture."""

    def __init__(self, rig: BoardRig, touch_space: TouchSpace) -> None:
        """Put them together."""
        self.rig = rig
        self.hid = rig.phone
        self.cable = Cable(rig)
        self.source = FakeSource()
        self.phone = PhoneController(
            driver=Dx1Driver("/dev/board", open_port=self.cable.open),
            picture=self.source,
            run_blocking=run_inline,
            touch_space=touch_space,
        )
        self.changes: list[tuple[LinkState, bool]] = []
        self.phone.subscribe(
            lambda: self.changes.append((self.phone.link, self.phone.picture_ok))
        )

    async def up(self) -> None:
        """Wait for the link and the end of the first release."""
        await until(lambda: self.phone.link is LinkState.UP, timeout_s=30)
        await asyncio.sleep(0.1)

    async def ready(self, owner: str = "task_1") -> Lease:
        """Take the lease and look."""
        lease = self.phone.acquire(owner)
        await self.phone.observe(lease)
        return lease

    def now(self) -> float:
        """Return the time."""
        return asyncio.get_running_loop().time()

    async def quiet(self, seconds: float = 10.0) -> None:
        """Assert that nothing is held and that no report is sent for a while."""
        reports = len(self.hid.reports)
        assert self.hid.down == {}
        await asyncio.sleep(seconds)
        assert self.hid.reports[reports:] == []


@contextlib.asynccontextmanager
async def world(touch_space: TouchSpace = TouchSpace.FRAME) -> AsyncIterator[World]:
    """Give a started world whose link is up; close it and look that nothing is left."""
    with BoardRig() as rig:
        it = World(rig, touch_space)
        await it.phone.start()
        try:
            await it.up()
            yield it
        finally:
            await it.phone.close()
            assert it.hid.down == {}
            others = asyncio.all_tasks() - {asyncio.current_task()}
            assert not others, others


def in_world(test: Callable[[World], Awaitable[None]]) -> Callable[[], None]:
    """Run a test in a world, in virtual time."""

    async def main() -> None:
        async with world() as it:
            await test(it)

    def wrapper() -> None:
        run(main())

    wrapper.__name__ = test.__name__
    wrapper.__doc__ = test.__doc__
    return wrapper


def place(report: bytes) -> tuple[int, int]:
    """Return where a touch report is."""
    _, _, x, y, _ = struct.unpack("<BBHHB", report)
    return x, y


# Looking.


@in_world
async def test_an_observation_shows_the_phone_alone(it: World) -> None:
    """Its picture, where it lies in the source, how it came to rest."""
    seen = await it.phone.observe(it.phone.acquire("task_1"))
    assert (seen.source_width, seen.source_height) == SIZE
    assert abs(seen.area.left - PHONE.left) <= 8
    assert Image.open(BytesIO(seen.jpeg)).size == (seen.width, seen.height)
    assert (seen.settle, seen.changed) == (Settle.SETTLED, False)
    assert it.phone.last_observation is seen
    assert it.phone.picture_ok


@in_world
async def test_an_observation_is_newer_than_the_last_act(it: World) -> None:
    """Asked for at least 50 ms after the act's end, and compared with before it."""
    lease = await it.ready()
    it.source.asked.clear()
    await it.phone.tap(lease, CENTRE)
    acted_at = it.now()
    it.source.picture = lambda: TOGGLED
    seen = await it.phone.observe(lease)
    assert it.source.asked[0] >= acted_at + 0.05
    assert seen.captured_at >= acted_at + 0.05
    assert (seen.settle, seen.changed) == (Settle.SETTLED, True)
    again = await it.phone.observe(lease)
    assert not again.changed


@in_world
async def test_an_observation_waits_for_the_phone_to_react_and_to_rest(
    it: World,
) -> None:
    """The tap's effect begins after 400 ms and moves for 600."""
    lease = await it.ready()
    await it.phone.tap(lease, CENTRE)
    acted_at = it.now()

    def picture() -> bytes:
        passed = it.now() - acted_at
        return IDLE if passed < 0.4 else MOVING[min(int((passed - 0.4) / 0.2), 3)]

    it.source.picture = picture
    seen = await it.phone.observe(lease)
    assert (seen.settle, seen.changed) == (Settle.SETTLED, True)
    assert it.now() - acted_at >= 1.2


@in_world
async def test_a_picture_that_never_rests_is_a_result(it: World) -> None:
    """A video plays."""
    lease = it.phone.acquire("task_1")
    it.source.picture = lambda: MOVING[int(it.now() * 5) % 4]
    started = it.now()
    assert (await it.phone.observe(lease)).settle is Settle.TIMEOUT
    assert it.now() - started < 3


@in_world
async def test_a_black_screen_is_its_own_result(it: World) -> None:
    """It allows a key, which may wake the phone."""
    lease = it.phone.acquire("task_1")
    it.source.picture = lambda: BLACK
    assert (await it.phone.observe(lease)).settle is Settle.BLACK
    await it.phone.press_key(lease, Key.POWER)
    assert it.hid.pressed(CONSUMER) == [b"\x30\x00"]


@in_world
async def test_a_picture_that_fails_for_a_moment_is_tried_again(it: World) -> None:
    """And the state is told, once each way."""
    lease = await it.ready()
    it.changes.clear()
    it.source.fail()
    looking = asyncio.create_task(it.phone.observe(lease))
    await asyncio.sleep(5)
    assert not looking.done()
    assert not it.phone.picture_ok
    it.source.picture = lambda: IDLE
    assert (await looking).settle is Settle.SETTLED
    assert it.changes == [(LinkState.UP, False), (LinkState.UP, True)]


@in_world
async def test_pictures_that_fail_for_long_are_an_error(it: World) -> None:
    """After 20 s, with what came instead; a later look works again."""
    lease = await it.ready()
    it.source.fail("answered 503 (text/html): “Camera offline”")
    started = it.now()
    with pytest.raises(PictureError, match="Camera offline"):
        await it.phone.observe(lease)
    assert 19 <= it.now() - started <= 21
    it.source.picture = lambda: IDLE
    await it.phone.observe(lease)


@in_world
async def test_a_damaged_picture_is_a_failed_picture(it: World) -> None:
    """Half a JPEG decides nothing."""
    lease = it.phone.acquire("task_1")
    it.source.picture = lambda: IDLE[:2000]
    with pytest.raises(PictureError, match="damaged"):
        await it.phone.observe(lease)


@in_world
async def test_a_frozen_capture_is_no_picture(it: World) -> None:
    """A source that admits how old its picture is shows the past."""
    lease = it.phone.acquire("task_1")
    frozen_at = it.now()
    it.source.age_s = lambda: it.now() - frozen_at
    await it.phone.observe(lease)
    await asyncio.sleep(5)
    with pytest.raises(PictureError, match="s old: the capture stands still"):
        await it.phone.observe(lease)
    assert not it.phone.picture_ok
    it.source.age_s = lambda: 0.0
    await it.phone.observe(lease)


@in_world
async def test_a_picture_number_that_stands_still_is_no_frozen_capture(
    it: World,
) -> None:
    """Some sources count changes only, and the screen is still."""
    lease = it.phone.acquire("task_1")
    it.source.sequence = lambda: "4711"
    assert (await it.phone.observe(lease)).settle is Settle.SETTLED


@in_world
async def test_a_picture_from_before_the_act_is_not_taken(it: World) -> None:
    """A cache admits an age of two seconds."""
    lease = await it.ready()
    await it.phone.tap(lease, CENTRE)
    acted_at = it.now()
    it.source.age_s = lambda: 2.0
    seen = await it.phone.observe(lease)
    assert seen.captured_at >= acted_at + 0.05


# Acting.


@in_world
async def test_a_tap_hits_what_was_seen(it: World) -> None:
    """In the frame's coordinates, by the area of the observation."""
    lease = await it.ready()
    await it.phone.tap(lease, CENTRE)
    await it.phone.tap(lease, Point(x=0, y=0))
    await it.phone.tap(lease, Point(x=1000, y=1000))
    hits = [place(report) for report in it.hid.pressed(TOUCH)]
    for (x, y), (left, top) in zip(
        hits, ((480, 270), (355, 0), (604, 539)), strict=True
    ):
        assert abs(x * 960 / 32768 - left) <= 5
        assert abs(y * 540 / 32768 - top) <= 1.1


def test_a_phone_with_its_own_touch_space_is_hit_there() -> None:
    """Without the letterbox."""

    async def main() -> None:
        async with world(TouchSpace.SCREEN) as it:
            lease = await it.ready()
            await it.phone.tap(lease, Point(x=1000, y=0))
            assert [place(report) for report in it.hid.pressed(TOUCH)] == [(32767, 0)]

    run(main())


@in_world
async def test_a_swipe_is_a_line_in_time(it: World) -> None:
    """From start to end, evenly, and lifted where it ends."""
    lease = await it.ready()
    start = len(it.hid.reports)
    await it.phone.swipe(
        lease, Point(x=500, y=900), Point(x=500, y=100), duration_ms=400
    )
    reports = it.hid.reports[start:]
    ys = [place(report)[1] for _, _, report in reports]
    assert ys == sorted(ys, reverse=True)
    assert ys[0] == pytest.approx(29491, abs=2)
    assert ys[-1] == pytest.approx(3277, abs=2)
    assert len(ys) > 20
    assert reports[-1][0] - reports[0][0] == pytest.approx(0.416, abs=0.02)
    assert not reports[-1][2][0]


@in_world
async def test_a_long_press_holds(it: World) -> None:
    """For its time."""
    lease = await it.ready()
    start = len(it.hid.reports)
    await it.phone.long_press(lease, CENTRE, hold_ms=900)
    (down_at, _, _), (up_at, _, _) = it.hid.reports[start:]
    assert up_at - down_at == pytest.approx(0.9, abs=0.01)


@in_world
async def test_a_long_text_is_typed_whole_and_in_order(it: World) -> None:
    """Over several frames of the protocol."""
    lease = await it.ready()
    text = "The quick brown fox jumps over the lazy dog; " * 6
    await it.phone.type_text(lease, text)
    assert len(it.hid.pressed(KEYS)) == len(text)


KEY_REPORTS = [
    (Key.HOME, CONSUMER, b"\x23\x02"),
    (Key.BACK, CONSUMER, b"\x24\x02"),
    (Key.RECENTS, CONSUMER, b"\x9f\x02"),
    (Key.VOLUME_UP, CONSUMER, b"\xe9\x00"),
    (Key.VOLUME_DOWN, CONSUMER, b"\xea\x00"),
    (Key.POWER, CONSUMER, b"\x30\x00"),
    (Key.ENTER, KEYS, bytes((0, 0, 0x28, 0, 0, 0, 0, 0))),
    (Key.BACKSPACE, KEYS, bytes((0, 0, 0x2A, 0, 0, 0, 0, 0))),
    (Key.ESCAPE, KEYS, bytes((0, 0, 0x29, 0, 0, 0, 0, 0))),
    (Key.TAB, KEYS, bytes((0, 0, 0x2B, 0, 0, 0, 0, 0))),
    (Key.UP, KEYS, bytes((0, 0, 0x52, 0, 0, 0, 0, 0))),
    (Key.DOWN, KEYS, bytes((0, 0, 0x51, 0, 0, 0, 0, 0))),
    (Key.LEFT, KEYS, bytes((0, 0, 0x50, 0, 0, 0, 0, 0))),
    (Key.RIGHT, KEYS, bytes((0, 0, 0x4F, 0, 0, 0, 0, 0))),
]


@pytest.mark.parametrize(("key", "report_id", "report"), KEY_REPORTS)
def test_every_key_is_one_report_down_and_up(
    key: Key, report_id: int, report: bytes
) -> None:
    """Whatever usage carries it."""

    async def main() -> None:
        async with world() as it:
            lease = await it.ready()
            start = len(it.hid.reports)
            await it.phone.press_key(lease, key)
            sent = [(kind, data) for _, kind, data in it.hid.reports[start:]]
            assert sent == [(report_id, report), (report_id, bytes(len(report)))]

    run(main())


def test_every_key_is_known() -> None:
    """No key of the vocabulary is forgotten."""
    assert {key for key, _, _ in KEY_REPORTS} == set(Key)


@in_world
async def test_text_that_cannot_be_typed_is_refused_whole(it: World) -> None:
    """Nothing half-typed."""
    lease = await it.ready()
    with pytest.raises(UnsupportedTextError):
        await it.phone.type_text(lease, "Gr\u00fc\u00dfe")
    with pytest.raises(UnsupportedTextError):
        await it.phone.type_text(lease, "send\n")
    with pytest.raises(ActRefusedError, match="2000 characters"):
        await it.phone.type_text(lease, "x" * 2001)
    assert it.hid.pressed(KEYS) == []
    await it.phone.type_text(lease, "ok\n", allow_enter=True)
    assert len(it.hid.pressed(KEYS)) == 3


@in_world
async def test_impossible_times_are_refused(it: World) -> None:
    """The board would break them off."""
    lease = await it.ready()
    with pytest.raises(ActRefusedError, match="10000"):
        await it.phone.long_press(lease, CENTRE, hold_ms=10_001)
    with pytest.raises(ActRefusedError):
        await it.phone.swipe(lease, CENTRE, CENTRE, duration_ms=10_000)
    with pytest.raises(ActRefusedError):
        await it.phone.tap(lease, CENTRE, hold_ms=0)


# The lease.


@in_world
async def test_nobody_acts_without_looking_first(it: World) -> None:
    """Each new owner, also the same one again."""
    for owner in ("task_1", "task_1"):
        lease = it.phone.acquire(owner)
        for act in (
            it.phone.tap(lease, CENTRE),
            it.phone.type_text(lease, "x"),
            it.phone.press_key(lease, Key.HOME),
            it.phone.swipe(lease, CENTRE, CENTRE),
        ):
            with pytest.raises(NotObservedError):
                await act
        await it.phone.observe(lease)
        await it.phone.tap(lease, CENTRE)
        await it.phone.release(lease)
    assert len(it.hid.pressed(TOUCH)) == 2


@in_world
async def test_a_second_owner_is_refused_until_the_first_lets_go(it: World) -> None:
    """And an old lease is nothing."""
    old = await it.ready()
    with pytest.raises(LeaseHeldError):
        it.phone.acquire("task_2")
    it.phone.revoke("task_2")
    await it.phone.tap(old, CENTRE)
    await it.phone.release(old)
    await it.ready("task_2")
    with pytest.raises(LeaseRevokedError):
        await it.phone.tap(old, CENTRE)
    with pytest.raises(LeaseRevokedError):
        await it.phone.observe(old)
    await it.phone.release(old)
    with pytest.raises(LeaseHeldError):
        it.phone.acquire("task_3")


@in_world
async def test_revoking_during_a_text_stops_between_characters(it: World) -> None:
    """Exactly the characters so far, shift up, silence after the release."""
    lease = await it.ready()
    typing = asyncio.create_task(it.phone.type_text(lease, "A" * 150))
    await until(lambda: len(it.hid.pressed(KEYS)) == 7, step_s=0.001)
    assert it.hid.down
    it.phone.revoke("task_1")
    with pytest.raises(LeaseRevokedError, match="7 steps"):
        await typing
    await it.phone.release(lease)
    await it.quiet()
    assert len(it.hid.pressed(KEYS)) == 7


@in_world
async def test_revoking_between_the_frames_of_a_text_sends_no_further_one(
    it: World,
) -> None:
    """A text of two frames, revoked in the second."""
    lease = await it.ready()
    typing = asyncio.create_task(it.phone.type_text(lease, "x" * 150))
    await until(lambda: len(it.hid.pressed(KEYS)) == 99, step_s=0.001)
    it.phone.revoke("task_1")
    with pytest.raises(LeaseRevokedError):
        await typing
    await it.phone.release(lease)
    await it.quiet()
    assert len(it.hid.pressed(KEYS)) == 99


@in_world
async def test_revoking_a_long_gesture_lifts_the_finger(it: World) -> None:
    """More than half a second remains: broken off, released, silent."""
    lease = await it.ready()
    pressing = asyncio.create_task(it.phone.long_press(lease, CENTRE, hold_ms=5000))
    await asyncio.sleep(1)
    revoked_at = it.now()
    it.phone.revoke("task_1")
    with pytest.raises(LeaseRevokedError):
        await pressing
    await it.phone.release(lease)
    assert it.now() - revoked_at < 0.3
    await it.quiet()
    assert it.hid.reports[-1][0] - revoked_at < 0.05


@in_world
async def test_a_gesture_that_is_nearly_through_is_finished(it: World) -> None:
    """Cutting it would make another gesture of it."""
    lease = await it.ready()
    swiping = asyncio.create_task(
        it.phone.swipe(lease, Point(x=500, y=900), Point(x=500, y=100))
    )
    await asyncio.sleep(0.1)
    it.phone.revoke("task_1")
    await it.phone.release(lease)
    await swiping
    assert place(it.hid.pressed(TOUCH)[-1])[1] == pytest.approx(3277, abs=2)
    await it.quiet()


@in_world
async def test_after_a_revocation_nothing_starts(it: World) -> None:
    """Acts and looks are refused; the lease stays out until it is given back."""
    lease = await it.ready()
    it.phone.revoke("task_1")
    with pytest.raises(LeaseRevokedError, match="nothing was sent"):
        await it.phone.tap(lease, CENTRE)
    with pytest.raises(LeaseRevokedError):
        await it.phone.observe(lease)
    with pytest.raises(LeaseHeldError):
        it.phone.acquire("task_2")
    await it.phone.release(lease)
    assert it.hid.pressed(TOUCH) == []
    await it.ready("task_2")


@in_world
async def test_a_revocation_ends_a_look_that_waits_for_pictures(it: World) -> None:
    """Within one try, not at the deadline."""
    lease = await it.ready()
    it.source.fail()
    looking = asyncio.create_task(it.phone.observe(lease))
    await asyncio.sleep(3)
    revoked_at = it.now()
    it.phone.revoke("task_1")
    with pytest.raises(LeaseRevokedError):
        await looking
    assert it.now() - revoked_at < 1


@in_world
async def test_a_revocation_ends_waiting_for_the_link(it: World) -> None:
    """At once."""
    lease = await it.ready()
    it.cable.pull()
    await until(lambda: it.phone.link is LinkState.DOWN)
    tapping = asyncio.create_task(it.phone.tap(lease, CENTRE))
    await asyncio.sleep(3)
    revoked_at = it.now()
    it.phone.revoke("task_1")
    with pytest.raises(LeaseRevokedError):
        await tapping
    assert it.now() == revoked_at


@in_world
async def test_a_fenced_owner_sends_nothing_more(it: World) -> None:
    """Its act is cut, its lease dead, the next owner starts clean."""
    lease = await it.ready()
    pressing = asyncio.create_task(it.phone.long_press(lease, CENTRE, hold_ms=5000))
    await asyncio.sleep(4.8)
    it.phone.fence("task_1")
    with pytest.raises(LeaseRevokedError):
        await pressing
    new = it.phone.acquire("task_2")
    await it.phone.observe(new)
    assert it.hid.down == {}
    touches = len(it.hid.pressed(TOUCH))
    with pytest.raises(LeaseRevokedError):
        await it.phone.tap(lease, CENTRE)
    await it.phone.release(lease)
    assert len(it.hid.pressed(TOUCH)) == touches
    await it.phone.tap(new, CENTRE)
    assert len(it.hid.pressed(TOUCH)) == touches + 1


ACTS: dict[str, Callable[[World, Lease], Awaitable[None]]] = {
    "tap": lambda it, lease: it.phone.tap(lease, CENTRE, hold_ms=2000),
    "swipe": lambda it, lease: it.phone.swipe(
        lease, Point(x=0, y=0), CENTRE, duration_ms=3000
    ),
    "text": lambda it, lease: it.phone.type_text(lease, "Aa" * 40),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_a_cancelled_caller_leaves_nothing_held(
    act: Callable[[World, Lease], Awaitable[None]], caplog: pytest.LogCaptureFixture
) -> None:
    """Within a second; the screen counts as unsettled; nothing is called an error."""

    async def main() -> None:
        async with world() as it:
            lease = await it.ready()
            acting = asyncio.ensure_future(act(it, lease))
            await until(lambda: it.hid.down, step_s=0.001)
            cancelled_at = it.now()
            acting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await acting
            assert it.now() - cancelled_at <= 1.0
            await it.quiet(5)
            with pytest.raises(NotObservedError):
                await it.phone.tap(lease, CENTRE)

    run(main())
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


@in_world
async def test_a_caller_cancelled_while_waiting_for_the_link_sends_nothing(
    it: World,
) -> None:
    """Not even when the link is back."""
    lease = await it.ready()
    it.cable.pull()
    await until(lambda: it.phone.link is LinkState.DOWN)
    tapping = asyncio.create_task(it.phone.tap(lease, CENTRE))
    await asyncio.sleep(1)
    tapping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await tapping
    it.cable.plugged = True
    await it.up()
    await it.quiet()
    assert it.hid.pressed(TOUCH) == []


@in_world
async def test_two_acts_at_once_are_played_one_after_the_other(it: World) -> None:
    """Never mixed."""
    lease = await it.ready()
    await asyncio.gather(
        it.phone.type_text(lease, "aaa"), it.phone.type_text(lease, "bbb")
    )
    assert [report[2] for report in it.hid.pressed(KEYS)] == [4] * 3 + [5] * 3


# The link.


@in_world
async def test_an_act_waits_for_a_board_that_is_away_and_then_wants_a_fresh_look(
    it: World,
) -> None:
    """Whatever was on the screen before the outage, nothing is sent on its picture."""
    lease = await it.ready()
    it.cable.pull()
    await until(lambda: it.phone.link is LinkState.DOWN)
    tapping = asyncio.create_task(it.phone.tap(lease, CENTRE))
    await asyncio.sleep(8)
    it.cable.plugged = True
    with pytest.raises(NotObservedError, match="look at the screen"):
        await tapping
    assert it.hid.pressed(TOUCH) == []
    await it.phone.observe(lease)
    await it.phone.tap(lease, CENTRE)
    assert len(it.hid.pressed(TOUCH)) == 1


@in_world
async def test_an_outage_between_look_and_act_wants_a_fresh_look(it: World) -> None:
    """A link that came back before the act began is no better."""
    lease = await it.ready()
    it.cable.pull()
    await until(lambda: it.phone.link is LinkState.DOWN)
    it.cable.plugged = True
    await until(lambda: it.phone.link is LinkState.UP)
    with pytest.raises(NotObservedError, match="look at the screen"):
        await it.phone.tap(lease, CENTRE)
    await it.phone.observe(lease)
    await it.phone.tap(lease, CENTRE)
    assert len(it.hid.pressed(TOUCH)) == 1


@pytest.mark.parametrize(
    ("board", "sentence"),
    [(False, "the board does not answer"), (True, "the phone is not connected")],
)
def test_an_act_does_not_wait_for_ever(board: bool, sentence: str) -> None:
    """Twenty seconds; nothing was sent, and what is missing is said."""

    async def main() -> None:
        async with world() as it:
            lease = await it.ready()
            if board:
                it.hid.usb = wire.USB_NONE
                it.rig.poll()
            else:
                it.cable.pull()
            await until(lambda: it.phone.link is not LinkState.UP)
            started = it.now()
            with pytest.raises(LinkLostError, match=sentence):
                await it.phone.tap(lease, CENTRE)
            assert 19.5 <= it.now() - started <= 20.5

    run(main())


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_unplugging_during_an_act_is_unknown_and_demands_a_look(
    act: Callable[[World, Lease], Awaitable[None]],
) -> None:
    """Never sent again; the next act only after looking."""

    async def main() -> None:
        async with world() as it:
            lease = await it.ready()
            acting = asyncio.ensure_future(act(it, lease))
            await until(lambda: it.hid.down, step_s=0.001)
            it.cable.pull()
            with pytest.raises(ActUnknownError):
                await acting
            await asyncio.sleep(6)
            presses = len(it.hid.reports)
            it.cable.plugged = True
            await it.up()
            await asyncio.sleep(5)
            assert it.hid.presses_after(presses) == []
            with pytest.raises(NotObservedError):
                await it.phone.tap(lease, CENTRE)
            await it.phone.observe(lease)
            await it.phone.tap(lease, CENTRE)

    run(main())


@in_world
async def test_an_end_that_is_never_reported_lets_go_of_everything(it: World) -> None:
    """The link is healthy, the board's DONE is lost again and again."""
    lease = await it.ready()

    def without_done(data: bytes) -> bytes:
        frames = Receiver().feed(data)
        return b"" if any(frame.type == FrameType.DONE for frame in frames) else data

    it.rig.to_host = without_done
    received = len(it.rig.received)
    with pytest.raises(ActUnknownError):
        await it.phone.tap(lease, CENTRE)
    await asyncio.sleep(0.2)
    await it.quiet()
    sent = Receiver().feed(b"".join(it.rig.received[received:]))
    assert FrameType.ABORT in {frame.type for frame in sent}
    assert it.phone.link is LinkState.UP
    assert len(it.hid.pressed(TOUCH)) == 1


@in_world
async def test_stopping_while_the_link_breaks_comes_to_an_end(it: World) -> None:
    """The board answers the stop, then nothing any more."""
    lease = await it.ready()
    pressing = asyncio.create_task(it.phone.long_press(lease, CENTRE, hold_ms=5000))
    await asyncio.sleep(1)
    it.phone.revoke("task_1")
    await asyncio.sleep(0.02)
    it.cable.pull()
    with pytest.raises((LeaseRevokedError, ActUnknownError)):
        await pressing
    released_at = it.now()
    await it.phone.release(lease)
    assert it.now() - released_at < 0.5


@in_world
async def test_releasing_with_the_board_away_does_not_hang(it: World) -> None:
    """The board lets go by itself."""
    lease = await it.ready()
    it.cable.pull()
    await until(lambda: it.phone.link is LinkState.DOWN)
    started = it.now()
    await it.phone.release(lease)
    assert it.now() - started < 0.1
    await it.ready("task_2")


@in_world
async def test_releasing_with_a_dead_board_is_bounded(it: World) -> None:
    """A half-open connection answers nothing."""
    lease = await it.ready()
    it.rig.mute = True
    started = it.now()
    await it.phone.release(lease)
    assert it.now() - started <= 3.0
    it.rig.mute = False


@in_world
async def test_closing_in_the_middle_of_an_act_lets_go(it: World) -> None:
    """An unload while a text is typed."""
    lease = await it.ready()
    typing = asyncio.create_task(it.phone.type_text(lease, "A" * 90))
    await until(lambda: it.hid.down, step_s=0.001)
    await it.phone.close()
    assert it.hid.down == {}
    with pytest.raises((LeaseRevokedError, ActUnknownError)):
        await typing
    with pytest.raises(LeaseRevokedError):
        await it.phone.tap(lease, CENTRE)
    assert it.phone.link is LinkState.DOWN


@in_world
async def test_changes_are_told_until_unsubscribed(it: World) -> None:
    """Link and picture, both."""
    seen: list[LinkState] = []
    undo = it.phone.subscribe(lambda: seen.append(it.phone.link))
    it.cable.pull()
    await until(lambda: it.phone.link is LinkState.DOWN)
    it.cable.plugged = True
    await it.up()
    assert seen == [LinkState.DOWN, LinkState.UP]
    undo()
    it.cable.pull()
    await until(lambda: it.phone.link is LinkState.DOWN)
    assert len(seen) == 2


def test_without_board_or_picture_everything_says_what_is_missing() -> None:
    """An entry that is only half set up."""

    async def main() -> None:
        source = FakeSource()
        blind = PhoneController(driver=None, picture=None, run_blocking=run_inline)
        await blind.start()
        lease = blind.acquire("task_1")
        with pytest.raises(PictureError, match="set up"):
            await blind.observe(lease)
        assert blind.link is LinkState.DOWN
        await blind.release(lease)
        await blind.close()

        mute = PhoneController(driver=None, picture=source, run_blocking=run_inline)
        lease = mute.acquire("task_1")
        await mute.observe(lease)
        with pytest.raises(ActRefusedError, match="no board is set up"):
            await mute.tap(lease, CENTRE)
        mute.revoke("task_1")
        await mute.close()

    run(main())


def test_what_is_typed_and_where_is_tapped_is_never_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Passwords pass through here; nothing above debug but the link's state."""

    async def main() -> None:
        async with world() as it:
            lease = await it.ready()
            await it.phone.type_text(lease, "hunter2")
            await it.phone.tap(lease, CENTRE)
            it.phone.revoke("task_1")
            await it.phone.release(lease)

    caplog.set_level(logging.INFO)
    run(main())
    ours = [r.getMessage() for r in caplog.records if "aiden" in r.name]
    assert ours == []
