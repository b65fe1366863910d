"""New tasks on their way to the disk: nobody sees them yet, but they count."""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from .book import TaskBook
from .duplicates import normalise_goal
from .errors import DuplicateTaskError


class Arrivals:
    """The creations that are being written; those that wait at one time share a write."""

    def __init__(self) -> None:
        """Start with none."""
        self._goals: dict[asyncio.Future[None], str] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._goals)

    def in_the_way(self, goal: str, *, of_all: bool) -> list[asyncio.Future[None]]:
        """Return what has to be decided before this goal can be judged.

        Args:
            goal: The goal of another creation.
            of_all: It has to know every outstanding task, not only those of its goal.

        """
        wanted = normalise_goal(goal)
        return [
            done for done, other in self._goals.items() if of_all or other == wanted
        ]

    @contextmanager
    def arriving(self, goal: str) -> Iterator[None]:
        """Let a creation count from here to its end, however it ends."""
        done = asyncio.get_running_loop().create_future()
        self._goals[done] = normalise_goal(goal)
        try:
            yield
        finally:
            del self._goals[done]
            done.set_result(None)


def refuse_duplicate(
    goal: str,
    book: TaskBook,
    *,
    distinct_from: Collection[str] | None,
    repeat: bool,
) -> None:
    """Check a new goal against the outstanding tasks.

    The foreground passes ``distinct_from``: it has to name every outstanding task, so
    that it has seen them. Others pass None: their goal must differ from every goal in
    flight, unless they say that it is a repetition.

    Raises:
        DuplicateTaskError: The goal may be under way already.

    """
    if distinct_from is not None:
        outstanding = book.index.outstanding
        if not set(outstanding) <= set(distinct_from):
            tasks = book.snapshots(book.items_of(outstanding))
            raise DuplicateTaskError(outstanding=tasks)
        return
    if repeat:
        return
    if same := book.snapshots(book.items_of(book.index.with_goal(goal))):
        raise DuplicateTaskError(outstanding=same[:1], existing=same[0])
