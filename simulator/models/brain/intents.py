"""What a person means, by simple rules of language."""

from enum import StrEnum
import re

from .goals import parse_goal
from .thesaurus import canonical
from .words import content, coverage, normalise


class Intent(StrEnum):
    """Kinds of things a person says to an assistant."""

    COMMAND = "command"
    CHANGE = "change"
    """Something else instead of what is being done."""
    STATUS = "status"
    CANCEL = "cancel"
    TAKE_OVER = "take_over"
    """They do a part on the phone themselves."""
    ANSWER = "answer"
    """To a question, or that something was done on the phone."""
    TIME = "time"
    FAREWELL = "farewell"
    TALK = "talk"
    NOISE = "noise"


_VERBS = [
    "turn",
    "switch",
    "open",
    "launch",
    "start",
    "send",
    "write",
    "text",
    "set",
    "enable",
    "disable",
    "activate",
    "deactivate",
    "play",
    "pause",
    "take",
    "call",
    "dial",
    "add",
    "create",
    "make",
    "delete",
    "remove",
    "check",
    "look",
    "find",
    "search",
    "show",
    "go",
    "scroll",
    "tap",
    "press",
    "type",
    "put",
    "wake",
    "toggle",
    "flip",
    "read",
    "mute",
    "unmute",
    "install",
    "update",
    "share",
    "copy",
    "save",
    "reply",
    "answer",
    "book",
    "order",
    "navigate",
    "record",
    "change",
    "adjust",
    "increase",
    "decrease",
    "raise",
    "lower",
    "close",
    "quit",
    "skip",
    "rotate",
    "lock",
    "unlock",
    "connect",
    "disconnect",
    "stop",
    "message",
    "remind",
    "schedule",
    "post",
    "jot",
    "note",
]
_NOISE = re.compile(
    r"^[\W_]*$|^\W*(thank you for watching|thanks for watching|subtitles? by .*|music|beeps?|silence|applause|"
    r"m+h?m*|hm+|uh+|um+|er+|ah+|oh)\W*$"
)
_FAREWELL = re.compile(
    r"\b(good ?bye|bye( bye)?|good ?night|see you( later| soon| tomorrow)?|stop listening|thats (all|it)( for now| thanks)?|"
    r"that is all|go to (sleep|standby)|hang up|end (the|this) conversation|talk to you later)\b"
)
_TIME = re.compile(
    r"\b(what time|whats the time|what is the time|tell me the time|current time|what (date|day) is|whats the date|"
    r"what is the date|what day|time is it)\b"
)
_STATUS = re.compile(
    r"\bwhat (are you|is it|are we) (doing|working on|up to)\b|\bstatus\b|\bprogress\b|\b(is|are) (it|that|you|the task) "
    r"(all )?(done|ready|finished|still|already done|on it)\b|\bhow (is|are|s) (it|that|the task|things) going\b|\bhow far\b|"
    r"\bdid (it|that) work\b|\bwhats (happening|going on)\b|\bwhat is (happening|going on)\b|\bstill working\b|\bhave you (done|finished)\b"
)
_CANCEL = re.compile(
    r"^(no |please |ok(ay)? |wait )*((stop|abort|cancel|never ?mind|forget)( (it|that|this|everything|all|now|please|working|doing|"
    r"what|you|youre|are|the|task|tasks|about|of|them|immediately|right))*|cancel\b.*|abort\b.*|dont do (it|that)|forget (it|that|about) .*)$"
)
_TAKE_OVER = re.compile(
    r"\b((i (will|want to|would like to|am going to)|ill|id like to|im going to|let me) (handle|do|take care of|finish) "
    r"(this|that|the|it)( (part|bit|one|step))?( myself)?|(ill|i will|let me) take (it )?over|i take over)$"
)
_DID = re.compile(
    r"^(ok(ay)?|yes|alright|so|right|there|well)*[, ]*(i (have |just )?(now )?(did|done|unlocked|entered|allowed|finished|chosen|chose|typed|"
    r"opened|pressed|denied|confirmed|tapped|logged|solved)|ive (\w+ )?\w+ed\b|ive done|i did|done|its (done|unlocked|open)|"
    r"it is (done|unlocked|open)|(im|i am) (done|finished|through)|finished|continue|go on|go ahead|ready|unlocked|all set|proceed|carry on)\b"
)
_YES_NO = re.compile(
    r"^(yes|yeah|yep|sure|no|nope|ok(ay)?|allow|deny|agreed|of course|please do|dont|do it|do not)\b"
)
_CHANGE = re.compile(
    r"^(no |wait |ok(ay)? )*(actually|instead|rather|change (it|that) to|i meant)\b|\binstead$"
)
_LEAD = re.compile(
    r"^(?:(?:hey|hi|hello|okay|ok|now|then|and|also|just|so|well|aiden|computer|actually|instead|wait|no|yes)\b[,!. ]*)*"
    r"(?:(?:please|kindly)[, ]+)?"
    r"(?:(?:can|could|would|will) you (?:please |kindly )?|i (?:want|need|would like) (?:you )?to |i'd like (?:you )?to |"
    r"(?:go and|let's|let us) )?(?:(?:please|kindly)[, ]+)?",
    re.IGNORECASE,
)


def read_intent(text: str, *, question_open: bool = False) -> Intent:
    """Return what a person means.

    Args:
        text: What they said or wrote.
        question_open: Whether something waits for their answer.

    """
    said = normalise(text)
    if _NOISE.match(said) or _NOISE.match(text.strip().casefold()):
        return Intent.NOISE
    if _FAREWELL.search(said) and _is_farewell(text, said):
        return Intent.FAREWELL
    if _CANCEL.match(said):
        return Intent.CANCEL
    if _TAKE_OVER.search(said):
        return Intent.TAKE_OVER
    if _DID.match(said):
        return Intent.ANSWER
    if _TIME.search(said):
        return Intent.TIME
    if _CHANGE.search(said):
        return Intent.CHANGE
    if _STATUS.search(said):
        return Intent.STATUS
    if question_open and _YES_NO.match(said):
        return Intent.ANSWER
    if goal_of(text):
        return Intent.COMMAND
    return Intent.ANSWER if question_open else Intent.TALK


def goal_of(text: str) -> str:
    """Return the command in what a person says, without politeness; empty if there is none."""
    sentences = [s for s in re.split(r"(?<=[.!?])\s+", text.strip()) if s]
    commands = [goal for sentence in sentences if (goal := _command(sentence))]
    if not commands:
        return ""
    goal = " ".join(commands)
    return goal[0].upper() + goal[1:]


def _command(sentence: str) -> str:
    lead = _LEAD.match(sentence)
    rest = sentence[lead.end() :].strip() if lead else sentence
    rest = re.sub(
        r"[,\s]*\b(please|thanks|thank you)\W*$", "", rest, flags=re.IGNORECASE
    )
    rest = rest.strip().rstrip("?.!").strip()
    words = normalise(rest).split()
    if not words:
        return ""
    if words[0] in _VERBS and len(words) > 1:
        return "" if words[:2] in (["tell", "me"], ["show", "up"]) else rest
    if words[0] == "tell" and len(words) > 2 and words[1] not in ("me", "us"):
        return rest
    if re.fullmatch(
        r"(is|are) (my |the )?.+ (on|off|enabled|disabled)( or off)?", " ".join(words)
    ):
        return f"Check whether {' '.join(rest.split()[1:-1])} is {rest.split()[-1]}"
    if (
        len(words) <= 5
        and words[-1] in ("on", "off")
        and words[0] not in ("what", "who", "how", "why")
    ):
        return rest
    polite = re.match(r"(please|kindly)\b", sentence.strip(), re.IGNORECASE)
    return rest if polite and len(words) > 1 else ""


def _is_farewell(text: str, said: str) -> bool:
    """Tell a farewell from talk about one."""
    about = re.search(
        r"\b(how|say|says|saying|what|write|send|mean|translate|tell|text)\b", said
    )
    return len(said.split()) <= 8 and about is None and "?" not in text


def same_goal(first: str, second: str) -> bool:
    """Tell whether two goals want the same."""
    one, two = parse_goal(first), parse_goal(second)
    if len(one) == len(two) and all(
        (a.kind, canonical(a.target), a.on, a.person.lower(), normalise(a.text), a.time)
        == (
            b.kind,
            canonical(b.target),
            b.on,
            b.person.lower(),
            normalise(b.text),
            b.time,
        )
        for a, b in zip(one, two, strict=True)
    ):
        return True
    mine, other = content(first), content(second)
    return coverage(mine, other) == 1.0 and coverage(other, mine) == 1.0
