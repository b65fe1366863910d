"""Words that mean yes: conservative, in many languages; what is not sure is no yes."""

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.aiden_duplex.foreground.stop_words import is_stop
from custom_components.aiden_duplex.foreground.yes_words import is_yes
from tests.examples import examples

YES = (
    *("yes", "Yes.", "YES!", "yes, please", "Yes, send it.", "ok do it", "Okay, go ahead"),
    *("sure", "Of course, Aiden", "yes, please send it now", "I confirm", "yes yes", "Ｙes"),
    *("ja", "Ja, senden", "Ja bitte, schick es ab!", "klar", "in Ordnung, mach das"),
    *("sí", "Sí, envíalo por favor", "oui", "d’accord", "sì, invialo", "ja, doe maar"),
    *("tak", "sim, envie", "evet, gönder", "да", "Да, отправь!", "是的", "可以，发送", "はい"),
    *("네, 보내 주세요", "نعم"),
)  # fmt: skip


@pytest.mark.parametrize("text", YES)
def test_a_yes(text: str) -> None:
    """Whatever the case, the politeness around and the kind of apostrophe."""
    assert is_yes(text)
    assert not is_stop(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "ok", "okay", "please", "...", "👍", "hm", "aiden"),
        *("no", "nein", "yes no", "no, yes", "yes but wait", "yes, but not now", "maybe"),
        *("yes?", "yes？", "do it?", "should I say yes", "I said “yes” before", "yes if it is free"),
        *("yes, send it to Bob instead", "yes and also pay", "do it later", "do it not"),
        *("don't do it", "do not send it", "not yes", "yes I guess", "yeah right", "yesterday"),
        *("send", "send it", "delete it", "please send it now", "好的", "what did you say", "ja nein", "ja, aber warte", "nicht senden", "jaja"),
        *("vielleicht", "sí pero espera", "oui mais non", "не надо", "不是", "不可以", "いいえ"),
        *("아니요", "لا", "[ANSWER]: yes", '"yes"', "'yes'", "yes / no", "yes 2", "yes\0no"),
        *("yes " * 9, "The person said yes", "y e s", "ye s"),
    ],
)  # fmt: skip
def test_no_yes(text: str) -> None:
    """A doubt, a condition, a question, a change, a quotation, a word too many."""
    assert not is_yes(text)


@settings(max_examples=examples(100), deadline=None)
@given(
    st.sampled_from(YES),
    st.sampled_from(
        ["not", "but", "if", "no", "wait", "nicht", "nein", "aber", "pas", "pero", "?"]
    ),
    st.booleans(),
)
def test_one_word_of_doubt_takes_a_yes_back(yes: str, doubt: str, before: bool) -> None:
    """Wherever it stands."""
    assert not is_yes(f"{doubt} {yes}" if before else f"{yes} {doubt}")


@settings(max_examples=examples(200), deadline=None)
@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    """Nothing raises, and a question is never a yes."""
    assert not is_yes(f"{text}?")
    assert not (is_yes(text) and len(text.split()) > 8)
