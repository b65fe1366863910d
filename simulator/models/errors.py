"""Errors in the vendor's shape for HTTP."""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from .schema import Problem

INVALID = "invalid_request_error"


@dataclass(kw_only=True, eq=False)
class ApiError(Exception):
    """A refusal with its HTTP status."""

    status: int
    message: str
    type: str = INVALID
    code: str | None = None
    param: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """Return the JSON the vendor sends."""
        return {
            "error": {
                "message": self.message,
                "type": self.type,
                "param": self.param,
                "code": self.code,
            }
        }

    def response(self) -> web.Response:
        """Return the HTTP answer."""
        return web.json_response(self.body(), status=self.status, headers=self.headers)


def from_problem(problem: Problem) -> ApiError:
    """Return the 400 of a problem in the request's shape."""
    return ApiError(
        status=400, message=problem.message, code=problem.code, param=problem.param
    )


def bad_request(
    message: str, *, param: str | None = None, code: str | None = None
) -> ApiError:
    """Return a 400."""
    return ApiError(status=400, message=message, param=param, code=code)


def no_key() -> ApiError:
    """Return the 401 of a request without a key."""
    return ApiError(
        status=401,
        message="You didn't provide an API key. You need to provide your API key in an "
        "Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
    )


def wrong_key(key: str) -> ApiError:
    """Return the 401 of an unknown key, which it shows only in part."""
    shown = f"{key[:3]}{'*' * 8}{key[-4:]}" if len(key) > 12 else "*" * 8
    return ApiError(
        status=401,
        message=f"Incorrect API key provided: {shown}. You can find your API key in the "
        "vendor's account settings.",
        code="invalid_api_key",
    )


def dead_key() -> ApiError:
    """Return the 401 of a key that was good once."""
    return ApiError(
        status=401, message="Incorrect API key provided.", code="invalid_api_key"
    )


def wrong_country() -> ApiError:
    """Return the 403 of a caller from where the vendor does not sell."""
    return ApiError(
        status=403,
        message="Country, region, or territory not supported",
        type="request_forbidden",
        code="unsupported_country_region_territory",
    )


def unknown_model(model: str) -> ApiError:
    """Return the 404 of a model that does not exist."""
    return ApiError(
        status=404,
        message=f"The model `{model}` does not exist or you do not have access to it.",
        code="model_not_found",
    )


def rate_limited(retry_after_s: float) -> ApiError:
    """Return the 429 of too many requests."""
    return ApiError(
        status=429,
        message="Rate limit reached for requests per min (RPM): Limit 3, Used 3, Requested 1. "
        f"Please try again in {retry_after_s:g}s.",
        type="requests",
        code="rate_limit_exceeded",
        headers={"Retry-After": f"{retry_after_s:g}"},
    )


def quota_exceeded() -> ApiError:
    """Return the 429 of an account without credits."""
    return ApiError(
        status=429,
        message="You exceeded your current quota, please check your plan and billing details.",
        type="insufficient_quota",
        code="insufficient_quota",
    )


def server_error(status: int = 500) -> ApiError:
    """Return a 5xx."""
    return ApiError(
        status=status,
        message="The server had an error while processing your request. Sorry about that!",
        type="server_error",
    )


def check_key(headers: Any, api_key: str) -> None:
    """Check the Bearer key of a request.

    Raises:
        ApiError: It is missing or wrong.

    """
    scheme, _, key = headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise no_key()
    if key.strip() != api_key:
        raise wrong_key(key.strip())
