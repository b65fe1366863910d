"""The brain behind Realtime: it talks to the person and hands work over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
import json
import re
from typing import Any
import zoneinfo

from .hands import Hands, is_for
from .intents import Intent, goal_of, read_intent, same_goal
from .reports import (
    Notice,
    is_over,
    json_in,
    split_notices,
    task_goal,
    task_question,
    tasks_in,
    tell_notice,
    tell_task,
)
from .thoughts import Call, Message, Question, Reply
from .words import content, coverage, normalise

_GREETING = re.compile(r"^(hi|hello|hey|good (morning|evening|afternoon)|howdy)\b")
_TO_THE_MODEL = re.compile(
    r"(tell|ask|look|use|offer|if|call|say|pass)\b", re.IGNORECASE
)
"""How sentences begin that are meant for the model and not for the person."""
_THANKS = re.compile(r"\b(thanks|thank you|great|well done|nice|perfect|cool)\b")


@dataclass(slots=True, kw_only=True)
class _Turn:
    """What has happened since the person or the runtime spoke last."""

    said: str = ""
    notices: list[Notice] = field(default_factory=list)
    done: list[tuple[Call, str]] = field(default_factory=list)
    """Calls of this turn with their results."""
    question_open: bool = False
    spoke: bool = False
    """Something was said in this turn already."""


class ForegroundBrain:
    """Decides on each response anew; all it remembers is in the messages."""

    async def reply(self, question: Question) -> Reply:
        """Return what to say and what to call."""
        turn = _read_turn(question.messages)
        hands = Hands(question.usable)
        if turn.done:
            return _after_call(turn, hands)
        news = " ".join(
            told for n in turn.notices if not n.is_quiet and (told := tell_notice(n))
        )
        if not turn.said:
            return Reply(text=news or "I am here.")
        answer = _to_person(turn, hands)
        text = " ".join(part for part in (news, answer.text) if part)
        return Reply(text=text, calls=answer.calls)


def _read_turn(messages: Sequence[Message]) -> _Turn:
    """Return the open turn: the last things heard and what was called since."""
    talk = [m for m in messages if m.role != "system" and not _only_quiet(m)]
    start = len(talk)
    while start and talk[start - 1].role != "user":
        start -= 1
    end = start
    while start and talk[start - 1].role == "user":
        start -= 1
    turn = _Turn()
    for message in talk[start:end]:
        notices, said = split_notices(message.text)
        turn.notices += notices
        turn.said = "\n".join(part for part in (turn.said, said) if part)
    results = {m.call_id: m.text for m in talk[end:] if m.role == "tool"}
    for message in talk[end:]:
        turn.spoke = turn.spoke or bool(message.role == "assistant" and message.text)
        turn.done += [(call, results.get(call.call_id, "")) for call in message.calls]
    turn.question_open = _question_open(talk)
    return turn


def _only_quiet(message: Message) -> bool:
    """Tell whether a message only informs the model and begins no turn."""
    if message.role != "user":
        return False
    notices, said = split_notices(message.text)
    return bool(notices) and not said and all(n.is_quiet for n in notices)


def _question_open(talk: Sequence[Message]) -> bool:
    """Tell whether the person was asked something that nobody has answered."""
    is_open = False
    for message in talk:
        if message.role == "user":
            notices, _ = split_notices(message.text)
            is_open = is_open or any(n.is_question for n in notices)
        elif message.role == "tool":
            is_open = is_open or any(task_question(t) for t in tasks_in(message.text))
        for call in message.calls:
            if is_for("answer", call.name):
                is_open = False
    return is_open


def _to_person(turn: _Turn, hands: Hands) -> Reply:
    """Return the answer to what the person said."""
    intent = read_intent(turn.said, question_open=turn.question_open)
    match intent:
        case Intent.FAREWELL:
            return hands.call("end") if hands.has("end") else Reply(text="Goodbye!")
        case Intent.TIME:
            return hands.call("time", timezone=_zone(turn.said))
        case Intent.STATUS | Intent.CANCEL | Intent.ANSWER:
            return hands.call("query")
        case Intent.TAKE_OVER:
            return hands.call("pause")
        case Intent.CHANGE:
            kind = "query" if hands.has("update") else "create"
            return hands.call(kind, goal=goal_of(turn.said) or turn.said)
        case Intent.COMMAND:
            return hands.call("create", goal=goal_of(turn.said))
        case Intent.NOISE:
            return Reply(text="I am listening.")
    return Reply(text=_small_talk(turn.said))


def _after_call(turn: _Turn, hands: Hands) -> Reply:
    """Return what follows the results of our calls."""
    call, result = turn.done[-1]
    if is_for("create", call.name):
        return _after_create(turn, hands, call, result)
    if is_for("cancel", call.name):
        return Reply(
            text=" ".join(_told_cancel(r) for c, r in turn.done if c.name == call.name)
        )
    if is_for("pause", call.name):
        paused = '"running"' in result and "NOT paused" not in result
        said = "The phone is yours." if paused else "One moment, it is not paused yet."
        return Reply(text=_error(result) or said)
    if is_for("update", call.name):
        return Reply(
            text=_error(result) or "Okay, I changed it and I am working on that now."
        )
    if is_for("answer", call.name):
        going_on = '"running"' in result
        said = "Thank you, I am going on." if going_on else "All right, I leave it."
        return Reply(text=_error(result) or said)
    if is_for("query", call.name):
        return _after_query(turn, hands, result)
    if is_for("end", call.name):
        return Reply(text=_error(result) or "Goodbye, talk to you soon!")
    if is_for("time", call.name):
        return Reply(text=_told_time(result))
    return Reply(text=_error(result) or "Okay.")


def _after_create(turn: _Turn, hands: Hands, call: Call, result: str) -> Reply:
    goal = goal_of(turn.said) or turn.said
    if not _error(result):
        return Reply(
            text=f"Okay, I am on it: {_as_spoken(goal)}. I will tell you when there is news."
        )
    others = tasks_in(result)
    same = [
        task
        for task in others
        if task_goal(task)
        and task.get("status") != "cancelled"
        and same_goal(goal, task_goal(task))
    ]
    if same:
        if is_over(same[0]):
            return Reply(text=tell_task(same[0]))
        return Reply(text=f"I am already on that: {_as_spoken(task_goal(same[0]))}.")
    tried = sum((is_for("create", c.name)) for c, _ in turn.done)
    if others and "distinct" in result and tried < 3:
        del call
        return hands.call("create", goal=goal, distinct=[task["id"] for task in others])
    return Reply(text=_error(result))


def _after_query(turn: _Turn, hands: Hands, result: str) -> Reply:
    if error := _error(result):
        return Reply(text=error)
    tasks = tasks_in(result)
    intent = read_intent(turn.said, question_open=turn.question_open)
    match intent:
        case Intent.CANCEL:
            return _cancel(turn, hands, [task for task in tasks if not is_over(task)])
        case Intent.ANSWER:
            return _answer(turn, hands, tasks)
        case Intent.CHANGE:
            running = [task for task in tasks if not is_over(task)]
            goal = goal_of(turn.said) or turn.said
            if running:
                return hands.call("update", task_id=running[0]["id"], goal=goal)
            return hands.call("create", goal=goal)
    if not tasks:
        return Reply(text="I am not doing anything on the phone right now.")
    # What the reply began with is not said once more.
    led = [told for n in turn.notices if not n.is_quiet and (told := tell_notice(n))]
    texts = [said for task in tasks if (said := tell_task(task)) not in " ".join(led)]
    return Reply(text=" ".join(texts) or "That is all.")


def _cancel(turn: _Turn, hands: Hands, tasks: list[Mapping[str, Any]]) -> Reply:
    if not tasks:
        return Reply(text="There is nothing to stop: I am not doing anything.")
    said = normalise(turn.said)
    if re.search(r"\b(everything|all)\b", said):
        chosen = tasks
    else:
        words = tuple(
            w
            for w in content(turn.said)
            if w not in ("cancel", "stop", "task", "abort")
        )
        ranked = sorted(tasks, key=lambda t: -coverage(words, content(task_goal(t))))
        named = words and coverage(words, content(task_goal(ranked[0]))) >= 0.5
        running = [task for task in tasks if task.get("status") == "running"]
        chosen = ranked[:1] if named or not running else running[:1]
    calls = [
        call
        for task in chosen
        for call in hands.call("cancel", task_id=task["id"]).calls
    ]
    return Reply(calls=tuple(calls)) if calls else hands.call("cancel")


def _answer(turn: _Turn, hands: Hands, tasks: list[Mapping[str, Any]]) -> Reply:
    for task in tasks:
        if action := task_question(task):
            refused = re.match(
                r"(no|nope|deny|dont|do not|never)\b", normalise(turn.said)
            )
            return hands.call(
                "answer",
                task_id=task["id"],
                action_id=action.get("id"),
                message=turn.said,
                refused=bool(refused),
            )
    if tasks:
        return Reply(
            text=f"Nothing waits for you. {' '.join(tell_task(t) for t in tasks)}"
        )
    return Reply(text="Thank you, but nothing is waiting for you right now.")


def _told_cancel(result: str) -> str:
    if error := _error(result):
        return error
    tasks = tasks_in(result)
    if "ended before" in result:
        return "It was over already, so there was nothing to stop."
    if tasks and is_over(tasks[0]) and tasks[0].get("status") != "cancelled":
        return f"It was over already. {tell_task(tasks[0])}"
    return "Okay, I am stopping it." if not tasks else tell_task(tasks[0])


def _told_time(result: str) -> str:
    if error := _error(result):
        return error
    found = next((v for v in json_in(result) if isinstance(v, dict)), {})
    texts = {k: str(v) for k, v in found.items() if isinstance(v, str | int | float)}
    for text in texts.values():
        try:
            now = datetime.fromisoformat(text)
        except ValueError:
            continue
        return f"It is {now:%H:%M} on {now:%A}, {now.day} {now:%B %Y}."
    return f"It is {', '.join(texts.values()) or result}."


def _error(result: str) -> str:
    """Return a tool's complaint as a sentence; empty if it has none."""
    value = next((v for v in json_in(result) if isinstance(v, dict)), None)
    if value is None:
        return "" if result and not result.lower().startswith("error") else result
    complaint = value.get("error")
    if not complaint and (value.get("ok") is False or value.get("created") is False):
        complaint = value.get("message") or "It was refused."
    if not complaint:
        return ""
    if isinstance(complaint, dict):
        complaint = complaint.get("message") or json.dumps(complaint)
    told = [
        sentence
        for sentence in re.split(r"(?<=[.!?])\s+", str(value.get("what_to_do", "")))
        if sentence and not _TO_THE_MODEL.match(sentence)
    ]
    reason = " ".join(told) or f"{str(complaint).replace('_', ' ')}."
    return f"That did not work. {reason[0].upper()}{reason[1:]}"


def _as_spoken(goal: str) -> str:
    return (
        goal[:1].lower() + goal[1:].rstrip(".!?")
        if goal[1:2].islower()
        else goal.rstrip(".!?")
    )


def _zone(said: str) -> str | None:
    """Return the time zone of a place that was named."""
    found = re.search(r"\bin ([A-Za-z ]+?)\W*(?:now|right now)?\W*$", said.strip())
    if found is None:
        return None
    wanted = found[1].strip().replace(" ", "_").casefold()
    zones = sorted(zoneinfo.available_timezones())
    return next(
        (zone for zone in zones if zone.rpartition("/")[2].casefold() == wanted), None
    )


def _small_talk(said: str) -> str:
    text = normalise(said)
    if _GREETING.match(text):
        return "Hello! What can I do for you?"
    if _THANKS.search(text):
        return "You are welcome."
    if "how are you" in text:
        return "I am fine, thank you. What can I do for you?"
    if re.search(r"\b(who|what) are you\b|what can you do", text):
        return "I talk with you and work your phone for you."
    if re.search(r"can you hear me|are you there", text):
        return "Yes, I hear you."
    if said.strip().endswith("?"):
        return "I do not know that, but I can look on the phone if you ask me to."
    return "I see. Tell me if I should do something on the phone."
