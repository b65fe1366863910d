"""A scripted provider, a scripted runner and the real rooms around the foreground."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
import contextlib
from datetime import UTC, datetime, timedelta, timezone, tzinfo
import itertools
import json
from typing import Any

from custom_components.aiden_duplex.foreground.foreground import Foreground
from custom_components.aiden_duplex.memory.transcript import Transcript
from custom_components.aiden_duplex.models.errors import ModelError, ModelErrorKind
from custom_components.aiden_duplex.models.realtime.events import (
    Closed,
    Failure,
    NothingToCancel,
    RealtimeEvent,
    ResponseDone,
    ResponseRefused,
    ResponseStarted,
    ResponseStatus,
    TextDelta,
    ToolCallReady,
)
from custom_components.aiden_duplex.models.realtime.session import (
    AddNotice,
    AddText,
    AddToolOutput,
    CancelResponse,
    Command,
    CreateResponse,
    Replay,
    SessionConfig,
)
from custom_components.aiden_duplex.models.tools import ToolCall
from custom_components.aiden_duplex.storage.contract import JournalError, Record
from custom_components.aiden_duplex.tasks.manager import TaskManager
from custom_components.aiden_duplex.tasks.model import Origin, Outcome, Task
from custom_components.aiden_duplex.tasks.runner import (
    Question,
    RunEnd,
    RunRequest,
    RunResult,
    Steer,
)

SPEAKER = Origin(source="conversation", user_id="user_1", context_id="ctx_1")

type Script = Callable[[FakeSession, CreateResponse], None]
"""Plays the provider's side of one response."""


class FakeSession:
    """A provider's session that keeps the provider's rules and notes every breach."""

    def __init__(self, model: FakeModel, config: SessionConfig) -> None:
        """Start open and idle."""
        self.config = config
        self.commands: list[Command] = []
        self.breaches: list[str] = []
        self.closed: Closed | None = None
        self.is_dead = False
        """Nothing arrives any more, and nobody has noticed yet."""
        self.active: str | None = None
        self.unanswered: set[str] = set()
        self.acknowledge_cancel = True
        self._model = model
        self._events: asyncio.Queue[RealtimeEvent] = asyncio.Queue()

    async def events(self) -> AsyncIterator[RealtimeEvent]:
        """Yield until closed."""
        while True:
            event = await self._events.get()
            yield event
            if isinstance(event, Closed):
                return

    async def send(self, command: Command) -> None:
        """Take a command as the provider would."""
        if self.closed is not None or self.is_dead:
            if self.is_dead:
                self.end(1006, "", kind=ModelErrorKind.NETWORK)
            raise ModelError(ModelErrorKind.NETWORK, "the session has ended")
        self.commands.append(command)
        match command:
            case CreateResponse():
                self._create(command)
            case CancelResponse():
                self._cancel()
            case AddToolOutput():
                if command.call_id not in self.unanswered:
                    self.breaches.append(f"output for {command.call_id}")
                self.unanswered.discard(command.call_id)

    async def close(self) -> None:
        """End from our side."""
        if self.closed is None:
            self.emit(Closed(code=1000, reason="closed by us"))

    def emit(self, *events: RealtimeEvent) -> None:
        """Send events."""
        for event in events:
            match event:
                case Closed():
                    self.closed = event
                case ToolCallReady():
                    self.unanswered.add(event.call.call_id)
                case ResponseDone():
                    if event.status is ResponseStatus.CANCELLED:
                        self.unanswered.clear()
                    self.active = None
            self._events.put_nowait(event)

    def later(self, seconds: float, *events: RealtimeEvent) -> None:
        """Send events after a time."""
        asyncio.get_running_loop().call_later(seconds, self.emit, *events)

    def end(
        self, code: int, reason: str, *, kind: ModelErrorKind | None = None
    ) -> None:
        """End from the provider's side; without a kind it expired."""
        if self.closed is None:
            failure = None
            if kind is not None:
                failure = Failure(
                    kind=kind, message=f"closed with code {code}: {reason}"
                )
            self.emit(
                Closed(
                    code=code, reason=reason, failure=failure, expired=failure is None
                )
            )

    def sent[T](self, kind: type[T]) -> list[T]:
        """Return the commands of a kind."""
        return [command for command in self.commands if isinstance(command, kind)]

    def outputs(self) -> list[Any]:
        """Return the outputs of tools, parsed."""
        return [json.loads(command.output) for command in self.sent(AddToolOutput)]

    def shape(self) -> str:
        """Return the commands' kinds as one letter each."""
        letters = {
            AddText: "t",
            AddNotice: "n",
            AddToolOutput: "o",
            CreateResponse: "r",
            CancelResponse: "x",
            Replay: "p",
        }
        return "".join(letters[type(command)] for command in self.commands)

    def _create(self, command: CreateResponse) -> None:
        if self.active is not None:
            self.emit(ResponseRefused(request_id=command.id))
            return
        if self.unanswered:
            self.breaches.append("a response while calls are unanswered")
        self._model.play(self, command)

    def _cancel(self) -> None:
        if self.active is None:
            self.emit(NothingToCancel())
        elif self.acknowledge_cancel:
            self.emit(
                ResponseDone(
                    response_id=self.active,
                    status=ResponseStatus.CANCELLED,
                    reason="client_cancelled",
                )
            )


class FakeModel:
    """Opens sessions and plays a script for each response."""

    def __init__(self) -> None:
        """Answer everything with "OK." until scripted."""
        self.sessions: list[FakeSession] = []
        self.scripts: deque[Script] = deque()
        self.connects: deque[Exception | float] = deque()
        """What the next connects come to: an error, or seconds until they succeed."""
        self._numbers = itertools.count(1)

    @property
    def session(self) -> FakeSession:
        """Return the newest session."""
        return self.sessions[-1]

    async def connect(self, config: SessionConfig) -> FakeSession:
        """Open a session."""
        if self.connects:
            outcome = self.connects.popleft()
            if isinstance(outcome, Exception):
                raise outcome
            await asyncio.sleep(outcome)
        session = FakeSession(self, config)
        self.sessions.append(session)
        return session

    def script(self, *scripts: Script) -> None:
        """Queue scripts for the next responses."""
        self.scripts.extend(scripts)

    def play(self, session: FakeSession, command: CreateResponse) -> None:
        """Begin the next scripted response."""
        session.active = f"resp_{next(self._numbers)}"
        script = self.scripts.popleft() if self.scripts else say("OK.")
        script(session, command)


def started(session: FakeSession, command: CreateResponse) -> str:
    """Report the start of the active response; return its id."""
    assert session.active is not None
    session.emit(ResponseStarted(response_id=session.active, request_id=command.id))
    return session.active


def say(*pieces: str, status: ResponseStatus = ResponseStatus.COMPLETED) -> Script:
    """Answer with text."""

    def play(session: FakeSession, command: CreateResponse) -> None:
        response = started(session, command)
        for piece in pieces:
            session.emit(TextDelta(response_id=response, item_id="item", text=piece))
        session.emit(ResponseDone(response_id=response, status=status))

    return play


def slowly(script: Script, seconds: float) -> Script:
    """Begin a response only after a while."""

    def play(session: FakeSession, command: CreateResponse) -> None:
        asyncio.get_running_loop().call_later(seconds, script, session, command)

    return play


def call(
    *calls: tuple[str, Any],
    text: str = "",
    status: ResponseStatus = ResponseStatus.COMPLETED,
    failure: Failure | None = None,
) -> Script:
    """Answer with calls: names and arguments (a text is sent as it is)."""

    def play(session: FakeSession, command: CreateResponse) -> None:
        response = started(session, command)
        if text:
            session.emit(TextDelta(response_id=response, item_id="item", text=text))
        for number, (name, arguments) in enumerate(calls):
            raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
            session.emit(
                ToolCallReady(
                    response_id=response,
                    call=ToolCall(
                        call_id=f"{response}.{number}", name=name, arguments=raw
                    ),
                )
            )
        session.emit(ResponseDone(response_id=response, status=status, failure=failure))

    return play


def hang(*pieces: str) -> Script:
    """Begin to answer and never end."""

    def play(session: FakeSession, command: CreateResponse) -> None:
        response = started(session, command)
        for piece in pieces:
            session.emit(TextDelta(response_id=response, item_id="item", text=piece))

    return play


def silence(_session: FakeSession, _command: CreateResponse) -> None:
    """Do not even begin."""


class FakeJournal:
    """A journal in memory."""

    def __init__(self) -> None:
        """Start empty and well."""
        self.records: list[Record] = []
        self.is_broken = False

    async def open(self) -> list[Record]:
        """Return everything."""
        return list(self.records)

    async def append(self, record: Record) -> None:
        """Keep a record."""
        if self.is_broken:
            raise JournalError("the disk is full")
        self.records.append(record)

    async def compact(self, records: Sequence[Record]) -> None:
        """Replace everything."""
        self.records = list(records)

    async def close(self) -> None:
        """Do nothing."""


class FakeRunner:
    """Runs tasks until a test ends them."""

    def __init__(self) -> None:
        """Start with nothing to run."""
        self.runs: list[RunRequest] = []
        self.safe_point_s = 0.0
        self.steers: list[tuple[str, Steer]] = []
        self._ends: dict[str, asyncio.Future[RunResult]] = {}

    async def run(
        self, request: RunRequest, on_step: Callable[[str], None]
    ) -> RunResult:
        """Wait for the test."""
        self.runs.append(request)
        on_step("looking at the screen")
        end: asyncio.Future[RunResult] = asyncio.get_running_loop().create_future()
        self._ends[request.task_id] = end
        try:
            return await end
        except asyncio.CancelledError:
            await asyncio.sleep(self.safe_point_s)
            raise

    def end(self, task_id: str, result: RunResult) -> None:
        """End a run."""
        self._ends.pop(task_id).set_result(result)

    def steer(self, task_id: str, steer: Steer) -> None:
        """Keep it."""
        self.steers.append((task_id, steer))

    def revoke(self, task_id: str) -> None:
        """Do nothing."""

    def fence(self, task_id: str) -> None:
        """Do nothing."""


class World:
    """The foreground with everything below it."""

    def __init__(
        self, *, idle_close_s: float = 300.0, journal: FakeJournal | None = None
    ) -> None:
        """Build the rooms; nothing is open."""
        self.model = FakeModel()
        self.runner = FakeRunner()
        self.user_journal = FakeJournal()
        self.phone_problem: str | None = None
        self.held: list[float] = []
        self.tasks = TaskManager(
            journal=journal or FakeJournal(), runner=self.runner, now=self.now
        )
        self.transcript = Transcript(self.user_journal)
        self.foreground = Foreground(
            connect=self.model.connect,
            tasks=self.tasks,
            transcript=self.transcript,
            now=self.now,
            phone_ready=lambda: self.phone_problem,
            hold=self.held.append,
            is_person=self._is_person,
            time_zone=_zone,
            idle_close_s=idle_close_s,
        )

    async def _is_person(self, speaker: Origin) -> bool:
        """Know one person."""
        return speaker.user_id == SPEAKER.user_id

    @staticmethod
    def now() -> datetime:
        """Return the virtual time."""
        seconds = asyncio.get_running_loop().time()
        return datetime(2026, 11, 2, 8, 0, tzinfo=UTC) + timedelta(seconds=seconds)

    async def say(self, text: str, *, speaker: Origin = SPEAKER) -> str:
        """Have a conversation turn; return the whole answer."""
        return "".join(
            [piece async for piece in self.foreground.converse(text, speaker=speaker)]
        )

    async def ended_task(
        self,
        goal: str = "file the expense",
        *,
        result: str = "Filed.",
        outcome: Outcome = Outcome.ACHIEVED,
        end: RunEnd = RunEnd.COMPLETED,
    ) -> Task:
        """Return a task that has ended and was not told."""
        task = await self.running_task(goal)
        self.runner.end(task.id, RunResult(end=end, text=result, outcome=outcome))
        await until(lambda: self.tasks.get(task.id).status.is_terminal)
        return self.tasks.get(task.id)

    async def running_task(self, goal: str = "file the expense") -> Task:
        """Return a task that is in work."""
        known = tuple(task.id for task in self.tasks.tasks())
        task = await self.tasks.create(goal, origin=SPEAKER, distinct_from=known)
        await until(lambda: any(run.task_id == task.id for run in self.runner.runs))
        return self.tasks.get(task.id)

    async def waiting_task(self, question: Question) -> Task:
        """Return a task that waits for the person."""
        task = await self.running_task()
        self.runner.end(task.id, RunResult(end=RunEnd.PAUSED, question=question))
        await until(lambda: self.tasks.get(task.id).is_waiting)
        return self.tasks.get(task.id)

    def history(self) -> list[tuple[str, str]]:
        """Return the transcript as roles and texts."""
        return [(str(entry.role), entry.text) for entry in self.transcript.entries]


@contextlib.asynccontextmanager
async def world(**options: Any) -> AsyncIterator[World]:
    """Give a world; at the end nothing may be left and no rule may have been broken."""
    before = asyncio.all_tasks()
    made = World(**options)
    await made.tasks.load()
    await made.transcript.load()
    made.tasks.start()
    try:
        yield made
    finally:
        await made.tasks.close()
        await made.foreground.close()
        await made.transcript.close()
    for number, session in enumerate(made.model.sessions):
        assert session.closed is not None, f"session {number} was left open"
        assert session.breaches == []
    left = {task for task in asyncio.all_tasks() - before if not task.done()}
    assert not left


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition, for 20 minutes of virtual time at most."""
    async with asyncio.timeout(1200):
        while not condition():
            await asyncio.sleep(0.01)


async def _zone(name: str) -> tzinfo | None:
    """Know one zone; no file is read in virtual time."""
    return timezone(timedelta(hours=9), name) if name == "Asia/Tokyo" else None
