"""How long it takes from the call of a cancel until nothing is pressed and nothing follows."""

import asyncio
from collections.abc import Callable
import contextlib
from dataclasses import dataclass, field
import itertools
import random
from typing import override

from custom_components.aiden_duplex.background.agent import DeviceAgent
from custom_components.aiden_duplex.phone.controller import PhoneController
from custom_components.aiden_duplex.phone.lease import Lease
from custom_components.aiden_duplex.phone.picture import PictureSource, SourceFrame
from custom_components.aiden_duplex.phone.types import PhoneError, Point
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import Task
from custom_components.aiden_duplex.tasks.runner import (
    Runner,
    RunRequest,
    RunResult,
    Steer,
)

from . import parts, pictures
from .harness import Measurement, median, percentile
from .loads import busy_loop
from .place import URGENT, Phone, Place

COUNT = 208
"""Cancels per condition."""
LANES = 8
"""Phones that are worked at a time."""
SEED = 1
MOST_MS = 150.0
DEADLINE_S = 20.0
QUIET_S = 0.12
"""Longer than the board's repetitions of a release: what came by then is all."""
STUBBORN_S = 0.5
"""How long a tool that ignores its cancellation goes on trying."""
SWIPE_MS = 400
LIFT_MS = 16


class StillPicture(PictureSource):
    """Shows another screen at every other look, so that a look takes no longer than it must."""

    def __init__(self) -> None:
        """Draw both."""
        self._pictures = [pictures.screen(number) for number in range(2)]
        self._number = 0

    def turn(self) -> None:
        """Show the other one."""
        self._number = 1 - self._number

    @override
    async def fetch(self) -> SourceFrame:
        """Return the picture."""
        return SourceFrame(
            data=self._pictures[self._number],
            content_type="image/jpeg",
            captured_at=asyncio.get_running_loop().time(),
        )


@dataclass(slots=True, kw_only=True)
class Acting(Runner):
    """Looks once, then acts without a pause; by its nature obeys, or does not."""

    phone: PhoneController
    picture: StillPicture
    numbers: random.Random
    is_stubborn: bool = False
    acting: asyncio.Event = field(default_factory=asyncio.Event)
    swipe_ends_at: float = 0.0
    """When the finger of the last swipe leaves the glass."""

    @override
    async def run(
        self, request: RunRequest, on_step: Callable[[str], None]
    ) -> RunResult:
        """Act until cancelled."""
        lease = self.phone.acquire(request.task_id)
        self.picture.turn()
        try:
            await self.phone.observe(lease)
            while True:
                await self._act(lease)
        except asyncio.CancelledError:
            if self.is_stubborn:
                await self._ignore(lease)
            raise
        finally:
            await self.phone.release(lease)

    async def _act(self, lease: Lease) -> None:
        """Tap, swipe or type."""
        self.swipe_ends_at = 0.0
        kind = self.numbers.choice(("tap", "swipe", "type"))
        self.acting.set()
        match kind:
            case "tap":
                await self.phone.tap(lease, Point(x=500, y=5))
            case "swipe":
                duration_s = (SWIPE_MS + LIFT_MS) / 1000
                self.swipe_ends_at = asyncio.get_running_loop().time() + duration_s
                start, end = Point(x=500, y=700), Point(x=500, y=400)
                await self.phone.swipe(lease, start, end, duration_ms=SWIPE_MS)
            case "type":
                await self.phone.type_text(lease, "many words and an end")
        await asyncio.sleep(0.05)

    async def _ignore(self, lease: Lease) -> None:
        """Go on as if nothing had happened; nothing of it may reach the phone."""
        loop = asyncio.get_running_loop()
        until = loop.time() + STUBBORN_S
        while loop.time() < until:
            with contextlib.suppress(asyncio.CancelledError, PhoneError):
                await self.phone.tap(lease, Point(x=500, y=5))
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    @override
    def steer(self, task_id: str, steer: Steer) -> None:
        """Have no goal to replace."""

    @override
    def revoke(self, task_id: str) -> None:
        """Let no new act start."""
        self.phone.revoke(task_id)

    @override
    def fence(self, task_id: str) -> None:
        """Cut it off."""
        self.phone.fence(task_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One cancel, in milliseconds."""

    last_ms: float
    """To the last report; after it everything is up and nothing follows."""
    safe_ms: float
    """Of that, until a swipe that had at most 500 ms to go was at its end."""


async def measure(place: Place) -> list[Measurement]:
    """Cancel with a busy loop, with a model call in flight, with a deaf tool."""
    found: list[Measurement] = []
    async with place.phones(LANES, niceness=URGENT) as simulated:
        for name, is_stubborn in (("busy loop", False), ("deaf tool", True)):
            with busy_loop(SEED) if name == "busy loop" else contextlib.nullcontext():
                lanes = [
                    _acting_lane(place, phone, number, is_stubborn=is_stubborn)
                    for number, phone in enumerate(simulated)
                ]
                found += _rows(name, await asyncio.gather(*lanes))
        lanes = [
            _asking_lane(place, phone, number) for number, phone in enumerate(simulated)
        ]
        found += _rows("model call in flight", await asyncio.gather(*lanes))
    return found


async def _acting_lane(
    place: Place, simulated: Phone, number: int, *, is_stubborn: bool
) -> list[Sample]:
    """Cancel tasks of one phone at any moment of their acts."""
    numbers = random.Random(SEED * 1000 + number)
    picture = StillPicture()
    folder = place.subfolder("cancel")
    async with parts.controller(simulated, picture=picture) as phone:
        runner = Acting(
            phone=phone, picture=picture, numbers=numbers, is_stubborn=is_stubborn
        )
        async with parts.manager(folder, runner) as tasks:
            samples: list[Sample] = []
            for _ in range(COUNT // LANES):
                runner.acting.clear()
                task = await tasks.create("act", origin=parts.SPEAKER, repeat=True)
                await _wait(runner.acting)
                await asyncio.sleep(numbers.uniform(0, 0.4))
                samples.append(
                    await _cancel(tasks, task, simulated, lambda: runner.swipe_ends_at)
                )
            return samples


async def _asking_lane(place: Place, simulated: Phone, number: int) -> list[Sample]:
    """Cancel tasks of one phone while its model thinks; the server never answers."""
    await _hang(simulated)
    numbers = random.Random(SEED * 1000 + number)
    folder = place.subfolder("cancel")
    async with parts.controller(simulated, picture=StillPicture()) as phone:
        agent = DeviceAgent(
            phone=phone, chat=lambda: parts.chat(simulated), now=parts.now
        )
        async with parts.manager(folder, agent) as tasks:
            asked = asyncio.Event()
            tasks.subscribe(
                lambda event: (
                    asked.set() if "model" in (event.task.step or "") else None
                )
            )
            samples: list[Sample] = []
            for _ in range(COUNT // LANES):
                asked.clear()
                task = await tasks.create("act", origin=parts.SPEAKER, repeat=True)
                await _wait(asked)
                await asyncio.sleep(numbers.uniform(0.02, 0.2))
                samples.append(await _cancel(tasks, task, simulated, lambda: 0.0))
            return samples


async def _hang(simulated: Phone) -> None:
    """Let the model take every request and never answer."""
    url = f"{simulated['http']}/control/models"
    fault = {"chat": {"mode": "hang"}}
    async with simulated.session.post(url, json=fault) as response:
        response.raise_for_status()


async def _cancel(
    tasks: TaskManager,
    task: Task,
    simulated: Phone,
    swipe_ends_at: Callable[[], float],
) -> Sample:
    """Cancel a task; return when the last report left the board."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    unsubscribe = tasks.subscribe(
        lambda event: ended.set() if event.task.status.is_terminal else None
    )
    seen = (await simulated.reports(1 << 30)).count
    called = loop.time()
    safe_s = max(0.0, swipe_ends_at() - called)
    await tasks.cancel(task.id)
    await _wait(ended)
    unsubscribe()
    await asyncio.sleep(QUIET_S)
    reports = await simulated.reports(seen)
    await tasks.cancel(task.id)  # Its ending is told to nobody.
    if not reports.is_all_up:
        raise RuntimeError(f"after a cancel something is held: {reports.held}")
    times = reports.times_after(called)
    last_ms = (times[-1] - called) * 1000 if times else 0.0
    return Sample(last_ms=last_ms, safe_ms=safe_s * 1000)


async def _wait(event: asyncio.Event) -> None:
    """Wait for an event, but not for ever."""
    async with asyncio.timeout(DEADLINE_S):
        await event.wait()


def _rows(name: str, lanes: list[list[Sample]]) -> list[Measurement]:
    """Return the latency of a condition; a swipe that may end is shown beside it."""
    samples = list(itertools.chain.from_iterable(lanes))
    beyond_ms = [max(0.0, one.last_ms - one.safe_ms) for one in samples]
    swipes_ms = [one.last_ms for one in samples if one.safe_ms]
    others_ms = [one.last_ms for one in samples if not one.safe_ms]
    how = (
        "call of cancel to the board's last report, all up; a swipe with at most 500 ms to go "
        f"may end (architecture), counted from there; median {median(beyond_ms):.0f} ms"
    )
    if swipes_ms:
        how += (
            f"; from the call: p99 {percentile(others_ms, 99):.0f} ms without, "
            f"{percentile(swipes_ms, 99):.0f} ms with a swipe ({len(swipes_ms)})"
        )
    return [
        Measurement.of(
            f"cancel to all up, {name}",
            beyond_ms,
            99,
            unit="ms",
            limit=MOST_MS,
            how=how,
        )
    ]
