"""What HTTP answers that are no reply mean."""

import json

import pytest

from custom_components.aiden_duplex.models.chat.failures import (
    from_payload,
    from_status,
)
from custom_components.aiden_duplex.models.errors import ModelErrorKind as Kind


def _error(message: str, code: str | None = None) -> bytes:
    return json.dumps({"error": {"message": message, "code": code}}).encode()


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, _error("Incorrect API key provided", "invalid_api_key"), Kind.AUTHENTICATION),
        (403, b"forbidden", Kind.AUTHENTICATION),
        (402, _error("Insufficient credits"), Kind.QUOTA),
        (404, _error("The model `x` does not exist", "model_not_found"), Kind.MODEL_UNKNOWN),
        (404, _error("model 'llava' not found, try pulling it first"), Kind.MODEL_UNKNOWN),
        (404, b'{"detail": "Not Found"}', Kind.PROTOCOL),
        (404, b"404 page not found", Kind.PROTOCOL),
        (404, b"<html>no model here</html>", Kind.PROTOCOL),
        (405, b'{"detail": "Method Not Allowed"}', Kind.PROTOCOL),
        (301, b"", Kind.PROTOCOL),
        (429, _error("Rate limit reached", "rate_limit_exceeded"), Kind.RATE_LIMITED),
        (429, _error("You exceeded your current quota", "insufficient_quota"), Kind.QUOTA),
        (429, _error("Quota exceeded: requests per minute"), Kind.RATE_LIMITED),
        (429, b"slow down", Kind.RATE_LIMITED),
        (400, _error("maximum context length is 8192 tokens", "context_length_exceeded"), Kind.CONTEXT_OVERFLOW),
        (400, _error("the request exceeds the available context size"), Kind.CONTEXT_OVERFLOW),
        (413, b"", Kind.CONTEXT_OVERFLOW),
        (400, _error("Unrecognized request argument: foo"), Kind.BAD_REQUEST),
        (422, b'{"detail": [{"msg": "field required"}]}', Kind.BAD_REQUEST),
        (400, b'[{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}]', Kind.AUTHENTICATION),
        (400, _error("foo is not a valid model ID"), Kind.BAD_REQUEST),
        (400, _error("model foo is not a valid model ID"), Kind.MODEL_UNKNOWN),
        (400, _error("Invalid model name passed"), Kind.MODEL_UNKNOWN),
        (408, b"", Kind.TIMEOUT),
        (504, b"<html>", Kind.TIMEOUT),
        (500, _error("boom"), Kind.SERVER),
        (503, b"", Kind.SERVER),
        (529, b"overloaded", Kind.SERVER),
    ],
)  # fmt: skip
def test_kinds(status: int, body: bytes, kind: Kind) -> None:
    """Each status, told apart by the code and the words of the body."""
    assert from_status(status, body).kind is kind


def test_message_is_a_sentence_with_the_servers_words() -> None:
    """A person reads what we found and what the server said."""
    err = from_status(
        404, _error("The model `gpt-x` does not exist", "model_not_found")
    )
    assert err.message == (
        "The server does not know the model. "
        "(HTTP 404: model_not_found The model `gpt-x` does not exist)"
    )


@pytest.mark.parametrize(
    ("said", "secret"),
    [
        ("Incorrect API key provided: secret-123.", "secret-123"),
        ("Incorrect API key provided: sk-proj-abcdefgh1234.", None),
        ("sent with Bearer abc.def", None),
    ],
)
def test_keys_never_reach_the_message(said: str, secret: str | None) -> None:
    """A server that repeats the key must not make us repeat it."""
    message = from_status(401, _error(said), secret=secret).message
    for part in ("secret-123", "abcdefgh1234", "abc.def"):
        assert part not in message
    assert "***" in message


def test_wait_is_kept_only_where_waiting_helps() -> None:
    """A refused key is not tried again, whatever the header says."""
    assert from_status(429, b"", retry_after="5").retry_after_s == 5
    assert from_status(503, b"", retry_after="5").retry_after_s == 5
    assert from_status(401, b"", retry_after="5").retry_after_s is None


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({"error": {"code": 429, "message": "upstream"}}, Kind.RATE_LIMITED),
        ({"error": {"code": "bad", "message": "upstream"}}, Kind.SERVER),
        ({"error": "boom"}, Kind.SERVER),
        ({"choices": [{"error": {"code": 502, "message": "x"}}]}, Kind.SERVER),
    ],
)
def test_error_behind_status_200(payload: object, kind: Kind) -> None:
    """Brokers put the error of the server behind them into the body."""
    err = from_payload(payload)
    assert err is not None
    assert err.kind is kind


@pytest.mark.parametrize(
    "payload",
    [None, [], {"error": None}, {"choices": []}, {"choices": [{}]}, {"choices": ["x"]}],
)
def test_no_error_in_the_body(payload: object) -> None:
    """An ordinary or an odd body carries no error."""
    assert from_payload(payload) is None
