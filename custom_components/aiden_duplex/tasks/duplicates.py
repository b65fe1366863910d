"""Is this the same work as that? Pure."""

from collections.abc import Collection, Iterable
from itertools import pairwise
import re
import unicodedata

from .errors import DuplicateTaskError
from .model import Task

_KEPT = "#@&*/%\\"
"""Punctuation that tells goals apart: ``C#``, ``a/b``, ``50%``."""
_SPACE = re.compile(r"\s+")


def normalise_goal(goal: str) -> str:
    """Return the goal without the differences that do not change what is wanted.

    Case, width, spaces and sentence punctuation go; a sign right before a digit stays
    (``-5`` is not ``5``, ``1.5`` is not ``1 5``).
    """
    text = unicodedata.normalize("NFKC", goal).casefold()
    kept = "".join(
        " " if _is_sentence_punctuation(char, after) else char
        for char, after in pairwise(f"{text} ")
    )
    normalised = _SPACE.sub(" ", kept).strip()
    # A goal of nothing but punctuation is only equal to itself.
    return normalised or text.strip()


def refuse_duplicate(
    goal: str,
    outstanding: Iterable[Task],
    *,
    distinct_from: Collection[str] | None,
    repeat: bool,
) -> None:
    """Check a new goal against the outstanding tasks (newest first).

    The foreground passes ``distinct_from``: it has to name every outstanding task, so
    that it has seen them. Others pass None: their goal must differ from every goal in
    flight, unless they say that it is a repetition.

    Raises:
        DuplicateTaskError: The goal may be under way already.

    """
    tasks = list(outstanding)
    if distinct_from is not None:
        if not {task.id for task in tasks} <= set(distinct_from):
            raise DuplicateTaskError(outstanding=tasks)
        return
    if repeat:
        return
    wanted = normalise_goal(goal)
    for task in tasks:
        if not task.status.is_terminal and normalise_goal(task.prompt) == wanted:
            raise DuplicateTaskError(outstanding=(task,), existing=task)


def _is_sentence_punctuation(char: str, following: str) -> bool:
    return (
        unicodedata.category(char).startswith("P")
        and char not in _KEPT
        and not following.isdigit()
    )
