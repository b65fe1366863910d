"""The live conversation: one text at a time, a session when it is needed."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
import contextlib
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum
import functools
import logging
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ..memory.transcript import Transcript
from ..models.errors import ModelError, ModelErrorKind
from ..models.realtime.events import Closed
from ..models.realtime.session import (
    AddNotice,
    Notice,
    RealtimeSession,
    Replay,
    ReplayItem,
    SessionConfig,
)
from ..storage.lines import storable
from ..tasks.errors import TaskError
from ..tasks.manager import TaskManager
from ..tasks.model import Origin
from .answer import Answer
from .delivery import Delivery
from .errors import ForegroundBusyError, Guard
from .prompts import INTERRUPTED, instructions
from .recorder import Recorder
from .replay import replay_items
from .session import LiveSession, SessionLostError
from .stop_words import HOLD_S, is_stop
from .tool_context import ToolContext, nobody
from .toolbox import Toolbox
from .tools import TOOLS
from .turn import Turn, TurnReport

_LOGGER = logging.getLogger(__name__)

ADMISSION_S = 5.0
"""How long a text waits for the one before it (architecture)."""
CONNECT_S = 35.0
"""Backstop; the session's own deadlines for connecting and configuring are nearer."""
MAX_HOLDS = 30
"""How often a hold is renewed while a stop is being answered: two minutes; our choice."""
IDLE_CLOSE_S = 300.0
"""A session without a text for so long is closed; our choice."""


class ForegroundState(StrEnum):
    """What the foreground does now."""

    STANDBY = "standby"
    """No session; the next text opens one."""
    CONNECTING = "connecting"
    IDLE = "idle"
    """A session is open and nothing is asked."""
    ANSWERING = "answering"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForegroundSnapshot:
    """For diagnostics; holds no text of the conversation."""

    state: ForegroundState
    guard: Guard | None
    """What a second text would wait for."""
    sessions: int
    """Sessions opened so far."""
    last_end: Closed | None
    """How the last session ended."""
    last_turn: TurnReport | None
    unheard: tuple[str, ...]
    """Tasks whose report was cut off each time it was made."""


class Foreground:
    """Answers the person, and never waits for the phone."""

    def __init__(
        self,
        *,
        connect: Callable[[SessionConfig], Awaitable[RealtimeSession]],
        tasks: TaskManager,
        transcript: Transcript,
        now: Callable[[], datetime],
        phone_ready: Callable[[], str | None],
        hold: Callable[[float], None] | None = None,
        is_person: Callable[[Origin], Awaitable[bool]] = nobody,
        language: str | None = None,
        time_zone: Callable[[str], Awaitable[tzinfo | None]] | None = None,
        idle_close_s: float = IDLE_CLOSE_S,
    ) -> None:
        """Open nothing yet.

        Args:
            connect: Opens a configured session; raises ModelError.
            tasks: The task manager.
            transcript: The conversation's history.
            now: The local time, aware.
            phone_ready: Why the phone cannot be worked, as a sentence; None when it can.
            hold: Lets nobody act on the phone for so many seconds; for stop words.
            is_person: Whether a speaker certainly is a person; only those can consent.
            language: Spoken when the person's language is unclear.
            time_zone: Finds a time zone by its IANA name without blocking.
            idle_close_s: Seconds without a text after which the session is closed.

        """
        self._connect = connect
        self._tasks = tasks
        self._transcript = transcript
        self._recorder = Recorder(transcript, now)
        self._now = now
        self._phone_ready = phone_ready
        self._hold = hold
        self._is_person = is_person
        self._time_zone = time_zone or _find_time_zone
        self._idle_close_s = idle_close_s
        self._config = SessionConfig(
            instructions=instructions(language),
            tools=tuple(tool.spec for tool in TOOLS),
        )
        self._delivery = Delivery(tasks)
        self._admission = asyncio.Lock()
        self._waiting = 0
        self._turn: Turn | None = None
        self._live: LiveSession | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._turns: dict[asyncio.Task[None], Answer] = {}
        self._stopping: set[asyncio.Task[None]] = set()
        """Turns that a stop word began."""
        self._is_closing = False
        self._sessions = 0
        self._last_end: Closed | None = None
        self._last_turn: TurnReport | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def snapshot(self) -> ForegroundSnapshot:
        """Return what diagnostics show."""
        guard = self._guard
        if guard is Guard.CONNECTING:
            state = ForegroundState.CONNECTING
        elif guard is not None:
            state = ForegroundState.ANSWERING
        elif self._live is not None:
            state = ForegroundState.IDLE
        else:
            state = ForegroundState.STANDBY
        return ForegroundSnapshot(
            state=state,
            guard=guard,
            sessions=self._sessions,
            last_end=self._last_end,
            last_turn=self._last_turn,
            unheard=self._delivery.unheard,
        )

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a listener after every change of the snapshot's state; returns the end of it."""
        self._listeners.append(listener)
        return functools.partial(self._listeners.remove, listener)

    async def converse(self, text: str, *, speaker: Origin) -> AsyncGenerator[str]:
        """Yield the answer to a text piece by piece.

        A stop word holds the phone at once, before anything is waited for, and cuts an
        answer short that is being given: it must not wait behind it.

        A caller that closes the generator or is cancelled gives the answer up; tasks
        that were created go on.

        Raises:
            ForegroundBusyError: An earlier text is still being answered.
            ModelError: The model failed; what was said before that was yielded.

        """
        text = storable(text).strip()
        if not text:
            return
        stops = is_stop(text)
        if stops:
            self._stop()
        arrived_at = self._now()
        await self._admit()
        answer = Answer()
        turn = self._hold_turn(text, speaker, answer, arrived_at)
        work = self._spawn(self._see_stop_through(turn) if stops else turn, "turn")
        if stops:
            self._stopping.add(work)
            work.add_done_callback(self._stopping.discard)
        self._turns[work] = answer
        work.add_done_callback(self._turns.pop)
        try:
            async for piece in answer.read():
                yield piece
        finally:
            if not answer.is_over:
                work.cancel()

    async def close(self) -> None:
        """Give up the answer, end the session, leave nothing running."""
        self._is_closing = True
        self._stop_idle_timer()
        for task in self._turns:
            task.cancel()
        # A turn that was just connecting may bring a session with it.
        while self._live is not None or self._running:
            self._dismiss()
            if self._running:
                await asyncio.wait(self._running)

    def _stop(self) -> None:
        """Hold the phone and let the answer that is being given make way.

        What was agreed to before is off, too. An answer that itself answers a stop goes
        on: cutting it would undo the stop.
        """
        self._tasks.withdraw_consents()
        self._hold_on()
        for work, answer in self._turns.items():
            if not answer.is_over and work not in self._stopping:
                busy = ForegroundBusyError(Guard.CANCELLING)
                answer.finish(None if answer.has_text else busy)
                work.cancel()

    def _hold_on(self) -> None:
        if self._hold is not None:
            self._hold(HOLD_S)

    async def _see_stop_through(self, turn: Coroutine[Any, Any, bool]) -> None:
        """Hold the phone until the model has decided; if it cannot, pause the work.

        Five seconds are not enough for a model that is slow or gone.
        """
        holding = asyncio.get_running_loop().create_task(self._keep_holding())
        try:
            decided = await turn
        finally:
            holding.cancel()
        if not decided and not self._is_closing:
            with contextlib.suppress(TaskError):
                await self._tasks.take_over()

    async def _keep_holding(self) -> None:
        """Hold again and again, for as long as a turn may take."""
        for _ in range(MAX_HOLDS):
            await asyncio.sleep(HOLD_S - 1)
            self._hold_on()

    async def _admit(self) -> None:
        """Wait for the text before; the turn releases the admission."""
        self._waiting += 1
        try:
            async with asyncio.timeout(ADMISSION_S):
                await self._admission.acquire()
        except TimeoutError:
            guard = self._guard or Guard.RESPONSE
            _LOGGER.debug("A text was refused: %s", guard)
            raise ForegroundBusyError(guard) from None
        finally:
            self._waiting -= 1
        if self._is_closing:
            self._admission.release()
            raise ForegroundBusyError(Guard.CLOSING)

    async def _hold_turn(
        self, text: str, speaker: Origin, answer: Answer, arrived_at: datetime
    ) -> bool:
        """Run a turn and keep the admission until nothing of it is left.

        Returns whether it was answered.
        """
        self._stop_idle_timer()
        turn = self._turn = self._new_turn(text, speaker, answer, arrived_at)
        try:
            await self._answer(turn, text, speaker)
            answer.finish()
        except asyncio.CancelledError:
            answer.finish(ForegroundBusyError(Guard.CLOSING))
            await self._give_up(turn)
            return False
        except Exception as err:
            # The caller gets it; a response that is out must not outlive it.
            _LOGGER.debug("An answer failed", exc_info=err)
            answer.finish(err)
            await self._give_up(turn)
            return False
        else:
            return True
        finally:
            self._last_turn = turn.report
            self._turn = None
            # A text that waits takes the goodbye back.
            if turn.is_ending and not self._waiting:
                self._dismiss()
            self._start_idle_timer()
            self._admission.release()
            self._notify()

    def _new_turn(
        self, text: str, speaker: Origin, answer: Answer, arrived_at: datetime
    ) -> Turn:
        context = ToolContext(
            tasks=self._tasks,
            delivery=self._delivery,
            speaker=speaker,
            now=self._now,
            time_zone=self._time_zone,
            phone_ready=self._phone_ready,
            arrived_at=arrived_at,
            ending=asyncio.Event(),
            text=text,
            is_latest=lambda: self._waiting == 0,
            is_person=self._is_person,
        )
        return Turn(
            text,
            answer=answer,
            delivery=self._delivery,
            recorder=self._recorder,
            toolbox=Toolbox(context),
            on_phase=self._notify,
        )

    async def _answer(self, turn: Turn, text: str, speaker: Origin) -> None:
        """Open a session if there is none, and let the turn run in it."""
        replay = replay_items(self._transcript.replay())
        await self._recorder.user(text, speaker.user_id)
        # A session that stood open may have died unnoticed; a new one has not.
        may_retry = self._live is not None
        while True:
            live = await self._open(turn, replay)
            try:
                await turn.run(live)
            except SessionLostError as err:
                if self._live is live:
                    self._dismiss()
                if may_retry and not turn.is_accepted:
                    may_retry = False
                    turn.enter(Guard.CONNECTING)
                    continue
                raise err.as_error() from err
            return

    async def _give_up(self, turn: Turn) -> None:
        """Let the provider confirm the end of an answer that is not wanted any more."""
        notice = Notice(label="INTERRUPTED", text=INTERRUPTED)
        await self._recorder.notice(notice.content)
        live = self._live
        if live is None or self._is_closing:
            return
        turn.enter(Guard.CANCELLING)
        await live.withdraw()
        with contextlib.suppress(SessionLostError):
            await live.send(AddNotice(id=live.next_id("notice"), notice=notice))

    async def _open(self, turn: Turn, replay: tuple[ReplayItem, ...]) -> LiveSession:
        """Return the open session, or a new one that knows the latest history."""
        if self._live is not None:
            return self._live
        turn.enter(Guard.CONNECTING)
        try:
            async with asyncio.timeout(CONNECT_S):
                link = await self._connect(self._config)
        except TimeoutError:
            raise ModelError(
                ModelErrorKind.TIMEOUT, "The model's server did not answer in time."
            ) from None
        live = LiveSession(link, on_end=self._on_end)
        self._live = live
        self._sessions += 1
        if replay:
            try:
                await live.send(Replay(id="replay", items=replay))
            except SessionLostError as err:
                raise err.as_error() from err
        return live

    def _on_end(self, live: LiveSession, closed: Closed) -> None:
        """Note the end of a session, whoever ended it."""
        self._last_end = closed
        if closed.failure is not None:
            _LOGGER.info("The conversation's session ended: %s", closed.failure.message)
        if self._live is live:
            self._live = None
            self._stop_idle_timer()
        self._notify()

    def _dismiss(self) -> None:
        """Let go of the session; it is closed beside."""
        live, self._live = self._live, None
        if live is not None:
            self._spawn(live.close(), "close")

    def _start_idle_timer(self) -> None:
        if self._live is not None and not self._is_closing:
            loop = asyncio.get_running_loop()
            self._idle_timer = loop.call_later(self._idle_close_s, self._idle_out)

    def _stop_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _idle_out(self) -> None:
        self._idle_timer = None
        if self._turn is None:
            self._dismiss()

    @property
    def _guard(self) -> Guard | None:
        if self._is_closing:
            return Guard.CLOSING
        return self._turn.phase if self._turn is not None else None

    def _notify(self) -> None:
        for listener in tuple(self._listeners):
            try:
                listener()
            except Exception:
                _LOGGER.exception("A listener failed")

    def _spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        # Eager: a task that is cancelled before its first step would not clean up.
        task = asyncio.get_running_loop().create_task(
            work, name=f"aiden_duplex foreground {name}", eager_start=True
        )
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task


async def _find_time_zone(name: str) -> tzinfo | None:
    """Return a time zone of the system; its file is read beside the loop."""
    try:
        return await asyncio.to_thread(ZoneInfo, name)
    except ZoneInfoNotFoundError, ValueError, OSError:
        return None
