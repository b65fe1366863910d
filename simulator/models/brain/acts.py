"""What the brain can decide to do with a phone, and how it says so.

Every decision is said in one sentence of a fixed form. A brain has no memory of its own:
it reads these sentences again in the history, as a model reads what it thought.
"""

from dataclasses import dataclass
from enum import StrEnum
import re


class Verb(StrEnum):
    """Kinds of acts."""

    LOOK = "look"
    TAP = "tap"
    FLIP = "flip"
    """A tap on a switch."""
    FOCUS = "focus"
    """A tap on a text field."""
    SUBMIT = "submit"
    """A tap that sends or saves."""
    SCROLL_DOWN = "scroll down"
    SCROLL_UP = "scroll up"
    TYPE = "type"
    BACK = "go back"
    HOME = "go home"
    WAIT = "wait"
    ASK = "ask"
    FINISH = "finish"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One decision."""

    verb: Verb
    screen: str = ""
    """Title of the screen on which it is done."""
    label: str = ""
    """What it is done to, as read on the screen; for TYPE the text."""
    x: float = 500.0
    y: float = 500.0
    why: str = ""
    reason: str = ""
    """For ASK: class of the reason."""
    outcome: str = ""
    """For FINISH: achieved, not_achieved or unknown."""
    suggestion: str = ""
    """For ASK: what the person should do."""
    effect: str = ""
    """What it does to others and cannot be undone, in words; empty for all other acts."""

    def sentence(self) -> str:
        """Return what the brain says about it."""
        label = f" “{_plain(self.label)}”" if self.label else ""
        why = f" {self.why}" if self.why else ""
        return f"On “{_plain(self.screen)}”: {self.verb}{label}.{why}"


_SENTENCE = re.compile(
    r"On “(?P<screen>[^”]*)”: (?P<verb>"
    + "|".join(sorted((re.escape(v) for v in Verb), key=len, reverse=True))
    + r")(?: “(?P<label>[^”]*)”)?\."
)


def parse_sentence(text: str) -> Act | None:
    """Return the act that a sentence of ours tells of."""
    found = _SENTENCE.search(text)
    if found is None:
        return None
    return Act(
        verb=Verb(found["verb"]), screen=found["screen"], label=found["label"] or ""
    )


def _plain(text: str) -> str:
    return text.replace("“", '"').replace("”", '"').replace("\n", " ")[:80]
