"""A task as it stands in the journal: one complete record per change, the last one counts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
import logging
from typing import Any

from ..storage.contract import Record
from .model import (
    Consent,
    ConsentHow,
    ConsentRequest,
    Delivery,
    Heard,
    Origin,
    Outcome,
    ReasonClass,
    Task,
    TaskStatus,
    UserAction,
)
from .queue import Lane, Place

_LOGGER = logging.getLogger(__name__)

_KIND = "task"
_SWITCH = "kill_switch"
_DAMAGE = "damage"
_WATERMARK = "watermark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Everything about a task that survives a restart."""

    task: Task
    """Without the live step and the queue position."""
    place: Place
    """Where it stands while it waits in the queue."""
    resumed: bool = False
    """It was answered and waits in the queue; its status stays running."""
    continuation: str | None = None
    """The answer that the next run gets."""
    asked: str | None = None
    """The question to which that is the answer."""
    recovered: bool = False
    """The run before the next one was cut off."""
    recoveries: int = 0
    """How often a run of this task was cut off."""
    consent: Consent | None = None
    """The last yes to an act, until something else happens to the task."""

    @property
    def is_in_queue(self) -> bool:
        """Return whether the task waits for the worker."""
        return self.task.status is TaskStatus.QUEUED or (
            self.task.status is TaskStatus.RUNNING and self.resumed
        )

    def with_task(self, **changes: Any) -> Stored:
        """Return a copy with a changed task."""
        return replace(self, task=replace(self.task, **changes))


def encode(stored: Stored) -> Record:
    """Return the record of a task.

    Claims belong to a session and end with the process, so they are kept as queued.
    """
    task = stored.task
    delivery = task.delivery
    if delivery in (Delivery.CLAIMED, Delivery.DELIVERING):
        delivery = Delivery.QUEUED
    record = task.as_dict()
    for name in ("step", "queue_position"):
        record.pop(name, None)
    return record | {
        "kind": _KIND,
        "delivery": str(delivery),
        "terminal_sequence": task.terminal_sequence,
        "heard": task.heard and str(task.heard),
        "lane": int(stored.place[0]),
        "place": stored.place[1],
        "resumed": stored.resumed,
        "continuation": stored.continuation,
        "asked": stored.asked,
        "recovered": stored.recovered,
        "recoveries": stored.recoveries,
        "consent": stored.consent and _encode_consent(stored.consent),
    }


def encode_switch(*, halted: bool) -> Record:
    """Return the record of the kill switch."""
    return {"kind": _SWITCH, "id": _SWITCH, "halted": halted}


def is_halted(records: Iterable[Record]) -> bool:
    """Return whether the kill switch was on last."""
    halted = False
    for record in records:
        if record.get("kind") == _SWITCH:
            halted = record.get("halted") is not False
    return halted


def damage_mark(*, seen: bool = False) -> Record:
    """Return the record that stands where the disk gave another one back damaged.

    Seen, it says that everything was made safe after that.
    """
    return {"kind": _DAMAGE, "id": _DAMAGE, "seen": seen}


def is_doubtful(records: Iterable[Record]) -> bool:
    """Return whether what is lost may have been a cancel, or the kill switch."""
    seen = True
    for record in records:
        if record.get("kind") == _DAMAGE:
            seen = record.get("seen") is True
    return not seen


def encode_watermark(sequence: int) -> Record:
    """Return the record of the last ending that a session was opened for."""
    return {"kind": _WATERMARK, "id": _WATERMARK, "sequence": sequence}


def read_watermark(records: Iterable[Record]) -> int:
    """Return the last watermark, 0 if there is none that is understood."""
    watermark = 0
    for record in records:
        value = record.get("sequence")
        if record.get("kind") == _WATERMARK and isinstance(value, int):
            watermark = max(watermark, value)
    return watermark


def decode_all(records: Iterable[Record]) -> dict[str, Stored]:
    """Return the last state of every task. What cannot be understood is left out."""
    result: dict[str, Stored] = {}
    unknown = 0
    for record in records:
        if record.get("kind") in (_SWITCH, _WATERMARK):
            continue
        try:
            stored = _decode(record)
        except KeyError, TypeError, ValueError, AttributeError:
            unknown += 1
            continue
        result[stored.task.id] = stored
    if unknown:
        _LOGGER.error("%d records of the task journal were not understood", unknown)
    return result


def _decode(record: Record) -> Stored:
    if record["kind"] != _KIND:
        raise ValueError("not a task")
    outcome = record.get("outcome")
    action = record.get("pending_user_action")
    # A record from before this was noted: nothing is told twice for that.
    heard = record.get("heard", Heard.SHOWN)
    return Stored(
        task=Task(
            id=record["id"],
            prompt=record["prompt"],
            status=TaskStatus(record["status"]),
            created_at=datetime.fromisoformat(record["created_at"]),
            updated_at=datetime.fromisoformat(record["updated_at"]),
            origin=Origin(**record["origin"]),
            result=record.get("result"),
            error=record.get("error"),
            started_at=_time(record, "started_at"),
            completed_at=_time(record, "completed_at"),
            pending_user_action=_action(action) if action else None,
            outcome=Outcome(outcome) if outcome else None,
            evidence=record.get("evidence"),
            goal_revision=record["goal_revision"],
            applied_revision=record["applied_revision"],
            delivery=Delivery(record["delivery"]),
            terminal_sequence=record["terminal_sequence"],
            slot=record.get("slot"),
            tellings=record.get("tellings", 0),
            heard=Heard(heard) if heard else None,
        ),
        place=(Lane(record["lane"]), record["place"]),
        resumed=record["resumed"],
        continuation=record["continuation"],
        asked=record.get("asked"),
        recovered=record["recovered"],
        recoveries=record["recoveries"],
        consent=_consent(consent) if (consent := record.get("consent")) else None,
    )


def _action(value: dict[str, Any]) -> UserAction:
    return UserAction(
        id=value["id"],
        reason=ReasonClass(value["reason"]),
        details=value["details"],
        suggested_action=value["suggested_action"],
        created_at=datetime.fromisoformat(value["created_at"]),
        consent=ConsentRequest(**asked) if (asked := value.get("consent")) else None,
    )


def _encode_consent(consent: Consent) -> Record:
    return {
        "question_id": consent.question_id,
        "act": consent.act,
        "screen": consent.screen,
        "revision": consent.revision,
        "given_at": consent.given_at.isoformat(),
        "given_by": consent.given_by.as_dict(),
        "given_how": str(consent.given_how),
        "used_at": consent.used_at and consent.used_at.isoformat(),
    }


def _consent(value: Record) -> Consent:
    return Consent(
        question_id=value["question_id"],
        act=value["act"],
        screen=value["screen"],
        revision=value["revision"],
        given_at=datetime.fromisoformat(value["given_at"]),
        given_by=Origin(**value["given_by"]),
        given_how=ConsentHow(value["given_how"]),
        used_at=_time(value, "used_at"),
    )


def _time(record: Record, name: str) -> datetime | None:
    value = record.get(name)
    return datetime.fromisoformat(value) if value else None
