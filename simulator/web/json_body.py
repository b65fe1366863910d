"""JSON in and out of the control routes."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

type Answer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class BadRequestError(ValueError):
    """A request that makes no sense; the text says why."""


async def read_object(request: web.Request) -> dict[str, Any]:
    """Return the request's JSON object.

    Raises:
        BadRequestError: The body is none.

    """
    try:
        body = await request.json()
    except ValueError as err:
        raise BadRequestError("the body is not JSON") from err
    if not isinstance(body, dict):
        raise BadRequestError("the body is no JSON object")
    return body


async def answer(request: web.Request, handle: Answer) -> web.Response:
    """Answer a request with a JSON body; a mistake in it is 400 and says what is wrong."""
    try:
        return web.json_response(await handle(await read_object(request)))
    except ValueError as err:
        return web.json_response({"error": str(err)}, status=400)


def number(body: dict[str, Any], key: str, default: float | None = None) -> float:
    """Return a number of a body.

    Raises:
        BadRequestError: It is missing, or no number.

    """
    value = body.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadRequestError(f"{key!r} must be a number")
    return float(value)


def text(body: dict[str, Any], key: str, default: str | None = None) -> str:
    """Return a text of a body.

    Raises:
        BadRequestError: It is missing, or no text.

    """
    value = body.get(key, default)
    if not isinstance(value, str):
        raise BadRequestError(f"{key!r} must be a text")
    return value
