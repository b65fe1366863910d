"""The task as others see it: frozen snapshots, states and events."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class TaskStatus(StrEnum):
    """Where a task is in its life (the seven states of the seeds)."""

    CREATED = "created"
    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    FAILED = "failed"
    COMPLETED = "completed"

    @property
    def is_terminal(self) -> bool:
        """Return whether the task has ended; terminal is final."""
        return self in (TaskStatus.CANCELLED, TaskStatus.FAILED, TaskStatus.COMPLETED)


class Outcome(StrEnum):
    """Whether what was wanted happened; apart from the status. Unverified is unknown."""

    ACHIEVED = "achieved"
    NOT_ACHIEVED = "not_achieved"
    UNKNOWN = "unknown"


class Delivery(StrEnum):
    """How far a task's ending got on its way to the foreground model."""

    NONE = "none"
    """The task has not ended."""
    QUEUED = "queued"
    CLAIMED = "claimed"
    DELIVERING = "delivering"
    DELIVERED = "delivered"
    SUPPRESSED = "suppressed"


class Heard(StrEnum):
    """The evidence that a person got an ending; that the model got it is none."""

    PLAYED = "played"
    """An endpoint of ours has played it to the end."""
    ANNOUNCED = "announced"
    """A satellite's announcement returned."""
    SPOKEN = "spoken"
    """A satellite has spoken the reply that carried it."""
    SHOWN = "shown"
    """The reply that carried it was complete on a screen."""
    QUERIED = "queried"
    """It was asked for, and the reply was complete."""


class ReasonClass(StrEnum):
    """Why the background needs a person."""

    AUTHENTICATION = "authentication"
    CAPTCHA = "captcha"
    VERIFICATION_CODE = "verification_code"
    SENSITIVE_OPERATION = "sensitive_operation"
    BLACK_SCREEN = "black_screen"
    AMBIGUOUS = "ambiguous"
    UNSUPPORTED_ACTION = "unsupported_action"
    STUCK = "stuck"
    HELD = "held"
    """The task waited through a restart for too long to be run without asking."""
    TAKE_OVER = "take_over"
    """The person does a part on the phone themself."""
    OTHER = "other"


class Decision(StrEnum):
    """What a person's response to a question says; silence is neither."""

    ANSWERED = "answered"
    REFUSED = "refused"


class TaskEventType(StrEnum):
    """Kinds of task events, in the order in which a task can meet them."""

    CREATED = "created"
    QUEUED = "queued"
    RUNNING = "running"
    UPDATED = "updated"
    NEEDS_YOU = "needs_you"
    ANSWERED = "answered"
    CONSENT_USED = "consent_used"
    """What a person agreed to is about to be done."""
    CANCELLING = "cancelling"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who asked for a task, and from where."""

    source: str
    """``conversation``, ``action`` or ``system``."""
    user_id: str | None = None
    """Home Assistant's user."""
    context_id: str | None = None
    """Home Assistant's context of the request."""
    device_id: str | None = None
    """The satellite or device that carried the request."""

    def as_dict(self) -> dict[str, str]:
        """Return the JSON form; absent values are left out."""
        return {
            name: value
            for name in ("source", "user_id", "context_id", "device_id")
            if (value := getattr(self, name)) is not None
        }


class ConsentHow(StrEnum):
    """How a person said yes."""

    ACTION = "action"
    """By an action of Home Assistant."""
    BUTTON = "button"
    """By the button that stands for the question."""
    SAID = "said"
    """In our own conversation, in words that code takes for a yes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assent:
    """A yes that certainly came from a person. No tool of a model can make one."""

    by: Origin
    how: ConsentHow


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentRequest:
    """What a question asks consent for; the question says it in words."""

    act: str
    """The exact act, in one canonical form."""
    screen: str
    """Hash of the screen on which it is to be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """A person's yes to one act: for this revision of the goal, once, for a minute."""

    question_id: str
    act: str
    screen: str
    revision: int
    given_at: datetime
    given_by: Origin
    given_how: ConsentHow
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserAction:
    """A question to a person, or something to do on the phone."""

    id: str
    reason: ReasonClass
    details: str
    suggested_action: str
    created_at: datetime
    consent: ConsentRequest | None = None
    """Set if the answer has to be a person's yes to an act."""

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        value: dict[str, Any] = {
            "id": self.id,
            "reason": str(self.reason),
            "details": self.details,
            "suggested_action": self.suggested_action,
            "created_at": self.created_at.isoformat(),
        }
        if self.consent is not None:
            value["consent"] = {"act": self.consent.act, "screen": self.consent.screen}
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A snapshot of one task. Times are UTC."""

    id: str
    """``task_`` and a random hexadecimal text."""
    prompt: str
    """The complete goal."""
    status: TaskStatus
    created_at: datetime
    updated_at: datetime
    origin: Origin
    result: str | None = None
    error: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    pending_user_action: UserAction | None = None
    outcome: Outcome | None = None
    """None until the task has ended."""
    evidence: str | None = None
    """What was seen on the screen that supports the outcome."""
    step: str | None = None
    """What the background is doing right now; never journalled."""
    queue_position: int | None = None
    """1 for the task that runs next; None when it does not wait in the queue."""
    slot: int | None = None
    """The place in which the task is shown, from 1; None when it has none (any more)."""
    goal_revision: int = 1
    applied_revision: int = 0
    delivery: Delivery = Delivery.NONE
    terminal_sequence: int | None = None
    """Rising number given at the end of the task; orders results."""
    tellings: int = 0
    """How often the ending was handed to the foreground model."""
    heard: Heard | None = None
    """What shows that a person got the ending; None as long as nothing does."""

    @property
    def is_waiting(self) -> bool:
        """Return whether the task waits for a person."""
        return (
            self.status is TaskStatus.RUNNING and self.pending_user_action is not None
        )

    @property
    def is_unheard(self) -> bool:
        """Return whether the ending was told, but nothing shows that a person got it."""
        return self.delivery is Delivery.DELIVERED and self.heard is None

    @property
    def is_outstanding(self) -> bool:
        """Return whether the task is in flight or its ending has not reached the foreground."""
        return not self.status.is_terminal or self.delivery in (
            Delivery.QUEUED,
            Delivery.CLAIMED,
            Delivery.DELIVERING,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form: seed 3's names, then ours; absent values are left out."""
        action = self.pending_user_action
        values: Mapping[str, Any] = {
            "id": self.id,
            "prompt": self.prompt,
            "status": str(self.status),
            "result": self.result,
            "error": self.error,
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
            "started_at": self.started_at and self.started_at.isoformat(),
            "completed_at": self.completed_at and self.completed_at.isoformat(),
            "pending_user_action": action and action.as_dict(),
            "outcome": self.outcome and str(self.outcome),
            "evidence": self.evidence,
            "step": self.step,
            "queue_position": self.queue_position,
            "slot": self.slot,
            "goal_revision": self.goal_revision,
            "applied_revision": self.applied_revision,
            "delivery": str(self.delivery),
            "heard": self.heard and str(self.heard),
            "tellings": self.tellings or None,
            "origin": self.origin.as_dict(),
        }
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvent:
    """Something that happened to a task; published after it is durable."""

    type: TaskEventType
    task: Task
    at: datetime
    is_step: bool = False
    """Only the live step changed (``updated``): nothing of it is journalled."""
