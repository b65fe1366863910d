"""Disks that refuse: nothing new is taken on, stopping works, and it heals."""

import asyncio
import errno
import os
from pathlib import Path

import pytest

from custom_components.aiden_duplex.storage.files import OsFiles
from custom_components.aiden_duplex.storage.journal import Journal, JournalError
from custom_components.aiden_duplex.tasks.errors import TaskStorageError
from custom_components.aiden_duplex.tasks.manager import TaskManager
from tests.tasks.house import ORIGIN, ScriptedRunner, settle
from tests.virtual_time import VirtualTimeLoop

from .history import Busy, Threaded
from .lives import now, opened
from .power_cut import SYNC, SYNC_FOUND, WRITE, PowerCutFiles

FAILURES = {
    "no_space": (errno.ENOSPC, (WRITE,)),
    "sync_fails": (errno.EIO, (SYNC, SYNC_FOUND)),
    "read_only": (errno.EROFS, ("open", "remove", "replace", WRITE)),
}


def manager_on(files: PowerCutFiles, busy: Busy) -> tuple[TaskManager, ScriptedRunner]:
    """Return a manager over the real journal."""
    runner = ScriptedRunner()
    journal = Threaded(opened(files), busy)
    return TaskManager(journal=journal, runner=runner, now=now), runner


@pytest.mark.parametrize("failure", FAILURES)
def test_new_work_is_refused_stopping_works_and_it_heals(failure: str) -> None:
    """With the system's own words; what was stopped meanwhile stays stopped."""
    code, steps = FAILURES[failure]
    busy = Busy()
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(busy)) as loop:
        loop.run(_refuse_and_heal(code, steps, busy))


async def _refuse_and_heal(code: int, steps: tuple[str, ...], busy: Busy) -> None:
    files = PowerCutFiles()
    manager, runner = manager_on(files, busy)
    await manager.load()
    manager.start()
    running = await manager.create("running", origin=ORIGIN)
    queued = await manager.create("queued", origin=ORIGIN)
    await settle()

    def fail(step: str, name: str) -> None:
        if step in steps:
            raise OSError(code, os.strerror(code))

    files.before = fail
    for _ in range(3):
        with pytest.raises(TaskStorageError, match=os.strerror(code)):
            await manager.create("refused", origin=ORIGIN)
        with pytest.raises(TaskStorageError, match=os.strerror(code)):
            await manager.update(queued.id, "another goal")
    await manager.cancel(running.id)
    await manager.cancel(queued.id)
    await manager.halt()
    await settle()
    assert runner.log == ["run running", "revoke", "returned running"]
    assert manager.get(running.id).status == "cancelled"
    with pytest.raises(TaskStorageError):
        await manager.resume()
    files.before = lambda step, name: None
    await asyncio.sleep(600)
    disk = files.safe_disk()
    await manager.resume()
    await manager.create("taken on", origin=ORIGIN)
    await manager.close()

    after, _ = manager_on(PowerCutFiles(disk), busy)
    await after.load()
    assert {task.prompt: str(task.status) for task in after.tasks()} == {
        "running": "cancelled",
        "queued": "cancelled",
    }
    assert after.halted
    await after.close()


async def test_writes_that_take_a_few_bytes_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is written, too, and nothing is mixed up."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:7]))
    path = tmp_path / "tasks.journal"
    journal = Journal(path, files=OsFiles())
    await journal.open()
    await asyncio.gather(*(journal.append({"n": number}) for number in range(20)))
    await journal.compact([{"n": number} for number in range(10, 20)])
    await journal.append({"n": 20})
    await journal.close()
    again = Journal(path)
    assert await again.open() == [{"n": number} for number in range(10, 21)]
    await again.close()
    assert again.damage is None


async def test_a_disk_that_fills_up_in_the_middle_of_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part that was taken is cut off again; what was there stays."""
    path = tmp_path / "tasks.journal"
    journal = Journal(path)
    await journal.open()
    await journal.append({"n": 1})
    size = path.stat().st_size
    write = os.write
    room = [5]

    def fill(fd: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = write(fd, data[: room[0]])
        room[0] -= taken
        return taken

    monkeypatch.setattr(os, "write", fill)
    with pytest.raises(JournalError, match="No space left"):
        await journal.append({"n": 2})
    assert path.stat().st_size == size
    monkeypatch.undo()
    assert await journal.open() == [{"n": 1}]
    await journal.append({"n": 3})
    await journal.close()
