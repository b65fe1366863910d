"""What the owner of a board may change, and the few bytes it keeps over a reset.

The memory is CircuitPython's ``microcontroller.nvm`` or any bytearray: a mark, the profile,
the starts since ``code.py`` last said that it runs well.
"""

from . import profiles

UART_TX_PIN = "GP0"
UART_RX_PIN = "GP1"
WAKE_PIN = "GP2"
WAKE_PULL_UP = False
"""True for a line that is active when low; Home Assistant's WAKE_CFG has to agree."""
SERVICE_PIN = "GP3"
IDENTIFY_PIN = "LED"
"""A name that the board does not have means no LED."""
BAUD_RATE = 115200
RECEIVER_BUFFER = 1024

WATCHDOG_S = 8
"""A report to a phone that does not poll may take two seconds on CircuitPython."""
HEALTHY_MS = 10000
"""``code.py`` runs well when it has run this long."""

MAX_STARTS = 3

_MARK = 0xD1


def profile_at_boot(memory) -> int:
    """Give the profile to come up with, and count this start."""
    if memory[0] != _MARK or memory[1] not in profiles.SUPPORTED:
        memory[0:3] = bytes((_MARK, profiles.ANDROID_TOUCH, 0))
    starts = memory[2]
    if starts >= MAX_STARTS:
        return profiles.NONE
    memory[2] = starts + 1
    kept: int = memory[1]
    return kept


def keep_profile(memory, profile: int) -> None:
    """Keep the profile for the next start, which is one that was asked for."""
    memory[0:3] = bytes((_MARK, profile, 0))


def healthy(memory) -> None:
    """Say that the board runs well: the next start is not one of a row of failures."""
    if memory[0] == _MARK and memory[2]:
        memory[2] = 0
