"""Talking while the phone is worked: latency of replies, lateness of the loop, callbacks."""

import asyncio
from collections.abc import AsyncIterator
import contextlib
import time

from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import TaskStatus

from . import parts
from .harness import Measurement, median, percentile
from .parts import Whole
from .place import NICE_WORLD, Phone, Place, helper, line
from .ticker import PERCENT, Ticker
from .watch import Watch, watching

IDLE_S = 10.0
"""Before and after the work."""
BUSY_S = 25.0
PAUSE_S = 0.1
TASK_S = 60.0
GOAL = "turn on airplane mode"
TEXT = "what time is it?"
MOST_LATER_MS = 5.0
MOST_CALLBACK_MS = 50.0
MOST_RATIO = 1.2


async def measure(place: Place) -> list[Measurement]:
    """Talk with nothing else going on, while tasks are worked, and alone again."""
    folder = place.subfolder("conversation")
    async with (
        place.phones(1, niceness=NICE_WORLD) as [simulated],
        # The model of the conversation is another machine than the phone.
        place.phones(1) as [cloud],
        parts.whole(folder, simulated, cloud) as whole,
    ):
        await _talk(whole, 1)
        idle = await _talk(whole, IDLE_S)
        twin_log = folder / "twin.log"
        with watching() as watch:
            async with (
                _working(whole.tasks, simulated) as ended,
                helper("benchmarks.ticker", str(BUSY_S), log=twin_log) as twin,
            ):
                await line(twin)
                ticker = Ticker()
                busy = await _talk(whole, BUSY_S)
                late_ms = ticker.stop()
                idle_late_ms: float = await line(twin)
        idle += await _talk(whole, IDLE_S)
    return [
        *_replies(idle, busy, len(ended)),
        *_lateness(late_ms, idle_late_ms),
        _callbacks(watch),
    ]


async def _talk(whole: Whole, seconds: float) -> list[float]:
    """Say something again and again; return the times to each answer's first words, in ms."""
    found: list[float] = []
    until = time.perf_counter() + seconds
    while (started := time.perf_counter()) < until:
        answer = whole.foreground.converse(TEXT, speaker=parts.SPEAKER)
        await anext(answer)
        found.append((time.perf_counter() - started) * 1000)
        async for _ in answer:
            pass
        await asyncio.sleep(PAUSE_S)
    return found


@contextlib.asynccontextmanager
async def _working(tasks: TaskManager, simulated: Phone) -> AsyncIterator[list[str]]:
    """Keep the background at work; the list fills with the outcomes."""
    ended: list[str] = []
    async with asyncio.TaskGroup() as group:
        feeder = group.create_task(_feed(tasks, simulated, ended))
        try:
            yield ended
        finally:
            feeder.cancel()
    if not ended:
        raise RuntimeError("no task was worked to its end meanwhile")


async def _feed(tasks: TaskManager, simulated: Phone, ended: list[str]) -> None:
    """Let one task after the other be worked; their endings are told at once."""
    changed = asyncio.Event()
    tasks.subscribe(lambda _event: changed.set())
    while True:
        await simulated.control("phone", {"reset": len(ended) + 1})
        task = await tasks.create(GOAL, origin=parts.SPEAKER, repeat=True)
        async with asyncio.timeout(TASK_S):
            while not task.status.is_terminal:
                changed.clear()
                await changed.wait()
                task = tasks.get(task.id)
        await tasks.mark_delivered(task.id)
        if task.status is not TaskStatus.COMPLETED:
            raise RuntimeError(f"the task was not worked: {task.error}")
        ended.append(str(task.outcome))


def _replies(idle: list[float], busy: list[float], tasks: int) -> list[Measurement]:
    """Return the latency of replies while working against that while idle."""
    return [
        Measurement(
            name="reply latency, busy against idle, medians",
            value=median(busy) / median(idle),
            unit="x",
            samples=min(len(idle), len(busy)),
            limit=MOST_RATIO,
            how=f"text to first words: {median(busy):.0f} ms while {tasks} tasks were "
            f"worked, {median(idle):.0f} ms while none was ({len(busy)} and {len(idle)} texts)",
        )
    ]


def _lateness(late_ms: list[float], idle_ms: float) -> list[Measurement]:
    """Return how much later than an idle loop ours is."""
    ours_ms = percentile(late_ms, PERCENT)
    return [
        Measurement(
            name="event loop's lateness above an idle loop's, p99.9",
            value=ours_ms - idle_ms,
            unit="ms",
            samples=len(late_ms),
            limit=MOST_LATER_MS,
            how=f"a tick each ms while talking and working: {ours_ms:.2f} ms; an idle loop beside "
            f"it at the same time: {idle_ms:.2f} ms",
        )
    ]


def _callbacks(watch: Watch) -> Measurement:
    """Return the longest callback of ours."""
    return Measurement(
        name="longest callback",
        value=watch.longest_ms,
        unit="ms",
        samples=watch.count,
        limit=MOST_CALLBACK_MS,
        how=f"while talking and working, without waiting for a processor: {watch.longest}",
    )
