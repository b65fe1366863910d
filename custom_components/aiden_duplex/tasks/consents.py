"""Consents: a person's yes to one exact act, on one exact screen, once, within a minute.

A consent stands in the record of its task, so a yes and its consent are durable in one
write, and whatever else happens to the task takes an unused one away. Pure.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum

from .model import Assent, Consent
from .records import Stored


class ConsentState(StrEnum):
    """What can become of a consent."""

    GIVEN = "given"
    USED = "used"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    """It can no longer be used: the task changed, ended or restarted, or somebody stopped it."""


type Audit = Callable[[str, Consent, ConsentState], None]
"""Is told, for a task's id, what becomes of every consent. Must not fail or block."""


def mint(stored: Stored, assent: Assent | None, *, now: datetime) -> Consent | None:
    """Return the consent that a yes to the open question is; None if it asks for none."""
    action = stored.task.pending_user_action
    if assent is None or action is None or action.consent is None:
        return None
    return Consent(
        question_id=action.id,
        act=action.consent.act,
        screen=action.consent.screen,
        revision=stored.task.goal_revision,
        given_at=now,
        given_by=assent.by,
        given_how=assent.how,
    )


def is_valid(
    stored: Stored, act: str, screen: str, *, now: datetime, life_s: float
) -> bool:
    """Return whether a task's consent covers an act on a screen now."""
    consent = stored.consent
    return (
        consent is not None
        and consent.used_at is None
        and (consent.act, consent.screen) == (act, screen)
        and consent.revision == stored.task.goal_revision
        and not _is_old(consent, now, life_s)
    )


def changes(
    before: Consent | None, after: Consent | None, *, now: datetime, life_s: float
) -> list[tuple[Consent, ConsentState]]:
    """Return what a change of a task means for its consents."""
    if before == after:
        return []
    if before and after and after == replace(before, used_at=after.used_at):
        return [(after, ConsentState.USED)]
    found: list[tuple[Consent, ConsentState]] = []
    if before and before.used_at is None:
        old = _is_old(before, now, life_s)
        found.append((before, ConsentState.EXPIRED if old else ConsentState.WITHDRAWN))
    if after:
        found.append((after, ConsentState.GIVEN))
    return found


def _is_old(consent: Consent, now: datetime, life_s: float) -> bool:
    """Return whether a consent's time is over; a clock that went back cannot tell.

    The time runs from the yes, not from the run that it wakes: a yes is about what the
    person sees now. The phone is kept for them while they are asked, so the run begins
    at once and needs one look and one turn of the model.
    """
    return not timedelta(0) <= now - consent.given_at <= timedelta(seconds=life_s)
