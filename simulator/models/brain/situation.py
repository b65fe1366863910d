"""One moment of the work on a phone: the picture, the past, and what was tried here."""

from dataclasses import dataclass

from .acts import Act, Verb
from .history import History
from .screen import Row, Screen
from .thesaurus import canonical
from .words import same_text

_STAYING = (Verb.SCROLL_DOWN, Verb.SCROLL_UP, Verb.WAIT, Verb.LOOK)
"""Acts that leave one on the same screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What an act is decided on."""

    screen: Screen
    history: History

    @property
    def title(self) -> str:
        """Return the screen's title as our sentences name it."""
        return self.screen.title

    @property
    def last(self) -> Act | None:
        """Return our last act for this wish."""
        step = self.history.last
        return step.act if step else None

    def act(self, verb: Verb, *, label: str = "", why: str = "") -> Act:
        """Return an act on this screen that needs no place."""
        return Act(verb=verb, screen=self.title, label=label, why=why)

    def ask(self, reason: str, why: str, suggestion: str) -> Act:
        """Return a question to the person."""
        return Act(
            verb=Verb.ASK,
            screen=self.title,
            reason=reason,
            why=why,
            suggestion=suggestion,
        )

    def finish(self, outcome: str, why: str, evidence: str = "") -> Act:
        """Return the end of the work."""
        return Act(
            verb=Verb.FINISH,
            screen=self.title,
            label=evidence,
            outcome=outcome,
            why=why,
        )

    def tap(self, row: Row, verb: Verb = Verb.TAP, why: str = "") -> Act:
        """Return a tap on a row's name."""
        return Act(
            verb=verb,
            screen=self.title,
            label=row.name,
            x=row.box.x,
            y=row.box.y,
            why=why,
        )

    def tried(self, label: str) -> bool:
        """Tell whether something was tapped on this screen before, for this wish."""
        return any(
            step.act.verb in (Verb.TAP, Verb.FLIP)
            and same_text(step.act.label, label)
            and same_text(step.act.screen, self.title)
            for step in self.history.steps
        )

    def scrolls(self, verb: Verb) -> list[Act]:
        """Return the scrolls of one kind since this screen was entered."""
        found: list[Act] = []
        for step in reversed(self.history.steps):
            if step.act.verb not in _STAYING:
                break
            if step.act.verb is verb:
                found.append(step.act)
        return found[::-1]

    def at_end(self) -> bool:
        """Tell whether scrolling down has come to its end: it showed nothing new."""
        scrolls = self.scrolls(Verb.SCROLL_DOWN)
        return bool(scrolls) and (
            same_text(scrolls[-1].label, self.last_name)
            or (len(scrolls) > 1 and same_text(scrolls[-1].label, scrolls[-2].label))
        )

    @property
    def last_name(self) -> str:
        """Return the lowest name on the screen."""
        names = [row.name for row in self.screen.rows if is_name(row.name)]
        return names[-1] if names else ""


def is_name(text: str) -> bool:
    """Tell whether a line can be the name of something: short, with letters or a time."""
    letters = sum(c.isalpha() for c in text)
    digits = sum(c.isdigit() for c in text)
    words = text.split()
    if len(words) > 6 or (": " in text and digits < 3):
        return False
    return letters >= 4 or digits >= 3 or canonical(text) in ("nfc", "vpn", "wifi")
