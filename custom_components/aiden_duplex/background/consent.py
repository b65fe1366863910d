"""Acts that count: what was asked for, and whether this is it again. No I/O."""

from dataclasses import dataclass
import hashlib
import json

from ..phone.types import Key
from ..tasks.model import ConsentRequest
from . import screens, tools
from .guard import COORDINATES
from .tools import Command

NEARBY = 15
"""Points closer than this (of 1000) on both axes are the same target."""
QUESTIONS = 3
"""Questions in a row that led to no act; with the next one the task ends. Our choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """An act that the person was asked about, and the screen on which."""

    command: Command
    screen: screens.Fingerprint
    """Close: another amount or another name must not pass for what was agreed to."""

    @property
    def request(self) -> ConsentRequest:
        """Return what the person agrees to, to the letter."""
        digest = hashlib.sha256(self.screen.tobytes()).hexdigest()
        return ConsentRequest(act=canonical(self.command), screen=digest)

    def covers(self, command: Command, jpeg: bytes) -> bool:
        """Return whether a command is this one again, on what the person was asked about."""
        seen = screens.fingerprint(jpeg, close=True)
        return (
            seen is not None
            and self._is_act(command)
            and screens.same_to_the_letter(self.screen, seen)
        )

    def _is_act(self, command: Command) -> bool:
        """Return whether a command does the same, give or take a finger's width."""
        mine, others = self.command.action.arguments, command.action.arguments
        if self.command.name != command.name or mine.keys() != others.keys():
            return False
        return all(
            abs(mine[name] - others[name]) <= NEARBY
            if name in COORDINATES
            else mine[name] == others[name]
            for name in mine
        )


@dataclass(slots=True)
class Commitments:
    """What a task has asked for; lives as long as its conversation."""

    proposal: Proposal | None = None
    questions: int = 0
    """Asked since the last act that was agreed to."""

    @property
    def may_ask(self) -> bool:
        """Return whether the person may be asked once more."""
        return self.questions < QUESTIONS

    def propose(self, command: Command, screen: screens.Fingerprint) -> ConsentRequest:
        """Return what to ask the person."""
        self.questions += 1
        self.proposal = Proposal(command=command, screen=screen)
        return self.proposal.request

    def settle(self) -> None:
        """Forget what was asked for: it is being done now, or the goal is another one."""
        self.proposal = None
        self.questions = 0


def canonical(command: Command) -> str:
    """Return an act in its one form."""
    arguments = command.action.arguments
    return f"{command.name} {json.dumps(dict(arguments), sort_keys=True)}"


def in_words(command: Command) -> str:
    """Return an act for the person who is asked."""
    given = command.arguments
    match command.name:
        case tools.TAP:
            return f"tap at {_place(given['x'], given['y'])}"
        case tools.LONG_PRESS:
            return f"press and hold at {_place(given['x'], given['y'])}"
        case tools.SWIPE:
            start, end = (
                _place(given["x1"], given["y1"]),
                _place(given["x2"], given["y2"]),
            )
            return f"swipe from {start} to {end}"
        case tools.TYPE_TEXT:
            text = json.dumps(given["text"], ensure_ascii=False)
            return f"type {text}{' and press Enter' if given.get('submit') else ''}"
        case _:
            return f"press the key {Key(given['key'])}"


def _place(x: float, y: float) -> str:
    """Return a point of the picture in percent."""
    return f"{x / 10:.0f} % from the left, {y / 10:.0f} % from the top"
