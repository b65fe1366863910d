"""The order in which tasks run."""

from bisect import bisect_left, insort
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
        self._places: dict[str, Place] = {}
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
        return len(self._waiting) - self._first_new

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
        if self._places.get(task_id) == place:
            return
        self.discard(task_id)
        self._highest = max(self._highest, place[1])
        self._places[task_id] = place
        self._lowest = min(self._lowest, place[1])
        insort(self._waiting, (place, task_id))

    def discard(self, task_id: str) -> None:
        """Take a task out if it stands in the queue."""
        if (number := self.position(task_id)) is not None:
            del self._places[task_id]
            del self._waiting[number - 1]

    def position(self, task_id: str) -> int | None:
        """Return the position of a task, from 1; None if it does not wait."""
        if (place := self._places.get(task_id)) is None:
            return None
        return bisect_left(self._waiting, (place, task_id)) + 1

    @property
    def _first_new(self) -> int:
        """Return how many resumed tasks stand before the first new one."""
        return bisect_left(self._waiting, Lane.NEW, key=lambda entry: entry[0][0])
