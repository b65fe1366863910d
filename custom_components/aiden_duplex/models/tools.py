"""Tools as every model sees them: a name, a sentence, a JSON schema; and calls of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
import json
from typing import Any

type JsonSchema = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool that a model may call."""

    name: str
    """``[a-zA-Z0-9_-]{1,64}``, as every provider demands."""
    description: str
    parameters: JsonSchema = field(default_factory=lambda: object_schema({}))
    """An object schema made by :func:`object_schema`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that a model asked for."""

    call_id: str
    name: str
    arguments: str
    """Raw JSON text as the model wrote it; see :func:`parse_arguments`."""


class ToolArgumentError(Exception):
    """The arguments of a call do not fit the tool; the text tells the model what to do."""


def object_schema(
    properties: Mapping[str, JsonSchema], *, required: Sequence[str] = ()
) -> JsonSchema:
    """Return a closed JSON object schema."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def parse_arguments(spec: ToolSpec, raw: str) -> dict[str, Any]:
    """Return the validated arguments of a call.

    An empty text, ``null`` and ``{}`` are all "no arguments". A number written as a
    text is taken as the number. Nothing else is guessed: a call with broken arguments
    must not run with other ones.

    Raises:
        ToolArgumentError: The text is no JSON object or does not fit the schema.

    """
    text = raw.strip()
    try:
        value = json.loads(text) if text else {}
    except (ValueError, RecursionError) as err:
        raise ToolArgumentError(
            f"{spec.name}: the arguments are not valid JSON ({err}). Call it again."
        ) from err
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise ToolArgumentError(
            f"{spec.name}: the arguments must be a JSON object. Call it again."
        )
    properties: dict[str, JsonSchema] = spec.parameters["properties"]
    result = {
        name: _coerce(properties[name], item) if name in properties else item
        for name, item in value.items()
    }
    problems = list(_problems(spec, result))
    if problems:
        raise ToolArgumentError(
            f"{spec.name}: {'; '.join(problems)}. Call it again with valid arguments."
        )
    return result


def _problems(spec: ToolSpec, value: Mapping[str, Any]) -> Iterator[str]:
    properties: dict[str, JsonSchema] = spec.parameters["properties"]
    for name in spec.parameters["required"]:
        if name not in value:
            yield f"{name} is missing"
    for name, item in value.items():
        if name not in properties:
            yield f"{name} is not a parameter (the parameters are: {', '.join(properties) or 'none'})"
        elif problem := _problem(properties[name], item):
            yield f"{name} {problem}"


_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def _problem(schema: JsonSchema, value: object) -> str | None:
    expected = schema.get("type")
    if expected is not None:
        wrong = not isinstance(value, _TYPES[expected]) or (
            isinstance(value, bool) and expected != "boolean"
        )
        if wrong:
            return f"must be of type {expected}"
    if "enum" in schema and value not in schema["enum"]:
        return f"must be one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            return f"must be between {schema.get('minimum', '-inf')} and {schema.get('maximum', 'inf')}"
    if isinstance(value, str):
        if len(value.strip()) < schema.get("minLength", 0):
            return "must not be empty"
        if len(value) > schema.get("maxLength", len(value)):
            return f"must have at most {schema['maxLength']} characters"
    if isinstance(value, list) and "items" in schema:
        for item in value:
            if problem := _problem(schema["items"], item):
                return f"has an item that {problem}"
    return None


def _coerce(schema: JsonSchema, value: Any) -> Any:
    """Take ``"12"`` for 12 and 12.0 for 12 where the schema wants a number."""
    expected = schema.get("type")
    if expected not in ("integer", "number"):
        return value
    number = value
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return value
    if isinstance(number, float) and number.is_integer():
        return int(number)
    if isinstance(number, float) and expected == "integer":
        return value
    return number
