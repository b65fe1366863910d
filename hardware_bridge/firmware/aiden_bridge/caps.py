"""The answer to GET_CAPS: ``tag u8, len u8, value``, one after the other.

========  ===========  ==========================================================
tag       name         value
========  ===========  ==========================================================
01        protocol     min u8, max u8
02        firmware     ASCII, at most 32
03        board_id     8 bytes, the chip's own, zeros behind a shorter one
04        boot_id      u32, another at every start
05        profiles     u8, bit n: profile n can be set
06        profile      u8, the one in use
07        features     u16: 1 touch, 2 absolute, 4 relative, 8 consumer, 10 text,
                       20 gesture, 40 wake, 80 remote wake, 100 keys,
                       200 consumer tap; of the profile in use
08        max_payload  u8, bytes
09        max_points   u8, of a GESTURE
0A        max_text     u8, characters of a TEXT
0B        hold_limits  touch_ms u16, key_ms u16
0C        credits      u8, TOUCH frames that may be unanswered
0D        usages       highest keyboard usage u8, highest consumer usage u16
0E        counters     u16 each, since the start, stopping at 65535: crc errors, cobs
                       errors, length errors, oversize, usb errors, usb resets,
                       forced releases, wakes
========  ===========  ==========================================================

A host skips tags that it does not know.
"""

import struct

from . import dx1, profiles

_TOUCH_FEATURES = (
    dx1.FEATURE_TOUCH
    | dx1.FEATURE_CONSUMER
    | dx1.FEATURE_TEXT
    | dx1.FEATURE_GESTURE
    | dx1.FEATURE_KEYS
    | dx1.FEATURE_CONSUMER_TAP
)


def capped(value: int) -> int:
    """Keep a counter within 16 bits."""
    return min(value, 0xFFFF)


def build(
    firmware: str, board_id: bytes, boot_id: int, profile: int, counters
) -> bytes:
    """Give the TLVs; ``counters`` are the eight of tag 0E in their order."""
    features = dx1.FEATURE_WAKE
    if profile == profiles.ANDROID_TOUCH:
        features |= _TOUCH_FEATURES
    bitmap = 0
    for number in profiles.SUPPORTED:
        bitmap |= 1 << number
    usages = struct.pack("<BH", profiles.MAX_KEY_USAGE, profiles.MAX_CONSUMER_USAGE)
    pairs = (
        (dx1.CAP_PROTOCOL, bytes((dx1.PROTOCOL, dx1.PROTOCOL))),
        (dx1.CAP_FIRMWARE, firmware.encode()[:32]),
        (dx1.CAP_BOARD_ID, (bytes(board_id) + bytes(8))[:8]),
        (dx1.CAP_BOOT_ID, struct.pack("<I", boot_id & 0xFFFFFFFF)),
        (dx1.CAP_PROFILES, bytes((bitmap,))),
        (dx1.CAP_PROFILE, bytes((profile,))),
        (dx1.CAP_FEATURES, struct.pack("<H", features)),
        (dx1.CAP_MAX_PAYLOAD, bytes((dx1.MAX_PAYLOAD,))),
        (dx1.CAP_MAX_POINTS, bytes((dx1.MAX_POINTS,))),
        (dx1.CAP_MAX_TEXT, bytes((dx1.MAX_TEXT,))),
        (dx1.CAP_HOLD_LIMITS, struct.pack("<HH", dx1.MAX_HOLD_MS, dx1.MAX_HOLD_MS)),
        (dx1.CAP_CREDITS, bytes((dx1.CREDITS,))),
        (dx1.CAP_USAGES, usages),
        (dx1.CAP_COUNTERS, struct.pack("<8H", *[capped(n) for n in counters])),
    )
    return b"".join([bytes((tag, len(value))) + value for tag, value in pairs])
