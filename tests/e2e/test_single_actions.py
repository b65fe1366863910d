"""An automation does one thing on the phone, while nothing runs and in the middle of a task."""

import pytest

from simulator.home.client import ApiError

from .conftest import Run
from .world import World

NOTE = "buy milk and bread and butter and cheese"
GOAL = f"write a note saying {NOTE}"


async def _typing(world: World) -> str:
    """Create a task and wait until it is in the middle of typing; return its id."""
    before = (await world.control("hid"))["count"]
    task_id: str = (await world.action("create_task", goal=GOAL))["task_id"]

    async def typed() -> bool:
        return bool((await world.control("hid"))["count"] >= before + 25)

    await world.until(typed)
    return task_id


def _told(world: World) -> int:
    """Return how often the phone's model was told that somebody else used the phone."""
    journals = (world.hass.config / ".storage").glob("*/sessions/backend.journal")
    return sum(
        journal.read_text().count("Interrupt [preempted]") for journal in journals
    )


def test_without_a_task_each_act_reaches_the_phone(world: World, run: Run) -> None:
    """No model is asked for a single act."""

    async def scenario() -> None:
        await world.fresh(31)
        before = (await world.control("hid"))["count"]
        done = await world.action("press_key", key="home")
        assert done == {"sent": {"key": "home"}, "preempted_task_id": None}
        await world.action("tap", x=500, y=500)
        await world.action("swipe", x1=500, y1=800, x2=500, y2=300)
        await world.action("type_text", text="hello")
        hid = await world.control("hid")
        assert hid["count"] > before + 15
        assert not any(hid["held"].values()), hid["held"]

    run(scenario())


def test_refused_while_a_task_types_and_nothing_is_sent(world: World, run: Run) -> None:
    """The task does not notice: it ends with the whole note."""

    async def scenario() -> None:
        await world.fresh(31)
        task_id = await _typing(world)
        with pytest.raises(ApiError, match=f"{task_id}.*set preempt"):
            await world.action("press_key", key="home")
        await world.until(lambda: world.ended(task_id))
        task = (await world.action("query_tasks", task_id=task_id))["tasks"][0]
        assert (task["status"], task["outcome"]) == ("completed", "achieved"), str(task)
        assert NOTE in str((await world.control("phone"))["notes"])
        assert _told(world) == 0
        await world.say("thanks")

    run(scenario())


def test_with_preempt_the_task_pauses_and_goes_on(world: World, run: Run) -> None:
    """Home in the middle of typing: the task looks, verifies, and writes its note."""

    async def scenario() -> None:
        await world.fresh(31)
        task_id = await _typing(world)
        done = await world.action("press_key", key="home", preempt=True)
        assert done == {"sent": {"key": "home"}, "preempted_task_id": task_id}
        assert not world.ended(task_id)
        await world.until(lambda: world.ended(task_id))
        task = (await world.action("query_tasks", task_id=task_id))["tasks"][0]
        assert (task["status"], task["outcome"]) == ("completed", "achieved"), str(task)
        assert world.kinds(task_id) == ["created", "queued", "running", "completed"]
        assert NOTE in str((await world.control("phone"))["notes"])
        assert _told(world) == 1
        await world.say("thanks")

    run(scenario())
