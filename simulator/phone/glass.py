"""The touchscreen's contacts, and whose finger the phone listens to."""

from enum import StrEnum

from simulator.phone.gestures import Finger, Gesture
from simulator.phone.widgets import HEIGHT, SCREEN, WIDTH

FRAME_WIDTH = 1920
FRAME_HEIGHT = 1080
PERSON = -1
"""The finger that is no HID contact."""


class TouchSpace(StrEnum):
    """What the touchscreen's coordinates span."""

    FRAME = "frame"
    """The whole 16:9 picture with its letterbox: Android with an external display."""
    SCREEN = "screen"
    """The phone's own screen."""


def on_screen(space: TouchSpace, x: float, y: float) -> tuple[float, float]:
    """Return the pixel of a place given as 0 to 1; beyond the screen in the letterbox."""
    bottom = min(y * HEIGHT, HEIGHT - 1)
    if space is TouchSpace.SCREEN:
        return min(x * WIDTH, WIDTH - 1), bottom
    scale = HEIGHT / FRAME_HEIGHT
    left = (FRAME_WIDTH - WIDTH / scale) / 2
    return (x * FRAME_WIDTH - left) * scale, bottom


class Glass:
    """One finger at a time; which of the contacts it is, is its owner."""

    def __init__(self) -> None:
        """Nobody touches it."""
        self._finger: Finger | None = None
        self._owner = PERSON
        self._contacts: set[int] = set()

    def known(self, contact: int) -> bool:
        """Tell whether a HID contact is down already."""
        return contact in self._contacts

    def forget_contacts(self) -> None:
        """Lose all HID contacts: no tap comes of them."""
        self._contacts.clear()
        if self._owner != PERSON:
            self._finger = None
            self._owner = PERSON

    def down(self, x: float, y: float, now: float, *, owner: int, deaf: bool) -> bool:
        """Put a finger down; tell whether it counts.

        A contact that begins outside the screen, beside another finger or while the phone
        is ``deaf`` stays unheard until it is lifted.
        """
        if owner != PERSON:
            self._contacts.add(owner)
        if deaf or self._finger is not None or not SCREEN.contains(x, y):
            return False
        self._finger = Finger(x, y, now)
        self._owner = owner
        return True

    def move(self, x: float, y: float, now: float, *, owner: int) -> list[Gesture]:
        """Move a finger; beyond the glass it stays at the edge."""
        if self._finger is None or self._owner != owner:
            return []
        x, y = min(max(x, 0), WIDTH - 1), min(max(y, 0), HEIGHT - 1)
        return self._finger.move(x, y, now)

    def up(self, now: float, *, owner: int) -> list[Gesture]:
        """Lift a finger."""
        self._contacts.discard(owner)
        if self._finger is None or self._owner != owner:
            return []
        finger, self._finger = self._finger, None
        self._owner = PERSON
        return finger.up(now)

    def advance(self, now: float) -> list[Gesture]:
        """Let time pass."""
        return self._finger.advance(now) if self._finger else []
