"""What can stand in the way on any phone: black, lock, permissions, dialogs."""

import re

from .acts import Act, Verb
from .goals import WishKind
from .history import Step
from .screen import Line
from .situation import Situation
from .words import normalise, same_text

_ALLOW = (
    "allow",
    "allow access",
    "allow all",
    "while using the app",
    "only this time",
    "grant",
    "ok",
)
_DENY = ("don't allow", "dont allow", "deny", "not now", "refuse", "don’t allow")
_AGREE = (
    "ok",
    "turn on",
    "turn off",
    "confirm",
    "continue",
    "yes",
    "enable",
    "disable",
    "got it",
)
_DECLINE = ("cancel", "not now", "no thanks", "later", "skip", "dismiss", "no", "close")
_DANGER = re.compile(
    r"\b(delete|erase|reset|pay|buy|purchase|send|call|uninstall|remove)\b"
)
_YES = re.compile(
    r"\b(yes|allow|allowed|grant|sure|ok|okay|agree|go ahead|fine|do it)\b"
)
_NO = re.compile(r"\b(no|not|don'?t|deny|refuse|refused|never|cancel|stop)\b")
_MAX_ASKED = 2


def obstacle(now: Situation) -> Act | None:
    """Return what to do about something in the way; None if the way is free."""
    for look in (_black, _locked, _permission, _dialog):
        if act := look(now):
            return act
    return None


def _black(now: Situation) -> Act | None:
    if not now.screen.black:
        return None
    if now.history.count(Verb.WAIT) == 0 and now.history.count(Verb.ASK) == 0:
        return Act(verb=Verb.WAIT, why="The picture is all black; I look again.")
    return _ask(
        now,
        "black_screen",
        "The picture is all black, so I cannot see the screen: it is protected or switched off.",
        "Bring the phone to a screen that may be shown, then say that it is done.",
    )


def _locked(now: Situation) -> Act | None:
    screen = now.screen
    pad = screen.says(
        r"\b(enter|wrong|incorrect|type)\b.*\b(pin|password|passcode|pattern)\b|^draw (your )?pattern"
    )
    lock = screen.says(
        r"swipe up to (unlock|open)|\b(phone|screen|device) (is )?locked\b|^locked$"
    )
    if not pad and not lock:
        return None
    if (
        lock
        and not pad
        and now.history.count(Verb.SCROLL_DOWN) == 0
        and screen.says("swipe up")
    ):
        return now.act(Verb.SCROLL_DOWN, why="The phone is locked; I swipe up.")
    return _ask(
        now,
        "authentication",
        "The phone is locked and wants its PIN, password or finger.",
        "Unlock the phone, then say that it is done.",
    )


def _permission(now: Situation) -> Act | None:
    screen = now.screen
    question = next(
        (x for x in screen.lines if re.match(r"(allow|let)\b.{3,}", normalise(x.text))),
        None,
    )
    allow, deny = _button(now, _ALLOW), _button(now, _DENY)
    if (
        question is None
        or allow is None
        or deny is None
        or same_text(question.text, allow.text)
    ):
        return None
    asked = _just_asked(now)
    if asked and (said := normalise(asked.answer)):
        if _NO.search(said):
            return _press(now, deny, "The person does not want that.")
        if _YES.search(said):
            return _press(now, allow, "The person allowed it.")
    if re.search(r"\b(allow|permission|grant|access)\b", normalise(now.history.goal)):
        return _press(now, allow, "The goal says to allow it.")
    return _ask(
        now,
        "sensitive_operation",
        f"The phone asks for a permission: “{_whole(now, question)}”",
        "Choose on the phone whether to allow it, or tell me to allow or deny it.",
    )


def _whole(now: Situation, question: Line) -> str:
    """Return a question with the lines that go on with it."""
    lines = [x for x in now.screen.body if x.box.top >= question.box.top]
    end = next((i for i, x in enumerate(lines) if x.text.rstrip().endswith("?")), 0)
    return " ".join(x.text for x in lines[: end + 1])


def _dialog(now: Situation) -> Act | None:
    """Answer a small sheet with two buttons side by side or one above the other."""
    agree, decline = _button(now, _AGREE), _button(now, _DECLINE)
    if agree is None or decline is None or len(now.screen.body) > 9:
        return None
    text = " ".join(normalise(line.text) for line in now.screen.body)
    wish = now.history.wish
    ours = now.last is not None and now.last.verb in (Verb.FLIP, Verb.SUBMIT)
    if wish is None or _DANGER.search(text) or not ours:
        return _press(now, decline, "I did not ask for that.")
    if wish.kind is WishKind.SWITCH:
        return _press(now, agree, "It asks to confirm what I want.")
    return None


def _button(now: Situation, names: tuple[str, ...]) -> Line | None:
    for name in names:
        for line in now.screen.body:
            if (
                same_text(line.text, name)
                and normalise(line.text)[:3] == normalise(name)[:3]
            ):
                return line
    return None


def _press(now: Situation, line: Line, why: str) -> Act:
    return Act(
        verb=Verb.TAP,
        screen=now.title,
        label=line.text,
        x=line.box.x,
        y=line.box.y,
        why=why,
    )


def _just_asked(now: Situation) -> Step | None:
    """Return the question that was the last thing done, if it was answered."""
    for step in reversed(now.history.steps):
        if step.act.verb is Verb.ASK:
            return step if step.answer else None
        if step.act.verb not in (Verb.LOOK, Verb.WAIT):
            return None
    return None


def _ask(now: Situation, reason: str, why: str, suggestion: str) -> Act:
    asked = [step for step in now.history.steps if step.act.verb is Verb.ASK]
    if (
        asked
        and _NO.search(normalise(asked[-1].answer))
        and not _YES.search(normalise(asked[-1].answer))
    ):
        return now.finish(
            "not_achieved", f"The person does not want to help here. {why}"
        )
    if len(asked) >= _MAX_ASKED:
        return now.finish(
            "not_achieved", f"I asked {len(asked)} times and still: {why}"
        )
    return now.ask(reason, why, suggestion)
