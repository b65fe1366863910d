"""How much a tap takes beyond what the line and the finger take."""

from dataclasses import dataclass
import time

from custom_components.aiden_duplex.phone import dx1, dx1_acts
from custom_components.aiden_duplex.phone.controller import PhoneController
from custom_components.aiden_duplex.phone.driver import Gesture, GesturePoint
from custom_components.aiden_duplex.phone.lease import Lease
from custom_components.aiden_duplex.phone.types import Point
from simulator.board.line import BAUD, BITS_PER_BYTE

from . import parts
from .bare import BareHost
from .harness import Measurement, median, percentile
from .place import URGENT, Phone, Place, urgent

COUNT = 150
HOLD_MS = 60
NONE = 1 << 30
"""More reports than any board has sent: asks for their number only."""
MOST_MS = 5.0
DONE_PAYLOAD = 4
"""Bytes of the board's report of an act's end (DX1)."""


def wire_s(kind: dx1.FrameType, payload: bytes) -> float:
    """Return how long the line carries a frame."""
    frame = dx1.encode(dx1.Frame(type=kind, seq=1, payload=payload))
    return len(frame) * BITS_PER_BYTE / BAUD


def _gesture() -> tuple[dx1.FrameType, bytes]:
    """Return the frame of a tap as it is sent to the board."""
    down = GesturePoint(dt_ms=0, tip=True, x=16000, y=200)
    up = GesturePoint(dt_ms=HOLD_MS, tip=False, x=16000, y=200)
    kind, payload, _ = dx1_acts.encode(Gesture(points=(down, up)))
    return kind, payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Tap:
    """From the call to the finger down, and from the finger up to the return."""

    down_s: float
    end_s: float

    def beyond_ms(self) -> float:
        """Return what the tap took beside finger and line."""
        line_s = wire_s(*_gesture()) + wire_s(dx1.FrameType.DONE, bytes(DONE_PAYLOAD))
        return (self.down_s + self.end_s - line_s) * 1000


async def measure(place: Place) -> list[Measurement]:
    """Tap in turns through the product and as bare frames, over lines as slow as real ones."""
    async with (
        place.phones(2, niceness=URGENT) as [simulated, other],
        parts.controller(simulated) as phone,
    ):
        bare = await parts.run_blocking(BareHost, other["board_pty"])
        lease = phone.acquire("bench")
        await phone.observe(lease)
        ours: list[Tap] = []
        bares: list[Tap] = []
        with urgent():
            for _ in range(COUNT):
                ours.append(await _tap(phone, lease, simulated))
                bares.append(await _bare_tap(bare, other))
        await phone.release(lease)
        bare.close()
    return _rows([tap.beyond_ms() for tap in ours], [tap.beyond_ms() for tap in bares])


async def _tap(phone: PhoneController, lease: Lease, simulated: Phone) -> Tap:
    """Tap through the product."""
    seen = (await simulated.reports(NONE)).count
    started = time.monotonic()
    await phone.tap(lease, Point(x=500, y=5), hold_ms=HOLD_MS)
    return await _taken(simulated, seen, started, time.monotonic())


async def _bare_tap(bare: BareHost, simulated: Phone) -> Tap:
    """Tap as one frame."""
    seen = (await simulated.reports(NONE)).count
    started, ended = await parts.run_blocking(bare.play, *_gesture())
    return await _taken(simulated, seen, started, ended)


async def _taken(simulated: Phone, seen: int, started: float, ended: float) -> Tap:
    """Return a tap with what the board sent to the phone."""
    down, up = (await simulated.reports(seen)).times_after(started)[:2]
    return Tap(down_s=down - started, end_s=ended - up)


def _rows(ours_ms: list[float], bare_ms: list[float]) -> list[Measurement]:
    """Return the tap against the wire's time, measured and computed."""
    line_ms = (
        wire_s(*_gesture()) + wire_s(dx1.FrameType.DONE, bytes(DONE_PAYLOAD))
    ) * 1000
    bare99_ms = percentile(bare_ms, 99)
    return [
        Measurement(
            name="tap above the wire's time, p99",
            value=percentile(ours_ms, 99) - bare99_ms,
            unit="ms",
            samples=len(ours_ms),
            limit=MOST_MS,
            how="call to return, against bare frames in turns on another paced terminal; "
            f"medians {median(ours_ms):.2f} and {median(bare_ms):.2f} ms beside the finger's "
            f"time and {line_ms:.2f} ms of bytes at {BAUD} baud",
        ),
        Measurement.of(
            "tap above the bytes' time",
            ours_ms,
            99,
            unit="ms",
            how=f"the simulated board and this machine included; bare frames: {bare99_ms:.2f} ms",
        ),
    ]
