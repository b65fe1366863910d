"""Power cuts: every image that one could leave is opened and judged."""

import logging

import pytest

from .images import Findings
from .power_cut import SYNC, SYNC_FOLDER, SYNC_FOUND, SYNC_REPLACED
from .runs import run

RUNS = 500
FAULTY_RUNS = 100
LEAST_IMAGES = 20_000


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Images with holes are damaged; that is said in the log, thousands of times."""
    caplog.set_level(logging.CRITICAL, "custom_components.aiden_duplex")


def test_nothing_acknowledged_is_lost_or_doubled(counts: list[str]) -> None:
    """500 random runs of a real task manager, and every disk that a cut would leave."""
    found = Findings()
    for seed in range(RUNS):
        run(seed, found)
        assert not found.all, f"seed {seed}: {found.all[:5]}"
    counts.append(
        f"power cuts: {RUNS} runs, {found.images} images, {len(found.lost)} lost, "
        f"{len(found.doubled)} doubled, {len(found.unreadable)} unreadable, "
        f"{found.set_aside} with a hole set aside"
    )
    assert found.images >= LEAST_IMAGES


def test_a_disk_that_fails_now_and_then_loses_nothing(counts: list[str]) -> None:
    """Writes that stop half-way, no space, syncs that fail and forget; then a power cut."""
    found = Findings()
    for seed in range(FAULTY_RUNS):
        run(seed, found, faults=0.05)
        assert not found.all, f"seed {seed}: {found.all[:5]}"
    counts.append(
        f"power cuts of failing disks: {FAULTY_RUNS} runs, {found.images} images, "
        f"{len(found.all)} bad"
    )


@pytest.mark.parametrize(
    "left_out",
    [
        (SYNC, "tasks.journal"),
        (SYNC, "tasks.journal.tmp"),
        (SYNC_FOUND, "tasks.journal"),
        (SYNC_FOLDER, "disk"),
        (SYNC_REPLACED, "disk"),
    ],
    ids="-".join,
)
def test_a_sync_that_is_left_out_is_found(left_out: tuple[str, str]) -> None:
    """The check has teeth: without any one of the syncs something is lost."""
    found = Findings()
    for seed in range(100):
        run(seed, found, is_lost=lambda *sync: sync == left_out)
        if found.lost:
            return
    pytest.fail(f"{found.images} images and nothing is lost")
