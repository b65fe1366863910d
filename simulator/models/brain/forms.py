"""Writing something: a message, a note, an alarm; by the words on fields and buttons."""

from dataclasses import dataclass, replace
import re

from .acts import Act, Verb
from .goals import Wish, WishKind
from .screen import Line, Row
from .seeking import seek
from .situation import Situation
from .thesaurus import canonical
from .words import coverage, normalise, same_text, tokens

_EMPTY = "empty space"
_SUBMIT = ("send", "save", "done", "ok", "set", "keep", "add")
_CREATE = re.compile(
    r"^(new|add|create|start|compose|write)\b.*\b(message|chat|note|memo|alarm|conversation|text)s?\b|^compose$|^new$|^\+$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    hint: re.Pattern[str]
    value: str


def write(now: Situation, wish: Wish) -> Act:
    """Return the next act for a wish that is written into fields."""
    if end := _proof(now, wish):
        return end
    submit = _submit(now)
    if submit is not None:
        return _fill(now, wish, submit)
    if wish.person and (row := _row_of(now, wish.person)):
        return now.tap(row, why=f"That is {wish.person}.")
    create = _create(now)
    if (
        create is not None
        and _in_app(now, wish)
        and now.history.count(Verb.SUBMIT) == 0
    ):
        return _at(now, create, Verb.TAP, "I begin a new one.")
    if _in_app(now, wish) and _field_line(now, _fields(wish)) is not None:
        return _fill(now, wish, None)
    return seek(now, wish.target)


def _in_app(now: Situation, wish: Wish) -> bool:
    """Tell whether the app for it is open, by its title or by how we came here."""
    opened = [s.act for s in now.history.steps if s.act.verb is Verb.TAP]
    return now.title != "home" and (
        canonical(now.title) == wish.target
        or any(canonical(act.label) == wish.target for act in opened)
    )


def _proof(now: Situation, wish: Wish) -> Act | None:
    """Finish when the screen shows what was wanted, or that it did not work."""
    wanted = wish.time or wish.text
    shown = _shown(now, wanted)
    sent = now.last is not None and now.last.verb is Verb.SUBMIT
    done = now.history.count(Verb.SUBMIT) > 0
    if (
        shown
        and (done or _is_ready(now, wish, shown))
        and not (sent and _submit(now) and wish.time)
    ):
        return now.finish("achieved", _told(wish), f"“{shown.text}” on “{now.title}”")
    if sent and not shown:
        return Act(
            verb=Verb.WAIT, screen=now.title, why="I look whether it has worked."
        )
    if done and now.history.count(Verb.WAIT) > 0:
        return now.finish(
            "unknown", f"I tapped the button, but I do not see “{wanted}”."
        )
    return None


def _is_ready(now: Situation, wish: Wish, shown: Line) -> bool:
    """Tell whether an alarm at that time was there already, and is on."""
    if wish.kind is not WishKind.ALARM or _submit(now) is not None:
        return False
    row = next((r for r in now.screen.rows if r.name == shown.text), None)
    return row is not None and row.state is True


def _told(wish: Wish) -> str:
    match wish.kind:
        case WishKind.MESSAGE:
            return f"The message to {wish.person} was sent: “{wish.text}”"
        case WishKind.NOTE:
            return f"The note was saved: “{wish.text}”"
    return f"There is an alarm at {wish.time}."


def _fields(wish: Wish) -> list[_Field]:
    match wish.kind:
        case WishKind.MESSAGE:
            return [
                _Field(
                    hint=re.compile(r"^(to|recipient|name|send to|who)\b.{0,20}$"),
                    value=wish.person,
                ),
                _Field(
                    hint=re.compile(
                        r"^(your |text |write |type |enter )?(a )?(message|reply|text|answer)\b.{0,12}$"
                    ),
                    value=wish.text,
                ),
            ]
        case WishKind.NOTE:
            hint = r"^(write|type|start|enter|your)\b.{0,30}$|^(note|text|content)$"
            return [_Field(hint=re.compile(hint), value=wish.text)]
    return [
        _Field(
            hint=re.compile(r"^(time|hours?|minutes?|hh.?mm)\b.{0,25}$"),
            value=wish.time,
        )
    ]


def _fill(now: Situation, wish: Wish, submit: Line | None) -> Act:
    """Fill the next field that is still empty, then submit."""
    typed = [s.act.label for s in now.history.steps if s.act.verb is Verb.TYPE]
    focused = (
        now.last.label if now.last is not None and now.last.verb is Verb.FOCUS else ""
    )
    for field in _fields(wish):
        if any(same_text(field.value, text) for text in typed):
            continue
        if field.value == wish.person and same_text(now.title, wish.person):
            continue  # A conversation that is open already has no field for the name.
        if focused and (focused == _EMPTY or field.hint.match(normalise(focused))):
            return now.act(Verb.TYPE, label=field.value)
        line = _field_line(now, [field])
        if line is not None:
            return _at(now, line, Verb.FOCUS, "I write there.")
        if _shown(now, field.value):
            continue  # It was filled in before we came, as after a restart.
        if field.value == wish.person:
            return now.act(
                Verb.BACK, why=f"This is not the conversation with {wish.person}."
            )
        if now.history.count(Verb.FOCUS) < 3:
            return Act(
                verb=Verb.FOCUS,
                screen=now.title,
                label=_EMPTY,
                x=500,
                y=300,
                why="I write there.",
            )
        return now.finish("not_achieved", "I do not find where to write.")
    if not _shown(now, wish.time or wish.text) and now.history.count(Verb.WAIT) < 1:
        return Act(
            verb=Verb.WAIT, screen=now.title, why="I look whether the text is there."
        )
    if submit is None:
        return now.finish(
            "not_achieved", "I wrote it but find no button to send or save it."
        )
    if now.history.count(Verb.SUBMIT) > 1:
        return now.finish("not_achieved", f"“{submit.text}” does nothing.")
    act = _at(now, submit, Verb.SUBMIT, "Everything is filled in.")
    return replace(act, effect=_effect(wish))


def _effect(wish: Wish) -> str:
    """Return what submitting does that cannot be undone; empty if it only saves."""
    if wish.kind is not WishKind.MESSAGE:
        return ""
    return f"Send “{wish.text}” to {wish.person}"


def _shown(now: Situation, text: str) -> Line | None:
    """Return a line that shows a text, or most of a long one's beginning."""
    wanted = tuple(word for word in tokens(text) if len(word) > 1)[:4] or tokens(text)
    for line in now.screen.body:
        words = tokens(line.text)
        if coverage(wanted, words) >= 0.75 and len(words) >= len(wanted):
            return line
    return None


def _field_line(now: Situation, fields: list[_Field]) -> Line | None:
    """Return the lowest line that is a field's hint: above it stands the field's name."""
    for field in fields:
        lines = [
            line
            for line in now.screen.body
            if field.hint.match(normalise(line.text)) and line.text != now.title
        ]
        if lines:
            return lines[-1]
    return None


def _create(now: Situation) -> Line | None:
    """Return the button that begins a new one; never the title of a page that does."""
    for line in now.screen.body:
        if _CREATE.match(normalise(line.text)) and line.text != now.title:
            return line
    return None


def _submit(now: Situation) -> Line | None:
    for name in _SUBMIT:
        for line in now.screen.body:
            if normalise(line.text) == name:
                return line
    return None


def _row_of(now: Situation, person: str) -> Row | None:
    for row in now.screen.rows:
        if same_text(row.name, person) and row.name != now.title:
            return row
    return None


def _at(now: Situation, line: Line, verb: Verb, why: str) -> Act:
    return Act(
        verb=verb,
        screen=now.title,
        label=line.text,
        x=line.box.x,
        y=line.box.y,
        why=why,
    )
