"""Tries the machine of tasks very often, on all cores: ``python -m tests.tasks.scale``."""

import argparse
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
import logging
import multiprocessing
import os
import random
import sys
import time

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from . import counting
from .test_state_machine import TaskMachine

CHUNK = 250
"""Examples that are tried with one seed of Hypothesis; it remembers all of them."""
STEPS = 30

ARROWS = (
    "new -> created",
    "created -> queued",
    "running -> queued",
    "running -> consent_used",
    "queued -> running",
    "running -> completed",
    "running -> failed",
    "running -> needs_you",
    "running -> cancelling",
    "cancelling -> cancelled",
    "queued -> cancelled",
    "waiting -> answered",
    "waiting -> cancelled",
    "waiting -> completed",
)


def try_chunk(number: int, examples: int) -> Counter[str]:
    """Try examples that follow from a number; returns what was done."""
    logging.disable(logging.CRITICAL)
    counting.TAKEN.clear()
    machine = seed(number)(type("SeededMachine", (TaskMachine,), {}))
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
    return counting.TAKEN.copy()


def try_many(examples: int, number: int, *, tell: bool = False) -> Counter[str]:
    """Try many examples in all; the same count and seed try the same.

    Args:
        examples: How many.
        number: The seed.
        tell: Say on standard error how far it is.

    """
    chance = random.Random(number)
    sizes = [CHUNK] * (examples // CHUNK)
    if examples % CHUNK:
        sizes.append(examples % CHUNK)
    chunks = [(chance.getrandbits(64), size) for size in sizes]
    taken: Counter[str] = Counter()
    done, begun = 0, time.monotonic()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.process_cpu_count(), mp_context=context) as pool:
        waiting = {pool.submit(try_chunk, *chunk): chunk for chunk in chunks}
        for future in as_completed(waiting):
            try:
                taken += future.result()
            except BaseException as err:
                pool.shutdown(wait=False, cancel_futures=True)
                err.add_note(f"chunk {waiting[future]} of seed {number}")
                raise
            done += waiting[future][1]
            if tell and done % (CHUNK * 40) == 0:
                rate = done / (time.monotonic() - begun)
                sys.stderr.write(f"{done:,} of {examples:,}, {rate:.0f} a second\n")
    return taken


def never_taken(taken: Counter[str]) -> list[str]:
    """Return the rules and arrows that nothing has tried."""
    names = (*sorted(counting.RULES), *ARROWS)
    return [name for name in names if not taken[name]]


def table(taken: Counter[str]) -> str:
    """Return what was done, in words."""
    return ", ".join(f"{name}: {count:,}" for name, count in sorted(taken.items()))


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    taken = try_many(options.examples, options.seed, tell=True)
    sys.stdout.write(
        f"{options.examples:,} examples, seed {options.seed}: {table(taken)}\n"
    )
    if missing := never_taken(taken):
        sys.stderr.write(f"never tried: {missing}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
