"""Tries many examples on all processors and adds up what they did."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
import logging
import multiprocessing
import os

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from .machine import TaskMachine
from .tally import TALLY

CHUNK = 250
"""Examples of one seed; Hypothesis becomes slower with each more."""
STEPS = 30


class FoundError(Exception):
    """An example fails; the cause says which."""


def explore(
    examples: int,
    seed: int,
    *,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Counter[str]:
    """Try so many examples; the same number and seed try the same ones.

    Raises:
        FoundError: One fails.

    """
    counts: Counter[str] = Counter()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        jobs = [
            pool.submit(try_some, size, seed * 1_000_000 + number)
            for number, size in enumerate(_sizes(examples))
        ]
        try:
            for job in as_completed(jobs):
                if (error := job.exception()) is not None:
                    tried = counts["examples"]
                    raise FoundError(f"seed {seed}, after {tried} others") from error
                counts += job.result()
                on_progress(counts["examples"])
        finally:
            pool.shutdown(cancel_futures=True)
    return counts


def try_some(examples: int, seed: int) -> Counter[str]:
    """Try some examples in this process; return what they did."""
    logging.disable(logging.CRITICAL)
    TALLY.take()
    TaskMachine._hypothesis_internal_use_seed = seed
    run_state_machine_as_test(
        TaskMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            derandomize=False,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            # The report of a failure is worth the time; without one it costs none.
            phases=[Phase.generate, Phase.shrink],
        ),
    )
    return TALLY.take()


def _sizes(examples: int) -> Iterator[int]:
    """Divide examples into chunks."""
    while examples > 0:
        yield min(CHUNK, examples)
        examples -= CHUNK
