"""Consents: a person's yes to one exact act, on one exact screen, once, within a minute.

A consent stands in the record of its task, so a yes and its consent are durable in one
write, and whatever else happens to the task takes an unused one away. Pure.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from .model import Assent, Consent, ConsentRequest, TaskStatus, UserAction
from .records import Stored


class ConsentState(StrEnum):
    """What can become of a consent."""

    ASKED = "asked"
    GIVEN = "given"
    REFUSED = "refused"
    USED = "used"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    """It can no longer be given or used: the task changed, ended or restarted, or somebody
    stopped it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentChange:
    """What became of one consent."""

    state: ConsentState
    question_id: str
    request: ConsentRequest
    consent: Consent | None = None
    """The yes, if there was one."""


type Audit = Callable[[str, ConsentChange], None]
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
    before: Stored, after: Stored, *, now: datetime, life_s: float
) -> list[ConsentChange]:
    """Return what a change of a task means for its consents; in order."""
    found: list[ConsentChange] = []
    was_asked, is_asked = _asked(before), _asked(after)
    had, has = before.consent, after.consent
    if has != had:
        if had and has and has == replace(had, used_at=has.used_at):
            found.append(_of(has, ConsentState.USED))
        else:
            if had and had.used_at is None:
                old = _is_old(had, now, life_s)
                state = ConsentState.EXPIRED if old else ConsentState.WITHDRAWN
                found.append(_of(had, state))
            if has:
                found.append(_of(has, ConsentState.GIVEN))
    if was_asked != is_asked:
        if was_asked and not has:
            # Only a refusal completes a task that waits.
            refused = after.task.status is TaskStatus.COMPLETED
            state = ConsentState.REFUSED if refused else ConsentState.WITHDRAWN
            found.append(_about(was_asked, state))
        if is_asked:
            found.append(_about(is_asked, ConsentState.ASKED))
    return found


def _asked(stored: Stored) -> UserAction | None:
    """Return the open question of a task, if it asks for a consent."""
    action = stored.task.pending_user_action
    return action if action and action.consent else None


def _about(action: UserAction, state: ConsentState) -> ConsentChange:
    """Return what became of a question."""
    assert action.consent is not None
    return ConsentChange(state=state, question_id=action.id, request=action.consent)


def _of(consent: Consent, state: ConsentState) -> ConsentChange:
    """Return what became of a yes."""
    return ConsentChange(
        state=state,
        question_id=consent.question_id,
        request=ConsentRequest(act=consent.act, screen=consent.screen),
        consent=consent,
    )


def _is_old(consent: Consent, now: datetime, life_s: float) -> bool:
    """Return whether a consent's time is over; a clock that went back cannot tell.

    The time runs from the yes, not from the run that it wakes: a yes is about what the
    person sees now. The phone is kept for them while they are asked, so the run begins
    at once and needs one look and one turn of the model.
    """
    return not timedelta(0) <= now - consent.given_at <= timedelta(seconds=life_s)
