"""A run: some lives on one disk, each cut off by a power cut or a kill, all cuts opened."""

from collections.abc import Callable, Iterator
import random

from tests.tasks.house import settle
from tests.virtual_time import VirtualTimeLoop

from .history import Busy, History
from .images import Findings, check
from .lives import Life
from .power_cut import Image, PowerCutFiles

STEPS = (3, 9)
LIVES = 2

type Mutation = Callable[[str, str], bool]


def run(
    seed: int,
    found: Findings,
    *,
    is_lost: Mutation | None = None,
    faults: float = 0.0,
) -> None:
    """Live, open every image, and live again on one of them."""
    chance = random.Random(seed)
    busy = Busy()
    loop = VirtualTimeLoop(busy)
    files = PowerCutFiles(chance=chance)
    history = History(is_faulty=bool(faults))
    try:
        for _ in range(LIVES):
            if is_lost is not None:
                files.is_lost = is_lost
            life = Life(files, history, busy, chance)
            life.faults = faults
            loop.run_until_complete(_live(life, chance.randint(*STEPS)))
            for image in _different(files, history):
                loop.run_until_complete(check(image, history, busy, found))
            files, history = _next(files, history, chance)
    finally:
        loop.close()


async def _live(life: Life, steps: int) -> None:
    await life.live(steps)
    await settle()


def _different(files: PowerCutFiles, history: History) -> Iterator[Image]:
    """Return the images without those of which the same is known already."""
    seen = set()
    for image in files.images:
        key = history.version(image.position), tuple(sorted(image.disk.items()))
        if key not in seen:
            seen.add(key)
            yield image


def _next(
    files: PowerCutFiles, history: History, chance: random.Random
) -> tuple[PowerCutFiles, History]:
    """Return what the next life begins with: after a kill, or after a power cut."""
    if files.forks and chance.random() < 0.5:
        position, fork = chance.choice(files.forks)
        return fork, history.until(position)
    image = chance.choice(files.images)
    return PowerCutFiles(image.disk, chance=chance), history.until(image.position)
