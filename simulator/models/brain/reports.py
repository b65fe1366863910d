"""Tasks and notices as they reach the foreground, and how to tell a person about them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import json
import re
from typing import Any

_LABEL = re.compile(r"^\s*\[(?P<label>[A-Z0-9 _-]{1,40})\]:\s*(?P<text>.*)$", re.DOTALL)
_QUIET = re.compile(
    r"STATE|CONTEXT|HISTORY|SESSION|MEMORY|INTERRUPTED|EMPTY ANSWER|TOOL LIMIT"
)
_ID = re.compile(r"\b(?:task|action|question|ua|q)_[0-9a-zA-Z]+\b")
_TERMINAL = ("completed", "failed", "cancelled")
_LONGEST = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something the runtime says; never the person."""

    label: str
    text: str

    @property
    def is_quiet(self) -> bool:
        """Return whether it only informs the model."""
        return _QUIET.search(self.label) is not None

    @property
    def is_question(self) -> bool:
        """Return whether the phone's agent waits for the person."""
        if any(task_question(task) for task in tasks_in(self.text)):
            return True
        if re.search(r"QUESTION|ACTION|NEEDS", self.label):
            return True
        return (
            re.search(
                r"\b(needs you|waits? for (you|the person)|is waiting for)\b", self.text
            )
            is not None
        )


def split_notices(text: str) -> tuple[list[Notice], str]:
    """Return the notices of a user message and what the person said in it."""
    notices: list[Notice] = []
    said: list[str] = []
    for part in re.split(r"\n(?=\s*\[[A-Z0-9 _-]{1,40}\]:)", text):
        if found := _LABEL.match(part):
            notices.append(Notice(label=found["label"], text=found["text"].strip()))
        elif part.strip():
            said.append(part.strip())
    return notices, "\n".join(said)


def tasks_in(text: str) -> list[Mapping[str, Any]]:
    """Return the tasks in a tool's answer or a notice: JSON objects with an id."""
    return [task for value in json_in(text) for task in _tasks(value)]


def json_in(text: str) -> Iterator[Any]:
    """Yield the JSON values in a text."""
    decoder = json.JSONDecoder()
    place = 0
    while found := re.search(r"[\[{]", text[place:]):
        start = place + found.start()
        try:
            value, place = decoder.raw_decode(text, start)
        except ValueError:
            place = start + 1
            continue
        yield value


def _tasks(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict):
        task_id = value.get("id") or value.get("task_id")
        if isinstance(task_id, str) and (
            "status" in value or "prompt" in value or "goal" in value
        ):
            yield {**value, "id": task_id}
        else:
            for item in value.values():
                yield from _tasks(item)
    elif isinstance(value, list):
        for item in value:
            yield from _tasks(item)


def task_goal(task: Mapping[str, Any]) -> str:
    """Return what a task wants."""
    return str(task.get("prompt") or task.get("goal") or task.get("task") or "")


def task_question(task: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what a task asks the person, if it waits."""
    action = task.get("pending_user_action") or task.get("question")
    return action if isinstance(action, dict) else None


def is_over(task: Mapping[str, Any]) -> bool:
    """Return whether a task has ended."""
    return task.get("status") in _TERMINAL


def tell_task(task: Mapping[str, Any]) -> str:
    """Return one or two sentences about a task for a person."""
    goal = task_goal(task)
    named = f"“{goal}”" if goal else "that"
    if not is_over(task) and (action := task_question(task)):
        details = str(action.get("details", "")).rstrip(".")
        todo = str(action.get("suggested_action", "")).rstrip(".")
        return (
            f"For {named} I need you: {details}. {todo}."
            if todo
            else f"For {named} I need you: {details}."
        )
    result = _short(
        task.get("result") or task.get("error") or task.get("evidence") or ""
    )
    tail = f" {result}" if result else ""
    match task.get("status"), task.get("outcome"):
        case "completed", "achieved":
            return f"Done: {named}.{tail}"
        case "completed", "not_achieved":
            return f"That did not work: {named}.{tail}"
        case "completed", _:
            return f"I finished {named}, but I am not sure whether it worked.{tail}"
        case "failed", _:
            return f"Something went wrong with {named}.{tail}"
        case "cancelled", _:
            return f"I stopped {named}."
        case "cancelling", _:
            return f"I am just stopping {named}."
        case (("queued" | "created"), _):
            place = task.get("queue_position")
            return f"{named} is waiting{f' as number {place}' if place else ' for its turn'}."
    step = f" Right now: {task['step']}" if task.get("step") else ""
    return f"I am working on {named}.{step}"


def tell_notice(notice: Notice) -> str:
    """Return what a person is told about a notice."""
    tasks = tasks_in(notice.text)
    if tasks:
        return " ".join(tell_task(task) for task in tasks)
    text = _ID.sub("the task", _short(notice.text))
    return text[0].upper() + text[1:] if text else ""


def _short(text: Any) -> str:
    plain = re.sub(r"\s+", " ", str(text)).strip()
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"
