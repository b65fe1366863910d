"""The tools one by one: what they return, and that they never raise."""

import asyncio
import json
from typing import Any

import pytest

from custom_components.aiden_duplex.foreground.delivery import Delivery
from custom_components.aiden_duplex.foreground.tool_context import ToolContext
from custom_components.aiden_duplex.foreground.tool_errors import task_error
from custom_components.aiden_duplex.foreground.toolbox import MAX_CALLS, Toolbox
from custom_components.aiden_duplex.foreground.tools import TOOLS
from custom_components.aiden_duplex.models.tools import ToolCall
from custom_components.aiden_duplex.tasks.errors import (
    HaltedError,
    NotRunningError,
    NotUpdatableError,
    NotWaitingError,
    StaleQuestionError,
    TaskError,
    TaskNotFoundError,
    TaskQueueFullError,
    TaskStorageError,
    TaskValueError,
)
from tests.foreground.fakes import SPEAKER, World, call, say, until, world
from tests.virtual_time import run


def _toolbox(w: World) -> Toolbox:
    async def time_zone(name: str) -> Any:
        return await w.foreground._time_zone(name)

    return Toolbox(
        ToolContext(
            tasks=w.tasks,
            delivery=Delivery(w.tasks),
            speaker=SPEAKER,
            now=w.now,
            time_zone=time_zone,
            phone_ready=lambda: w.phone_problem,
            arrived_at=w.now(),
            ending=asyncio.Event(),
        )
    )


async def _run(box: Toolbox, name: str, **arguments: Any) -> dict[str, Any]:
    output: dict[str, Any] = json.loads(
        await box.run(ToolCall(call_id="c", name=name, arguments=json.dumps(arguments)))
    )
    return output


def test_the_time_here_and_elsewhere() -> None:
    """Local without a zone; an unknown zone says what to do."""

    async def main() -> None:
        async with world() as w:
            box = _toolbox(w)
            assert await _run(box, "get_current_time") == {
                "local_time": "2026-11-02T08:16:40+00:00",
                "weekday": "Monday",
                "timezone": "UTC",
                "utc_offset": "+00:00",
            }
            there = await _run(box, "get_current_time", timezone="Asia/Tokyo")
            assert there["local_time"] == "2026-11-02T17:16:40+09:00"
            assert there["utc_offset"] == "+09:00"
            wrong = await _run(box, "get_current_time", timezone="Mars/Olympus")
            assert wrong["error"] == "unknown_timezone"

    run(main())


def test_pausing_gives_the_phone_to_the_person() -> None:
    """Paused, being paused, not in work: each says what is so and what to do."""

    async def main() -> None:
        async with world() as w:
            box = _toolbox(w)
            nothing = await _run(box, "pause_agent_task")
            assert nothing["error"] == "not_running"
            running = await w.running_task("a")
            paused = await _run(box, "pause_agent_task", task_id=running.id)
            assert (paused["task_id"], paused["status"]) == (running.id, "running")
            assert paused["note"].startswith("Paused: the phone is the person's now.")
            assert w.tasks.get(running.id).is_waiting
            again = await _run(_toolbox(w), "pause_agent_task", task_id=running.id)
            assert again["note"].startswith("Paused")
            w.runner.safe_point_s = 5.0
            await w.tasks.cancel(running.id)
            slow = await w.running_task("b")
            pausing = await _run(_toolbox(w), "pause_agent_task")
            assert pausing["task_id"] == slow.id
            assert "NOT paused yet" in pausing["note"]

    run(main())


def test_what_is_said_after_a_pause_goes_to_the_task() -> None:
    """Who asked for the pause knows what is open; the next text is the answer to it."""

    async def main() -> None:
        async with world() as w:
            task = await w.running_task("a")
            w.model.script(
                call(("pause_agent_task", {})),
                say("The phone is yours."),
                call(
                    (
                        "response_user_action",
                        {"task_id": task.id, "user_message": "I am done"},
                    )
                ),
                say("Thank you."),
            )
            assert await w.say("wait, I'll handle this part") == "The phone is yours."
            assert w.held == [5.0]
            assert await w.say("I am done") == "Thank you."
            await until(lambda: len(w.runner.runs) == 2)
            assert w.runner.runs[1].continuation == "I am done"
            assert "phone was taken over" in (w.runner.runs[1].asked or "")

    run(main())


def test_nothing_is_created_under_the_kill_switch() -> None:
    """The model is told that only the person can turn it off."""

    async def main() -> None:
        async with world() as w:
            await w.tasks.halt()
            output = await _run(_toolbox(w), "create_agent_task", task="open the notes")
            assert output["error"] == "halted"
            assert "only the person can turn it off" in output["what_to_do"]

    run(main())


def test_cancelling_says_what_was_and_was_not_stopped() -> None:
    """Queued, running, ended: three different truths."""

    async def main() -> None:
        async with world() as w:
            box = _toolbox(w)
            w.runner.safe_point_s = 2.0
            running = await w.running_task("a")
            queued = await w.tasks.create("b", origin=SPEAKER)
            stopped = await _run(box, "cancel_agent_task", task_id=queued.id)
            assert stopped["status"] == "cancelled"
            assert stopped["note"].startswith("Stopped before it was done")
            stopping = await _run(box, "cancel_agent_task", task_id=running.id)
            assert stopping["status"] == "cancelling"
            assert "NOT stopped yet" in stopping["note"]
            await until(lambda: w.tasks.get(running.id).status.is_terminal)
            ended = await w.ended_task("c", result="secret")
            late = await _run(box, "cancel_agent_task", task_id=ended.id)
            assert late == {
                "task_id": ended.id,
                "status": "completed",
                "pending_notification_cleared": True,
                "note": "It had ended before: nothing was stopped, and what it did is not undone.",
            }

    run(main())


def test_looking_at_one_task_and_at_all() -> None:
    """An unknown id is an error value; no outstanding work is an empty list, never null."""

    async def main() -> None:
        async with world() as w:
            box = _toolbox(w)
            assert (await _run(box, "query_agent_task"))["tasks"] == []
            unknown = await _run(box, "query_agent_task", task_id="task_x")
            assert unknown["error"] == "task_not_found"
            task = await w.running_task("a")
            one = await _run(box, "query_agent_task", task_id=task.id)
            assert one["status"] == "running"
            assert one["step"] == "looking at the screen"

    run(main())


def test_many_outstanding_tasks_are_shown_in_bounds() -> None:
    """Twenty whole, the others with their ids, all of them nameable."""

    async def main() -> None:
        async with world() as w:
            box = _toolbox(w)
            for number in range(30):
                known = [task.id for task in w.tasks.tasks()]
                await w.tasks.create(
                    f"{number} " + "x" * 5000, origin=SPEAKER, distinct_from=known
                )
            output = await _run(box, "query_agent_task")
            assert len(output["tasks"]) == 30
            assert len(json.dumps(output)) < 20_000
            refused = await _run(box, "create_agent_task", task="new")
            ids = [task["task_id"] for task in refused["outstanding"]]
            made = await _run(box, "create_agent_task", task="new", distinct_from=ids)
            assert made["status"] == "queued"

    run(main())


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        (TaskNotFoundError("t"), "task_not_found"),
        (NotWaitingError("t"), "not_waiting"),
        (NotUpdatableError("t"), "not_updatable"),
        (NotRunningError("t"), "not_running"),
        (HaltedError(), "halted"),
        (StaleQuestionError("t"), "stale_question"),
        (TaskQueueFullError(64), "queue_full"),
        (TaskStorageError("the disk is full"), "storage_failed"),
        (TaskValueError("goal_too_long", "the goal is too long"), "goal_too_long"),
    ],
)
def test_refusals_of_the_task_manager_are_values(refusal: TaskError, code: str) -> None:
    """Each has its code and says what to do."""
    output = task_error(refusal)
    assert output["error"] == code
    assert len(output["what_to_do"]) > 20


def test_a_turn_has_a_bound_of_calls() -> None:
    """One response with a hundred calls."""

    async def main() -> None:
        async with world() as w:
            box = _toolbox(w)
            outputs = [
                await _run(box, "get_current_time", timezone=f"Z/{number}")
                for number in range(100)
            ]
            assert len(box.called) == MAX_CALLS
            assert outputs[-1]["error"] == "repeated_call"
            assert box.is_exhausted

    run(main())


def test_every_tool_is_described_for_every_provider() -> None:
    """Names every provider takes, closed schemas without null, unions or empty enumerations."""
    for tool in TOOLS:
        assert tool.spec.name.isidentifier()
        assert tool.spec.description
        schema = tool.spec.parameters
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) <= set(schema["properties"])
        text = json.dumps(schema)
        for word in ("null", "anyOf", "oneOf", "default"):
            assert word not in text
