"""Stop words: matched in code, in many languages, before anything is waited for."""

import asyncio

import pytest

from custom_components.aiden_duplex.foreground.errors import ForegroundBusyError, Guard
from custom_components.aiden_duplex.foreground.stop_words import HOLD_S, is_stop
from tests.foreground.fakes import hang, world
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


def test_two_stop_words_cut_once() -> None:
    """The second one waits for the first one's answer to make way, and gets its own."""

    async def main() -> None:
        async with world() as w:
            w.model.script(hang("Well"))
            first = asyncio.create_task(w.say("tell me a story"))
            await asyncio.sleep(1)
            stops = [asyncio.create_task(w.say("stop")) for _ in range(2)]
            assert await first == "Well"
            assert [await stop for stop in stops] == ["OK.", "OK."]
            assert w.held == [HOLD_S, HOLD_S]

    run(main())


def test_other_words_do_not_hold() -> None:
    """Nothing is held for an ordinary text."""

    async def main() -> None:
        async with world() as w:
            await w.say("turn on airplane mode")
            assert w.held == []

    run(main())
