"""Acts kept apart, with a driver that can be as slow and stubborn as a broken one."""

import asyncio
from collections.abc import Callable
from typing import override

import pytest

from custom_components.aiden_duplex.phone.driver import (
    Act,
    Driver,
    DriverCaps,
    KeyTap,
    Played,
)
from custom_components.aiden_duplex.phone.hands import Hands
from custom_components.aiden_duplex.phone.text import Stroke
from custom_components.aiden_duplex.phone.types import (
    ActRefusedError,
    ActUnknownError,
    LinkState,
)
from tests.virtual_time import run

KEY = KeyTap(stroke=Stroke(mods=0, usage=4))


class SlowDriver(Driver):
    """Notes what is asked of it; acts and stops take as long as they are told to."""

    def __init__(self, *, act_s: float = 0.1, stop_s: float = 0.1) -> None:
        """Start with nothing asked."""
        self.log: list[str] = []
        self.act_s = act_s
        self.stop_s = stop_s
        self.refuse_from: int | None = None
        self._acts = 0

    @property
    @override
    def link(self) -> LinkState:
        """Return up."""
        return LinkState.UP

    @property
    @override
    def caps(self) -> DriverCaps | None:
        """Return nothing of interest."""
        return None

    @override
    async def start(self) -> None:
        """Do nothing."""

    @override
    async def close(self) -> None:
        """Do nothing."""

    @override
    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Never call back."""
        return lambda: None

    @override
    async def play(self, act: Act) -> Played:
        """Take a while."""
        self._acts += 1
        if self.refuse_from is not None and self._acts >= self.refuse_from:
            raise ActRefusedError("busy; nothing was sent")
        self.log.append("act begins")
        await asyncio.sleep(self.act_s)
        self.log.append("act ends")
        return Played(complete=True, steps=1)

    @override
    async def stop(self, *, at_once: bool = False) -> bool:
        """Take a while."""
        self.log.append("stop at once" if at_once else "stop begins")
        await asyncio.sleep(self.stop_s)
        self.log.append("stop ends")
        return True


def allowed() -> None:
    """Let every act be sent."""


def test_nothing_is_pressed_while_everything_is_let_go() -> None:
    """The next act begins after the stop has ended."""

    async def main() -> list[str]:
        driver = SlowDriver()
        hands = Hands(driver)
        hands.let_go()
        await hands.play([KEY], allowed)
        return driver.log

    assert run(main()) == ["stop begins", "stop ends", "act begins", "act ends"]


def test_a_stop_is_on_its_way_when_the_call_returns() -> None:
    """Not in a later turn of the loop."""

    async def main() -> None:
        driver = SlowDriver()
        hands = Hands(driver)
        hands.let_go(at_once=True)
        assert driver.log == ["stop at once"]
        await hands.close()

    run(main())


def test_a_cancelled_caller_does_not_wait_for_a_stubborn_driver() -> None:
    """It leaves after a second; the next act waits for the old one's end."""

    async def main() -> None:
        driver = SlowDriver(act_s=8.0, stop_s=5.0)
        hands = Hands(driver)
        loop = asyncio.get_running_loop()
        playing = asyncio.create_task(hands.play([KEY], allowed))
        await asyncio.sleep(0.1)
        cancelled_at = loop.time()
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        assert loop.time() - cancelled_at == pytest.approx(1.0)
        assert not await hands.at_rest(0.5)
        await hands.play([KEY], allowed)
        assert driver.log == [
            "act begins",
            "stop begins",
            "stop ends",
            "act ends",
            "act begins",
            "act ends",
        ]

    run(main())


def test_a_refusal_after_the_first_piece_is_no_refusal() -> None:
    """A part was done: nobody may take it for nothing."""

    async def main(refuse_from: int) -> None:
        driver = SlowDriver()
        driver.refuse_from = refuse_from
        await Hands(driver).play([KEY, KEY, KEY], allowed)

    with pytest.raises(ActRefusedError):
        run(main(1))
    with pytest.raises(ActUnknownError, match="2 of 3"):
        run(main(3))


def test_closing_leaves_nothing_running() -> None:
    """Whatever the driver still does."""

    async def main() -> None:
        hands = Hands(SlowDriver(act_s=1000.0, stop_s=1000.0))
        playing = asyncio.create_task(hands.play([KEY], allowed))
        await asyncio.sleep(1)
        hands.let_go()
        await hands.close()
        with pytest.raises(ActUnknownError, match="closed"):
            await playing
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run(main())
