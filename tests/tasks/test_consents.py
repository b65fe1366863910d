"""Consents: minted by a person alone, used once, in time, for exactly what was agreed."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from custom_components.aiden_duplex.tasks.consents import ConsentState
from custom_components.aiden_duplex.tasks.errors import ConsentNeedsPersonError
from custom_components.aiden_duplex.tasks.model import (
    ConsentHow,
    ConsentRequest,
    Decision,
    Outcome,
    Task,
    TaskStatus,
)

from .house import ASSENT, ORIGIN, House, settle, virtual

SEND = ConsentRequest(act='tap {"x": 800, "y": 900}', screen="screen-1")


async def _agreed(house: House) -> Task:
    """Return a task whose run goes on with the person's yes."""
    task = await house.asking(SEND)
    await house.manager.respond(task.id, "yes", assent=ASSENT)
    await settle()
    assert len(house.runner.calls) == 2
    return task


async def _spend(house: House, act: str = SEND.act, screen: str = SEND.screen) -> bool:
    """Let the newest run use the consent."""
    return await house.runner.last.request.spend(act, screen)


def _audit(house: House) -> list[ConsentState]:
    """Return what became of consents so far."""
    return [change.state for _, change in house.audit]


@virtual
async def test_a_consent_is_asked_for_given_and_used_once() -> None:
    """Who, how, what and when stand in the audit; the use is an event of the task."""
    house = await House().open()
    task = await house.asking(SEND)
    action = task.pending_user_action
    assert action is not None
    assert action.consent == SEND
    asked = task.as_dict()["pending_user_action"]["consent"]
    assert asked == {"act": SEND.act, "screen": SEND.screen}
    given_at = house.now()
    await house.manager.respond(task.id, "yes", assent=ASSENT)
    await settle()
    assert house.runner.last.request.continuation == "yes"
    await asyncio.sleep(30)
    used_at = house.now()
    assert [await _spend(house) for _ in range(3)] == [True, False, False]
    assert house.events[-1] == "consent_used goal"
    assert _audit(house) == [ConsentState.ASKED, ConsentState.GIVEN, ConsentState.USED]
    task_id, used = house.audit[-1]
    assert (task_id, used.question_id, used.request) == (task.id, action.id, SEND)
    consent = used.consent
    assert consent is not None
    assert consent.question_id == action.id
    assert (consent.act, consent.screen, consent.revision) == (SEND.act, SEND.screen, 1)
    assert (consent.given_by, consent.given_how) == (ORIGIN, ConsentHow.ACTION)
    assert consent.given_at == pytest.approx(given_at, abs=timedelta(seconds=0.01))
    assert consent.used_at == used_at
    house.runner.last.complete()
    await settle()
    assert _audit(house) == [ConsentState.ASKED, ConsentState.GIVEN, ConsentState.USED]
    await house.close()


@virtual
async def test_an_answer_without_a_person_is_no_consent() -> None:
    """The question stays open; refusing needs nobody's consent."""
    house = await House().open()
    task = await house.asking(SEND)
    with pytest.raises(ConsentNeedsPersonError) as caught:
        await house.manager.respond(task.id, "yes")
    assert caught.value.task_id == task.id
    assert house.manager.get(task.id).is_waiting
    assert _audit(house) == [ConsentState.ASKED]
    ended = await house.manager.respond(task.id, "no", decision=Decision.REFUSED)
    assert ended.outcome is Outcome.NOT_ACHIEVED
    assert _audit(house) == [ConsentState.ASKED, ConsentState.REFUSED]
    await house.close()


@virtual
async def test_a_refusal_with_a_person_mints_nothing() -> None:
    """A no is a no, whoever says it."""
    house = await House().open()
    task = await house.asking(SEND)
    await house.manager.respond(task.id, "no", decision=Decision.REFUSED, assent=ASSENT)
    assert _audit(house) == [ConsentState.ASKED, ConsentState.REFUSED]
    await house.close()


@virtual
async def test_a_yes_to_another_question_mints_nothing() -> None:
    """A question about an account is no licence to send."""
    house = await House().open()
    task = await house.waiting()
    await house.manager.respond(task.id, "yes", assent=ASSENT)
    await settle()
    assert not await _spend(house)
    assert house.audit == []
    await house.close()


@pytest.mark.parametrize(
    ("act", "screen"),
    [('tap {"x": 800, "y": 901}', SEND.screen), (SEND.act, "screen-2"), ("", "")],
)
@virtual
async def test_another_act_or_screen_is_not_covered(act: str, screen: str) -> None:
    """To the letter; what was agreed can still be done."""
    house = await House().open()
    await _agreed(house)
    assert not await _spend(house, act, screen)
    assert await _spend(house)
    await house.close()


@pytest.mark.parametrize(("seconds", "is_valid"), [(59.9, True), (60.1, False)])
@virtual
async def test_a_consent_lasts_a_minute_from_the_yes(
    seconds: float, is_valid: bool
) -> None:
    """An old one is told apart from a withdrawn one when the task goes on."""
    house = await House().open()
    await _agreed(house)
    await asyncio.sleep(seconds)
    assert await _spend(house) is is_valid
    house.runner.last.complete()
    await settle()
    end = ConsentState.USED if is_valid else ConsentState.EXPIRED
    assert _audit(house) == [ConsentState.ASKED, ConsentState.GIVEN, end]
    await house.close()


@virtual
async def test_a_clock_that_went_back_ends_consents() -> None:
    """It cannot tell how long ago the yes was."""
    house = await House().open()
    await _agreed(house)
    house.away = timedelta(hours=-1)
    assert not await _spend(house)
    await house.close()


async def _update(house: House, task: Task) -> None:
    await house.manager.update(task.id, "another goal")


async def _cancel(house: House, task: Task) -> None:
    await house.manager.cancel(task.id)


async def _take_over(house: House, task: Task) -> None:
    await house.manager.take_over(task.id)


async def _halt(house: House, task: Task) -> None:
    await house.manager.halt()


async def _stop_word(house: House, task: Task) -> None:
    house.manager.withdraw_consents()


async def _asks_again(house: House, task: Task) -> None:
    house.runner.last.pause()
    await settle()


@pytest.mark.parametrize(
    "do", [_update, _cancel, _take_over, _halt, _stop_word, _asks_again]
)
@virtual
async def test_what_ends_a_consent(
    do: Callable[[House, Task], Awaitable[None]],
) -> None:
    """A new goal, a stop of any kind, or a new question."""
    house = await House().open()
    task = await _agreed(house)
    spend = house.runner.last.request.spend
    await do(house, task)
    assert not await spend(SEND.act, SEND.screen)
    await settle()
    assert not await spend(SEND.act, SEND.screen)
    assert _audit(house) == [
        ConsentState.ASKED,
        ConsentState.GIVEN,
        ConsentState.WITHDRAWN,
    ]
    await house.close()


@virtual
async def test_a_waiting_yes_ends_with_the_kill_switch() -> None:
    """Also if the run that it is for has not begun."""
    house = await House().open()
    task = await house.asking(SEND)
    await house.manager.halt()
    await house.manager.respond(task.id, "yes", assent=ASSENT)
    await house.manager.halt()
    await house.manager.resume()
    await settle()
    assert len(house.runner.calls) == 2
    assert not await _spend(house)
    assert _audit(house) == [
        ConsentState.ASKED,
        ConsentState.GIVEN,
        ConsentState.WITHDRAWN,
    ]
    await house.close()


@virtual
async def test_a_stop_overtakes_a_yes_on_its_way_to_the_disk() -> None:
    """The answer counts, the consent does not."""
    house = await House().open()
    task = await house.asking(SEND)
    house.journal.hold()
    answering = asyncio.create_task(
        house.manager.respond(task.id, "yes", assent=ASSENT)
    )
    await settle()
    house.manager.withdraw_consents()
    house.journal.let_go()
    await answering
    await settle()
    assert not await _spend(house)
    assert _audit(house) == [ConsentState.ASKED, ConsentState.WITHDRAWN]
    again = await house.crash()
    assert not await _spend(again)
    await again.close()


@pytest.mark.parametrize("how", ["crash", "restart"])
@virtual
async def test_no_consent_outlives_the_process(how: str) -> None:
    """The run gets the answer and has to ask again."""
    house = await House().open()
    task = await _agreed(house)
    again = await (house.crash() if how == "crash" else house.restart())
    assert again.runner.last.request.task_id == task.id
    assert not await _spend(again)
    await again.close()


@virtual
async def test_a_yes_is_durable_with_its_consent_before_it_is_acknowledged() -> None:
    """One record holds the answer and what it allows."""
    house = await House().open()
    task = await house.asking(SEND)
    house.journal.hold()
    answering = asyncio.create_task(
        house.manager.respond(task.id, "yes", assent=ASSENT)
    )
    await settle()
    assert not answering.done()
    assert _audit(house) == [ConsentState.ASKED]
    house.journal.let_go()
    await answering
    again = await house.crash(start=False)
    assert _audit(again) == [ConsentState.WITHDRAWN]
    assert (given := again.audit[0][1].consent)
    assert given.given_by == ORIGIN
    await again.close()


@virtual
async def test_an_act_waits_until_the_use_is_durable() -> None:
    """After a crash in between the consent must not be there again."""
    house = await House().open()
    await _agreed(house)
    house.journal.hold()
    first = asyncio.create_task(_spend(house))
    second = asyncio.create_task(_spend(house))
    await settle()
    assert not first.done()
    assert not second.done()
    house.journal.let_go()
    assert await first
    assert await second is False
    assert _audit(house) == [ConsentState.ASKED, ConsentState.GIVEN, ConsentState.USED]
    await house.close()


@virtual
async def test_a_cancel_overtakes_the_use() -> None:
    """The act is not done, and the consent counts as withdrawn."""
    house = await House().open()
    task = await _agreed(house)
    house.journal.hold()
    spending = asyncio.create_task(_spend(house))
    await settle()
    cancelling = asyncio.create_task(house.manager.cancel(task.id))
    await settle()
    house.journal.let_go()
    assert not await spending
    await cancelling
    assert _audit(house) == [
        ConsentState.ASKED,
        ConsentState.GIVEN,
        ConsentState.WITHDRAWN,
    ]
    await house.close()


@pytest.mark.parametrize("drop", [_update, _cancel])
@virtual
async def test_a_question_that_is_dropped_is_noted(
    drop: Callable[[House, Task], Awaitable[None]],
) -> None:
    """Nobody has refused it, and nobody can agree any more."""
    house = await House().open()
    task = await house.asking(SEND)
    await drop(house, task)
    assert _audit(house) == [ConsentState.ASKED, ConsentState.WITHDRAWN]
    await house.close()


@virtual
async def test_a_stop_word_overtakes_the_use() -> None:
    """The yes is off, whatever is on its way to the disk."""
    house = await House().open()
    await _agreed(house)
    house.journal.hold()
    spending = asyncio.create_task(_spend(house))
    await settle()
    house.manager.withdraw_consents()
    house.journal.let_go()
    assert not await spending
    house.runner.last.complete()
    await settle()
    states = [ConsentState.ASKED, ConsentState.GIVEN, ConsentState.WITHDRAWN]
    assert _audit(house) == states
    await house.close()


@virtual
async def test_a_stop_word_changes_nothing_else_that_is_on_its_way() -> None:
    """The end of a run and a new goal are what they are."""
    house = await House().open()
    task = await _agreed(house)
    house.journal.hold()
    house.runner.last.complete()
    await settle()
    house.manager.withdraw_consents()
    house.journal.let_go()
    await settle()
    assert house.manager.get(task.id).status is TaskStatus.COMPLETED
    other = await house.asking(SEND)
    await house.manager.respond(other.id, "yes", assent=ASSENT)
    await settle()
    house.journal.hold()
    updating = asyncio.create_task(house.manager.update(other.id, "another goal"))
    await settle()
    house.manager.withdraw_consents()
    house.journal.let_go()
    assert (await updating).prompt == "another goal"
    await house.close()


@virtual
async def test_a_use_waits_for_a_change_of_its_task() -> None:
    """A new goal that is on its way to the disk ends the consent first."""
    house = await House().open()
    task = await _agreed(house)
    house.journal.hold()
    updating = asyncio.create_task(house.manager.update(task.id, "another goal"))
    await settle()
    spending = asyncio.create_task(_spend(house))
    await settle()
    house.journal.let_go()
    await updating
    assert not await spending
    await house.close()


@virtual
async def test_nothing_is_done_if_the_use_cannot_be_stored() -> None:
    """A full disk stops the act, not the person."""
    house = await House().open()
    await _agreed(house)
    house.journal.failing = "the disk is full"
    assert not await _spend(house)
    assert _audit(house) == [ConsentState.ASKED, ConsentState.GIVEN]
    house.journal.failing = None
    await house.close()


@virtual
async def test_a_later_run_cannot_use_the_consent_of_an_earlier_one() -> None:
    """A stray that was cut off holds a dead port."""
    house = await House().open()
    first = await house.asking(SEND)
    stray = house.runner.calls[0].request.spend
    await house.manager.respond(first.id, "yes", assent=ASSENT)
    await settle()
    assert not await stray(SEND.act, SEND.screen)
    assert await _spend(house)
    await house.close()
