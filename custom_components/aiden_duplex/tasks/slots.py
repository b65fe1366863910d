"""The numbered places in which tasks are shown. Pure."""

from collections.abc import Callable

type Rank = tuple[bool, int]
"""How soon an ended task gives its place away; the lowest goes first."""


class Slots:
    """Places 1 to ``count``; each shows one task and keeps it until it is needed.

    A task keeps its place at least until it has ended, so that dashboards and
    automations have stable places without an entity for each task.
    """

    def __init__(self, count: int) -> None:
        """Start with nothing shown."""
        self._holders: list[str | None] = [None] * count

    def holder(self, number: int) -> str | None:
        """Return the task in a place; None if it is empty or there is no such place."""
        if not 1 <= number <= len(self._holders):
            return None
        return self._holders[number - 1]

    def of(self, task_id: str) -> int | None:
        """Return the place of a task."""
        if task_id not in self._holders:
            return None
        return self._holders.index(task_id) + 1

    def choose(self, rank: Callable[[str], Rank | None]) -> int | None:
        """Return the lowest empty place, else the one of an ended task.

        ``rank`` is None for a task that has not ended: its place is not taken. None
        when every place is held by such a task.
        """
        if None in self._holders:
            return self._holders.index(None) + 1
        ended = [
            (given, number)
            for number, holder in enumerate(self._holders, 1)
            if holder is not None and (given := rank(holder)) is not None
        ]
        return min(ended)[1] if ended else None

    def put(self, task_id: str, number: int) -> bool:
        """Let a task be in a place; return False if there is no such place."""
        if not 1 <= number <= len(self._holders):
            return False
        self.vacate(task_id)
        self._holders[number - 1] = task_id
        return True

    def vacate(self, task_id: str) -> None:
        """Let the place of a task be empty."""
        if (number := self.of(task_id)) is not None:
            self._holders[number - 1] = None
