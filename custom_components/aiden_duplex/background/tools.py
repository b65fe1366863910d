"""The tools of the phone's model, and what they do on the phone."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..models.tools import (
    JsonSchema,
    ToolArgumentError,
    ToolCall,
    ToolSpec,
    object_schema,
    parse_arguments,
)
from ..phone.lease import Lease
from ..phone.types import Key, Point
from ..tasks.model import Outcome, ReasonClass
from .guard import COORDINATES, Action
from .ports import PhoneControl

TAP, SWIPE, LONG_PRESS = "tap", "swipe", "long_press"
TYPE_TEXT, PRESS_KEY, WAIT = "type_text", "press_key", "wait"
SCREENSHOT, REQUEST, FINISH = "screenshot", "request_user_action", "finish"

NEED_SIGHT = frozenset({TAP, SWIPE, LONG_PRESS, TYPE_TEXT})
"""What must not be done on a screen that cannot be seen."""
LOOKS = frozenset({SCREENSHOT, WAIT})

_COORDINATE_HINT = "Coordinates are numbers from 0 to 1000 over the whole picture, not pixels and not fractions."
_ASKABLE = [reason for reason in ReasonClass if reason is not ReasonClass.HELD]


def _coordinate(what: str) -> JsonSchema:
    """Return the schema of one coordinate."""
    return {"type": "number", "minimum": 0, "maximum": 1000, "description": what}


def _text(what: str, limit: int) -> JsonSchema:
    """Return the schema of a bounded text."""
    return {"type": "string", "maxLength": limit, "description": what}


_COMMITS: Mapping[str, JsonSchema] = {
    "commits": {
        "type": "boolean",
        "description": (
            "true when this act pays, sends, orders, posts, deletes, calls, installs, "
            "grants or shares, or when you cannot tell. The person is asked first."
        ),
    },
    "effect": _text("With commits: what this act does, for the person.", 300),
}

_SPECS = (
    ToolSpec(
        name=TAP,
        description="Touch one point of the screen shortly.",
        parameters=object_schema(
            {
                "x": _coordinate("0 is the left edge, 1000 the right edge."),
                "y": _coordinate("0 is the upper edge, 1000 the lower edge."),
                **_COMMITS,
            },
            required=["x", "y"],
        ),
    ),
    ToolSpec(
        name=SWIPE,
        description=(
            "Draw a finger from (x1, y1) to (x2, y2). The content follows the finger: "
            "swipe from y1=750 to y2=300 to see what is further down."
        ),
        parameters=object_schema(
            {
                "x1": _coordinate("Start, 0 to 1000."),
                "y1": _coordinate("Start, 0 to 1000."),
                "x2": _coordinate("End, 0 to 1000."),
                "y2": _coordinate("End, 0 to 1000."),
                "duration_ms": {
                    "type": "integer",
                    "minimum": 100,
                    "maximum": 5000,
                    "description": "400 if left out; slower moves the content exactly.",
                },
                **_COMMITS,
            },
            required=["x1", "y1", "x2", "y2"],
        ),
    ),
    ToolSpec(
        name=LONG_PRESS,
        description="Touch one point and stay there.",
        parameters=object_schema(
            {
                "x": _coordinate("0 is the left edge, 1000 the right edge."),
                "y": _coordinate("0 is the upper edge, 1000 the lower edge."),
                "hold_ms": {
                    "type": "integer",
                    "minimum": 300,
                    "maximum": 5000,
                    "description": "600 if left out.",
                },
                **_COMMITS,
            },
            required=["x", "y"],
        ),
    ),
    ToolSpec(
        name=TYPE_TEXT,
        description=(
            "Type into the field that has the focus. One line; set submit to press "
            "Enter at the end, which sends a message in some apps."
        ),
        parameters=object_schema(
            {
                "text": _text("What to type.", 1000),
                "submit": {"type": "boolean", "description": "Press Enter at the end."},
                **_COMMITS,
            },
            required=["text"],
        ),
    ),
    ToolSpec(
        name=PRESS_KEY,
        description="Press one key.",
        parameters=object_schema(
            {"key": {"type": "string", "enum": [str(key) for key in Key]}, **_COMMITS},
            required=["key"],
        ),
    ),
    ToolSpec(
        name=WAIT,
        description="Do nothing for a while, for something that loads.",
        parameters=object_schema(
            {"seconds": {"type": "number", "minimum": 0, "maximum": 10}},
            required=["seconds"],
        ),
    ),
    ToolSpec(
        name=SCREENSHOT,
        description="Look at the screen again without doing anything.",
    ),
    ToolSpec(
        name=REQUEST,
        description=(
            "Ask the person something, or to do something on the phone, and pause until "
            "they answer. For logins, captchas, codes, risky steps that the goal does not "
            "name, a black screen, an unclear goal, or when you are stuck."
        ),
        parameters=object_schema(
            {
                "reason": {"type": "string", "enum": [str(item) for item in _ASKABLE]},
                "details": _text("What you see and why you ask.", 1000),
                "suggested_action": _text("What the person should do or say.", 1000),
            },
            required=["reason", "details", "suggested_action"],
        ),
    ),
    ToolSpec(
        name=FINISH,
        description="End the work and report.",
        parameters=object_schema(
            {
                "outcome": {
                    "type": "string",
                    "enum": [str(outcome) for outcome in Outcome],
                    "description": "achieved only if the newest picture shows it.",
                },
                "result": _text("One or two sentences for the person.", 4000),
                "evidence": _text(
                    "What you see in the newest picture that proves the outcome.", 1000
                ),
            },
            required=["outcome", "result"],
        ),
    ),
)
CATALOGUE: tuple[ToolSpec, ...] = _SPECS
_BY_NAME: Mapping[str, ToolSpec] = {spec.name: spec for spec in _SPECS}

STEPS = {
    TAP: "tapping",
    SWIPE: "swiping",
    LONG_PRESS: "pressing and holding",
    TYPE_TEXT: "typing",
    PRESS_KEY: "pressing a key",
    WAIT: "waiting",
    SCREENSHOT: "looking at the screen",
    REQUEST: "asking for help",
    FINISH: "finishing",
}
"""What a person is told while a tool runs; never what is typed or where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A call whose arguments are valid."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]

    @property
    def action(self) -> Action:
        """Return what is done, without what is said about it."""
        arguments = {
            name: value
            for name, value in self.arguments.items()
            if name not in _COMMITS
        }
        return Action(name=self.name, arguments=arguments, is_look=self.name in LOOKS)

    @property
    def commits(self) -> bool:
        """Return whether the model says that this act counts."""
        return bool(self.arguments.get("commits"))

    @property
    def effect(self) -> str:
        """Return what the model says that this act does."""
        effect: str = self.arguments.get("effect", "")
        return effect.strip()


def parse(call: ToolCall) -> Command:
    """Return the command in a call.

    Raises:
        ToolArgumentError: No such tool, or arguments that do not fit; says what to do.

    """
    spec = _BY_NAME.get(call.name)
    if spec is None:
        names = ", ".join(_BY_NAME)
        raise ToolArgumentError(
            f"There is no tool {call.name[:64]!r}. The tools are: {names}."
        )
    try:
        arguments = parse_arguments(spec, call.arguments)
    except RecursionError as err:
        raise ToolArgumentError(
            f"{call.name}: the arguments are nested too deeply. Call it again."
        ) from err
    except ToolArgumentError as err:
        if COORDINATES.isdisjoint(spec.parameters["properties"]):
            raise
        raise ToolArgumentError(f"{err} {_COORDINATE_HINT}") from err
    _check(call.name, arguments)
    return Command(call_id=call.call_id, name=call.name, arguments=arguments)


def _check(name: str, arguments: Mapping[str, Any]) -> None:
    """Refuse what a schema cannot say."""
    places = [arguments[key] for key in COORDINATES & arguments.keys()]
    if places and max(places) <= 1 and any(place % 1 for place in places):
        # Fractions of the picture; taken as they are they would all hit one corner.
        raise ToolArgumentError(
            f"{name}: these look like fractions. {_COORDINATE_HINT}"
        )
    text = arguments.get("text")
    if text is not None and (not text or "\n" in text or "\r" in text):
        raise ToolArgumentError(
            f"{name}: text must be one line and not empty. For Enter at the end set "
            "submit; type several lines one after the other."
        )
    if name in (FINISH, REQUEST):
        for key in ("result", "details", "suggested_action"):
            if key in arguments and not arguments[key].strip():
                raise ToolArgumentError(f"{name}: {key} must not be empty.")


async def perform(
    command: Command,
    *,
    phone: PhoneControl,
    lease: Lease,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> str:
    """Do on the phone what a command says; return what the model is told.

    Raises:
        PhoneError: As the phone says.

    """
    given = command.arguments
    match command.name:
        case "tap":
            await phone.tap(lease, Point(x=given["x"], y=given["y"]))
            return "Tapped."
        case "long_press":
            await phone.long_press(
                lease,
                Point(x=given["x"], y=given["y"]),
                hold_ms=given.get("hold_ms", 600),
            )
            return "Pressed and held."
        case "swipe":
            await phone.swipe(
                lease,
                Point(x=given["x1"], y=given["y1"]),
                Point(x=given["x2"], y=given["y2"]),
                duration_ms=given.get("duration_ms", 400),
            )
            return "Swiped."
        case "type_text":
            # One act for text and Enter: nothing can come between them.
            submit = given.get("submit", False)
            text = f"{given['text']}\n" if submit else given["text"]
            await phone.type_text(lease, text, allow_enter=submit)
            return "Typed, then pressed Enter." if submit else "Typed."
        case "press_key":
            await phone.press_key(lease, Key(given["key"]))
            return f"Pressed {given['key']}."
        case "wait":
            await sleep(given["seconds"])
            return "Waited."
        case _:
            return "Looked."
