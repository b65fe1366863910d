"""The marks that tell a restored folder from one that was there all the time."""

import errno
import os
from pathlib import Path

import pytest

from custom_components.aiden_duplex.storage.run_mark import RunMark

from .fake_files import WatchedFiles


@pytest.fixture
def files() -> WatchedFiles:
    """Return a file layer to watch."""
    return WatchedFiles()


@pytest.fixture
def mark(tmp_path: Path, files: WatchedFiles) -> RunMark:
    """Return the marks of an entry whose folder does not exist yet."""
    return RunMark(tmp_path / "entry" / "run", tmp_path / "mark.log", files=files)


def test_a_new_entry_is_not_restored(mark: RunMark) -> None:
    """There is no folder that could have come from a backup."""
    assert not mark.is_restored()


def test_every_run_has_its_own_marks(mark: RunMark, tmp_path: Path) -> None:
    """They agree, so a mere restart asks nobody."""
    mark.renew()
    first = (tmp_path / "mark.log").read_bytes()
    assert not mark.is_restored()
    mark.renew()
    assert (tmp_path / "mark.log").read_bytes() != first
    assert not mark.is_restored()


def test_an_older_folder_or_no_outer_mark_is_a_restored_one(
    mark: RunMark, tmp_path: Path
) -> None:
    """Whether the restore left the rest of the configuration or not."""
    mark.renew()
    inner = tmp_path / "entry" / "run"
    older = inner.read_bytes()
    mark.renew()
    inner.write_bytes(older)
    assert mark.is_restored()
    mark.renew()
    (tmp_path / "mark.log").unlink()
    assert mark.is_restored()


@pytest.mark.parametrize("step", ["write", "sync", "replace", "sync_folder"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_renewal_that_fails_never_hides_a_restored_folder(
    mark: RunMark, files: WatchedFiles, tmp_path: Path, step: str, count: int
) -> None:
    """Wherever it stops: the marks agree only if both were written."""
    mark.renew()
    (tmp_path / "mark.log").unlink()
    left = [count]

    def fail(name: str) -> None:
        if name == step:
            left[0] -= 1
            if not left[0]:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    files.before = fail
    mark.renew()
    files.before = lambda name: None
    written_last = step == "sync_folder" and count == 2
    assert mark.is_restored() is not written_last


def test_marks_that_cannot_be_read_hold_the_work(
    mark: RunMark, files: WatchedFiles
) -> None:
    """Asking costs a word, doing twice may cost more."""

    def fail(name: str) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    mark.renew()
    files.before = fail
    assert mark.is_restored()
