"""Which class a provider's failure belongs to, and the sentence for it."""

import aiohttp

from ..errors import ModelError, ModelErrorKind
from ..provider import redact, retry_after_s
from .events import Failure

_SENTENCES = {
    ModelErrorKind.AUTHENTICATION: "The server refused the key. Enter a valid one.",
    ModelErrorKind.QUOTA: "The account has no credit left. Check its plan and billing.",
    ModelErrorKind.RATE_LIMITED: "The server refused because of too many requests. Try again later.",
    ModelErrorKind.MODEL_UNKNOWN: "The server does not offer this model at this address. "
    "Check the model's name and the address.",
    ModelErrorKind.BAD_REQUEST: "The server refused what was sent.",
    ModelErrorKind.CONTEXT_OVERFLOW: "The conversation is too long for the model.",
    ModelErrorKind.TIMEOUT: "The server did not answer in time. "
    "Check the address and whether the server runs.",
    ModelErrorKind.NETWORK: "The server cannot be reached or the connection broke. "
    "Check the address and the network.",
    ModelErrorKind.SERVER: "The server failed. Try again later.",
    ModelErrorKind.PROTOCOL: "The answer was not that of a realtime interface. Check the address.",
}

_CODES = {
    "invalid_api_key": ModelErrorKind.AUTHENTICATION,
    "incorrect_api_key": ModelErrorKind.AUTHENTICATION,
    "authentication_error": ModelErrorKind.AUTHENTICATION,
    "permission_denied": ModelErrorKind.AUTHENTICATION,
    "insufficient_quota": ModelErrorKind.QUOTA,
    "billing_hard_limit_reached": ModelErrorKind.QUOTA,
    "rate_limit_exceeded": ModelErrorKind.RATE_LIMITED,
    "inference_rate_limit_exceeded": ModelErrorKind.RATE_LIMITED,
    "rate_limit_error": ModelErrorKind.RATE_LIMITED,
    "model_not_found": ModelErrorKind.MODEL_UNKNOWN,
    "invalid_model": ModelErrorKind.MODEL_UNKNOWN,
    "missing_model": ModelErrorKind.MODEL_UNKNOWN,
    "context_length_exceeded": ModelErrorKind.CONTEXT_OVERFLOW,
    "server_error": ModelErrorKind.SERVER,
    "internal_error": ModelErrorKind.SERVER,
    "invalid_request_error": ModelErrorKind.BAD_REQUEST,
}

_REASON_WORDS = (
    (ModelErrorKind.QUOTA, ("quota", "credit", "billing")),
    (
        ModelErrorKind.AUTHENTICATION,
        ("api key", "api_key", "unauthorized", "unauthenticated", "authentication"),
    ),
    (ModelErrorKind.RATE_LIMITED, ("rate limit", "too many requests")),
    (
        ModelErrorKind.MODEL_UNKNOWN,
        ("model_not_found", "invalid_model", "entity was not found"),
    ),
)
"""Words in a close reason; the codes alone do not tell a bad key from a bad frame."""

_CLOSE_CODES = {
    1002: ModelErrorKind.PROTOCOL,
    1003: ModelErrorKind.BAD_REQUEST,
    1007: ModelErrorKind.BAD_REQUEST,
    1008: ModelErrorKind.BAD_REQUEST,
    1009: ModelErrorKind.BAD_REQUEST,
    1011: ModelErrorKind.SERVER,
    3000: ModelErrorKind.AUTHENTICATION,
}


def failure(
    kind: ModelErrorKind,
    detail: str = "",
    *,
    code: str | None = None,
    secret: str | None = None,
) -> Failure:
    """Return a failure: what to do about its class, then the provider's words.

    ``secret`` is taken out of what the provider said.
    """
    detail = redact(detail, secret)
    sentence = _SENTENCES[kind]
    return Failure(
        kind=kind, message=f"{sentence} ({detail})" if detail else sentence, code=code
    )


def from_provider(
    code: str | None,
    error_type: str | None,
    message: str | None,
    *,
    secret: str | None = None,
) -> Failure:
    """Return the failure of an error a provider sent inside the session."""
    kind = (
        _CODES.get(code or "")
        or (_by_words(message or "") if code is None else None)
        or _CODES.get(error_type or "")
        or ModelErrorKind.SERVER
    )
    code = code or error_type
    return failure(kind, message or code or "", code=code, secret=secret)


def from_close(code: int, reason: str, *, secret: str | None = None) -> Failure:
    """Return the failure of a closed WebSocket; the reason says more than the code."""
    kind = _by_words(reason) or _CLOSE_CODES.get(code) or ModelErrorKind.NETWORK
    detail = f"closed with code {code}" + (f": {reason}" if reason else "")
    return failure(kind, detail, code=str(code), secret=secret)


def from_connect(err: Exception) -> ModelError:
    """Return the error of a failed attempt to connect; without addresses and headers."""
    match err:
        case aiohttp.WSServerHandshakeError():
            return _from_status(
                err.status,
                {name.lower(): value for name, value in (err.headers or {}).items()},
            )
        case TimeoutError():
            found = failure(ModelErrorKind.TIMEOUT)
        case aiohttp.ClientConnectorDNSError():
            found = failure(ModelErrorKind.NETWORK, "its name could not be resolved")
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            found = failure(ModelErrorKind.NETWORK, "its certificate was not accepted")
        case aiohttp.ClientConnectorError():
            found = failure(ModelErrorKind.NETWORK, err.os_error.strerror or "")
        case aiohttp.InvalidURL():
            found = failure(ModelErrorKind.BAD_REQUEST, "the address is not valid")
        case aiohttp.ClientResponseError():
            found = failure(ModelErrorKind.PROTOCOL, "it does not speak HTTP")
        case _:
            found = failure(ModelErrorKind.NETWORK, type(err).__name__)
    return found.as_error()


def _from_status(status: int, headers: dict[str, str]) -> ModelError:
    """Return the error of an HTTP answer that was not the upgrade."""
    kind = {
        401: ModelErrorKind.AUTHENTICATION,
        402: ModelErrorKind.QUOTA,
        403: ModelErrorKind.AUTHENTICATION,
        404: ModelErrorKind.MODEL_UNKNOWN,
        408: ModelErrorKind.TIMEOUT,
        429: ModelErrorKind.RATE_LIMITED,
    }.get(status)
    if kind is None:
        if status >= 500:
            kind = ModelErrorKind.SERVER
        elif 400 <= status < 500:
            kind = ModelErrorKind.BAD_REQUEST
        else:
            kind = ModelErrorKind.PROTOCOL
    detail = f"HTTP {status}"
    if headers.get("content-type", "").startswith("text/html"):
        detail = f"{detail}, a web page"
    found = failure(kind, detail)
    return ModelError(
        kind, found.message, retry_after_s=retry_after_s(headers.get("retry-after"))
    )


def _by_words(text: str) -> ModelErrorKind | None:
    lowered = text.lower()
    for kind, words in _REASON_WORDS:
        if any(word in lowered for word in words):
            return kind
    return None
