"""What the brain can say of a picture that is no phone's screen: the colour it mostly has."""

from collections.abc import Mapping
import io

from PIL import Image

from .thoughts import Call, Tool

_COLOURS: Mapping[str, tuple[int, int, int]] = {
    "black": (0, 0, 0),
    "blue": (0, 0, 255),
    "gray": (128, 128, 128),
    "green": (0, 160, 0),
    "orange": (255, 140, 0),
    "purple": (128, 0, 128),
    "red": (255, 0, 0),
    "white": (255, 255, 255),
    "yellow": (255, 255, 0),
}


def colour_of(picture: bytes) -> str:
    """Return the name of the colour nearest to a picture's mean."""
    with Image.open(io.BytesIO(picture)) as image:
        mean = (
            image.convert("RGB").resize((1, 1), Image.Resampling.BOX).getpixel((0, 0))
        )
    assert isinstance(mean, tuple)
    return min(
        _COLOURS,
        key=lambda name: sum(
            (a - b) ** 2 for a, b in zip(mean, _COLOURS[name], strict=True)
        ),
    )


def answer_by_choice(picture: bytes, tools: Mapping[str, Tool]) -> Call | None:
    """Return a call of a tool whose one argument is a choice that names colours."""
    for tool in tools.values():
        match list(tool.properties.items()):
            case [(name, {"enum": [*choices]})] if set(choices) & set(_COLOURS):
                colour = colour_of(picture)
                other = "other" if "other" in choices else choices[-1]
                value = colour if colour in choices else other
                return Call(name=tool.name, arguments={name: value})
    return None
