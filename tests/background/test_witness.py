"""Every act is noted with its task before it is done; no text, no look."""

from typing import Any

import pytest

from custom_components.aiden_duplex.background.witness import WitnessedPhone
from custom_components.aiden_duplex.phone.types import (
    ActRefusedError,
    Key,
    Point,
    UnsupportedTextError,
)
from tests.tasks.house import virtual

from .fakes import FakePhone

type Noted = tuple[str, str, dict[str, Any]]


class Book:
    """Keeps what was noted, and how much had been done by then."""

    def __init__(self, phone: FakePhone) -> None:
        """Start empty."""
        self._phone = phone
        self.noted: list[Noted] = []
        self.done: list[int] = []

    def note(self, task_id: str, act: str, **details: Any) -> None:
        """Note an act."""
        self.noted.append((task_id, act, details))
        self.done.append(len(self._phone.did))


@virtual
async def test_acts_are_noted_before_they_are_done() -> None:
    """With places and keys; of a text only its length."""
    inner = FakePhone()
    book = Book(inner)
    phone = WitnessedPhone(inner, book.note)
    lease = phone.acquire("task_1")
    await phone.observe(lease)
    await phone.tap(lease, Point(x=1, y=2))
    await phone.observe(lease)
    await phone.long_press(lease, Point(x=3, y=4), hold_ms=700)
    await phone.observe(lease)
    await phone.swipe(lease, Point(x=1, y=2), Point(x=3, y=4))
    await phone.observe(lease)
    await phone.type_text(lease, "hunter2\n", allow_enter=True)
    await phone.observe(lease)
    await phone.press_key(lease, Key.HOME)
    await phone.release(lease)
    assert book.noted == [
        ("task_1", "tap", {"x": 1, "y": 2}),
        ("task_1", "long_press", {"x": 3, "y": 4, "hold_ms": 700}),
        ("task_1", "swipe", {"x1": 1, "y1": 2, "x2": 3, "y2": 4}),
        ("task_1", "type_text", {"characters": 8, "enter": True}),
        ("task_1", "press_key", {"key": "home"}),
    ]
    assert book.done == [0, 1, 2, 3, 4]
    assert len(inner.did) == 5


@virtual
async def test_a_failure_is_noted_without_its_words() -> None:
    """They may quote what was to be typed."""
    inner = FakePhone()
    book = Book(inner)
    phone = WitnessedPhone(inner, book.note)
    lease = phone.acquire("task_1")
    await phone.observe(lease)
    inner.act_errors.append(UnsupportedTextError("cannot type hunter2"))
    with pytest.raises(UnsupportedTextError):
        await phone.type_text(lease, "hunter2")
    inner.act_errors.append(ActRefusedError("no"))
    with pytest.raises(ActRefusedError):
        await phone.tap(lease, Point(x=1, y=2))
    assert book.noted[1::2] == [
        ("task_1", "type_text", {"failed": "UnsupportedTextError"}),
        ("task_1", "tap", {"failed": "ActRefusedError"}),
    ]
    assert "hunter2" not in str(book.noted)
