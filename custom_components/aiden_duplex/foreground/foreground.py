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
from ..models.realtime.events import Closed
from ..models.realtime.session import AddNotice, Notice, RealtimeSession, SessionConfig
from ..storage.lines import storable
from ..tasks.manager import TaskManager
from ..tasks.model import Origin
from .answer import Answer
from .delivery import Delivery
from .errors import ForegroundBusyError, Guard
from .keeper import SessionKeeper
from .prompts import INTERRUPTED, instructions
from .recorder import Recorder
from .replay import replay_items
from .session import SessionLostError
from .stop_words import is_stop
from .stopping import Stopping
from .tool_context import ToolContext, nobody
from .toolbox import Toolbox
from .tools import TOOLS
from .turn import Turn, TurnReport

_LOGGER = logging.getLogger(__name__)

ADMISSION_S = 5.0
"""How long a text waits for the one before it (architecture)."""
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
        self._tasks = tasks
        self._transcript = transcript
        self._recorder = Recorder(transcript, now)
        self._now = now
        self._phone_ready = phone_ready
        self._stopper = Stopping(tasks, hold)
        self._is_person = is_person
        self._time_zone = time_zone or _find_time_zone
        self._keeper = SessionKeeper(
            connect,
            SessionConfig(
                instructions=instructions(language),
                tools=tuple(tool.spec for tool in TOOLS),
            ),
            idle_close_s=idle_close_s,
            spawn=self._spawn,
            on_change=self._notify,
        )
        self._delivery = Delivery(tasks)
        self._admission = asyncio.Lock()
        self._waiting = 0
        self._turn: Turn | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._turns: dict[asyncio.Task[None], Answer] = {}
        self._stopping: set[asyncio.Task[None]] = set()
        """Turns that a stop word began."""
        self._is_closing = False
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
        elif self._keeper.live is not None:
            state = ForegroundState.IDLE
        else:
            state = ForegroundState.STANDBY
        return ForegroundSnapshot(
            state=state,
            guard=guard,
            sessions=self._keeper.sessions,
            last_end=self._keeper.last_end,
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
        work = self._spawn(self._see_through(turn) if stops else turn, "turn")
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
        self._keeper.stop_idle_timer()
        for task in self._turns:
            task.cancel()
        # A turn that was just connecting may bring a session with it.
        while self._keeper.live is not None or self._running:
            self._keeper.dismiss()
            if self._running:
                await asyncio.wait(self._running)

    def _stop(self) -> None:
        """Hold the phone and let the answer that is being given make way.

        What was agreed to before is off, too. An answer that itself answers a stop goes
        on: cutting it would undo the stop.
        """
        self._stopper.begin()
        for work, answer in self._turns.items():
            if not answer.is_over and work not in self._stopping:
                busy = ForegroundBusyError(Guard.CANCELLING)
                answer.finish(None if answer.has_text else busy)
                work.cancel()

    def _see_through(
        self, turn: Coroutine[Any, Any, bool]
    ) -> Coroutine[Any, Any, None]:
        """Let a turn that a stop word began run to its decision."""
        return self._stopper.see_through(turn, is_closing=lambda: self._is_closing)

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
        self._keeper.stop_idle_timer()
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
                self._keeper.dismiss()
            if not self._is_closing:
                self._keeper.start_idle_timer()
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
        may_retry = self._keeper.live is not None
        while True:
            live = await self._keeper.open(
                replay, on_connecting=lambda: turn.enter(Guard.CONNECTING)
            )
            try:
                await turn.run(live)
            except SessionLostError as err:
                if self._keeper.live is live:
                    self._keeper.dismiss()
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
        live = self._keeper.live
        if live is None or self._is_closing:
            return
        turn.enter(Guard.CANCELLING)
        await live.withdraw()
        with contextlib.suppress(SessionLostError):
            await live.send(AddNotice(id=live.next_id("notice"), notice=notice))

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
