"""What a damaged journal may have said is not acted against: every bit of the last word."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from custom_components.aiden_duplex.storage.journal import Journal
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import Origin, ReasonClass, Task
from custom_components.aiden_duplex.tasks.records import damage_mark

from .house import ScriptedRunner

NOW = datetime(2026, 11, 3, 9, 0, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the journal is."""
    return tmp_path / "tasks.journal"


async def opened(path: Path) -> tuple[TaskManager, Journal]:
    """Return what the next process finds."""
    journal = Journal(path, damage_mark=damage_mark())
    manager = TaskManager(journal=journal, runner=ScriptedRunner(), now=lambda: NOW)
    await manager.load()
    return manager, journal


def flips(data: bytes, bits: int = 8) -> list[bytes]:
    """Return the data with bits of every byte of its last line and line feed flipped."""
    start = data.rindex(b"\n", 0, -1) + 1 if data.count(b"\n") > 1 else 0
    found = []
    for place in range(start, len(data)):
        for bit in range(place, place + bits):
            broken = bytearray(data)
            broken[place] ^= 1 << bit % 8
            found.append(bytes(broken))
    return found


async def test_a_kill_switch_that_is_damaged_by_a_bit_is_on(path: Path) -> None:
    """Whatever bit of its record, and it stays on."""
    manager, _ = await opened(path)
    await manager.create("goal", origin=Origin(source="action"))
    await manager.halt()
    await manager.close()
    for broken in flips(path.read_bytes()):
        path.write_bytes(broken)
        for _ in range(2):
            manager, _ = await opened(path)
            assert manager.halted, broken
            await manager.close()
        for aside in path.parent.glob("*.corrupt-*"):
            aside.unlink()


async def test_what_may_have_been_cancelled_waits_for_a_word(path: Path) -> None:
    """The last record was the cancel; without it the task would look as if it were wanted."""
    manager, _ = await opened(path)
    task = await manager.create("order a taxi", origin=Origin(source="action"))
    await manager.cancel(task.id)
    await manager.close()
    for broken in flips(path.read_bytes(), bits=1):
        path.write_bytes(broken)
        manager, journal = await opened(path)
        found = manager.get(task.id)
        if journal.damage is None:
            # The line feed was another byte, nothing else: all of it can be read.
            assert found.status == "cancelled", broken
        else:
            assert_held(manager, found)
        await manager.close()
        for aside in path.parent.glob("*.corrupt-*"):
            aside.unlink()


def assert_held(manager: TaskManager, task: Task) -> None:
    """Nothing runs, and a person is asked, with the reason."""
    assert manager.halted
    action = task.pending_user_action
    assert action is not None
    assert action.reason is ReasonClass.HELD
    assert "damaged records" in action.details


async def test_a_word_counts_also_at_the_next_start(path: Path) -> None:
    """Asked once about the same damage, not at every start."""
    manager, _ = await opened(path)
    await manager.create("first", origin=Origin(source="action"))
    task = await manager.create("second", origin=Origin(source="action"))
    await manager.close()
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"first"', b'"fir5t"'))
    manager, journal = await opened(path)
    assert journal.damage is not None
    assert_held(manager, manager.get(task.id))
    await manager.close()

    manager, journal = await opened(path)
    assert journal.damage is None
    assert_held(manager, manager.get(task.id))
    await manager.resume()
    await manager.respond(task.id, "Yes, go on.")
    await manager.close()

    manager, _ = await opened(path)
    assert not manager.halted
    assert manager.get(task.id).pending_user_action is None
    await manager.close()
