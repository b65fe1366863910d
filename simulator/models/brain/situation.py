"""One moment of the work on a phone: the picture, the past, and what was tried here."""

from dataclasses import dataclass

from .acts import Act, Verb
from .history import History
from .screen import Row, Screen
from .thesaurus import canonical
from .words import same_text


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

    def times(self, verb: Verb) -> int:
        """Return how often something was done on this screen, for this wish."""
        return sum(
            step.act.verb is verb and same_text(step.act.screen, self.title)
            for step in self.history.steps
        )

    @property
    def last_line(self) -> str:
        """Return the lowest name on the screen."""
        rows = [row for row in self.screen.rows if is_name(row.name)]
        return rows[-1].name if rows else ""

    def at_end(self, verb: Verb) -> bool:
        """Tell whether scrolling has come to its end: it showed nothing new."""
        scrolls = [
            step.act
            for step in self.history.steps
            if step.act.verb is verb and same_text(step.act.screen, self.title)
        ]
        if not scrolls or self.last is None or self.last.verb is not verb:
            return (
                bool(scrolls)
                and len(scrolls) >= 2
                and same_text(scrolls[-1].label, scrolls[-2].label)
            )
        return same_text(scrolls[-1].label, self.edge(verb))

    def edge(self, verb: Verb) -> str:
        """Return the name at the edge that scrolling moves: the lowest, or the highest."""
        names = [row.name for row in self.screen.rows if is_name(row.name)]
        if verb is Verb.SCROLL_DOWN:
            return names[-1] if names else ""
        return names[1] if len(names) > 1 else ""


def is_name(text: str) -> bool:
    """Tell whether a line can be the name of something: short, with letters or a time."""
    letters = sum(c.isalpha() for c in text)
    digits = sum(c.isdigit() for c in text)
    words = text.split()
    if len(words) > 6 or (": " in text and digits < 3):
        return False
    return letters >= 3 or digits >= 3 or canonical(text) in ("nfc", "vpn", "wifi")
