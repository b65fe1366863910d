"""What can be seen in the virtual phone's pictures."""

from io import BytesIO
import shutil
import subprocess

from hypothesis import given, strategies as st
import numpy as np
from PIL import Image
import pytest

from simulator.phone.draw.renderer import PICTURE_HEIGHT, PICTURE_WIDTH, Renderer
from simulator.phone.persona import App, Page, Toggle
from simulator.phone.screen_code import ScreenId, decode, encode
from simulator.phone.state import SCREEN_OF_PAGE, PhoneState, Place
from simulator.picture import encode as encode_jpeg, letterbox

from .kit import Hand

_TESSERACT = shutil.which("tesseract")


def _jpeg(image: Image.Image, quality: int = 80) -> Image.Image:
    """Return what is left of a picture after JPEG."""
    buffer = BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Image.open(BytesIO(buffer.getvalue())).convert("RGB")


def _read(image: Image.Image) -> str:
    """Return what tesseract reads in a picture of the phone."""
    assert _TESSERACT is not None
    buffer = BytesIO()
    image.resize((image.width * 2, image.height * 2), Image.Resampling.LANCZOS).convert(
        "L"
    ).save(buffer, "PNG")
    done = subprocess.run(
        [_TESSERACT, "-", "-", "--psm", "11"],
        input=buffer.getvalue(),
        capture_output=True,
        timeout=60,
        check=True,
        env={"OMP_THREAD_LIMIT": "1"},
    )
    return done.stdout.decode()


def _show(hand: Hand, *places: Place, app: App | None = None) -> None:
    """Show a screen at rest."""

    def change(state: PhoneState) -> None:
        if app is not None:
            state.open_app(app)
        for place in places:
            state.push(place)

    hand.phone.change(change)
    hand.now += 1


@pytest.mark.skipif(_TESSERACT is None, reason="needs the program tesseract")
@pytest.mark.parametrize("seed", [2, 5, 10])
def test_apps_can_be_read_in_a_picture_of_1080_lines(seed: int) -> None:
    """White on a dark, a coloured and a light phone's wallpaper; largest and smallest font."""
    hand = Hand(seed)
    text = _read(_jpeg(Renderer().render(hand.phone.frame())))
    names = hand.phone.state.persona.app_names.values()
    assert [name for name in names if name not in text] == []


@pytest.mark.skipif(_TESSERACT is None, reason="needs the program tesseract")
@pytest.mark.parametrize("seed", range(1, 11))
def test_settings_can_be_read_in_a_picture_of_1080_lines(seed: int) -> None:
    """Every name and state beside airplane mode, after JPEG at quality 80."""
    hand, renderer = Hand(seed), Renderer()
    persona = hand.phone.state.persona
    page = persona.page_of(Toggle.AIRPLANE_MODE)
    if page is Page.TOP:
        _show(hand, app=App.SETTINGS)
        hand.scroll_to(hand.name("airplane_mode"))
        hand.wait(1)
    else:
        _show(hand, Place(screen=SCREEN_OF_PAGE[page]), app=App.SETTINGS)
    text = _read(_jpeg(renderer.render(hand.phone.frame())))
    view = hand.phone.view()
    whole = [
        w for w, rect in view.visible() if w.label and rect.height == w.rect.height
    ]
    assert hand.name("airplane_mode") in [widget.label for widget in whole]
    assert [w.label for w in whole if w.label not in text] == []
    states = [w.summary for w in whole if w.knob is not None]
    words = text.split()
    assert words.count("Off") >= states.count("Off") > 0
    assert words.count("On") >= states.count("On")


@pytest.mark.parametrize("width", [1080, 648, 486, 324])
@pytest.mark.parametrize("background", [(255, 255, 255), (0, 0, 0), (120, 60, 20)])
def test_the_screen_code_survives_scaling_and_jpeg(
    width: int, background: tuple[int, int, int]
) -> None:
    """Every id, on light, dark and coloured ground."""
    for screen in ScreenId:
        image = Image.new("RGB", (1080, 1200), background)
        encode(image, screen)
        small = image.resize((width, width * 10 // 9), Image.Resampling.LANCZOS)
        assert decode(_jpeg(small)) == screen


@given(
    left=st.integers(-5, 5),
    top=st.integers(-5, 5),
    screen=st.sampled_from(ScreenId),
)
def test_the_screen_code_is_found_in_a_picture_cropped_a_little_wrong(
    left: int, top: int, screen: ScreenId
) -> None:
    """As letterbox detection crops it."""
    image = Image.new("RGB", (486, 1080), (200, 210, 220))
    encode(image, screen)
    whole = Image.new("RGB", (560, 1160))
    whole.paste(image, (40, 40))
    crop = whole.crop((40 + left, 40 + top, 526 + left, 1120 + top))
    assert decode(crop) in (screen, None) if left > 2 else decode(crop) == screen


def test_no_code_is_read_where_there_is_none() -> None:
    """Noise, one colour, a small picture."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        noise = rng.integers(0, 256, (1080, 486, 3), dtype=np.uint8)
        assert decode(Image.fromarray(noise)) is None
    assert decode(Image.new("RGB", (486, 1080))) is None
    assert decode(Image.new("RGB", (40, 80), (255, 255, 255))) is None


@pytest.mark.parametrize("seed", [2, 5])
def test_every_screen_can_be_told_from_its_picture(seed: int) -> None:
    """The code in the letterboxed JPEG is the screen's; the bank's picture is black."""
    hand, renderer = Hand(seed), Renderer()
    places = {
        ScreenId.THREAD: hand.phone.state.persona.threads[0][0],
        ScreenId.PERMISSION: App.CAMERA,
        ScreenId.NOTE_DELETE: "0",
        ScreenId.NOTE_EDITOR: "",
        ScreenId.OTHER_APP: App.MAPS,
    }
    for screen in ScreenId:
        if screen in {ScreenId.LOCK, ScreenId.PIN}:
            hand.phone.change(PhoneState.lock)
            hand.phone.state.pin_shown = screen is ScreenId.PIN
        elif screen is not ScreenId.HOME:
            _show(hand, Place(screen=screen, argument=places.get(screen, "")))
        picture = renderer.render(hand.phone.frame())
        assert picture.size == (PICTURE_WIDTH, PICTURE_HEIGHT)
        frame = Image.open(BytesIO(encode_jpeg(letterbox(picture))))
        assert frame.size == (1920, 1080)
        if screen is ScreenId.BANK:
            assert np.asarray(frame.convert("L")).max() == 0
        else:
            assert decode(frame) == screen
        hand.phone.change(PhoneState.unlock)


def test_a_screen_that_moves_has_no_code() -> None:
    """A picture taken too early names no screen."""
    hand, renderer = Hand(), Renderer()
    hand.tap_label(hand.name("settings"))
    hand.phone.report(2, b"\x23\x02")
    hand.now += 0.15
    assert hand.moves()
    assert decode(renderer.render(hand.phone.frame())) is None


def test_a_switch_looks_different_when_it_is_on() -> None:
    """The word and the switch change, the rest of the picture does not."""
    hand, renderer = Hand(1), Renderer()
    _show(hand, app=App.SETTINGS)
    rect = next(
        rect
        for widget, rect in hand.phone.view().visible()
        if widget.label == hand.name("bluetooth")
    )
    before = np.asarray(renderer.render(hand.phone.frame()), dtype=int)
    hand.tap_label(hand.name("bluetooth"))
    after = np.asarray(renderer.render(hand.phone.frame()), dtype=int)
    changed = np.abs(after - before).max(axis=2) > 24
    rows = np.flatnonzero(changed.any(axis=1))
    assert changed.sum() > 200
    assert rows.min() >= rect.top * 0.45 - 1
    assert rows.max() <= rect.bottom * 0.45 + 1


def test_airplane_mode_shows_in_the_status_bar() -> None:
    """A small plane instead of the waves."""
    hand, renderer = Hand(1), Renderer()
    before = renderer.render(hand.phone.frame()).crop((380, 0, 486, 40))
    hand.phone.change(
        lambda state: state.toggles.__setitem__(Toggle.AIRPLANE_MODE, True)
    )
    after = renderer.render(hand.phone.frame()).crop((380, 0, 486, 40))
    assert before.tobytes() != after.tobytes()


def test_the_caret_blinks_and_nothing_else_changes() -> None:
    """A picture of a focused field is never quite still: settling has to bear it."""
    hand, renderer = Hand(1), Renderer()
    _show(hand, Place(screen=ScreenId.NOTE_EDITOR), app=App.BANK)
    hand.phone.change(lambda state: setattr(state, "focus", "note_body"))
    hand.now = 10.1
    one = np.asarray(renderer.render(hand.phone.frame()), dtype=int)
    hand.now = 10.6
    other = np.asarray(renderer.render(hand.phone.frame()), dtype=int)
    share = (np.abs(one - other).max(axis=2) > 24).mean()
    assert 0 < share < 0.001


def test_equal_frames_are_the_same_picture() -> None:
    """Pictures are kept and put together; that must not show."""
    hand, kept = Hand(1), Renderer()
    for name in ("settings", "messages", "notes"):
        hand.open(name)
        frame = hand.phone.frame()
        kept.render(frame)
        assert kept.render(frame).tobytes() == Renderer().render(frame).tobytes()
