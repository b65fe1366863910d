"""A backup holds complete journals; what comes back from one waits for a word."""

import asyncio
from pathlib import Path, PurePath
import shutil
from typing import Any

from homeassistant.components.backup.const import DATA_MANAGER, EXCLUDE_FROM_BACKUP
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.aiden_duplex.runtime import Aiden, mark_file, storage_folder
from custom_components.aiden_duplex.tasks.model import Origin, ReasonClass, TaskStatus

from .conftest import do_task


async def _waiting(entry: MockConfigEntry) -> str:
    """Create a task that cannot run yet."""
    aiden: Aiden = entry.runtime_data
    await aiden.async_halt()
    await aiden.async_resume()
    worker: Any = aiden.tasks._worker
    await worker.stop(1.0, counts=False)
    task = await aiden.tasks.create("open the notes", origin=Origin(source="action"))
    assert task.status is TaskStatus.QUEUED
    return task.id


async def _restored(hass: HomeAssistant, entry: MockConfigEntry, copy: Path) -> None:
    """Unload, put the folder of a backup in place as a restore does, set up again."""
    await hass.config_entries.async_unload(entry.entry_id)
    folder = storage_folder(hass, entry.entry_id)
    shutil.rmtree(folder)
    shutil.copytree(copy, folder)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()


@pytest.mark.parametrize("mark_stays", [True, False])
async def test_work_of_a_restored_backup_is_held(
    hass: HomeAssistant, entry: MockConfigEntry, tmp_path: Path, mark_stays: bool
) -> None:
    """It may have been done since: a question instead of a run, also after a restart."""
    assert await async_setup_component(hass, "backup", {})
    await hass.async_block_till_done()
    manager = hass.data[DATA_MANAGER]
    task_id = await _waiting(entry)
    await manager.async_pre_backup_actions()
    copy = tmp_path / "backup"
    shutil.copytree(storage_folder(hass, entry.entry_id), copy)
    await manager.async_post_backup_actions()
    if not mark_stays:
        mark_file(hass, entry.entry_id).unlink()
    await _restored(hass, entry, copy)
    for _ in range(2):
        task = entry.runtime_data.tasks.get(task_id)
        assert task.is_waiting
        assert task.pending_user_action.reason is ReasonClass.HELD
        assert "restored backup" in task.pending_user_action.details
        assert await hass.config_entries.async_reload(entry.entry_id)


async def test_work_goes_on_after_a_mere_restart(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """Nothing was restored, so nobody is asked."""
    task_id = await _waiting(entry)
    await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    assert not entry.runtime_data.tasks.get(task_id).is_waiting


async def test_no_backup_holds_the_outer_mark(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """By the rules of Core, and by those of the Supervisor, which leave out ``*.log`` too."""
    mark = mark_file(hass, entry.entry_id)
    assert mark.exists()
    name = PurePath("data") / mark.relative_to(hass.config.config_dir)
    assert any(name.full_match(f"data/{rule}") for rule in EXCLUDE_FROM_BACKUP)
    assert name.match("*.log")
    inner = storage_folder(hass, entry.entry_id) / "run"
    assert inner.read_bytes() == mark.read_bytes()


async def test_journals_are_only_appended_to_during_a_backup(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """What is on its way is written first; afterwards the journal is made short again."""
    assert await async_setup_component(hass, "backup", {})
    await hass.async_block_till_done()
    manager = hass.data[DATA_MANAGER]
    journal = storage_folder(hass, entry.entry_id) / "tasks.journal"
    ledger = entry.runtime_data.tasks._book.ledger
    ledger._compact_at = 2
    creating = asyncio.create_task(do_task(hass, entry, "first"))
    await asyncio.sleep(0)
    await manager.async_pre_backup_actions()
    before = journal.read_bytes()
    assert b"first" in before
    await creating
    for number in range(12):
        await do_task(hass, entry, f"goal {number}")
    assert journal.read_bytes().startswith(before)
    await manager.async_post_backup_actions()
    ledger._limits = type(ledger._limits)(compact_factor=1)
    await do_task(hass, entry, "last")
    await entry.runtime_data.tasks.flush()
    assert not journal.read_bytes().startswith(before)
