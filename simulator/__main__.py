"""``python -m simulator``: start everything and say where it is."""

import argparse
import asyncio
import json
import logging
from pathlib import Path
import signal
import sys

from simulator.phone.glass import TouchSpace
from simulator.settings import SimulatorSettings


def _parse(arguments: list[str] | None = None) -> SimulatorSettings:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m simulator",
        description="A simulated phone, board, picture and models. Nothing here is real.",
    )
    parser.add_argument("--seed", type=int, default=1, help="which phone (default 1)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=0, help="HTTP port (default: free)")
    parser.add_argument(
        "--board-port", type=int, default=0, help="the board's TCP port (default: free)"
    )
    parser.add_argument(
        "--pty-link", type=Path, help="name for the board's terminal device"
    )
    parser.add_argument("--locked", action="store_true", help="start locked")
    parser.add_argument(
        "--touch-space",
        type=TouchSpace,
        choices=list(TouchSpace),
        default=TouchSpace.FRAME,
        help="what touch coordinates span (default: the whole picture)",
    )
    parser.add_argument("--api-key", default="sk-simulated", help="of the models")
    parser.add_argument(
        "--speed", type=float, default=1.0, help="above 1: shorter transitions"
    )
    options = parser.parse_args(arguments)
    if options.speed <= 0:
        parser.error("--speed must be above 0")
    return SimulatorSettings(**vars(options))


async def _run(settings: SimulatorSettings) -> None:
    """Serve until a signal comes."""
    # Late: --help and mistakes shall not wait for servers to be imported.
    from simulator.app import start

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with await start(settings) as simulator:
        print(json.dumps(simulator.ready()), flush=True)
        await stop.wait()


def main() -> int:
    """Run from the command line."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO)
    settings = _parse()
    try:
        asyncio.run(_run(settings))
    except OSError as err:
        print(f"error: {err}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
