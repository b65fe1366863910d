"""Refusals within a realtime session."""

from dataclasses import dataclass
from typing import Any

from simulator.models.errors import INVALID
from simulator.models.identifiers import new_id
from simulator.models.schema import Problem


@dataclass(kw_only=True, eq=False)
class RealtimeError(Exception):
    """A client event that is refused; the session goes on."""

    message: str
    code: str | None = None
    param: str | None = None
    type: str = INVALID

    def event(self, client_event_id: str | None) -> dict[str, Any]:
        """Return the ``error`` event."""
        return {
            "type": "error",
            "event_id": new_id("event"),
            "error": {
                "type": self.type,
                "code": self.code,
                "message": self.message,
                "param": self.param,
                "event_id": client_event_id,
            },
        }


def from_problem(problem: Problem) -> RealtimeError:
    """Return the refusal of a problem in an event's shape."""
    return RealtimeError(
        message=problem.message, code=problem.code, param=problem.param
    )


def active_response(response_id: str) -> RealtimeError:
    """Return the refusal of a second response at the same time."""
    return RealtimeError(
        message=f"Conversation already has an active response in progress: {response_id}. "
        "Wait until the response is finished before creating a new one.",
        code="conversation_already_has_active_response",
    )
