"""Giving work away: at once, looked up first, replaced whole; what the model is told of it."""

import asyncio
import json
from typing import Any

import pytest

from custom_components.aiden_duplex.foreground.prompts import instructions
from custom_components.aiden_duplex.foreground.tools import TOOLS
from custom_components.aiden_duplex.models.realtime.session import AddNotice
from custom_components.aiden_duplex.tasks.model import ReasonClass, TaskStatus
from custom_components.aiden_duplex.tasks.runner import Question
from tests.foreground.fakes import World, call, say, until, world
from tests.virtual_time import run

_QUESTION = Question(
    reason=ReasonClass.AMBIGUOUS,
    details="There are two Annas.",
    suggested_action="Say which one.",
)


def _description(name: str) -> str:
    """Return what a provider is told of a tool."""
    return next(tool.spec.description for tool in TOOLS if tool.spec.name == name)


async def _call(w: World, name: str, **arguments: Any) -> dict[str, Any]:
    """Let the model call a tool in a turn; return its output."""
    w.model.script(call((name, arguments)), say("Well."))
    await w.say("please")
    output: dict[str, Any] = w.model.session.outputs()[-1]
    return output


def test_no_tool_waits_for_the_phone() -> None:
    """The run hangs, and does not even stop at once: each call returns within 100 ms."""

    async def main() -> None:
        async with world() as w:
            w.runner.safe_point_s = 5.0
            asking = await w.waiting_task(_QUESTION)
            running = await w.running_task("call mum")
            await w.say("hello")
            known = [asking.id, running.id]
            loop = asyncio.get_running_loop()
            for name, arguments, status in (
                (
                    "create_agent_task",
                    {"task": "Call dad.", "distinct_from": known},
                    "queued",
                ),
                ("query_agent_task", {"task_id": running.id}, "running"),
                ("query_agent_task", {}, None),
                (
                    "update_agent_task",
                    {"task_id": running.id, "task": "Call aunt Ada."},
                    "running",
                ),
                (
                    "response_user_action",
                    {"task_id": asking.id, "user_message": "Anna B"},
                    "running",
                ),
                ("cancel_agent_task", {"task_id": running.id}, "cancelling"),
            ):
                begun = loop.time()
                output = await _call(w, name, **arguments)
                assert loop.time() - begun < 0.1, name
                assert output.get("status") == status, (name, output)

    run(main())


def test_a_goal_is_replaced_whole_or_not_at_all() -> None:
    """Both the work and its complete new goal are named; the run gets that goal."""

    async def main() -> None:
        async with world() as w:
            task = await w.running_task("call Bert")
            for arguments in (
                {},
                {"task_id": task.id},
                {"task": "call Anna"},
                {"task_id": task.id, "task": " "},
                {"task_id": task.id, "task": "call Anna", "append": True},
            ):
                output = await _call(w, "update_agent_task", **arguments)
                assert output["error"] == "invalid_arguments", arguments
            assert w.tasks.get(task.id).prompt == "call Bert"
            assert w.runner.steers == []
            output = await _call(
                w, "update_agent_task", task_id=task.id, task=" call Anna, not Bert "
            )
            assert (output["task_id"], output["status"]) == (task.id, "running")
            assert "NOT done yet" in output["note"]
            assert [one.id for one in w.tasks.tasks()] == [task.id]
            [(steered, steer)] = w.runner.steers
            assert (steered, steer.goal, steer.goal_revision) == (
                task.id,
                "call Anna, not Bert",
                2,
            )

    run(main())


def test_a_question_of_the_old_goal_is_not_asked_any_more() -> None:
    """Told, then the goal was replaced: no reply repeats it, no answer reaches the work."""

    async def main() -> None:
        async with world() as w:
            task = await w.waiting_task(_QUESTION)
            await w.say("hello")
            output = await _call(
                w, "update_agent_task", task_id=task.id, task="call Bert"
            )
            assert output["status"] == "running"
            await until(lambda: len(w.runner.runs) == 2)
            late = await _call(
                w, "response_user_action", task_id=task.id, user_message="Anna B"
            )
            assert late["error"] == "not_waiting"
            request = w.runner.runs[1]
            assert (request.goal, request.continuation) == ("call Bert", None)
            assert len(w.model.session.sent(AddNotice)) == 1

    run(main())


@pytest.mark.parametrize("told", [False, True])
def test_the_question_of_cancelled_work_is_nowhere(told: bool) -> None:
    """Not where it is looked up, and not in the report that a lost session gives back."""

    async def main() -> None:
        async with world() as w:
            task = await w.waiting_task(_QUESTION)
            if told:
                await w.say("hello")
            await w.tasks.cancel(task.id)
            [claimed] = w.tasks.claim("lost")
            w.tasks.begin("lost", [task.id])
            w.tasks.release("lost")
            listed = (w.tasks.get(task.id), *w.tasks.tasks(), *w.tasks.outstanding())
            for seen in (claimed, *listed):
                assert seen.status is TaskStatus.CANCELLED
                assert seen.pending_user_action is None
            looked_up = await _call(w, "query_agent_task", task_id=task.id)
            assert "pending_user_action" not in looked_up
            notice = w.model.session.sent(AddNotice)[-1].notice
            [line] = [json.loads(line) for line in notice.text.splitlines()[1:]]
            assert line == {
                "task_id": task.id,
                "status": "cancelled",
                "outcome": "unknown",
                "task": "file the expense",
            }

    run(main())


def test_work_is_only_begun_after_a_look_at_what_is_outstanding() -> None:
    """The model is told so twice, and what names not everything begins nothing."""
    for text in (_description("create_agent_task"), instructions("German")):
        assert "query_agent_task" in text
        assert "distinct_from" in text
        assert "outstanding" in text

    async def main() -> None:
        async with world() as w:
            second, first = await w.ended_task("b"), await w.running_task("a")
            output = await _call(
                w, "create_agent_task", task="c", distinct_from=[first.id]
            )
            assert output["error"] == "outstanding_work"
            assert second.id in [one["task_id"] for one in output["outstanding"]]

    run(main())


def test_what_needs_the_screen_is_work() -> None:
    """The model does not see the phone, and is told what to do about that."""
    text = instructions(None)
    assert "anything looked up there is work: give it away with create_agent_task" in (
        text.replace("\n", " ")
    )
    assert "do not see its screen" in text
    assert not {"screenshot", "tap", "type_text"} & {tool.spec.name for tool in TOOLS}


def test_the_model_is_told_when_to_say_goodbye() -> None:
    """By its own tool, for a goodbye of now; each tool for work is named, too."""
    text = instructions(None)
    for tool in TOOLS:
        if tool.spec.name != "get_current_time":
            assert tool.spec.name in text
    assert "A goodbye earlier in the conversation is no reason." in text
