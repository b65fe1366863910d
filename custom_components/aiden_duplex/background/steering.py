"""What a run keeps in mind of its task, and how a replaced goal reaches it."""

from dataclasses import dataclass, field

from ..tasks.runner import Steer
from . import prompts
from .consent import Commitments
from .history import History
from .prompts import Interrupt
from .scribe import Scribe


@dataclass(slots=True, kw_only=True)
class Memory:
    """The conversation of a task that may go on."""

    history: History
    goal_revision: int
    commitments: Commitments = field(default_factory=Commitments)


class Steering:
    """The goals that replaced the one of a run."""

    def __init__(
        self, task_id: str, steers: dict[str, Steer], memory: Memory, scribe: Scribe
    ) -> None:
        """Watch where the latest new goal of each task is put."""
        self._task_id = task_id
        self._steers = steers
        self._memory = memory
        self._scribe = scribe

    @property
    def is_due(self) -> bool:
        """Return whether the goal was replaced and the model does not know it yet."""
        steer = self._steers.get(self._task_id)
        return steer is not None and steer.goal_revision > self._memory.goal_revision

    async def take_up(self) -> bool:
        """Tell the model of a replaced goal; return whether there was one.

        It counts when it is in the transcript.
        """
        is_due = self.is_due
        steer = self._steers.pop(self._task_id, None)
        if steer is None or not is_due:
            return False
        notice = prompts.notice(Interrupt.STEER)
        self._memory.history.add_user(notice)
        self._memory.history.add_user(prompts.new_goal(steer.goal), pinned=True)
        self._scribe.owe_notice(notice)
        await self._scribe.said(steer.goal)
        self._memory.goal_revision = steer.goal_revision
        self._memory.commitments.settle()
        return True
