"""From a goal in plain words to wishes: what must be so in the end."""

from dataclasses import dataclass
from enum import StrEnum
import re

_NUMBERS = {
    word: number
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
}
_POLITE = re.compile(
    r"^(?:(?:hey|hi|hello|okay|ok|now|then|and|also|just|first|finally|next)\b[,! ]*|please[, ]+|"
    r"(?:can|could|would|will) you (?:please )?|i (?:want|need|would like|'d like) (?:you )?to |"
    r"go and |let's |let us |make sure (?:that )?(?:you )?)+",
    re.IGNORECASE,
)
_ON, _OFF = (
    frozenset(["on", "enable", "enabled", "activate", "activated"]),
    frozenset(["off", "disable", "disabled", "deactivate", "deactivated"]),
)


class WishKind(StrEnum):
    """Kinds of things that a person wants from a phone."""

    SWITCH = "switch"
    READ = "read"
    OPEN = "open"
    MESSAGE = "message"
    NOTE = "note"
    ALARM = "alarm"
    FIND = "find"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One thing that is wanted."""

    kind: WishKind
    words: str
    """As the goal says it."""
    target: str = ""
    """What it is about, by name."""
    on: bool | None = None
    """For SWITCH; None is the other way round than now."""
    person: str = ""
    text: str = ""
    time: str = ""
    """``HH:MM``."""


def parse_goal(goal: str) -> list[Wish]:
    """Return the wishes of a goal, in order; never empty."""
    return [parse_wish(part) for part in _parts(goal)]


def parse_wish(words: str) -> Wish:
    """Return the one wish that some words hold."""
    said = _POLITE.sub("", words.strip()).strip().rstrip(".!?").strip()
    said = re.sub(
        r"\s+(?:on|in|from) (?:my|the|this|your) (?:phone|device|mobile)$", "", said
    )
    for reader in (_alarm, _message, _note, _read, _switch, _open):
        if wish := reader(said):
            return wish
    target = re.sub(
        r"^(?:find|look for|search for|show me|show) ", "", said, flags=re.IGNORECASE
    )
    return Wish(kind=WishKind.FIND, words=said, target=_name(target))


def parse_time(text: str) -> str | None:
    """Return ``HH:MM`` of the first time of day in a text: 7:30, 7.30 pm, 7 am, seven."""
    found = re.search(r"\b(\d{1,2})[:.h](\d{2})\s*([ap])?\.?m?\b", text, re.IGNORECASE)
    if found is None:
        found = re.search(
            r"\b(\d{1,2})()\s*(?:o'?clock|([ap])\.?m)\b", text, re.IGNORECASE
        )
    if found is None:
        found = re.search(r"\b(?:at|for|to)\s+(\d{1,2})()()\b", text, re.IGNORECASE)
    if found is not None:
        return _clock(int(found[1]), int(found[2] or 0), (found[3] or "").lower())
    half = re.search(r"\bhalf past (\w+)", text, re.IGNORECASE)
    word = half or re.search(r"\b(?:at|for) (\w+)\b", text, re.IGNORECASE)
    if word and word[1].lower() in _NUMBERS:
        return _clock(_NUMBERS[word[1].lower()], 30 if half else 0, "")
    return None


def _clock(hour: int, minute: int, half: str) -> str | None:
    if half == "p" and hour < 12:
        hour += 12
    if half == "a" and hour == 12:
        hour = 0
    return f"{hour:02}:{minute:02}" if hour < 24 and minute < 60 else None


def _parts(goal: str) -> list[str]:
    """Split at "and then", and at "and" before another verb; never inside quotes."""
    hidden: list[str] = []

    def hide(found: re.Match[str]) -> str:
        hidden.append(found[0])
        return f"\x00{len(hidden) - 1}\x00"

    text = re.sub(r'"[^"]*"|“[^”]*”', hide, goal)
    if not re.search(r"\b(?:saying|that says|tell|text|write)\b", text, re.IGNORECASE):
        text = re.sub(
            r"\s*(?:,|;|\.)?\s+(?:and then|then|and after that|after that|and)\s+"
            r"(?=(?:turn|switch|open|set|send|write|enable|disable|check|go|add|create|start|launch)\b)",
            "\x01",
            text,
            flags=re.IGNORECASE,
        )
    parts = [
        re.sub("\x00(\\d+)\x00", lambda m: hidden[int(m[1])], part).strip()
        for part in text.split("\x01")
    ]
    return [part for part in parts if part] or [goal]


def _alarm(said: str) -> Wish | None:
    if not re.match(
        r"(?:set|add|create|make|new|schedule)\b.*\balarm\b|wake me\b",
        said,
        re.IGNORECASE,
    ):
        return None
    time = parse_time(said)
    if time is None:
        return None
    return Wish(kind=WishKind.ALARM, words=said, target="alarms", time=time)


_MESSAGE = [
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        (
            r"(?:send|write)\s+(?:a |an |the )?(?:text |sms |short )?(?:message|text|sms)\s+to\s+(?P<who>[\w' -]+?)\s*"
            r"(?:[:,]|saying|that says|which says|with the text|that|telling (?:him|her|them))\s*(?:that\s+)?(?P<text>.+)"
        ),
        (
            r"(?:send|write)\s+(?P<who>[\w'-]+)\s+(?:a |an )?(?:text |sms )?(?:message|text|sms)\s*"
            r"(?:[:,]|saying|that says|that)\s*(?:that\s+)?(?P<text>.+)"
        ),
        r"(?:send|write|text)\s+(?P<text>[\"“'].+?[\"”'])\s+to\s+(?P<who>[\w' -]+)",
        r"(?:text|message|tell)\s+(?P<who>[\w'-]+)[:,]?\s+(?:saying\s+|that\s+)?(?P<text>.+)",
        r"send\s+(?P<text>.+?)\s+to\s+(?P<who>[\w' -]+)",
    )
]
_NOTE = [
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        (
            r"(?:write|create|add|make|take|save|leave)\s+(?:a |an )?(?:new |short |quick )?(?:note|memo)\b\s*"
            r"(?:[:,]|saying|that says|which says|with the text|with|that|about|in notes)?\s*(?P<text>.+)"
        ),
        r"(?:write|put|add|type)\s+(?P<text>[\"“'].+?[\"”'])\s+(?:in|into|to)\s+(?:my |the |a )?(?:notes?|memos?|notepad).*",
        r"(?:write|jot|note) down\s*(?:[:,]|that)?\s*(?P<text>.+)",
        r"note(?: that|:)\s*(?P<text>.+)",
    )
]


def _message(said: str) -> Wish | None:
    for pattern in _MESSAGE:
        if found := pattern.fullmatch(said):
            return Wish(
                kind=WishKind.MESSAGE,
                words=said,
                target="messages",
                person=found["who"].strip(),
                text=_unquoted(found["text"]),
            )
    return None


def _note(said: str) -> Wish | None:
    for pattern in _NOTE:
        if found := pattern.fullmatch(said):
            text = _unquoted(found["text"])
            return Wish(kind=WishKind.NOTE, words=said, target="notes", text=text)
    return None


def _read(said: str) -> Wish | None:
    found = re.fullmatch(
        r"(?:check|see|look|find out|tell me|verify)\s+(?:if|whether)\s+(?P<what>.+?)\s+(?:is|are)\b.*|"
        r"(?:is|are)\s+(?P<that>.+?)\s+(?:switched |turned )?(?:on|off|enabled|disabled|active)(?: or off)?",
        said,
        re.IGNORECASE,
    )
    if found is None:
        return None
    return Wish(
        kind=WishKind.READ, words=said, target=_name(found["what"] or found["that"])
    )


_SWITCH = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:turn|switch|put|set|flip|toggle)\s+(?P<way>on|off)\s+(?P<what>.+)",
        r"(?:turn|switch|put|set|flip)\s+(?P<what>.+?)\s+(?:to\s+)?(?P<way>on|off)(?:\s+(?:again|now))?",
        r"(?P<way>enable|disable|activate|deactivate)\s+(?P<what>.+)",
        r"(?P<what>.+?)\s+(?:is|are|should be|must be)\s+(?:switched |turned )?(?P<way>on|off|enabled|disabled)",
        r"(?P<what>[\w' -]+?)\s+(?P<way>on|off)",
    )
]
_INTO = re.compile(
    r"(?:put|set|switch|turn|change|go)\s+(?:(?:my|the|this)\s+\w+\s+)?(?:in|into|to)\s+(?P<what>.+ (?:mode|theme))",
    re.IGNORECASE,
)


def _switch(said: str) -> Wish | None:
    for pattern in _SWITCH:
        if found := pattern.fullmatch(said):
            way = found["way"].lower()
            return _switching(said, found["what"], on=way in _ON)
    if found := _INTO.fullmatch(said):
        return _switching(said, found["what"], on=True)
    if found := re.fullmatch(r"(?:toggle|flip)\s+(?P<what>.+)", said, re.IGNORECASE):
        return _switching(said, found["what"], on=None)
    return None


def _switching(said: str, what: str, *, on: bool | None) -> Wish:
    time = parse_time(what) if "alarm" in what.lower() else None
    return Wish(
        kind=WishKind.SWITCH,
        words=said,
        target=time or _name(what),
        on=on,
        time=time or "",
    )


def _open(said: str) -> Wish | None:
    found = re.fullmatch(
        r"(?:open|launch|start|run|go to|bring up|show|show me|take me to|navigate to)\s+(?P<what>.+)",
        said,
        re.IGNORECASE,
    )
    return found and Wish(kind=WishKind.OPEN, words=said, target=_name(found["what"]))


def _name(text: str) -> str:
    """Strip articles and what surrounds a name."""
    text = _unquoted(text.strip())
    text = re.sub(
        r"^(?:the|my|our|your|a|an|this|its)\s+", "", text, flags=re.IGNORECASE
    )
    text = re.sub(
        r"\s+(?:on|in|from|of)\s+(?:the|my|this|your)\s+(?:phone|device|mobile|android|screen|settings?)$",
        "",
        text,
        flags=re.IGNORECASE,
    )
    text = re.sub(
        r"\s+(?:app|application|page|screen|setting|please|now|again)$",
        "",
        text,
        flags=re.IGNORECASE,
    )
    return text.strip()


def _unquoted(text: str) -> str:
    return text.strip().strip("\"“”'").strip()
