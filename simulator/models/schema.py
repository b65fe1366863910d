"""Strict checking of JSON against the vendor's own parameter types.

The vendor's SDK describes every request as ``TypedDict``s. Walking those here, with
unknown keys forbidden, gives a server that refuses what the real one refuses, and that
names the place as the real one does (``session.tools[0].name``).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
import types
import typing
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin

import typing_extensions

_REQUIRED = (Required, typing_extensions.Required)
_OPTIONAL = (NotRequired, typing_extensions.NotRequired)
_LITERAL = (Literal, typing_extensions.Literal)
_SCALARS: dict[Any, str] = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a decimal",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with a request, in the vendor's words."""

    code: str
    param: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    hint: Any
    required: bool


def first_problem(
    value: Any, hint: Any, path: str = "", *, nullable: frozenset[str] = frozenset()
) -> Problem | None:
    """Return the first difference between a JSON value and a vendor type.

    Args:
        value: What came from the wire.
        hint: A ``TypedDict`` of the vendor or any annotation built of them.
        path: Where ``value`` stands in the request; empty for the whole.
        nullable: Paths where the real server takes null although the type says no.

    """
    return next(_problems(value, hint, path, nullable), None)


def missing(param: str) -> Problem:
    """Return the problem of an absent parameter."""
    return Problem(
        code="missing_required_parameter",
        param=param,
        message=f"Missing required parameter: '{param}'.",
    )


def unsupported(value: Any, options: list[str], param: str) -> Problem:
    """Return the problem of a value outside an enumeration."""
    return Problem(
        code="invalid_value",
        param=param,
        message=f"Invalid value: {value!r}. Supported values are: {_listed(options)}.",
    )


def wrong_type(value: Any, expected: str, param: str) -> Problem:
    """Return the problem of a value of another JSON type."""
    return Problem(
        code="invalid_type",
        param=param,
        message=f"Invalid type for '{param}': expected {expected}, but got {_named(value)} instead.",
    )


def _problems(
    value: Any, hint: Any, path: str, nullable: frozenset[str]
) -> Iterator[Problem]:
    if value is None and path in nullable:
        return
    hint = _bare(hint)
    origin = get_origin(hint)
    if hint is Any or hint is object:
        return
    if origin in (Union, types.UnionType):
        yield from _union(value, _flat(hint), path, nullable)
    elif origin in _LITERAL:
        if value not in get_args(hint):
            yield unsupported(value, [repr(o) for o in get_args(hint)], path)
    elif typing_extensions.is_typeddict(hint):
        yield from _mapping(value, hint, path, nullable)
    elif origin is dict:
        yield from _free_mapping(value, hint, path, nullable)
    elif origin is not None:  # list, Iterable and the SDK's own sequence protocol
        yield from _sequence(value, get_args(hint)[0], path, nullable)
    elif hint is types.NoneType:
        if value is not None:
            yield wrong_type(value, "null", path)
    elif not _is_scalar(value, hint):
        yield wrong_type(value, _SCALARS[hint], path)


def _mapping(
    value: Any, hint: Any, path: str, nullable: frozenset[str]
) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield wrong_type(value, "an object", path)
        return
    fields = _fields(hint)
    for name, field in fields.items():
        if field.required and name not in value:
            yield missing(_join(path, name))
    for name, item in value.items():
        where = _join(path, name)
        if name not in fields:
            yield Problem(
                code="unknown_parameter",
                param=where,
                message=f"Unknown parameter: '{where}'.",
            )
        else:
            yield from _problems(item, fields[name].hint, where, nullable)


def _free_mapping(
    value: Any, hint: Any, path: str, nullable: frozenset[str]
) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield wrong_type(value, "an object", path)
        return
    for name, item in value.items():
        yield from _problems(item, get_args(hint)[1], _join(path, name), nullable)


def _sequence(
    value: Any, item_hint: Any, path: str, nullable: frozenset[str]
) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield wrong_type(value, "an array", path)
        return
    for index, item in enumerate(value):
        yield from _problems(item, item_hint, f"{path}[{index}]", nullable)


def _union(
    value: Any, options: list[Any], path: str, nullable: frozenset[str]
) -> Iterator[Problem]:
    if isinstance(value, dict):
        mappings = [o for o in options if typing_extensions.is_typeddict(o)]
        if mappings:
            yield from _discriminated(value, mappings, path, nullable)
            return
    if isinstance(value, list):
        lists = [o for o in options if _takes_list(o)]
        if lists:
            yield from _problems(value, lists[0], path, nullable)
            return
    if any(next(_problems(value, o, path, nullable), None) is None for o in options):
        return
    literals = [
        repr(a) for o in options if get_origin(o) in _LITERAL for a in get_args(o)
    ]
    if literals and isinstance(value, str):
        yield unsupported(value, literals, path)
    else:
        expected = sorted({_kind(o) for o in options})
        yield wrong_type(
            value,
            expected[0]
            if len(expected) == 1
            else f"one of {_listed(expected, word='or')}",
            path,
        )


def _discriminated(
    value: dict[str, Any], options: list[Any], path: str, nullable: frozenset[str]
) -> Iterator[Problem]:
    """Choose among objects by their constant fields (``type``, then ``role``)."""
    for key in ("type", "role"):
        if len(options) == 1:
            break
        constants = {i: _constants(o, key) for i, o in enumerate(options)}
        if not any(constants.values()):
            continue
        if key not in value:
            yield missing(_join(path, key))
            return
        chosen = [o for i, o in enumerate(options) if value[key] in constants[i]]
        if not chosen:
            names = [repr(name) for names in constants.values() for name in names]
            yield unsupported(value[key], list(dict.fromkeys(names)), _join(path, key))
            return
        options = chosen
    found = [next(_problems(value, o, path, nullable), None) for o in options]
    if None not in found and found[0] is not None:
        yield found[0]


@cache
def _fields(hint: Any) -> dict[str, _Field]:
    """Return the fields of a vendor type with ``Required`` resolved."""
    hints = typing_extensions.get_type_hints(hint, include_extras=True)
    total = getattr(hint, "__total__", True)
    return {
        name: _Field(
            hint=_bare(item),
            required=get_origin(item) in _REQUIRED
            or (total and get_origin(item) not in _OPTIONAL),
        )
        for name, item in hints.items()
    }


def _constants(hint: Any, key: str) -> tuple[Any, ...]:
    field = _fields(hint).get(key)
    if field is None or get_origin(field.hint) not in _LITERAL:
        return ()
    return get_args(field.hint)


def _bare(hint: Any) -> Any:
    """Strip ``Required``, ``NotRequired`` and ``Annotated``."""
    while True:
        origin = get_origin(hint)
        if origin in (*_REQUIRED, *_OPTIONAL) or origin is typing.Annotated:
            hint = get_args(hint)[0]
        else:
            return hint


def _flat(hint: Any) -> list[Any]:
    hint = _bare(hint)
    if get_origin(hint) in (Union, types.UnionType):
        return [option for part in get_args(hint) for option in _flat(part)]
    return [hint]


def _takes_list(hint: Any) -> bool:
    origin = get_origin(hint)
    return origin is not None and origin is not dict and origin not in _LITERAL


def _is_scalar(value: Any, hint: Any) -> bool:
    if isinstance(value, bool) or hint is bool:
        return isinstance(value, bool) and hint is bool
    return isinstance(value, (int, float) if hint is float else hint)


def _kind(hint: Any) -> str:
    if typing_extensions.is_typeddict(hint) or get_origin(hint) is dict:
        return "an object"
    if get_origin(hint) in _LITERAL or hint is str:
        return "a string"
    if hint is types.NoneType:
        return "null"
    return "an array" if _takes_list(hint) else _SCALARS.get(hint, "an object")


def _named(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return _SCALARS[type(value)]


def _listed(names: list[str], *, word: str = "and") -> str:
    if len(names) < 3:
        return f" {word} ".join(names)
    return f"{', '.join(names[:-1])}, {word} {names[-1]}"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
