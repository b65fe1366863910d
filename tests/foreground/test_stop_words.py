"""Stop words: matched in code, in many languages, before anything is waited for."""

import asyncio

import pytest

from custom_components.aiden_duplex.foreground.errors import ForegroundBusyError, Guard
from custom_components.aiden_duplex.foreground.stop_words import HOLD_S, is_stop
from custom_components.aiden_duplex.models.errors import ModelError, ModelErrorKind
from custom_components.aiden_duplex.tasks.model import ReasonClass, TaskStatus
from tests.foreground.fakes import call, hang, say, slowly, until, world
from tests.virtual_time import run


@pytest.mark.parametrize(
    "text",
    [
        *("Stop!", "stop it", "Aiden, stop", "please just stop now", "No, stop that"),
        *("Wait, I'll handle this part", "Hold on a second, what are you doing?"),
        *("Don’t send that message to him yet please", "Hey, cancel all of that now"),
        *("Okay. Stop. I want to look at the picture first.", "could you please stop"),
        *("Stopp!", "Halt, das ist der falsche Chat", "Bitte hör auf damit", "Warte mal"),
        *("Nein, nicht abschicken!", "brich ab", "arrête", "¡Para!", "Espera un momento"),
        *("No lo hagas, por favor", "Arrêtez tout de suite s'il vous plaît", "No!"),
        *("That's wrong - stop it right now", "I said stop right now please", "Nein"),
        *("well and please stop doing that right now please", "hang on", "pause"),
        *("Kannst du das bitte sofort abbrechen", "quit it", "रुको", "arrêtez"),
        *("停!", "等一下", "止めて", "ストップ", "멈춰", "توقف", "стой!", "dur", "STOP"),
    ],
)  # fmt: skip
def test_words_that_hold_the_phone(text: str) -> None:
    """Whatever the case, the politeness around and the kind of apostrophe."""
    assert is_stop(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "...", "How is it going?", "Turn on airplane mode", "thank you"),
        *("Please find the bus stop near the station and tell me the time", "yes"),
        *("Send Anna a message that I cannot wait to see her tomorrow evening", "weiter"),
        *("Schalte den Flugmodus ein und sag mir dann Bescheid", "go on", "ok, done"),
    ],
)  # fmt: skip
def test_words_that_do_not(text: str) -> None:
    """Ordinary wishes, also those that hold a stop word somewhere inside."""
    assert not is_stop(text)


def test_a_stop_word_holds_at_once_and_does_not_wait_behind_an_answer() -> None:
    """The answer that was being given ends where it is; the model gets the stop word."""

    async def main() -> None:
        async with world() as w:
            w.model.script(hang("Once upon a time"))
            first = asyncio.create_task(w.say("tell me a story"))
            await asyncio.sleep(1)
            begun = asyncio.get_running_loop().time()
            second = asyncio.create_task(w.say("stop!"))
            await asyncio.sleep(0)
            assert w.held == [HOLD_S]
            assert await first == "Once upon a time"
            assert await second == "OK."
            assert asyncio.get_running_loop().time() - begun < 1
            assert w.history()[-2:] == [("user", "stop!"), ("assistant", "OK.")]

    run(main())


def test_an_answer_that_had_not_begun_is_told_as_cut_off() -> None:
    """Its caller hears that it was cut off, not that it was empty."""

    async def main() -> None:
        async with world() as w:
            w.model.connects.append(3.0)
            first = asyncio.create_task(w.say("hello"))
            await asyncio.sleep(1)
            assert await w.say("stop") == "OK."
            with pytest.raises(ForegroundBusyError) as caught:
                await first
            assert caught.value.guard is Guard.CANCELLING

    run(main())


def test_an_impatient_person_does_not_undo_their_own_stop() -> None:
    """Stop said every second: the first one's answer is not cut, and its cancel happens."""

    async def main() -> None:
        async with world() as w:
            task = await w.running_task()
            await w.say("hello")
            w.model.script(
                slowly(call(("cancel_agent_task", {"task_id": task.id})), 3.0),
                say("Stopped."),
            )
            stops = []
            for _ in range(4):
                stops.append(asyncio.create_task(w.say("stop!")))
                await asyncio.sleep(1)
            assert await stops[0] == "Stopped."
            assert w.tasks.get(task.id).status is TaskStatus.CANCELLED
            await asyncio.gather(*stops, return_exceptions=True)

    run(main())


def test_the_phone_is_held_until_a_slow_model_has_decided() -> None:
    """Not for five seconds only."""

    async def main() -> None:
        async with world() as w:
            await w.say("hello")
            w.model.script(slowly(say("Yes?"), 20.0))
            asked_at = asyncio.get_running_loop().time()
            assert await w.say("stop!") == "Yes?"
            assert asyncio.get_running_loop().time() - asked_at >= 20
            # At once, then every four seconds.
            held = len(w.held)
            assert held in (5, 6)
            await asyncio.sleep(60)
            assert len(w.held) == held

    run(main())


def test_a_stop_that_no_model_hears_pauses_the_work() -> None:
    """It waits for the person instead of going on after five seconds."""

    async def main() -> None:
        async with world() as w:
            task = await w.running_task()
            w.model.connects.append(
                ModelError(ModelErrorKind.NETWORK, "The service cannot be reached.")
            )
            with pytest.raises(ModelError):
                await w.say("stop!")
            await until(lambda: w.tasks.get(task.id).is_waiting)
            question = w.tasks.get(task.id).pending_user_action
            assert question is not None
            assert question.reason is ReasonClass.TAKE_OVER

    run(main())


def test_other_words_do_not_hold() -> None:
    """Nothing is held for an ordinary text."""

    async def main() -> None:
        async with world() as w:
            await w.say("turn on airplane mode")
            assert w.held == []

    run(main())
