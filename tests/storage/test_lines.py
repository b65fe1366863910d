"""Lines of a journal: any damage is noticed, whatever it is."""

from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
import orjson
import pytest

from custom_components.aiden_duplex.storage.lines import decode, encode, scan, storable
from tests.examples import examples

UNHURRIED = settings(
    deadline=None,
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.too_slow],
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)
    ),
    max_leaves=8,
)
RECORDS = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=8), JSON, max_size=4
)


@UNHURRIED
@given(RECORDS)
def test_a_record_is_one_line_and_comes_back(record: dict[str, Any]) -> None:
    """Line feeds in texts are escaped."""
    line = encode(record)
    assert line.count(b"\n") == 1
    assert decode(line[:-1]) == record


@UNHURRIED
@given(st.lists(RECORDS, min_size=1, max_size=4), st.data())
def test_a_changed_byte_is_noticed(
    records: list[dict[str, Any]], data: st.DataObject
) -> None:
    """The records that are left are a subsequence of what was written."""
    whole = b"".join(map(encode, records))
    at = data.draw(st.integers(0, len(whole) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda new: new != whole[at]))
    result = scan(whole[:at] + bytes([value]) + whole[at + 1 :])
    if at == len(whole) - 1:
        # Only the last line feed is another byte: all is there.
        assert (result.records, result.good) == (records, whole)
    else:
        assert result.damaged or result.torn
    left = iter(records)
    assert all(record in left for record in result.records)
    assert len(result.records) >= len(records) - 2


@UNHURRIED
@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_sorted_out(data: bytes) -> None:
    """Scanning what was found good finds nothing wrong."""
    result = scan(data)
    again = scan(result.good)
    assert (again.records, again.good) == (result.records, result.good)
    assert (again.damaged, again.torn) == (0, 0)


def test_a_line_has_a_checksum_and_json() -> None:
    """The format on disk: CRC-32 as gzip computes it, a space, JSON, a line feed."""
    assert encode({"a": 1}) == b'561bacaf {"a":1}\n'


def test_a_checksum_over_something_that_is_no_object_is_damage() -> None:
    """Records are objects."""
    line = encode({})  # The checksum of another body does not fit.
    assert decode(line[:9] + orjson.dumps([])) is None


@pytest.mark.parametrize(
    ("text", "kept"), [("a\ud83d b", "a? b"), ("grün 🙂", "grün 🙂")]
)
def test_half_a_surrogate_pair_can_be_stored(text: str, kept: str) -> None:
    """Models write such texts in JSON escapes; the journal must not choke."""
    assert storable(text) == kept
    encode({"text": storable(text)})
