"""The eyes read what is drawn: light, dark, large, small, coloured, black."""

from collections.abc import AsyncIterator

import pytest

from simulator.models.brain.eyes import Eyes
from simulator.models.brain.thoughts import BrainError

from .drawing import Row, draw_black, draw_home, draw_list

ROWS: list[Row] = [
    ("Wi-Fi", True),
    ("Flight mode", False),
    ("Bluetooth", True),
    ("Data usage", "2.4 GB of 10 GB used"),
    ("Garden lights", False),
]


@pytest.fixture
async def eyes() -> AsyncIterator[Eyes]:
    """Return eyes that are closed again."""
    opened = Eyes()
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("dark", "scale"), [(False, 1.0), (True, 0.9), (False, 1.25), (True, 1.1)]
)
async def test_rows_with_their_states_and_switches(
    eyes: Eyes, dark: bool, scale: float
) -> None:
    """Rows with their states and switches."""
    screen = await eyes.look(draw_list("Connections", ROWS, dark=dark, scale=scale))
    found = {row.name: row for row in screen.rows}
    assert screen.title == "Connections"
    assert {name: found[name].state for name, _ in ROWS} == {
        "Wi-Fi": True,
        "Flight mode": False,
        "Bluetooth": True,
        "Data usage": None,
        "Garden lights": False,
    }
    switch = found["Flight mode"].switch
    assert switch is not None
    assert switch.x == pytest.approx(889, abs=6)
    assert abs(switch.y - found["Flight mode"].box.y) < 15
    assert found["Data usage"].switch is None


async def test_names_below_icons_on_a_wallpaper_are_a_home_screen(eyes: Eyes) -> None:
    """Names below icons on a wallpaper are a home screen."""
    names = ["Settings", "Messages", "Clock", "Camera", "Memos", "Weather"]
    screen = await eyes.look(draw_home(names))
    found = {row.name: row.box for row in screen.rows}
    assert screen.title == "home"
    assert set(names) <= set(found)
    assert found["Memos"].x == pytest.approx(491, abs=8)
    assert found["Memos"].y == pytest.approx(537, abs=8)


async def test_light_letters_on_a_coloured_button_are_read(eyes: Eyes) -> None:
    """Light letters on a coloured button are read."""
    screen = await eyes.look(
        draw_list("Notes", [("Milk and bread", "Note")], button="New note")
    )
    button = screen.find("New note")
    assert button is not None
    assert button.box.y == pytest.approx(917, abs=8)


async def test_a_black_picture_is_black_and_needs_no_reader(eyes: Eyes) -> None:
    """A black picture is black and needs no reader."""
    blind = Eyes(program="no-such-program")
    screen = await blind.look(draw_black())
    blind.close()
    assert screen.black
    assert not screen.lines


async def test_a_picture_is_read_once(eyes: Eyes) -> None:
    """A picture is read once."""
    picture = draw_list("Sound", [("Volume", "70%")])
    first = await eyes.look(picture)
    assert await eyes.look(picture) is first


async def test_without_a_reader_the_brain_says_that_it_cannot_work() -> None:
    """Without a reader the brain says that it cannot work."""
    eyes = Eyes(program="no-such-program")
    with pytest.raises(BrainError, match="cannot be run"):
        await eyes.look(draw_list("Sound", [("Volume", "70%")]))
    eyes.close()


async def test_a_reader_that_takes_too_long_is_stopped() -> None:
    """A reader that takes too long is stopped."""
    eyes = Eyes(timeout_s=0.01)
    with pytest.raises(BrainError, match=r"more than 0\.01 s"):
        await eyes.look(draw_list("Sound", [("Volume", "70%")]))
    eyes.close()
