"""``python -m benchmarks.phones N``: simulated phones with their boards, in one process."""

import asyncio
import contextlib
import json
from pathlib import Path
import signal
import sys

from simulator.app import start
from simulator.settings import SimulatorSettings


async def _run(count: int, folder: Path) -> None:
    """Serve until a signal comes; say where everything is."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with contextlib.AsyncExitStack() as stack:
        ready = [
            (
                await stack.enter_async_context(
                    await start(
                        SimulatorSettings(seed=seed, pty_link=folder / f"board-{seed}")
                    )
                )
            ).ready()
            for seed in range(1, count + 1)
        ]
        print(json.dumps(ready), flush=True)
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(_run(int(sys.argv[1]), Path(sys.argv[2])))
