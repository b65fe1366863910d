"""Many examples of the machine: ``python -m tests.tasks.side_by_side --examples N --seed S``."""

import argparse
import sys
import time

from .explore import explore
from .wanted import missing, report


def main() -> int:
    """Try them, say how far it is, and what was reached."""
    parser = argparse.ArgumentParser(prog="tests.tasks.side_by_side")
    parser.add_argument("--examples", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    chosen = parser.parse_args()
    began = said = time.monotonic()

    def on_progress(done: int) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said > 10:
            said = now
            speed = done / (now - began)
            sys.stdout.write(f"{done:,} examples, {speed:.0f} a second\n")
            sys.stdout.flush()

    counts = explore(chosen.examples, chosen.seed, on_progress=on_progress)
    sys.stdout.write("\n".join(report(counts)) + "\n")
    if not_reached := missing(counts):
        sys.stdout.write(f"never reached: {', '.join(not_reached)}\n")
    return 1 if not_reached else 0


if __name__ == "__main__":
    sys.exit(main())
