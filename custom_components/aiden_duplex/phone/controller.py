"""The phone: who may act, acting, looking."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
import logging

from . import acts
from .acts import Aim
from .control import RELEASE_S, UNSETTLED, Control
from .coordinates import TouchSpace
from .driver import Act, Driver, DriverCaps
from .hands import Hands
from .lease import Lease
from .observer import Observer, RunBlocking
from .picture import PictureSource
from .text import to_strokes
from .types import (
    ActRefusedError,
    ActUnknownError,
    Key,
    LeaseRevokedError,
    LinkLostError,
    LinkState,
    NoBoardError,
    NotObservedError,
    Observation,
    PictureError,
    Point,
)

_LOGGER = logging.getLogger(__name__)

LINK_RETRY_S = 0.25
"""Before an act that could not be sent is tried again."""
MAX_TEXT = 2000
"""Characters of one text: about two minutes of typing."""


class PhoneController:
    """One phone. Acts need a valid lease and a look at the screen under that lease.

    Args:
        driver: The way to the phone's input; None if none is set up.
        picture: The source of its picture; None if none is set up.
        run_blocking: Runs ``function(*arguments)`` where it may block.
        touch_space: What the phone maps touches onto.
        link_deadline_s: How long an act waits for a board that is gone.
        picture_deadline_s: How long an observation waits for a usable picture.

    """

    def __init__(
        self,
        *,
        driver: Driver | None,
        picture: PictureSource | None,
        run_blocking: RunBlocking,
        touch_space: TouchSpace = TouchSpace.FRAME,
        link_deadline_s: float = 20.0,
        picture_deadline_s: float = 20.0,
    ) -> None:
        """Compose; nothing is opened yet."""
        self._driver = driver
        self._hands = Hands(driver) if driver is not None else None
        self._observer = (
            Observer(
                picture,
                run_blocking=run_blocking,
                deadline_s=picture_deadline_s,
                on_picture=self._note_picture,
            )
            if picture is not None
            else None
        )
        self._touch_space = touch_space
        self._link_deadline_s = link_deadline_s
        self._control = Control(self._hands)
        self._was_away = False
        """The link was gone since the last look that was taken with the link up."""
        self._last_observation: Observation | None = None
        self._looked_at: float | None = None
        self._picture_ok = False
        self._callbacks: list[Callable[[], None]] = []
        self._watchers: list[Callable[[Observation], None]] = []
        self._unsubscribe: Callable[[], None] | None = None

    async def start(self) -> None:
        """Begin to look for the board; returns before it is found."""
        if self._driver is not None and self._unsubscribe is None:
            self._unsubscribe = self._driver.subscribe(self._on_link)
            await self._driver.start()

    async def close(self) -> None:
        """Take lease and loan back, let go of everything, leave nothing running."""
        self._control.close()
        if self._driver is None or self._hands is None:
            return
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        try:
            await self._driver.close()
        finally:
            await self._hands.close()

    @property
    def link(self) -> LinkState:
        """Return the state of the way to the phone's input."""
        return LinkState.DOWN if self._driver is None else self._driver.link

    @property
    def has_picture(self) -> bool:
        """Return whether a source of the phone's picture is set up."""
        return self._observer is not None

    @property
    def picture_ok(self) -> bool:
        """Return whether the last try to get a picture gave one."""
        return self._picture_ok

    @property
    def last_observation(self) -> Observation | None:
        """Return the last look at the screen, whoever took it."""
        return self._last_observation

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after a change of ``link`` or ``picture_ok``; return the undoing."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    def watch(self, callback: Callable[[Observation], None]) -> Callable[[], None]:
        """Call back with every look at the screen; return the undoing."""
        self._watchers.append(callback)
        return lambda: self._watchers.remove(callback)

    # Who may act; see :class:`.Control`.

    def acquire(self, owner: str) -> Lease:
        """Give the control of the phone to an owner, who must look before acting."""
        return self._control.acquire(owner)

    async def release(self, lease: Lease) -> None:
        """Give the lease back; after this no report is sent for its owner."""
        await self._control.release(lease)

    def revoke(self, owner: str) -> None:
        """Let no new act of this owner start, end the running one, let go."""
        self._control.revoke(owner)

    def fence(self, owner: str) -> None:
        """Take the lease from an owner who does not give it back, and let go at once."""
        self._control.fence(owner)

    def hold(self, seconds: float) -> None:
        """Let nobody act for so long, for a stop word."""
        self._control.hold(seconds)

    def halt(self) -> None:
        """Take the phone from everybody at once, until :meth:`resume`: the kill switch."""
        self._control.halt()

    def resume(self) -> None:
        """Turn the kill switch off."""
        self._control.resume()

    @property
    def is_held(self) -> bool:
        """Return whether a stop word holds everybody now."""
        return self._control.is_held

    @property
    def loans(self) -> int:
        """Return how often the phone was lent so far."""
        return self._control.loans

    def recall(self) -> None:
        """End the loan, if the phone is lent."""
        self._control.recall()

    def borrow(
        self, owner: str, *, preempt: bool = False, reserved: bool = False
    ) -> AbstractAsyncContextManager[Lease]:
        """Lend the phone for a single act, if it can be done now.

        Raises:
            NoBoardError: No board is set up.
            LinkLostError: The phone cannot be reached now.
            LeaseHeldError: As :meth:`.Control.borrow`, on entering.

        """
        if self._hands is None:
            raise NoBoardError("no board is set up for the phone; nothing was sent")
        if self.link is not LinkState.UP:
            raise LinkLostError(f"{self._link_trouble}; nothing was sent")
        return self._control.borrow(owner, preempt=preempt, reserved=reserved)

    # Looking.

    async def observe(self, lease: Lease) -> Observation:
        """Return what the screen shows, fresh and at rest; allows the lease to act.

        Waits while a stop word holds everybody, and for the end of a loan.

        Raises:
            PictureError: No usable picture within the deadline.
            LeaseRevokedError: The lease is no longer valid.

        """
        self._control.check(lease)
        if self._observer is None:
            raise PictureError("no source of the phone's picture is set up")
        while True:
            await self._control.until_free(lease)
            loans = self._control.loans
            observation = await self._look(self._observer, lease)
            self._control.check(lease)
            if not self.is_held and self._control.loans == loans:
                break
        self._last_observation = observation
        self._control.observed = lease
        for watcher in tuple(self._watchers):
            _guarded(watcher, observation)
        return observation

    async def _look(self, observer: Observer, lease: Lease) -> Observation:
        """Return a fresh observation after the last act."""
        acted_at = None
        if self._hands is not None:
            await self._hands.at_rest(RELEASE_S)
            acted_at = self._hands.last_act_at
        is_new = acted_at is not None and (
            self._looked_at is None or acted_at > self._looked_at
        )
        started_at = asyncio.get_running_loop().time()
        self._was_away = self.link is not LinkState.UP
        observation = await observer.observe(
            acted_at=acted_at if is_new else None,
            check=lambda: self._control.check(lease),
        )
        self._looked_at = started_at
        return observation

    # Acting. Every act raises:
    #   LeaseRevokedError: the lease is not valid, or was taken back during the act.
    #   NotObservedError: the screen was not looked at since it became unsettled.
    #   LinkLostError: the board stayed away past the deadline; nothing was sent.
    #   ActUnknownError: the link broke during the act; it is never sent again.
    #   ActRefusedError: the board cannot do it.

    async def tap(self, lease: Lease, point: Point, *, hold_ms: int = 60) -> None:
        """Touch a point for a moment."""
        gesture = self._aim(lease).press(point, hold_ms)
        await self._act(lease, lambda _caps: [gesture])

    async def long_press(
        self, lease: Lease, point: Point, *, hold_ms: int = 600
    ) -> None:
        """Touch a point for long."""
        await self.tap(lease, point, hold_ms=hold_ms)

    async def swipe(
        self, lease: Lease, start: Point, end: Point, *, duration_ms: int = 400
    ) -> None:
        """Draw a finger from one point to another."""
        gesture = self._aim(lease).swipe(start, end, duration_ms)
        await self._act(lease, lambda _caps: [gesture])

    async def type_text(
        self,
        lease: Lease,
        text: str,
        *,
        allow_enter: bool = False,
        plain_typography: bool = False,
    ) -> None:
        """Type a text; see :func:`.text.to_strokes`.

        Raises:
            UnsupportedTextError: Some characters cannot be typed; nothing was typed.

        """
        self._control.check_act(lease)
        if len(text) > MAX_TEXT:
            raise ActRefusedError(
                f"a text has at most {MAX_TEXT} characters; nothing was typed"
            )
        strokes = to_strokes(
            text, allow_enter=allow_enter, plain_typography=plain_typography
        )
        await self._act(lease, lambda caps: acts.typing(strokes, caps))

    async def press_key(self, lease: Lease, key: Key) -> None:
        """Press a key."""
        self._control.check_act(lease)
        await self._act(lease, lambda caps: [acts.key(key, caps)])

    async def _act(
        self, lease: Lease, build: Callable[[DriverCaps], Sequence[Act]]
    ) -> None:
        """Play acts; wait for a link that is gone, but then ask for a fresh look.

        Whatever happened while the link was away, the last picture is older than it.
        """
        if self._hands is None:
            raise NoBoardError("no board is set up for the phone; nothing was sent")
        loop = asyncio.get_running_loop()
        loans = self._control.loans
        deadline = loop.time() + self._link_deadline_s
        while True:
            caps = await self._wait_for_link(lease, deadline)
            if self._was_away and self._control.observed == lease:
                self._control.observed = None
                raise NotObservedError(
                    "the link to the phone was away and is back: look at the screen "
                    "before acting; nothing was sent"
                )
            try:
                await self._hands.play(
                    build(caps), lambda: self._control.check_act(lease)
                )
            except LinkLostError:
                self._was_away = True
                if loop.time() + LINK_RETRY_S > deadline:
                    raise
                await asyncio.sleep(LINK_RETRY_S)
            except LeaseRevokedError as err:
                self._control.observed = None
                if not self._control.is_valid(lease):
                    raise
                why = (
                    "the person said stop"
                    if self._control.loans == loans
                    else "somebody else used the phone"
                )
                raise ActUnknownError(
                    f"{why}, and the act was broken off on the way"
                ) from err
            except ActUnknownError, asyncio.CancelledError:
                self._control.observed = None
                raise
            else:
                return

    async def _wait_for_link(self, lease: Lease, deadline: float) -> DriverCaps:
        """Return what can be sent, once the phone can be reached."""
        try:
            async with asyncio.timeout_at(deadline):
                while True:
                    self._control.changed.clear()
                    self._control.check_act(lease)
                    if self._driver is not None and self._driver.caps is not None:
                        if self._driver.link is LinkState.UP:
                            return self._driver.caps
                    await self._control.changed.wait()
        except TimeoutError:
            raise LinkLostError(
                f"{self._link_trouble}, for {self._link_deadline_s:.0f} s now; "
                "nothing was sent"
            ) from None

    @property
    def _link_trouble(self) -> str:
        """Return why the phone cannot be reached."""
        if self.link is LinkState.NO_PHONE:
            return "the phone is not connected to the board"
        return "the board does not answer"

    def _aim(self, lease: Lease) -> Aim:
        """Return how to hit what the last observation shows."""
        self._control.check_act(lease)
        if self._control.observed != lease or self._last_observation is None:
            raise NotObservedError(UNSETTLED)
        return Aim(self._last_observation, self._touch_space)

    def _note_picture(self, ok: bool) -> None:
        """Tell of a change between pictures and none."""
        if ok != self._picture_ok:
            self._picture_ok = ok
            self._notify()

    def _on_link(self) -> None:
        """Take a change of the link: what was seen before an outage is no guide after it."""
        if self.link is not LinkState.UP:
            self._was_away = True
        self._notify()

    def _notify(self) -> None:
        """Wake what waits and tell the subscribers."""
        self._control.changed.set()
        for callback in tuple(self._callbacks):
            _guarded(callback)


def _guarded[**P](
    callback: Callable[P, None], *args: P.args, **kwargs: P.kwargs
) -> None:
    """Call a listener; one that fails stops neither the phone nor the others."""
    try:
        callback(*args, **kwargs)
    except Exception:
        _LOGGER.exception("A listener of the phone failed")
