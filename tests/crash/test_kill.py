"""A process that is killed while it writes: 50 times, on a real disk."""

import asyncio
from collections import Counter
from contextlib import closing
import os
from pathlib import Path
import random
import signal
import subprocess
import sys
import time

from custom_components.aiden_duplex.storage.journal import Journal
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import Task
from tests.tasks.house import ScriptedRunner

from . import child

KILLS = 50


class Nursery:
    """Has one child after the other that works on a journal; imports are paid once."""

    def __init__(self, path: Path) -> None:
        """Start the process."""
        self._path = path
        self._process = subprocess.Popen(
            [sys.executable, "-m", child.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def killed_child(self, after: int, later_s: float) -> list[child.Said]:
        """Let a child work, kill it when it said so much, return all that it said."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{self._path}\n")
        said: list[child.Said] = []
        while (one := self._next())[0] != "born":
            said.append(one)
        pid = one[2]
        while len(said) < after:
            said.append(self._next())
            assert said[-1][0] != "dead", "the child died by itself"
        # Not for anything to happen: a moment that falls anywhere.
        time.sleep(later_s)
        os.kill(pid, signal.SIGKILL)
        while (one := self._next())[0] != "dead":
            said.append(one)
        return said

    def _next(self) -> child.Said:
        """Return what is said next; a child that hangs ends by its own deadline."""
        assert self._process.stdout is not None
        what, task_id, number = self._process.stdout.readline().split()
        return what, task_id, int(number)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


async def found(path: Path) -> tuple[list[Task], list[str], str | None]:
    """Return what the next process finds: tasks, what is to be told, and damage."""
    journal = Journal(path)
    manager = TaskManager(
        journal=journal, runner=ScriptedRunner(), now=child.utcnow, limits=child.LIMITS
    )
    await manager.load()
    tasks = manager.tasks()
    untold = [task.id for task in manager.claim("parent")]
    await manager.close(counts=False)
    return tasks, untold, journal.damage


def judge(said: list[child.Said], tasks: list[Task], untold: list[str]) -> None:
    """Compare what is there with everything that was said, also by earlier children."""
    words = {(what, task_id) for what, task_id, _ in said}
    known = {task.id: task for task in tasks}
    assert all(count == 1 for count in Counter(task.prompt for task in tasks).values())
    assert all(count == 1 for count in Counter(untold).values())
    for what, task_id, number in said:
        if (task := known.get(task_id)) is None:
            # Old endings are forgotten, but none that was not on its way to the person.
            assert ("telling", task_id) in words, f"{what} {task_id} is lost"
            continue
        match what:
            case "updated":
                assert task.goal_revision >= number, f"an update of {task} is lost"
            case "completed":
                assert task.status == "completed", f"{task} had completed"
            case "cancelled":
                assert task.status.is_terminal, f"{task} was cancelled"
            case "told":
                assert task_id not in untold, f"{task} would be told twice"


def judge_runs(said: list[child.Said]) -> None:
    """Look for runs of what had ended, and for runs that begin anew without knowing."""
    ended: set[str] = set()
    begun: set[tuple[str, int]] = set()
    for what, task_id, number in said:
        match what:
            case "completed" | "cancelled":
                ended.add(task_id)
            case "run":
                assert task_id not in ended, f"{task_id} ran again after its end"
                again = number != child.RECOVERED and (task_id, number) in begun
                assert not again, f"{task_id} began twice with one goal"
                begun.add((task_id, number))


def test_fifty_kills(tmp_path: Path, counts: list[str]) -> None:
    """What any of the children was told is true for the next ones."""
    path = tmp_path / "aiden_duplex.entry" / "tasks.journal"
    chance = random.Random(1)
    said: list[child.Said] = []
    with closing(Nursery(path)) as nursery:
        for _ in range(KILLS):
            said += nursery.killed_child(chance.randint(1, 150), chance.random() * 0.02)
            tasks, untold, damage = asyncio.run(found(path))
            assert damage is None
            judge(said, tasks, untold)
            judge_runs(said)
    total = Counter(what for what, _, _ in said)
    counts.append(f"kills: {KILLS}, acknowledged: {dict(sorted(total.items()))}")
    assert total["created"] > KILLS
    assert total["cancelled"] > 5
