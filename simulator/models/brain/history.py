"""What a brain finds in the messages: the goal, its own earlier acts, the person's answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
import json
import re

from .acts import Act, Verb, parse_sentence
from .goals import Wish, parse_goal
from .thoughts import Message
from .tools import verb_of

_LABEL = re.compile(
    r"^\s*\[(?P<label>[A-Z0-9 _-]{1,40})\]:?\s*(?P<rest>.*)$", re.DOTALL
)
_GOAL_LABEL = re.compile(r"TASK|GOAL|INSTRUCTION|REQUEST")
_STEERING = re.compile(r"STEER|UPDATE|REPLACE|REVISION")
_INTERRUPT = "Interrupt ["
_ANSWER_LABEL = re.compile(r"ANSWER|RESPONSE|USER|PERSON|REPLY")
_GOAL_LEAD = re.compile(
    r"^\s*(?:the )?(?:person(?:'s)?|user(?:'s)?)?\s*(?:new |complete |replacement |updated )*"
    r"(?:goal|task|request|instruction)s?\s*(?:is|from the person)?\s*(?:now)?\s*:\s*",
    re.IGNORECASE,
)
_DONE = "Done:"
_NOT_SENT = "nothing was sent"


@dataclass(slots=True, kw_only=True)
class Step:
    """One act of the past."""

    act: Act
    result: str = ""
    """What the tool answered."""
    answer: str = ""
    """For ASK: what the person said afterwards."""


@dataclass(slots=True, kw_only=True)
class History:
    """The past, as far as it matters for the next act."""

    goal: str = ""
    wish: Wish | None = None
    """The first wish that is not done."""
    remaining: int = 0
    """Wishes after that one."""
    done: list[str] = field(default_factory=list)
    """What was said about wishes that are done."""
    steps: list[Step] = field(default_factory=list)
    """Acts for this wish, oldest first."""
    picture: bytes | None = None
    """The newest picture, unless something was done since."""
    notices: list[str] = field(default_factory=list)
    """Notices of the runtime since the last act."""
    total_acts: int = 0

    @property
    def last(self) -> Step | None:
        """Return the last act for this wish."""
        return self.steps[-1] if self.steps else None

    def count(self, verb: Verb, *, label: str | None = None) -> int:
        """Return how often something was done for this wish."""
        return sum(
            step.act.verb is verb and label in (None, step.act.label)
            for step in self.steps
        )


def read_history(messages: Sequence[Message]) -> History:
    """Return what the messages tell."""
    history = History()
    pending: list[Step] = []
    by_call: dict[str, Step] = {}
    for message in messages:
        match message.role:
            case "assistant":
                history.notices.clear()
                pending = _past_acts(message, by_call)
                _note_done(history, message.text)
                history.steps += pending
                history.total_acts += len(pending)
                if any(_changes(step) for step in pending):
                    history.picture = None
            case "tool":
                if step := by_call.get(message.call_id):
                    step.result = message.text
                    # What never reached the phone is no try that failed.
                    if _NOT_SENT in message.text and step in history.steps:
                        history.steps.remove(step)
                if message.images:
                    history.picture = message.images[-1]
            case "user":
                _hear(history, message)
    wishes = parse_goal(history.goal) if history.goal else []
    index = min(len(history.done), max(0, len(wishes) - 1))
    if wishes:
        history.wish = wishes[index]
        history.remaining = len(wishes) - index - 1
    return history


def _past_acts(message: Message, by_call: dict[str, Step]) -> list[Step]:
    """Return the acts of one of our own messages."""
    steps: list[Step] = []
    for call in message.calls:
        verb = verb_of(call.name, call.arguments)
        if verb is None:
            continue
        texts = [message.text, *(str(v) for v in call.arguments.values())]
        told = next((act for text in texts if (act := parse_sentence(text))), None)
        if told is None or _rough(told.verb) is not _rough(verb):
            label = next((v for v in call.arguments.values() if isinstance(v, str)), "")
            told = Act(verb=verb, label=label)
        step = Step(act=told)
        by_call[call.call_id] = step
        steps.append(step)
    return steps


def _rough(verb: Verb) -> Verb:
    taps = (Verb.TAP, Verb.FLIP, Verb.FOCUS, Verb.SUBMIT)
    return Verb.TAP if verb in taps else verb


def _note_done(history: History, text: str) -> None:
    """Take a wish as done where our own sentence says so; later acts are for the next one."""
    for line in text.splitlines():
        if line.startswith(_DONE):
            history.done.append(line.removeprefix(_DONE).strip())
            history.steps.clear()


def said_done(sentence: str) -> str:
    """Return the line that marks a wish as done."""
    return f"{_DONE} {sentence}"


def _changes(step: Step) -> bool:
    return step.act.verb not in (Verb.LOOK, Verb.ASK, Verb.FINISH)


def _hear(history: History, message: Message) -> None:
    """Sort out what a user message holds: a picture, a goal, an answer, a notice."""
    if message.images:
        history.picture = message.images[-1]
    for paragraph in re.split(r"\n(?=\s*\[)", message.text):
        found = _LABEL.match(paragraph)
        label = found["label"] if found else ""
        text = (found["rest"] if found else paragraph).strip()
        waiting = (
            history.last if history.last and history.last.act.verb is Verb.ASK else None
        )
        if label and _ANSWER_LABEL.search(label) and waiting:
            waiting.answer = f"{waiting.answer} {_unquoted(text)}".strip()
        elif label and not _GOAL_LABEL.search(label) and not _STEERING.search(label):
            history.notices.append(text)
            if _INTERRUPT in text and waiting is None:
                # Whoever cut it off may have changed the screen: nothing was tried yet.
                history.steps.clear()
        elif (
            waiting
            and not (label and _STEERING.search(label))
            and not _GOAL_LEAD.match(text)
        ):
            waiting.answer = f"{waiting.answer} {text}".strip()
        else:
            _take_goal(history, text, labelled=bool(label))


def _unquoted(text: str) -> str:
    """Return what a JSON string says; any other text as it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def _take_goal(history: History, text: str, *, labelled: bool) -> None:
    """Take a goal: labelled, led in by "Goal:", or else the first thing the person said."""
    goal = " ".join(text.split())
    if not labelled:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        led = next((i for i, line in enumerate(lines) if _GOAL_LEAD.match(line)), None)
        if led is not None:
            goal = _GOAL_LEAD.sub("", lines[led]) or " ".join(lines[led + 1 : led + 2])
        elif history.goal or not lines:
            return
        else:
            goal = lines[0]
    if goal and goal != history.goal:
        history.goal = goal
        history.done.clear()
        history.steps.clear()
