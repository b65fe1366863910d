"""A phone on paper: screens as they would be read, and what a tap on a name does.

Its names come from the test, so that the brain meets names nobody prepared it for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
import json
from typing import Any

from simulator.models.brain.background import BackgroundBrain
from simulator.models.brain.screen import Screen
from simulator.models.brain.thoughts import Call, Message, Question, Reply, Tool

from .drawing import Row, read_home, read_list

_POINT = {"x": {"type": "number"}, "y": {"type": "number"}}
_ENDS = {name: {"type": "number"} for name in ("x1", "y1", "x2", "y2")}
_TEXT = {"type": "string"}


def _tool(name: str, properties: dict[str, Any], **extra: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Tool(name=name, parameters={**schema, **extra})


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        _tool("screenshot", {}),
        _tool("tap", _POINT),
        _tool("long_press", _POINT),
        _tool("swipe", _ENDS),
        _tool("type_text", {"text": _TEXT}),
        _tool(
            "press_key", {"key": {"type": "string", "enum": ["home", "back", "enter"]}}
        ),
        _tool("wait", {"seconds": {"type": "number", "maximum": 10}}),
        _tool(
            "request_user_action",
            {
                "reason": {
                    "type": "string",
                    "enum": [
                        "authentication",
                        "sensitive_operation",
                        "black_screen",
                        "other",
                    ],
                },
                "details": _TEXT,
                "suggested_action": _TEXT,
            },
        ),
        _tool(
            "finish",
            {
                "outcome": {
                    "type": "string",
                    "enum": ["achieved", "not_achieved", "unknown"],
                },
                "result": _TEXT,
                "evidence": _TEXT,
            },
        ),
    )
}


@dataclass(slots=True)
class PaperPhone:
    """Pages by name; ``home`` is the home screen."""

    pages: dict[str, list[Row]]
    at: str = "home"
    stuck: bool = False
    """Switches do not react."""
    window: int = 7
    """Rows that fit on a page."""
    offset: int = 0
    trail: list[str] = field(default_factory=list)
    taps: list[str] = field(default_factory=list)

    def screen(self) -> Screen:
        """Return what is on the screen."""
        rows = self.pages[self.at]
        if self.at == "home":
            return read_home([name for name, _ in rows])
        return read_list(self.at, rows[self.offset : self.offset + self.window])

    def act(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Do what a tool says."""
        match name:
            case "tap":
                self._tap(arguments["x"], arguments["y"])
            case "swipe":
                step = 4 if arguments["y1"] > arguments["y2"] else -4
                last = max(0, len(self.pages[self.at]) - self.window)
                self.offset = min(max(0, self.offset + step), last)
            case "press_key":
                back = arguments["key"] == "back" and self.trail
                self.at, self.offset = (self.trail.pop() if back else "home"), 0
                if not back:
                    self.trail.clear()

    def state(self, name: str) -> bool | str | None:
        """Return the state of a switch."""
        return next(
            state for rows in self.pages.values() for n, state in rows if n == name
        )

    def _tap(self, x: float, y: float) -> None:
        rows = self.screen().rows
        if not rows:
            return
        hit = min(rows, key=lambda row: abs(row.box.y - y) + abs(row.box.x - x) / 10)
        self.taps.append(hit.name)
        for index, (name, state) in enumerate(self.pages[self.at]):
            if name == hit.name and isinstance(state, bool) and not self.stuck:
                self.pages[self.at][index] = (name, not state)
            elif name == hit.name and name in self.pages and name != self.at:
                self.trail.append(self.at)
                self.at, self.offset = name, 0
                return


@dataclass(slots=True, kw_only=True)
class Run:
    """How a run of the brain ended."""

    calls: list[Call]
    replies: list[Reply]

    @property
    def last(self) -> Call:
        """Return the last call."""
        return self.calls[-1]

    @property
    def outcome(self) -> str:
        """Return the outcome it reported."""
        return str(self.last.arguments.get("outcome", ""))

    @property
    def names(self) -> list[str]:
        """Return the tools it called."""
        return [call.name for call in self.calls]


async def operate(
    goal: str,
    phone: PaperPhone,
    *,
    screens: Callable[[PaperPhone], Screen] = PaperPhone.screen,
    answer: str | None = None,
    results: Mapping[str, str] | None = None,
    most: int = 40,
) -> Run:
    """Let the brain work the phone until it finishes or asks."""
    shown: dict[bytes, Screen] = {}

    async def look(picture: bytes) -> Screen:
        return shown[picture]

    brain = BackgroundBrain(look)
    messages = [Message(role="system", text="You operate a phone.")]
    words = f"[GOAL]: {goal}\n\n[TIME]: It is Monday."
    run = Run(calls=[], replies=[])
    for number in range(most):
        picture = f"picture {number}".encode()
        shown[picture] = screens(phone)
        text = f"{words}\n\n[SCREEN]: This is the phone now. Step {number}.".strip()
        messages.append(Message(role="user", text=text, images=(picture,)))
        words = ""
        reply = await brain.reply(Question(messages=messages, tools=TOOLS))
        run.replies.append(reply)
        if not reply.calls:
            return run
        call = reply.calls[0]
        run.calls.append(call)
        if call.name == "finish" or (
            call.name == "request_user_action" and answer is None
        ):
            return run
        past = Call(name=call.name, arguments=call.arguments, call_id=f"c{number}")
        messages.append(Message(role="assistant", text=reply.text, calls=(past,)))
        phone.act(call.name, call.arguments)
        result = (results or {}).get(call.name, '{"ok": true}')
        messages.append(Message(role="tool", text=result, call_id=f"c{number}"))
        if call.name == "request_user_action" and answer is not None:
            words, answer = f"[ANSWER]: {json.dumps(answer)}", None
    return run
