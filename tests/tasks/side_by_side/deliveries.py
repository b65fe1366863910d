"""The reference of the endings: told once, claimed by one, forgotten when they may be."""

from collections.abc import Callable, Iterable
import pickle
from typing import Any, Self

from .things import UNTOLD, ModelTask

TELLINGS = 3
DEBOUNCE_S = 0.5
DEBOUNCE_MOST_S = 10.0


class Endings:
    """All tasks, and how far their endings got.

    Attributes:
        trail: While it is wanted, copies of all of this after every change that has to be
            durable by itself: what a crash may leave.

    """

    def __init__(self, remembered: int) -> None:
        """Start empty."""
        self.remembered = remembered
        self.tasks: dict[str, ModelTask] = {}
        self.endings = 0
        self.clock = 0.0
        self.offset = 0.0
        self.watermark = 0
        self.wakes: list[int] = []
        self.wake_at: float | None = None
        self.wake_since = 0.0
        self.trail: list[Any] | None = None

    @property
    def wall(self) -> float:
        """Return the wall clock's time."""
        return self.clock + self.offset

    def copy(self) -> Self:
        """Return all of this once more."""
        trail, self.trail = self.trail, None
        try:
            copied: Self = pickle.loads(pickle.dumps(self, pickle.HIGHEST_PROTOCOL))
        finally:
            self.trail = trail
        return copied

    def mark(self) -> None:
        """Note that what was changed is durable now, whatever follows."""
        if self.trail is not None:
            self.trail.append(self.copy())

    def newest_first(self) -> list[ModelTask]:
        """Return all tasks as they are listed."""
        key = _age
        return sorted(self.tasks.values(), key=key, reverse=True)

    def outstanding(self) -> list[str]:
        """Return the outstanding ids, newest first."""
        return [task.id for task in self.newest_first() if task.outstanding]

    def claim(self, session: str) -> list[str]:
        """Claim all endings that wait."""
        claimed = self._told(lambda task: task.delivery == "queued")
        for task in claimed:
            task.delivery, task.session = "claimed", session
        return [task.id for task in claimed]

    def begin(self, session: str, ids: Iterable[str]) -> list[str]:
        """Begin to tell."""
        begun = self._told(
            lambda task: (
                task.delivery == "claimed"
                and task.session == session
                and task.id in ids
            )
        )
        for task in begun:
            task.delivery = "delivering"
        return [task.id for task in begun]

    def acknowledge(self, ids: Iterable[str]) -> None:
        """End telling."""
        for task in self._told(lambda task: task.delivery == "delivering"):
            if task.id in ids:
                self._deliver(task)

    def read(self, task: ModelTask) -> None:
        """Read an ending by a query."""
        if task.delivery in UNTOLD:
            self._deliver(task)

    def unheard(self) -> list[str]:
        """Return what was told and not heard."""
        return [
            task.id
            for task in self._told(
                lambda task: task.delivery == "delivered" and not task.heard
            )
        ]

    def hear(self, ids: Iterable[str]) -> None:
        """Note that endings were heard."""
        for task_id in self.unheard():
            if task_id in ids:
                self.tasks[task_id].heard = True
                self.mark()

    def retell(self, ids: Iterable[str]) -> None:
        """Tell once more what was not heard."""
        for task_id in self.unheard():
            if task_id in ids:
                self.tasks[task_id].tellings += 1
                self.mark()

    def release(self, session: str) -> None:
        """End a session."""
        for task in self._told(lambda task: task.session == session):
            task.session = None
            task.delivery = "suppressed" if task.hold_back else "queued"
            if task.hold_back:
                self.forget()
                self.mark()

    def suppress(self, task: ModelTask) -> bool:
        """Let an ending not be told any more; return whether that was still possible."""
        match task.delivery:
            case "queued" | "claimed":
                task.delivery, task.session = "suppressed", None
                self.forget()
                self.mark()
                return True
            case "delivering":
                task.hold_back = True
                self.mark()
            case "delivered" if not task.heard:
                task.tellings = TELLINGS
                self.mark()
        return False

    def opened_session(self, number: int) -> None:
        """Note that somebody is being told of all endings up to a number."""
        self.watermark = max(self.watermark, min(number, self.endings))

    def said(self) -> None:
        """Note that an ending is known: somebody is to be woken soon."""
        if self.wake_at is None:
            self.wake_since = self.clock
        self.wake_at = min(self.clock + DEBOUNCE_S, self.wake_since + DEBOUNCE_MOST_S)

    def wake(self) -> None:
        """Wake, unless nothing waits that nobody was woken for."""
        self.wake_at = None
        if self._told(
            lambda task: (
                task.delivery == "queued" and (task.number or 0) > self.watermark
            )
        ):
            self.wakes.append(self.endings)

    def forget(self) -> None:
        """Forget the oldest endings that were told."""
        ended = self._told(lambda task: task.ended)
        for task in ended[: max(0, len(ended) - self.remembered)]:
            if not task.outstanding:
                del self.tasks[task.id]

    def _deliver(self, task: ModelTask) -> None:
        task.delivery, task.session = "delivered", None
        task.tellings += 1
        self.forget()
        self.mark()

    def _told(self, wanted: Callable[[ModelTask], bool]) -> list[ModelTask]:
        """Return tasks in the order of their endings."""
        found = [task for task in self.tasks.values() if wanted(task)]
        return sorted(found, key=lambda task: task.number or 0)


def _age(task: ModelTask) -> tuple[float, str]:
    return task.created, task.id
