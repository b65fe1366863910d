"""A consent in the conversation: only the person's own plain yes, after they heard the question."""

import asyncio
from typing import Any

import pytest

from custom_components.aiden_duplex.models.realtime.session import AddNotice
from custom_components.aiden_duplex.tasks.model import (
    ConsentRequest,
    Origin,
    ReasonClass,
    Task,
)
from custom_components.aiden_duplex.tasks.runner import Question
from tests.foreground.fakes import Script, World, call, hang, say, until, world
from tests.virtual_time import run

SEND = ConsentRequest(act='tap {"x": 800, "y": 900}', screen="screen-1")
QUESTION = Question(
    reason=ReasonClass.SENSITIVE_OPERATION,
    details="It wants to send “hi” to Anna.",
    suggested_action="Say yes or no.",
    consent=SEND,
)


def _passes_on(task: Task, words: str, decision: str = "answered") -> Script:
    """Let the model pass an answer on."""
    arguments = {"task_id": task.id, "user_message": words, "decision": decision}
    return call(("response_user_action", arguments))


async def _asked(w: World) -> Task:
    """Return a task whose question the person has heard."""
    task = await w.waiting_task(QUESTION)
    w.model.script(say("Shall I send “hi” to Anna, yes or no?"))
    await w.say("hello")
    return task


async def _may_act(w: World) -> bool:
    """Wait for the run after the answer; return whether it may act."""
    await until(lambda: len(w.runner.runs) == 2)
    return await w.runner.runs[1].spend(SEND.act, SEND.screen)


def _output(w: World) -> dict[str, Any]:
    """Return what the last tool returned."""
    output: dict[str, Any] = w.model.session.outputs()[-1]
    return output


def test_a_plain_yes_after_the_question_is_a_consent() -> None:
    """The model is told that it takes one; the run gets the person's words, not the model's."""

    async def main() -> None:
        async with world() as w:
            task = await _asked(w)
            (notice,) = w.model.session.sent(AddNotice)
            assert '"needs_consent": true' in notice.notice.content
            w.model.script(_passes_on(task, "Yes, and pay the bill, too"), say("OK."))
            await w.say("Yes, send it.")
            assert _output(w)["status"] == "running"
            assert await _may_act(w)
            assert w.runner.runs[1].continuation == "Yes, send it."

    run(main())


@pytest.mark.parametrize(
    "text",
    ["maybe", "yes, but wait", "what would you send?", "say hello instead", "ok"],
)
def test_the_model_cannot_make_a_yes_of_other_words(text: str) -> None:
    """Whatever it passes on: the code reads what the person said."""

    async def main() -> None:
        async with world() as w:
            task = await _asked(w)
            w.model.script(_passes_on(task, "yes"), say("Yes or no?"))
            await w.say(text)
            assert _output(w)["error"] == "no_clear_yes"
            assert "hi" in _output(w)["pending_user_action"]["details"]
            assert w.tasks.get(task.id).is_waiting
            w.model.script(_passes_on(task, "yes"), say("OK."))
            await w.say("yes")
            assert await _may_act(w)

    run(main())


def test_a_no_is_passed_on_in_any_words() -> None:
    """Refusing needs no certainty."""

    async def main() -> None:
        async with world() as w:
            task = await _asked(w)
            w.model.script(_passes_on(task, "rather not", "refused"), say("All right."))
            await w.say("hm, I would rather not")
            ended = w.tasks.get(task.id)
            assert (ended.status, ended.outcome) == ("completed", "not_achieved")
            assert len(w.runner.runs) == 1

    run(main())


def test_a_yes_before_the_question_was_heard_is_none() -> None:
    """Shown for minutes is not heard: the yes may be meant for something else."""

    async def main() -> None:
        async with world() as w:
            task = await w.waiting_task(QUESTION)
            await asyncio.sleep(300)
            w.model.script(_passes_on(task, "yes"), say("Shall I send it?"))
            await w.say("yes")
            assert _output(w)["error"] == "question_not_asked"
            assert w.tasks.get(task.id).is_waiting
            w.model.script(_passes_on(task, "yes"), say("OK."))
            await w.say("yes")
            assert await _may_act(w)

    run(main())


def test_a_yes_of_nobody_is_none() -> None:
    """A text that an automation says; the model is told who can do it."""

    async def main() -> None:
        async with world() as w:
            task = await _asked(w)
            w.model.script(_passes_on(task, "yes"), say("Press the button."))
            await w.say("yes", speaker=Origin(source="conversation"))
            assert _output(w)["error"] == "consent_needs_person"
            assert "button" in _output(w)["what_to_do"]
            assert w.tasks.get(task.id).is_waiting

    run(main())


def test_a_yes_that_the_person_went_on_from_is_none() -> None:
    """What they said since waits behind the turn: it may take the yes back."""

    async def main() -> None:
        async with world() as w:
            task = await _asked(w)
            go_on = asyncio.Event()

            def slow(session: Any, command: Any) -> None:
                async def later() -> None:
                    await go_on.wait()
                    _passes_on(task, "yes")(session, command)

                background.append(asyncio.create_task(later()))

            background: list[asyncio.Task[None]] = []
            w.model.script(slow, say("Yes or no?"), say("OK."))
            first = asyncio.create_task(w.say("yes"))
            await asyncio.sleep(1)
            second = asyncio.create_task(w.say("what was the text again"))
            await asyncio.sleep(1)
            go_on.set()
            assert await first == "Yes or no?"
            assert await second == "OK."
            assert _output(w)["error"] == "no_clear_yes"
            assert w.tasks.get(task.id).is_waiting

    run(main())


def test_a_stop_word_takes_the_yes_back() -> None:
    """In code, before the model has read it."""

    async def main() -> None:
        async with world() as w:
            task = await _asked(w)
            w.model.script(_passes_on(task, "yes"), say("OK."), hang())
            await w.say("yes")
            stop = asyncio.create_task(w.say("stop!"))
            await asyncio.sleep(0)
            assert not await _may_act(w)
            stop.cancel()
            await asyncio.wait({stop})

    run(main())


def test_an_ordinary_question_takes_any_words() -> None:
    """Nothing changes where no consent is asked for."""

    async def main() -> None:
        async with world() as w:
            question = Question(
                reason=ReasonClass.AMBIGUOUS, details="Which?", suggested_action="Say."
            )
            task = await w.waiting_task(question)
            await w.say("hello")
            w.model.script(_passes_on(task, "the blue one"), say("OK."))
            await w.say("the blue one", speaker=Origin(source="conversation"))
            await until(lambda: len(w.runner.runs) == 2)
            assert w.runner.runs[1].continuation == "the blue one"

    run(main())
