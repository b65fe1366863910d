"""What counts is asked first: nothing is sent before a person's yes, and it is sent once."""

from typing import Any

import pytest

from simulator.home.client import ApiError

from .conftest import Run
from .world import World

WISH = "send Anna a message saying see you at six"
SENT = {"to": "Anna", "text": "see you at six"}


async def _task(world: World, task_id: str) -> dict[str, Any]:
    """Return a task."""
    found: dict[str, Any] = (await world.action("query_tasks", task_id=task_id))[
        "tasks"
    ][0]
    return found


async def _sent(world: World) -> list[dict[str, str]]:
    """Return the messages that left the phone: the truth."""
    messages: list[dict[str, str]] = (await world.control("phone"))["messages_sent"]
    return messages


def _asks(world: World, task_id: str, times: int) -> bool:
    """Return whether a task has asked so often."""
    return world.kinds(task_id).count("needs_you") >= times


async def _asking(world: World, seed: int) -> str:
    """Let a task come to the act that sends; return its id when it asks."""
    await world.fresh(seed)
    task_id: str = (await world.action("create_task", goal=WISH))["task_id"]
    await world.until(lambda: _asks(world, task_id, 1) or world.ended(task_id))
    assert not world.ended(task_id), await _task(world, task_id)
    question = (await _task(world, task_id))["pending_user_action"]
    assert question["reason"] == "sensitive_operation", question
    assert "see you at six" in question["details"], question
    assert question["consent"]["act"].startswith("tap "), question
    needs_you = await world.state("binary_sensor.needs_you")
    assert needs_you["attributes"]["needs_consent"] is True
    assert await _sent(world) == []
    return task_id


async def _pressed(world: World) -> bool:
    """Press the button; False when the question has only just come to stand there."""
    press = {"entity_id": world.entities["button.proceed"]}
    try:
        await world.client.action("button", "press", press)
    except ApiError as err:
        if "press again" not in str(err):
            raise
        return False
    return True


async def _sent_once(world: World, task_id: str) -> None:
    """Wait for the end: one message, sent after the yes."""
    await world.until(lambda: world.ended(task_id))
    task = await _task(world, task_id)
    assert (task["status"], task["outcome"]) == ("completed", "achieved"), task
    assert await _sent(world) == [SENT]
    assert world.kinds(task_id)[-4:] == [
        *("answered", "running", "consent_used", "completed")
    ]
    assert (await world.state("binary_sensor.needs_you"))["state"] == "off"
    await world.say("thanks")


@pytest.mark.parametrize("by", ["action", "button", "voice"])
def test_a_message_is_sent_after_the_yes_and_once(
    world: World, run: Run, by: str
) -> None:
    """By an action, by a button, by words that were said after the question was heard."""

    async def scenario() -> None:
        task_id = await _asking(world, {"action": 3, "button": 1, "voice": 12}[by])
        match by:
            case "action":
                await world.action("respond", task_id=task_id, message="yes")
            case "button":
                await world.until(lambda: _pressed(world))
            case "voice":
                reply = await world.say("how is it going?")
                assert "see you at six" in reply, reply
                await world.say("maybe")
                assert (await _task(world, task_id))["pending_user_action"]
                await world.say("Yes, send it.")
        await _sent_once(world, task_id)

    run(scenario())


def test_a_no_sends_nothing(world: World, run: Run) -> None:
    """The task ends, not achieved."""

    async def scenario() -> None:
        task_id = await _asking(world, 9)
        await world.say("how is it going?")
        await world.say("no, don't send it")
        await world.until(lambda: world.ended(task_id))
        assert (await _task(world, task_id))["outcome"] != "achieved"
        assert await _sent(world) == []
        await world.say("thanks")

    run(scenario())


def test_a_new_goal_takes_the_yes_back(world: World, run: Run) -> None:
    """What is sent then is asked for anew, and is the new text."""

    async def scenario() -> None:
        task_id = await _asking(world, 14)
        await world.action("respond", task_id=task_id, message="yes")
        goal = WISH.replace("six", "seven")
        await world.action("update_task", task_id=task_id, goal=goal)
        await world.until(lambda: _asks(world, task_id, 2) or world.ended(task_id))
        assert await _sent(world) == []
        assert "consent_used" not in world.kinds(task_id)
        await world.action("cancel_task", task_id=task_id)
        await world.say("thanks")

    run(scenario())


def test_a_restart_takes_the_yes_back(world: World, run: Run) -> None:
    """Power is lost between the yes and the act: it is asked for anew."""

    async def scenario() -> None:
        task_id = await _asking(world, 16)
        await world.action("respond", task_id=task_id, message="yes")
        await world.restart(kill=True)

        async def asks_again() -> bool:
            return "pending_user_action" in await _task(world, task_id)

        await world.until(asks_again)
        assert await _sent(world) == []
        await world.action("respond", task_id=task_id, message="yes")
        await world.until(lambda: world.ended(task_id))
        assert await _sent(world) == [SENT]
        await world.say("thanks")

    run(scenario())
