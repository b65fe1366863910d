"""A task needs its person, the person takes over, says stop, or pulls the kill switch."""

import asyncio
from typing import Any

import pytest

from simulator.home.client import ApiError

from .conftest import Run
from .world import World

WISH = "turn on airplane mode"
SLOT = "sensor.aiden_task_slot_1"


async def _task(world: World, task_id: str) -> dict[str, Any]:
    """Return a task."""
    found: dict[str, Any] = (await world.action("query_tasks", task_id=task_id))[
        "tasks"
    ][0]
    return found


async def _waiting(world: World, seed: int) -> str:
    """Let a task meet the lock screen of a phone; return its id when it asks."""
    await world.fresh(seed)
    await world.control("finger", {"action": "lock"})
    await world.say(WISH)
    await world.until(lambda: bool(world.events))
    task_id: str = world.events[0]["task_id"]
    await world.until(lambda: "needs_you" in world.kinds(task_id))
    return task_id


async def _acting(world: World, goal: str, reports: int = 1) -> str:
    """Create a task and wait until it has begun to touch or type; return its id."""
    before = (await world.control("hid"))["count"]
    task_id: str = (await world.action("create_task", goal=goal))["task_id"]

    async def acted() -> bool:
        return bool((await world.control("hid"))["count"] >= before + reports)

    await world.until(acted)
    return task_id


async def _pressed(world: World, button: str) -> bool:
    """Press a button; it means nothing until its question has been shown for a while."""
    try:
        await world.client.action(
            "button", "press", {"entity_id": world.entities[button]}
        )
    except ApiError:
        return False
    return True


async def _reports_within(world: World, seconds: float) -> int:
    """Return how many reports reach the phone within a time."""
    before = (await world.control("hid"))["count"]
    await asyncio.sleep(seconds)
    return int((await world.control("hid"))["count"]) - int(before)


async def _achieved(world: World, task_id: str) -> None:
    """Wait for the end; it must be the wish fulfilled, by the same task, in one go."""
    await world.until(lambda: world.ended(task_id))
    task = await _task(world, task_id)
    assert (task["status"], task["outcome"]) == ("completed", "achieved"), task
    assert await world.toggle("airplane_mode")
    assert {event["task_id"] for event in world.events} == {task_id}


def test_the_lock_screen_is_shown_everywhere_and_answered_by_voice(
    world: World, run: Run
) -> None:
    """Sensor, event, notification, slot, conversation; the finger unlocks; it goes on."""

    async def scenario() -> None:
        task_id = await _waiting(world, 21)
        needs_you = await world.state("binary_sensor.needs_you")
        assert needs_you["state"] == "on"
        assert needs_you["attributes"]["task_id"] == task_id
        asked = next(e for e in world.events if e["event_type"] == "needs_you")
        assert needs_you["attributes"]["question_id"] == asked["question_id"]
        slot = (await world.client.states())[SLOT]
        assert (slot["state"], slot["attributes"]["task_id"]) == ("running", task_id)
        assert slot["attributes"]["question"] == asked["question"]
        await world.until(lambda: f"aiden_duplex_{task_id}" in world.notifications)
        shown = world.notifications[f"aiden_duplex_{task_id}"]
        assert shown["title"] == "Aiden: needs you"
        reply = await world.say("how is it going?")
        assert "unlock" in reply.casefold(), reply
        assert await _reports_within(world, 2) == 0

        await world.control("finger", {"action": "unlock"})
        await world.say("I unlocked it")
        await _achieved(world, task_id)
        assert world.kinds(task_id) == [
            *("created", "queued", "running", "needs_you", "answered"),
            *("running", "completed"),
        ]
        assert (await world.state("binary_sensor.needs_you"))["state"] == "off"
        assert "airplane" in (await world.say("thanks")).casefold()

    run(scenario())


@pytest.mark.parametrize("by", ["action", "button"])
def test_the_answer_by_action_or_button_continues_the_same_task(
    world: World, run: Run, by: str
) -> None:
    """As an automation or a dashboard does it."""

    async def scenario() -> None:
        task_id = await _waiting(world, 22 if by == "action" else 23)
        question = (await world.state("binary_sensor.needs_you"))["attributes"]
        await world.control("finger", {"action": "unlock"})
        if by == "action":
            await world.action(
                "respond",
                task_id=task_id,
                message="unlocked",
                question_id=question["question_id"],
            )
        else:
            await world.until(lambda: _pressed(world, "button.proceed"))
        await _achieved(world, task_id)
        await world.say("thanks")

    run(scenario())


def test_refused_and_silent_are_two_things(world: World, run: Run) -> None:
    """Silence leaves the question open and lets the next task run; refusal ends it."""

    async def scenario() -> None:
        await world.set_options(slots=4, reserve_s=2, show_picture=False)
        silent = await _waiting(world, 24)
        await world.control("finger", {"action": "unlock"})
        other = (await world.action("create_task", goal="turn on bluetooth"))["task_id"]
        assert "running" not in world.kinds(other), "the phone was not kept"
        await world.until(lambda: world.ended(other))
        task = await _task(world, silent)
        assert (task["status"], task["pending_user_action"]["reason"]) == (
            "running",
            "authentication",
        )
        assert "outcome" not in task
        refused = await world.action(
            "respond", task_id=silent, message="no, leave it", decision="refused"
        )
        assert refused["task"]["status"] == "completed"
        assert refused["task"]["outcome"] == "not_achieved"
        assert not await world.toggle("airplane_mode")
        assert await _reports_within(world, 2) == 0
        await world.set_options(slots=4, reserve_s=120, show_picture=False)
        await world.say("thanks")

    run(scenario())


def test_the_person_takes_over_in_the_middle_and_gives_it_back(
    world: World, run: Run
) -> None:
    """Nothing reaches the phone meanwhile; then the same task goes on to its end."""

    async def scenario() -> None:
        await world.fresh(28)
        task_id = await _acting(world, WISH)
        reply = await world.say("Wait, I'll handle this part")
        assert "yours" in reply, reply
        held = (await world.control("hid"))["held"]
        assert not any(held.values()), held
        await world.control("finger", {"action": "take_over"})
        assert await _reports_within(world, 7) == 0, "a stop word's hold ended early"
        task = await _task(world, task_id)
        assert task["pending_user_action"]["reason"] == "take_over"
        await world.say("I'm done")
        await _achieved(world, task_id)
        assert world.kinds(task_id).count("needs_you") == 1
        await world.say("thanks")

    run(scenario())


def test_a_stop_word_stops_in_the_middle_of_typing(world: World, run: Run) -> None:
    """Held at once, then cancelled by the model; no report after that."""

    async def scenario() -> None:
        await world.fresh(26)
        goal = f"write a note saying {'many words and ' * 12}an end"
        task_id = await _acting(world, goal, reports=60)
        await world.say("stop!")
        await world.until(lambda: world.ended(task_id))
        assert world.kinds(task_id)[-2:] == ["cancelling", "cancelled"]
        assert await _reports_within(world, 6) == 0
        assert "an end" not in str((await world.control("phone"))["notes"])
        await world.say("thanks")

    run(scenario())


def test_the_kill_switch_stops_until_it_is_turned_off(world: World, run: Run) -> None:
    """Also through a restart; what waits goes on afterwards."""

    async def scenario() -> None:
        await world.fresh(26)
        switch = {"entity_id": world.entities["switch.kill_switch"]}
        typing = await _acting(
            world, f"write a note saying {'words ' * 40}", reports=40
        )
        waiting = (await world.action("create_task", goal=WISH))["task_id"]
        await world.client.action("switch", "turn_on", switch)
        await world.until(lambda: world.ended(typing))
        assert world.kinds(typing)[-1] == "failed"
        assert "kill switch" in (await _task(world, typing))["error"]
        held = await world.control("hid")
        assert not any(held["held"].values()), held["held"]
        await world.restart()
        assert (await world.state("switch.kill_switch"))["state"] == "on"
        await world.until(world.linked)
        # The new link lets go of everything, which is told three times; then silence.
        assert await _reports_within(world, 1) <= 3
        assert await _reports_within(world, 3) == 0
        assert "kill switch" in await world.say("turn on bluetooth")
        await world.client.action("switch", "turn_off", switch)
        await world.until(lambda: world.ended(waiting))
        assert (await _task(world, waiting))["outcome"] == "achieved"
        await world.say("thanks")

    run(scenario())
