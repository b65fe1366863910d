"""Little drawings, without letters: what reads a picture shall read names only."""

from collections.abc import Callable
from dataclasses import dataclass
import math

from PIL import ImageDraw

from simulator.phone.draw.theme import WHITE, Colour
from simulator.phone.widgets import Rect

type Points = list[tuple[float, float]]

_APP_COLOURS: dict[str, Colour] = {
    "settings": (92, 100, 114),
    "messages": (30, 150, 80),
    "notes": (214, 160, 20),
    "alarms": (58, 70, 170),
    "bank": (20, 60, 100),
    "camera": (70, 74, 84),
    "photos": (200, 80, 60),
    "music": (190, 40, 110),
    "weather": (40, 140, 210),
    "maps": (40, 150, 140),
    "calculator": (110, 80, 60),
    "contacts": (130, 90, 190),
}


@dataclass(frozen=True, slots=True)
class Pen:
    """Draws in a square whose sides run from 0 to 1."""

    draw: ImageDraw.ImageDraw
    left: float
    top: float
    side: float
    colour: Colour
    back: Colour

    def _at(self, points: Points) -> Points:
        return [
            (self.left + x * self.side, self.top + y * self.side) for x, y in points
        ]

    def polygon(self, *points: tuple[float, float]) -> None:
        """Fill a polygon."""
        self.draw.polygon(self._at(list(points)), fill=self.colour)

    def line(self, *points: tuple[float, float], width: float = 0.07) -> None:
        """Draw a line with round corners."""
        pixels = max(1, round(width * self.side))
        self.draw.line(
            self._at(list(points)), fill=self.colour, width=pixels, joint="curve"
        )

    def box(
        self,
        box: tuple[float, float, float, float],
        *,
        radius: float = 0.06,
        hollow: bool = False,
        back: bool = False,
    ) -> None:
        """Draw a rounded rectangle."""
        (x0, y0), (x1, y1) = self._at([box[:2], box[2:]])
        self.draw.rounded_rectangle(
            (x0, y0, x1, y1),
            radius=radius * self.side,
            fill=None if hollow else self._fill(back),
            outline=self.colour if hollow else None,
            width=round(0.07 * self.side),
        )

    def disc(
        self, x: float, y: float, r: float, *, hollow: bool = False, back: bool = False
    ) -> None:
        """Draw a circle."""
        (x0, y0), (x1, y1) = self._at([(x - r, y - r), (x + r, y + r)])
        self.draw.ellipse(
            (x0, y0, x1, y1),
            fill=None if hollow else self._fill(back),
            outline=self.colour if hollow else None,
            width=round(0.07 * self.side),
        )

    def arc(self, x: float, y: float, r: float, angles: tuple[int, int]) -> None:
        """Draw a part of a circle between two angles, in degrees clockwise from the right."""
        (x0, y0), (x1, y1) = self._at([(x - r, y - r), (x + r, y + r)])
        self.draw.arc(
            (x0, y0, x1, y1), *angles, fill=self.colour, width=round(0.1 * self.side)
        )

    def _fill(self, back: bool) -> Colour:
        return self.back if back else self.colour


def app_icon(draw: ImageDraw.ImageDraw, rect: Rect, app: str) -> None:
    """Draw an app's icon into a square."""
    colour = _APP_COLOURS.get(app, (90, 90, 100))
    draw.rounded_rectangle(
        (rect.left, rect.top, rect.right, rect.bottom),
        radius=round(rect.width * 0.24),
        fill=colour,
    )
    _DRAWINGS.get(app, _dot)(Pen(draw, rect.left, rect.top, rect.width, WHITE, colour))


def row_icon(
    draw: ImageDraw.ImageDraw, rect: Rect, icon: str, colour: Colour, back: Colour
) -> None:
    """Draw a row's icon: a disc with a small drawing."""
    draw.ellipse((rect.left, rect.top, rect.right, rect.bottom), fill=back)
    inset = rect.width * 0.14
    pen = Pen(
        draw,
        rect.left + inset,
        rect.top + inset,
        rect.width - 2 * inset,
        colour,
        back,
    )
    _DRAWINGS.get(icon, _dot)(pen)


def plane(
    draw: ImageDraw.ImageDraw, left: float, top: float, side: float, colour: Colour
) -> None:
    """Draw an airplane that points up."""
    _plane(Pen(draw, left, top, side, colour, colour))


def wifi(
    draw: ImageDraw.ImageDraw, left: float, top: float, side: float, colour: Colour
) -> None:
    """Draw a fan of waves."""
    _wifi(Pen(draw, left, top, side, colour, colour))


def _dot(pen: Pen) -> None:
    pen.disc(0.5, 0.5, 0.16)


def _plane(pen: Pen) -> None:
    pen.polygon((0.5, 0.1), (0.57, 0.24), (0.57, 0.85), (0.43, 0.85), (0.43, 0.24))
    pen.polygon((0.5, 0.38), (0.92, 0.64), (0.92, 0.72), (0.5, 0.6))
    pen.polygon((0.5, 0.38), (0.08, 0.64), (0.08, 0.72), (0.5, 0.6))
    pen.polygon((0.5, 0.76), (0.68, 0.88), (0.68, 0.93), (0.32, 0.93), (0.32, 0.88))


def _wifi(pen: Pen) -> None:
    pen.disc(0.5, 0.78, 0.08)
    pen.arc(0.5, 0.78, 0.3, (225, 315))
    pen.arc(0.5, 0.78, 0.54, (225, 315))


def _bluetooth(pen: Pen) -> None:
    pen.line(
        (0.3, 0.32), (0.7, 0.68), (0.5, 0.88), (0.5, 0.12), (0.7, 0.32), (0.3, 0.68)
    )


def _pin(pen: Pen) -> None:
    pen.disc(0.5, 0.4, 0.26)
    pen.polygon((0.27, 0.5), (0.73, 0.5), (0.5, 0.9))
    pen.disc(0.5, 0.4, 0.1, back=True)


def _moon(pen: Pen) -> None:
    pen.disc(0.5, 0.5, 0.36)
    pen.disc(0.64, 0.4, 0.3, back=True)


def _battery(pen: Pen) -> None:
    pen.box((0.3, 0.2, 0.7, 0.9))
    pen.box((0.42, 0.1, 0.58, 0.24))
    pen.box((0.38, 0.3, 0.62, 0.5), back=True, radius=0.02)


def _no_entry(pen: Pen) -> None:
    pen.disc(0.5, 0.5, 0.38)
    pen.box((0.28, 0.44, 0.72, 0.56), back=True)


def _turn(pen: Pen) -> None:
    pen.arc(0.5, 0.5, 0.34, (30, 300))
    pen.polygon((0.62, 0.06), (0.9, 0.24), (0.62, 0.4))


def _waves(pen: Pen) -> None:
    pen.disc(0.26, 0.5, 0.1)
    pen.arc(0.26, 0.5, 0.32, (305, 55))
    pen.arc(0.26, 0.5, 0.54, (305, 55))


def _bars(pen: Pen) -> None:
    for index in range(4):
        left = 0.16 + index * 0.18
        pen.box((left, 0.72 - index * 0.16, left + 0.12, 0.86), radius=0.02)


def _gear(pen: Pen) -> None:
    for step in range(8):
        angle = step * math.pi / 4
        dx, dy = math.cos(angle), math.sin(angle)
        pen.line(
            (0.5 + dx * 0.2, 0.5 + dy * 0.2),
            (0.5 + dx * 0.36, 0.5 + dy * 0.36),
            width=0.13,
        )
    pen.disc(0.5, 0.5, 0.27)
    pen.disc(0.5, 0.5, 0.12, back=True)


def _bubble(pen: Pen) -> None:
    pen.box((0.18, 0.22, 0.82, 0.66), radius=0.14)
    pen.polygon((0.28, 0.6), (0.5, 0.6), (0.28, 0.82))


def _note(pen: Pen) -> None:
    pen.box((0.24, 0.16, 0.76, 0.84))
    for y in (0.32, 0.48, 0.64):
        pen.box((0.34, y, 0.66, y + 0.06), back=True, radius=0.01)


def _clock(pen: Pen) -> None:
    pen.disc(0.5, 0.52, 0.32)
    pen.line((0.22, 0.26), (0.34, 0.16), width=0.08)
    pen.line((0.78, 0.26), (0.66, 0.16), width=0.08)
    back = Pen(pen.draw, pen.left, pen.top, pen.side, pen.back, pen.colour)
    back.line((0.5, 0.32), (0.5, 0.53), (0.64, 0.6), width=0.06)


def _bank(pen: Pen) -> None:
    pen.polygon((0.5, 0.16), (0.84, 0.38), (0.16, 0.38))
    for x in (0.24, 0.45, 0.66):
        pen.box((x, 0.42, x + 0.1, 0.7), radius=0.01)
    pen.box((0.16, 0.74, 0.84, 0.82), radius=0.02)


def _camera(pen: Pen) -> None:
    pen.box((0.36, 0.2, 0.64, 0.4))
    pen.box((0.16, 0.3, 0.84, 0.76), radius=0.08)
    pen.disc(0.5, 0.53, 0.16, back=True)
    pen.disc(0.5, 0.53, 0.08)


def _mountains(pen: Pen) -> None:
    pen.disc(0.7, 0.3, 0.1)
    pen.polygon((0.12, 0.8), (0.4, 0.36), (0.62, 0.8))
    pen.polygon((0.5, 0.8), (0.68, 0.52), (0.88, 0.8))


def _music(pen: Pen) -> None:
    pen.disc(0.34, 0.74, 0.12)
    pen.disc(0.68, 0.66, 0.12)
    pen.line((0.43, 0.74), (0.43, 0.26), (0.77, 0.18), (0.77, 0.66), width=0.07)


def _weather(pen: Pen) -> None:
    pen.disc(0.64, 0.36, 0.18)
    for x, y, r in ((0.32, 0.62, 0.16), (0.5, 0.54, 0.2), (0.68, 0.64, 0.15)):
        pen.disc(x, y, r)
    pen.box((0.3, 0.62, 0.7, 0.78), radius=0.08)


def _calculator(pen: Pen) -> None:
    pen.box((0.24, 0.14, 0.76, 0.86), radius=0.08)
    pen.box((0.32, 0.22, 0.68, 0.38), back=True, radius=0.02)
    for row in range(3):
        for column in range(3):
            pen.disc(0.36 + column * 0.14, 0.5 + row * 0.13, 0.045, back=True)


def _person(pen: Pen) -> None:
    pen.disc(0.5, 0.36, 0.18)
    pen.box((0.2, 0.6, 0.8, 0.86), radius=0.14)


def _sun(pen: Pen) -> None:
    pen.disc(0.5, 0.5, 0.2)
    for step in range(8):
        angle = step * math.pi / 4
        dx, dy = math.cos(angle), math.sin(angle)
        pen.line((0.5 + dx * 0.28, 0.5 + dy * 0.28), (0.5 + dx * 0.42, 0.5 + dy * 0.42))


def _grid(pen: Pen) -> None:
    for x in (0.2, 0.56):
        for y in (0.2, 0.56):
            pen.box((x, y, x + 0.24, y + 0.24))


def _disks(pen: Pen) -> None:
    for y in (0.2, 0.42, 0.64):
        pen.box((0.2, y, 0.8, y + 0.16), radius=0.04)


def _shield(pen: Pen) -> None:
    pen.polygon(
        (0.5, 0.12), (0.84, 0.26), (0.78, 0.62), (0.5, 0.9), (0.22, 0.62), (0.16, 0.26)
    )


def _phone(pen: Pen) -> None:
    pen.box((0.3, 0.1, 0.7, 0.9), radius=0.08)
    pen.box((0.36, 0.2, 0.64, 0.74), back=True, radius=0.02)


_DRAWINGS: dict[str, Callable[[Pen], None]] = {
    "settings": _gear,
    "messages": _bubble,
    "notes": _note,
    "note": _note,
    "alarms": _clock,
    "bank": _bank,
    "camera": _camera,
    "photos": _mountains,
    "music": _music,
    "weather": _weather,
    "maps": _pin,
    "calculator": _calculator,
    "contacts": _person,
    "person": _person,
    "airplane_mode": _plane,
    "wifi": _wifi,
    "bluetooth": _bluetooth,
    "location": _pin,
    "dark_theme": _moon,
    "battery_saver": _battery,
    "do_not_disturb": _no_entry,
    "auto_rotate": _turn,
    "nfc": _waves,
    "mobile_data": _bars,
    "hotspot": _wifi,
    "page_network": _bars,
    "page_display": _sun,
    "page_sound": _waves,
    "page_battery": _battery,
    "page_apps": _grid,
    "page_storage": _disks,
    "page_security": _shield,
    "page_about": _phone,
}
