"""Texts as keys and points as touches."""

from hypothesis import given, strategies as st
import pytest

from custom_components.aiden_duplex.phone.coordinates import TouchSpace, to_touch
from custom_components.aiden_duplex.phone.text import Stroke, chunks, to_strokes
from custom_components.aiden_duplex.phone.types import Area, Point, UnsupportedTextError

PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))


def test_every_printable_ascii_character_can_be_typed() -> None:
    """Each by its own keys: 95 characters, 95 strokes."""
    strokes = to_strokes(PRINTABLE)
    assert len({(stroke.mods, stroke.usage) for stroke in strokes}) == 95
    assert {stroke.mods for stroke in strokes} == {0, 2}


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("a", [(0, 0x04)]),
        ("Z", [(2, 0x1D)]),
        ("1", [(0, 0x1E)]),
        ("0", [(0, 0x27)]),
        ("!", [(2, 0x1E)]),
        (")", [(2, 0x27)]),
        (" ", [(0, 0x2C)]),
        ("-_", [(0, 0x2D), (2, 0x2D)]),
        ("\\|", [(0, 0x31), (2, 0x31)]),
        (";:", [(0, 0x33), (2, 0x33)]),
        ("'\"", [(0, 0x34), (2, 0x34)]),
        ("`~", [(0, 0x35), (2, 0x35)]),
        ("/?", [(0, 0x38), (2, 0x38)]),
        ("@#", [(2, 0x1F), (2, 0x20)]),
    ],
)
def test_characters_are_the_keys_of_a_us_keyboard(
    text: str, keys: list[tuple[int, int]]
) -> None:
    """HID Usage Tables, page 0x07."""
    assert to_strokes(text) == [Stroke(mods=mods, usage=usage) for mods, usage in keys]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("\u05e9\u05dc\u05d5\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
        ("very \u5f88 good \u5f88", "\u5f88"),
        ("caf\u00e9", "\u00e9"),
        ("cafe\u0301", "\u00e9"),
        ("thumbs \U0001f44d", "\U0001f44d"),
        ("a\nb", "\n"),
        ("a\tb", "\t"),
        ("\u201cquoted\u201d", "\u201c\u201d"),
        ("no\u00a0break", "\u00a0"),
        ("\x00", "\x00"),
    ],
)
def test_what_cannot_be_typed_is_named_before_anything_is(
    text: str, named: str
) -> None:
    """Each character once, composed ones as one; nothing is dropped silently."""
    with pytest.raises(UnsupportedTextError) as err:
        to_strokes(text)
    assert err.value.characters == named
    assert "Nothing was typed" in str(err.value)


def test_typography_becomes_ascii_only_when_asked() -> None:
    """Quotes, dashes, no-break spaces, the ellipsis."""
    fancy = "\u201cIt\u2019s 5\u20137\u00a0pm\u2026\u201d \u2014 he said"
    assert to_strokes(fancy, plain_typography=True) == to_strokes(
        '"It\'s 5-7 pm..." - he said'
    )


def test_enter_is_typed_only_when_allowed() -> None:
    """It may send a message."""
    strokes = to_strokes("a\r\nb\n", allow_enter=True)
    assert [stroke.usage for stroke in strokes] == [0x04, 0x28, 0x05, 0x28]


@given(st.text(PRINTABLE, max_size=400), st.integers(1, 99))
def test_chunks_hold_everything_in_order(text: str, size: int) -> None:
    """No frame is too long, no stroke is lost."""
    strokes = to_strokes(text)
    parts = list(chunks(strokes, size))
    assert all(1 <= len(part) <= size for part in parts)
    assert [stroke for part in parts for stroke in part] == strokes


@st.composite
def areas(draw: st.DrawFn) -> tuple[int, int, Area]:
    """Return a picture's size and an area in it."""
    width, height = draw(st.integers(64, 4096)), draw(st.integers(64, 4096))
    left, top = draw(st.integers(0, width // 2)), draw(st.integers(0, height // 2))
    return (
        width,
        height,
        Area(
            left=left,
            top=top,
            width=draw(st.integers(8, width - left)),
            height=draw(st.integers(8, height - top)),
        ),
    )


NORM = st.floats(0, 1000)


@given(areas(), NORM, NORM)
def test_a_point_lands_where_it_was_seen(
    place: tuple[int, int, Area], x: float, y: float
) -> None:
    """To one unit of the report, whatever the letterbox; at its edges inside it."""
    width, height, area = place
    hit = to_touch(
        Point(x=x, y=y),
        area=area,
        source_width=width,
        source_height=height,
        space=TouchSpace.FRAME,
    )
    axes = (
        (x, hit[0], area.left, area.width, width),
        (y, hit[1], area.top, area.height, height),
    )
    for value, unit, start, length, total in axes:
        wanted = (start + value * length / 1000) * 32768 / total
        assert abs(unit - wanted) <= 1 or (value > 995 and abs(unit - wanted) <= 2)
        for divisor in (32768, 32767):
            seen_at = unit * total / divisor
            assert start <= seen_at + 1e-6
            assert seen_at < start + length or (unit, start + length) == (32767, total)


@given(areas())
def test_all_four_corners_can_be_reached(place: tuple[int, int, Area]) -> None:
    """The outermost pixels of the phone, not their neighbours, not the bars."""
    width, height, area = place
    for x, column in ((0, area.left), (1000, area.left + area.width - 1)):
        for y, row in ((0, area.top), (1000, area.top + area.height - 1)):
            hit_x, hit_y = to_touch(
                Point(x=x, y=y),
                area=area,
                source_width=width,
                source_height=height,
                space=TouchSpace.FRAME,
            )
            assert (hit_x * width // 32768, hit_y * height // 32768) == (column, row)


@given(areas(), NORM, NORM)
def test_a_phone_with_its_own_touch_space_ignores_the_letterbox(
    place: tuple[int, int, Area], x: float, y: float
) -> None:
    """Its full range is the phone's own screen."""
    width, height, area = place
    hit = to_touch(
        Point(x=x, y=y),
        area=area,
        source_width=width,
        source_height=height,
        space=TouchSpace.SCREEN,
    )
    for value, unit in zip((x, y), hit, strict=True):
        assert abs(unit - min(value * 32.768, 32767)) <= 1


def test_a_portrait_phone_in_a_full_hd_picture() -> None:
    """The published case: a 498 pixel wide phone in the middle of 1920."""
    area = Area(left=711, top=0, width=498, height=1080)
    hits = [
        to_touch(
            Point(x=x, y=x),
            area=area,
            source_width=1920,
            source_height=1080,
            space=TouchSpace.FRAME,
        )
        for x in (0, 500, 999)
    ]
    assert hits == [(12135, 0), (16384, 16384), (20625, 32735)]


def test_points_outside_the_phone_do_not_exist() -> None:
    """A model that answers pixels is told so."""
    with pytest.raises(ValueError, match="0 to 1000"):
        Point(x=1000.1, y=0)
    with pytest.raises(ValueError, match="does not lie"):
        to_touch(
            Point(x=1, y=1),
            area=Area(left=10, top=0, width=100, height=100),
            source_width=100,
            source_height=100,
            space=TouchSpace.FRAME,
        )
