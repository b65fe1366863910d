"""A text conversation: sessions, order, tools, and what models and providers get wrong."""

import asyncio
import json
from typing import Any

import pytest

from custom_components.aiden_duplex.foreground.errors import ForegroundBusyError, Guard
from custom_components.aiden_duplex.foreground.foreground import ForegroundState
from custom_components.aiden_duplex.memory.entries import Entry, Role
from custom_components.aiden_duplex.models.errors import ModelError, ModelErrorKind
from custom_components.aiden_duplex.models.realtime.events import (
    Failure,
    ResponseDone,
    ResponseRefused,
    ResponseStarted,
    ResponseStatus,
    SessionError,
    TextDelta,
    TextFinal,
    TextSource,
    ToolCallReady,
)
from custom_components.aiden_duplex.models.realtime.session import (
    AddNotice,
    AddText,
    AddToolOutput,
    AssistantText,
    CallWithOutput,
    CancelResponse,
    CreateResponse,
    Modality,
    Replay,
    UserText,
)
from custom_components.aiden_duplex.models.tools import ToolCall
from tests.foreground.fakes import (
    SPEAKER,
    FakeSession,
    World,
    call,
    hang,
    say,
    silence,
    started,
    until,
    world,
)
from tests.virtual_time import run

_TASK = {"task": "Turn on airplane mode."}


# ----- sessions -----------------------------------------------------------------------


def test_the_first_text_opens_a_session_and_is_its_first_message() -> None:
    """No session: the text waits for it and becomes its first message."""

    async def main() -> None:
        async with world() as w:
            w.model.connects.append(3.0)
            w.model.script(say("Hel", "lo."))
            pieces = [
                piece async for piece in w.foreground.converse(" hi ", speaker=SPEAKER)
            ]
            assert "".join(pieces) == "Hello."
            assert w.model.session.shape() == "tr"
            assert w.model.session.sent(AddText)[0].text == "hi"
            assert w.history() == [("user", "hi"), ("assistant", "Hello.")]
            assert w.transcript.entries[0].speaker == "user_1"
            config = w.model.session.config
            assert config.modality is Modality.TEXT
            assert [tool.name for tool in config.tools] == [
                "create_agent_task",
                "update_agent_task",
                "query_agent_task",
                "cancel_agent_task",
                "pause_agent_task",
                "response_user_action",
                "get_current_time",
                "end_conversation",
            ]
            assert "language the person writes in" in config.instructions

    run(main())


def test_the_session_stays_for_the_next_text() -> None:
    """One session carries many turns."""

    async def main() -> None:
        async with world() as w:
            assert await w.say("a") == "OK."
            assert await w.say("b") == "OK."
            assert len(w.model.sessions) == 1
            assert w.model.session.shape() == "trtr"
            assert w.foreground.snapshot.state is ForegroundState.IDLE

    run(main())


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_an_empty_text_is_no_turn(text: str) -> None:
    """[77] Nothing is asked, nothing is kept."""

    async def main() -> None:
        async with world() as w:
            assert await w.say(text) == ""
            assert w.model.sessions == []
            assert w.history() == []

    run(main())


def test_an_idle_session_is_closed_and_the_next_text_opens_another() -> None:
    """Five minutes without a text."""

    async def main() -> None:
        async with world() as w:
            await w.say("a")
            await asyncio.sleep(299)
            assert str(w.foreground.snapshot.state) == "idle"
            await asyncio.sleep(2)
            assert w.model.session.closed
            assert str(w.foreground.snapshot.state) == "standby"
            assert await w.say("b") == "OK."
            assert len(w.model.sessions) == 2

    run(main())


def test_a_long_answer_is_not_idle() -> None:
    """The idle time runs between turns only."""

    async def main() -> None:
        async with world(idle_close_s=5) as w:
            await w.say("a")

            def slow(session: FakeSession, command: CreateResponse) -> None:
                response = started(session, command)
                session.later(
                    30,
                    TextDelta(response_id=response, item_id="i", text="There."),
                    ResponseDone(response_id=response, status=ResponseStatus.COMPLETED),
                )

            w.model.script(slow)
            assert await w.say("b") == "There."
            assert len(w.model.sessions) == 1

    run(main())


async def _remember(w: World, *entries: Entry) -> None:
    await w.transcript.append(*entries)


def _entry(role: Role, text: str, **more: Any) -> Entry:
    return Entry(role=role, text=text, at=World.now(), **more)


def _pair(call_id: str, name: str, arguments: str, output: str) -> tuple[Entry, Entry]:
    return (
        _entry(Role.TOOL_CALL, arguments, call_id=call_id, name=name),
        _entry(Role.TOOL_RESULT, output, call_id=call_id, name=name),
    )


def test_a_new_session_is_told_the_latest_ten_turns_quietly() -> None:
    """Items only: no response, pairs whole, notices with their label, the text once."""

    async def main() -> None:
        async with world() as w:
            for number in range(12):
                await _remember(w, _entry(Role.USER, f"u{number}"))
                await _remember(w, _entry(Role.ASSISTANT, f"a{number}"))
            await _remember(w, *_pair("c", "query_agent_task", "{}", '{"tasks":[]}'))
            await _remember(w, _entry(Role.NOTICE, "[TASK UPDATE]: x"))
            await w.say("now")
            assert w.model.session.shape() == "ptr"
            items = w.model.session.sent(Replay)[0].items
            assert items[0] == UserText(text="u2")
            assert items[1] == AssistantText(text="a2")
            assert items[-2:] == (
                CallWithOutput(
                    call=ToolCall(
                        call_id="replay_1", name="query_agent_task", arguments="{}"
                    ),
                    output='{"tasks":[]}',
                ),
                UserText(text="[TASK UPDATE]: x"),
            )
            assert UserText(text="now") not in items

    run(main())


def test_a_replayed_goodbye_does_not_end_the_next_conversation() -> None:
    """[111] The history ends with a goodbye and the call that ended the conversation."""

    async def main() -> None:
        async with world() as w:
            await _remember(w, _entry(Role.USER, "goodbye"))
            await _remember(
                w, *_pair("c", "end_conversation", "{}", '{"status":"ending"}')
            )
            await _remember(w, _entry(Role.ASSISTANT, "Goodbye!"))
            assert await w.say("what time is it?") == "OK."
            (replay,) = w.model.session.sent(Replay)
            assert replay.items == (
                UserText(text="goodbye"),
                AssistantText(text="Goodbye!"),
            )
            assert w.model.session.closed is None

    run(main())


def test_output_nobody_asked_for_is_not_new() -> None:
    """[113] The server sends old responses again after a resume: nothing runs, nothing is said."""

    async def main() -> None:
        async with world() as w:

            def resume(session: FakeSession, command: CreateResponse) -> None:
                for _ in range(2):
                    session._events.put_nowait(
                        ToolCallReady(
                            response_id="old",
                            call=ToolCall(
                                call_id="old_call",
                                name="create_agent_task",
                                arguments=json.dumps(_TASK),
                            ),
                        )
                    )
                say("Fine.")(session, command)

            w.model.script(say("First."))
            await w.say("a")
            session = w.model.session
            session._events.put_nowait(
                TextDelta(response_id="old", item_id="i", text="OLD")
            )
            session._events.put_nowait(
                ResponseDone(response_id="old", status=ResponseStatus.COMPLETED)
            )
            await asyncio.sleep(1)
            w.model.script(resume)
            assert await w.say("b") == "Fine."
            assert w.tasks.tasks() == []
            assert session.sent(AddToolOutput) == []

    run(main())


# ----- order --------------------------------------------------------------------------


def test_three_texts_at_once_are_answered_one_after_the_other() -> None:
    """[3] Three texts within 50 ms: in order, one response at a time, none refused."""

    async def main() -> None:
        async with world() as w:

            def echo(session: FakeSession, command: CreateResponse) -> None:
                response = started(session, command)
                text = session.sent(AddText)[-1].text
                session.later(
                    1,
                    TextDelta(response_id=response, item_id="i", text=text.upper()),
                    ResponseDone(response_id=response, status=ResponseStatus.COMPLETED),
                )

            w.model.script(echo, echo, echo)
            turns = []
            for text in ("a", "b", "c"):
                turns.append(asyncio.create_task(w.say(text)))
                await asyncio.sleep(0.02)
            assert await asyncio.gather(*turns) == ["A", "B", "C"]
            assert w.model.session.shape() == "trtrtr"
            assert w.history() == [
                ("user", "a"),
                ("assistant", "A"),
                ("user", "b"),
                ("assistant", "B"),
                ("user", "c"),
                ("assistant", "C"),
            ]

    run(main())


def test_a_text_waits_five_seconds_for_the_one_before_and_is_then_refused() -> None:
    """Busy names what stands in the way."""

    async def main() -> None:
        async with world() as w:
            w.model.script(hang("Well"))
            first = asyncio.create_task(w.say("a"))
            await asyncio.sleep(1)
            loop = asyncio.get_running_loop()
            begun = loop.time()
            with pytest.raises(ForegroundBusyError) as caught:
                await w.say("b")
            assert caught.value.guard is Guard.RESPONSE
            assert loop.time() - begun == pytest.approx(5)
            assert w.history() == [("user", "a")]
            assert not first.done()
            first.cancel()
            await asyncio.wait({first})

    run(main())


def test_busy_while_connecting() -> None:
    """The guard is the connection."""

    async def main() -> None:
        async with world() as w:
            w.model.connects.append(20.0)
            first = asyncio.create_task(w.say("a"))
            await asyncio.sleep(1)
            assert w.foreground.snapshot.state is ForegroundState.CONNECTING
            with pytest.raises(ForegroundBusyError) as caught:
                await w.say("b")
            assert caught.value.guard is Guard.CONNECTING
            assert await first == "OK."

    run(main())


@pytest.mark.parametrize("is_named", [True, False])
def test_a_refused_request_is_sent_again_after_the_other_response(
    is_named: bool,
) -> None:
    """[1] [2] Another response is active: ours waits for its end, once, without a stall."""

    async def main() -> None:
        async with world() as w:
            await w.say("hello")
            session = w.model.session
            session.active = "resp_foreign"
            session.emit(ResponseStarted(response_id="resp_foreign"))

            def refuse(command: CreateResponse) -> None:
                session.emit(
                    ResponseRefused(request_id=command.id if is_named else None)
                )

            # Our request crosses the provider's own start on the wire.
            session._create = refuse  # type: ignore[method-assign]
            session._events.get_nowait()
            turn = asyncio.create_task(w.say("a"))
            await asyncio.sleep(0.1)
            assert session.shape() == "trtr"
            del session._create
            session.emit(
                TextDelta(response_id="resp_foreign", item_id="i", text="NOT OURS"),
                ResponseDone(
                    response_id="resp_foreign", status=ResponseStatus.COMPLETED
                ),
            )
            begun = asyncio.get_running_loop().time()
            assert await turn == "OK."
            assert asyncio.get_running_loop().time() - begun < 0.01
            assert session.shape() == "trtrr"
            assert len(session.sent(AddText)) == 2

    run(main())


def test_a_response_of_the_providers_own_is_waited_for() -> None:
    """[4] The single sender sends nothing while another response is known to be active."""

    async def main() -> None:
        async with world() as w:
            await w.say("hello")
            session = w.model.session
            session.active = "resp_foreign"
            session.emit(ResponseStarted(response_id="resp_foreign"))
            turn = asyncio.create_task(w.say("a"))
            await asyncio.sleep(1)
            assert session.shape() == "trt"
            session.emit(
                ResponseDone(
                    response_id="resp_foreign", status=ResponseStatus.COMPLETED
                )
            )
            assert await turn == "OK."
            assert session.shape() == "trtr"

    run(main())


def test_calls_of_the_response_in_the_way_are_run_for_the_request_that_waits() -> None:
    """The provider answered by itself and called: it runs once, and ours goes on from there."""

    async def main() -> None:
        async with world() as w:
            await w.say("hello")
            session = w.model.session

            def cross(command: CreateResponse) -> None:
                session.active = "resp_foreign"
                session.emit(
                    ResponseStarted(response_id="resp_foreign"),
                    ResponseRefused(request_id=command.id),
                    ToolCallReady(
                        response_id="resp_foreign",
                        call=ToolCall(
                            call_id="c",
                            name="create_agent_task",
                            arguments=json.dumps(_TASK),
                        ),
                    ),
                    ResponseDone(
                        response_id="resp_foreign", status=ResponseStatus.COMPLETED
                    ),
                )
                del session._create

            session._create = cross  # type: ignore[method-assign]
            w.model.script(say("On it."))
            assert await w.say("turn on airplane mode") == "On it."
            assert len(w.tasks.tasks()) == 1
            assert session.shape() == "tr" + "tror"

    run(main())


def test_calls_of_a_response_of_the_providers_own_are_answered_but_not_run() -> None:
    """An unanswered call would stand in the conversation for ever."""

    async def main() -> None:
        async with world() as w:
            await w.say("hello")
            session = w.model.session
            session.active = "resp_foreign"
            session.emit(
                ResponseStarted(response_id="resp_foreign"),
                ToolCallReady(
                    response_id="resp_foreign",
                    call=ToolCall(
                        call_id="c",
                        name="create_agent_task",
                        arguments=json.dumps(_TASK),
                    ),
                ),
                ResponseDone(
                    response_id="resp_foreign", status=ResponseStatus.COMPLETED
                ),
            )
            await asyncio.sleep(1)
            assert [output["error"] for output in session.outputs()] == ["not_executed"]
            assert w.tasks.tasks() == []
            assert await w.say("b") == "OK."

    run(main())


def test_a_provider_that_always_refuses_is_given_up() -> None:
    """Every retry has a cap."""

    async def main() -> None:
        async with world() as w:
            await w.say("hello")
            session = w.model.session

            def refuse(command: CreateResponse) -> None:
                session.emit(
                    ResponseRefused(request_id=command.id),
                    ResponseDone(
                        response_id=f"other_{len(session.commands)}",
                        status=ResponseStatus.COMPLETED,
                    ),
                )

            session._create = refuse  # type: ignore[method-assign]
            with pytest.raises(ModelError) as caught:
                await w.say("a")
            assert caught.value.kind is ModelErrorKind.SERVER
            assert session.shape() == "trt" + "r" * 9
            del session._create
            assert await w.say("b") == "OK."

    run(main())


@pytest.mark.parametrize("by_name", [True, False])
def test_a_refusal_that_no_end_follows_costs_seconds(by_name: bool) -> None:
    """What was in the way is over, or never was: the request goes again by itself."""

    async def main() -> None:
        async with world() as w:
            await w.say("hello")
            session = w.model.session

            def refuse(command: CreateResponse) -> None:
                session.emit(
                    ResponseRefused(request_id=command.id if by_name else None)
                )
                del session._create

            session._create = refuse  # type: ignore[method-assign]
            began = asyncio.get_running_loop().time()
            assert await w.say("a") == "OK."
            assert asyncio.get_running_loop().time() - began < 6
            assert session.shape() == "tr" + "trr"

    run(main())


def test_a_provider_that_refuses_and_reports_no_end_is_given_up() -> None:
    """Before the turn's own limit, which would close the session."""

    async def main() -> None:
        async with world() as w:
            await w.say("hello")
            session = w.model.session
            session._create = lambda command: session.emit(  # type: ignore[method-assign]
                ResponseRefused(request_id=command.id)
            )
            with pytest.raises(ModelError, match="keeps refusing") as caught:
                await w.say("a")
            assert caught.value.kind is ModelErrorKind.SERVER
            assert session.shape() == "trt" + "r" * 9
            assert session.closed is None

    run(main())


# ----- tools --------------------------------------------------------------------------


def test_a_task_is_created_and_the_answer_goes_on() -> None:
    """Call, output, exactly one continuation; the whole answer is one text."""

    async def main() -> None:
        async with world() as w:
            w.model.script(
                call(("create_agent_task", _TASK), text="Let me see."), say("On it.")
            )
            assert await w.say("turn on airplane mode") == "Let me see. On it."
            (task,) = w.tasks.tasks()
            assert task.prompt == "Turn on airplane mode."
            assert task.origin == SPEAKER
            assert w.model.session.shape() == "tror"
            (output,) = w.model.session.outputs()
            assert output["task_id"] == task.id
            assert output["status"] == "queued"
            assert "NOT done yet" in output["note"]
            assert [role for role, _ in w.history()] == [
                "user",
                "assistant",
                "tool_call",
                "tool_result",
                "assistant",
            ]
            assert w.foreground.snapshot.last_turn is not None
            assert w.foreground.snapshot.last_turn.tools == ("create_agent_task",)

    run(main())


def test_a_claim_without_a_call_can_be_seen() -> None:
    """[82] "I am opening the app now" with no call: the turn says that nothing was started."""

    async def main() -> None:
        async with world() as w:
            w.model.script(say("Okay, I am opening the app now."))
            await w.say("open the app")
            report = w.foreground.snapshot.last_turn
            assert report is not None
            assert report.is_complete
            assert report.tools == ()
            assert w.tasks.tasks() == []
            text = w.model.session.config.instructions
            assert "Call first, speak after" in text

    run(main())


def test_parallel_calls_of_one_tool_get_one_output_each() -> None:
    """[23] Two calls, same name: matched by id, then one continuation."""

    async def main() -> None:
        async with world() as w:
            first, second = (
                await w.running_task("a"),
                await w.tasks.create("b", origin=SPEAKER),
            )
            w.model.script(
                call(
                    ("query_agent_task", {"task_id": first.id}),
                    ("query_agent_task", {"task_id": second.id}),
                ),
                say("Both."),
            )
            assert await w.say("how is it?") == "Both."
            assert w.model.session.shape() == "troor"
            outputs = w.model.session.outputs()
            assert [output["task"] for output in outputs] == ["a", "b"]
            assert outputs[0]["step"] == "looking at the screen"
            assert outputs[1]["queue_position"] == 1

    run(main())


@pytest.mark.parametrize("arguments", ["", "null", "{}", "  "])
def test_no_arguments_have_many_spellings(arguments: str) -> None:
    """[38] A tool without arguments streams "" or null."""

    async def main() -> None:
        async with world() as w:
            w.model.script(call(("query_agent_task", arguments)), say("Nothing."))
            assert await w.say("what are you doing?") == "Nothing."
            (output,) = w.model.session.outputs()
            assert output["tasks"] == []
            assert all(text for _, text in w.history())

    run(main())


@pytest.mark.parametrize("arguments", ['{"task_id": ', "[]", '{"id": "all"}', "{}"])
def test_a_call_with_broken_arguments_cancels_nothing(arguments: str) -> None:
    """[40] Never run with other arguments than the model wrote."""

    async def main() -> None:
        async with world() as w:
            task = await w.running_task()
            w.model.script(call(("cancel_agent_task", arguments)), say("Hm."))
            await w.say("stop")
            (output,) = w.model.session.outputs()
            assert output["error"] == "invalid_arguments"
            assert "Call it again" in output["what_to_do"]
            assert w.tasks.get(task.id).status == "running"

    run(main())


def test_broken_arguments_are_asked_for_again_twice_at_most() -> None:
    """[36] [37] The history stays balanced, and in the end the model must answer."""

    async def main() -> None:
        async with world() as w:
            broken = call(("create_agent_task", '{"domain": sensor, "x": 1'))
            w.model.script(broken, broken, broken, say("It failed."))
            assert await w.say("a") == "It failed."
            session = w.model.session
            assert session.shape() == "tror" + "or" + "onr"
            assert [c.use_tools for c in session.sent(CreateResponse)] == [
                True,
                True,
                True,
                False,
            ]
            assert [role for role, _ in w.history()].count("tool_call") == 3
            assert [role for role, _ in w.history()].count("tool_result") == 3

    run(main())


def test_an_unknown_tool_is_answered() -> None:
    """An invented name gets an output that names the real ones."""

    async def main() -> None:
        async with world() as w:
            w.model.script(call(("open_app", {"name": "x"})), say("I cannot."))
            assert await w.say("a") == "I cannot."
            (output,) = w.model.session.outputs()
            assert output["error"] == "unknown_tool"
            assert "create_agent_task" in output["what_to_do"]

    run(main())


def test_after_ten_rounds_the_model_must_answer_without_tools() -> None:
    """[37] [44] Endless calls: the last response has no tools and an instruction to answer."""

    async def main() -> None:
        async with world() as w:
            for number in range(40):
                w.model.script(
                    call(("get_current_time", {"timezone": f"Zone/{number}"}))
                )
            w.model.scripts.insert(10, say("It is late."))
            assert await w.say("a") == "It is late."
            requests = w.model.session.sent(CreateResponse)
            assert [request.use_tools for request in requests] == [True] * 10 + [False]
            (notice,) = w.model.session.sent(AddNotice)
            assert notice.notice.label == "TOOL LIMIT"
            assert "No more tools" in notice.notice.text

    run(main())


def test_a_model_that_calls_although_it_may_not_is_stopped() -> None:
    """Even without tools it calls: the calls are answered, not run, and the turn ends."""

    async def main() -> None:
        async with world() as w:
            for number in range(40):
                w.model.script(
                    call(("get_current_time", {"timezone": f"Zone/{number}"}))
                )
            with pytest.raises(ModelError) as caught:
                await w.say("a")
            assert caught.value.kind is ModelErrorKind.PROTOCOL
            assert len(w.model.session.sent(CreateResponse)) == 12
            assert w.model.session.outputs()[-1]["error"] == "not_executed"
            w.model.scripts.clear()
            assert await w.say("b") == "OK."

    run(main())


def test_the_same_call_again_and_again_is_told_to_stop() -> None:
    """[44] The third identical call does not run; the next one ends the tools."""

    async def main() -> None:
        async with world() as w:
            again = call(("query_agent_task", {}))
            w.model.script(again, again, again, again, say("Nothing there."))
            assert await w.say("what is in my office?") == "Nothing there."
            outputs = w.model.session.outputs()
            assert [output.get("error") for output in outputs] == [
                None,
                None,
                "repeated_call",
                "repeated_call",
            ]
            assert w.model.session.sent(CreateResponse)[-1].use_tools is False

    run(main())


def test_an_empty_reply_after_a_tool_is_asked_for_again_and_never_kept() -> None:
    """[42] The model returns "" after a tool."""

    async def main() -> None:
        async with world() as w:
            w.model.script(call(("query_agent_task", {})), say(""), say("All quiet."))
            assert await w.say("a") == "All quiet."
            assert w.model.session.shape() == "tror" + "nr"
            assert all(text.strip() for _, text in w.history())

    run(main())


def test_of_many_calls_in_one_response_sixteen_run() -> None:
    """The others are answered before the next response, and the model may call again."""

    async def main() -> None:
        async with world() as w:
            zones = [
                ("get_current_time", {"timezone": f"Zone/{number}"})
                for number in range(20)
            ]
            w.model.script(call(*zones), say("It is late."))
            assert await w.say("a") == "It is late."
            outputs = w.model.session.outputs()
            assert len(outputs) == 20
            assert all(output.get("error") != "not_executed" for output in outputs[:16])
            assert [output["error"] for output in outputs[16:]] == ["not_executed"] * 4
            assert w.model.session.shape() == "tr" + "o" * 20 + "r"

    run(main())


def test_a_response_that_only_calls_ends_the_session() -> None:
    """Nothing of it runs, nothing grows without end, and the next text is answered."""

    async def main() -> None:
        async with world() as w:
            tasks = [
                ("create_agent_task", {"task": f"Do {number}."}) for number in range(65)
            ]
            w.model.script(call(*tasks))
            with pytest.raises(ModelError, match="did not stop calling") as caught:
                await w.say("a")
            assert caught.value.kind is ModelErrorKind.PROTOCOL
            assert w.tasks.tasks() == []
            assert w.model.session.outputs() == []
            assert await w.say("b") == "OK."
            assert len(w.model.sessions) == 2

    run(main())


def test_a_model_without_an_answer_is_an_error() -> None:
    """Two empty replies: the person hears of it."""

    async def main() -> None:
        async with world() as w:
            w.model.script(say(""), say("  "))
            with pytest.raises(ModelError) as caught:
                await w.say("a")
            assert caught.value.kind is ModelErrorKind.PROTOCOL
            assert w.history() == [("user", "a")]
            assert await w.say("b") == "OK."

    run(main())


@pytest.mark.parametrize(
    ("status", "outputs"),
    [
        (ResponseStatus.CANCELLED, []),
        (ResponseStatus.INCOMPLETE, ["not_executed"]),
        (ResponseStatus.FAILED, ["not_executed"]),
    ],
)
def test_calls_run_only_in_a_completed_response(
    status: ResponseStatus, outputs: list[str]
) -> None:
    """[O4] The arguments are complete, but the response was not."""

    async def main() -> None:
        async with world() as w:
            failure = Failure(kind=ModelErrorKind.RATE_LIMITED, message="too many")
            w.model.script(
                call(("create_agent_task", _TASK), status=status, failure=failure)
            )
            with pytest.raises(ModelError) as caught:
                await w.say("a")
            assert w.tasks.tasks() == []
            found = [output["error"] for output in w.model.session.outputs()]
            assert found == outputs
            if status is not ResponseStatus.CANCELLED:
                assert caught.value.kind is ModelErrorKind.RATE_LIMITED
            assert await w.say("b") == "OK."
            assert len(w.model.sessions) == 1

    run(main())


def test_text_of_an_answer_that_failed_is_given_but_not_kept() -> None:
    """What was said reaches the person; the history holds completed answers only."""

    async def main() -> None:
        async with world() as w:
            w.model.script(say("Half an ans", status=ResponseStatus.FAILED))
            stream = w.foreground.converse("a", speaker=SPEAKER)
            assert await anext(stream) == "Half an ans"
            with pytest.raises(ModelError):
                await anext(stream)
            await until(lambda: w.foreground.snapshot.guard is None)
            assert [role for role, _ in w.history()] == ["user", "notice"]

    run(main())


def test_final_texts_and_transcripts_do_not_double_the_answer() -> None:
    """Deltas, finals, two parts, and a transcript of the same words."""

    async def main() -> None:
        async with world() as w:

            def play(session: FakeSession, command: CreateResponse) -> None:
                response = started(session, command)

                def text(kind: Any, item: str, words: str, source: TextSource) -> Any:
                    return kind(
                        response_id=response, item_id=item, text=words, source=source
                    )

                session.emit(
                    text(TextDelta, "i1", "One", TextSource.TEXT),
                    text(TextDelta, "i1", "One", TextSource.AUDIO),
                    text(TextFinal, "i1", "One.", TextSource.TEXT),
                    text(TextFinal, "i2", "Two.", TextSource.TEXT),
                    ResponseDone(response_id=response, status=ResponseStatus.COMPLETED),
                )

            w.model.script(play)
            assert await w.say("a") == "One. Two."
            assert w.history()[-1] == ("assistant", "One. Two.")

    run(main())


def test_a_server_without_ids_and_starts_is_understood() -> None:
    """[O7] No response id, no response.created."""

    async def main() -> None:
        async with world() as w:

            def play(session: FakeSession, _command: CreateResponse) -> None:
                session.emit(
                    TextDelta(response_id=None, item_id=None, text="Hi."),
                    ResponseDone(response_id=None, status=ResponseStatus.COMPLETED),
                )

            w.model.script(play, play)
            assert await w.say("a") == "Hi."
            assert await w.say("b") == "Hi."

    run(main())


# ----- trouble ------------------------------------------------------------------------


def test_a_failed_connect_reaches_the_caller_and_the_next_text_tries_again() -> None:
    """The words are kept; nothing hangs."""

    async def main() -> None:
        async with world() as w:
            w.model.connects.append(
                ModelError(ModelErrorKind.AUTHENTICATION, "The key was refused.")
            )
            with pytest.raises(ModelError) as caught:
                await w.say("a")
            assert caught.value.kind is ModelErrorKind.AUTHENTICATION
            assert await w.say("b") == "OK."
            (replay,) = w.model.session.sent(Replay)
            text, notice = replay.items
            assert text == UserText(text="a")
            assert isinstance(notice, UserText)
            assert notice.text.startswith("[INTERRUPTED]: ")
            assert "Do not act on that message" in notice.text

    run(main())


def test_a_connect_that_never_ends_has_a_deadline() -> None:
    """Every wait has a deadline."""

    async def main() -> None:
        async with world() as w:
            w.model.connects.append(10_000.0)
            with pytest.raises(ModelError) as caught:
                await w.say("a")
            assert caught.value.kind is ModelErrorKind.TIMEOUT

    run(main())


@pytest.mark.parametrize("code", [1000, 1001])
def test_expiry_between_turns_is_silent(code: int) -> None:
    """[5] Sixty minutes are over: the next text reconnects with the recent context."""

    async def main() -> None:
        async with world() as w:
            task = await w.running_task()
            await w.say("a")
            w.model.session.end(code, "maximum duration of 60 minutes")
            await until(lambda: w.foreground.snapshot.state is ForegroundState.STANDBY)
            assert w.tasks.get(task.id).status == "running"
            assert await w.say("b") == "OK."
            assert w.model.session.shape() == "ptr"
            assert w.model.session.config == w.model.sessions[0].config

    run(main())


def test_expiry_within_an_answer_is_an_error_and_one_notice() -> None:
    """[5] Mid-answer: the caller hears of it, no tool runs again, the task goes on."""

    async def main() -> None:
        async with world() as w:

            def expire(session: FakeSession, command: CreateResponse) -> None:
                hang("I have")(session, command)
                session.end(1001, "maximum duration of 60 minutes")

            w.model.script(call(("create_agent_task", _TASK)), expire)
            with pytest.raises(ModelError) as caught:
                await w.say("a")
            assert caught.value.kind is ModelErrorKind.NETWORK
            (task,) = w.tasks.tasks()
            assert not task.status.is_terminal
            assert await w.say("b") == "OK."
            assert len(w.tasks.tasks()) == 1
            notices = [text for role, text in w.history() if role == "notice"]
            assert len(notices) == 1
            assert notices[0].startswith("[INTERRUPTED]: ")
            (replay,) = w.model.session.sent(Replay)
            assert UserText(text=notices[0]) in replay.items
            assert w.model.session.shape() == "ptr"

    run(main())


def test_a_session_that_stood_open_and_is_lost_within_an_answer_is_not_tried_again() -> (
    None
):
    """A tool ran and the answer had begun: no second attempt behind the person's back."""

    async def main() -> None:
        async with world() as w:
            await w.say("hello")

            def lose(session: FakeSession, _command: CreateResponse) -> None:
                session.end(1006, "", kind=ModelErrorKind.NETWORK)

            w.model.script(call(("create_agent_task", _TASK)), lose)
            with pytest.raises(ModelError):
                await w.say("a")
            assert len(w.model.sessions) == 1
            assert len(w.tasks.tasks()) == 1

    run(main())


def test_a_session_that_died_unnoticed_costs_nothing() -> None:
    """[10] The socket is dead, sending shows it: one new session, the text once."""

    async def main() -> None:
        async with world() as w:
            await w.say("a")
            w.model.session.is_dead = True
            assert await w.say("b") == "OK."
            assert len(w.model.sessions) == 2
            assert w.model.session.shape() == "ptr"
            assert w.history().count(("user", "b")) == 1

    run(main())


def test_a_fresh_session_that_dies_at_once_is_not_tried_for_ever() -> None:
    """The provider kills every session: one error, no loop."""

    async def main() -> None:
        async with world() as w:

            def die(session: FakeSession, _command: CreateResponse) -> None:
                session.end(1011, "Internal error", kind=ModelErrorKind.SERVER)

            w.model.script(die, die, die, die)
            with pytest.raises(ModelError) as caught:
                await w.say("a")
            assert caught.value.kind is ModelErrorKind.SERVER
            assert len(w.model.sessions) == 1

    run(main())


def test_a_protocol_kill_keeps_code_and_reason() -> None:
    """[11] Closed with 1007 in the middle: the caller and diagnostics have both."""

    async def main() -> None:
        async with world() as w:

            def kill(session: FakeSession, command: CreateResponse) -> None:
                hang("So")(session, command)
                session.end(1007, "invalid argument", kind=ModelErrorKind.BAD_REQUEST)

            w.model.script(kill)
            with pytest.raises(ModelError, match="1007: invalid argument") as caught:
                await w.say("a")
            assert caught.value.kind is ModelErrorKind.BAD_REQUEST
            end = w.foreground.snapshot.last_end
            assert end is not None
            assert (end.code, end.reason) == (1007, "invalid argument")

    run(main())


@pytest.mark.parametrize("script", [silence, hang(), hang("Hm")])
def test_a_response_without_progress_is_given_up_after_a_minute(script: Any) -> None:
    """The session is closed; the next text opens another one."""

    async def main() -> None:
        async with world() as w:
            w.model.script(script)
            loop = asyncio.get_running_loop()
            begun = loop.time()
            with pytest.raises(ModelError) as caught:
                await w.say("a")
            assert caught.value.kind is ModelErrorKind.TIMEOUT
            assert loop.time() - begun == pytest.approx(60, abs=1)
            assert w.model.session.closed is not None
            assert await w.say("b") == "OK."
            assert len(w.model.sessions) == 2

    run(main())


def test_text_and_tools_put_the_deadline_off_and_nothing_else_does() -> None:
    """An answer of five minutes is fine; stale output does not keep a dead one alive."""

    async def main() -> None:
        async with world() as w:

            def slow(session: FakeSession, command: CreateResponse) -> None:
                response = started(session, command)
                for number in range(6):
                    session.later(
                        50 * (number + 1),
                        TextDelta(response_id=response, item_id="i", text="."),
                    )
                session.later(
                    350,
                    ResponseDone(response_id=response, status=ResponseStatus.COMPLETED),
                )

            w.model.script(slow)
            assert await w.say("a") == "......"

            def stale(session: FakeSession, command: CreateResponse) -> None:
                started(session, command)
                for number in range(30):
                    session.later(
                        10 * number,
                        TextDelta(response_id="other", item_id="i", text="x"),
                    )

            w.model.script(stale)
            loop = asyncio.get_running_loop()
            begun = loop.time()
            with pytest.raises(ModelError):
                await w.say("b")
            assert loop.time() - begun < 62

    run(main())


def test_an_answer_without_end_is_cut() -> None:
    """A model that babbles for ever is cancelled; the session goes on."""

    async def main() -> None:
        async with world() as w:
            w.model.script(hang(*["la " * 1000] * 50))
            with pytest.raises(ModelError, match="did not end"):
                await w.say("a")
            await until(lambda: w.foreground.snapshot.guard is None)
            assert w.model.session.shape() == "trxn"
            assert await w.say("b") == "OK."

    run(main())


@pytest.mark.parametrize("names", ["text", "response", None])
def test_a_refused_command_fails_the_turn_at_once(names: str | None) -> None:
    """No minute of silence when the provider says no."""

    async def main() -> None:
        async with world() as w:

            def refuse(session: FakeSession, command: CreateResponse) -> None:
                session.active = None
                named = {
                    "text": session.sent(AddText)[-1].id,
                    "response": command.id,
                    None: None,
                }[names]
                session.emit(
                    SessionError(
                        failure=Failure(
                            kind=ModelErrorKind.BAD_REQUEST, message="Not that."
                        ),
                        command_id=named,
                    )
                )

            w.model.script(refuse)
            loop = asyncio.get_running_loop()
            begun = loop.time()
            with pytest.raises(ModelError, match="Not that"):
                await w.say("a")
            assert loop.time() - begun < 1
            assert await w.say("b") == "OK."

    run(main())


def test_an_error_beside_a_running_response_is_not_its_end() -> None:
    """Most errors are recoverable: the answer goes on."""

    async def main() -> None:
        async with world() as w:

            def play(session: FakeSession, command: CreateResponse) -> None:
                response = started(session, command)
                session.emit(
                    SessionError(
                        failure=Failure(kind=ModelErrorKind.SERVER, message="hiccup")
                    ),
                    TextDelta(response_id=response, item_id="i", text="Still here."),
                    ResponseDone(response_id=response, status=ResponseStatus.COMPLETED),
                )

            w.model.script(play)
            assert await w.say("a") == "Still here."

    run(main())


def test_a_full_disk_does_not_stop_the_conversation() -> None:
    """The history is lost, not the answer."""

    async def main() -> None:
        async with world() as w:
            w.user_journal.is_broken = True
            w.model.script(call(("get_current_time", {})), say("Eight."))
            assert await w.say("what time is it?") == "Eight."

    run(main())


# ----- callers that go ----------------------------------------------------------------


def test_a_caller_that_goes_cancels_the_response_and_no_task() -> None:
    """response.cancel with the id; the next text waits for the provider's confirmation."""

    async def main() -> None:
        async with world() as w:
            task = await w.running_task()
            await w.say("hello")
            w.model.script(hang("A long"))
            stream = w.foreground.converse("a", speaker=SPEAKER)
            assert await anext(stream) == "A long"
            await stream.aclose()
            assert await w.say("b") == "OK."
            session = w.model.session
            assert session.shape() == "trtr" + "xn" + "tr"
            assert session.sent(CancelResponse)[0].response_id == "resp_2"
            assert len(w.model.sessions) == 1
            assert w.tasks.get(task.id).status == "running"

    run(main())


def test_the_admission_is_kept_until_the_cancel_is_confirmed() -> None:
    """Busy with the cancellation; a confirmation that never comes closes the session."""

    async def main() -> None:
        async with world() as w:
            await w.say("hello")
            w.model.session.acknowledge_cancel = False
            w.model.script(hang("A long"))
            stream = w.foreground.converse("a", speaker=SPEAKER)
            await anext(stream)
            await stream.aclose()
            await asyncio.sleep(1)
            assert w.foreground.snapshot.guard is Guard.CANCELLING
            assert w.model.session.closed is None
            # Late output does not keep it.
            w.model.session.emit(
                TextDelta(response_id="resp_2", item_id="i", text="more")
            )
            assert await w.say("b") == "OK."
            assert w.model.sessions[0].closed is not None
            assert len(w.model.sessions) == 2

    run(main())


def test_a_caller_that_goes_at_once_leaves_the_way_free() -> None:
    """Cancelled in the very step in which its turn was made."""

    async def main() -> None:
        async with world() as w:
            for delay in range(6):
                turn = asyncio.create_task(w.say("a"))
                for _ in range(delay):
                    await asyncio.sleep(0)
                turn.cancel()
                await asyncio.wait({turn})
            assert await w.say("b") == "OK."

    run(main())


def test_a_caller_that_goes_before_the_start_cancels_too() -> None:
    """Nothing was reported yet: the cancel names no response."""

    async def main() -> None:
        async with world() as w:
            w.model.script(silence)
            turn = asyncio.create_task(w.say("a"))
            await asyncio.sleep(1)
            turn.cancel()
            await asyncio.wait({turn})
            assert await w.say("b") == "OK."
            assert w.model.session.sent(CancelResponse)[0].response_id is None
            assert len(w.model.sessions) == 1

    run(main())


def test_a_caller_that_goes_while_connecting_leaves_no_session() -> None:
    """The connect is given up with its caller."""

    async def main() -> None:
        async with world() as w:
            w.model.connects.append(10.0)
            turn = asyncio.create_task(w.say("a"))
            await asyncio.sleep(1)
            turn.cancel()
            await asyncio.wait({turn})
            await asyncio.sleep(20)
            assert w.model.sessions == []
            assert w.foreground.snapshot.state is ForegroundState.STANDBY

    run(main())


def test_a_caller_that_goes_during_a_call_leaves_a_balanced_history() -> None:
    """[105] The call that runs ends and is answered, the others are not run."""

    async def main() -> None:
        async with world() as w:
            create = w.tasks.create

            async def slow(*args: Any, **kwargs: Any) -> Any:
                await asyncio.sleep(2)
                return await create(*args, **kwargs)

            w.tasks.create = slow  # type: ignore[method-assign]
            w.model.script(
                call(
                    ("create_agent_task", _TASK),
                    ("cancel_agent_task", {"task_id": "x"}),
                )
            )
            turn = asyncio.create_task(w.say("a"))
            await asyncio.sleep(1)
            assert w.foreground.snapshot.guard is Guard.TOOLS
            turn.cancel()
            await asyncio.wait({turn})
            assert await w.say("b") == "OK."
            outputs = w.model.session.outputs()
            assert outputs[0]["status"] == "queued"
            assert outputs[1]["error"] == "not_executed"
            assert len(w.tasks.tasks()) == 1
            assert w.model.session.shape() == "tr" + "oon" + "tr"

    run(main())


def test_a_tool_that_hangs_is_left_after_thirty_seconds() -> None:
    """The output says that the effect is unknown."""

    async def main() -> None:
        async with world() as w:

            async def never(*_args: Any, **_kwargs: Any) -> Any:
                await asyncio.Event().wait()

            w.tasks.create = never  # type: ignore[method-assign]
            w.model.script(call(("create_agent_task", _TASK)), say("Not sure."))
            turn = asyncio.create_task(w.say("a"))
            await asyncio.sleep(10)
            with pytest.raises(ForegroundBusyError) as caught:
                await w.say("b")
            assert caught.value.guard is Guard.TOOLS
            assert await turn == "Not sure."
            assert w.model.session.outputs()[0]["error"] == "timeout"

    run(main())


def test_a_tool_that_fails_unexpectedly_does_not_end_the_conversation() -> None:
    """A defect of ours becomes an output."""

    async def main() -> None:
        async with world() as w:

            async def broken(*_args: Any, **_kwargs: Any) -> Any:
                raise RuntimeError("defect")

            w.tasks.create = broken  # type: ignore[method-assign]
            w.model.script(call(("create_agent_task", _TASK)), say("It failed."))
            assert await w.say("a") == "It failed."
            assert w.model.session.outputs()[0]["error"] == "failed"

    run(main())


def test_a_cancel_that_loses_the_race_leaves_no_open_call() -> None:
    """The response completes with a call while the cancellation is on its way."""

    async def main() -> None:
        async with world() as w:
            await w.say("hello")
            session = w.model.session
            session.acknowledge_cancel = False
            w.model.script(hang("Well"))
            stream = w.foreground.converse("a", speaker=SPEAKER)
            await anext(stream)
            await stream.aclose()
            await asyncio.sleep(1)
            session.emit(
                ToolCallReady(
                    response_id="resp_2",
                    call=ToolCall(
                        call_id="late",
                        name="create_agent_task",
                        arguments=json.dumps(_TASK),
                    ),
                ),
                ResponseDone(response_id="resp_2", status=ResponseStatus.COMPLETED),
            )
            assert await w.say("b") == "OK."
            assert w.tasks.tasks() == []
            assert session.outputs() == [
                {
                    "error": "not_executed",
                    "what_to_do": "Nothing was done. Call it again if it is still wanted.",
                }
            ]
            assert len(w.model.sessions) == 1

    run(main())


# ----- the end ------------------------------------------------------------------------


def test_a_goodbye_closes_the_session_after_the_farewell() -> None:
    """The tool only asks for it; the farewell is said; the next text opens a new session."""

    async def main() -> None:
        async with world() as w:
            w.model.script(call(("end_conversation", {})), say("Goodbye!"))
            assert await w.say("that's all, bye") == "Goodbye!"
            await until(lambda: w.model.session.closed is not None)
            assert w.foreground.snapshot.state is ForegroundState.STANDBY
            assert w.model.session.outputs()[0]["status"] == "ending"
            assert await w.say("wait") == "OK."
            assert len(w.model.sessions) == 2

    run(main())


def test_a_goodbye_that_was_said_with_the_call_is_enough() -> None:
    """No second goodbye is asked for."""

    async def main() -> None:
        async with world() as w:
            w.model.script(call(("end_conversation", {}), text="Good night!"), say(""))
            assert await w.say("bye") == "Good night!"
            assert w.model.session.shape() == "tror"

    run(main())


def test_a_text_during_the_farewell_takes_it_back() -> None:
    """The person goes on: the session stays, the text is answered after the farewell."""

    async def main() -> None:
        async with world() as w:

            def farewell(session: FakeSession, command: CreateResponse) -> None:
                response = started(session, command)
                session.later(
                    2,
                    TextDelta(response_id=response, item_id="i", text="Bye!"),
                    ResponseDone(response_id=response, status=ResponseStatus.COMPLETED),
                )

            w.model.script(call(("end_conversation", {})), farewell)
            first = asyncio.create_task(w.say("bye"))
            await asyncio.sleep(1)
            assert await w.say("one more thing") == "OK."
            assert await first == "Bye!"
            assert len(w.model.sessions) == 1
            assert w.model.session.closed is None

    run(main())


@pytest.mark.parametrize("seconds", [0.0, 0.5, 1.5, 2.5, 4.0])
def test_closing_leaves_nothing_in_any_phase(seconds: float) -> None:
    """While connecting, answering, in a tool, cancelling: the caller ends, nothing is left."""

    async def main() -> None:
        async with world() as w:
            create = w.tasks.create

            async def slow(*args: Any, **kwargs: Any) -> Any:
                await asyncio.sleep(1)
                return await create(*args, **kwargs)

            w.tasks.create = slow  # type: ignore[method-assign]
            w.model.connects.append(1.0)
            w.model.script(call(("create_agent_task", _TASK)), hang("Hm"))
            turn = asyncio.create_task(w.say("a"))
            await asyncio.sleep(seconds)
            await w.foreground.close()
            with pytest.raises(ForegroundBusyError) as caught:
                await turn
            assert caught.value.guard is Guard.CLOSING
            with pytest.raises(ForegroundBusyError):
                await w.say("b")
            await w.foreground.close()

    run(main())


def test_listeners_follow_the_state() -> None:
    """Standby, connecting, answering, idle, standby."""

    async def main() -> None:
        async with world() as w:
            seen = [w.foreground.snapshot.state]

            def note() -> None:
                state = w.foreground.snapshot.state
                if seen[-1] is not state:
                    seen.append(state)

            unsubscribe = w.foreground.subscribe(note)
            w.model.connects.append(1.0)
            await w.say("a")
            await asyncio.sleep(400)
            assert seen == [
                ForegroundState.STANDBY,
                ForegroundState.CONNECTING,
                ForegroundState.ANSWERING,
                ForegroundState.IDLE,
                ForegroundState.STANDBY,
            ]
            unsubscribe()

    run(main())


def test_the_log_holds_no_words_of_the_person(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing typed is logged above debug, also when things fail."""

    async def main() -> None:
        async with world() as w:
            w.user_journal.is_broken = True
            w.model.script(call(("create_agent_task", '{"task": "my PIN is 4711')))
            await w.say("my PIN is 4711")
            w.model.session.end(1011, "Internal error", kind=ModelErrorKind.SERVER)
            await asyncio.sleep(1)

    with caplog.at_level("INFO"):
        run(main())
    assert "4711" not in caplog.text
    assert "session ended" in caplog.text
