"""What is seen on a picture: words, lines, rows with their switches.

All places run from 0 to 1000 on both axes, origin top left, as models are told.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import itertools
import re

from .words import normalise, same_text

_ON = frozenset({"on", "0n", "onn", "enabled"})
_OFF = frozenset({"off", "0ff", "oft", "otf", "ofl", "disabled"})
_STATE_WORDS = 3
"""Longer summaries tell something else, even if they hold an "on"."""
_STATUS_BAR = 50.0
"""Lines above this are the status bar's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def x(self) -> float:
        """Return the middle, across."""
        return (self.left + self.right) / 2

    @property
    def y(self) -> float:
        """Return the middle, down."""
        return (self.top + self.bottom) / 2

    @property
    def height(self) -> float:
        """Return the height."""
        return self.bottom - self.top

    def joined(self, other: Box) -> Box:
        """Return the rectangle around both."""
        return Box(
            left=min(self.left, other.left),
            top=min(self.top, other.top),
            right=max(self.right, other.right),
            bottom=max(self.bottom, other.bottom),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Words that stand together."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A name with what stands below or beside it."""

    name: str
    box: Box
    """Around the name."""
    summary: str = ""
    switch: Box | None = None
    """A drawn switch at its right."""

    @property
    def text(self) -> str:
        """Return all of it."""
        return f"{self.name} {self.summary}".strip()

    @property
    def state(self) -> bool | None:
        """Return whether it says On (True) or Off (False); None if it says neither."""
        for text in (self.summary, self.name):
            words = normalise(text).split()
            said = [w in _ON for w in words if w in _ON or w in _OFF]
            if len(said) == 1 and len(words) <= _STATE_WORDS:
                return said[0]
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One picture, read."""

    lines: Sequence[Line]
    switches: Sequence[Box] = ()
    black: bool = False
    """Nothing but black: protected, or asleep."""
    digest: str = ""
    """Changes when the picture does."""

    @property
    def body(self) -> list[Line]:
        """Return the lines below the status bar."""
        return [line for line in self.lines if line.box.y > _STATUS_BAR]

    @property
    def title(self) -> str:
        """Return the highest line below the status bar; ``home`` for a grid of icons."""
        if self.is_grid:
            return "home"
        named = [x for x in self.body if sum(c.isalnum() for c in x.text) > 2]
        return min(named, key=lambda line: line.box.top).text if named else ""

    @property
    def is_grid(self) -> bool:
        """Tell whether names stand in columns, as icons do."""
        return len(grid_rows(self.body)) >= 2

    @property
    def rows(self) -> list[Row]:
        """Return names with their summaries, from top to bottom."""
        body = sorted(self.body, key=lambda line: (line.box.top, line.box.left))
        used: set[int] = set()
        rows: list[Row] = []
        for index, line in enumerate(body):
            if index in used:
                continue
            below = _summary_of(body, index, used) if not self.is_grid else []
            used.update(below)
            rows.append(
                Row(
                    name=line.text,
                    box=line.box,
                    summary=" ".join(body[i].text for i in below),
                    switch=self._switch_of(line, [body[i] for i in below]),
                )
            )
        return rows

    @property
    def nameless(self) -> list[Row]:
        """Return the rows of which only an On or Off was read: their names were missed."""
        return [row for row in self.rows if not row.summary and is_state(row.name)]

    def find(self, *texts: str) -> Line | None:
        """Return the first line that is one of some texts."""
        for text in texts:
            for line in self.body:
                if same_text(line.text, text):
                    return line
        return None

    def says(self, pattern: str) -> bool:
        """Tell whether any line holds a pattern, in normalised spelling."""
        return any(re.search(pattern, normalise(line.text)) for line in self.lines)

    def _switch_of(self, line: Line, below: Sequence[Line]) -> Box | None:
        area = line.box
        for other in below:
            area = area.joined(other.box)
        for switch in self.switches:
            if (
                area.top - 10 <= switch.y <= area.bottom + 10
                and switch.left > area.left
            ):
                return switch
        return None


def is_state(text: str) -> bool:
    """Tell whether a text is On or Off and nothing else."""
    return normalise(text) in _ON | _OFF


def grid_rows(lines: Iterable[Line]) -> list[list[Line]]:
    """Return the groups of three or more names that stand side by side, as under icons."""
    groups: list[list[Line]] = []
    names = [
        x for x in lines if len(x.text) <= 20 and sum(c.isalpha() for c in x.text) > 2
    ]
    for line in sorted(names, key=lambda line: line.box.y):
        if groups and line.box.y - groups[-1][0].box.y < 10:
            groups[-1].append(line)
        else:
            groups.append([line])
    return [group for group in groups if len(group) >= 3 and _apart(group)]


def _apart(group: Sequence[Line]) -> bool:
    """Tell whether names stand in columns of their own."""
    middles = sorted(line.box.x for line in group)
    return all(b - a > 120 for a, b in itertools.pairwise(middles))


def _summary_of(body: Sequence[Line], index: int, used: set[int]) -> list[int]:
    """Return the lines that stand directly below a name, at its left edge."""
    found: list[int] = []
    last = body[index]
    for other in range(index + 1, len(body)):
        line = body[other]
        if other in used or abs(line.box.left - body[index].box.left) > 25:
            continue
        gap = line.box.top - last.box.bottom
        if gap > 1.0 * body[index].box.height or gap < -5:
            break
        found.append(other)
        last = line
    return found


def group_lines(words: Sequence[Line], aspect: float) -> list[Line]:
    """Join words that stand on one line without a wide gap.

    Args:
        words: The words.
        aspect: Width of the picture divided by its height.

    """
    lines: list[list[Line]] = []
    for word in sorted(words, key=lambda word: word.box.left):
        home = None
        for line in lines:
            last = line[-1].box
            low, high = sorted((last.height, word.box.height))
            overlap = min(last.bottom, word.box.bottom) - max(last.top, word.box.top)
            gap = (word.box.left - last.right) * aspect
            # An icon beside a name is taller than letters and further off than a space.
            if overlap > 0.4 * low and gap < 0.7 * high and high < 1.7 * low:
                home = line
        if home is None:
            lines.append([word])
        else:
            home.append(word)
    return sorted((_joined(line) for line in lines), key=lambda line: line.box.top)


def _joined(words: Sequence[Line]) -> Line:
    """Return one line; signs at its ends are arrows and icons, not letters."""
    kept = list(words)
    while len(kept) > 1 and not any(c.isalnum() for c in kept[0].text):
        kept = kept[1:]
    while len(kept) > 1 and not any(c.isalnum() for c in kept[-1].text):
        kept = kept[:-1]
    words = kept
    box = words[0].box
    for word in words[1:]:
        box = box.joined(word.box)
    return Line(text=" ".join(word.text for word in words), box=box)
