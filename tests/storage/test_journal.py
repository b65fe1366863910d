"""The journal: what was acknowledged is there again, and nothing else breaks it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
import contextlib
import errno
import os
from pathlib import Path
import stat
import threading

import pytest

from custom_components.aiden_duplex.storage.journal import (
    Journal,
    JournalError,
    RecordTooLargeError,
)
from custom_components.aiden_duplex.storage.lines import encode
from custom_components.aiden_duplex.storage.log_file import LogFile

from .fake_files import CrashError, Gate, WatchedFiles

RECORDS = [{"n": 1, "text": "one"}, {"n": 2, "text": "zwei äöü"}, {"n": 3, "text": ""}]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the journal lies; its folder does not exist yet."""
    return tmp_path / "aiden_duplex.entry" / "tasks.journal"


@pytest.fixture
def files() -> WatchedFiles:
    """Return a file layer to watch."""
    return WatchedFiles()


@pytest.fixture
async def journal(path: Path, files: WatchedFiles) -> AsyncGenerator[Journal]:
    """Return an open, empty journal."""
    journal = Journal(path, files=files, deadline_s=5)
    assert await journal.open() == []
    files.steps.clear()
    yield journal
    files.before = lambda step: None
    await journal.close()


async def reread(path: Path) -> list[dict[str, object]]:
    """Return what another process finds."""
    other = Journal(path)
    try:
        return await other.open()
    finally:
        await other.close()


def failing(step: str, code: int) -> Callable[[str], None]:
    """Return a hook that lets a step fail."""

    def fail(name: str) -> None:
        if name == step:
            raise OSError(code, os.strerror(code))

    return fail


async def reached(gate: Gate) -> None:
    """Wait for the writer to stand at the gate."""
    assert await asyncio.to_thread(gate.reached.wait, 10)


async def test_the_names_of_new_folders_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without that, a power cut takes the folder with all that was synced in it."""
    synced: list[str] = []
    fsync = os.fsync

    def note(fd: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{fd}").readlink()))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", note)
    journal = Journal(tmp_path / "entry" / "sessions" / "user.journal")
    await journal.open()
    await journal.close()
    assert synced == [
        str(tmp_path),
        str(tmp_path / "entry"),
        str(tmp_path / "entry" / "sessions" / "user.journal"),
        str(tmp_path / "entry" / "sessions"),
    ]


async def test_acknowledged_records_come_back_in_order(
    journal: Journal, path: Path
) -> None:
    """Also umlauts and empty texts."""
    for record in RECORDS:
        await journal.append(record)
    await journal.close()
    assert await reread(path) == RECORDS


async def test_only_this_user_can_read_it(journal: Journal, path: Path) -> None:
    """Goals are private: file 0600, folder 0700."""
    await journal.append(RECORDS[0])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    await journal.compact(RECORDS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_file_that_was_readable_for_all_is_restricted(path: Path) -> None:
    """A restored backup may have any mode."""
    path.parent.mkdir(mode=0o755)
    path.write_bytes(encode(RECORDS[0]))
    path.chmod(0o644)
    assert await reread(path) == RECORDS[:1]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_append_returns_only_after_the_fsync(
    journal: Journal, files: WatchedFiles
) -> None:
    """While the disk flushes nothing is promised."""
    gate = Gate(files, "sync")
    append = asyncio.create_task(journal.append(RECORDS[0]))
    await reached(gate)
    assert not append.done()
    gate.let_go()
    await append
    assert files.steps == ["write", "sync"]


async def test_many_appends_share_an_fsync(
    journal: Journal, path: Path, files: WatchedFiles
) -> None:
    """What arrives during one flush goes with the next."""
    gate = Gate(files, "sync")
    first = asyncio.create_task(journal.append({"n": 0}))
    await reached(gate)
    others = [asyncio.create_task(journal.append({"n": n})) for n in range(1, 100)]
    # The tasks have to begin before the writer looks again.
    await asyncio.sleep(0)
    gate.let_go()
    await asyncio.gather(first, *others)
    assert files.steps.count("sync") == 2
    assert await reread(path) == [{"n": n} for n in range(100)]


@pytest.mark.parametrize(
    "cut", range(1, len(encode(RECORDS[2])) + 1), ids=lambda cut: f"{cut}_bytes_lost"
)
async def test_a_torn_last_record_is_cut_off_and_writing_goes_on(
    path: Path, cut: int
) -> None:
    """A power cut at every byte of the last record."""
    path.parent.mkdir()
    whole = b"".join(map(encode, RECORDS))
    path.write_bytes(whole[: len(whole) - cut])
    # Only the line feed lost: the record itself is intact and may stay.
    kept = RECORDS if cut == 1 else RECORDS[:2]
    journal = Journal(path)
    assert await journal.open() == kept
    assert journal.damage is None
    await journal.append({"n": 4})
    await journal.close()
    assert await reread(path) == [*kept, {"n": 4}]


async def test_a_damaged_middle_is_set_aside_and_the_good_records_kept(
    path: Path,
) -> None:
    """A flipped bit costs one record, not the journal, and somebody is told."""
    path.parent.mkdir()
    lines = [encode(record) for record in RECORDS]
    broken = lines[0] + lines[1].replace(b"zwei", b"drei") + lines[2]
    path.write_bytes(broken)
    journal = Journal(path)
    assert await journal.open() == [RECORDS[0], RECORDS[2]]
    assert journal.damage is not None
    assert "1 damaged" in journal.damage
    assert "tasks.journal.corrupt-1" in journal.damage
    await journal.append({"n": 4})
    await journal.close()
    assert path.with_name("tasks.journal.corrupt-1").read_bytes() == broken
    assert await reread(path) == [RECORDS[0], RECORDS[2], {"n": 4}]


async def test_a_damaged_last_record_counts_as_damage_not_as_torn(path: Path) -> None:
    """It had been acknowledged: it ends in a line feed."""
    path.parent.mkdir()
    path.write_bytes(encode(RECORDS[0]) + b"00000000 {}\n")
    journal = Journal(path)
    assert await journal.open() == RECORDS[:1]
    assert journal.damage is not None
    await journal.close()


async def test_files_set_aside_have_a_bound(path: Path) -> None:
    """A dying card does not fill the disk with copies."""
    path.parent.mkdir()
    for number in range(12):
        path.write_bytes(b"rubbish %d\n" % number)
        assert await reread(path) == []
    aside = sorted(path.parent.glob("*.corrupt-*"))
    assert len(aside) == 9
    assert aside[-1].read_bytes() == b"rubbish 11\n"


@pytest.mark.parametrize(
    "content", [b"\0" * 4096, b"\xff\xfe\n\n\n", b"[]\n", encode({})[:9] + b"{}"]
)
async def test_any_rubbish_opens_as_an_empty_journal(
    path: Path, content: bytes
) -> None:
    """Never an error that keeps the integration from starting."""
    path.parent.mkdir()
    path.write_bytes(content)
    journal = Journal(path)
    records = await journal.open()
    assert records in ([], [{}])
    await journal.append(RECORDS[0])
    await journal.close()
    assert await reread(path) == [*records, RECORDS[0]]


@pytest.mark.parametrize("step", ["write", "sync"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
async def test_a_failed_write_is_told_and_later_ones_are_refused_until_reopened(
    journal: Journal, path: Path, files: WatchedFiles, step: str, code: int
) -> None:
    """Nothing that was refused is there after a restart."""
    await journal.append(RECORDS[0])
    files.before = failing(step, code)
    with pytest.raises(JournalError, match=os.strerror(code)):
        await journal.append(RECORDS[1])
    files.before = lambda step: None
    with pytest.raises(JournalError, match="until it is opened again"):
        await journal.append(RECORDS[1])
    with pytest.raises(JournalError, match="until it is opened again"):
        await journal.compact(RECORDS)
    assert await reread(path) == RECORDS[:1]
    assert await journal.open() == RECORDS[:1]
    await journal.append(RECORDS[2])
    assert await reread(path) == [RECORDS[0], RECORDS[2]]


async def test_refused_bytes_that_could_not_be_removed_are_gone_after_reopening(
    journal: Journal, path: Path, files: WatchedFiles
) -> None:
    """The record is complete in the file, but its flush failed: it was never promised."""
    await journal.append(RECORDS[0])

    def dead(step: str) -> None:
        if step in ("sync", "truncate"):
            raise OSError(errno.EIO, "Input/output error")

    files.before = dead
    with pytest.raises(JournalError):
        await journal.append(RECORDS[1])
    files.before = lambda step: None
    assert path.read_bytes() == encode(RECORDS[0]) + encode(RECORDS[1])
    assert await journal.open() == RECORDS[:1]
    assert path.read_bytes() == encode(RECORDS[0])


async def test_every_append_of_a_failed_group_is_refused(
    journal: Journal, path: Path, files: WatchedFiles
) -> None:
    """Nobody of the group is left without an answer."""
    gate = Gate(files, "sync")
    first = asyncio.create_task(journal.append(RECORDS[0]))
    await reached(gate)
    group = [asyncio.create_task(journal.append({"n": n})) for n in range(5)]
    await asyncio.sleep(0)
    files.before = failing("write", errno.ENOSPC)
    gate.let_go()
    await first
    results = await asyncio.gather(*group, return_exceptions=True)
    assert all(isinstance(result, JournalError) for result in results)
    assert await reread(path) == RECORDS[:1]


async def test_a_hanging_disk_has_a_deadline_and_the_late_record_is_taken_back(
    path: Path, files: WatchedFiles
) -> None:
    """The caller was told that it failed, so it must not appear later."""
    journal = Journal(path, files=files, deadline_s=0.05)
    await journal.open()
    await journal.append(RECORDS[0])
    gate = Gate(files, "sync")
    with pytest.raises(JournalError, match="did not answer"):
        await journal.append(RECORDS[1])
    # Refused without waiting for the disk once more: the call never suspends.
    with pytest.raises(JournalError, match="did not answer"):
        journal.append(RECORDS[2]).send(None)
    with pytest.raises(JournalError, match="did not answer"):
        journal.open().send(None)
    files.before = lambda step: None
    gate.let_go()
    async with asyncio.timeout(10):
        while True:
            try:
                assert await journal.open() == RECORDS[:1]
                break
            except JournalError:
                await asyncio.sleep(0.005)
    await journal.append(RECORDS[2])
    await journal.close()
    assert await reread(path) == [RECORDS[0], RECORDS[2]]


async def test_records_that_wait_have_a_bound(path: Path, files: WatchedFiles) -> None:
    """A slow disk does not fill the memory."""
    journal = Journal(path, files=files, max_waiting=3)
    await journal.open()
    gate = Gate(files, "sync")
    first = asyncio.create_task(journal.append({"n": 0}))
    await reached(gate)
    waiting = [asyncio.create_task(journal.append({"n": n})) for n in range(1, 4)]
    await asyncio.sleep(0)
    with pytest.raises(JournalError, match="too slow"):
        await journal.append({"n": 4})
    gate.let_go()
    await asyncio.gather(first, *waiting)
    await journal.close()
    assert await reread(path) == [{"n": n} for n in range(4)]


async def test_a_record_that_is_too_large_is_refused_alone(
    path: Path, files: WatchedFiles
) -> None:
    """The journal itself is well."""
    journal = Journal(path, files=files, max_record_bytes=100)
    await journal.open()
    with pytest.raises(RecordTooLargeError):
        await journal.append({"text": "x" * 100})
    await journal.append(RECORDS[0])
    await journal.close()
    assert await reread(path) == RECORDS[:1]


async def test_compaction_replaces_what_was_appended_before_it(
    journal: Journal, path: Path
) -> None:
    """And what is appended after it stays."""
    for record in RECORDS:
        await journal.append(record)
    await journal.compact([{"n": "all"}])
    await journal.append({"n": 4})
    assert await reread(path) == [{"n": "all"}, {"n": 4}]
    assert [file.name for file in path.parent.iterdir()] == ["tasks.journal"]


@pytest.mark.parametrize("at", range(7))
async def test_a_crash_in_any_step_of_a_compaction_leaves_old_or_new(
    path: Path, files: WatchedFiles, at: int
) -> None:
    """Never a mixture, never nothing."""
    journal = Journal(path, files=files)
    await journal.open()
    for record in RECORDS:
        await journal.append(record)
    files.steps.clear()
    new = [{"n": "all"}]

    def crash(step: str) -> None:
        # Only the first time: the steps after it never happen in a dead process.
        if len(files.steps) > at:
            raise CrashError

    files.before = crash
    log = journal._log
    with pytest.raises(CrashError):
        await asyncio.to_thread(log.compact, encode(new[0]))
    expected = [
        "remove",
        "open",
        "write",
        "sync",
        "replace",
        "sync_folder",
        "open",
    ]
    assert files.steps == expected[: at + 1]
    assert await reread(path) == (RECORDS if at <= 4 else new)
    files.before = lambda step: None
    await journal.close()


@pytest.mark.parametrize("step", ["open", "write", "sync", "replace"])
async def test_a_compaction_that_fails_changes_nothing_and_writing_goes_on(
    journal: Journal, path: Path, files: WatchedFiles, step: str
) -> None:
    """No room for the copy is no reason to stop."""
    await journal.append(RECORDS[0])
    files.before = failing(step, errno.ENOSPC)
    with pytest.raises(JournalError, match="compacted"):
        await journal.compact([{"n": "all"}])
    files.before = lambda step: None
    await journal.append(RECORDS[1])
    assert await reread(path) == RECORDS[:2]


async def test_a_compaction_whose_rename_may_not_be_durable_stops_writing(
    journal: Journal, files: WatchedFiles
) -> None:
    """Records in a file that loses its name would be lost."""
    await journal.append(RECORDS[0])
    files.before = failing("sync_folder", errno.EIO)
    with pytest.raises(JournalError):
        await journal.compact([{"n": "all"}])
    files.before = lambda step: None
    with pytest.raises(JournalError, match="until it is opened again"):
        await journal.append(RECORDS[1])
    assert await journal.open() == [{"n": "all"}]
    await journal.append(RECORDS[1])


@pytest.mark.parametrize("at", range(11))
async def test_a_crash_while_damage_is_repaired_loses_no_good_record(
    path: Path, files: WatchedFiles, at: int
) -> None:
    """The repair itself may be interrupted at any step."""
    path.parent.mkdir()
    path.write_bytes(encode(RECORDS[0]) + b"rubbish\n" + encode(RECORDS[2]))

    def crash(step: str) -> None:
        if len(files.steps) > at:
            raise CrashError

    files.before = crash
    journal = Journal(path, files=files)
    with pytest.raises(CrashError):
        journal._log.open()
    assert await reread(path) == [RECORDS[0], RECORDS[2]]


async def test_closing_writes_what_waits_and_ends_the_thread(
    path: Path, files: WatchedFiles
) -> None:
    """No thread stays behind; none exists without opening."""
    before = threading.active_count()
    journal = Journal(path, files=files)
    await journal.close()
    assert threading.active_count() == before
    await journal.open()
    assert threading.active_count() == before + 1
    append = asyncio.create_task(journal.append(RECORDS[0]))
    await asyncio.sleep(0)
    await journal.close()
    await append
    await journal.close()
    assert threading.active_count() == before
    with pytest.raises(JournalError, match="not open"):
        await journal.append(RECORDS[1])
    assert await journal.open() == RECORDS[:1]
    await journal.close()


async def test_an_append_whose_caller_gives_up_is_kept_and_later_ones_follow(
    journal: Journal, path: Path, files: WatchedFiles
) -> None:
    """Cancelling a caller does not disturb the order."""
    gate = Gate(files, "sync")
    append = asyncio.create_task(journal.append(RECORDS[0]))
    await reached(gate)
    append.cancel()
    with pytest.raises(asyncio.CancelledError):
        await append
    gate.let_go()
    await journal.append(RECORDS[1])
    assert await reread(path) == RECORDS[:2]


async def test_a_folder_that_cannot_be_made_is_an_error_and_leaves_no_thread(
    tmp_path: Path,
) -> None:
    """The path is taken by a file."""
    before = threading.active_count()
    (tmp_path / "taken").write_text("")
    journal = Journal(tmp_path / "taken" / "tasks.journal")
    with pytest.raises(JournalError):
        await journal.open()
    assert threading.active_count() == before


async def test_only_the_newest_records_are_returned_when_asked(path: Path) -> None:
    """All of them stay in the file."""
    journal = Journal(path, keep_last=2)
    await journal.open()
    for record in RECORDS:
        await journal.append(record)
    await journal.close()
    assert await journal.open() == RECORDS[1:]
    await journal.close()
    assert await reread(path) == RECORDS


MANY = [{"n": number, "text": "x" * 40} for number in range(30)]


async def filled(path: Path, records: list[dict[str, object]]) -> None:
    """Append records to the journal."""
    journal = Journal(path)
    await journal.open()
    for record in records:
        await journal.append(record)
    await journal.close()


async def anywhere(path: Path) -> list[dict[str, object]]:
    """Return the records of all files, the oldest first."""
    files = sorted(path.parent.glob(f"{path.name}.[0-9]*"))
    return [record for file in [*files, path] for record in await reread(file)]


async def test_old_records_move_to_files_of_their_own(path: Path) -> None:
    """What is read at a start stays short, and nothing is lost."""
    await filled(path, MANY[:20])
    journal = Journal(path, keep_last=3, rotate_from=500)
    assert await journal.open() == MANY[17:20]
    for record in MANY[20:]:
        await journal.append(record)
    await journal.close()
    assert await reread(path) == MANY[17:]
    assert await journal.open() == MANY[27:]
    await journal.close()
    assert await reread(path) == MANY[27:]
    names = sorted(file.name for file in path.parent.iterdir())
    assert names == ["tasks.journal", "tasks.journal.1", "tasks.journal.2"]
    assert await anywhere(path) == MANY
    assert stat.S_IMODE(path.with_name("tasks.journal.1").stat().st_mode) == 0o600


async def test_few_old_records_stay(path: Path) -> None:
    """A file for each start would help nobody; nor is a journal cut that is read in whole."""
    await filled(path, MANY)
    for journal in (Journal(path, keep_last=3), Journal(path, rotate_from=500)):
        await journal.open()
        await journal.close()
    assert [file.name for file in path.parent.iterdir()] == ["tasks.journal"]
    assert await reread(path) == MANY


async def test_a_full_disk_only_puts_the_rotation_off(
    path: Path, files: WatchedFiles
) -> None:
    """The journal opens, is written, and nothing half-made stays."""
    await filled(path, MANY)
    journal = Journal(path, files=files, keep_last=3, rotate_from=500)
    files.before = failing("write", errno.ENOSPC)
    assert await journal.open() == MANY[27:]
    files.before = lambda step: None
    await journal.append({"n": 30})
    await journal.close()
    assert [file.name for file in path.parent.iterdir()] == ["tasks.journal"]
    assert await reread(path) == [*MANY, {"n": 30}]


@pytest.mark.parametrize("number", range(13))
def test_a_crash_while_rotating_loses_nothing(path: Path, number: int) -> None:
    """At every step: afterwards each record is in one of the files, the newest are read."""
    asyncio.run(filled(path, MANY))
    files = WatchedFiles()

    def crash(step: str) -> None:
        if len(files.steps) > number:
            raise CrashError

    files.before = crash
    log = LogFile(path, files, 3, 500)
    with contextlib.suppress(CrashError):
        log.open()
    log.close()

    async def look() -> None:
        journal = Journal(path, keep_last=3, rotate_from=500)
        assert await journal.open() == MANY[27:]
        await journal.close()
        found = [record["n"] for record in await anywhere(path)]
        assert set(found) == set(range(30))

    asyncio.run(look())
