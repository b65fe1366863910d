"""Rules of the process: it stops, dies at any write, starts again; acts at one time."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import override

from hypothesis import strategies as st
from hypothesis.stateful import rule

from custom_components.aiden_duplex.tasks.errors import TaskError
from custom_components.aiden_duplex.tasks.model import Task, TaskEventType

from .acts import Act
from .base import Machine, is_alone
from .compare import difference
from .courses import Course, Cut, Trial, courses
from .disk import StepFiles
from .rebirth import restart
from .reference import Model
from .tally import TALLY

CUTS = st.builds(Cut, after=st.integers(0, 15), torn=st.booleans())
AWAY = st.sampled_from([0, 0, 0, 1, -1])
"""Hours by which the wall clock is another one after the start."""
TRIALS = st.one_of(
    st.builds(partial, st.just(Trial), cut=CUTS),
    st.builds(partial, st.just(Trial), cut=CUTS, wanted=st.just(2)),
    st.builds(partial, st.just(Trial), wanted=st.just(2)),
    st.just(partial(Trial, stops=True)),
)
REFUSALS = ("TasksUnavailableError", "TaskStorageError")


class Crashes(Machine):
    """Stops, crashes and what happens at one time."""

    @is_alone
    @rule(trial=TRIALS)
    def announce_a_trial(self, trial: Callable[[], Trial]) -> None:
        """Let the next acts happen at one time, or be cut off, or meet an orderly stop."""
        self.trial = trial()

    @is_alone
    @rule(hours=AWAY, again=st.none() | CUTS)
    def crash(self, hours: int, again: Cut | None) -> None:
        """Die while nothing is on its way, and perhaps once more while starting."""
        self._begin()
        self._reborn([self.model], "crash", hours=hours, again=again)

    @is_alone
    @rule(counts=st.booleans(), hours=AWAY)
    def stop(self, counts: bool, hours: int) -> None:
        """Stop orderly, the process or only what was set up, and start again."""
        name = "stop" if counts else "reload"
        self.wait(self.house.manager.close(counts=counts))
        self._reborn([self.model], name, counts=counts, stopped=self._wall, hours=hours)

    @is_alone
    @rule(seconds=st.sampled_from([1, 1, 11, 130, 1000, 7300]))
    def time_passes(self, seconds: int) -> None:
        """Wait: a run is given up, a question stays open, work becomes old."""
        TALLY.rule("time passes")
        self.wait(asyncio.sleep(seconds))
        self.model.advance(self.now)
        self.compare()
        self.count("time")

    @override
    def perform(self, trial: Trial) -> None:
        """Do the acts at one time; some order of them must explain all that is seen."""
        self._begin()
        self.model.clock = self.now
        seen, promised = self._run(trial)
        if trial.stops:
            self._stopped(trial.acts[0], seen[0])
            return
        if trial.wanted == 1 and trial.cut is None:
            self._alone(trial.acts[0], seen[0])
            return
        possible = list(
            courses(self.model, trial.acts, seen, self.now, trail=trial.cut is not None)
        )
        for one in possible:
            one.is_seen = self._misfit(one, seen) is None
        fits = [one for one in possible if one.is_seen]
        if not fits:
            names = ", ".join(act.name for act in trial.acts)
            found = "\n\n".join(str(self._misfit(one, seen)) for one in possible)
            raise AssertionError(f"no order explains {names}:\n{found}")
        self.model = fits[0].model
        self.count("together" if trial.wanted > 1 else "act")
        if trial.cut is not None:
            # A start that is on its way need not be on the disk in the order of the acts,
            # and of what is refused because of another act there may be a record before
            # the other one's.
            left = [one for one in possible if _may_begin(one.expected, seen)]
            self._cut_off(left, promised, trial.cut, "crash in an act")

    def _alone(self, act: Act, seen: object) -> None:
        """Compare one act: the usual case, without a copy of the reference."""
        expected = act.expect(self.model, seen)
        assert seen == expected, f"{act.name}: {seen} instead of {expected}"
        if isinstance(seen, str) and seen.endswith("Error"):
            TALLY.add(f"{act.name}: {seen}")
        self.model.advance(self.now)
        self.compare()
        self.count("act")

    @property
    def _wall(self) -> float:
        """Return the time on the wall."""
        return self.now + self.model.offset

    def _begin(self) -> None:
        """Let the steps of the disk count from here."""
        self.files.begin()
        self.runner.begin()
        self.told.clear()

    def _run(self, trial: Trial) -> tuple[list[object], list[int | None]]:
        """Do the acts; return what they came to, and after which step it was promised."""
        seen: list[object] = [None] * len(trial.acts)
        promised: list[int | None] = [None] * len(trial.acts)

        async def one(number: int, act: Act) -> None:
            try:
                seen[number] = await act.start(self.house)
            except TaskError as err:
                seen[number] = type(err).__name__
                return
            if act.is_promised:
                promised[number] = len(self.files.steps)

        async def all_of_them() -> None:
            doing: list[Awaitable[None]] = [
                one(number, act) for number, act in enumerate(trial.acts)
            ]
            if trial.stops:
                doing.append(self.house.manager.close())
            await asyncio.gather(*doing)

        self.wait(all_of_them())
        return seen, promised

    def _misfit(self, course: Course, seen: list[object]) -> str | None:
        """Return what a course does not explain."""
        if course.expected != seen:
            return f"{seen} instead of {course.expected}"
        return difference(self.house, course.model)

    def _stopped(self, act: Act, seen: object) -> None:
        """Start again after a stop that met an act: it is done, or it was refused."""
        stopped = self._wall
        left: list[Model] = []
        for rest in (False, True):
            model = self.model.copy()
            if act.expect(model, seen) != seen:
                break
            if rest:
                model.advance(model.clock)
            left.append(model)
        if seen in REFUSALS or not act.is_promised:
            left.append(self.model.copy())
        assert left, f"{act.name} met a stop and came to {seen}"
        self._reborn(left, "stop in an act", stopped=stopped)

    def _cut_off(
        self, possible: list[Course], promised: list[int | None], cut: Cut, how: str
    ) -> None:
        """Die after some of the steps; what was acknowledged by then must be there."""
        steps = len(self.files.steps)
        after = cut.after % (steps + 1)
        runs = sum(began <= after for began in self.runner.began)
        left: list[Model] = []
        for course in possible:
            least = max(
                (
                    durable
                    for durable, at in zip(course.durable, promised, strict=True)
                    if at is not None and at <= after
                ),
                default=0,
            )
            if after == steps:
                least = len(course.trail) - course.is_seen
            left += [model for model in course.trail[least:] if len(model.runs) >= runs]
        TALLY.add(f"{how}: {'after' if after == steps else 'before'} its last write")
        self._reborn(left[::-1], how, cut=cut)

    def _reborn(
        self,
        left: list[Model],
        how: str,
        *,
        cut: Cut | None = None,
        counts: bool = True,
        stopped: float | None = None,
        hours: int = 0,
        again: Cut | None = None,
    ) -> None:
        """Open a new house on what is left; one of the given pasts must explain it."""
        TALLY.rule(how)
        files, ended = self._left(cut)
        self.wait(self.house.close())
        self.files = files
        away = self.house.away + timedelta(hours=hours)
        opened_at = self.now
        self.open(away)
        found: list[str] = []
        for past in left:
            past.clock, past.offset = opened_at, away.total_seconds()
            if again is not None:
                past.runs = []
                past.trail = []
                past.mark()
            restart(past, counts=counts, stopped=stopped)
            past.advance(self.now)
            if (misfit := difference(self.house, past)) is None:
                self.model = past
                break
            found.append(misfit)
        else:
            raise AssertionError("nothing explains what is left:\n" + "\n".join(found))
        for task in ended:
            kept = self.model.tasks.get(task.id)
            assert kept is None or kept.status == task.status
        self.count(how)
        if again is not None:
            trail, self.model.trail = self.model.trail or [], None
            course = Course(model=self.model, expected=[], trail=trail, durable=[])
            self._cut_off([course], [], again, "crash in a start")

    def _count_cut(self, after: int, *, torn: bool) -> None:
        if self.files.is_compaction(after):
            TALLY.add("cut in a compaction")
        elif torn and isinstance(self.files.steps[after].change, bytes):
            TALLY.add("cut in a line")

    def _left(self, cut: Cut | None) -> tuple[StepFiles, list[Task]]:
        """Return what a cut leaves, and which endings were told by then and must be in it."""
        steps = len(self.files.steps)
        after = steps if cut is None else cut.after % (steps + 1)
        if cut is not None and after < steps:
            self._count_cut(after, torn=cut.torn)
        files = self.files.cut(after, torn=cut is not None and cut.torn)
        # A cancel works first and is stored then.
        told = [
            event.task
            for step, event in self.told
            if step <= after and event.type is not TaskEventType.CANCELLED
        ]
        return files, told


def _may_begin(expected: list[object], seen: list[object]) -> bool:
    """Return whether an order may be what a crash cuts off, as a refusal promises nothing."""
    return all(
        one == other or str(other).endswith("Error")
        for one, other in zip(expected, seen, strict=True)
    )
