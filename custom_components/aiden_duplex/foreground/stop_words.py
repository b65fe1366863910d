"""Words that stop the phone at once, before any model has read them.

They hold the phone for a few seconds only; what is meant is then for the model to decide.
So a false alarm costs a pause, and the words are matched rather widely.
"""

import re
from typing import Final
import unicodedata

HOLD_S: Final = 5.0
"""How long the phone is held (architecture)."""

_SHORT: Final = 4
"""Up to so many words, a stop word counts wherever it stands."""

_STOPS: Final = {
    "en": "stop; halt; wait; hold on; hold it; cancel; abort; freeze; don't; do not; "
    "never mind; leave it; enough",
    "de": "stopp; stop; halt; warte; warten; moment; abbrechen; abbruch; brich ab; "
    "hör auf; hoer auf; aufhören; aufhoeren; lass das; nicht; anhalten",
    "es": "para; alto; detente; espera; cancela; no lo hagas; basta",
    "fr": "arrête; arrêter; stop; attends; attendez; annule; annuler; ne fais pas",
    "it": "ferma; fermati; fermo; aspetta; annulla; basta",
    "nl": "stop; stoppen; wacht; annuleer; hou op; niet doen",
    "pl": "stop; stój; czekaj; anuluj; przestań",
    "pt": "pare; para; espera; espere; cancela; cancele",
    "tr": "dur; bekle; iptal; yapma",
}
_PARTS: Final = (
    *("停", "住手", "等一下", "等等", "别动", "不要", "取消"),
    *("止め", "やめ", "待って", "ストップ"),
    *("멈춰", "그만", "기다려", "취소"),
    *("توقف", "قف", "انتظر", "إلغاء", "الغاء"),
    *("стой", "стоп", "подожди", "отмена", "хватит"),
)
"""Parts of words, for scripts and languages in which words are joined or inflected."""
_FILLERS: Final = frozenset(
    [
        "a",
        "ah",
        "aiden",
        "bitte",
        "doch",
        "du",
        "hey",
        "just",
        "mal",
        "nein",
        "no",
        "non",
        "nou",
        "now",
        "oh",
        "ok",
        "okay",
        "please",
        "por",
        "favor",
        "s'il",
        "sofort",
        "te",
        "uh",
        "vous",
        "you",
        "plaît",
        "can",
        "could",
        "würdest",
        "kannst",
    ]
)

_CLAUSES: Final = re.compile(r"[.!?;:,…\n¡¿。！？、，]+")
_WORDS: Final = re.compile(r"[\w']+")


def _phrases() -> tuple[tuple[str, ...], ...]:
    """Return all phrases as words."""
    texts = {text.strip() for line in _STOPS.values() for text in line.split(";")}
    return tuple(tuple(text.split()) for text in sorted(texts))


_PHRASES: Final = _phrases()


def is_stop(text: str) -> bool:
    """Return whether a person's words ask to stop or wait, in any of our languages.

    They do if a clause begins with a stop word, politeness aside, or if they are few
    and hold one.
    """
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    if any(part in plain for part in _PARTS) and len(plain) <= 40:
        return True
    clauses = [_WORDS.findall(clause) for clause in _CLAUSES.split(plain)]
    if sum(map(len, clauses)) <= _SHORT:
        return any(_holds(words) for words in clauses)
    return any(_begins(_without_fillers(words)) for words in clauses)


def _without_fillers(words: list[str]) -> list[str]:
    """Return the words from the first one that says something."""
    for number, word in enumerate(words):
        if word not in _FILLERS:
            return words[number:]
    return []


def _begins(words: list[str]) -> bool:
    """Return whether the words begin with a stop phrase."""
    return any(tuple(words[: len(phrase)]) == phrase for phrase in _PHRASES)


def _holds(words: list[str]) -> bool:
    """Return whether a stop phrase stands anywhere in the words."""
    return any(_begins(words[start:]) for start in range(len(words)))
