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
_SENTENCE: Final = 9
"""Up to so many words, a strong one does."""
_LONG: Final = 40
"""Beyond so many characters a part of a word no longer counts."""

_STOPS: Final = {
    "en": "stop; halt; wait; hold on; hang on; hold it; cancel; abort; freeze; don't; "
    "do not; never mind; leave it; enough; pause; quit; no",
    "de": "stopp; stop; halt; warte; warten; moment; abbrechen; abbruch; brich ab; "
    "hör auf; hoer auf; aufhören; aufhoeren; lass das; nicht; anhalten; nein",
    "es": "para; pare; alto; detente; espera; cancela; no lo hagas; basta",
    "fr": "arrête; arrêtez; arrêter; stop; attends; attendez; annule; annulez; annuler; "
    "ne fais pas; non",
    "it": "ferma; fermati; fermo; aspetta; annulla; basta",
    "nl": "stop; stoppen; wacht; annuleer; hou op; niet doen",
    "pl": "stop; stój; czekaj; anuluj; przestań",
    "pt": "pare; para; espera; espere; cancela; cancele",
    "tr": "dur; bekle; iptal; yapma",
}
_STRONG: Final = (
    "stop; stopp; halt; abort; cancel; abbrechen; aufhören; arrête; arrêtez; annule; "
    "detente; cancela; fermati; stój"
)
_PARTS: Final = (
    *("停", "住手", "等一下", "等等", "别动", "不要", "取消"),
    *("止め", "やめ", "待って", "ストップ"),
    *("멈춰", "그만", "기다려", "취소"),
    *("توقف", "قف", "انتظر", "إلغاء", "الغاء"),
    *("стой", "стоп", "подожди", "отмена", "хватит"),
    *("रुको", "रुकिए", "बंद कर"),
)
"""Parts of words, for scripts and languages in which words are joined or inflected."""
_FILLERS: Final = (
    "a; ah; aiden; and; bitte; but; can; could; das; doch; du; favor; hey; just; kannst; "
    "mal; now; oh; ok; okay; plaît; please; por; s'il; so; sofort; te; uh; und; vous; "
    "well; würdest; yeah; yes; you"
)
"""Words before a stop word that say nothing themselves."""

_CLAUSES: Final = re.compile(r"[.!?;:,…\n¡¿。！？、，]+|\s-+\s|[–—]")
_WORDS: Final = re.compile(r"[\w']+")


def _texts(line: str) -> frozenset[str]:
    """Return the texts of a line."""
    return frozenset(text.strip() for text in line.split(";"))


_FILLER_WORDS: Final = _texts(_FILLERS)
_STRONG_WORDS: Final = _texts(_STRONG)
_PHRASES: Final = frozenset(
    tuple(text.split()) for line in _STOPS.values() for text in _texts(line)
)


def is_stop(text: str) -> bool:
    """Return whether a person's words ask to stop or wait, in any of our languages.

    They do if a clause begins with a stop word, politeness aside, if they are few and
    hold one, or if a clause that is not long holds a strong one.
    """
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    if any(part in plain for part in _PARTS) and len(plain) <= _LONG:
        return True
    clauses = [_WORDS.findall(clause) for clause in _CLAUSES.split(plain)]
    if sum(map(len, clauses)) <= _SHORT:
        return any(_holds(words) for words in clauses)
    return any(
        _begins(words) or _begins(_without_fillers(words)) or _is_strong(words)
        for words in clauses
    )


def _without_fillers(words: list[str]) -> list[str]:
    """Return the words from the first one that says something."""
    for number, word in enumerate(words):
        if word not in _FILLER_WORDS:
            return words[number:]
    return []


def _begins(words: list[str]) -> bool:
    """Return whether the words begin with a stop phrase."""
    return any(tuple(words[: len(phrase)]) == phrase for phrase in _PHRASES)


def _holds(words: list[str]) -> bool:
    """Return whether a stop phrase stands anywhere in the words."""
    return any(_begins(words[start:]) for start in range(len(words)))


def _is_strong(words: list[str]) -> bool:
    """Return whether a strong stop word stands anywhere in words that are not many."""
    return len(words) <= _SENTENCE and not _STRONG_WORDS.isdisjoint(words)
