"""Tool calls that a small model wrote as text, and its thinking. No I/O.

Only a model's own answer is ever given to these functions, never text from a screen
or a tool.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
import json
import re
from typing import Any

_THINKING = re.compile(
    r"<(think|thinking|thought|reasoning)>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)
# Templates that open the thinking in the prompt leave only the end tag in the answer.
_THINKING_END = re.compile(
    r"\A(.*?)</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE
)
_WRAPPED = re.compile(
    r"<(tool_call|tool_calls|function_call)>(.*?)(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_FENCED = re.compile(r"\A```[a-z_]*\n(.*)\n?```\Z", re.DOTALL | re.IGNORECASE)
_NAMES = ("name", "tool", "function")
_ARGUMENTS = ("arguments", "args", "parameters")
_JSON_START = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A text, and the thinking that was in it."""

    text: str
    thinking: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainCall:
    """A call found in a text."""

    name: str
    arguments: str
    """JSON text, or whatever text the model wrote in its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The calls of a text, and the text without them."""

    calls: tuple[PlainCall, ...]
    text: str


def split_thinking(text: str) -> Split:
    """Take the model's thinking out of its answer; an unclosed tag reaches to the end."""
    thoughts: list[str] = []

    def _take(match: re.Match[str], group: int) -> str:
        """Keep a thought and leave nothing in its place."""
        thoughts.append(match.group(group).strip())
        return ""

    text = _THINKING.sub(lambda match: _take(match, 2), text)
    text = _THINKING_END.sub(lambda match: _take(match, 1), text)
    return Split(text=text.strip(), thinking="\n".join(thoughts))


def find(text: str, *, thinking: str = "", tool_names: Collection[str] = ()) -> Found:
    """Return the calls that a text holds.

    A call counts inside a known wrapper, or when it is the whole text and names one of
    ``tool_names``. When nothing was said outside the thinking and the thinking ends
    with a wrapped call, that call counts: some models forget to close their thinking.
    """
    if calls := tuple(_wrapped(text)):
        return Found(calls=calls, text=_WRAPPED.sub("", text).strip())
    if calls := tuple(_bare(text, tool_names)):
        return Found(calls=calls, text="")
    if not text.strip() and (calls := tuple(_last_wrapped(thinking))):
        return Found(calls=calls, text="")
    return Found(calls=(), text=text.strip())


def arguments_text(value: object) -> str:
    """Return a call's arguments as JSON text; servers send a text, an object or nothing."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return json.dumps(value)
    except RecursionError:
        # Not "": that would run the call with no arguments at all.
        return "(nested too deeply)"


def _wrapped(text: str) -> Iterator[PlainCall]:
    """Yield the calls inside known wrappers."""
    for match in _WRAPPED.finditer(text):
        for value in _json_values(match.group(2)):
            yield from _calls(value)


def _last_wrapped(thinking: str) -> Iterator[PlainCall]:
    """Yield the calls of a wrapper that ends the thinking."""
    matches = list(_WRAPPED.finditer(thinking))
    if matches and not thinking[matches[-1].end() :].strip():
        for value in _json_values(matches[-1].group(2)):
            yield from _calls(value)


def _bare(text: str, tool_names: Collection[str]) -> Iterator[PlainCall]:
    """Yield the calls of a text that is nothing but JSON."""
    stripped = text.strip()
    if fenced := _FENCED.match(stripped):
        stripped = fenced.group(1).strip()
    try:
        value, end = _DECODER.raw_decode(stripped)
    except ValueError, RecursionError:
        return
    if stripped[end:].strip():
        return
    for call in _calls(value):
        if call.name in tool_names:
            yield call


def _json_values(text: str) -> Iterator[Any]:
    """Yield the JSON objects and arrays in a text, one after the other."""
    position = 0
    while (match := _JSON_START.search(text, position)) is not None:
        try:
            value, position = _DECODER.raw_decode(text, match.start())
        except ValueError, RecursionError:
            return
        yield value


def _calls(value: object) -> Iterator[PlainCall]:
    """Yield the calls that a JSON value holds."""
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, dict):
            continue
        nested = item.get("function")
        call = nested if isinstance(nested, dict) else item
        name = next((call[key] for key in _NAMES if call.get(key)), None)
        if isinstance(name, str):
            arguments = next((call[key] for key in _ARGUMENTS if key in call), None)
            yield PlainCall(name=name.strip(), arguments=arguments_text(arguments))
