"""Everyday knowledge about names on phones: synonyms, and what belongs to what.

General, like a dictionary: it holds words, not ways through menus and not tasks.
"""

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from .words import content, coverage, normalise, tokens

_SYNONYMS: dict[str, str] = {
    # Switches.
    "airplane mode": "aeroplane mode | flight mode | plane mode | in flight mode | aircraft mode | offline mode",
    "wifi": "wi fi | wlan | wireless network | wireless lan | wireless internet | wireless | wi fi network",
    "bluetooth": "blue tooth | bt",
    "location": "location services | location access | gps | positioning | location service",
    "dark theme": "dark mode | night mode | night theme | dark colours | dark colors | dark appearance",
    "battery saver": "power saving | power saver | low power mode | battery saving | power saving mode | energy saver",
    "do not disturb": "dnd | quiet mode | silent mode | silence | mute mode | quiet hours | zen mode",
    "auto rotate": "autorotate | rotate screen | screen rotation | auto rotation | automatic rotation | rotation",
    "nfc": "contactless | near field communication | contactless payments",
    "mobile data": "cellular data | cell data | data connection | mobile internet | cellular",
    "hotspot": "portable hotspot | mobile hotspot | personal hotspot | wifi hotspot | tethering",
    "flashlight": "torch",
    "brightness": "screen brightness",
    "vibration": "vibrate",
    "vpn": "virtual private network",
    # Places.
    "settings": "preferences | system settings | phone settings | options | configuration | setup",
    "messages": "messaging | texts | text messages | sms | chats | message",
    "notes": "notepad | memos | memo | note | notebook | keep notes",
    "alarms": "clock | alarm clock | alarm | timer",
    "photos": "gallery | pictures | images | photo",
    "music": "player | music player | songs",
    "weather": "forecast | weather forecast",
    "maps": "navigation | map",
    "contacts": "people | address book | phone book",
    "calculator": "calc",
    "browser": "web browser | internet browser | web",
    "mail": "email | e mail | inbox",
    "camera": "cam",
    "calendar": "agenda | planner",
    "phone": "dialer | dialler | calls | telephone",
    "store": "app store | play store | market",
    "bank": "banking",
    # Pages.
    "network and internet": "connections | wireless and networks | connectivity | networks | network | internet | connected devices",
    "display": "screen | display and brightness",
    "sound": "sounds and vibration | sounds | sound and vibration | audio | volume | ringtones",
    "battery": "battery and power | power | battery care",
    "security": "security and privacy | privacy | lock screen | biometrics",
    "storage": "memory and storage | memory",
    "apps": "installed apps | applications | app management",
    "about phone": "about this phone | about device | about",
}

_BELONGS: dict[str, str] = {
    "network and internet": "airplane mode | wifi | bluetooth | mobile data | hotspot | nfc | vpn | sim | roaming | data usage | network | internet | pairing",
    "display": "dark theme | brightness | auto rotate | wallpaper | font size | theme | sleep | screen timeout | night light",
    "sound": "do not disturb | vibration | volume | ringtone | ring | media | silent | notification sound",
    "battery": "battery saver | charging | charge | energy",
    "security": "pin | password | fingerprint | screen lock | permissions | location | face unlock | encryption",
    "storage": "space | files | free space",
    "apps": "uninstall | permissions | notifications | default apps",
    "about phone": "version | serial | software update | model | update | imei",
    "messages": "sms | conversation | text | reply | chat",
    "notes": "write down | shopping list | list",
    "alarms": "wake | wake up | timer | stopwatch",
    "photos": "album | screenshot",
    "contacts": "number",
    "calendar": "event | appointment | meeting",
    "mail": "letter",
    "maps": "route | directions",
}

_SETTING_PAGES = (
    "network and internet",
    "display",
    "sound",
    "battery",
    "security",
    "storage",
    "apps",
    "about phone",
)
_CONTAINERS = frozenset(
    {"more", "advanced", "additional", "other", "general", "options", "features"}
)


@dataclass(frozen=True, slots=True)
class _Knowledge:
    canonical: dict[str, str]
    """Normalised phrase to the name it stands for."""
    places: dict[str, frozenset[str]]
    """Name to the names of the places it belongs to."""


def _split(line: str) -> list[str]:
    return [normalise(part) for part in line.split("|")]


def _build() -> _Knowledge:
    canonical: dict[str, str] = {}
    for name, others in _SYNONYMS.items():
        for phrase in (name, *_split(others)):
            canonical.setdefault(phrase, name)
            canonical.setdefault(phrase.replace(" ", ""), name)
    places: dict[str, set[str]] = {}
    for place, line in _BELONGS.items():
        for phrase in _split(line):
            places.setdefault(canonical.get(phrase, phrase), set()).add(place)
    return _Knowledge(canonical, {k: frozenset(v) for k, v in places.items()})


_KNOWN = _build()


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """Return the name that a phrase stands for; the words that matter if it is unknown."""
    words = tokens(text)
    variants = (
        " ".join(words),
        "".join(words),
        " ".join(content(text)),
        " ".join(
            word for word in words if word not in ("the", "my", "your", "app", "use")
        ),
    )
    for variant in variants:
        if variant in _KNOWN.canonical:
            return _KNOWN.canonical[variant]
    singular = variants[0].removesuffix("s")
    if singular in _KNOWN.canonical:
        return _KNOWN.canonical[singular]
    return _misread(variants[1]) or " ".join(content(text))


def _misread(joined: str) -> str | None:
    """Return the name that a text is but for a letter or two."""
    if len(joined) < 4 or any(c.isdigit() for c in joined):
        return None
    matcher = SequenceMatcher(b=joined)
    for phrase, name in _KNOWN.canonical.items():
        matcher.set_seq1(phrase)
        if matcher.real_quick_ratio() > 0.85 and matcher.ratio() > 0.85:
            return name
    return None


def likeness(wanted: str, seen: str) -> float:
    """Return how well a name on the screen is the wanted one, 0 to 1.

    1 is the same name or a synonym; above 0.75 can be taken for it.
    """
    first, second = canonical(wanted), canonical(seen)
    if first == second:
        return 1.0
    known = set(_SYNONYMS)
    if first in known and second in known:
        return 0.0
    one, two = content(first), content(second)
    there, back = coverage(one, two), coverage(two, one)
    exact = coverage(tokens(wanted), tokens(seen))
    return min(there, back) * 0.6 + there * 0.25 + exact * 0.15


def relation(wanted: str, place: str) -> float:
    """Return how likely something wanted is found behind a name, 0 to 1."""
    target, spot = canonical(wanted), canonical(place)
    if target == spot:
        return 1.0
    homes = _homes(target)
    if spot in homes:
        return 0.8
    mentioned = _mentioned(wanted, place)
    if mentioned:
        return 0.7
    if spot == "settings" and (homes & set(_SETTING_PAGES) or not homes):
        return 0.5 if homes else 0.3
    if set(content(place)) & _CONTAINERS:
        return 0.2
    return 0.0


def _homes(target: str) -> frozenset[str]:
    if target in _KNOWN.places:
        return _KNOWN.places[target]
    found: set[str] = set()
    for word in content(target):
        found |= _KNOWN.places.get(_KNOWN.canonical.get(word, word), frozenset())
    return frozenset(found)


def _mentioned(wanted: str, text: str) -> bool:
    """Tell whether a longer text names what is wanted."""
    words = content(canonical(wanted))
    return bool(words) and coverage(words, tokens(text)) == 1.0


def is_setting(name: str) -> bool:
    """Tell whether a name is one of the switches and pages of settings."""
    return bool(_homes(canonical(name)) & set(_SETTING_PAGES))
