"""Which tasks wait for what, so that nobody looks through all of them. Pure."""

from bisect import bisect_left, insort
from collections.abc import Collection
from itertools import takewhile

from .duplicates import normalise_goal
from .model import Delivery, Task

type Ending = tuple[int, str]
"""The number of an ending and its task."""


class TaskIndex:
    """The ids of all tasks by what they wait for, and of those in flight by their goals."""

    def __init__(self) -> None:
        """Start empty."""
        self._states: dict[str, Delivery | None] = {}
        self._in: dict[Delivery | None, dict[str, None]] = {
            state: {} for state in (*Delivery, None)
        }
        self._endings: dict[str, Ending] = {}
        self._told: list[Ending] = []
        self._untold: list[Ending] = []
        self._goals: dict[str, tuple[str, str]] = {}
        """The goal of every task in flight, as it is and normalised."""
        self._same: dict[str, dict[str, None]] = {}
        """The tasks in flight of every normalised goal."""

    @property
    def outstanding(self) -> list[str]:
        """Return what is in flight or was not told yet."""
        return self.waiting_for(
            Delivery.NONE, Delivery.QUEUED, Delivery.CLAIMED, Delivery.DELIVERING
        )

    def waiting_for(self, *states: Delivery) -> list[str]:
        """Return the tasks in these states.

        ``NONE`` is what has not ended; ``DELIVERED`` what was told and not heard yet.
        """
        return [task_id for state in states for task_id in self._in[state]]

    def with_goal(self, goal: str) -> Collection[str]:
        """Return the tasks in flight whose goal means the same."""
        return self._same.get(normalise_goal(goal), {}).keys()

    def surplus(self, *, remembered: int, untold: int) -> list[str]:
        """Return what is to be forgotten once more than ``remembered`` have ended.

        That are the told endings but the newest, and the oldest of the untold ones that
        are more than ``untold``.
        """
        surplus = len(self._endings) - remembered
        if surplus <= 0:
            return []
        dropped = self._untold[: max(0, len(self._untold) - untold)]
        told = takewhile(
            lambda entry: entry[0] + bisect_left(self._untold, entry[1]) < surplus,
            enumerate(self._told),
        )
        return [task_id for _, task_id in (*dropped, *(ending for _, ending in told))]

    def put(self, task: Task) -> None:
        """Note how a task stands."""
        self._take_out(task.id)
        self._states[task.id] = state = _state(task)
        self._in[state][task.id] = None
        if not task.status.is_terminal:
            self._put_goal(task)
            return
        self._drop_goal(task.id)
        self._endings[task.id] = ending = task.terminal_sequence or 0, task.id
        insort(self._untold if task.is_outstanding else self._told, ending)

    def drop(self, task_id: str) -> None:
        """Forget a task."""
        self._take_out(task_id)
        self._drop_goal(task_id)

    def _take_out(self, task_id: str) -> None:
        if task_id not in self._states:
            return
        del self._in[self._states.pop(task_id)][task_id]
        if (ending := self._endings.pop(task_id, None)) is None:
            return
        for endings in (self._told, self._untold):
            number = bisect_left(endings, ending)
            if endings[number : number + 1] == [ending]:
                del endings[number]

    def _put_goal(self, task: Task) -> None:
        if self._goals.get(task.id, ("", ""))[0] == task.prompt:
            return
        self._drop_goal(task.id)
        normalised = normalise_goal(task.prompt)
        self._goals[task.id] = task.prompt, normalised
        self._same.setdefault(normalised, {})[task.id] = None

    def _drop_goal(self, task_id: str) -> None:
        if (goal := self._goals.pop(task_id, None)) is None:
            return
        same = self._same[goal[1]]
        del same[task_id]
        if not same:
            del self._same[goal[1]]


def _state(task: Task) -> Delivery | None:
    """Return what a task waits for; None for nothing any more."""
    if not task.status.is_terminal:
        return Delivery.NONE
    return task.delivery if task.is_outstanding or task.is_unheard else None
