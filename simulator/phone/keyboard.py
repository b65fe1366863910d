"""What the keys of a hardware keyboard mean: US layout (HID Usage Tables, page 0x07)."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
import string

_KEYBOARD_PAGE = 0x07 << 16
_CONSUMER_PAGE = 0x0C << 16

CAPS_LOCK = _KEYBOARD_PAGE | 0x39
CAPS_LOCK_LED = 0x02
CONTROL = frozenset({_KEYBOARD_PAGE | 0xE0, _KEYBOARD_PAGE | 0xE4})
SHIFT = frozenset({_KEYBOARD_PAGE | 0xE1, _KEYBOARD_PAGE | 0xE5})
ALT = frozenset({_KEYBOARD_PAGE | 0xE2, _KEYBOARD_PAGE | 0xE6})
META = frozenset({_KEYBOARD_PAGE | 0xE3, _KEYBOARD_PAGE | 0xE7})
MODIFIERS = CONTROL | SHIFT | ALT | META

_PLAIN = dict(enumerate(string.ascii_lowercase + "1234567890", start=0x04))
_PLAIN |= {0x2C: " ", 0x2D: "-", 0x2E: "=", 0x2F: "[", 0x30: "]", 0x31: "\\"}
_PLAIN |= {0x33: ";", 0x34: "'", 0x35: "`", 0x36: ",", 0x37: ".", 0x38: "/"}
_SHIFTED = dict(zip("1234567890-=[]\\;'`,./", '!@#$%^&*()_+{}|:"~<>?', strict=True))


class Command(StrEnum):
    """What a key does beside writing a character."""

    HOME = "home"
    BACK = "back"
    RECENTS = "recents"
    ENTER = "enter"
    BACKSPACE = "backspace"
    SELECT_ALL = "select_all"
    CAPS_LOCK = "caps_lock"
    LOCK = "lock"
    VOLUME_UP = "volume_up"
    VOLUME_DOWN = "volume_down"


@dataclass(frozen=True, slots=True, kw_only=True)
class Character:
    """A character to write."""

    text: str


type Meaning = Command | Character | None

_CONSUMER: dict[int, Command] = {
    0x223: Command.HOME,
    0x224: Command.BACK,
    0x29F: Command.RECENTS,
    0x030: Command.LOCK,
    0x0E9: Command.VOLUME_UP,
    0x0EA: Command.VOLUME_DOWN,
}
_KEYS: dict[int, Command] = {
    0x28: Command.ENTER,
    0x58: Command.ENTER,
    0x29: Command.BACK,
    0x2A: Command.BACKSPACE,
    0x39: Command.CAPS_LOCK,
    0x66: Command.LOCK,
    0x80: Command.VOLUME_UP,
    0x81: Command.VOLUME_DOWN,
}
_META: dict[int, Command] = {
    0x0B: Command.HOME,
    0x28: Command.HOME,
    0x29: Command.HOME,
    0x2B: Command.RECENTS,
}


def meaning(usage: int, held: AbstractSet[int], caps: bool = False) -> Meaning:
    """Return what a usage (page in the upper 16 bits) does while others are held."""
    number = usage & 0xFFFF
    if usage & 0xFFFF0000 == _CONSUMER_PAGE:
        return _CONSUMER.get(number)
    if usage & 0xFFFF0000 != _KEYBOARD_PAGE:
        return None
    if held & META:
        return _META.get(number)
    if held & ALT:
        return Command.RECENTS if number == 0x2B else None
    if held & CONTROL:
        return Command.SELECT_ALL if number == 0x04 else None
    if number in _KEYS:
        return _KEYS[number]
    return _character(number, shifted=bool(held & SHIFT), caps=caps)


def _character(number: int, *, shifted: bool, caps: bool) -> Character | None:
    """Return what a key writes."""
    text = _PLAIN.get(number)
    if text is None:
        return None
    if text.isalpha():
        return Character(text=text.upper() if shifted != caps else text)
    return Character(text=_SHIFTED.get(text, text) if shifted else text)


def name(usage: int) -> str:
    """Return a short name of a usage, for the log of reports."""
    number = usage & 0xFFFF
    if usage & 0xFFFF0000 == _CONSUMER_PAGE:
        command = _CONSUMER.get(number)
        return f"consumer 0x{number:X}" + (f" ({command})" if command else "")
    for names, label in ((SHIFT, "shift"), (CONTROL, "control"), (ALT, "alt")):
        if usage in names:
            return label
    if usage in META:
        return "meta"
    if number == 0x2C:
        return "space"
    return str(_KEYS.get(number) or _PLAIN.get(number) or f"key 0x{number:X}")
