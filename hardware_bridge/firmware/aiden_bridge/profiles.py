"""HID profiles: what the board is to the phone.

One HID interface with report ids, because CircuitPython gives one. A touchscreen and a
mouse never share it: Linux' hid-multitouch, which a contact id calls in, drops the mouse.

The keyboard comes first, as iOS wants it. Usages and pages: USB HID Usage Tables 1.x.
"""

import struct

NONE = 0
ANDROID_TOUCH = 1
IOS_POINTER = 2
IOS_KEYS = 3
GENERIC_MOUSE = 4

SUPPORTED = (NONE, ANDROID_TOUCH)
KNOWN = (NONE, ANDROID_TOUCH, IOS_POINTER, IOS_KEYS, GENERIC_MOUSE)

KEYBOARD_ID = 1
CONSUMER_ID = 2
TOUCH_ID = 4
CONTACT_MAX_ID = 5

MAX_KEY_USAGE = 0x65
MAX_CONSUMER_USAGE = 0x3FF
MAX_CONTACT = 0x0F

TIP = 0x01
IN_RANGE = 0x02

_KEYBOARD = bytes(
    (
        0x05, 0x01, 0x09, 0x06, 0xA1, 0x01, 0x85, KEYBOARD_ID,  # Generic Desktop, Keyboard
        0x05, 0x07, 0x19, 0xE0, 0x29, 0xE7, 0x15, 0x00, 0x25, 0x01,  # eight modifiers
        0x75, 0x01, 0x95, 0x08, 0x81, 0x02,
        0x95, 0x01, 0x75, 0x08, 0x81, 0x01,  # a reserved byte
        0x95, 0x05, 0x75, 0x01, 0x05, 0x08, 0x19, 0x01, 0x29, 0x05, 0x91, 0x02,  # five LEDs
        0x95, 0x01, 0x75, 0x03, 0x91, 0x01,
        0x95, 0x06, 0x75, 0x08, 0x15, 0x00, 0x25, MAX_KEY_USAGE,  # six keys
        0x05, 0x07, 0x19, 0x00, 0x29, MAX_KEY_USAGE, 0x81, 0x00,
        0xC0,
    )
)  # fmt: skip

# 0..0x3FF: CircuitPython's own ends at 0x28C, before Recent Apps (0x29F).
_CONSUMER = bytes(
    (
        0x05, 0x0C, 0x09, 0x01, 0xA1, 0x01, 0x85, CONSUMER_ID,  # Consumer Control
        0x15, 0x00, 0x26, 0xFF, 0x03, 0x1A, 0x00, 0x00, 0x2A, 0xFF, 0x03,
        0x75, 0x10, 0x95, 0x01, 0x81, 0x00,
        0xC0,
    )
)  # fmt: skip

# The feature has an id of its own: CircuitPython answers a feature report with the bytes of
# the IN report of the same id, and stalls for an id without one, which Linux tolerates.
_TOUCH = bytes(
    (
        0x05, 0x0D, 0x09, 0x04, 0xA1, 0x01, 0x85, TOUCH_ID,  # Digitizer, Touch Screen
        0x09, 0x22, 0xA1, 0x02,  # Finger
        0x05, 0x0D, 0x15, 0x00, 0x25, 0x01, 0x75, 0x01,
        0x09, 0x42, 0x95, 0x01, 0x81, 0x02,  # Tip Switch
        0x09, 0x32, 0x81, 0x02,  # In Range
        0x95, 0x06, 0x81, 0x03,
        0x09, 0x51, 0x25, MAX_CONTACT, 0x75, 0x08, 0x95, 0x01, 0x81, 0x02,  # Contact Id
        0x05, 0x01, 0x09, 0x30, 0x09, 0x31,  # X, Y
        0x15, 0x00, 0x26, 0xFF, 0x7F, 0x75, 0x10, 0x95, 0x02, 0x81, 0x02,
        0xC0,
        0x05, 0x0D, 0x09, 0x54, 0x15, 0x00, 0x25, 0x01,  # Contact Count
        0x75, 0x08, 0x95, 0x01, 0x81, 0x02,
        0x85, CONTACT_MAX_ID, 0x09, 0x55, 0x25, 0x01, 0xB1, 0x02,  # Contact Count Maximum
        0xC0,
    )
)  # fmt: skip


def _part(**fields):
    return fields


DESCRIPTORS = {
    NONE: [],
    ANDROID_TOUCH: [
        _part(
            report_id=KEYBOARD_ID,
            usage_page=0x01,
            usage=0x06,
            descriptor=_KEYBOARD,
            in_len=8,
            out_len=1,
            feature={},
        ),
        _part(
            report_id=CONSUMER_ID,
            usage_page=0x0C,
            usage=0x01,
            descriptor=_CONSUMER,
            in_len=2,
            out_len=0,
            feature={},
        ),
        _part(
            report_id=TOUCH_ID,
            usage_page=0x0D,
            usage=0x04,
            descriptor=_TOUCH,
            in_len=7,
            out_len=0,
            feature={CONTACT_MAX_ID: b"\x01"},
        ),
    ],
}
"""Per profile, in the order of the interface: report id, usage page and usage of the
collection, its descriptor, lengths of its IN and OUT reports without the report id, and its
feature reports (id to bytes)."""


def report_descriptor(profile: int) -> bytes:
    """Give the report descriptor of the profile's one interface; empty for profile 0."""
    return b"".join([part["descriptor"] for part in DESCRIPTORS[profile]])


def keyboard_report(mods: int, usages) -> bytes:
    """Give the eight bytes of a keyboard report: modifiers, a zero, six usages."""
    return (bytes((mods, 0)) + bytes(usages) + bytes(6))[:8]


def consumer_report(usage: int) -> bytes:
    """Give the two bytes of a consumer report; usage 0 releases."""
    return struct.pack("<H", usage)


def touch_report(contact: int, flags: int, x: int, y: int) -> bytes:
    """Give the seven bytes of a touch report: flags, contact id, x, y, one contact."""
    return struct.pack("<BBHHB", flags, contact, x, y, 1)
