"""Faults that a test can order: which, after how many calls, how often."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class FaultError(Exception):
    """An order that makes no sense; the text says why."""


class ChatMode(StrEnum):
    """How a chat completion can go wrong."""

    OK = "ok"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    MODEL_NOT_FOUND = "model_not_found"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    ERROR500 = "error500"
    ERROR503 = "error503"
    HANG = "hang"
    """Takes the request and never answers."""
    HTML = "html"
    """Answers 200 with a web page, as a captive portal does."""
    SLOW = "slow"
    """Waits ``latency_s`` before the answer."""
    RESET = "reset"
    """Thinks, then drops the connection without an answer."""
    EMPTY = "empty"
    """Neither text nor calls."""
    LENGTH = "length"
    """Stops in the middle of a call's arguments."""
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    CONTEXT_LENGTH = "context_length"
    NO_PICTURES = "no_pictures"
    """Refuses pictures, as a model does that cannot see."""
    OBJECT_ARGUMENTS = "object_arguments"
    """Arguments as an object instead of a text, as some local servers do."""
    BROKEN_ARGUMENTS = "broken_arguments"
    TEXT_CALL = "text_call"
    """The call stands in the text, in ``<tool_call>`` marks."""
    NO_CALL_ID = "no_call_id"


class RealtimeMode(StrEnum):
    """How a realtime session can go wrong."""

    OK = "ok"
    # At the upgrade.
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    # In the session, with a response half said.
    CLOSE_1000 = "close_1000"
    """Closes normally with the vendor's reason of an expired session."""
    CLOSE_1001 = "close_1001"
    """Error ``session_expired``, then close 1001."""
    CLOSE_1011 = "close_1011"
    DROP = "drop"
    """The connection breaks without a close frame."""
    STALL = "stall"
    """Nothing comes any more, and the connection stays open."""
    # Instead of or within a response.
    MODEL_NOT_FOUND = "model_not_found"
    """The response fails: the account may not use the model."""
    RATE_LIMIT_EXCEEDED = "rate_limit_exceeded"
    INSUFFICIENT_QUOTA = "insufficient_quota"
    SERVER_ERROR = "server_error"
    MAX_OUTPUT_TOKENS = "max_output_tokens"
    CONTENT_FILTER = "content_filter"
    COLLISION = "collision"
    """The server has begun a response of its own: ours is refused, with our event id."""
    COLLISION_NULL = "collision_null"
    """The same with a null event id."""
    CANCELLED = "cancelled"
    """All of the output comes, then status cancelled (turn_detected)."""
    ARGUMENTS = "arguments"
    """Calls get the arguments of the option ``value``."""
    CLAIM = "claim"
    """Says that it is doing it and calls nothing."""
    EMPTY = "empty"
    """Completes without output."""
    BETA_NAMES = "beta_names"
    """Event names of the beta, as some compatible servers send."""
    UNKNOWN_EVENTS = "unknown_events"
    """Events nobody knows in between."""


AT_UPGRADE = frozenset(
    {
        RealtimeMode.UNAUTHORIZED,
        RealtimeMode.FORBIDDEN,
        RealtimeMode.NOT_FOUND,
        RealtimeMode.RATE_LIMITED,
        RealtimeMode.UNAVAILABLE,
    }
)
ENDS_SESSION = frozenset(
    {
        RealtimeMode.CLOSE_1000,
        RealtimeMode.CLOSE_1001,
        RealtimeMode.CLOSE_1011,
        RealtimeMode.DROP,
        RealtimeMode.STALL,
    }
)


@dataclass(slots=True, kw_only=True)
class Fault[ModeT: StrEnum]:
    """One ordered fault and how often it still happens."""

    mode: ModeT
    after: int = 0
    """Calls that go well before."""
    times: int | None = None
    """Calls it then hits; None is without end."""
    latency_s: float = 0.0
    retry_after_s: float = 20.0
    value: str = ""

    def take(self, ok: ModeT) -> ModeT:
        """Count one call and return what happens to it."""
        if self.mode is ok:
            return ok
        if self.after > 0:
            self.after -= 1
            return ok
        if self.times is not None:
            if self.times <= 0:
                return ok
            self.times -= 1
        return self.mode

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form, which orders the same again."""
        return {
            "mode": str(self.mode),
            "after": self.after,
            "times": self.times,
            "latency_s": self.latency_s,
            "retry_after_s": self.retry_after_s,
            "value": self.value,
        }


@dataclass(slots=True, kw_only=True)
class Faults:
    """The faults in force."""

    chat: Fault[ChatMode] = field(default_factory=lambda: Fault(mode=ChatMode.OK))
    realtime: Fault[RealtimeMode] = field(
        default_factory=lambda: Fault(mode=RealtimeMode.OK)
    )
    api_key: str = field(default="", repr=False)
    """The key that is taken instead of the one of the start, which is revoked; empty: that one."""

    def take_chat(self) -> ChatMode:
        """Count a completion and return what happens to it."""
        return self.chat.take(ChatMode.OK)

    def take_upgrade(self) -> RealtimeMode:
        """Count an upgrade, if the fault is one of upgrades."""
        return self._take_realtime(at_upgrade=True)

    def take_response(self) -> RealtimeMode:
        """Count a response, if the fault is one of sessions and responses."""
        return self._take_realtime(at_upgrade=False)

    def _take_realtime(self, *, at_upgrade: bool) -> RealtimeMode:
        if (self.realtime.mode in AT_UPGRADE) is not at_upgrade:
            return RealtimeMode.OK
        return self.realtime.take(RealtimeMode.OK)

    def order(self, body: object) -> None:
        """Take an order; what it does not name stays.

        Raises:
            FaultError: Something in it is unknown; nothing was changed.

        """
        if not isinstance(body, dict):
            raise FaultError("the body must be a JSON object")
        if unknown := set(body) - {"chat", "realtime", "api_key"}:
            raise FaultError(f"unknown: {', '.join(sorted(map(str, unknown)))}")
        api_key = body.get("api_key", self.api_key)
        if not isinstance(api_key, str) or api_key != api_key.strip():
            raise FaultError("api_key must be a text without spaces around it")
        chat = _fault(body["chat"], ChatMode) if "chat" in body else self.chat
        realtime = (
            _fault(body["realtime"], RealtimeMode)
            if "realtime" in body
            else self.realtime
        )
        self.chat, self.realtime, self.api_key = chat, realtime, api_key

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form, without the key."""
        return {"chat": self.chat.as_dict(), "realtime": self.realtime.as_dict()}


def _fault[ModeT: StrEnum](body: object, modes: type[ModeT]) -> Fault[ModeT]:
    if not isinstance(body, dict):
        raise FaultError("a fault is a JSON object with at least a mode")
    values = dict(body)
    try:
        mode = modes(values.pop("mode", "ok"))
    except ValueError:
        raise FaultError(f"mode must be one of: {', '.join(modes)}") from None
    kinds: dict[str, tuple[type, ...]] = {
        "after": (int,),
        "times": (int, type(None)),
        "latency_s": (int, float),
        "retry_after_s": (int, float),
        "value": (str,),
    }
    for name, value in values.items():
        if name not in kinds:
            raise FaultError(f"unknown option: {name}")
        if isinstance(value, bool) or not isinstance(value, kinds[name]):
            raise FaultError(f"{name} has the wrong type")
        if isinstance(value, int | float) and value < 0:
            raise FaultError(f"{name} must not be negative")
    return Fault(mode=mode, **values)
