"""How much a tap takes beyond what the line and the finger take."""

import asyncio
from dataclasses import dataclass

from custom_components.aiden_duplex.phone import dx1, dx1_acts
from custom_components.aiden_duplex.phone.controller import PhoneController
from custom_components.aiden_duplex.phone.driver import Gesture, GesturePoint
from custom_components.aiden_duplex.phone.types import Point
from simulator.board.line import BAUD, BITS_PER_BYTE

from . import parts
from .harness import Measurement, median
from .place import URGENT, Phone, Place, urgent

COUNT = 300
PAUSE_S = 0.02
"""The board's own limit is 20 gestures in a second."""
MOST_MS = 5.0
DONE_PAYLOAD = 4
"""Bytes of the board's report of an act's end (DX1)."""


def wire_s(kind: dx1.FrameType, payload: bytes) -> float:
    """Return how long the line carries a frame."""
    frame = dx1.encode(dx1.Frame(type=kind, seq=1, payload=payload))
    return len(frame) * BITS_PER_BYTE / BAUD


def _tap_wire_s() -> tuple[float, float]:
    """Return the line's time for a tap's request and for the report of its end."""
    point = GesturePoint(dt_ms=0, tip=True, x=16000, y=16000)
    kind, payload, _ = dx1_acts.encode(Gesture(points=(point, point)))
    return wire_s(kind, payload), wire_s(dx1.FrameType.DONE, bytes(DONE_PAYLOAD))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tap:
    """From the call to the finger down, and from the finger up to the return."""

    down_s: float
    end_s: float


async def _tap(phone: PhoneController, simulated: Phone) -> list[Tap]:
    """Tap again and again."""
    time = asyncio.get_running_loop().time
    lease = phone.acquire("bench")
    await phone.observe(lease)
    seen = (await simulated.reports(0)).count
    taps: list[Tap] = []
    for _ in range(COUNT):
        started = time()
        await phone.tap(lease, Point(x=500, y=5))
        ended = time()
        reports = await simulated.reports(seen)
        seen = reports.count
        down, up = reports.times_after(started)[:2]
        taps.append(Tap(down_s=down - started, end_s=ended - up))
        await asyncio.sleep(PAUSE_S)
    await phone.release(lease)
    return taps


async def measure(place: Place) -> list[Measurement]:
    """Tap one after the other, over a line as slow as the real one."""
    async with (
        place.phones(1, niceness=URGENT) as [simulated],
        parts.controller(simulated) as phone,
    ):
        with urgent():
            taps = await _tap(phone, simulated)
    request_s, done_s = _tap_wire_s()
    line = f"{request_s * 1000:.2f} ms for the request"
    both = f"{line}, {done_s * 1000:.2f} ms for the report of its end, at {BAUD} baud"
    return [
        _row(
            "tap beyond the line",
            [tap.down_s - request_s + tap.end_s - done_s for tap in taps],
            f"call to return without the finger's time on the glass and the line's: {both}",
            MOST_MS,
        ),
        _row(
            "tap, call to finger down beyond the line",
            [tap.down_s - request_s for tap in taps],
            f"a part of it; the line takes {line}",
        ),
    ]


def _row(
    name: str, values_s: list[float], how: str, limit: float | None = None
) -> Measurement:
    """Return the 99th percentile of times."""
    values_ms = [value * 1000 for value in values_s]
    how = f"median {median(values_ms):.2f} ms; {how}"
    return Measurement.of(name, values_ms, 99, unit="ms", limit=limit, how=how)
