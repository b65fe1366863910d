"""What may have happened: acts at one time in any order, and a crash after any write."""

from collections.abc import Iterator
from dataclasses import dataclass, field
import itertools

from .acts import Act
from .reference import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A crash after some of the steps on the disk."""

    after: int
    """Taken modulo the number of the steps."""
    torn: bool
    """A part of the next step is there, too."""


@dataclass(slots=True, kw_only=True)
class Trial:
    """Some acts at one time, and what comes between."""

    wanted: int = 1
    """How many acts."""
    acts: list[Act] = field(default_factory=list)
    cut: Cut | None = None
    stops: bool = False
    """The house is stopped orderly at the same moment."""


@dataclass(slots=True, kw_only=True)
class Course:
    """One order in which it may have happened."""

    model: Model
    expected: list[object]
    """What the acts come to, in the order of the acts."""
    trail: list[Model]
    """What a crash may leave, in the order of time."""
    durable: list[int]
    """For each act the number of the trail's entry from which on it is done."""
    is_seen: bool = True
    """Its end is what the manager shows; if not, only a part of it may be on the disk."""


def courses(
    model: Model, acts: list[Act], seen: list[object], until: float, *, trail: bool
) -> Iterator[Course]:
    """Yield every order in which the acts can have been done; the usual one first."""
    rests = (False, True) if len(acts) > 1 else (False,)
    for rest, order in itertools.product(
        rests, itertools.permutations(range(len(acts)))
    ):
        now = model.copy()
        now.trail = [] if trail else None
        now.mark()
        expected: list[object] = [None] * len(acts)
        durable = [0] * len(acts)
        for number in order:
            before = len(now.trail or ())
            expected[number] = acts[number].expect(now, seen[number])
            after = len(now.trail or ())
            # What changed nothing promises nothing, also not what it saw of others.
            durable[number] = after - 1 if after > before else 0
            if rest:
                now.advance(now.clock)
        now.advance(until)
        left, now.trail = now.trail or [], None
        yield Course(model=now, expected=expected, trail=left, durable=durable)
