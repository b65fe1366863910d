"""How late an event loop is: a tick every millisecond. As a module: an idle loop's twin."""

import asyncio
import json
import sys

from .harness import percentile

PERIOD_S = 0.001
PERCENT = 99.9


class Ticker:
    """Notes by how much each tick came too late, in milliseconds."""

    def __init__(self) -> None:
        """Tick from now on."""
        self._loop = asyncio.get_running_loop()
        self.late_ms: list[float] = []
        self._due = self._loop.time() + PERIOD_S
        self._handle = self._loop.call_at(self._due, self._tick)

    def stop(self) -> list[float]:
        """Tick no more; return what was noted."""
        self._handle.cancel()
        return self.late_ms

    def _tick(self) -> None:
        """Note the lateness; a tick that was missed is not made up for."""
        now = self._loop.time()
        self.late_ms.append((now - self._due) * 1000)
        self._due = max(self._due + PERIOD_S, now)
        self._handle = self._loop.call_at(self._due, self._tick)


async def _twin(seconds: float) -> None:
    """Be an idle loop on the same machine at the same time."""
    print(json.dumps("ready"), flush=True)
    ticker = Ticker()
    await asyncio.sleep(seconds)
    print(json.dumps(percentile(ticker.stop(), PERCENT)), flush=True)


if __name__ == "__main__":
    asyncio.run(_twin(float(sys.argv[1])))
