"""COBS and frames against the shared vectors, the COBS oracle and a bad line."""

import json
from pathlib import Path
import tracemalloc
from typing import Any
import zlib

from cobs import cobs as oracle
from hypothesis import given, settings, strategies as st
import pytest

from hardware_bridge.firmware.aiden_bridge import cobs, frames
from tests.examples import examples

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "dx1_vectors.json").read_text()
)

TOUCH = bytes.fromhex("030111020203010302400640a2e6faaa00")
NEXT = frames.encode(0x02, 0, 1)


def _by_name(vector: dict[str, Any]) -> str:
    return str(vector["name"])


def _read(data: bytes) -> list[tuple[int, int, int, str] | None]:
    """Feed a fresh receiver."""
    return [_tuple(frame) for frame in frames.Receiver().feed(data)]


def _tuple(frame: frames.Frame | None) -> tuple[int, int, int, str] | None:
    if frame is None:
        return None
    return (frame.kind, frame.flags, frame.seq, frame.payload.hex())


@pytest.mark.parametrize("vector", VECTORS["cobs"], ids=_by_name)
def test_cobs_vector(vector: dict[str, Any]) -> None:
    """The published examples, both ways."""
    data, encoded = bytes.fromhex(vector["data"]), bytes.fromhex(vector["encoded"])

    assert cobs.encode(data) == encoded
    assert cobs.decode(encoded) == data


@pytest.mark.parametrize("vector", VECTORS["cobs_malformed"], ids=_by_name)
def test_malformed_cobs_is_refused(vector: dict[str, Any]) -> None:
    """A code that points past the end, a zero inside."""
    with pytest.raises(ValueError):
        cobs.decode(bytes.fromhex(vector["encoded"]))


@given(st.binary(max_size=600))
def test_cobs_agrees_with_the_oracle(data: bytes) -> None:
    """Whatever the bytes."""
    encoded = cobs.encode(data)

    assert encoded == oracle.encode(data)
    assert 0 not in encoded
    assert cobs.decode(encoded) == data


@given(st.binary(min_size=1, max_size=40))
def test_cobs_decodes_what_the_oracle_decodes_and_refuses_the_rest(data: bytes) -> None:
    """Random bytes are mostly no COBS."""
    try:
        expected = oracle.decode(data)
    except oracle.DecodeError:
        with pytest.raises(ValueError):
            cobs.decode(data)
    else:
        assert cobs.decode(data) == expected


@pytest.mark.parametrize("vector", VECTORS["frames"], ids=_by_name)
def test_frame_vector(vector: dict[str, Any]) -> None:
    """Encoded byte for byte, and read back."""
    payload, wire = bytes.fromhex(vector["payload"]), bytes.fromhex(vector["wire"])
    fields = (vector["type"], vector["flags"], vector["seq"])

    assert frames.encode(*fields, payload) == wire
    assert _read(wire) == [(*fields, vector["payload"])]
    body = oracle.decode(wire[:-1])[:-4]
    assert body.hex() == vector["body"]


@pytest.mark.parametrize("vector", VECTORS["frames_malformed"], ids=_by_name)
def test_malformed_frame_is_counted_and_the_next_one_is_read(
    vector: dict[str, Any],
) -> None:
    """One bad frame costs one frame."""
    receiver = frames.Receiver()

    found = receiver.feed(bytes.fromhex(vector["wire"]) + NEXT)

    assert [_tuple(frame) for frame in found] == [None, (2, 0, 1, "")]
    counted = {
        "crc": receiver.crc_errors,
        "cobs": receiver.cobs_errors,
        "length": receiver.length_errors,
        "oversize": receiver.oversize,
    }
    assert {reason for reason, count in counted.items() if count} == {vector["reason"]}
    assert (receiver.errors, receiver.frames) == (1, 1)


def test_crc_is_zlibs() -> None:
    """The check value of the catalogue."""
    for vector in VECTORS["crc32"]:
        data = bytes.fromhex(vector["data"])
        assert f"{zlib.crc32(data):08x}" == vector["crc"]
    assert VECTORS["crc32"][0]["crc"] == "cbf43926"


def test_a_payload_that_no_receiver_takes_is_not_encoded() -> None:
    """226 bytes fit into 256, 227 are refused."""
    longest = frames.encode(0x17, 0, 1, bytes(226))
    assert len(longest) <= frames.MAX_ENCODED + 1
    assert _read(longest) == [(0x17, 0, 1, "00" * 226)]
    with pytest.raises(ValueError):
        frames.encode(0x17, 0, 1, bytes(227))


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_frames_survive_any_chunking(data: st.DataObject) -> None:
    """1 to 7 bytes at a time, as a port gives them."""
    payloads = data.draw(st.lists(st.binary(max_size=226), min_size=1, max_size=5))
    stream = b"".join(
        frames.encode(0x16, 0, seq, payload)
        for seq, payload in enumerate(payloads, start=1)
    )
    receiver = frames.Receiver()
    found: list[frames.Frame | None] = []
    start = 0
    while start < len(stream):
        size = data.draw(st.integers(1, 7))
        found += receiver.feed(stream[start : start + size])
        start += size

    assert [_tuple(frame) for frame in found] == [
        (0x16, 0, seq, payload.hex()) for seq, payload in enumerate(payloads, start=1)
    ]


LONG = frames.encode(0x16, 0, 77, bytes(range(1, 90)) + b"\x00\x05")


@pytest.mark.parametrize("wire", [TOUCH, LONG], ids=["short", "long"])
@pytest.mark.parametrize("damage", ["dropped", "doubled", "flipped"])
def test_a_damaged_byte_never_makes_a_wrong_frame(wire: bytes, damage: str) -> None:
    """At every position; the frame after it always decodes."""
    right = _read(wire)[0]
    for at in range(len(wire)):
        changes = {
            "dropped": [wire[:at] + wire[at + 1 :]],
            "doubled": [wire[: at + 1] + wire[at:]],
            "flipped": [
                wire[:at] + bytes((wire[at] ^ 1 << bit,)) + wire[at + 1 :]
                for bit in range(8)
            ],
        }[damage]
        for changed in changes:
            # The zero before the next frame stands for the silence that a sender may end.
            found = _read(changed + b"\x00" + NEXT)
            assert found[-1] == (2, 0, 1, "")
            assert all(frame in (None, right) for frame in found[:-1])


def test_a_lost_delimiter_costs_two_frames_and_no_more() -> None:
    """The zero is the only thing that the receiver trusts."""
    assert _read(TOUCH[:-1] + NEXT + NEXT) == [None, (2, 0, 1, "")]


def test_zeros_are_silence() -> None:
    """Empty frames are nothing, not errors."""
    receiver = frames.Receiver()

    assert receiver.feed(bytes(5000)) == []
    assert receiver.errors == 0


def test_a_mebibyte_without_a_delimiter_is_dropped_in_little_memory() -> None:
    """A line at another speed must not fill the board."""
    receiver = frames.Receiver()
    chunk = b"\x55" * 1024
    tracemalloc.start()
    try:
        found = [frame for _ in range(1024) for frame in receiver.feed(chunk)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert found == []
    assert peak < 20_000
    found = receiver.feed(b"\x00" + NEXT)
    assert [_tuple(frame) for frame in found] == [None, (2, 0, 1, "")]
    assert receiver.oversize == 1


@pytest.mark.parametrize(("size", "bad"), [(256, "cobs"), (257, "oversize")])
def test_the_receiver_keeps_256_bytes(size: int, bad: str) -> None:
    """And not one more."""
    receiver = frames.Receiver()

    receiver.feed(b"\xff" * size + b"\x00")

    assert (receiver.cobs_errors, receiver.oversize) == (
        (1, 0) if bad == "cobs" else (0, 1)
    )


def test_the_boot_loaders_text_costs_itself_only() -> None:
    """An ESP32 talks at 115200 before the firmware runs."""
    noise = b"ESP-ROM:esp32s3-20210327\r\nBuild:Mar 27 2021\r\nrst:0x1 (POWERON)\r\n"

    assert _read(noise + b"\x00" + NEXT) == [None, (2, 0, 1, "")]
    assert _read(noise * 10 + b"\x00" + NEXT) == [None, (2, 0, 1, "")]


@given(st.binary(max_size=700))
def test_random_bytes_are_no_frames(data: bytes) -> None:
    """With CRC-32 a false frame is one in four thousand million."""
    receiver = frames.Receiver()

    found = receiver.feed(data)

    assert all(frame is None for frame in found)
    assert len(found) == receiver.errors
