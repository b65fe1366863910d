"""The order in which tasks run."""

from bisect import insort
from enum import IntEnum


class Lane(IntEnum):
    """Resumed tasks go before new ones and have a reserved place."""

    RESUMED = 0
    NEW = 1


type Place = tuple[Lane, int]
"""Where a task stands; journalled, so that the order survives a restart."""


class TaskQueue:
    """Task ids in the order of their places. First in, first out within a lane."""

    def __init__(self) -> None:
        """Start empty."""
        self._waiting: list[tuple[Place, str]] = []
        self._highest = 0
        self._lowest = 1

    def __len__(self) -> int:
        """Return how many tasks wait, of both lanes."""
        return len(self._waiting)

    @property
    def head(self) -> str | None:
        """Return the task that runs next."""
        return self._waiting[0][1] if self._waiting else None

    @property
    def new_tasks(self) -> int:
        """Return how many new tasks wait; only these count against the limit."""
        return sum(place[0] is Lane.NEW for place, _ in self._waiting)

    def next_place(self, lane: Lane) -> Place:
        """Return the place behind all others of the lane."""
        self._highest += 1
        return lane, self._highest

    def first_place(self) -> Place:
        """Return the place before all others, also those that nobody stands at yet."""
        self._lowest -= 1
        return Lane.RESUMED, self._lowest

    def put(self, task_id: str, place: Place) -> None:
        """Let a task stand at a place and nowhere else."""
        self.discard(task_id)
        self._highest = max(self._highest, place[1])
        self._lowest = min(self._lowest, place[1])
        insort(self._waiting, (place, task_id))

    def discard(self, task_id: str) -> None:
        """Take a task out if it stands in the queue."""
        self._waiting = [entry for entry in self._waiting if entry[1] != task_id]

    def positions(self) -> dict[str, int]:
        """Return the position of every waiting task, from 1."""
        return {task_id: number for number, (_, task_id) in enumerate(self._waiting, 1)}
