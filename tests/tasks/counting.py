"""Counts what state machines did, so that what is never reached is noticed."""

from collections import Counter
from collections.abc import Callable
import functools
from typing import Any

from hypothesis import stateful

RULES: set[str] = set()
"""All rules that there are."""
TAKEN: Counter[str] = Counter()
"""How often each rule was taken and each arrow was seen, by all machines of this process."""


def rule(**strategies: Any) -> Callable[[Callable[..., None]], Any]:
    """Make a rule of a method, as Hypothesis does, and count it."""

    def make(method: Callable[..., None]) -> Any:
        RULES.add(f"rule {method.__name__}")

        @functools.wraps(method)
        def counted(self: Any, **drawn: Any) -> None:
            TAKEN[f"rule {method.__name__}"] += 1
            method(self, **drawn)

        return stateful.rule(**strategies)(counted)

    return make
