"""DX1: the numbers of the protocol between Home Assistant and the board."""

PROTOCOL = 1

# Frame flags.
FLAG_RETRY = 0x01
FLAG_NO_ACK = 0x02
FLAG_AUTHENTICATED = 0x04

# Host to board.
HELLO = 0x01
PING = 0x02
GET_CAPS = 0x03
SET_PROFILE = 0x04
IDENTIFY = 0x05
WAKE_CFG = 0x06
RELEASE_ALL = 0x10
TOUCH = 0x11
POINTER = 0x12
KEYS = 0x13
CONSUMER = 0x14
KEY_TAP = 0x15
TEXT = 0x16
GESTURE = 0x17
ABORT = 0x18
EVENT_ACK = 0x50

# Board to host.
WAKE = 0x40
LINK = 0x41
LOG = 0x42
FORCED_RELEASE = 0x43
DONE = 0x44
ACK = 0x80
NACK = 0x81

# First byte of an ACK.
STATUS_OK = 0
STATUS_ACCEPTED = 1  # a DONE follows

# First byte of a NACK.
BAD_FRAME = 0x01
UNKNOWN_TYPE = 0x02
BAD_PAYLOAD = 0x03
UNSUPPORTED = 0x04
BUSY = 0x05
USB_NOT_READY = 0x06
OUT_OF_RANGE = 0x07
RATE_LIMITED = 0x08
SESSION_EXPIRED = 0x09
PROTO_VERSION = 0x0A
HOLD_LIMIT = 0x0B
NOT_AUTHENTICATED = 0x0C

# Result of a DONE.
DONE_OK = 0
DONE_ABORTED = 1
DONE_LINK_LOST = 2
DONE_USB_LOST = 3
DONE_LEASE = 4
DONE_SUSPENDED = 5  # played while the phone slept: a call to wake it, no more

# Reason of a FORCED_RELEASE.
RELEASED_LINK_LOST = 1
RELEASED_HOLD_LIMIT = 2
RELEASED_LEASE = 3
RELEASED_USB_RESET = 4

# Level of a LOG.
LOG_DEBUG = 0
LOG_INFO = 1
LOG_WARNING = 2

# State of the phone's USB.
USB_NONE = 0
USB_MOUNTED = 1
USB_SUSPENDED = 2

# What is held (PING), and which reports a release covers.
HELD_TOUCH = 0x01
HELD_KEYS = 0x02
HELD_CONSUMER = 0x04
HELD_ALL = HELD_TOUCH | HELD_KEYS | HELD_CONSUMER
PLAYING = 0x80

# Tags of GET_CAPS.
CAP_PROTOCOL = 0x01
CAP_FIRMWARE = 0x02
CAP_BOARD_ID = 0x03
CAP_BOOT_ID = 0x04
CAP_PROFILES = 0x05
CAP_PROFILE = 0x06
CAP_FEATURES = 0x07
CAP_MAX_PAYLOAD = 0x08
CAP_MAX_POINTS = 0x09
CAP_MAX_TEXT = 0x0A
CAP_HOLD_LIMITS = 0x0B
CAP_CREDITS = 0x0C
CAP_USAGES = 0x0D
CAP_COUNTERS = 0x0E

# Bits of CAP_FEATURES.
FEATURE_TOUCH = 0x0001
FEATURE_ABSOLUTE = 0x0002
FEATURE_RELATIVE = 0x0004
FEATURE_CONSUMER = 0x0008
FEATURE_TEXT = 0x0010
FEATURE_GESTURE = 0x0020
FEATURE_WAKE = 0x0040
FEATURE_REMOTE_WAKE = 0x0080
FEATURE_KEYS = 0x0100
FEATURE_CONSUMER_TAP = 0x0200

# Limits.
MAX_PAYLOAD = 226  # a GESTURE of 32 points; fits the receiver's 256 encoded bytes
MAX_POINTS = 32
MAX_TEXT = 99
MAX_COORDINATE = 32767
MAX_HOLD_MS = 10000
CREDITS = 4  # TOUCH frames that may be unanswered


class Refused(Exception):
    """A request that is answered with NACK and had no effect.

    Attributes:
        code: The NACK's code.
        detail: The bytes after it.

    """

    def __init__(self, code: int, detail: bytes = b"") -> None:
        """Keep the answer."""
        super().__init__(code)
        self.code = code
        self.detail = detail
