"""From text to keys of a US keyboard, known in full before the first key is sent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import unicodedata

from .types import UnsupportedTextError

SHIFT = 0x02
"""Left shift in a boot keyboard report's modifiers."""
ENTER = 0x28
TAB = 0x2B
MAX_STROKES = 99
"""Strokes in one TEXT frame: 2 bytes each beside 2 of header, 200 in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """One key with its modifiers (HID Usage Tables, keyboard page 0x07)."""

    mods: int
    usage: int


_PLAIN = "-=[]\\\0;'`,./"
_SHIFTED = '_+{}|\0:"~<>?'
_FIRST_SYMBOL = 0x2D
"""Usage of the first character of both rows above."""
_DIGITS = "1234567890"
_OVER_DIGITS = "!@#$%^&*()"
_FIRST_DIGIT = 0x1E
_FIRST_LETTER = 0x04
_SPACE = 0x2C

_TYPOGRAPHY = str.maketrans(
    {
        "\u00a0": " ",
        "\u202f": " ",
        "\u2018": "'",
        "\u2019": "'",
        "\u201a": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u201e": '"',
        "\u2010": "-",
        "\u2011": "-",
        "\u2012": "-",
        "\u2013": "-",
        "\u2014": "-",
        "\u2212": "-",
        "\u2026": "...",
    }
)


def _us_layout() -> dict[str, Stroke]:
    """Return the strokes of a US keyboard by character; without Enter and Tab."""
    layout = {" ": Stroke(mods=0, usage=_SPACE)}
    for offset in range(26):
        usage = _FIRST_LETTER + offset
        layout[chr(ord("a") + offset)] = Stroke(mods=0, usage=usage)
        layout[chr(ord("A") + offset)] = Stroke(mods=SHIFT, usage=usage)
    rows = (
        (_DIGITS, 0, _FIRST_DIGIT),
        (_OVER_DIGITS, SHIFT, _FIRST_DIGIT),
        (_PLAIN, 0, _FIRST_SYMBOL),
        (_SHIFTED, SHIFT, _FIRST_SYMBOL),
    )
    for characters, mods, first in rows:
        for offset, character in enumerate(characters):
            if character != "\0":
                layout[character] = Stroke(mods=mods, usage=first + offset)
    return layout


US_LAYOUT = _us_layout()


def to_strokes(
    text: str, *, allow_enter: bool = False, plain_typography: bool = False
) -> list[Stroke]:
    r"""Return the strokes that type ``text`` on a US layout.

    The text is NFC-normalised first; ``\\r\\n`` counts as one newline. A newline is Enter,
    which may send a message, and is taken only with ``allow_enter``. With
    ``plain_typography`` curly quotes, no-break spaces, dashes and the ellipsis become
    their ASCII look-alikes; without it they cannot be typed. A tab would move the focus
    and is never typed.

    Raises:
        UnsupportedTextError: Some characters cannot be typed; all of them are named.

    """
    text = unicodedata.normalize("NFC", text).replace("\r\n", "\n")
    if plain_typography:
        text = text.translate(_TYPOGRAPHY)
    layout = US_LAYOUT
    if allow_enter:
        layout = layout | {"\n": Stroke(mods=0, usage=ENTER)}
    if unsupported := dict.fromkeys(char for char in text if char not in layout):
        raise UnsupportedTextError("".join(unsupported))
    return [layout[character] for character in text]


def chunks(
    strokes: Sequence[Stroke], size: int = MAX_STROKES
) -> Iterator[Sequence[Stroke]]:
    """Yield the strokes in pieces that fit one TEXT frame each."""
    for start in range(0, len(strokes), size):
        yield strokes[start : start + size]
