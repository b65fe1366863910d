"""From the first form to the removal: by REST, with everything that goes wrong on the way."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.home.process import SimulatorProcess, start_simulator
from simulator.home.setup import DOMAIN, flow_steps

from .conftest import Run
from .forms import (
    ENTRIES,
    FLOWS,
    find_entry,
    open_part,
    refuse_boards,
    refuse_models,
    refuse_pictures,
    refused,
    submitted,
)
from .process import journals_among, open_files, open_ptys, sockets_to, threads_of
from .world import World

WISH = "turn on airplane mode"
NEW_KEY = "sk-simulated-anew"
RELOADS = 50
LINK_2 = "binary_sensor.aiden_2_link_to_the_phone"
TASK_2 = "sensor.aiden_2_current_task"


@pytest.fixture(scope="module")
def world(
    runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Return a running world that is not set up yet."""
    folder = tmp_path_factory.mktemp("world")
    value = runner.run(World.start(folder, set_up_entry=False))
    yield value
    runner.run(value.stop())
    assert value.complaints() == []


@pytest.fixture(scope="module")
def second(
    runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SimulatorProcess]:
    """Return a second phone with its board."""
    folder = tmp_path_factory.mktemp("second")
    arguments = ("--seed", "2", "--pty-link", str(folder / "board"))
    value = runner.run(start_simulator(*arguments, log=folder / "simulator.log"))
    yield value
    runner.run(value.stop())


def test_every_failure_is_named_and_the_right_answer_goes_on(
    world: World, run: Run
) -> None:
    """Each step says at its field what was found; nothing has to be begun anew."""

    async def scenario() -> None:
        client, simulator = world.client, world.simulator
        steps = flow_steps(simulator.ready, str(world.board))
        flow = await client.start_flow(DOMAIN)
        await refuse_boards(client, flow)
        flow = await submitted(client, flow, steps["user"], "picture")
        await refuse_pictures(client, flow, simulator["http"])
        flow = await submitted(client, flow, steps["picture"], "foreground")
        await refuse_models(client, flow, steps["foreground"])
        flow = await submitted(client, flow, steps["foreground"], "background")
        await refuse_models(client, flow, steps["background"])
        await world.control("models", {"chat": {"mode": "no_pictures"}})
        detail = await refused(
            client, flow, steps["background"], {"model": "model_bad_request"}
        )
        assert "no pictures" in detail
        await world.control("models", {"chat": {"mode": "ok"}})
        result = await client.submit(flow, steps["background"])
        assert result["type"] == "create_entry", result
        assert result["title"] == "Aiden"
        await world.watch()
        await world.until(world.linked)
        assert "sk-wrong" not in world.hass.log

    run(scenario())


@pytest.fixture
def ready(world: World, run: Run) -> World:
    """Return the world, set up: by the flow's test before, else in the plain way."""
    if not world.entities:
        run(world.set_up())
    return world


async def _create(world: World, entity_id: str, goal: str) -> str:
    """Create a task on a phone; return its id."""
    target = {"entity_id": entity_id, "goal": goal}
    result = await world.client.action(DOMAIN, "create_task", target, response=True)
    task_id: str = result[entity_id]["task_id"]
    return task_id


async def _task(world: World, entity_id: str, task_id: str) -> dict[str, Any]:
    """Return a task of a phone."""
    target = {"entity_id": entity_id, "task_id": task_id}
    result = await world.client.action(DOMAIN, "query_tasks", target, response=True)
    task: dict[str, Any] = result[entity_id]["tasks"][0]
    return task


async def _until_ended(world: World, entity_id: str, task_id: str) -> dict[str, Any]:
    """Wait for a task's end; return the task."""
    task: dict[str, Any] = {}

    async def ended() -> bool:
        nonlocal task
        task = await _task(world, entity_id, task_id)
        return task["status"] in ("completed", "failed", "cancelled")

    await world.until(ended)
    return task


def _assert_achieved(task: dict[str, Any]) -> None:
    """Assert that a task ended well."""
    assert (task["status"], task["outcome"]) == ("completed", "achieved"), str(task)


async def _airplane_mode(world: World, simulator: SimulatorProcess) -> bool:
    """Return the truth about a phone's airplane mode."""
    url = f"{simulator['http']}/control/phone"
    async with world.client.session.get(url) as response:
        return bool((await response.json())["toggles"]["airplane_mode"])


async def _second_is_linked(world: World) -> bool:
    """Return whether the link to the second phone is up."""
    link = (await world.client.states()).get(LINK_2)
    return link is not None and link["state"] == "on"


async def _set_up_second(world: World, second: SimulatorProcess) -> None:
    """Set the second phone up with the models of the first."""
    client = world.client
    used = flow_steps(world.simulator.ready, str(world.board))["user"]
    flow = await client.start_flow(DOMAIN)
    result = await client.submit(flow, used)
    assert (result["type"], result["reason"]) == ("abort", "already_configured")
    flow = await client.start_flow(DOMAIN)
    by_tcp = {**used, "device": world.simulator["board_tcp"]}
    await refused(client, flow, by_tcp, {"device": "board_busy"})
    steps = flow_steps(second.ready, second["board_pty"])
    flow = await submitted(client, flow, steps["user"], "picture")
    flow = await submitted(client, flow, steps["picture"], "models")
    first = await find_entry(client, "Aiden")
    result = await client.submit(flow, {"models_of": first["entry_id"]})
    assert (result["type"], result["title"]) == ("create_entry", "Aiden 2"), result

    await world.until(lambda: _second_is_linked(world))


@pytest.fixture
def two(ready: World, run: Run, second: SimulatorProcess) -> World:
    """Return the world with a second phone."""
    states = run(ready.client.states())
    if TASK_2 not in states:
        run(_set_up_second(ready, second))
    return ready


def test_two_phones_work_at_once(
    two: World, run: Run, second: SimulatorProcess
) -> None:
    """The board of the first is refused; each phone does its own task, side by side."""
    world = two

    async def scenario() -> None:
        await world.fresh(1)
        sensors = (world.entities["sensor.task"], TASK_2)
        tasks = [await _create(world, sensor, WISH) for sensor in sensors]

        async def both_run() -> bool:
            states = await world.client.states()
            return all(states[sensor]["state"] == "running" for sensor in sensors)

        await world.until(both_run)
        for sensor, task_id in zip(sensors, tasks, strict=True):
            _assert_achieved(await _until_ended(world, sensor, task_id))
        for simulator in (world.simulator, second):
            assert await _airplane_mode(world, simulator)
        await world.say("thanks")

    run(scenario())


async def _reauth_flow(world: World, step_id: str) -> dict[str, Any]:
    """Wait until the person is asked for a key; return the form."""
    found: list[str] = []

    async def asked() -> bool:
        flows = await world.client.call("config_entries/flow/progress")
        found[:] = [flow["flow_id"] for flow in flows if flow["step_id"] == step_id]
        return bool(found)

    await world.until(asked)
    assert len(found) == 1
    flow: dict[str, Any] = await world.client.request("GET", f"{FLOWS}/{found[0]}")
    return flow


async def _enter_key(world: World, flow: dict[str, Any], service: str) -> None:
    """Enter a wrong key, then the right one."""
    assert flow["description_placeholders"]["address"] == service
    wrong = {"api_key": "sk-wrong"}
    await refused(world.client, flow, wrong, {"api_key": "model_authentication"})
    result = await world.client.submit(flow, {"api_key": NEW_KEY})
    assert (result["type"], result["reason"]) == ("abort", "reauth_successful")


def test_a_revoked_key_is_asked_for_and_both_models_get_the_new_one(
    two: World, run: Run, second: SimulatorProcess
) -> None:
    """A refusal in a conversation and one in a task each ask once, for their phone."""
    world = two

    async def scenario() -> None:
        service = world.simulator["openai_base_url"]
        await world.say("goodbye")
        await world.control("models", {"api_key": NEW_KEY})
        for _ in range(2):
            answer = await world.say("what time is it?")
            assert answer.startswith("I cannot answer right now"), answer
        flow = await _reauth_flow(world, "reauth_foreground")
        assert flow["description_placeholders"]["name"] == "Aiden"
        async with world.reload():
            await _enter_key(world, flow, service)
        assert ":" in await world.say("what time is it?")

        task_id = await _create(world, TASK_2, "open the notes")
        task = await _until_ended(world, TASK_2, task_id)
        assert task["status"] == "failed"
        assert "key" in task["error"]
        flow = await _reauth_flow(world, "reauth_background")
        assert flow["description_placeholders"]["name"] == "Aiden 2"
        await _enter_key(world, flow, service)
        assert NEW_KEY not in world.hass.log

    run(scenario())


def test_a_change_during_a_task_loses_nothing(ready: World, run: Run) -> None:
    """The picture's address is changed while the task runs; the task ends well."""
    world = ready

    async def scenario() -> None:
        await world.fresh(3)
        sensor = world.entities["sensor.task"]
        before = (await world.control("hid"))["count"]
        task_id = await _create(world, sensor, WISH)

        async def acted() -> bool:
            return bool((await world.control("hid"))["count"] > before)

        await world.until(acted)
        flow = await open_part(world.client, "Aiden", "picture")
        page = {"snapshot_url": f"{world.simulator['http']}/"}
        await refused(world.client, flow, page, {"snapshot_url": "picture_unusable"})
        assert not world.ended(task_id)
        url = f"{world.simulator['snapshot']}?changed=1"
        result = await world.client.submit(flow, {"snapshot_url": url})
        assert result["reason"] == "reconfigure_successful", result
        # Not asked: there is nobody to ask during the reload.
        await world.until(lambda: world.ended(task_id))
        _assert_achieved(await _task(world, sensor, task_id))
        assert await world.toggle("airplane_mode")
        await world.say("thanks")

    run(scenario())


def test_the_same_board_is_reached_another_way(
    two: World, run: Run, second: SimulatorProcess
) -> None:
    """The phone itself holds the board that is tried, and lets go of it for that."""
    world = two

    async def scenario() -> None:
        form = {"advanced": {"touch_space": "frame"}}
        flow = await open_part(world.client, "Aiden 2", "board")
        own = {"device": second["board_tcp"], **form}
        result = await world.client.submit(flow, own)
        assert result["reason"] == "reconfigure_successful", result
        await world.until(lambda: _second_is_linked(world))
        assert open_ptys(world) == 1

    run(scenario())


def test_fifty_reloads_leave_nothing(ready: World, run: Run) -> None:
    """As many files and threads as before; the phone is found and works."""
    world = ready

    async def scenario() -> None:
        entry = await find_entry(world.client, "Aiden")
        reload = f"{ENTRIES}/{entry['entry_id']}/reload"
        await world.client.request("POST", reload)
        await world.until(world.linked)
        ptys, files = open_ptys(world), len(open_files(world))
        threads = len(threads_of(world))
        ours = journals_among(threads_of(world))
        assert ptys
        assert ours
        for _ in range(RELOADS):
            result = await world.client.request("POST", reload)
            assert result == {"require_restart": False}
        await world.until(world.linked)
        await world.fresh(4)
        sensor = world.entities["sensor.task"]
        task_id = await _create(world, sensor, WISH)
        _assert_achieved(await _until_ended(world, sensor, task_id))
        assert open_ptys(world) == ptys
        # What Home Assistant keeps for later use varies a little.
        assert len(open_files(world)) <= files + 8
        assert len(threads_of(world)) <= threads + 8
        assert sorted(journals_among(threads_of(world))) == sorted(ours)
        await world.say("thanks")

    run(scenario())


async def _remove(world: World, title: str, sensor: str) -> None:
    """Remove a phone that has a result to tell and a task that runs."""
    task_id = await _create(world, sensor, "open the notes")
    await _until_ended(world, sensor, task_id)
    name = f"{DOMAIN}_{task_id}"
    await world.until(lambda: name in world.notifications)
    await world.control("models", {"chat": {"mode": "hang"}})
    task_id = await _create(world, sensor, "open the clock")

    async def is_running() -> bool:
        return bool((await _task(world, sensor, task_id))["status"] == "running")

    await world.until(is_running)
    assert sockets_to(world, world.simulator)
    entry = await find_entry(world.client, title)
    result = await world.client.request("DELETE", f"{ENTRIES}/{entry['entry_id']}")
    assert result == {"require_restart": False}
    await world.until(lambda: name not in world.notifications)
    assert not list(world.hass.config.rglob(f"*{entry['entry_id']}*"))
    await world.control("models", {"chat": {"mode": "quota"}})


def test_removal_leaves_nothing(two: World, run: Run, second: SimulatorProcess) -> None:
    """No file, notification, entity, port, socket or thread of either phone is left."""
    world = two

    async def scenario() -> None:
        await world.control("models", {"chat": {"mode": "quota"}})
        await _remove(world, "Aiden", world.entities["sensor.task"])
        await _remove(world, "Aiden 2", TASK_2)
        registry = await world.client.call("config/entity_registry/list")
        assert not [entry for entry in registry if entry["platform"] == DOMAIN]
        assert open_ptys(world) == 0
        assert journals_among(threads_of(world)) == []
        # Home Assistant keeps idle connections of its shared session for 15 s.
        await world.until(lambda: not sockets_to(world, world.simulator))
        await world.until(lambda: not sockets_to(world, second))

    run(scenario())
