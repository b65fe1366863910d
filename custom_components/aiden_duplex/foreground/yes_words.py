"""Words that certainly mean yes. Code decides it, since a consent must not be a model's guess.

Whoever is misunderstood here is asked once more; the other mistake would send or pay. So
every word of the text must be known and nothing may be left over: a condition, a doubt, a
question or a single strange word is no yes.
"""

from collections.abc import Mapping
import re
from typing import Final
import unicodedata

MAX_WORDS: Final = 8
"""A longer text says more than yes."""

_YES: Final = {
    "en": "yes; yep; yeah; yup; sure; of course; certainly; absolutely; definitely; do it; "
    "go ahead; please do; confirm; confirmed; confirm it; i confirm; agreed; i agree; "
    "approved; allow; allow it; i allow it; allowed; proceed; you may",
    "de": "ja; jawohl; klar; na klar; sicher; natürlich; gerne; mach das; mach es; tu es; "
    "einverstanden; bestätigt; ich bestätige; erlaubt; ich erlaube es; genehmigt; nur zu; "
    "in ordnung",
    "es": "sí; si; claro; por supuesto; hazlo; adelante; confirmo; de acuerdo",
    "fr": "oui; bien sûr; d'accord; vas y; allez y; fais le; confirmé; je confirme",
    "it": "sì; certo; certamente; procedi; confermo; d'accordo",
    "nl": "ja; zeker; natuurlijk; doe het; doe maar; akkoord; ga je gang",
    "pl": "tak; oczywiście; zrób to; potwierdzam; zgadzam się; zgoda",
    "pt": "sim; claro; com certeza; faz isso; faça isso; confirmo; de acordo",
    "tr": "evet; tabii; elbette; onaylıyorum",
    "ru": "да; конечно; сделай это; подтверждаю; согласен; согласна",
    "zh": "是; 是的; 可以; 确认; 同意",
    "ja": "はい; ええ; はいお願いします; お願いします",
    "ko": "네; 예; 응; 동의합니다",
    "ar": "نعم; أجل; موافق",
}
_AROUND: Final = {
    "acts": "send it; send; senden; absenden; abschicken; schick es; schick es ab; sende es; "
    "envíalo; envíala; envoie le; envoyez le; invialo; inviala; verstuur het; stuur het; "
    "wyślij; wyślij to; envia; envie; gönder; отправляй; отправь; 发送; 送って; 送ってください; "
    "보내; 보내 주세요; أرسلها; أرسله; pay it; order it; post it; delete it; call; install it; "
    "share it",
    "politeness": "aiden; hey; ah; oh; ok; okay; okey; now; just; then; well; please; kindly; "
    "thanks; thank you; bitte; danke; jetzt; nun; dann; por favor; s'il te plaît; "
    "s'il vous plaît; merci; per favore; graag; proszę; lütfen; пожалуйста; 好的; 请",
}
"""What may stand around a yes and is none: after "Shall I delete it?" a bare "send it" is not."""

_NO_WORDS: Final = re.compile(r"[^\w'\s.,!;:…。！、，]|['’]\B|\B['’]")
"""Question marks, quotation marks, emoji: the text does more than say yes."""
_WORDS: Final = re.compile(r"[\w']+")


def _plain(text: str) -> str:
    """Return a text with one form for each letter and apostrophe."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def _phrases(table: Mapping[str, str]) -> frozenset[tuple[str, ...]]:
    """Return all phrases of a table as words."""
    texts = (text for line in table.values() for text in line.split(";"))
    return frozenset(tuple(_plain(text).split()) for text in texts)


_SURE: Final = _phrases(_YES)
_KNOWN: Final = _SURE | _phrases(_AROUND)
_LONGEST: Final = max(map(len, _KNOWN))


def is_yes(text: str) -> bool:
    """Return whether a person's words certainly mean yes, in any of our languages.

    At least one phrase that means yes, politeness or the act's name around it, and
    nothing else.
    """
    plain = _plain(text)
    if _NO_WORDS.search(plain):
        return False
    words = _WORDS.findall(plain.replace("-", " "))
    if len(words) > MAX_WORDS:
        return False
    found = False
    while words:
        if (phrase := _first(words)) is None:
            return False
        found = found or phrase in _SURE
        words = words[len(phrase) :]
    return found


def _first(words: list[str]) -> tuple[str, ...] | None:
    """Return the longest known phrase that the words begin with."""
    starts = (tuple(words[:length]) for length in range(_LONGEST, 0, -1))
    return next((start for start in starts if start in _KNOWN), None)
