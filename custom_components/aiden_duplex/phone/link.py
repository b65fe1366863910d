"""The board: found, kept, lost and found again; and asked once by the config flow."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
import logging
import random
import secrets
from typing import override

from . import dx1_acts, dx1_messages as messages
from .driver import Act, Driver, DriverCaps, Played
from .dx1 import FrameType
from .dx1_client import Dx1Client
from .dx1_events import (
    BoardLog,
    Dx1Event,
    End,
    Finished,
    LinkChanged,
    LossReason,
    Lost,
    Outcome,
    Ready,
    Released,
    Woken,
)
from .dx1_messages import BoardCaps, Usb
from .port import Dx1Port, PortOpener, is_taken, serial_opener, shown, why_not_open
from .types import LinkLostError, LinkState, PhoneError

_LOGGER = logging.getLogger(__name__)

BACKOFF_FIRST_S = 0.25
BACKOFF_MAX_S = 5.0
RELEASE_TAIL_S = 0.05
"""The board repeats a release three times within 30 ms."""
SAFE_POINT_S = 1.0
"""A stopped act ends within 500 ms, or the release is forced."""
STOP_ROUNDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardInfo:
    """What a board says of itself."""

    board_id: str
    """Hexadecimal; the chip's own number, the same for ever."""
    firmware: str
    profile: str
    """``android_touch``, ``none``, ..."""
    phone_connected: bool
    """A phone has taken the board's USB side."""


class ProbeReason(StrEnum):
    """Why a probe found no usable board."""

    CANNOT_OPEN = "cannot_open"
    BUSY = "busy"
    """Another program has the port, or the board talks to another host."""
    NOT_A_BOARD = "not_a_board"
    WRONG_PROTOCOL = "wrong_protocol"


class ProbeError(PhoneError):
    """No usable board behind a port; the text says what was found.

    Attributes:
        reason: The class of the failure.

    """

    def __init__(self, reason: ProbeReason, message: str) -> None:
        """Keep the class and the sentence."""
        super().__init__(message)
        self.reason = reason


class Dx1Driver(Driver):
    """A board that speaks DX1, kept connected from :meth:`start` to :meth:`close`.

    Args:
        url: A device path or a serialx URL (``socket://host:port``).
        board_id: Accept only this board; a swapped port must not drive another phone.
        on_wake: Called once for each wake event.
        open_port: Opens the port; a seam for tests.

    """

    def __init__(
        self,
        url: str,
        *,
        board_id: str | None = None,
        on_wake: Callable[[Woken], None] | None = None,
        open_port: PortOpener | None = None,
    ) -> None:
        """Start without a connection."""
        self._name = shown(url)
        self._on_wake = on_wake
        self._opener = open_port or serial_opener(url)
        self._client = Dx1Client(session=_new_session(), board_id=board_id)
        self._port: Dx1Port | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._board: BoardCaps | None = None
        self._usb: int = Usb.NONE
        self._ends: dict[int, asyncio.Future[Outcome]] = {}
        self._acting: asyncio.Future[Outcome] | None = None
        self._callbacks: list[Callable[[], None]] = []
        self._was_lost = False
        self._answered = False

    @property
    def info(self) -> BoardInfo | None:
        """Return what the board is; None while it does not answer."""
        return None if self._board is None else _info(self._board, self._usb)

    @property
    @override
    def link(self) -> LinkState:
        """Return the state of the way to the phone."""
        if self._board is None:
            return LinkState.DOWN
        return LinkState.NO_PHONE if self._usb == Usb.NONE else LinkState.UP

    @property
    @override
    def caps(self) -> DriverCaps | None:
        """Return what can be sent; None while the link is down."""
        return None if self._board is None else dx1_acts.driver_caps(self._board)

    @override
    async def start(self) -> None:
        """Begin to look for the board; returns before it is found."""
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep(), name="aiden_duplex board")

    @override
    async def close(self) -> None:
        """Release everything if the board answers, then close the port for good."""
        try:
            if self._board is not None:
                async with asyncio.timeout(SAFE_POINT_S):
                    await self.stop(at_once=True)
        except TimeoutError:
            _LOGGER.debug("%s did not confirm the release", self._name)
        finally:
            await self._stop_keeping()

    @override
    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after every change of ``link`` or ``caps``; return the undoing."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    @override
    async def play(self, act: Act) -> Played:
        """Send an act and wait for its end; see :class:`Driver`."""
        if self._board is None:
            raise LinkLostError("the board does not answer; nothing was sent")
        dx1_acts.check(act, dx1_acts.driver_caps(self._board))
        kind, payload, plan_s = dx1_acts.encode(act)
        end = self._submit(kind, payload, plan_s)
        self._acting = end
        try:
            outcome = await asyncio.shield(end)
        finally:
            if end.done() and self._acting is end:
                self._acting = None
        return dx1_acts.played(outcome)

    @override
    async def stop(self, *, at_once: bool = False) -> bool:
        """End the running act, release everything; see :class:`Driver`."""
        if self._board is None:
            return False
        acting = self._acting
        for _ in range(STOP_ROUNDS):
            answer = self._expect(
                self._client.stop(asyncio.get_running_loop().time(), at_once=at_once)
            )
            if (await answer).end is not End.DONE:
                return False
            if acting is not None:
                await asyncio.wait((acting,), timeout=SAFE_POINT_S)
            await asyncio.sleep(RELEASE_TAIL_S)
            if await self._hands_are_empty():
                return True
            at_once = True
        return False

    # Requests.

    def _submit(
        self, kind: FrameType, payload: bytes = b"", plan_s: float | None = None
    ) -> asyncio.Future[Outcome]:
        """Send a request; return its end to come."""
        now = asyncio.get_running_loop().time()
        return self._expect(self._client.submit(kind, payload, now, plan_s=plan_s))

    def _expect(self, ticket: int) -> asyncio.Future[Outcome]:
        """Return the end of a ticket to come, and send what waits to be sent."""
        end = asyncio.get_running_loop().create_future()
        self._ends[ticket] = end
        if self._port is not None:
            self._port.step()
        for event in self._client.take_events():
            self._handle(event)
        return end

    async def _hands_are_empty(self) -> bool:
        """Return whether the board confirms that it holds nothing."""
        outcome = await self._submit(FrameType.PING)
        reply = messages.parse_ping(outcome.data)
        return outcome.end is End.DONE and reply is not None and reply.held == 0

    # Connection.

    async def _keep(self) -> None:
        """Connect, and again after every loss, with growing pauses."""
        pause_s = BACKOFF_FIRST_S
        while True:
            if await self._connect_once():
                pause_s = BACKOFF_FIRST_S
            await asyncio.sleep(pause_s * random.uniform(0.8, 1.2))
            pause_s = min(pause_s * 2, BACKOFF_MAX_S)

    async def _connect_once(self) -> bool:
        """Hold one connection until it is useless; return whether the board answered."""
        self._answered = False
        self._port = port = Dx1Port(self._client, self._handle)
        try:
            failure = await _failure_to_open(port, self._opener)
            if failure is None:
                await port.useless.wait()
            else:
                self._note_lost(why_not_open(failure))
        finally:
            await port.close()
            self._port = None
        return self._answered

    async def _stop_keeping(self) -> None:
        """Close the port and look for no other."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.cancel()
            await asyncio.wait((keeper,))

    def _handle(self, event: Dx1Event) -> None:
        """Take one event of the client."""
        match event:
            case Finished():
                end = self._ends.pop(event.ticket, None)
                if end is not None and not end.done():
                    end.set_result(event.outcome)
            case Ready():
                self._welcome(event)
            case Lost():
                self._board = None
                self._note_lost(_why(event))
                self._changed()
            case LinkChanged() if self._board is not None:
                self._usb = event.usb
                if event.profile != self._board.profile:
                    self._board = replace(self._board, profile=event.profile)
                self._changed()
            case Woken() if self._on_wake is not None:
                self._call(self._on_wake, event)
            case Released():
                _LOGGER.info(
                    "The board at %s released everything by itself (reason %d)",
                    self._name,
                    event.reason,
                )
            case BoardLog():
                _LOGGER.debug("The board at %s says: %r", self._name, event.text)

    def _welcome(self, event: Ready) -> None:
        """Take the board."""
        self._answered = True
        self._board = event.caps
        self._usb = event.usb
        if event.rebooted:
            _LOGGER.debug("The board at %s has started anew", self._name)
        if self._was_lost:
            self._was_lost = False
            _LOGGER.info("The board at %s answers again", self._name)
        self._changed()

    def _note_lost(self, why: str) -> None:
        """Log a loss, once until the board is back."""
        if not self._was_lost and self._keeper is not None:
            self._was_lost = True
            _LOGGER.warning("No connection to the board at %s: %s", self._name, why)

    def _changed(self) -> None:
        """Tell the subscribers."""
        for callback in tuple(self._callbacks):
            self._call(callback)

    def _call[*Ts](self, listener: Callable[[*Ts], None], *arguments: *Ts) -> None:
        """Call a listener; its failure is its own and stops neither others nor the link."""
        try:
            listener(*arguments)
        except Exception:
            _LOGGER.exception("A listener to the board at %s failed", self._name)


async def probe(
    url: str, timeout_s: float = 8.0, *, open_port: PortOpener | None = None
) -> BoardInfo:
    """Shake hands once with the board behind a port and leave again.

    A board without a phone on its USB side is a result, not an error.

    Raises:
        ProbeError: No board, or none that can be used.

    """
    answer: asyncio.Future[Ready | Lost] = asyncio.get_running_loop().create_future()

    def on_event(event: Dx1Event) -> None:
        if isinstance(event, Ready | Lost) and not answer.done():
            answer.set_result(event)

    port = Dx1Port(Dx1Client(session=_new_session()), on_event)
    try:
        failure = await _failure_to_open(port, open_port or serial_opener(url))
        if failure is not None:
            reason = ProbeReason.BUSY if is_taken(failure) else ProbeReason.CANNOT_OPEN
            raise ProbeError(reason, f"{shown(url)}: {why_not_open(failure)}")
        async with asyncio.timeout(timeout_s):
            event = await answer
    except TimeoutError:
        event = Lost(reason=LossReason.NO_ANSWER)
    finally:
        await port.close()
    if isinstance(event, Ready):
        return _info(event.caps, event.usb)
    raise _probe_error(shown(url), event.reason, bytes(port.sample))


_LOSSES = {
    LossReason.PORT: "the port was closed",
    LossReason.NO_ANSWER: "nothing there answers as a board does",
    LossReason.OTHER_BOARD: "another board answers there",
    LossReason.BUSY: "the board talks to another host",
    LossReason.WRONG_VERSION: "the board speaks another version of the protocol",
    LossReason.SILENT: "the board fell silent",
    LossReason.SESSION: "the board restarted or waited too long",
}


def _why(event: Lost) -> str:
    """Return in words why there is no session."""
    sentence = _LOSSES[event.reason]
    return f"{sentence}: {event.board_id}" if event.board_id else sentence


async def _failure_to_open(port: Dx1Port, opener: PortOpener) -> BaseException | None:
    """Open a port; return what went wrong, None if nothing did.

    Handlers of foreign URL schemes may raise anything at all.
    """
    (failure,) = await asyncio.gather(port.open(opener), return_exceptions=True)
    return failure


def _probe_error(name: str, reason: LossReason, sample: bytes) -> ProbeError:
    """Return what to say about a port that opens without a usable board."""
    match reason:
        case LossReason.BUSY:
            return ProbeError(ProbeReason.BUSY, f"{name}: {_LOSSES[reason]}")
        case LossReason.WRONG_VERSION:
            return ProbeError(
                ProbeReason.WRONG_PROTOCOL,
                f"{name}: the board does not speak version "
                f"{messages.PROTOCOL_VERSION} of the protocol",
            )
        case _:
            return ProbeError(
                ProbeReason.NOT_A_BOARD, f"{name}: it opens, but {_received(sample)}"
            )


def _received(sample: bytes) -> str:
    """Return in words what a port sent instead of a board's answer."""
    if not sample:
        return "nothing there answers"
    text = " ".join(sample.decode("ascii", "replace").split())
    printable = "".join(char for char in text if char.isascii() and char.isprintable())
    if len(printable) * 2 >= len(sample):
        return f"what answers is no board; it sent “{printable[:60]}”"
    return f"what answers is no board; it sent {len(sample)} bytes of something else"


def _new_session() -> int:
    """Return a random session number."""
    return secrets.randbelow(2**32 - 1) + 1


def _info(board: BoardCaps, usb: int) -> BoardInfo:
    """Return what the board is, for others."""
    return BoardInfo(
        board_id=board.board_id,
        firmware=board.firmware,
        profile=dx1_acts.profile_name(board.profile),
        phone_connected=usb != Usb.NONE,
    )
