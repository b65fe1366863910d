"""From acts to calls of whatever tools are offered, by the names in their schemas."""

from collections.abc import Mapping
import re
from typing import Any

from .acts import Act, Verb
from .thoughts import Call, Tool

_NAMES: dict[Verb, str] = {
    Verb.LOOK: r"screenshot|observe|look|capture",
    Verb.TAP: r"^(?!.*(long|double)).*(tap|click|touch)",
    Verb.SCROLL_DOWN: r"swipe|scroll|drag",
    Verb.TYPE: r"type|write_text|input_text|enter_text",
    Verb.BACK: r"key|button|navigate",
    Verb.WAIT: r"wait|sleep|pause",
    Verb.ASK: r"user_action|ask|human|handoff",
    Verb.FINISH: r"finish|done|complete",
}
_SAME = {
    Verb.FLIP: Verb.TAP,
    Verb.FOCUS: Verb.TAP,
    Verb.SUBMIT: Verb.TAP,
    Verb.SCROLL_UP: Verb.SCROLL_DOWN,
    Verb.HOME: Verb.BACK,
}
_SWIPES = {Verb.SCROLL_DOWN: (500, 780, 500, 330), Verb.SCROLL_UP: (500, 330, 500, 780)}
_KEYS = {Verb.BACK: "back", Verb.HOME: "home"}
_WAIT_S = 1.0


def tool_for(verb: Verb, tools: Mapping[str, Tool]) -> Tool | None:
    """Return the tool that does an act, if one is offered."""
    pattern = re.compile(_NAMES[_SAME.get(verb, verb)])
    return next((tool for name, tool in tools.items() if pattern.search(name)), None)


def verb_of(name: str, arguments: Mapping[str, Any]) -> Verb | None:
    """Return the act that a call in the history was."""
    verb = next((v for v, pattern in _NAMES.items() if re.search(pattern, name)), None)
    if verb is None:
        return None
    if verb is Verb.BACK:
        values = {str(value).lower() for value in arguments.values()}
        return Verb.HOME if "home" in values else Verb.BACK
    if verb is Verb.SCROLL_DOWN:
        starts = [
            v for k, v in arguments.items() if "y" in k and isinstance(v, int | float)
        ]
        return Verb.SCROLL_UP if len(starts) == 2 and starts[0] < starts[1] else verb
    return verb


def call_for(act: Act, tools: Mapping[str, Tool]) -> Call | None:
    """Return the call that does an act; None if no offered tool can."""
    tool = tool_for(act.verb, tools)
    if tool is None:
        return None
    required = set(tool.parameters.get("required", tool.properties))
    arguments: dict[str, Any] = {}
    for name, schema in tool.properties.items():
        value = _value(act, name.lower(), schema)
        if value is None and name in required:
            value = _anything(schema, act)
        if value is not None:
            arguments[name] = _fitted(value, schema)
    return Call(name=tool.name, arguments=arguments)


def _value(act: Act, name: str, schema: Mapping[str, Any]) -> Any:
    """Return what an argument of this name should hold."""
    if schema.get("type") == "object":
        return _nested(act, name, schema)
    if act.verb in _SWIPES:
        return _swipe_value(act.verb, name, schema)
    if re.search(r"reason|class|kind|category", name) and act.reason:
        return _chosen(act.reason, schema)
    if re.search(r"outcome|status|success|achieved", name) and act.outcome:
        if schema.get("type") == "boolean":
            return act.outcome == "achieved"
        return _chosen(act.outcome, schema)
    if re.search(r"risk|effect|consequence|sensitiv|commit", name):
        return _risk(act, schema)
    if re.fullmatch(r"x|x_.*|.*_x|column|left", name):
        return act.x
    if re.fullmatch(r"y|y_.*|.*_y|row|top", name):
        return act.y
    if re.search(r"key|button", name) and act.verb in _KEYS:
        return _chosen(_KEYS[act.verb], schema)
    if re.search(r"second|duration|_s$|_ms$|^ms$|time", name) and act.verb is Verb.WAIT:
        return _WAIT_S * (1000 if re.search(r"ms\b|milli", name) else 1)
    return _text_value(act, name)


def _text_value(act: Act, name: str) -> str | None:
    if act.verb is Verb.TYPE and re.search(r"text|content|value|string", name):
        return act.label
    if re.search(r"suggest|instruction|todo|action", name) and act.suggestion:
        return act.suggestion
    if re.search(r"evidence|seen|proof", name):
        return act.label or act.why
    if re.search(
        r"detail|question|message|summary|result|answer|reason|why|thought|explanation|note",
        name,
    ):
        return act.why or act.sentence()
    if re.search(r"target|element|label|description|what", name):
        return act.label or act.why or str(act.verb)
    return None


def _swipe_value(verb: Verb, name: str, schema: Mapping[str, Any]) -> Any:
    x1, y1, x2, y2 = _SWIPES[verb]
    if re.search(r"direction", name):
        # A direction means the finger's, unless it says that it is the content's.
        finger = "up" if verb is Verb.SCROLL_DOWN else "down"
        content = "down" if finger == "up" else "up"
        scrolls = "scroll" in str(schema.get("description", "")).lower()
        return _chosen(content if scrolls else finger, schema)
    first = re.search(r"start|from|begin|1", name) is not None
    last = re.search(r"end|to_|_to|stop|2", name) is not None
    if first or last:
        if "x" in name:
            return x1 if first else x2
        if "y" in name:
            return y1 if first else y2
    if re.search(r"dx|delta_x|distance_x", name):
        return x2 - x1
    if re.search(r"dy|delta_y|distance_y", name):
        return y2 - y1
    if name in ("x", "y"):
        return x1 if name == "x" else y1
    if re.search(r"duration|ms|seconds", name):
        return 500 if re.search(r"ms\b|milli", name) else 0.5
    return None


def _nested(act: Act, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Fill points such as {"start": {"x", "y"}}."""
    return {
        inner: _fitted(value, part)
        for inner, part in schema.get("properties", {}).items()
        if (value := _value(act, f"{name}_{inner}", part)) is not None
    }


def _risk(act: Act, schema: Mapping[str, Any]) -> Any:
    """Name the risk of an act by what is written on what it touches."""
    if schema.get("type") == "boolean":
        return bool(act.effect) or None
    if schema.get("type") == "string" and not schema.get("enum"):
        return act.effect or None
    options = [str(option) for option in schema.get("enum", [])]
    for option in options:
        if act.label and option.lower() in act.label.lower():
            return option
    harmless = [
        o for o in options if o.lower() in ("none", "no", "low", "safe", "harmless")
    ]
    return harmless[0] if harmless else None


def _chosen(value: str, schema: Mapping[str, Any]) -> str:
    """Return the option nearest to a value."""
    options = [str(option) for option in schema.get("enum", [])]
    if not options or value in options:
        return value
    for option in options:
        if value.replace("_", "") in option.lower().replace("_", ""):
            return option
    return "other" if "other" in options else options[-1]


def _anything(schema: Mapping[str, Any], act: Act) -> Any:
    """Return a harmless value for a required argument whose name says nothing to us."""
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "boolean":
            return False
        case "integer" | "number":
            return schema.get("default", schema.get("minimum", 0))
        case "array":
            return []
        case "object":
            return {}
    return act.why or act.label or str(act.verb)


def _fitted(value: Any, schema: Mapping[str, Any]) -> Any:
    """Bring a value into a schema's type and bounds."""
    kind = schema.get("type")
    if kind in ("integer", "number") and isinstance(value, int | float):
        low, high = schema.get("minimum", value), schema.get("maximum", value)
        value = min(max(value, low), high)
        return round(value) if kind == "integer" else round(value, 1)
    if kind == "array" and isinstance(value, str):
        return [value]
    if kind == "string" and not isinstance(value, str):
        value = str(value)
    if isinstance(value, str) and "maxLength" in schema:
        return value[: schema["maxLength"]]
    return value
