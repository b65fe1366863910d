"""How long it takes from a stop word until nobody may act on the phone."""

import asyncio
from collections.abc import AsyncIterator
import contextlib
import itertools

from custom_components.aiden_duplex.foreground.errors import ForegroundBusyError
from custom_components.aiden_duplex.phone.controller import PhoneController
from custom_components.aiden_duplex.phone.types import PhoneError

from . import parts
from .harness import Measurement, median
from .loads import busy_loop
from .parts import Whole
from .place import URGENT, Place

COUNT = 28
SEED = 2
MOST_MS = 50.0
HOLD_S = 0.5
"""Shorter than what the conversation asks for: the next sample need not wait for it."""
ANSWERING_S = 0.15
DEADLINE_S = 20
TEXT = "many words and some more of them, so that it takes a while"


async def measure(place: Place) -> list[Measurement]:
    """Say stop while the phone is typed on and the loop is busy, also into an answer."""
    folder = place.subfolder("stop-word")
    held_at: list[float] = []
    loop = asyncio.get_running_loop()

    def hold(phone: PhoneController, _seconds: float) -> None:
        """Hold the phone and note when it is held."""
        phone.hold(HOLD_S)
        if phone.is_held:
            held_at.append(loop.time())

    held_ms: list[float] = []
    last_ms: list[float] = []
    async with (
        place.phones(1, niceness=URGENT) as [simulated],
        place.phones(1) as [cloud],
        parts.whole(folder, simulated, cloud, hold=hold) as whole,
        _typing(whole.phone) as typing,
    ):
        await _say(whole, "hello")
        with busy_loop(SEED):
            for number in range(COUNT):
                await _wait(typing)
                if number % 2:
                    answer = asyncio.create_task(_say(whole, "what time is it?"))
                    await asyncio.sleep(ANSWERING_S)
                held_at.clear()
                called = loop.time()
                await asyncio.create_task(_say(whole, "stop"))
                reports = await simulated.reports(0)
                if number % 2:
                    await answer
                held_ms.append((held_at[0] - called) * 1000)
                # The first pause of the typing is where the stop word took effect.
                times = [
                    at for at in reports.times_after(called) if at < held_at[0] + HOLD_S
                ]
                last_ms.append((times[-1] - called) * 1000 if times else 0.0)
    how = "text to the conversation until nobody may act; busy loop, each second time into an answer"
    return [
        Measurement.of(
            "stop word to held lease",
            held_ms,
            99,
            unit="ms",
            limit=MOST_MS,
            how=f"median {median(held_ms):.1f} ms; {how}",
        ),
        Measurement.of(
            "stop word to the board's last report",
            last_ms,
            99,
            unit="ms",
            how=f"median {median(last_ms):.1f} ms; typing ends between two characters",
        ),
    ]


async def _say(whole: Whole, text: str) -> None:
    """Say something and hear the answer; one that a stop word cuts short is no failure."""
    with contextlib.suppress(ForegroundBusyError):
        async with asyncio.timeout(DEADLINE_S):
            async for _ in whole.foreground.converse(text, speaker=parts.SPEAKER):
                pass


@contextlib.asynccontextmanager
async def _typing(phone: PhoneController) -> AsyncIterator[asyncio.Event]:
    """Type without an end; the event is set while a text is on its way."""
    typing = asyncio.Event()

    async def work() -> None:
        """Look, type, and look again after whatever went wrong."""
        lease = phone.acquire("bench")
        for _ in itertools.count():
            with contextlib.suppress(PhoneError):
                await phone.observe(lease)
                typing.set()
                await phone.type_text(lease, TEXT)
            typing.clear()

    task = asyncio.create_task(work())
    try:
        yield typing
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _wait(event: asyncio.Event) -> None:
    """Wait for an event, but not for ever."""
    async with asyncio.timeout(DEADLINE_S):
        await event.wait()
