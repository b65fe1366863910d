"""Single acts beside the tasks, each under a short loan of the phone."""

from dataclasses import dataclass

from .controller import PhoneController
from .lease import Lease
from .text import to_strokes
from .types import Key, PictureError, Point, Settle, UnsuitableTextError

MAX_TEXT = 500
"""Characters of a single act: half a minute of typing, for which a task may have to wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PressKey:
    """Press a key."""

    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Tap:
    """Touch a point for a moment."""

    point: Point


@dataclass(frozen=True, slots=True, kw_only=True)
class Swipe:
    """Draw a finger from one point to another."""

    start: Point
    end: Point
    duration_ms: int = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeText:
    """Type one line; ``submit`` presses Enter after it."""

    text: str
    submit: bool = False


type SingleAct = PressKey | Tap | Swipe | TypeText


async def perform(
    phone: PhoneController,
    act: SingleAct,
    *,
    owner: str,
    preempt: bool,
    reserved: bool = False,
) -> None:
    """Do one thing on the phone; a text or a picture that will not do interrupts nobody.

    Raises:
        UnsupportedTextError: Some characters cannot be typed.
        UnsuitableTextError: A text is empty, too long or of several lines.
        ActRefusedError: The board cannot do it.
        PictureError: A touch needs a picture that shows something.
        LeaseRevokedError: The loan ended before the act did.
        ActUnknownError: It may or may not have happened.
        LeaseHeldError, LinkLostError: As :meth:`.PhoneController.borrow`.

    """
    if isinstance(act, TypeText):
        _check_text(act.text)
    if isinstance(act, Tap | Swipe) and not phone.has_picture:
        raise PictureError("no source of the phone's picture is set up")
    async with phone.borrow(owner, preempt=preempt, reserved=reserved) as loan:
        match act:
            case PressKey(key=key):
                await phone.press_key(loan, key)
            case TypeText(text=text, submit=submit):
                # One act for text and Enter: nothing can come between them.
                line = f"{text}\n" if submit else text
                await phone.type_text(loan, line, allow_enter=submit)
            case Tap(point=point):
                await _look(phone, loan)
                await phone.tap(loan, point)
            case Swipe(start=start, end=end, duration_ms=duration_ms):
                await _look(phone, loan)
                await phone.swipe(loan, start, end, duration_ms=duration_ms)


def _check_text(text: str) -> None:
    """Refuse a text before anybody is interrupted for it."""
    if not text or len(text) > MAX_TEXT or "\n" in text or "\r" in text:
        raise UnsuitableTextError(
            f"a text is one line of 1 to {MAX_TEXT} characters; nothing was typed"
        )
    to_strokes(text)


async def _look(phone: PhoneController, loan: Lease) -> None:
    """Find the screen in the picture; in a black one nobody knows what is touched."""
    seen = await phone.observe(loan)
    if seen.settle is Settle.BLACK:
        raise PictureError(
            "the picture is black: the phone is asleep, or an app hides it"
        )
