"""When there is something to tell: never into an answer, in one order, once."""

import asyncio
import json
from typing import override

import pytest

from custom_components.aiden_duplex.models.realtime.session import (
    AddNotice,
    AddText,
    CancelResponse,
    CreateResponse,
)
from custom_components.aiden_duplex.storage.contract import Record
from custom_components.aiden_duplex.tasks.model import Delivery, Heard, ReasonClass
from custom_components.aiden_duplex.tasks.runner import Question, RunEnd, RunResult
from tests.foreground.fakes import (
    SPEAKER,
    FakeJournal,
    FakeSession,
    World,
    call,
    hang,
    say,
    slowly,
    until,
    world,
)
from tests.virtual_time import run

_DONE = RunResult(end=RunEnd.COMPLETED, text="Done.")
_QUESTION = Question(
    reason=ReasonClass.AUTHENTICATION,
    details="The bank asks for a login.",
    suggested_action="Log in on the phone.",
)


def _told(session: FakeSession) -> list[list[str]]:
    """Return the goals in each report of a session."""
    return [
        [json.loads(line)["task"] for line in notice.notice.text.splitlines()[1:]]
        for notice in session.sent(AddNotice)
        if notice.notice.label == "TASK UPDATE"
    ]


async def _end(w: World, goal: str) -> None:
    """Let the task with a goal run and end."""
    [task] = [task for task in w.tasks.tasks() if task.prompt == goal]
    await until(lambda: any(run.task_id == task.id for run in w.runner.runs))
    w.runner.end(task.id, _DONE)
    await until(lambda: w.tasks.get(task.id).status.is_terminal)


def test_an_ending_during_an_answer_waits_for_the_next_one() -> None:
    """Nothing is put into the answer, nor said after it without a text; then it leads."""

    async def main() -> None:
        async with world() as w:
            task = await w.running_task("a")
            w.model.script(slowly(say("It is eight."), 5.0))
            answer = asyncio.create_task(w.say("what time is it?"))
            await asyncio.sleep(1)
            await _end(w, "a")
            assert await answer == "It is eight."
            await asyncio.sleep(60)
            assert w.model.session.shape() == "tr"
            assert w.tasks.get(task.id).delivery is Delivery.QUEUED
            await w.say("and now?")
            assert w.model.session.shape() == "tr" + "ntr"
            assert _told(w.model.session) == [["a"]]
            assert w.tasks.get(task.id).heard is Heard.SHOWN

    run(main())


def test_an_ending_during_the_answer_that_looks_it_up_is_told_by_that() -> None:
    """[94] The call of the running answer returned it: nothing comes after."""

    async def main() -> None:
        async with world() as w:
            task = await w.running_task("a")

            def end_and_look(session: FakeSession, command: CreateResponse) -> None:
                w.runner.end(task.id, _DONE)
                query = ("query_agent_task", {"task_id": task.id})
                slowly(call(query), 1.0)(session, command)

            w.model.script(end_and_look, say("It is done."))
            assert await w.say("is it done?") == "It is done."
            assert w.model.session.outputs()[-1]["result"] == "Done."
            await asyncio.sleep(60)
            await w.say("thanks")
            assert _told(w.model.session) == []
            assert w.tasks.get(task.id).heard is Heard.QUERIED

    run(main())


def test_an_interruption_an_ending_and_a_new_text_at_once() -> None:
    """[24] In one moment: one answer goes on, the ending leads it, a cancel still works."""

    async def main() -> None:
        async with world() as w:
            await w.running_task("a")
            other = await w.tasks.create("b", origin=SPEAKER)
            w.model.script(hang("Once upon"))
            stream = w.foreground.converse("tell me a story", speaker=SPEAKER)
            await anext(stream)
            ending = asyncio.create_task(_end(w, "a"))
            leaving = asyncio.create_task(stream.aclose())
            cancel = ("cancel_agent_task", {"task_id": other.id})
            w.model.script(call(cancel), say("Stopped."))
            assert await w.say("never mind b") == "Stopped."
            await asyncio.gather(ending, leaving)
            session = w.model.session
            assert len(w.model.sessions) == 1
            assert len(session.sent(CancelResponse)) == 1
            assert [text.text for text in session.sent(AddText)] == [
                "tell me a story",
                "never mind b",
            ]
            assert session.outputs()[-1]["status"] in ("cancelling", "cancelled")
            await until(lambda: w.tasks.get(other.id).status.is_terminal)
            await w.say("and?")
            # The story, the two of the answer with a call, the last one: none came back.
            assert len(session.sent(CreateResponse)) == 4
            assert [goal for goals in _told(session) for goal in goals].count("a") == 1

    run(main())


def test_what_waits_behind_an_interrupted_answer_has_one_order() -> None:
    """[25] Two endings and a text: both endings, then the text, one response, then quiet."""

    async def main() -> None:
        async with world() as w:
            await w.running_task("a")
            await w.tasks.create("b", origin=SPEAKER)
            w.model.script(hang("Once upon"))
            stream = w.foreground.converse("tell me a story", speaker=SPEAKER)
            await anext(stream)
            queued = asyncio.create_task(w.say("what time is it?"))
            await _end(w, "a")
            await _end(w, "b")
            assert not queued.done()
            await stream.aclose()
            assert await queued == "OK."
            session = w.model.session
            # The text, its response and cancel, word of that; report, text, response.
            assert session.shape() == "trxn" + "ntr"
            assert _told(session) == [["a", "b"]]
            await asyncio.sleep(60)
            assert session.shape() == "trxnntr"

    run(main())


def test_an_open_question_is_asked_once_more_after_a_restart() -> None:
    """[104] It was asked before; a new process asks once, and the answer goes through."""

    async def main() -> None:
        journal = FakeJournal()
        async with world(journal=journal) as w:
            task = await w.waiting_task(_QUESTION)
            await w.say("hello")
            assert _told(w.model.session) == [["file the expense"]]
        async with world(journal=journal) as w:
            assert w.tasks.get(task.id).is_waiting
            await w.say("good morning")
            await w.say("one moment")
            assert _told(w.model.session) == [["file the expense"]]
            answer = {"task_id": task.id, "user_message": "I have logged in"}
            w.model.script(call(("response_user_action", answer)), say("Thanks."))
            assert await w.say("I have logged in") == "Thanks."
            await until(lambda: len(w.runner.runs) == 1)
            assert w.runner.runs[0].continuation == "I have logged in"

    run(main())


@pytest.mark.parametrize("how", ["cancelled", "refused"])
def test_an_ending_that_the_models_own_call_made_is_told_by_its_answer(
    how: str,
) -> None:
    """The call returned it and the answer says it: the next reply does not begin with it."""

    async def main() -> None:
        async with world() as w:
            task = await w.waiting_task(_QUESTION)
            await w.say("hello")
            message = {"user_message": "no", "decision": "refused"}
            made = {
                "cancelled": ("cancel_agent_task", {"task_id": task.id}),
                "refused": ("response_user_action", {"task_id": task.id, **message}),
            }[how]
            w.model.script(call(made), say("It is stopped."))
            assert await w.say("no") == "It is stopped."
            ended = w.tasks.get(task.id)
            assert (ended.delivery, ended.heard) == (Delivery.DELIVERED, Heard.QUERIED)
            await w.say("thanks")
            assert len(_told(w.model.session)) == 1

    run(main())


def test_an_ending_that_the_models_own_call_made_is_told_again_if_cut_off() -> None:
    """The person may not have heard that it is stopped."""

    async def main() -> None:
        async with world() as w:
            task = await w.waiting_task(_QUESTION)
            await w.say("hello")
            cancel = ("cancel_agent_task", {"task_id": task.id})
            w.model.script(call(cancel), hang("It"))
            stream = w.foreground.converse("leave it", speaker=SPEAKER)
            await anext(stream)
            await stream.aclose()
            await until(lambda: w.foreground.snapshot.guard is None)
            assert w.tasks.get(task.id).is_unheard
            await w.say("what?")
            assert len(_told(w.model.session)) == 2
            assert w.tasks.get(task.id).heard is Heard.SHOWN

    run(main())


class _SlowJournal(FakeJournal):
    """A journal whose disk may hang."""

    def __init__(self) -> None:
        """Start with a disk that works."""
        super().__init__()
        self.works = asyncio.Event()
        self.works.set()

    @override
    async def append(self, record: Record) -> None:
        """Wait for the disk."""
        await self.works.wait()
        await super().append(record)


def test_a_stop_is_said_although_the_disk_hangs() -> None:
    """Neither the cancel nor that it was told keeps the answer waiting."""

    async def main() -> None:
        journal = _SlowJournal()
        async with world(journal=journal) as w:
            task = await w.waiting_task(_QUESTION)
            await w.say("hello")
            journal.works.clear()
            cancel = ("cancel_agent_task", {"task_id": task.id})
            w.model.script(call(cancel), say("It is stopped."))
            begun = asyncio.get_running_loop().time()
            assert await w.say("leave it") == "It is stopped."
            assert asyncio.get_running_loop().time() - begun < 3
            assert w.model.session.outputs()[-1]["status"] == "cancelled"
            await w.say("thanks")
            assert len(_told(w.model.session)) == 1
            journal.works.set()
            await until(lambda: journal.records[-1].get("heard") == "queried")

    run(main())
