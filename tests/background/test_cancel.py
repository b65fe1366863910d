"""Cancelling at every single point at which a run can wait."""

import asyncio
from collections.abc import Callable, Generator
import itertools
from types import coroutine
from typing import Any

import pytest

from custom_components.aiden_duplex.background.agent import DeviceAgent
from custom_components.aiden_duplex.phone.types import ActUnknownError
from custom_components.aiden_duplex.tasks.model import Outcome
from tests import virtual_time

from .fakes import Did, FakeChat, FakePhone, Line, call, finish, tap
from .running import agent_for, request

LINES: list[Line] = [
    tap(),
    [tap(100), tap(200)],
    call("type_text", text="hello", submit=True),
    "no call",
    tap(5000),
    call("swipe", x1=500, y1=800, x2=500, y2=200),
    call("wait", seconds=3),
    call("press_key", key="power"),
    finish(evidence=""),
    finish(),
]


@coroutine
def cancelled_at[T](
    run: Any, points: set[int], hit: Callable[[int], None]
) -> Generator[Any, Any, T]:
    """Run a coroutine; cancel its task whenever it waits for the n-th time."""
    iterator = run.__await__()
    error: BaseException | None = None
    for number in itertools.count(1):
        try:
            waiting = iterator.send(None) if error is None else iterator.throw(error)
        except StopIteration as stop:
            result: T = stop.value
            return result
        error = None
        hit(number)
        if number in points:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        try:
            yield waiting
        except BaseException as err:  # noqa: BLE001 - handed to the coroutine
            error = err
    raise AssertionError


def _phone() -> FakePhone:
    """Return a phone with everything on the way: busy lease, new screens, black, an error."""

    def effect(phone: FakePhone, did: Did) -> None:
        black = phone.screen != "black" and len(phone.did) == 4
        phone.screen = "black" if black else f"screen {len(phone.did)}"

    phone = FakePhone(effect=effect)
    phone.act_errors.extend([None, ActUnknownError("the link broke")])
    return phone


def _hold(phone: FakePhone) -> None:
    """Let somebody else have the phone for a moment."""
    lease = phone.desk.acquire("stop words")
    asyncio.get_running_loop().call_later(1.2, phone.desk.free, lease)


async def _run_cancelled(
    points: set[int], phone: FakePhone
) -> tuple[DeviceAgent, FakeChat, int, bool]:
    """Run with cancellations; return the number of waits and whether it was cancelled."""
    chat = FakeChat(LINES)
    agent = agent_for(phone, chat)
    _hold(phone)
    waits = 0

    def hit(number: int) -> None:
        nonlocal waits
        waits = number

    async def wrapped() -> object:
        return await cancelled_at(agent.run(request(), lambda step: None), points, hit)

    task = asyncio.create_task(wrapped())
    (done,) = (await asyncio.wait([task]))[0]
    # At once, not soon: who awaits the run may hand the phone to the next task.
    assert phone.desk.holder is None or phone.desk.holder.owner == "stop words"
    assert len(asyncio.all_tasks()) == 1
    return agent, chat, waits, done.cancelled()


def _waits() -> int:
    """Return how often the run waits when nobody cancels it."""

    async def scenario() -> int:
        phone = _phone()
        _, chat, waits, cancelled = await _run_cancelled(set(), phone)
        assert not cancelled
        assert len(chat.asked) == len(LINES)
        assert len(phone.did) == 4
        return waits

    return virtual_time.run(scenario())


WAITS = _waits()


def test_scenario_is_worth_cancelling() -> None:
    """The run waits at many places: phone, model, pauses, release."""
    assert WAITS > 30


async def _check_after(agent: DeviceAgent, phone: FakePhone) -> None:
    """Nothing held, nothing running, nothing done late, and a history that can go on."""
    assert phone.desk.holder is None
    assert phone.acts_after_revoke == 0
    assert len(asyncio.all_tasks()) == 1
    did = len(phone.did)
    phone.screen = "later"
    chat = FakeChat([finish()])
    agent._chat = lambda: chat
    result = await agent.run(request(), lambda step: None)
    assert result.outcome is Outcome.ACHIEVED
    assert len(phone.did) == did
    assert "Interrupt [canceled]" in chat.words(0)
    assert "verify the state of the phone" in chat.words(0)
    assert len(chat.asked[0][-1].images) == 1


@pytest.mark.parametrize("point", range(1, WAITS + 1))
def test_cancel_at_every_wait(point: int) -> None:
    """The cancellation leaves the run, after the phone was given back."""

    async def scenario() -> None:
        phone = _phone()
        agent, _, _, cancelled = await _run_cancelled({point}, phone)
        assert cancelled
        await asyncio.sleep(2)
        await _check_after(agent, phone)

    virtual_time.run(scenario())


@pytest.mark.parametrize("gap", [1, 2, 3])
def test_cancel_again_while_letting_go(gap: int) -> None:
    """An impatient second cancellation does not leave a finger on the phone."""

    async def scenario(point: int) -> None:
        phone = _phone()
        agent, _, _, cancelled = await _run_cancelled({point, point + gap}, phone)
        assert cancelled, point
        await asyncio.sleep(2)
        await _check_after(agent, phone)

    for point in range(1, WAITS + 1, 2):
        virtual_time.run(scenario(point))


def test_control_is_revoked_before_letting_go_takes_its_time() -> None:
    """Cancelled in the middle: first nothing may start any more, then the fingers lift."""

    async def scenario() -> None:
        phone = _phone()
        await _run_cancelled({12}, phone)
        assert phone.calls == ["revoke", "release"]

    virtual_time.run(scenario())


def test_release_that_hangs_is_bounded_and_fenced() -> None:
    """A driver that never lets go costs some seconds, not the whole queue."""

    async def scenario() -> None:
        phone = _phone()
        phone.release_s = 1e6
        time = asyncio.get_running_loop().time
        started = time()
        _, _, _, cancelled = await _run_cancelled({20}, phone)
        assert cancelled
        assert phone.fenced == ["t1"]
        assert phone.desk.holder is None
        assert time() - started < 60
        assert len(asyncio.all_tasks()) == 1

    virtual_time.run(scenario())


def test_release_that_fails_does_not_hide_the_result() -> None:
    """The end of the work is reported; the run is fenced."""

    async def scenario() -> None:
        phone = FakePhone()

        async def release(lease: object) -> None:
            raise OSError("port gone")

        phone.release = release  # type: ignore[method-assign]
        agent = agent_for(phone, FakeChat([finish()]))
        result = await agent.run(request(), lambda step: None)
        assert result.outcome is Outcome.ACHIEVED
        assert phone.fenced == ["t1"]
        assert phone.desk.holder is None

    virtual_time.run(scenario())


def test_revoke_at_every_wait_stops_every_further_act() -> None:
    """Revoked without being cancelled: nothing more is done, and the run ends by itself."""

    async def scenario(point: int) -> None:
        phone = _phone()
        chat = FakeChat(LINES)
        agent = agent_for(phone, chat)
        _hold(phone)
        did: list[int] = []

        def hit(number: int) -> None:
            if number == point:
                agent.revoke("t1")
                did.append(len(phone.did))

        async def wrapped() -> object:
            run = agent.run(request(), lambda step: None)
            return await cancelled_at(run, set(), hit)

        await asyncio.create_task(wrapped())
        await asyncio.sleep(2)
        assert len(phone.did) == did[0], point
        assert phone.desk.holder is None

    for point in range(1, WAITS + 1):
        virtual_time.run(scenario(point))


def test_revoke_and_fence_of_a_task_that_does_not_run_do_nothing() -> None:
    """They never fail."""
    agent = agent_for(FakePhone(), None)
    agent.revoke("unknown")
    agent.fence("unknown")
