"""Where the phone lies in the picture, and what can be seen of it."""

from collections.abc import Iterable
from io import BytesIO

import numpy as np
from PIL import Image
import pytest

from custom_components.aiden_duplex.phone.frame import (
    AreaMemory,
    Look,
    decode_frame,
    encode,
    look,
)
from custom_components.aiden_duplex.phone.types import Area, PictureError

from .screens import FULL_HD, LANDSCAPE, PORTRAIT, captured, screen


def look_at(*pictures: bytes) -> Look:
    """Look at pictures one after the other; return the last look."""
    memory, seen = AreaMemory(), None
    for picture in pictures:
        seen = look(picture, memory)
        memory = seen.memory
    assert seen is not None
    return seen


def assert_area(found: Area, wanted: Area, tolerance: int) -> None:
    """Compare edges."""
    for name in ("left", "top", "width", "height"):
        off = abs(getattr(found, name) - getattr(wanted, name))
        assert off <= tolerance, (name, found, wanted)


def centred(width: int, height: int, size: tuple[int, int]) -> Area:
    """Return an area in the middle of a picture."""
    return Area(
        left=(size[0] - width) // 2,
        top=(size[1] - height) // 2,
        width=width,
        height=height,
    )


SHAPES = {
    "20:9 portrait in full HD": ((486, 1080), FULL_HD),
    "19.5:9 portrait in full HD": ((498, 1080), FULL_HD),
    "16:9 portrait in full HD": ((607, 1080), FULL_HD),
    "20:9 landscape in full HD": ((1920, 864), FULL_HD),
    "portrait in 720p": ((324, 720), (1280, 720)),
    "portrait in 4:3": ((360, 768), (1024, 768)),
    "overscan on all sides": ((470, 1040), FULL_HD),
    "tablet in full HD": ((1440, 1080), FULL_HD),
    "no letterbox at all": ((1080, 2400), (1080, 2400)),
    "landscape that fills the picture": (FULL_HD, FULL_HD),
}


@pytest.mark.parametrize(("shape", "size"), SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(
    ("black_level", "noise"), [(0, 0.0), (16, 2.0)], ids=["clean", "capture stick"]
)
def test_the_phone_is_found_in_its_letterbox(
    shape: tuple[int, int], size: tuple[int, int], black_level: int, noise: float
) -> None:
    """To eight pixels: what a JPEG block smears."""
    area = centred(*shape, size)
    picture = captured(screen(*shape), area, size, black_level=black_level, noise=noise)
    seen = look_at(picture)
    assert_area(seen.area, area, 8)
    assert not seen.black


def test_a_dark_app_after_a_bright_one_keeps_the_phones_place() -> None:
    """One dark picture, or many, must not shrink the phone."""
    bright = captured(screen(498, 1080))
    dark = captured(screen(498, 1080, dark=True, lines=2))
    before = look_at(bright).area
    assert look_at(bright, dark).area == before
    assert look_at(bright, *[dark] * 10).area == before


def test_a_dark_first_picture_hides_nothing() -> None:
    """Its content is inside, and the next bright picture corrects the place."""
    lock = Image.new("RGB", (498, 1080), (0, 0, 0))
    lock.paste((255, 255, 255), (199, 300, 299, 340))
    first = look_at(captured(lock))
    assert not first.black
    area = first.area
    assert area.left <= 711 + 199 and area.left + area.width >= 711 + 299
    assert area.top <= 300 and area.top + area.height >= 340
    assert_area(look_at(captured(lock), captured(screen(498, 1080))).area, PORTRAIT, 8)


def test_a_screen_that_is_dark_on_one_side_is_not_cut() -> None:
    """Bars are alike on both sides; the larger one is part content."""
    half = screen(498, 1080)
    half.paste((0, 0, 0), (0, 0, 200, 1080))
    half.paste((0, 0, 0), (0, 0, 498, 300))
    assert_area(look_at(captured(half)).area, PORTRAIT, 8)


def test_turning_the_phone_moves_the_area() -> None:
    """At once, both ways: something is visible outside the known area."""
    upright = captured(screen(498, 1080))
    turned = captured(screen(1920, 868), LANDSCAPE)
    assert_area(look_at(upright, turned).area, LANDSCAPE, 8)
    assert_area(look_at(upright, turned, upright).area, PORTRAIT, 8)


def test_a_boot_picture_without_letterbox_is_forgotten() -> None:
    """A capture stick's own picture fills the frame until the phone comes."""
    stick = captured(screen(*FULL_HD), centred(*FULL_HD, FULL_HD))
    phone = captured(screen(498, 1080))
    assert look_at(stick, phone, phone).area == centred(*FULL_HD, FULL_HD)
    assert_area(look_at(stick, phone, phone, phone).area, PORTRAIT, 8)


def test_another_picture_size_starts_anew() -> None:
    """The source changed its mode."""
    small = captured(screen(324, 720), centred(324, 720, (1280, 720)), (1280, 720))
    seen = look_at(captured(screen(498, 1080)), small)
    assert_area(seen.area, centred(324, 720, (1280, 720)), 8)


@pytest.mark.parametrize("black_level", [0, 16])
def test_a_black_signal_is_black_and_moves_nothing(black_level: int) -> None:
    """A sleeping or protected screen; capture black is not always zero."""
    black = captured(None, black_level=black_level, noise=2.0)
    seen = look_at(captured(screen(498, 1080)), black)
    assert seen.black
    assert_area(seen.area, PORTRAIT, 8)
    assert look_at(black).black


def test_a_protected_app_that_keeps_its_status_bar_is_black() -> None:
    """Nothing can be seen between the bars."""
    secure = screen(498, 1080, dark=True)
    secure.paste((0, 0, 0), (0, 60, 498, 1060))
    assert look_at(captured(screen(498, 1080)), captured(secure)).black


def test_a_dark_app_with_text_is_not_black() -> None:
    """Two thin lines are enough."""
    dark = captured(screen(498, 1080, dark=True, lines=2))
    assert not look_at(captured(screen(498, 1080)), dark).black


def test_the_encoded_picture_is_the_phone_alone() -> None:
    """JPEG, the longer side at most 1280 pixels."""
    seen = look_at(captured(screen(498, 1080)))
    jpeg, width, height = encode(seen.image, seen.area)
    back = Image.open(BytesIO(jpeg))
    assert (back.format, back.size) == ("JPEG", (width, height))
    assert abs(width - 498) <= 8 and height == 1080
    assert np.asarray(back.convert("L"))[:, [2, -3]].mean() > 200

    large = Image.new("RGB", (1440, 3200), (250, 250, 250))
    _, width, height = encode(large, Area(left=0, top=0, width=1440, height=3200))
    assert (width, height) == (576, 1280)


def png(image: Image.Image) -> bytes:
    """Return an image as PNG."""
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "1"])
def test_png_of_any_kind_is_taken(mode: str) -> None:
    """A screenshot source may send any."""
    assert decode_frame(png(Image.new(mode, (40, 30)))).size == (40, 30)


def damaged() -> Iterable[tuple[str, bytes]]:
    """Give bytes that are no picture."""
    whole = captured(screen(498, 1080))
    yield "cut off", whole[: len(whole) // 2]
    yield "head only", whole[:20]
    yield "nothing", b""
    yield "text", b"<html>not a picture</html>"
    yield "gif", b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"
    yield "png cut off", png(Image.new("RGB", (400, 300)))[:60]


@pytest.mark.parametrize("data", [pytest.param(d, id=name) for name, d in damaged()])
def test_damaged_pictures_are_picture_errors(data: bytes) -> None:
    """Never another exception, never a half grey picture."""
    with pytest.raises(PictureError):
        decode_frame(data)


def test_an_absurdly_large_picture_is_refused_before_decoding() -> None:
    """A few kilobytes can claim gigapixels."""
    with pytest.raises(PictureError, match="too large"):
        decode_frame(png(Image.new("1", (10000, 5000))))
