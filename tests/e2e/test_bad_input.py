"""Bad input and a broken outside: a clear error each, and nothing lost."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from simulator.home.client import ApiError
from simulator.home.setup import DOMAIN

from .conftest import Run
from .world import World


@pytest.fixture
def ready(world: World) -> World:
    """Return the running world, set up."""
    return world


async def _error(world: World, name: str, **data: Any) -> str:
    """Perform an action that must fail; return what the person is told."""
    with pytest.raises(ApiError) as caught:
        await world.client.call(
            "call_service",
            domain=DOMAIN,
            service=name,
            service_data=data,
            target={"entity_id": world.entities["sensor.task"]},
            return_response=True,
        )
    return caught.value.text


def test_actions_say_what_is_wrong(ready: World, run: Run) -> None:
    """Empty, endless and unknown are refused in words; nothing is created."""
    world = ready

    async def scenario() -> None:
        before = await world.action("query_tasks", include_finished=True)
        assert "empty" in await _error(world, "create_task", goal="  \n ")
        assert "8,000" in await _error(world, "create_task", goal="x" * 100_000)
        unknown = "task_0000000000000000"
        assert unknown in await _error(world, "cancel_task", task_id=unknown)
        assert unknown in await _error(world, "query_tasks", task_id=unknown)
        assert unknown in await _error(world, "respond", task_id=unknown, message="ok")
        after = await world.action("query_tasks", include_finished=True)
        assert after == before

    run(scenario())


def test_the_65th_waiting_task_is_refused_and_no_other_lost(
    ready: World, run: Run
) -> None:
    """64 tasks may wait; one more is refused with words, and all others stay."""
    world = ready

    async def scenario() -> None:
        await world.fresh(1)
        await world.control("models", {"chat": {"mode": "hang"}})
        first = await world.action("create_task", goal="open the notes")
        await world.until(lambda: "running" in world.kinds(first["task_id"]))
        for number in range(64):
            await world.action("create_task", goal=f"write note number {number}")
        assert "64" in await _error(world, "create_task", goal="one too many")
        outstanding = (await world.action("query_tasks"))["tasks"]
        assert len(outstanding) == 65
        positions = [task.get("queue_position") for task in reversed(outstanding)]
        assert positions == [None, *range(1, 65)]
        assert (await world.state("sensor.outstanding"))["state"] == "65"
        for task in outstanding:
            await world.action("cancel_task", task_id=task["id"])
        await world.until(lambda: world.ended(first["task_id"]))
        await world.control("models", {"chat": {"mode": "ok"}})
        await world.say("thanks")

    run(scenario())


def test_a_board_that_goes_and_comes_back_during_a_task(ready: World, run: Run) -> None:
    """The task waits for the board, looks again and ends well; nothing stays held."""
    world = ready

    async def scenario() -> None:
        await world.fresh(4)
        created = await world.action("create_task", goal="turn on airplane mode")
        task_id = created["task_id"]
        before = (await world.control("hid"))["count"]

        async def acted() -> bool:
            return bool((await world.control("hid"))["count"] > before)

        await world.until(acted)
        await world.control("board", {"action": "unplug"})

        async def gone() -> bool:
            return not await world.linked()

        async def nothing_held() -> bool:
            return not any((await world.control("hid"))["held"].values())

        await world.until(gone)
        # The board lets go by itself: at most 1.5 s of silence, or a gesture's own end.
        await world.until(nothing_held, deadline_s=5)
        await world.control("board", {"action": "plug"})
        await world.until(world.linked)
        await world.until(lambda: world.ended(task_id))
        task = (await world.action("query_tasks", task_id=task_id))["tasks"][0]
        assert (task["status"], task["outcome"]) == ("completed", "achieved"), str(task)
        assert await world.toggle("airplane_mode")
        await world.say("thanks")

    run(scenario())


def test_a_picture_that_turns_into_a_web_page_fails_the_task_in_words(
    ready: World, run: Run
) -> None:
    """No act is taken on what is no picture; the task says what came instead."""
    world = ready

    async def scenario() -> None:
        await world.fresh(5)
        await world.control("picture", {"mode": "html"})
        before = (await world.control("hid"))["count"]
        created = await world.action("create_task", goal="turn on airplane mode")
        await world.until(lambda: world.ended(created["task_id"]))
        task = (await world.action("query_tasks", task_id=created["task_id"]))["tasks"][
            0
        ]
        assert task["status"] == "failed", task
        assert "html" in task["error"].casefold()
        reports = (await world.control(f"hid?since={before}"))["reports"]
        assert all(report["decoded"]["released"] for report in reports), reports
        await world.control("picture", {"mode": "normal"})
        await world.say("thanks")

    run(scenario())


def test_stopping_home_assistant_during_a_model_call_hands_the_task_back(
    ready: World, run: Run
) -> None:
    """The stop is quick, nothing stays held, and the task goes on after the start."""
    world = ready

    async def scenario() -> None:
        await world.fresh(6)
        await world.control("models", {"chat": {"mode": "hang"}})
        created = await world.action("create_task", goal="turn on airplane mode")
        task_id = created["task_id"]
        await world.until(lambda: "running" in world.kinds(task_id))
        loop = asyncio.get_running_loop()
        started = loop.time()
        await world.client.close_socket()
        assert await world.hass.stop() == 0
        # Home Assistant's own stages included; the model call alone would take 120 s.
        assert loop.time() - started < 20
        assert not any((await world.control("hid"))["held"].values())
        await world.control("models", {"chat": {"mode": "ok"}})
        await world.restart()
        await world.until(lambda: world.ended(task_id))
        task = (await world.action("query_tasks", task_id=task_id))["tasks"][0]
        assert (task["status"], task["outcome"]) == ("completed", "achieved"), str(task)
        assert await world.toggle("airplane_mode")
        await world.say("thanks")

    run(scenario())


@pytest.mark.parametrize(
    ("mode", "words"),
    [("unauthorized", "key"), ("unavailable", "")],
)
def test_the_conversation_says_why_it_cannot_answer(
    ready: World, run: Run, mode: str, words: str
) -> None:
    """A refused key and an unreachable model are said in words, without the key."""
    world = ready

    async def scenario() -> None:
        await world.say("goodbye")
        await world.control("models", {"realtime": {"mode": mode}})
        answer = await world.say("turn on airplane mode")
        assert answer.startswith("I cannot answer right now"), answer
        assert words in answer
        assert world.simulator["api_key"] not in answer
        await world.control("models", {"realtime": {"mode": "ok"}})
        answer = await world.say("what time is it?")
        assert ":" in answer
        assert world.simulator["api_key"] not in world.hass.log

    run(scenario())


def test_everything_outside_missing_keeps_the_entry_loaded(
    ready: World, run: Run, tmp_path: Path
) -> None:
    """Without board, picture and models Home Assistant starts; when they come back, all works."""
    world = ready

    async def scenario() -> None:
        await world.control("board", {"action": "unplug"})
        await world.control("picture", {"mode": "missing"})
        await world.restart()
        entries = await world.client.request("GET", "/api/config/config_entries/entry")
        states = {entry["domain"]: entry["state"] for entry in entries}
        assert states[DOMAIN] == "loaded"
        assert (await world.state("binary_sensor.link"))["state"] == "off"
        answer = await world.say("what time is it?")
        assert ":" in answer
        answer = await world.say("turn on airplane mode")
        assert not (await world.action("query_tasks"))["tasks"], answer
        await world.control("board", {"action": "plug"})
        await world.control("picture", {"mode": "normal"})
        await world.until(world.linked)
        states_after = await world.client.request(
            "GET", "/api/config/config_entries/entry"
        )
        assert {
            entry["state"] for entry in states_after if entry["domain"] == DOMAIN
        } == {"loaded"}

    run(scenario())
