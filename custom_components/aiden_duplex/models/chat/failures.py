"""What an HTTP answer that is no reply means. No I/O."""

from collections.abc import Mapping
from datetime import datetime
import re
from typing import Any

import orjson

from ..errors import ModelError, ModelErrorKind
from ..provider import redact, retry_after_s

_WAITS = (ModelErrorKind.RATE_LIMITED, ModelErrorKind.SERVER, ModelErrorKind.QUOTA)
_QUOTA = re.compile(
    r"insufficient_quota|quota|billing|insufficient (?:credits?|balance|funds)|credit balance",
    re.IGNORECASE,
)
_OVERFLOW = re.compile(
    r"context_length|context length|context window|context size|maximum context"
    r"|too many tokens|prompt is too long|input is too long|max_model_len",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"invalid_api_key|api[_ ]key (?:not valid|not found|invalid)|incorrect api key|api_key_invalid",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|(?:model\b.{0,100}(?:not found|does not exist|not exist|unknown|not a valid|not available|not loaded)"
    r"|(?:invalid|unknown|no such) model)",
    re.IGNORECASE | re.DOTALL,
)


def from_status(
    status: int,
    body: bytes,
    *,
    retry_after: str | None = None,
    now: datetime | None = None,
    secret: str | None = None,
) -> ModelError:
    """Return the failure that an HTTP status and the body with it stand for.

    ``retry_after`` is that header: seconds or a date. ``secret`` is taken out of what
    the server said.
    """
    found = _said(body)
    kind, sentence = _classify(status, found or "", is_interface=found is not None)
    detail = redact(found or "", secret)
    return ModelError(
        kind,
        f"{sentence} (HTTP {status}{': ' if detail else ''}{detail})",
        retry_after_s=retry_after_s(retry_after, now=now) if kind in _WAITS else None,
    )


def from_payload(payload: object, *, secret: str | None = None) -> ModelError | None:
    """Return the failure that a body with HTTP status 200 carries, if it does.

    Brokers such as OpenRouter answer 200 first and put the error of the server behind
    them into the body, or into the choice.
    """
    if not isinstance(payload, Mapping):
        return None
    error = payload.get("error")
    choices = payload.get("choices")
    if (
        not error
        and isinstance(choices, list)
        and choices
        and isinstance(choices[0], Mapping)
    ):
        error = choices[0].get("error")
    if not error:
        return None
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) and 400 <= code <= 599 else 500
    return from_status(status, orjson.dumps({"error": error}), secret=secret)


def _classify(
    status: int, said: str, *, is_interface: bool
) -> tuple[ModelErrorKind, str]:
    """Return the kind and its sentence; ``is_interface`` says that the body was JSON."""
    match status:
        case _ if 300 <= status < 400:
            return (
                ModelErrorKind.PROTOCOL,
                "The server redirects; enter the address that it redirects to.",
            )
        case 401 | 403:
            return ModelErrorKind.AUTHENTICATION, "The server refused the key."
        case 402:
            return ModelErrorKind.QUOTA, "The credits at the provider are used up."
        case 404 | 405 if not is_interface or not re.search(
            r"model", said, re.IGNORECASE
        ):
            return (
                ModelErrorKind.PROTOCOL,
                "There is no chat completions interface at this address.",
            )
        case 404 | 405:
            return ModelErrorKind.MODEL_UNKNOWN, "The server does not know the model."
        case 408 | 504:
            return ModelErrorKind.TIMEOUT, "The server gave up waiting."
        case 413:
            return (
                ModelErrorKind.CONTEXT_OVERFLOW,
                "The request was too large for the server.",
            )
        case 429 if _QUOTA.search(said) and not re.search(
            r"per (?:second|minute|hour|day)|rate[ _-]?limit", said, re.IGNORECASE
        ):
            return ModelErrorKind.QUOTA, "The credits at the provider are used up."
        case 429:
            return ModelErrorKind.RATE_LIMITED, "The server had too many requests."
        case _ if status >= 500:
            return ModelErrorKind.SERVER, "The server failed."
        case _ if _OVERFLOW.search(said):
            return (
                ModelErrorKind.CONTEXT_OVERFLOW,
                "The conversation is too long for the model.",
            )
        case _ if _KEY.search(said):
            return ModelErrorKind.AUTHENTICATION, "The server refused the key."
        case _ if _NO_MODEL.search(said):
            return ModelErrorKind.MODEL_UNKNOWN, "The server does not know the model."
    return ModelErrorKind.BAD_REQUEST, "The server refused the request."


def _said(body: bytes) -> str | None:
    """Return code and message of an error body; None if it is not JSON.

    OpenAI nests ``error``, Gemini puts that into an array, FastAPI says ``detail``,
    some say a bare ``error`` or ``message``.
    """
    try:
        payload: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if isinstance(payload, list) and payload:
        payload = payload[0]
    if not isinstance(payload, Mapping):
        return None
    error = payload.get("error") or payload.get("detail") or payload
    if not isinstance(error, Mapping):
        return str(error)
    return " ".join(
        str(value)
        for name in ("code", "type", "status", "message")
        if isinstance(value := error.get(name), str) and value
    )
