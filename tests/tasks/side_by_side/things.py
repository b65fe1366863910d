"""What the reference knows: tasks, runs, and the words for their states."""

from dataclasses import dataclass

ENDED = ("cancelled", "failed", "completed")
UNTOLD = ("queued", "claimed", "delivering")


@dataclass(slots=True)
class ModelTask:
    """A task; times are those of the wall clock in seconds."""

    id: str
    created: float
    updated: float
    goal: str
    status: str = "queued"
    asks: bool = False
    answer: str | None = None
    started: bool = False
    recovered: bool = False
    recoveries: int = 0
    delivery: str = "none"
    session: str | None = None
    hold_back: bool = False
    number: int | None = None
    revision: int = 1
    applied: int = 0
    tellings: int = 0
    heard: bool = False
    consent: tuple[str, str] | None = None
    """The act and the screen that the open question asks for."""
    yes: tuple[str, str, float] | None = None
    """The act, the screen, and until when a person agreed, on the loop's clock."""
    asked_at: float | None = None
    """When it asked for something on the phone itself; None if it asks for something else."""

    @property
    def ended(self) -> bool:
        """Return whether it is over."""
        return self.status in ENDED

    @property
    def outstanding(self) -> bool:
        """Return whether it counts as outstanding."""
        return not self.ended or self.delivery in UNTOLD


@dataclass(slots=True)
class ModelRun:
    """What a run was started with, and what it was told."""

    task: ModelTask
    goal: str
    answer: str | None
    recovered: bool
    revision: int
    """The goal that it works for."""
    began_with: int
    began_at: float
    told_at: float | None = None
    """When it was first told to end, on the loop's clock."""
    why: str | None = None
    told_wall: float = 0.0

    @property
    def is_stale(self) -> bool:
        """Return whether the goal was replaced and it has not taken that up."""
        return self.revision < self.task.revision

    def tell(self, why: str, now: float, wall: float) -> None:
        """Tell the run to end; the first reason counts."""
        if self.told_at is None:
            self.told_at, self.why, self.told_wall = now, why, wall
