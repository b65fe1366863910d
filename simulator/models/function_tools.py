"""Rules for function tools that both protocols share."""

from collections.abc import Iterator, Sequence
import re
from typing import Any

from .schema import Problem

NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")


def tool_problem(
    functions: Sequence[dict[str, Any]], paths: Sequence[str]
) -> Problem | None:
    """Return what is wrong with functions ({name, description, parameters}).

    Args:
        functions: The functions, already of the right JSON types.
        paths: Where each of them stands in the request.

    """
    seen: set[str] = set()
    for function, path in zip(functions, paths, strict=True):
        name = function.get("name")
        if name is None:
            return Problem(
                code="missing_required_parameter",
                param=f"{path}.name",
                message=f"Missing required parameter: '{path}.name'.",
            )
        if not NAME.match(name):
            return Problem(
                code="invalid_value",
                param=f"{path}.name",
                message=f"Invalid '{path}.name': string does not match pattern. Expected a "
                "string that matches the pattern '^[a-zA-Z0-9_-]+$' of at most 64 characters.",
            )
        if name in seen:
            return Problem(
                code="invalid_value",
                param=f"{path}.name",
                message=f"Invalid '{path}.name': the name '{name}' is used more than once.",
            )
        seen.add(name)
        if "parameters" in function and (
            complaint := next(_schema(function["parameters"], (), top=True), None)
        ):
            return Problem(
                code="invalid_function_parameters",
                param=f"{path}.parameters",
                message=f"Invalid schema for function '{name}': {complaint}",
            )
    return None


def _schema(
    schema: Any, context: tuple[str, ...], *, top: bool = False
) -> Iterator[str]:
    """Yield what a JSON schema lacks, in the vendor's words."""
    where = f"In context={context!r}, "
    if not isinstance(schema, dict):
        yield f"{where}{schema!r} is not of type 'object', 'boolean'."
        return
    kind = schema.get("type")
    if top and kind != "object":
        yield f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
        return
    kinds = kind if isinstance(kind, list) else [kind] if kind is not None else []
    for each in kinds:
        if each not in _TYPES:
            yield f"{where}{each!r} is not valid under any of the given schemas."
    if "enum" in schema and not (isinstance(schema["enum"], list) and schema["enum"]):
        yield f"{where}{schema['enum']!r} should be non-empty."
    if "object" in kinds and "properties" not in schema:
        yield f"{where}object schema missing properties."
        return
    if "array" in kinds and "items" not in schema:
        yield f"{where}array schema missing items."
        return
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        yield f"{where}{properties!r} is not of type 'object'."
        return
    for name in schema.get("required", []):
        if name not in properties:
            yield f"{where}'required' names '{name}', which is not in 'properties'."
    for name, item in properties.items():
        yield from _schema(item, (*context, "properties", name))
    if "items" in schema:
        yield from _schema(schema["items"], (*context, "items"))
