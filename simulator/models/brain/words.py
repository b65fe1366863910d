"""Words as a reader compares them: without case, accents, hyphens or small misreadings."""

from difflib import SequenceMatcher
from functools import lru_cache
import re
import unicodedata

_FILLER = frozenset(
    [
        "a",
        "an",
        "the",
        "my",
        "your",
        "this",
        "that",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "with",
        "and",
        "or",
        "is",
        "are",
        "be",
        "it",
        "its",
        "please",
        "use",
        "using",
        "mode",
        "phone",
        "phones",
        "device",
    ]
)
"""Words that do not tell one name from another."""
_ALIKE = str.maketrans({"0": "o", "1": "l", "|": "l", "!": "l", "5": "s"})
_MIN_RATIO = 0.8


@lru_cache(maxsize=4096)
def normalise(text: str) -> str:
    """Return a text in lower case, without accents, quotes, hyphens and punctuation."""
    text = unicodedata.normalize("NFKD", text.casefold())
    text = "".join(c for c in text if not unicodedata.combining(c))
    text = text.replace("&", " and ").replace("’", "'")
    text = re.sub(r"(?<=\w)['-](?=\w)", "", text)
    text = re.sub(r"(?<!\d):|:(?!\d)", " ", text)
    return re.sub(r"[^\w%:+]+", " ", text).strip()


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(normalise(text).split())


def content(text: str) -> tuple[str, ...]:
    """Return the words that matter; all of them when none does."""
    words = tokens(text)
    return tuple(word for word in words if word not in _FILLER) or words


@lru_cache(maxsize=8192)
def alike(first: str, second: str) -> bool:
    """Tell whether two words are the same but for a misreading or an ending."""
    if first == second:
        return True
    short, long = sorted((first, second), key=len)
    if any(c.isdigit() for c in short) and any(c.isdigit() for c in long):
        return False
    if len(short) < 4:
        return short.translate(_ALIKE) == long.translate(_ALIKE) and not short.isdigit()
    if long.startswith(short) and len(long) - len(short) <= 2:
        return True
    return SequenceMatcher(None, first, second).ratio() >= _MIN_RATIO


def coverage(wanted: tuple[str, ...], seen: tuple[str, ...]) -> float:
    """Return the share of wanted words that are seen, 0 to 1."""
    if not wanted:
        return 0.0
    return sum(any(alike(word, other) for other in seen) for word in wanted) / len(
        wanted
    )


def same_text(first: str, second: str) -> bool:
    """Tell whether two short texts are the same as far as a reader can tell."""
    one, two = normalise(first).replace(" ", ""), normalise(second).replace(" ", "")
    if not one or not two or _digits(one) != _digits(two):
        return one == two
    return one == two or SequenceMatcher(None, one, two).ratio() >= 0.86


def _digits(text: str) -> list[str]:
    return [c for c in text if c.isdigit()]
