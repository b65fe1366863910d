"""Invariants that hold whatever model, provider and caller do."""

import asyncio
from collections import Counter
import contextlib
import json

from hypothesis import given, settings, strategies as st

from custom_components.aiden_duplex.foreground.errors import ForegroundBusyError
from custom_components.aiden_duplex.models.errors import ModelError, ModelErrorKind
from custom_components.aiden_duplex.models.realtime.events import (
    Failure,
    ResponseDone,
    ResponseRefused,
    ResponseStatus,
    SessionError,
)
from custom_components.aiden_duplex.models.realtime.session import (
    AddNotice,
    CreateResponse,
    Replay,
)
from tests.examples import examples
from tests.foreground.fakes import (
    SPEAKER,
    FakeSession,
    Script,
    World,
    call,
    hang,
    say,
    silence,
    started,
    world,
)
from tests.virtual_time import run


def _refuse(session: FakeSession, command: CreateResponse) -> None:
    session.emit(ResponseRefused(request_id=command.id))
    session.later(1, ResponseDone(response_id="other", status=ResponseStatus.COMPLETED))


def _lose(session: FakeSession, command: CreateResponse) -> None:
    started(session, command)
    session.end(1011, "Internal error", kind=ModelErrorKind.SERVER)


def _expire(session: FakeSession, _command: CreateResponse) -> None:
    session.end(1001, "maximum duration of 60 minutes")


def _reject(session: FakeSession, command: CreateResponse) -> None:
    session.active = None
    session.emit(
        SessionError(
            failure=Failure(kind=ModelErrorKind.BAD_REQUEST, message="no"),
            command_id=command.id,
        )
    )


def _slow(session: FakeSession, command: CreateResponse) -> None:
    response = started(session, command)
    session.later(
        3, ResponseDone(response_id=response, status=ResponseStatus.COMPLETED)
    )


_SCRIPTS: list[Script] = [
    say("Fine."),
    say(""),
    call(("create_agent_task", {"task": "x"})),
    call(("query_agent_task", ""), ("cancel_agent_task", "{"), text="Let me see."),
    call(("end_conversation", {})),
    call(("no_such_tool", {}), status=ResponseStatus.INCOMPLETE),
    call(("create_agent_task", {"task": "x"}), status=ResponseStatus.CANCELLED),
    say("Half", status=ResponseStatus.FAILED),
    hang("Well"),
    silence,
    _refuse,
    _lose,
    _expire,
    _reject,
    _slow,
]
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["say", "leave", "both", "task", "wait"]),
        st.lists(st.sampled_from(range(len(_SCRIPTS))), max_size=4),
    ),
    max_size=6,
)


async def _step(w: World, kind: str) -> None:
    expected = contextlib.suppress(ModelError, ForegroundBusyError, TimeoutError)
    match kind:
        case "say":
            with expected:
                await w.say("hello")
        case "leave":
            stream = w.foreground.converse("hello", speaker=SPEAKER)
            with expected:
                async with asyncio.timeout(2):
                    await anext(stream, None)
            await stream.aclose()
        case "both":
            turns = [asyncio.create_task(w.say("hello")) for _ in range(2)]
            await asyncio.wait(turns)
            for turn in turns:
                with expected:
                    turn.result()
        case "task":
            if not w.tasks.outstanding():
                await w.ended_task()
        case "wait":
            await asyncio.sleep(400)


def _reports(w: World) -> Counter[str]:
    """Return how often each task was reported to a model."""
    return Counter(
        json.loads(line)["task_id"]
        for session in w.model.sessions
        for notice in session.sent(AddNotice)
        if notice.notice.label == "TASK UPDATE"
        for line in notice.notice.text.splitlines()[1:]
    )


@settings(max_examples=examples(100), deadline=None)
@given(_STEPS)
def test_an_ending_is_told_until_it_is_heard_and_not_once_more(
    steps: list[tuple[str, list[int]]],
) -> None:
    """Never lost, never repeated to who heard it, three times at most to who did not."""

    async def main() -> None:
        async with world() as w:
            heard: dict[str, int] = {}
            await w.ended_task()
            for kind, numbers in [*steps, ("say", []), ("say", [])]:
                w.model.scripts.clear()
                w.model.script(*(_SCRIPTS[number] for number in numbers))
                await _step(w, kind)
                await asyncio.sleep(10)
                reports = _reports(w)
                for task in w.tasks.tasks():
                    assert task.tellings <= min(reports[task.id], w.tasks.most_tellings)
                    if task.heard is not None:
                        count = heard.setdefault(task.id, reports[task.id])
                        assert reports[task.id] == count, "told again"
            ended = [task for task in w.tasks.tasks() if task.status.is_terminal]
            assert ended
            for task in ended:
                assert task.heard or task.tellings == w.tasks.most_tellings
                assert (task.id in w.foreground.snapshot.unheard) == (not task.heard)

    run(main())


@settings(max_examples=examples(100), deadline=None)
@given(_STEPS)
def test_calls_and_outputs_balance_and_the_conversation_always_goes_on(
    steps: list[tuple[str, list[int]]],
) -> None:
    """One response out, one output per call, balanced history, and the next text is answered."""

    async def main() -> None:
        async with world() as w:
            for kind, numbers in steps:
                w.model.scripts.clear()
                w.model.script(*(_SCRIPTS[number] for number in numbers))
                await _step(w, kind)
            w.model.scripts.clear()
            await asyncio.sleep(10)
            assert await w.say("still there?") == "OK."
            _check_history(w)
            for session in w.model.sessions:
                assert session.shape().startswith("p") == bool(session.sent(Replay))

    run(main())


def _check_history(w: World) -> None:
    entries = w.transcript.entries
    for entry, following in zip(entries, [*entries[1:], None], strict=False):
        assert entry.text.strip()
        if entry.role == "tool_call":
            assert following is not None
            assert (following.role, following.call_id) == (
                "tool_result",
                entry.call_id,
            )
