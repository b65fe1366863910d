"""The serial line's speed, and several hosts on it."""

import asyncio

from hypothesis import given, strategies as st
import pytest

from simulator.board.line import PacedLine, Pump
from simulator.board.sharing import OWNER_S, STALE_S, Sharing
from tests.virtual_time import run

BYTE_S = 10 / 115200


def test_a_byte_needs_its_ten_bits() -> None:
    """Nothing leaves early, and nothing later than it must."""
    line = PacedLine()
    line.push(b"abc", 100.0)
    assert line.take(100.0 + 0.9 * BYTE_S) == b""
    assert line.take(100.0 + BYTE_S) == b"a"
    assert line.take(100.0 + 2.5 * BYTE_S) == b"b"
    assert line.next_at() == pytest.approx(100.0 + 3 * BYTE_S)
    assert line.take(200.0) == b"c"
    assert line.next_at() is None


def test_an_idle_line_saves_no_time_up() -> None:
    """After a pause the next byte takes as long as ever."""
    line = PacedLine()
    line.push(b"a", 0.0)
    assert line.take(50.0) == b"a"
    line.push(b"b", 50.0)
    assert line.take(50.0 + 0.5 * BYTE_S) == b""
    assert line.take(50.0 + BYTE_S) == b"b"


@given(
    pushes=st.lists(st.tuples(st.floats(0, 0.05), st.integers(1, 300)), max_size=20),
    looks=st.lists(st.floats(0.0001, 0.02), min_size=1, max_size=40),
)
def test_the_rate_is_never_exceeded_and_nothing_is_lost(
    pushes: list[tuple[float, int]], looks: list[float]
) -> None:
    """In any interleaving of sending and taking."""
    line, now, sent, got = PacedLine(), 0.0, b"", b""
    first: float | None = None
    for pause, count in pushes:
        now += pause
        got += line.take(now)
        first = now if first is None else first
        data = bytes(len(sent) + i & 0xFF for i in range(count))
        line.push(data, now)
        sent += data
        for look in looks[:3]:
            now += look
            got += line.take(now)
            assert len(got) <= (now - first) / BYTE_S + 1e-3
    got += line.take(now + 10)
    assert got == sent


def test_a_full_line_takes_no_more_and_counts_it() -> None:
    """Memory stays bounded."""
    line = PacedLine(limit=10)
    line.push(b"x" * 25, 0.0)
    assert (line.waiting, line.lost) == (10, 15)


def test_bytes_per_second_on_the_event_loop() -> None:
    """11520 bytes take a second, in chunks of about 2 ms."""
    arrivals: list[tuple[float, int]] = []

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def deliver(data: bytes) -> None:
            arrivals.append((loop.time() - start, len(data)))
            if sum(count for _, count in arrivals) == 11520:
                done.set()

        pump = Pump(deliver)
        start = loop.time()
        pump.push(b"x" * 11520)
        async with asyncio.timeout(5):
            await done.wait()
        pump.close()

    run(scenario())
    assert arrivals[-1][0] == pytest.approx(1.0, abs=0.001)
    assert 400 < len(arrivals) < 520
    total = 0
    for at, count in arrivals:
        total += count
        assert total <= at / BYTE_S + 1e-3


def test_a_closed_pump_delivers_nothing() -> None:
    """What was on the way is gone, as when a cable is pulled."""
    got: list[bytes] = []

    async def scenario() -> None:
        pump = Pump(got.append)
        pump.push(b"half a frame")
        pump.close()
        pump.push(b"more")
        await asyncio.sleep(1)

    run(scenario())
    assert got == []


def test_one_host_passes_through_as_it_comes() -> None:
    """Also in pieces: the firmware has to put frames together itself."""
    sharing: Sharing[str] = Sharing()
    assert sharing.feed("a", b"\x03\x01", 0.0) == [("a", b"\x03\x01")]
    assert sharing.feed("a", b"\x02\x00", 0.1) == [("a", b"\x02\x00")]
    assert sharing.owner == "a"


def test_a_second_host_waits_for_the_end_of_a_frame() -> None:
    """Then its bytes follow, whole."""
    sharing: Sharing[str] = Sharing()
    sharing.feed("a", b"\x03\x01", 0.0)
    assert sharing.feed("b", b"\x05\x05\x00", 0.1) == []
    assert sharing.feed("a", b"\x02\x00", 0.2) == [
        ("a", b"\x02\x00"),
        ("b", b"\x05\x05\x00"),
    ]
    assert sharing.owner == "a"


def test_a_host_that_stops_in_a_frame_does_not_block_the_other() -> None:
    """Its frame is ended for it."""
    sharing: Sharing[str] = Sharing()
    sharing.feed("a", b"\x03\x01", 0.0)
    assert sharing.feed("b", b"\x05\x00", STALE_S) == [
        ("a", b"\x00"),
        ("b", b"\x05\x00"),
    ]


def test_a_host_that_leaves_gives_the_line_away() -> None:
    """And events go to whoever speaks next."""
    sharing: Sharing[str] = Sharing()
    sharing.feed("a", b"\x03\x01", 0.0)
    sharing.feed("b", b"\x05\x00", 0.1)
    assert sharing.gone("a", 0.2) == [("a", b"\x00"), ("b", b"\x05\x00")]
    assert sharing.owner is None
    sharing.feed("b", b"\x05\x00", 0.3)
    assert sharing.owner == "b"


def test_events_stay_with_the_host_that_was_heard() -> None:
    """Another one gets them only when that one has been silent."""
    sharing: Sharing[str] = Sharing()
    sharing.feed("a", b"\x00", 0.0)
    sharing.feed("b", b"\x00", OWNER_S - 0.1)
    assert sharing.owner == "a"
    sharing.feed("b", b"\x00", OWNER_S + 0.1)
    assert sharing.owner == "b"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.binary(max_size=6)), max_size=40))
def test_frames_of_different_hosts_are_never_mixed(
    parts: list[tuple[str, bytes]],
) -> None:
    """What the board gets between two zeros comes from one host."""
    sharing: Sharing[str] = Sharing()
    speaker: str | None = None
    for host, data in parts:
        for who, passed in sharing.feed(host, data, 0.0):
            if not passed:
                continue
            assert speaker in (None, who)
            speaker = None if passed.endswith(b"\x00") else who
