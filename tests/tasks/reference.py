"""The rules of the tasks once more, in the simplest words: a model to compare with.

It knows nothing of journals, coroutines or events; time is a number.
"""

from collections.abc import Callable
from dataclasses import dataclass

ENDED = ("cancelled", "failed", "completed")
UNTOLD = ("queued", "claimed", "delivering")
STUCK_S = 10
RESERVE_S = 120
HOLD_S = 900
TELLINGS = 3


@dataclass
class Yes:
    """What a person agreed to, and until when."""

    act: str
    screen: str
    until: float


@dataclass
class ModelTask:
    """A task."""

    id: str
    updated: float
    status: str = "queued"
    asks: bool = False
    answer: str | None = None
    started: bool = False
    recovered: bool = False
    recoveries: int = 0
    delivery: str = "none"
    session: str | None = None
    hold_back: bool = False
    number: int | None = None
    revision: int = 1
    tellings: int = 0
    heard: bool = False
    consent: tuple[str, str] | None = None
    """The act and the screen that a question asks for."""
    yes: Yes | None = None
    asked_at: float | None = None
    """When it asked for something on the phone itself; None if it asks for something else."""

    @property
    def ended(self) -> bool:
        """Return whether it is over."""
        return self.status in ENDED

    @property
    def outstanding(self) -> bool:
        """Return whether it counts as outstanding."""
        return not self.ended or self.delivery in UNTOLD


@dataclass
class ModelRun:
    """What a run was started with."""

    task: ModelTask
    answer: str | None
    recovered: bool
    told_at: float | None = None
    """When it was first told to end, and why."""
    why: str | None = None
    told_wall: float = 0.0
    revision: int = 1
    """The goal that it works for."""
    began_with: int = 1

    @property
    def is_stale(self) -> bool:
        """Return whether the goal was replaced and it has not taken that up."""
        return self.revision < self.task.revision

    def tell(self, why: str, now: float, wall: float = 0.0) -> None:
        """Tell the run to end; the first reason counts."""
        if self.told_at is None:
            self.told_at, self.why, self.told_wall = now, why, wall


class Model:
    """All tasks and the worker."""

    def __init__(self) -> None:
        """Start empty."""
        self.tasks: dict[str, ModelTask] = {}
        self.resumed: list[ModelTask] = []
        self.new: list[ModelTask] = []
        self.run: ModelRun | None = None
        self.runs: list[ModelRun] = []
        self.reserved: tuple[ModelTask, float] | None = None
        self.halted = False
        self.endings = 0
        self.asked = self.given = self.used = 0
        """Consents, in this process."""

    @property
    def queue(self) -> list[ModelTask]:
        """Return what waits for the worker."""
        return self.resumed + self.new

    def outstanding(self) -> list[str]:
        """Return the outstanding ids, newest first."""
        return [task.id for task in reversed(self.tasks.values()) if task.outstanding]

    def create(self, task_id: str, now: float) -> None:
        """Add a task."""
        task = ModelTask(id=task_id, updated=now)
        self.tasks[task_id] = task
        self.new.append(task)

    def advance(self, until: float, wall: float) -> None:
        """Let pass what happens by itself up to a time."""
        offset = wall - until
        while True:
            self._take_next(self._clock, self._clock + offset)
            moments = []
            if self.run and self.run.told_at is not None:
                moments.append(self.run.told_at + STUCK_S)
            if self.reserved and self.run is None and self.queue and not self.halted:
                moments.append(self.reserved[1])
            due = [moment for moment in moments if moment <= until]
            if not due:
                self._clock = until
                self._take_next(until, wall)
                return
            self._clock = min(due)
            run = self.run
            if run and run.told_at is not None and run.told_at + STUCK_S <= self._clock:
                self.end_run("failed", self._clock, self._clock + offset)

    _clock = 1000.0
    """The time of the loop, which begins there."""

    def _take_next(self, now: float, wall: float) -> None:
        """Start a run if one may start."""
        if self.run is not None or self.halted:
            return
        if self.reserved:
            task, until = self.reserved
            if now >= until or not (task.asks or task in self.queue):
                self.reserved = None
            elif task not in self.queue:
                return
        if not self.queue:
            return
        task = self.reserved[0] if self.reserved else self.queue[0]
        self._out_of_queue(task)
        self.run = ModelRun(
            task,
            task.answer,
            task.recovered,
            revision=task.revision,
            began_with=task.revision,
        )
        self.runs.append(self.run)
        task.status, task.started, task.updated = "running", True, wall
        task.answer, task.recovered = None, False

    def _out_of_queue(self, task: ModelTask) -> None:
        for lane in (self.resumed, self.new):
            if task in lane:
                lane.remove(task)

    def _end(self, task: ModelTask, status: str, wall: float) -> None:
        self._out_of_queue(task)
        self.endings += 1
        task.status, task.asks, task.answer = status, False, None
        task.consent = task.yes = None
        task.recovered = False
        task.delivery, task.number, task.updated = "queued", self.endings, wall

    def end_run(self, status: str, now: float, wall: float) -> None:
        """Let the run end; a cancelled one can only end as cancelled.

        One that was taken over waits, unless it had come to its end by itself.
        """
        assert self.run
        if status == "broken":
            # It could not say what it worked for last.
            self.run.revision, status = self.run.began_with, "failed"
        if self.run.is_stale and self.run.task.status != "cancelling":
            status = "failed"
            if self.run.why is None:
                self._again(wall)
                return
        if self.run.why == "take_over" and status == "failed":
            self.pause_run(now, wall, on_the_phone=True)
            return
        run, self.run = self.run, None
        if run.task.status == "cancelling":
            status = "cancelled"
        self._end(run.task, status, wall)

    def pause_run(
        self,
        now: float,
        wall: float,
        *,
        on_the_phone: bool,
        consent: tuple[str, str] | None = None,
    ) -> None:
        """Let the run ask, perhaps for a consent."""
        assert self.run
        run, self.run = self.run, None
        if run.task.status == "cancelling":
            self._end(run.task, "cancelled", wall)
            return
        if run.is_stale and run.why == "kill_switch":
            self._end(run.task, "failed", wall)
            return
        if run.is_stale and run.why is None:
            self.run = run
            self._again(wall)
            return
        run.task.asks, run.task.updated, run.task.asked_at = True, wall, None
        run.task.yes = None
        if not run.is_stale:
            run.task.consent = consent
            self.asked += consent is not None
        if on_the_phone or (run.is_stale and run.why == "take_over"):
            run.task.asked_at = wall
            self.reserved = run.task, now + RESERVE_S

    def cancel(self, task_id: str, now: float, wall: float) -> tuple[bool, bool]:
        """Cancel; whether an ending was cleared and whether it had ended before."""
        task = self.tasks[task_id]
        if task.ended:
            if task.delivery in ("queued", "claimed"):
                task.delivery, task.session = "suppressed", None
                return True, True
            if task.delivery == "delivering":
                task.hold_back = True
            if task.delivery == "delivered" and not task.heard:
                task.tellings = TELLINGS
            return False, True
        if self.run and self.run.task is task:
            if task.status != "cancelling":
                self.run.tell("canceled", now)
                task.status, task.updated, task.yes = "cancelling", wall, None
            return False, False
        self._end(task, "cancelled", wall)
        return False, False

    def _again(self, wall: float) -> None:
        """Let the task of a run whose goal was replaced run again, before all others."""
        assert self.run
        task, self.run = self.run.task, None
        task.updated, task.yes = wall, None
        self.resumed.insert(0, task)

    def update(self, task_id: str, wall: float) -> bool:
        """Replace a goal; return whether it can be."""
        task = self.tasks[task_id]
        if task.ended or task.status == "cancelling":
            return False
        task.revision += 1
        task.updated = wall
        task.consent = task.yes = None
        if self.run and self.run.task is task:
            self.run.told_wall = wall
        if task.asks:
            task.asks = False
            self.resumed.append(task)
        return True

    def take_over(self, task_id: str | None, now: float, wall: float) -> bool:
        """Let the person do a part; return whether there is something to take over."""
        task = self.run.task if self.run else None
        if task_id is not None:
            task = self.tasks[task_id]
        if task is None:
            return False
        if task.asks:
            self.reserved = task, now + RESERVE_S
            return True
        if task in self.resumed and task.status == "running":
            # It was about to go on with an answer, which is kept.
            self._out_of_queue(task)
            task.asks, task.updated, task.asked_at = True, wall, wall
            task.yes = None
            self.reserved = task, now + RESERVE_S
            return True
        if self.run is None or self.run.task is not task or task.status != "running":
            return False
        self.run.tell("take_over", now, wall)
        return True

    def halt(self, now: float) -> None:
        """Turn the kill switch on."""
        self.halted = True
        self.withdraw()
        if self.run:
            self.run.tell("kill_switch", now)

    def withdraw(self) -> None:
        """Let no yes count any more."""
        for task in self.tasks.values():
            task.yes = None

    def answer(
        self, task_id: str, text: str, wall: float, agreed_until: float | None = None
    ) -> None:
        """Answer a question; a person who agrees does so until a time."""
        task = self.tasks[task_id]
        if task.consent is not None and agreed_until is not None:
            task.yes = Yes(*task.consent, agreed_until)
            self.given += 1
        task.consent = None
        task.asks, task.updated = False, wall
        task.answer = f"{task.answer}\n\n{text}" if task.answer else text
        self.resumed.append(task)

    def refuse(self, task_id: str, wall: float) -> None:
        """Refuse a question."""
        self._end(self.tasks[task_id], "completed", wall)

    def claim(self, session: str) -> list[str]:
        """Claim all endings that wait."""
        claimed = self._told(lambda task: task.delivery == "queued")
        for task in claimed:
            task.delivery, task.session = "claimed", session
        return [task.id for task in claimed]

    def begin(self, session: str, ids: set[str]) -> list[str]:
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

    def acknowledge(self, ids: set[str]) -> None:
        """End telling."""
        for task in self.tasks.values():
            if task.id in ids and task.delivery == "delivering":
                task.delivery, task.session = "delivered", None
                task.tellings += 1

    def unheard(self) -> list[str]:
        """Return what was told and not heard."""
        return [
            task.id
            for task in self._told(
                lambda task: task.delivery == "delivered" and not task.heard
            )
        ]

    def hear(self, ids: set[str]) -> None:
        """Note that endings were heard."""
        for task_id in ids & set(self.unheard()):
            self.tasks[task_id].heard = True

    def retell(self, ids: set[str]) -> None:
        """Tell once more what was not heard."""
        for task_id in ids & set(self.unheard()):
            self.tasks[task_id].tellings += 1

    def read(self, task_id: str) -> None:
        """Read an ending by a query."""
        task = self.tasks[task_id]
        if task.delivery in UNTOLD:
            task.delivery, task.session = "delivered", None
            task.tellings += 1

    def release(self, session: str) -> None:
        """End a session."""
        for task in self.tasks.values():
            if task.session == session and task.delivery in ("claimed", "delivering"):
                task.session = None
                task.delivery = "suppressed" if task.hold_back else "queued"

    def restart(self, wall: float, stopped: float | None) -> None:
        """Let the process end and start again.

        ``stopped`` is when it was stopped orderly; None for a crash, which is alike but
        for when a run that was taken over had asked.
        """
        run, self.run, self.reserved = self.run, None, None
        self.withdraw()
        self.asked = self.given = self.used = 0
        for task in self.tasks.values():
            task.session = None
            if task.delivery in UNTOLD:
                task.delivery = "suppressed" if task.hold_back else "queued"
        if run and run.task.status == "cancelling":
            self._end(run.task, "cancelled", wall)
        elif run and run.why == "take_over":
            run.task.asks, run.task.updated = True, wall
            run.task.asked_at = run.told_wall if stopped is None else stopped
        elif run and run.why == "kill_switch":
            self._end(run.task, "failed", wall)
        for task in self.tasks.values():
            old = abs(wall - task.updated) > HOLD_S
            if task.ended or task.asks:
                continue
            if run and run.task is task:
                task.status, task.recovered, task.updated = "queued", True, wall
                task.recoveries += 1
                self.resumed.insert(0, task)
                if task.recoveries > 2:
                    self._end(task, "failed", wall)
                    continue
            if old:
                self._out_of_queue(task)
                task.status, task.asks, task.updated = "running", True, wall
                task.asked_at = None
        asked = [
            (task.asked_at, task)
            for task in self.tasks.values()
            if task.asks and task.asked_at is not None
        ]
        if asked:
            at, task = max(asked, key=lambda entry: entry[0])
            self.reserved = task, self._clock + RESERVE_S - (wall - at)

    def _told(self, wanted: Callable[[ModelTask], bool]) -> list[ModelTask]:
        found = [task for task in self.tasks.values() if wanted(task)]
        return sorted(found, key=lambda task: task.number or 0)
