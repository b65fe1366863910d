"""The report descriptors, read by an independent parser."""

from hidtools.hid import HidReport, ReportDescriptor
import pytest

from hardware_bridge.firmware.aiden_bridge import profiles


def _parse(profile: int) -> ReportDescriptor:
    return ReportDescriptor.from_bytes(profiles.report_descriptor(profile))


def _usages(report: HidReport) -> list[str]:
    return [field.usage_name for field in report if not field.is_const]


def test_android_touch_is_one_interface_of_three_collections() -> None:
    """Keyboard first; the lengths are those that the board announces to USB."""
    parsed = _parse(profiles.ANDROID_TOUCH)
    parts = profiles.DESCRIPTORS[profiles.ANDROID_TOUCH]

    assert [part["report_id"] for part in parts] == [1, 2, 4]
    assert {key: report.size - 1 for key, report in parsed.input_reports.items()} == {
        part["report_id"]: part["in_len"] for part in parts
    }
    assert {key: report.size - 1 for key, report in parsed.output_reports.items()} == {
        part["report_id"]: part["out_len"] for part in parts if part["out_len"]
    }
    assert {key: report.size - 1 for key, report in parsed.feature_reports.items()} == {
        number: len(value)
        for part in parts
        for number, value in part["feature"].items()
    }
    assert [parsed.input_reports[part["report_id"]].application for part in parts] == [
        part["usage_page"] << 16 | part["usage"] for part in parts
    ]


@pytest.mark.parametrize(
    "part", profiles.DESCRIPTORS[1], ids=lambda part: str(part["usage"])
)
def test_each_collection_stands_alone(part: dict[str, object]) -> None:
    """CircuitPython takes one descriptor for each device."""
    descriptor = part["descriptor"]
    assert isinstance(descriptor, bytes)
    parsed = ReportDescriptor.from_bytes(descriptor)

    assert list(parsed.input_reports) == [part["report_id"]]
    assert descriptor.count(b"\xa1") >= 1
    assert descriptor.endswith(b"\xc0")


def test_a_touch_report_says_what_android_reads() -> None:
    """Tip, range, contact id, place and count arrive in their fields."""
    report = profiles.touch_report(5, profiles.TIP | profiles.IN_RANGE, 32767, 258)
    parsed = _parse(1).input_reports[profiles.TOUCH_ID]
    names = _usages(parsed)

    assert names == ["Tip Switch", "In Range", "Contact Id", "X", "Y", "Contact Count"]
    values = {
        field.usage_name: field.get_values([profiles.TOUCH_ID, *report])[0]
        for field in parsed
        if not field.is_const
    }
    assert values == {
        "Tip Switch": 1,
        "In Range": 1,
        "Contact Id": 5,
        "X": 32767,
        "Y": 258,
        "Contact Count": 1,
    }


def test_the_consumer_range_reaches_recent_apps() -> None:
    """CircuitPython's own consumer device ends before 0x29F."""
    field = next(iter(_parse(1).input_reports[profiles.CONSUMER_ID]))

    assert (field.logical_min, field.logical_max) == (0, 0x3FF)
    assert field.get_values([2, *profiles.consumer_report(0x29F)]) == [0x29F]


def test_a_keyboard_report_is_the_boot_reports_eight_bytes() -> None:
    """Modifiers, a zero, six usages."""
    assert profiles.keyboard_report(2, (4,)).hex() == "0200040000000000"
    assert profiles.keyboard_report(0, ()).hex() == "0000000000000000"
    fields = [field for field in _parse(1).input_reports[1] if not field.is_const]
    assert fields[-1].count == 6
    assert fields[-1].logical_max == profiles.MAX_KEY_USAGE


def test_profile_0_is_no_device() -> None:
    """And the other known profiles have no descriptor to be set to."""
    assert profiles.report_descriptor(profiles.NONE) == b""
    assert set(profiles.DESCRIPTORS) == set(profiles.SUPPORTED)
