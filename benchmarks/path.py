"""``script/soak path``: goals on random phones in one Home Assistant, claims against the truth."""

import argparse
import asyncio
from collections import Counter
from dataclasses import dataclass
import random
import sys
from typing import Any

from simulator.phone.persona import Toggle

from .harness import progress
from .home import ENDED, Home, running
from .place import Place

WORDS = (
    "milk",
    "train at nine",
    "call the dentist",
    "blue paint",
    "gate code",
    "tickets",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A goal and what must be true of the phone when it is achieved."""

    goal: str
    toggle: Toggle | None = None
    on: bool = False
    note: str = ""

    def holds(self, truth: dict[str, Any]) -> bool:
        """Return whether the phone is as wished."""
        if self.toggle is not None:
            return bool(truth["toggles"][self.toggle] is self.on)
        return any(self.note in str(note) for note in truth["notes"])


def make_wish(numbers: random.Random) -> Wish:
    """Return a wish."""
    if numbers.random() < 0.25:
        note = " and ".join(numbers.sample(WORDS, 2))
        return Wish(goal=f"write a note saying {note}", note=note)
    toggle, on = numbers.choice(list(Toggle)), numbers.random() < 0.5
    words = toggle.replace("_", " ")
    return Wish(goal=f"turn {'on' if on else 'off'} {words}", toggle=toggle, on=on)


def judge(task: dict[str, Any], *, holds: bool) -> str:
    """Return what a task's claim is worth."""
    if task["status"] not in ENDED:
        return "asked a person"
    if task["status"] != "completed":
        return str(task["status"])
    match task["outcome"]:
        case "achieved":
            return "achieved" if holds else "WRONG CLAIM: achieved"
        case "not_achieved":
            return "not achieved, but is so" if holds else "not achieved"
        case _:
            return "unknown"


async def _try(home: Home, numbers: random.Random) -> tuple[str, str]:
    """Let one wish be worked; return it in words and what came of it."""
    wish, seed = make_wish(numbers), numbers.randrange(100_000)
    task = await home.work(wish.goal, seed)
    truth = await home.simulated.control("phone")
    if task["status"] not in ENDED:
        await home.cancel(task)
    return f"{wish.goal} (phone {seed})", judge(task, holds=wish.holds(truth))


async def _soak(examples: int, seed: int) -> Counter[str]:
    """Work many wishes; return how often each end came."""
    numbers = random.Random(seed)
    ends: Counter[str] = Counter()
    async with (
        Place.open() as place,
        place.phones(1) as [simulated],
        running(place.subfolder("path"), simulated) as home,
    ):
        for number in range(1, examples + 1):
            words, end = await _try(home, numbers)
            ends[end] += 1
            progress(f"{number}/{examples} {words}: {end}")
    return ends


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="script/soak path")
    parser.add_argument("--examples", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    ends = asyncio.run(_soak(options.examples, options.seed))
    print(f"seed {options.seed}, {ends.total()} goals")
    for end, count in ends.most_common():
        print(f"{count:6d}  {end}")
    return any(end.startswith("WRONG") for end in ends)


if __name__ == "__main__":
    sys.exit(main())
