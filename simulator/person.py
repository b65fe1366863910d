"""The person's finger: what happens on the phone without any HID report."""

import asyncio
from collections.abc import Awaitable, Callable

from simulator.phone.keyboard import Command
from simulator.phone.persona import App
from simulator.phone.phone import VirtualPhone
from simulator.phone.state import PhoneState
from simulator.phone.widgets import HEIGHT, WIDTH

TAP_S = 0.06
_STEPS = 12
_PATIENCE_S = 3.0
_LOOK_S = 0.02


class NotVisibleError(ValueError):
    """Nothing on the screen is called so."""


class Person:
    """Touches the glass as a person does: looks until the screen is still, then acts.

    ``sleep`` waits some seconds. One act at a time; positions in thousandths of the screen.
    """

    def __init__(
        self,
        phone: VirtualPhone,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """Take the phone."""
        self._phone = phone
        self._sleep = sleep
        self._lock = asyncio.Lock()

    async def tap(self, x: float, y: float, hold_s: float = TAP_S) -> None:
        """Touch a place for a while: 0.5 s and more is a long press."""
        async with self._lock:
            await self._tap(x, y, hold_s)

    async def tap_label(self, label: str) -> None:
        """Touch what is called so, in any case of letters.

        Raises:
            NotVisibleError: Nothing on the screen is called so.

        """
        async with self._lock:
            await self._tap_label(label)

    async def swipe(
        self, start: tuple[float, float], end: tuple[float, float], seconds: float = 0.3
    ) -> None:
        """Draw a line on the glass, evenly."""
        async with self._lock:
            await self._still()
            phone = self._phone
            phone.finger_down(*_pixels(*start))
            try:
                for step in range(1, _STEPS + 1):
                    await self._sleep(seconds / _STEPS)
                    share = step / _STEPS
                    x = start[0] + (end[0] - start[0]) * share
                    y = start[1] + (end[1] - start[1]) * share
                    phone.finger_move(*_pixels(x, y))
            finally:
                phone.finger_up()

    async def take_over(self, app: App) -> None:
        """Go home and open another app, whatever was going on."""
        async with self._lock:
            await self._still()
            self.unlock()
            self.press(Command.HOME)
            await self._tap_label(self._phone.state.persona.app_names[app])

    def write(self, text: str) -> None:
        """Write into the focused field, as with an on-screen keyboard."""
        self._phone.write(text)

    def press(self, command: Command) -> None:
        """Press one of the phone's keys."""
        self._phone.command(command)

    def unlock(self) -> None:
        """Unlock, as with a fingerprint."""
        if self._phone.state.locked:
            self._phone.change(PhoneState.unlock)

    def lock(self) -> None:
        """Lock."""
        self.press(Command.LOCK)

    async def _tap(self, x: float, y: float, hold_s: float) -> None:
        await self._still()
        self._phone.finger_down(*_pixels(x, y))
        try:
            await self._sleep(hold_s)
        finally:
            self._phone.finger_up()

    async def _tap_label(self, label: str) -> None:
        await self._still()
        wanted = label.casefold()
        for widget, rect in self._phone.view().visible():
            if widget.action is not None and widget.label.casefold() == wanted:
                x, y = rect.centre
                await self._tap(x / WIDTH * 1000, y / HEIGHT * 1000, TAP_S)
                return
        raise NotVisibleError(f"nothing on the screen is called {label!r}")

    async def _still(self) -> None:
        """Wait until the screen does not move, within a person's patience."""
        for _ in range(int(_PATIENCE_S / _LOOK_S)):
            if not self._phone.moving:
                return
            await self._sleep(_LOOK_S)


def _pixels(x: float, y: float) -> tuple[float, float]:
    """Return the pixel of a place in thousandths."""
    return min(x / 1000 * WIDTH, WIDTH - 1), min(y / 1000 * HEIGHT, HEIGHT - 1)
