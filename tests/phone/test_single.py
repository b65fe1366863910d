"""Single acts beside a task: who is refused, who waits. Real firmware, virtual time."""

import asyncio

import pytest

from custom_components.aiden_duplex.phone.control import LOAN_S
from custom_components.aiden_duplex.phone.controller import PhoneController
from custom_components.aiden_duplex.phone.dx1 import FrameType, Receiver
from custom_components.aiden_duplex.phone.single import (
    PressKey,
    SingleAct,
    Swipe,
    Tap,
    TypeText,
    perform,
)
from custom_components.aiden_duplex.phone.types import (
    ActRefusedError,
    ActUnknownError,
    HaltedPhoneError,
    Key,
    LeaseHeldError,
    LeaseRevokedError,
    LentPhoneError,
    LinkLostError,
    NoBoardError,
    NotObservedError,
    PictureError,
    Point,
    StoppedPhoneError,
    UnsupportedTextError,
)
from hardware_bridge.firmware.aiden_bridge import dx1 as wire
from tests.virtual_time import run

from .board import CONSUMER, KEYS, TOUCH, run_inline, until
from .test_controller import BLACK, CENTRE, World, in_world

HOME = PressKey(key=Key.HOME)
REPEATS_S = 0.1
"""The board says three times that everything is up."""


async def _act(it: World, act: SingleAct, *, preempt: bool = False) -> None:
    """Do a single act, as an automation would."""
    await perform(it.phone, act, owner="automation", preempt=preempt)


# Alone.


@in_world
async def test_a_key_and_a_text_need_no_look(it: World) -> None:
    """Nobody would read the picture: none is asked for, and a broken one does not matter."""
    it.source.fail()
    await _act(it, HOME)
    await _act(it, TypeText(text="ab", submit=True))
    assert len(it.hid.pressed(CONSUMER)) == 1
    assert [report[2] for report in it.hid.pressed(KEYS)] == [4, 5, 0x28]
    assert it.source.asked == []
    assert it.hid.down == {}


@in_world
async def test_touches_look_first(it: World) -> None:
    """Only a look tells where the phone's screen lies in the picture."""
    await _act(it, Tap(point=CENTRE))
    assert len(it.source.asked) > 0
    assert len(it.hid.pressed(TOUCH)) == 1
    await _act(it, Swipe(start=Point(x=500, y=900), end=Point(x=500, y=100)))
    assert len(it.hid.pressed(TOUCH)) > 3
    await it.quiet(1)


@in_world
async def test_everything_is_let_go_afterwards(it: World) -> None:
    """Also when the act went well."""
    received = len(it.rig.received)
    await _act(it, HOME)
    sent = Receiver().feed(b"".join(it.rig.received[received:]))
    order = [frame.type for frame in sent]
    assert FrameType.ABORT in order[order.index(FrameType.CONSUMER) :]
    await it.quiet(1)


@in_world
async def test_a_key_goes_after_an_outage_that_nobody_looked_after(it: World) -> None:
    """The rule to look first is for those who decide by the picture."""
    it.hid.usb = wire.USB_NONE
    it.rig.restart(2)
    await until(lambda: it.phone.link.value != "up", timeout_s=30)
    it.hid.usb = wire.USB_MOUNTED
    it.rig.restart(3)
    await it.up()
    await _act(it, HOME)
    assert len(it.hid.pressed(CONSUMER)) == 1


# Refused.


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (TypeText(text=""), ActRefusedError),
        (TypeText(text="a\nb"), ActRefusedError),
        (TypeText(text="x" * 501), ActRefusedError),
        (TypeText(text="日"), UnsupportedTextError),
    ],
)
def test_a_text_that_cannot_be_typed_interrupts_nobody(
    act: SingleAct, error: type[Exception]
) -> None:
    """The task keeps its look."""

    @in_world
    async def scenario(it: World) -> None:
        lease = await it.ready()
        with pytest.raises(error):
            await _act(it, act, preempt=True)
        await it.phone.tap(lease, CENTRE)
        assert it.phone.loans == 0

    scenario()


@in_world
async def test_refused_while_a_task_has_the_phone(it: World) -> None:
    """Nothing is sent, and the task does not notice."""
    lease = await it.ready()
    with pytest.raises(LeaseHeldError):
        await _act(it, HOME)
    assert it.hid.presses_after(0) == []
    await it.phone.tap(lease, CENTRE)
    assert it.phone.loans == 0


@in_world
async def test_refused_while_the_phone_is_kept_for_a_person(it: World) -> None:
    """No task sends anything now, but an automation must not come between."""
    for preempt in (False, True):
        act = perform(it.phone, HOME, owner="me", preempt=preempt, reserved=True)
        if preempt:
            await act
        else:
            with pytest.raises(LeaseHeldError):
                await act
    assert len(it.hid.pressed(CONSUMER)) == 1


@in_world
async def test_one_at_a_time(it: World) -> None:
    """A second single act is refused, with preempt, too."""
    typing = asyncio.create_task(_act(it, TypeText(text="x" * 100)))
    await until(lambda: it.hid.pressed(KEYS), step_s=0.001)
    for preempt in (False, True):
        with pytest.raises(LentPhoneError):
            await _act(it, HOME, preempt=preempt)
    await typing
    assert it.hid.pressed(CONSUMER) == []
    assert len(it.hid.pressed(KEYS)) == 100
    await _act(it, HOME)


@in_world
async def test_refused_while_a_stop_word_holds(it: World) -> None:
    """Also with preempt; five seconds later it is allowed."""
    it.phone.hold(5)
    with pytest.raises(StoppedPhoneError):
        await _act(it, HOME, preempt=True)
    await asyncio.sleep(5)
    await _act(it, HOME)
    assert len(it.hid.pressed(CONSUMER)) == 1


@in_world
async def test_refused_while_the_kill_switch_is_on(it: World) -> None:
    """Until it is turned off."""
    it.phone.halt()
    with pytest.raises(HaltedPhoneError):
        await _act(it, HOME, preempt=True)
    it.phone.resume()
    await _act(it, HOME)
    assert len(it.hid.pressed(CONSUMER)) == 1


@in_world
async def test_a_lost_link_is_said_at_once_and_interrupts_nobody(it: World) -> None:
    """An automation is not kept waiting for a board that is gone."""
    it.phone.acquire("task_1")
    it.cable.pull()
    await until(lambda: it.phone.link.value != "up", timeout_s=30)
    at = it.now()
    with pytest.raises(LinkLostError, match="board does not answer"):
        await _act(it, HOME, preempt=True)
    assert it.now() == at
    assert it.phone.loans == 0


@in_world
async def test_a_black_screen_is_not_touched(it: World) -> None:
    """A key that wakes it is pressed all the same."""
    it.source.picture = lambda: BLACK
    with pytest.raises(PictureError, match="black"):
        await _act(it, Tap(point=CENTRE))
    assert it.hid.pressed(TOUCH) == []
    await _act(it, PressKey(key=Key.POWER))
    assert len(it.hid.pressed(CONSUMER)) == 1


def test_without_a_board_or_a_picture() -> None:
    """Each says what is missing."""

    async def scenario() -> None:
        phone = PhoneController(driver=None, picture=None, run_blocking=run_inline)
        with pytest.raises(NoBoardError):
            await perform(phone, HOME, owner="automation", preempt=True)
        with pytest.raises(PictureError):
            await perform(phone, Tap(point=CENTRE), owner="automation", preempt=True)

    run(scenario())


# Preempting.


@in_world
async def test_preempt_ends_a_text_between_two_characters(it: World) -> None:
    """The key comes after it; the task's act is unknown, its lease stays, it looks again."""
    lease = await it.ready()
    typing = asyncio.create_task(it.phone.type_text(lease, "x" * 150))
    await until(lambda: len(it.hid.pressed(KEYS)) == 7, step_s=0.001)
    await _act(it, HOME, preempt=True)
    with pytest.raises(ActUnknownError, match="somebody else used the phone"):
        await typing
    assert len(it.hid.pressed(KEYS)) <= 8
    assert it.hid.presses_after(0)[-1][1] == CONSUMER
    assert it.phone.loans == 1
    with pytest.raises(NotObservedError):
        await it.phone.tap(lease, CENTRE)
    await it.phone.observe(lease)
    await it.phone.tap(lease, CENTRE)
    assert len(it.hid.pressed(TOUCH)) == 1


@in_world
async def test_a_look_waits_until_the_phone_is_given_back(it: World) -> None:
    """What it shows was taken after the last report of the loan."""
    lease = await it.ready()
    act = asyncio.create_task(_act(it, TypeText(text="x" * 100), preempt=True))
    await until(lambda: it.hid.pressed(KEYS), step_s=0.001)
    with pytest.raises(NotObservedError):
        await it.phone.press_key(lease, Key.BACK)
    await it.phone.observe(lease)
    assert act.done()
    assert len(it.hid.pressed(KEYS)) == 100
    assert it.source.asked[-1] > it.hid.reports[-1][0]
    await act


@in_world
async def test_a_look_that_a_loan_overtakes_is_taken_again(it: World) -> None:
    """It began before the single act and ends after it: no act is allowed by it."""
    lease = it.phone.acquire("task_1")
    it.source.latency_s = 0.4
    looking = asyncio.create_task(it.phone.observe(lease))
    await asyncio.sleep(0.01)
    await _act(it, HOME, preempt=True)
    assert not looking.done()
    seen = await looking
    assert seen.captured_at > it.hid.reports[-1][0]


@in_world
async def test_a_task_may_begin_during_a_loan_and_looks_after_it(it: World) -> None:
    """It gets the lease at once; its first look waits."""
    act = asyncio.create_task(_act(it, TypeText(text="x" * 100)))
    await until(lambda: it.hid.pressed(KEYS), step_s=0.001)
    lease = it.phone.acquire("task_1")
    await it.phone.observe(lease)
    assert act.done()
    await it.phone.tap(lease, CENTRE)
    await act


@in_world
async def test_the_end_of_the_task_does_not_end_the_loan(it: World) -> None:
    """A cancelled task gives the phone back at once; the single act goes on."""
    lease = await it.ready()
    act = asyncio.create_task(_act(it, TypeText(text="x" * 100), preempt=True))
    await until(lambda: it.hid.pressed(KEYS), step_s=0.001)
    at = it.now()
    it.phone.revoke("task_1")
    await it.phone.release(lease)
    it.phone.fence("task_1")
    assert it.now() == at
    await act
    assert len(it.hid.pressed(KEYS)) == 100


@in_world
async def test_a_revoked_task_does_not_wait_for_the_loan(it: World) -> None:
    """A cancel ends its look at once."""
    lease = await it.ready()
    act = asyncio.create_task(_act(it, TypeText(text="x" * 100), preempt=True))
    await until(lambda: it.hid.pressed(KEYS), step_s=0.001)
    looking = asyncio.create_task(it.phone.observe(lease))
    await asyncio.sleep(0.1)
    it.phone.revoke("task_1")
    with pytest.raises(LeaseRevokedError):
        await looking
    assert not act.done()
    await act


# The loan's end.


@pytest.mark.parametrize("how", ["hold", "halt", "recall"])
def test_a_loan_ends_early(how: str) -> None:
    """Stop word, kill switch, unloading: nothing more is sent, and the caller is told."""

    @in_world
    async def scenario(it: World) -> None:
        lease = await it.ready()
        act = asyncio.create_task(_act(it, TypeText(text="x" * 200), preempt=True))
        await until(lambda: len(it.hid.pressed(KEYS)) == 7, step_s=0.001)
        match how:
            case "hold":
                it.phone.hold(5)
            case "halt":
                it.phone.halt()
            case "recall":
                it.phone.recall()
        with pytest.raises(LeaseRevokedError):
            await act
        assert len(it.hid.pressed(KEYS)) <= 8
        await asyncio.sleep(REPEATS_S)
        await it.quiet()
        if how == "halt":
            it.phone.resume()
            lease = await it.ready("task_2")
        await it.phone.observe(lease)
        await it.phone.tap(lease, CENTRE)

    scenario()


@in_world
async def test_the_kill_switch_ends_a_loan_that_has_not_begun(it: World) -> None:
    """While the task's act still comes to its end nothing of the loan was sent."""
    lease = await it.ready()
    pressing = asyncio.create_task(it.phone.long_press(lease, CENTRE, hold_ms=5000))
    await asyncio.sleep(1)
    act = asyncio.create_task(_act(it, HOME, preempt=True))
    await asyncio.sleep(0)
    it.phone.halt()
    with pytest.raises(LeaseRevokedError):
        await act
    with pytest.raises(LeaseRevokedError):
        await pressing
    assert it.hid.pressed(CONSUMER) == []


@in_world
async def test_a_cancelled_caller_gives_the_phone_back(it: World) -> None:
    """The text ends between two characters; the task goes on."""
    lease = await it.ready()
    act = asyncio.create_task(_act(it, TypeText(text="x" * 200), preempt=True))
    await until(lambda: len(it.hid.pressed(KEYS)) == 7, step_s=0.001)
    act.cancel()
    with pytest.raises(asyncio.CancelledError):
        await act
    assert len(it.hid.pressed(KEYS)) <= 8
    assert it.hid.down == {}
    await it.phone.observe(lease)
    await it.phone.tap(lease, CENTRE)


@in_world
async def test_a_loan_is_bounded(it: World) -> None:
    """Whoever does not give it back loses it, and the task goes on."""
    lease = await it.ready()
    given_back = asyncio.Event()

    async def keep() -> None:
        async with it.phone.borrow("automation", preempt=True) as loan:
            await given_back.wait()
            await it.phone.press_key(loan, Key.HOME)

    keeping = asyncio.create_task(keep())
    began = it.now()
    await asyncio.sleep(1)
    await it.phone.observe(lease)
    assert LOAN_S <= it.now() - began < LOAN_S + 2
    given_back.set()
    with pytest.raises(LeaseRevokedError):
        await keeping
    assert it.hid.pressed(CONSUMER) == []
    await it.phone.observe(lease)
    await it.phone.tap(lease, CENTRE)


@in_world
async def test_closing_ends_a_loan(it: World) -> None:
    """Nothing runs and nothing is held after it."""
    act = asyncio.create_task(_act(it, TypeText(text="x" * 200)))
    await until(lambda: len(it.hid.pressed(KEYS)) == 7, step_s=0.001)
    await it.phone.close()
    with pytest.raises((LeaseRevokedError, ActUnknownError)):
        await act
    assert it.hid.down == {}
