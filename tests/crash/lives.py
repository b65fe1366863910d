"""The life of a process: a real task manager with random work over a journal."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
import contextlib
from datetime import datetime, timedelta
import errno
import os
from pathlib import Path
import random
from typing import Any

from custom_components.aiden_duplex.storage.contract import Record
from custom_components.aiden_duplex.storage.files import FileLayer
from custom_components.aiden_duplex.storage.journal import Journal
from custom_components.aiden_duplex.tasks.errors import TaskError
from custom_components.aiden_duplex.tasks.limits import TaskLimits
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import (
    Decision,
    Task,
    TaskEvent,
    TaskEventType,
)
from tests.tasks.house import ORIGIN, START, ScriptedRunner, settle

from .history import ANSWERED, ENDED, TOLD, WAITS, Busy, History, Threaded, Witness
from .power_cut import PowerCutFiles

PATH = Path("/disk/tasks.journal")
LIMITS = TaskLimits(compact_from=12, compact_factor=2, remembered=2, recoveries=50)
"""Small, so that compaction and forgetting happen often."""

_DURABLE_BEFORE = frozenset(TaskEventType) - {
    # Stopping works first and is stored then.
    TaskEventType.CANCELLING,
    TaskEventType.CANCELLED,
}


def now() -> datetime:
    """Return the wall clock's time."""
    return START + timedelta(seconds=asyncio.get_running_loop().time() - 1000)


def opened(files: FileLayer) -> Journal:
    """Return the journal of the tasks on some files."""
    return Journal(PATH, files=files)


class Life:
    """A process from its start until it is cut off or closed.

    Attributes:
        faults: How many of the steps on the disk fail after the start.

    """

    def __init__(
        self, files: PowerCutFiles, history: History, busy: Busy, chance: random.Random
    ) -> None:
        """Start nothing yet."""
        self.history = history
        self.faults = 0.0
        self._files = files
        self._busy = busy
        self._chance = chance
        self._count = 0
        self._steps: list[Callable[[], Coroutine[Any, Any, object]]] = [
            *[self._create] * 4,
            *[self._complete] * 3,
            self._fail,
            *[self._pause] * 2,
            *[self._answer] * 2,
            self._refuse,
            *[self._update] * 2,
            self._take_over,
            self._halt,
            *[self._resume] * 2,
            *[self._cancel] * 2,
            *[self._deliver] * 3,
            self._read,
            self._claim,
            self._wait,
            self._reload,
        ]

    async def live(self, steps: int) -> None:
        """Do random work, sometimes several things at once, and stop orderly."""
        await self._open()
        for _ in range(steps):
            together = self._chance.choice((1, 1, 1, 2, 4))
            chosen = self._chance.choices(self._steps, k=together)
            if self._reload in chosen:
                chosen = [self._reload]
            await asyncio.gather(*(self._do(step) for step in chosen))
            if self._chance.random() < 0.7:
                await settle()
        await self._close()

    async def _do(self, step: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Do one thing; a refusal is an answer, too."""
        with contextlib.suppress(TaskError):
            done = await step()
            if isinstance(done, Task):
                self._acknowledged(done)

    async def _open(self) -> None:
        """Load and begin to work."""
        self._files.before = lambda step, name: None
        self.runner = ScriptedRunner()
        threaded = Threaded(opened(self._files), self._busy)
        journal = Witness(threaded, self._files, self.history)
        self.manager = TaskManager(
            journal=journal, runner=self.runner, now=now, limits=LIMITS
        )
        await self.manager.load()
        if self.faults:
            self._files.before = self._maybe_fail
        else:
            self.manager.subscribe(self._heard)
        self.manager.start()
        await settle()

    def _maybe_fail(self, step: str, name: str) -> None:
        """Refuse a step, as a full or a dying disk does."""
        if self._chance.random() < self.faults:
            code = self._chance.choice((errno.ENOSPC, errno.EIO))
            raise OSError(code, os.strerror(code))

    async def _close(self) -> None:
        """Stop orderly."""
        await self.manager.close()

    def _heard(self, event: TaskEvent) -> None:
        """Check that an event tells of something durable, and remember it."""
        task = event.task
        told = task.status.is_terminal and event.type is TaskEventType.UPDATED
        if event.type not in _DURABLE_BEFORE or event.is_step or told:
            return
        self._acknowledged(task, event.type)
        match event.type:
            case TaskEventType.RUNNING:
                self._ends(task, ANSWERED)
            case TaskEventType.UPDATED | TaskEventType.ANSWERED:
                self._ends(task, WAITS)
            case TaskEventType.COMPLETED | TaskEventType.FAILED:
                self._ends(task)
        match event.type:
            case TaskEventType.ANSWERED:
                self._fact(task, ANSWERED, _has_answer)
            case TaskEventType.NEEDS_YOU:
                self._fact(task, WAITS, _waits)
            case TaskEventType.COMPLETED | TaskEventType.FAILED:
                self._fact(task, f"it {task.status}", _has_status(str(task.status)))

    def _fact(self, task: Task, kind: str, is_true: Callable[[Record], bool]) -> None:
        """Remember what was said."""
        self.history.fact(self._files.position, task.id, kind, is_true)

    def _ends(self, task: Task, *kinds: str) -> None:
        """Remember that something said before stopped to matter."""
        self.history.end(self._files.position, task.id, *kinds)

    def _acknowledged(self, task: Task, why: str = "returned") -> None:
        """Check that what somebody was told of a task is durable."""
        if self.faults:
            # What happened is told even if it cannot be stored.
            return
        shown = _essence(task.as_dict() | {"status": _stored_status(task)})
        durable = self._durable(task)
        is_there = shown in map(_essence, durable)
        assert is_there or _is_foreseen(task, durable), f"{why}, not durable: {shown}"

    def _durable(self, task: Task) -> list[Record]:
        """Return the records of a task that are on the disk."""
        records = self.history.records.get(task.id, [])
        return [
            records[one.index] for one in self.history.durable if one.name == task.id
        ]

    def _some(self, tasks: Iterable[Task]) -> str:
        """Return the id of some task; one that nobody has if there is none."""
        ids = [task.id for task in tasks]
        return self._chance.choice(ids) if ids else "task_none"

    async def _create(self) -> Task:
        self._count += 1
        # Of different sizes, so that a tear can fall anywhere.
        goal = f"goal {self._count} {self._chance.getrandbits(64)}"
        goal += "x" * self._chance.choice((0, 0, 100, 1000))
        return await self.manager.create(goal, origin=ORIGIN)

    async def _complete(self) -> None:
        if self._running:
            self.runner.last.complete(f"done {self._chance.getrandbits(32)}")

    async def _fail(self) -> None:
        if self._running:
            self.runner.last.fail("no network")

    async def _pause(self) -> None:
        if self._running:
            self.runner.last.pause()

    @property
    def _running(self) -> bool:
        """Return whether the last run goes on."""
        return bool(self.runner.calls) and not self.runner.last.end.done()

    @property
    def _waiting(self) -> list[Task]:
        return [task for task in self.manager.tasks() if task.is_waiting]

    async def _answer(self) -> Task:
        return await self.manager.respond(self._some(self._waiting), "the first one")

    async def _refuse(self) -> Task:
        return await self.manager.respond(
            self._some(self._waiting), "no", decision=Decision.REFUSED
        )

    async def _update(self) -> Task:
        goal = f"new goal {self._chance.getrandbits(64)}"
        task = await self.manager.update(self._some(self.manager.tasks()), goal)
        self._fact(task, "the goal", _has_revision(task.goal_revision))
        return task

    async def _take_over(self) -> Task | None:
        task = await self.manager.take_over()
        # A cancel may have come in between.
        return task if task.is_waiting else None

    async def _halt(self) -> None:
        await self.manager.halt()

    async def _resume(self) -> None:
        await self.manager.resume()

    async def _cancel(self) -> None:
        task_id = self._some(self.manager.outstanding())
        task = (await self.manager.cancel(task_id)).task
        # The run may have returned since, and that may be on its way to the disk.
        if self.faults:
            return
        self._ends(task)
        self._fact(task, "it was cancelled", _has_status("cancelling", *ENDED))

    async def _deliver(self) -> None:
        ids = [task.id for task in self.manager.claim("session")]
        self.manager.begin("session", ids)
        await self.manager.acknowledge(ids)
        if not self.faults:
            for task_id in ids:
                self.history.fact(self._files.position, task_id, "it was told", _told)

    async def _read(self) -> None:
        await self.manager.mark_delivered(self._some(self.manager.tasks()))

    async def _claim(self) -> None:
        self.manager.claim("gone")
        await settle()
        self.manager.release("gone")

    async def _wait(self) -> None:
        """Let time pass: a question grows old, a reservation ends."""
        await asyncio.sleep(self._chance.choice((1, 130, 1000)))

    async def _reload(self) -> None:
        await self._close()
        await self._open()


def _has_status(*wanted: str) -> Callable[[Record], bool]:
    return lambda record: record["status"] in wanted


def _has_revision(least: int) -> Callable[[Record], bool]:
    return lambda record: record["goal_revision"] >= least


def _has_answer(record: Record) -> bool:
    """Return whether an answer is kept for the next run, if it has not begun."""
    return not record["resumed"] or record["continuation"] is not None


def _waits(record: Record) -> bool:
    """Return whether a task will not go on without a person's word."""
    if record["status"] in ("cancelling", *ENDED) or record["resumed"]:
        return True
    return record["status"] == "running" and "pending_user_action" in record


def _told(record: Record) -> bool:
    return record["delivery"] in TOLD


_ESSENCE = ("status", "prompt", "goal_revision", "result", "error", "outcome")


def _essence(record: dict[str, Any]) -> dict[str, Any]:
    """Return what was said of a task: not its place or how far its ending was told."""
    question = record.get("pending_user_action") or {}
    return {name: record.get(name) for name in _ESSENCE} | {
        "question": question.get("id")
    }


def _is_foreseen(task: Task, durable: list[Record]) -> bool:
    """Return whether the disk knows the goal of a run that was stopped, and that it was.

    Until the run has returned it shows as running, but a crash must not let it go on.
    """
    return task.status == "running" and any(
        (record["prompt"], record["goal_revision"]) == (task.prompt, task.goal_revision)
        and (_waits(record) or record["status"] == "failed")
        for record in durable[-1:]
    )


def _stored_status(task: Task) -> str:
    """Return the status as it is stored: a new task is queued."""
    return "queued" if task.status == "created" else str(task.status)
