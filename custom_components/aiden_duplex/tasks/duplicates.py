"""Is this the same work as that? Pure."""

from functools import lru_cache
import re
import unicodedata

_KEPT = "#@&*/%\\"
"""Punctuation that tells goals apart: ``C#``, ``a/b``, ``50%``."""
_SPACE = re.compile(r"\s+")
_SIGN = re.compile(r"[^\w\s]|_")
"""What may be punctuation: everything else is not looked at one by one."""


@lru_cache(maxsize=64)
def normalise_goal(goal: str) -> str:
    """Return the goal without the differences that do not change what is wanted.

    Case, width, spaces and sentence punctuation go; a sign right before a digit stays
    (``-5`` is not ``5``, ``1.5`` is not ``1 5``).
    """
    text = unicodedata.normalize("NFKC", goal).casefold()
    kept = _SIGN.sub(_without_punctuation, text)
    normalised = _SPACE.sub(" ", kept).strip()
    # A goal of nothing but punctuation is only equal to itself.
    return normalised or text.strip()


def _without_punctuation(sign: re.Match[str]) -> str:
    """Return a sign, or a space for one that only belongs to the sentence."""
    char = sign[0]
    after = sign.string[sign.end() : sign.end() + 1]
    is_sentence_punctuation = (
        unicodedata.category(char).startswith("P")
        and char not in _KEPT
        and not after.isdigit()
    )
    return " " if is_sentence_punctuation else char
