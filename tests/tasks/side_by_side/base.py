"""Manager and reference side by side: acts are done to both and all is compared."""

from collections.abc import Coroutine, Iterable
from datetime import timedelta
from typing import Any, override

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
)

from custom_components.aiden_duplex.tasks.limits import TaskLimits
from custom_components.aiden_duplex.tasks.model import TaskEvent
from tests.tasks.house import House, settle
from tests.virtual_time import VirtualTimeLoop

from .acts import Act, Expect, Start
from .compare import difference, labels
from .courses import Trial
from .disk import DiskJournal, StepFiles
from .reference import Model
from .runner import HeldRunner
from .tally import TALLY
from .things import ENDED

QUEUED = 4
"""New tasks that may wait."""
NUMBERS = st.integers(0, 11)


class Machine(RuleBasedStateMachine):
    """What all rules need."""

    def __init__(self) -> None:
        """Start with a loop; the house is opened by :meth:`begin`."""
        super().__init__()
        self.loop = VirtualTimeLoop()
        self.goals = 0
        self.trial: Trial | None = None
        """What is to be done to the next acts."""
        self.before: dict[str, tuple[str, str]] = {}
        TALLY.add("examples")

    @initialize(remembered=st.sampled_from([1, 2, 200]))
    def begin(self, remembered: int) -> None:
        """Open an empty house; it soon forgets what was told, and writes its journal anew."""
        self.limits = TaskLimits(
            queued=QUEUED, remembered=remembered, compact_from=10, compact_factor=2
        )
        self.model = Model(remembered)
        self.files = StepFiles()
        self.open(timedelta(0))
        self.model.clock = self.now

    def open(self, away: timedelta) -> None:
        """Open a house on the files."""
        self.endings: dict[str, str] = {}
        self.told: list[tuple[int, TaskEvent]] = []
        self.wakes: list[int] = []
        self.places: dict[str, int | None] = {}
        self.placeless: set[str] = set()
        self.house = self.wait(self._opened(away))

    async def _opened(self, away: timedelta) -> House:
        journal = DiskJournal(self.files)
        house = House(limits=self.limits, journal=journal, away=away)
        self.runner = house.runner = HeldRunner(self.files)
        house.manager._worker._runner = house.runner
        house.manager.subscribe(self._note)
        house.manager.subscribe_wake(self.wakes.append)
        await house.open()
        assert journal.damage is None
        return house

    def wait[T](self, what: Coroutine[Any, Any, T]) -> T:
        """Run something to its end, and let everything settle."""

        async def settled() -> T:
            result = await what
            await settle()
            return result

        return self.loop.run_until_complete(settled())

    def _note(self, event: TaskEvent) -> None:
        """Remember endings: nothing but deliveries may follow one."""
        task_id, kind = event.task.id, str(event.type)
        if (ending := self.endings.get(task_id)) is not None:
            assert kind == "updated", f"{kind} after {ending}"
            assert event.task.status == ending
        if kind in ENDED:
            assert kind == event.task.status
            assert event.task.pending_user_action is None
            self.endings[task_id] = kind
            self.told.append((len(self.files.steps), event))

    @property
    def now(self) -> float:
        """Return the loop's time."""
        return self.loop.time()

    def any_task(self, number: int) -> str:
        """Return some task's id."""
        ids = list(self.model.tasks)
        return ids[number % len(ids)]

    def the_task(self, number: int | None) -> str:
        """Return some task's id; None for the one in work, if one is."""
        if number is None and self.model.run is not None:
            return self.model.run.task.id
        return self.any_task(number or 0)

    def some_tasks(self, numbers: Iterable[int]) -> frozenset[str]:
        """Return some tasks' ids."""
        return frozenset(self.any_task(number) for number in numbers)

    def new_goal(self) -> str:
        """Return a goal that nobody had."""
        self.goals += 1
        return f"goal {self.goals}"

    def do(
        self, name: str, start: Start, expect: Expect, *, promised: bool = True
    ) -> None:
        """Do one thing, alone or as the trial that was announced wants it."""
        TALLY.rule(name)
        act = Act(name=name, start=start, expect=expect, is_promised=promised)
        trial = self.trial or Trial()
        trial.acts.append(act)
        if len(trial.acts) < trial.wanted:
            return
        self.trial = None
        self.perform(trial)

    def perform(self, trial: Trial) -> None:
        """Do what a trial is about."""
        raise NotImplementedError

    def compare(self) -> None:
        """Check that the manager shows what the reference says."""
        if (found := difference(self.house, self.model)) is not None:
            raise AssertionError(found)

    def count(self, how: str) -> None:
        """Count what became of the tasks."""
        after = labels(self.model)
        for task_id, (state, delivery) in after.items():
            was_state, was_delivery = self.before.get(task_id, ("new", "none"))
            TALLY.change(how, was_state, state)
            TALLY.change(how, was_delivery, delivery)
        for task_id in self.before.keys() - after.keys():
            TALLY.change(how, self.before[task_id][1], "forgotten")
        self.before = after

    @invariant()
    def a_batch_wakes_once(self) -> None:
        """Somebody is woken for endings once, and not for a start."""
        assert self.wakes == self.model.wakes

    @invariant()
    def every_task_has_its_place(self) -> None:
        """A place is kept until the end; what begins gets one that is free."""
        manager = self.house.manager
        shown = {n: manager.slot(n) for n in range(1, self.limits.slots + 1)}
        for number, task in shown.items():
            assert task is None or task.slot == number
        held = [task.id for task in shown.values() if task]
        assert len(held) == len(set(held))
        unfinished = {
            task.id: task for task in manager.tasks() if not task.status.is_terminal
        }
        for task in unfinished.values():
            before = self.places.setdefault(task.id, task.slot)
            assert before is None or task.slot == before
            self.places[task.id] = task.slot
            if task.slot is None and task.started_at and task.id not in self.placeless:
                self.placeless.add(task.id)
                assert all(other and other.id in unfinished for other in shown.values())

    @override
    def teardown(self) -> None:
        """Close the house."""
        try:
            self.wait(self.house.close())
        finally:
            self.loop.close()


has_tasks = precondition(lambda machine: bool(machine.model.tasks))
has_run = precondition(lambda machine: machine.model.run is not None)
is_alone = precondition(lambda machine: machine.trial is None)
