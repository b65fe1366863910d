"""The development server: a simulated phone and a real Home Assistant that operates it."""

import asyncio
import contextlib
import json
import os
from pathlib import Path
import signal
import socket
import sys

from .home.client import PASSWORD, USER, HassClient
from .home.process import (
    ROOT,
    HassProcess,
    ProcessError,
    SimulatorProcess,
    start_simulator,
)
from .home.setup import (
    find_entities,
    make_default_agent,
    remove_entries,
    save_dashboard,
    set_up,
)

DEFAULT_PORT = 8123


def _say(text: str) -> None:
    """Print at once."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _check_port(port: int) -> None:
    """Refuse a port that somebody else uses."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as err:
            raise ProcessError(
                f"port {port} is in use ({err.strerror}). Set AIDEN_PORT to another one; "
                "the two ports above it are used as well."
            ) from err


async def _run(port: int, config: Path) -> None:
    """Serve until a signal comes, then stop everything that was started."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    server = asyncio.create_task(_serve(port, config))
    stop = asyncio.create_task(stopped.wait())
    await asyncio.wait({server, stop}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    if not server.done():
        _say("stopping ...")
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)
        return
    server.result()


async def _set_up_once(
    client: HassClient, simulator: SimulatorProcess, config: Path
) -> None:
    """Set the integration up at a first start and after a move to other ports."""
    addresses = config / "addresses.json"
    now = json.dumps(dict(simulator.ready), sort_keys=True)
    before = addresses.read_text() if addresses.exists() else None
    entities = await find_entities(client)
    if entities and before == now:
        return
    if entities:
        _say("the ports have changed: setting the integration up anew ...")
        await remove_entries(client)
    await set_up(client, simulator.ready, str(config / "board"))
    addresses.write_text(now)


async def _serve(port: int, config: Path) -> None:
    """Start everything, set it up, and run until stopped."""
    for number in (port, port + 1, port + 2):
        _check_port(number)
    config.mkdir(exist_ok=True)
    board = config / "board"
    async with contextlib.AsyncExitStack() as stack:
        _say("starting the simulated phone (nothing here is a real phone) ...")
        simulator = await start_simulator(
            *("--port", str(port + 1), "--board-port", str(port + 2)),
            *("--pty-link", str(board), "--seed", os.environ.get("AIDEN_SEED", "1")),
            log=config / "simulator.log",
        )
        stack.push_async_callback(simulator.stop)
        _say("starting Home Assistant (the first start takes longer) ...")
        hass = HassProcess(config=config, port=port)
        await hass.start()
        stack.push_async_callback(hass.stop)
        async with HassClient(hass.url) as client:
            await client.sign_in()
            await _set_up_once(client, simulator, config)
            entities = await find_entities(client)
            await make_default_agent(client, entities["conversation.assistant"])
            await save_dashboard(client, entities, simulator.ready)
        _say(
            f"\nHome Assistant:   {hass.url}   user {USER}, password {PASSWORD}\n"
            f"Simulated phone:  {simulator['http']}/\n"
            "Type on the dashboard: turn on airplane mode\n"
            "Ctrl-C stops both.\n"
        )
        await _watch(simulator.process, hass)


async def _watch(simulator: asyncio.subprocess.Process, hass: HassProcess) -> None:
    """Raise when a part ends by itself."""
    assert hass.child is not None
    waits = {
        asyncio.create_task(simulator.wait()): "the simulator",
        asyncio.create_task(hass.child.process.wait()): "Home Assistant",
    }
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waits:
            task.cancel()
    name = waits[next(iter(done))]
    raise ProcessError(f"{name} ended by itself; see the logs in {hass.config}")


def main() -> int:
    """Run the development server."""
    try:
        port = int(os.environ.get("AIDEN_PORT", DEFAULT_PORT))
        asyncio.run(_run(port, ROOT / "config"))
    except ValueError:
        _say("error: AIDEN_PORT must be a number")
        return 2
    except ProcessError as err:
        _say(f"error: {err}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
