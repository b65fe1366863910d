"""The descriptor parser against hid-tools, and against what breaks parsers."""

from hidtools.hid import ReportDescriptor as OracleDescriptor
from hypothesis import given, strategies as st
import pytest

from hardware_bridge.firmware.aiden_bridge import profiles
from simulator.hid_parser import (
    DescriptorError,
    Field,
    ReportDescriptor,
    ReportKind,
    parse,
)

FIRMWARE = profiles.report_descriptor(profiles.ANDROID_TOUCH)
BOOT_KEYBOARD = bytes.fromhex(
    "05010906a101050719e029e715002501750195088102950175088101950575010508190129059102"
    "95017503910195067508150025650507190029658100c0"
)
ABSOLUTE_MOUSE = bytes.fromhex(
    "05010902a1010901a10005091901290815002501950875018102050109300931160000"
    "26ff7f75109502810209381581257f750895018106c0c0"
)
TWO_FINGERS = bytes.fromhex(
    "050d0904a101" + "0922a102050d094215002501750195018102950781030951250f750895018102"
    "05010930093126ff7f751095028102c0" * 2 + "c0"
)
PUSH_AND_POP = bytes.fromhex(
    "05010906a10115002501750195088501a40507750819e029e7150026ff008102b4"
    "0509190129088102c0"
)
DESCRIPTORS = {
    "firmware": FIRMWARE,
    "boot keyboard": BOOT_KEYBOARD,
    "absolute mouse": ABSOLUTE_MOUSE,
    "two fingers": TWO_FINGERS,
    "push and pop": PUSH_AND_POP,
}


def _oracle_fields(descriptor: bytes) -> list[tuple[object, ...]]:
    """Return what hid-tools says, in our words."""
    oracle = OracleDescriptor.from_bytes(descriptor)
    found: list[tuple[object, ...]] = []
    for kind, reports in (
        (ReportKind.INPUT, oracle.input_reports),
        (ReportKind.OUTPUT, oracle.output_reports),
        (ReportKind.FEATURE, oracle.feature_reports),
    ):
        for report in reports.values():
            numbered = report.report_ID != -1
            for item in report.fields:
                if item.usage_name == "Report ID" or item.is_const:
                    continue
                usages = item.usages if item.usages is not None else [item.usage]
                found.append(
                    (
                        kind,
                        report.report_ID if numbered else 0,
                        item.start - (8 if numbered else 0),
                        item.size,
                        item.count,
                        item.logical_min,
                        item.logical_max,
                        tuple(usages),
                    )
                )
    return found


def _our_fields(parsed: ReportDescriptor) -> list[tuple[object, ...]]:
    """Return what we say; hid-tools splits variable fields of several usages."""
    found: list[tuple[object, ...]] = []
    for item in parsed.fields:
        if item.is_constant:
            continue
        many = not item.is_array and len(item.usages) > 1
        parts = item.count if many else 1
        found += [
            (
                item.kind,
                item.report_id,
                item.bit_offset + part * item.bit_size,
                item.bit_size,
                1 if many else item.count,
                item.logical_min,
                item.logical_max,
                item.usages[part : part + 1] if many else item.usages,
            )
            for part in range(parts)
        ]
    return found


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_fields_lie_where_hid_tools_finds_them(name: str) -> None:
    """Report, offset, size, count, logical range and usages of every field agree."""
    descriptor = DESCRIPTORS[name]
    ours, theirs = _our_fields(parse(descriptor)), _oracle_fields(descriptor)
    assert theirs
    assert sorted(ours, key=str) == sorted(theirs, key=str)


def _field(parsed: ReportDescriptor, report_id: int, usage: int) -> Field:
    """Return the input field with a usage."""
    return next(
        item
        for item in parsed.report(ReportKind.INPUT, report_id)
        if usage in item.usages
    )


@given(
    tip=st.booleans(),
    contact=st.integers(0, 15),
    x=st.integers(0, 0x7FFF),
    y=st.integers(0, 0x7FFF),
)
def test_a_touch_report_of_the_firmware_reads_back(
    tip: bool, contact: int, x: int, y: int
) -> None:
    """What the firmware packs, the parser takes apart."""
    parsed = parse(FIRMWARE)
    report = profiles.touch_report(contact, 3 if tip else 0, x, y)
    values: dict[int, int] = {}
    for item in parsed.report(ReportKind.INPUT, profiles.TOUCH_ID):
        values.update(item.by_usage(report))
    assert values[0x000D0042] == int(tip)
    assert values[0x000D0051] == contact
    assert (values[0x00010030], values[0x00010031]) == (x, y)
    assert values[0x000D0054] == 1
    assert parsed.payload_size(ReportKind.INPUT, profiles.TOUCH_ID) == len(report)


def test_an_array_names_the_usages_that_are_down() -> None:
    """A keyboard's array holds usages; zero and what is out of range is nothing."""
    keys = _field(parse(FIRMWARE), profiles.KEYBOARD_ID, 0x00070004)
    down = dict(keys.by_usage(bytes((0, 0, 0x04, 0x65, 0xFF, 0, 0, 0))))
    assert {usage for usage in down if usage & 0xFFFF} == {0x00070004, 0x00070065}


def test_a_consumer_usage_of_two_bytes_is_found() -> None:
    """0x29F lies in a range that a byte cannot hold."""
    control = _field(parse(FIRMWARE), profiles.CONSUMER_ID, 0x000C029F)
    assert dict(control.by_usage(b"\x9f\x02")) == {0x000C029F: 1}


def test_a_negative_logical_minimum_makes_values_signed() -> None:
    """A wheel turned back is -1, not 255."""
    wheel = _field(parse(ABSOLUTE_MOUSE), 0, 0x00010038)
    assert wheel.values(bytes((0, 0, 0, 0, 0, 0xFF))) == (-1,)
    assert wheel.is_relative


def test_two_fingers_are_two_collections() -> None:
    """Fingers differ in nothing but the collection that they are in."""
    fingers = {
        item.collections[-1].index
        for item in parse(TWO_FINGERS).fields
        if 0x000D0042 in item.usages
    }
    assert len(fingers) == 2


@pytest.mark.parametrize(
    ("descriptor", "reason"),
    [
        ("05", "cut short"),
        ("a101", "never closed"),
        ("c0", "never began"),
        ("b4", "pop without push"),
        ("75 00 95 01 81 02", "report size"),
        ("85 00", "report id"),
        ("29 05", "usage range"),
        ("fe", "cut short"),
    ],
)
def test_a_malformed_descriptor_is_refused_with_its_reason(
    descriptor: str, reason: str
) -> None:
    """Nothing is guessed."""
    with pytest.raises(DescriptorError, match=reason):
        parse(bytes.fromhex(descriptor))


@given(st.binary(max_size=200))
def test_no_bytes_make_the_parser_fail_otherwise(descriptor: bytes) -> None:
    """Random bytes are parsed or refused, in bounded memory."""
    try:
        parsed = parse(descriptor)
    except DescriptorError:
        return
    for item in parsed.fields:
        assert 1 <= item.bit_size <= 32
        assert len(item.values(b"\xff" * 16)) == item.count
