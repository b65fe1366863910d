"""The rules of the tasks once more, in the simplest words: a model to compare with.

It knows nothing of journals, coroutines or events; time is a number.
"""

from .deliveries import Endings
from .things import ModelRun, ModelTask

STUCK_S = 10
RESERVE_S = 120
HOLD_S = 900
RUN_S = 7200
RECOVERIES = 2
CONSENT_S = 60


class Model(Endings):
    """All tasks and the worker."""

    def __init__(self, remembered: int) -> None:
        """Start empty."""
        super().__init__(remembered)
        self.resumed: list[ModelTask] = []
        self.new: list[ModelTask] = []
        self.run: ModelRun | None = None
        self.runs: list[ModelRun] = []
        """Those of this process."""
        self.reserved: tuple[ModelTask, float] | None = None
        self.halted = False
        self.asked = self.used = 0
        """Consents, in this process."""

    @property
    def queue(self) -> list[ModelTask]:
        """Return what waits for the worker."""
        return self.resumed + self.new

    def create(self, task_id: str, goal: str) -> None:
        """Add a task."""
        task = ModelTask(task_id, created=self.wall, updated=self.wall, goal=goal)
        self.tasks[task_id] = task
        self.new.append(task)
        self.mark()

    def advance(self, until: float) -> None:
        """Let pass what happens by itself up to a time."""
        while True:
            self._take_next()
            due = [moment for moment in self._moments() if moment <= until]
            if not due:
                self.clock = until
                self._take_next()
                return
            self.clock = max(self.clock, min(due))
            if self.wake_at is not None and self.wake_at <= self.clock:
                self.wake()
            if (run := self.run) is None:
                continue
            if run.told_at is not None and run.told_at + STUCK_S <= self.clock:
                self.end_run("stuck")
            elif run.told_at is None and run.began_at + RUN_S <= self.clock:
                run.tell("overdue", self.clock, self.wall)
                self.end_run("stuck")
                if run.task.revision == 1:
                    run.task.applied = 1

    def _moments(self) -> list[float]:
        """Return when something may happen by itself."""
        moments = [] if self.wake_at is None else [self.wake_at]
        if (run := self.run) is not None:
            moments.append(
                run.began_at + RUN_S if run.told_at is None else run.told_at + STUCK_S
            )
        elif self.reserved and self.queue and not self.halted:
            moments.append(self.reserved[1])
        return moments

    def _take_next(self) -> None:
        """Start a run if one may start."""
        if self.run is not None or self.halted:
            return
        if self.reserved:
            task, until = self.reserved
            if self.clock >= until or not (task.asks or task in self.queue):
                self.reserved = None
            elif task not in self.queue:
                return
        if not self.queue:
            return
        task = self.reserved[0] if self.reserved else self.queue[0]
        self.out_of_queue(task)
        self.run = ModelRun(
            task,
            task.goal,
            task.answer,
            task.recovered,
            revision=task.revision,
            began_with=task.revision,
            began_at=self.clock,
        )
        self.runs.append(self.run)
        task.status, task.started, task.updated = "running", True, self.wall
        task.answer, task.recovered = None, False
        self.mark()

    def out_of_queue(self, task: ModelTask) -> None:
        """Let a task wait for the worker no more."""
        for lane in (self.resumed, self.new):
            if task in lane:
                lane.remove(task)

    def end(self, task: ModelTask, status: str) -> None:
        """End a task: no question, no answer left, to be told."""
        self.out_of_queue(task)
        self.endings += 1
        task.status, task.asks, task.answer = status, False, None
        task.consent = task.yes = None
        task.recovered = False
        task.delivery, task.number = "queued", self.endings
        task.updated = self.wall
        self.said()
        self.forget()
        self.mark()

    def ask(
        self,
        task: ModelTask,
        *,
        on_the_phone: bool,
        since: float | None = None,
        consent: tuple[str, str] | None = None,
    ) -> None:
        """Let a task wait for a person, who may need the phone."""
        task.consent, task.yes = consent, None
        self.asked += consent is not None
        self.out_of_queue(task)
        task.status, task.asks, task.updated = "running", True, self.wall
        task.asked_at = None
        if on_the_phone:
            task.asked_at = self.wall if since is None else since
            self.reserved = task, self.clock + RESERVE_S
        self.mark()

    def end_run(self, how: str) -> None:
        """Let the run end: ``completed``, ``failed``, ``broken`` or ``stuck``.

        A cancelled one can only end as cancelled. One that was taken over waits, unless
        it had come to its end by itself. One whose goal was replaced runs again.
        """
        assert self.run
        run, task = self.run, self.run.task
        if how == "broken":
            # It could not say what it worked for last.
            run.revision, how = run.began_with, "failed"
        status = "completed" if how == "completed" else "failed"
        if run.is_stale and task.status != "cancelling":
            status = "failed"
            if run.why is None:
                self._again()
                return
        self.run = None
        if task.status == "cancelling":
            self.end(task, "cancelled")
            return
        if run.why == "take_over" and status == "failed":
            self.ask(task, on_the_phone=True)
            return
        if not run.is_stale and (status == "completed" or run.why is None):
            task.applied = task.revision
        self.end(task, status)

    def pause_run(
        self, *, on_the_phone: bool, consent: tuple[str, str] | None = None
    ) -> None:
        """Let the run ask, perhaps for a consent."""
        assert self.run
        run, task = self.run, self.run.task
        if run.is_stale and run.why is None and task.status != "cancelling":
            self._again()
            return
        self.run = None
        if task.status == "cancelling":
            self.end(task, "cancelled")
        elif run.is_stale and run.why == "kill_switch":
            self.end(task, "failed")
        else:
            if not run.is_stale:
                task.applied = task.revision
            if run.is_stale:
                consent = None
            self.ask(task, on_the_phone=on_the_phone or run.is_stale, consent=consent)

    def _again(self) -> None:
        """Let the task of a run whose goal was replaced run again, before all others."""
        assert self.run
        task, self.run = self.run.task, None
        task.updated, task.yes = self.wall, None
        self.resumed.insert(0, task)
        self.mark()

    def cancel(self, task: ModelTask) -> tuple[bool, bool]:
        """Cancel; whether an ending was cleared and whether it had ended before."""
        if task.ended:
            return self.suppress(task), True
        if self.run and self.run.task is task:
            if task.status != "cancelling":
                self.run.tell("canceled", self.clock, self.wall)
                task.status, task.updated = "cancelling", self.wall
                task.yes = None
                self.mark()
            return False, False
        self.end(task, "cancelled")
        return False, False

    def update(self, task: ModelTask, goal: str) -> bool:
        """Replace a goal; return whether it can be."""
        if task.ended or task.status == "cancelling":
            return False
        task.revision += 1
        task.goal = goal
        task.updated = self.wall
        task.consent = task.yes = None
        if self.run and self.run.task is task:
            self.run.told_wall = self.wall
        if task.asks:
            task.asks = False
            self.resumed.append(task)
        self.mark()
        return True

    def take_over(self, task: ModelTask | None) -> bool:
        """Let the person do a part; return whether there is something to take over."""
        task = task or (self.run.task if self.run else None)
        if task is None:
            return False
        if task.asks:
            self.reserved = task, self.clock + RESERVE_S
            return True
        if task in self.resumed and task.status == "running":
            # It was about to go on with an answer, which is kept.
            self.ask(task, on_the_phone=True)
            return True
        if self.run is None or self.run.task is not task or task.status != "running":
            return False
        self.run.tell("take_over", self.clock, self.wall)
        self.mark()
        return True

    def halt(self) -> None:
        """Turn the kill switch on."""
        self.withdraw()
        if self.run:
            self.run.tell("kill_switch", self.clock, self.wall)
            self.mark()
        self.halted = True
        self.mark()

    def resume(self) -> None:
        """Turn the kill switch off; what became old asks first."""
        if not self.halted:
            return
        self.halted = False
        self.mark()
        for task in list(self.tasks.values()):
            if task in self.queue and self.is_old(task):
                self.ask(task, on_the_phone=False)

    def is_old(self, task: ModelTask) -> bool:
        """Return whether nobody may want a task any more; a clock that went back cannot tell."""
        return abs(self.wall - task.updated) > HOLD_S

    def withdraw(self) -> None:
        """Let no yes count any more."""
        for task in self.tasks.values():
            task.yes = None

    def spend(self, act: str, screen: str) -> bool:
        """Do what the task in work has a yes for; return whether it has."""
        run = self.run
        if run is None or run.told_at is not None or run.task.yes is None:
            return False
        if run.task.yes[:2] != (act, screen) or self.clock > run.task.yes[2]:
            return False
        run.task.yes = None
        self.used += 1
        self.mark()
        return True

    def answer(self, task: ModelTask, text: str, *, agrees: bool = False) -> None:
        """Answer a question; a person thereby agrees if that was asked."""
        if agrees and task.consent is not None:
            task.yes = *task.consent, self.clock + CONSENT_S
        task.consent = None
        task.asks, task.updated = False, self.wall
        task.answer = f"{task.answer}\n\n{text}" if task.answer else text
        self.resumed.append(task)
        self.mark()
