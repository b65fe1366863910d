"""One spoken wish becomes one finished task on a phone."""

import asyncio
import json
from typing import Any

import pytest

from .conftest import Run
from .world import World

WISH = "turn on airplane mode"


async def _wish(world: World, seed: int) -> tuple[str, str]:
    """Say the wish on a fresh phone; return the reply and the task's id."""
    await world.fresh(seed)
    assert not await world.toggle("airplane_mode")
    reply = await world.say(WISH)
    await world.until(lambda: bool(world.events))
    task_id: str = world.events[0]["task_id"]
    return reply, task_id


def test_a_wish_is_answered_at_once_done_and_reported(world: World, run: Run) -> None:
    """The reply comes while the task runs; the result leads the next reply."""

    async def scenario() -> None:
        reply, task_id = await _wish(world, 1)
        assert reply
        assert not world.ended(task_id), "the reply came only after the task's end"
        assert not await world.toggle("airplane_mode")
        await world.until(lambda: world.ended(task_id))

        assert world.kinds(task_id) == ["created", "queued", "running", "completed"]
        assert await world.toggle("airplane_mode")
        task = (await world.action("query_tasks", task_id=task_id))["tasks"][0]
        assert task["status"] == "completed"
        assert task["outcome"] == "achieved"
        assert task["evidence"]
        assert task["prompt"].casefold() == WISH
        assert task["origin"]["source"] == "conversation"
        assert task["origin"]["user_id"]
        assert task["delivery"] == "queued"

        await world.until(lambda: f"aiden_duplex_{task_id}" in world.notifications)
        notification = world.notifications[f"aiden_duplex_{task_id}"]
        assert "airplane mode" in notification["message"].casefold()
        assert notification["title"] == "Aiden: Done"

        answer = await world.say("what time is it?")
        assert "airplane" in answer.casefold(), answer
        assert answer.casefold().index("airplane") < answer.index("It is"), answer
        again = await world.say("what time is it?")
        assert "airplane" not in again.casefold(), "the result was told twice"
        task = (await world.action("query_tasks", task_id=task_id))["tasks"][0]
        assert task["delivery"] == "delivered"

    run(scenario())


@pytest.mark.parametrize("seed", range(2, 11))
def test_the_same_task_on_other_phones(world: World, run: Run, seed: int) -> None:
    """Names, order, theme and font scale come from the seed; the task is done on each."""

    async def scenario() -> None:
        _, task_id = await _wish(world, seed)
        await world.until(lambda: world.ended(task_id))
        task = (await world.action("query_tasks", task_id=task_id))["tasks"][0]
        assert (task["status"], task["outcome"]) == ("completed", "achieved"), str(task)
        assert await world.toggle("airplane_mode")
        hid = await world.control("hid")
        assert not any(hid["held"].values()), hid["held"]
        await world.say("thanks")

    run(scenario())


@pytest.mark.parametrize(
    ("goal", "reports"),
    [
        (WISH, 1),
        # Each character is two reports: cancelled in the middle of typing.
        (f"write a note saying {'many words and ' * 12}an end", 60),
    ],
)
def test_a_cancelled_task_sends_nothing_more(
    world: World, run: Run, goal: str, reports: int
) -> None:
    """After cancelling only the rest of the gesture; after cancelled nothing at all."""

    async def scenario() -> None:
        await world.fresh(3)
        before = (await world.control("hid"))["count"]
        task_id = (await world.action("create_task", goal=goal))["task_id"]

        async def acted() -> bool:
            return bool((await world.control("hid"))["count"] >= before + reports)

        await world.until(acted)
        cancelled = await world.action("cancel_task", task_id=task_id)
        assert cancelled["task"]["status"] in ("cancelling", "cancelled")
        await world.until(lambda: world.ended(task_id))
        at_end = await world.control("hid")
        assert world.kinds(task_id)[-2:] == ["cancelling", "cancelled"]
        assert not any(at_end["held"].values()), at_end["held"]
        # Longer than any step of the loop takes: a late act would show.
        await asyncio.sleep(3)
        later = await world.control("hid")
        assert later["count"] == at_end["count"]
        phone = await world.control("phone")
        assert not phone["toggles"]["airplane_mode"]
        assert "an end" not in str(phone["notes"])

    run(scenario())


def test_finished_tasks_outlive_a_restart(world: World, run: Run) -> None:
    """A restart keeps what is finished, and repeats nothing."""

    async def scenario() -> dict[str, Any]:
        before = await world.action("query_tasks", include_finished=True)
        assert before["tasks"]
        hid = (await world.control("hid"))["count"]
        await world.restart()
        after = await world.action("query_tasks", include_finished=True)
        assert after == before
        stored = json.loads((world.hass.config / ".storage" / "http").read_text())
        # A configuration on trial would be reverted, with a restart, after five minutes.
        assert stored["data"]["pending"] is None
        assert stored["data"]["stable"]["server_port"] == world.hass.port
        await world.until(world.linked)
        assert (await world.state("sensor.task"))["state"] == before["tasks"][0][
            "status"
        ]
        tail = (await world.control(f"hid?since={hid}"))["reports"]
        assert all(report["decoded"].get("released") for report in tail), tail
        return {}

    run(scenario())
