"""``python -m benchmarks NAME``: measure, print the table, say whether the limits hold."""

import argparse
import asyncio
import sys

from . import core, tasks
from .harness import Measurement, exit_code, progress, table
from .place import Measures, Place

BENCHMARKS: dict[str, Measures] = {"core": core.MEASURES, "tasks": tasks.MEASURES}


async def _measure(measures: Measures) -> list[Measurement]:
    """Run measures one after the other."""
    found: list[Measurement] = []
    async with Place.open() as place:
        for name, measure in measures.items():
            progress(f"measuring: {name}")
            found += await measure(place)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("name", choices=list(BENCHMARKS), help="what to measure")
    parser.add_argument(
        "--only",
        action="append",
        metavar="MEASURE",
        help="one or more; "
        + "; ".join(f"{name}: {', '.join(one)}" for name, one in BENCHMARKS.items()),
    )
    options = parser.parse_args(arguments)
    measures = BENCHMARKS[options.name]
    wanted: list[str] = options.only or list(measures)
    if unknown := set(wanted) - set(measures):
        parser.error(f"--only knows: {', '.join(measures)}; not {', '.join(unknown)}")
    found = asyncio.run(_measure({name: measures[name] for name in wanted}))
    print(table(found))
    return exit_code(found)


if __name__ == "__main__":
    sys.exit(main())
