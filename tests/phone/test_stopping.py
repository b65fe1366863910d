"""Stop words hold the phone; the kill switch takes it away. Real firmware, virtual time."""

import asyncio

import pytest

from custom_components.aiden_duplex.phone.dx1 import FrameType, Receiver
from custom_components.aiden_duplex.phone.types import (
    ActUnknownError,
    Key,
    LeaseHeldError,
    LeaseRevokedError,
    NotObservedError,
    Point,
)

from .board import KEYS, TOUCH, until
from .test_controller import CENTRE, World, in_world

HOLD_S = 5
REPEATS_S = 0.1
"""The board says three times that everything is up."""


@in_world
async def test_a_stop_word_holds_whoever_has_the_phone(it: World) -> None:
    """No report for five seconds; then a look, and the same lease goes on."""
    lease = await it.ready()
    it.phone.hold(HOLD_S)
    held_at = it.now()
    with pytest.raises(NotObservedError, match="nothing was sent"):
        await it.phone.tap(lease, CENTRE)
    await it.phone.observe(lease)
    assert it.now() - held_at >= HOLD_S
    assert not it.phone.is_held
    assert it.hid.pressed(TOUCH) == []
    await it.phone.tap(lease, CENTRE)
    assert len(it.hid.pressed(TOUCH)) == 1


@in_world
async def test_a_stop_word_breaks_a_long_gesture_off(it: World) -> None:
    """The finger is lifted at once; whether it counted is not known."""
    lease = await it.ready()
    pressing = asyncio.create_task(it.phone.long_press(lease, CENTRE, hold_ms=5000))
    await asyncio.sleep(1)
    held_at = it.now()
    it.phone.hold(HOLD_S)
    with pytest.raises(ActUnknownError, match="the person said stop"):
        await pressing
    assert it.hid.down == {}
    assert it.hid.reports[-1][0] - held_at < 0.05
    await asyncio.sleep(REPEATS_S)
    await it.quiet(HOLD_S - 1)


@in_world
async def test_a_stop_word_ends_typing_between_two_characters(it: World) -> None:
    """What was typed stays; nothing more comes, however many frames were left."""
    lease = await it.ready()
    typing = asyncio.create_task(it.phone.type_text(lease, "x" * 150))
    await until(lambda: len(it.hid.pressed(KEYS)) == 7, step_s=0.001)
    it.phone.hold(HOLD_S)
    with pytest.raises(ActUnknownError):
        await typing
    typed = len(it.hid.pressed(KEYS))
    assert typed <= 8
    await asyncio.sleep(REPEATS_S)
    await it.quiet()
    assert len(it.hid.pressed(KEYS)) == typed


@in_world
async def test_a_look_under_way_does_not_allow_an_act(it: World) -> None:
    """It began before the word and ends after it: it is taken again."""
    lease = it.phone.acquire("task_1")
    looking = asyncio.create_task(it.phone.observe(lease))
    await asyncio.sleep(0.01)
    it.phone.hold(HOLD_S)
    held_at = it.now()
    await looking
    assert it.source.asked[-1] - held_at >= HOLD_S


@in_world
async def test_a_second_word_makes_it_longer_and_a_shorter_one_does_not_shorten(
    it: World,
) -> None:
    """The last moment counts."""
    lease = await it.ready()
    began = it.now()
    it.phone.hold(HOLD_S)
    await asyncio.sleep(3)
    it.phone.hold(HOLD_S)
    it.phone.hold(1)
    await it.phone.observe(lease)
    assert 8 <= it.now() - began < 10


@in_world
async def test_a_revocation_ends_the_wait_of_a_held_look(it: World) -> None:
    """A cancel after the stop word does not take five seconds."""
    lease = await it.ready()
    it.phone.hold(HOLD_S)
    looking = asyncio.create_task(it.phone.observe(lease))
    await asyncio.sleep(1)
    revoked_at = it.now()
    it.phone.revoke("task_1")
    with pytest.raises(LeaseRevokedError):
        await looking
    assert it.now() == revoked_at


@in_world
async def test_the_kill_switch_takes_the_phone_from_everybody(it: World) -> None:
    """All up at once, no lease for anybody, until it is turned off."""
    lease = await it.ready()
    swiping = asyncio.create_task(
        it.phone.swipe(lease, Point(x=500, y=900), Point(x=500, y=100))
    )
    await asyncio.sleep(0.2)
    halted_at = it.now()
    it.phone.halt()
    with pytest.raises(LeaseRevokedError):
        await swiping
    assert it.hid.down == {}
    assert it.hid.reports[-1][0] - halted_at < 0.05
    with pytest.raises(LeaseHeldError, match="kill switch"):
        it.phone.acquire("task_2")
    with pytest.raises(LeaseRevokedError):
        await it.phone.press_key(lease, Key.HOME)
    await asyncio.sleep(REPEATS_S)
    await it.quiet()
    it.phone.resume()
    second = await it.ready("task_2")
    await it.phone.tap(second, CENTRE)


@in_world
async def test_the_kill_switch_lets_go_although_nobody_has_the_phone(
    it: World,
) -> None:
    """Whatever the board may hold is released."""
    received = len(it.rig.received)
    it.phone.halt()
    await asyncio.sleep(REPEATS_S)
    sent = Receiver().feed(b"".join(it.rig.received[received:]))
    assert FrameType.RELEASE_ALL in [frame.type for frame in sent]
    assert it.hid.down == {}
