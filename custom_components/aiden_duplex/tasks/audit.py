"""The audit trail: who asked for what, what was done on the phone, how it ended."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from datetime import datetime
import itertools
import logging
from typing import Any

from ..storage.contract import JournalError, JournalProtocol, Record
from .consents import ConsentChange
from .lifecycle import tidy
from .model import Origin, TaskEvent, TaskEventType

_LOGGER = logging.getLogger(__name__)

KEPT = 5000
"""Newest records that are kept, of about 300 bytes; our choice."""
_EXTRA = 1000
"""So many more lie on the disk before the old ones are cut off."""
_BATCH = 500
"""Records that are written at once, well below what a journal lets wait."""
_RETRY_S = 60.0
"""Pause before a journal that failed is tried again; our choice."""
TEXT_CHARS = 300
"""A longer text is cut."""
SCREEN_CHARS = 12
"""So much of a screen's hash tells the few apart that are asked about."""

_WITH_GOAL = (TaskEventType.CREATED, TaskEventType.UPDATED)


class AuditTrail:
    """Keeps short records in order; noting one never fails and never waits.

    What was typed, answered or read on the screen is not in it: that may be a secret.
    """

    def __init__(
        self,
        journal: JournalProtocol,
        *,
        now: Callable[[], datetime],
        kept: int = KEPT,
        extra: int = _EXTRA,
    ) -> None:
        """Touch nothing yet. ``now`` returns UTC."""
        self._journal = journal
        self._now = now
        self._extra = extra
        self._records: deque[Record] = deque(maxlen=kept)
        self._unwritten = 0
        """So many of the newest records are not on the disk yet."""
        self._on_disk = 0
        self._broken = False
        self._retry_at = 0.0
        self._paused_until = 0.0
        self._drainer: asyncio.Task[None] | None = None
        self._open = False

    async def load(self) -> None:
        """Read the newest records.

        Raises:
            JournalError: The journal cannot be read.

        """
        records = await self._journal.open()
        self._records.extend(records)
        self._on_disk = len(records)
        self._open = True

    async def flush(self) -> None:
        """Return when nothing is on its way to the disk."""
        if (drainer := self._drainer) is not None:
            await asyncio.wait({drainer})

    def pause_compaction(self, seconds: float) -> None:
        """Let the journal only grow for a while; 0 ends that."""
        self._paused_until = asyncio.get_running_loop().time() + seconds

    async def close(self) -> None:
        """Write what waits, once more if that failed before, and let go of the journal."""
        if not self._open:
            return
        self._retry_at = 0.0
        self._kick()
        self._open = False
        await self.flush()
        await self._journal.close()

    def records(
        self,
        *,
        task_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int,
    ) -> tuple[list[Record], bool]:
        """Return the newest records that fit, the oldest first, and whether there are more."""
        found: deque[Record] = deque(maxlen=limit)
        count = 0
        for record in self._records:
            at = datetime.fromisoformat(record["at"])
            if (
                (task_id is None or record.get("task") == task_id)
                and (since is None or at >= since)
                and (until is None or at < until)
            ):
                found.append(record)
                count += 1
        return list(found), count > limit

    def note(self, kind: str, *, task: str | None = None, **details: Any) -> None:
        """Keep a record; texts are cut, what is None is left out."""
        if not self._open:
            return
        values = {"at": self._now().isoformat(), "kind": kind, "task": task, **details}
        record = {
            name: tidy(value, TEXT_CHARS) if isinstance(value, str) else value
            for name, value in values.items()
            if value is not None
        }
        self._records.append(record)
        self._unwritten = min(self._unwritten + 1, len(self._records))
        self._kick()

    def note_task(self, event: TaskEvent) -> None:
        """Keep what happened to a task; a live step or a result that was told is neither."""
        task = event.task
        is_told = event.type is TaskEventType.UPDATED and task.status.is_terminal
        if event.is_step or is_told or event.type is TaskEventType.CONSENT_USED:
            # Consents have records of their own.
            return
        action = task.pending_user_action
        self.note(
            "task",
            task=task.id,
            event=str(event.type),
            **_who(task.origin),
            goal=task.prompt if event.type in _WITH_GOAL else None,
            goal_revision=task.goal_revision,
            question=action and action.id,
            reason=action and str(action.reason),
            outcome=task.outcome and str(task.outcome),
        )

    def note_request(self, action: str, who: Origin, task_id: str | None) -> None:
        """Keep what a person or an automation asked for, whatever comes of it."""
        self.note("request", task=task_id, action=action, **_who(who))

    def note_consent(self, task_id: str, change: ConsentChange) -> None:
        """Keep what became of a consent: the act by its name, as what it types may be secret."""
        consent = change.consent
        self.note(
            "consent",
            task=task_id,
            state=str(change.state),
            question=change.question_id,
            act=change.request.act.partition(" ")[0],
            screen=change.request.screen[:SCREEN_CHARS],
            goal_revision=consent and consent.revision,
            how=consent and str(consent.given_how),
            given_at=consent and consent.given_at.isoformat(),
            **(_who(consent.given_by) if consent else {}),
        )

    def note_act(self, task_id: str, act: str, **details: Any) -> None:
        """Keep an act on the phone, before it is done, or that it failed."""
        self.note("act", task=task_id, act=act, **details)

    def _kick(self) -> None:
        if self._open and self._drainer is None and self._unwritten:
            self._drainer = asyncio.create_task(self._drain(), name="audit trail")

    async def _drain(self) -> None:
        """Write until nothing waits, or the disk refuses."""
        try:
            while self._unwritten and await self._write():
                pass
        except JournalError as err:
            if not self._broken:
                _LOGGER.error("The audit trail cannot be stored: %s", err)
            self._broken = True
            self._retry_at = asyncio.get_running_loop().time() + _RETRY_S
        finally:
            self._drainer = None

    async def _write(self) -> bool:
        """Write what waits; False while a journal that failed is left alone.

        Raises:
            JournalError: It is not stored; it waits on.

        """
        time = asyncio.get_running_loop().time()
        if self._broken and time < self._retry_at:
            return False
        is_long = self._on_disk + self._unwritten > len(self._records) + self._extra
        if self._broken:
            await self._journal.open()
        if self._broken or (is_long and time >= self._paused_until):
            count = self._unwritten
            kept = list(self._records)
            await self._journal.compact(kept)
            self._on_disk = len(kept)
        else:
            count = min(self._unwritten, _BATCH)
            first = len(self._records) - self._unwritten
            batch = itertools.islice(self._records, first, first + count)
            await _all([self._journal.append(record) for record in batch])
            self._on_disk += count
        self._unwritten -= count
        self._broken = False
        return True


async def _all(appends: list[Coroutine[Any, Any, None]]) -> None:
    """Wait for all, then raise the first error."""
    results = await asyncio.gather(*appends, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result


def _who(origin: Origin) -> dict[str, str | None]:
    """Return who asked, as far as it is known."""
    return {
        "source": origin.source,
        "user_id": origin.user_id,
        "context_id": origin.context_id,
        "device_id": origin.device_id,
    }
