"""DX1 frames: the published vectors, an independent COBS, noise on the line."""

from binascii import crc32
import json
from pathlib import Path
from typing import Any

from cobs import cobs
from hypothesis import given, strategies as st
import pytest

from custom_components.aiden_duplex.phone.dx1 import (
    MAX_PAYLOAD,
    Frame,
    FrameType,
    Receiver,
    cobs_decode,
    cobs_encode,
    encode,
    encode_body,
)

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "dx1_vectors.json").read_text()
)
FRAMES = VECTORS["frames"]

FRAME = st.builds(
    Frame,
    type=st.sampled_from(FrameType),
    seq=st.integers(0, 0xFFFF),
    payload=st.binary(max_size=MAX_PAYLOAD),
    flags=st.sampled_from((0, 1, 2, 3)),
)
BYTES_WITH_ZEROS = st.binary(max_size=600) | st.lists(
    st.sampled_from((0, 0, 1, 254, 255)), max_size=600
).map(bytes)


def by_name(vectors: list[dict[str, Any]]) -> pytest.MarkDecorator:
    """Return one parameter per vector."""
    return pytest.mark.parametrize(
        "vector", [pytest.param(vector, id=vector["name"]) for vector in vectors]
    )


@by_name(VECTORS["cobs"])
def test_cobs_matches_the_published_vectors(vector: dict[str, str]) -> None:
    """Both directions, byte for byte."""
    data, encoded = bytes.fromhex(vector["data"]), bytes.fromhex(vector["encoded"])
    assert cobs_encode(data) == encoded
    assert cobs_decode(encoded) == data


@by_name(FRAMES)
def test_a_frame_is_exactly_the_bytes_of_the_vector(vector: dict[str, Any]) -> None:
    """What we send and what we understand are what the board sends and understands."""
    frame = Frame(
        type=vector["type"],
        flags=vector["flags"],
        seq=vector["seq"],
        payload=bytes.fromhex(vector["payload"]),
    )
    assert encode_body(frame).hex() == vector["body"]
    assert encode(frame).hex() == vector["wire"]
    assert Receiver().feed(bytes.fromhex(vector["wire"])) == [frame]


@by_name(VECTORS["cobs_malformed"])
def test_malformed_cobs_is_refused(vector: dict[str, str]) -> None:
    """Nothing is guessed."""
    with pytest.raises(ValueError):
        cobs_decode(bytes.fromhex(vector["encoded"]))


@by_name(VECTORS["frames_malformed"])
def test_a_malformed_frame_is_dropped_and_counted(vector: dict[str, str]) -> None:
    """Each kind of damage is counted once."""
    receiver = Receiver()
    assert receiver.feed(bytes.fromhex(vector["wire"])) == []
    damage = receiver.crc_errors + receiver.malformed + receiver.oversize
    assert damage == 1
    assert (receiver.crc_errors == 1) == (vector["reason"] == "crc")


@given(BYTES_WITH_ZEROS)
def test_cobs_agrees_with_an_independent_implementation(data: bytes) -> None:
    """PyPI's cobs is the oracle."""
    assert cobs_encode(data) == cobs.encode(data)
    assert cobs_decode(cobs.encode(data)) == data


@given(st.binary(min_size=1, max_size=300))
def test_cobs_refuses_what_the_oracle_refuses(data: bytes) -> None:
    """A zero inside and a code past the end are errors, nothing else is."""
    try:
        expected: bytes | None = cobs.decode(data)
    except cobs.DecodeError:
        expected = None
    if expected is None:
        with pytest.raises(ValueError):
            cobs_decode(data)
    else:
        assert cobs_decode(data) == expected


@given(st.lists(FRAME, max_size=5), st.data())
def test_frames_survive_any_splitting_of_the_stream(
    frames: list[Frame], data: st.DataObject
) -> None:
    """Chunks of 1 to 7 bytes, glued frames, halves: all the same."""
    stream = b"\x00" + b"".join(encode(frame) for frame in frames)
    receiver, found, index = Receiver(), [], 0
    while index < len(stream):
        size = data.draw(st.integers(1, 7))
        found += receiver.feed(stream[index : index + size])
        index += size
    assert found == frames
    assert receiver.frames == len(frames)


@given(FRAME, FRAME, st.data())
def test_a_damaged_byte_costs_one_frame_only(
    first: Frame, second: Frame, data: st.DataObject
) -> None:
    """Whatever is hit, no wrong frame comes out and the one after the next does."""
    stream = bytearray(encode(first))
    position = data.draw(st.integers(0, len(stream) - 1))
    stream[position] ^= data.draw(st.integers(1, 255))
    found = Receiver().feed(bytes(stream) + b"\x00" + encode(second))
    assert found == [second]


@given(FRAME, FRAME, st.data())
def test_a_lost_or_doubled_byte_costs_one_frame_only(
    first: Frame, second: Frame, data: st.DataObject
) -> None:
    """The delimiter brings the receiver back into step."""
    stream = bytearray(encode(first)[:-1])
    position = data.draw(st.integers(0, len(stream) - 1))
    if data.draw(st.booleans()):
        del stream[position]
    else:
        stream.insert(position, stream[position])
    found = Receiver().feed(bytes(stream) + b"\x00" + encode(second))
    assert found == [second]


def test_boot_text_before_the_first_frame_is_one_bad_frame() -> None:
    """An ESP32's ROM talks before the firmware does."""
    ping = Frame(type=FrameType.PING, seq=1)
    receiver = Receiver()
    noise = b"ESP-ROM:esp32s3-20210327\r\nrst:0x1 (POWERON),boot:0x8\r\n"
    assert receiver.feed(noise + b"\x00" + encode(ping)) == [ping]
    assert (receiver.malformed, receiver.crc_errors, receiver.oversize) == (1, 0, 0)


def test_a_megabyte_without_a_delimiter_is_dropped_in_bounded_memory() -> None:
    """The cap is counted once and the next frame is heard."""
    receiver = Receiver()
    for _ in range(1024):
        assert receiver.feed(b"x" * 1024) == []
        assert len(receiver._block) <= 257
    ping = Frame(type=FrameType.PING, seq=1)
    assert receiver.feed(b"\x00" + encode(ping)) == [ping]
    assert receiver.oversize == 1


def test_empty_frames_are_no_errors() -> None:
    """A sender flushes with zeros."""
    receiver = Receiver()
    assert receiver.feed(b"\x00" * 1000) == []
    assert receiver.malformed == receiver.crc_errors == 0


def test_a_frame_of_another_version_is_dropped_and_told() -> None:
    """So that a newer board is not called "no board"."""
    body = bytearray(encode_body(Frame(type=FrameType.ACK, seq=3)))
    body[0] = 2
    stream = cobs_encode(bytes(body) + crc32(body).to_bytes(4, "little")) + b"\x00"
    receiver = Receiver()
    assert receiver.feed(stream) == []
    assert receiver.other_version == 2


def test_a_payload_above_the_limit_cannot_be_sent() -> None:
    """It would not fit the board's receiver."""
    with pytest.raises(ValueError, match="226"):
        encode(Frame(type=FrameType.TEXT, payload=bytes(227)))
