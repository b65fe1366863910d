"""One text of the person, until its answer is complete."""

import asyncio
from collections.abc import Callable, Sequence
import contextlib
from dataclasses import dataclass
import itertools

from ..models.errors import ModelError, ModelErrorKind
from ..models.realtime.events import ResponseStatus
from ..models.realtime.session import AddNotice, AddText, Notice
from ..models.tools import ToolCall
from .answer import Answer
from .delivery import Delivery
from .errors import Guard
from .prompts import EMPTY_ANSWER, NO_MORE_TOOLS
from .recorder import Recorder
from .response import Response
from .session import LiveSession, SessionLostError
from .toolbox import Toolbox

NO_PROGRESS_S = 60.0
"""Without text, calls or results for so long a turn has failed (seed 1)."""
MAX_ROUNDS = 10
"""Responses that may call tools; after them one must answer without (public reports)."""
MAX_CALLS_RUN = 16
"""Calls of one response that run; the others are answered as not executed (seed 1)."""
TOOL_GRACE_S = 5.0
"""A running call may finish for so long after its caller left: it may have taken effect."""

INTERRUPTED_CALL = (
    '{"error":"interrupted","what_to_do":"It is not known whether it took effect. '
    'Look with query_agent_task."}'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReport:
    """What a turn came to; lets others see a claim without a call."""

    tools: tuple[str, ...]
    """The tools that ran, in order."""
    is_complete: bool
    """The answer came to its end."""


class Turn:
    """Asks the model, runs what it calls, asks again, until it has answered."""

    def __init__(
        self,
        text: str,
        *,
        answer: Answer,
        delivery: Delivery,
        recorder: Recorder,
        toolbox: Toolbox,
        on_phase: Callable[[], None],
    ) -> None:
        """Wait to be run."""
        self.answer = answer
        self.phase = Guard.CONNECTING
        self.is_accepted = False
        """The provider began a response: nothing of the turn may be done twice."""
        self.is_complete = False
        self._text = text
        self._delivery = delivery
        self._recorder = recorder
        self._toolbox = toolbox
        self._on_phase = on_phase
        self._watchdog: asyncio.Timeout | None = None
        self._live: LiveSession | None = None

    @property
    def report(self) -> TurnReport:
        """Return what came of the turn."""
        return TurnReport(
            tools=tuple(self._toolbox.called), is_complete=self.is_complete
        )

    @property
    def is_ending(self) -> bool:
        """Return whether the session is to be closed after the answer."""
        return self._toolbox.is_ending

    def enter(self, phase: Guard) -> None:
        """Note what the turn waits for now."""
        self.phase = phase
        self._on_phase()

    async def run(self, live: LiveSession) -> None:
        """Bring the answer to its end in an open session.

        Raises:
            SessionLostError: The session ended first.
            ModelError: The model failed; the session may go on, unless it timed out.

        """
        self._live = live
        try:
            async with asyncio.timeout(NO_PROGRESS_S) as self._watchdog:
                await self._report_and_ask(live)
        except TimeoutError:
            await live.close()
            raise ModelError(
                ModelErrorKind.TIMEOUT,
                f"The model did not go on answering for {NO_PROGRESS_S:.0f} s. Say it again.",
            ) from None
        finally:
            self._watchdog = None
            self._delivery.finish(live.id, was_heard=self.is_complete)

    async def _report_and_ask(self, live: LiveSession) -> None:
        """What there is to tell goes before the person's text and leads the reply."""
        self.enter(Guard.RESPONSE)
        report = self._delivery.lead(live.id)
        if report is not None:
            await live.send(AddNotice(id=live.next_id("notice"), notice=report))
        text = AddText(id=live.next_id("text"), text=self._text)
        await live.send(text)
        await self._converse(live, report, text.id)
        self.is_complete = True

    async def _converse(
        self, live: LiveSession, report: Notice | None, text_id: str
    ) -> None:
        use_tools = True
        asked_again = False
        for number in itertools.count(1):
            self.enter(Guard.RESPONSE)
            handle = await live.request(self._say, use_tools=use_tools, needs=[text_id])
            if await handle.started() and not self.is_accepted:
                self.is_accepted = True
                await self._delivery.acknowledge(live.id)
                if report is not None:
                    await self._recorder.notice(report.content)
            response = await handle.done()
            await self._check(live, response)
            await self._recorder.assistant(response.text)
            if response.calls and use_tools:
                await self._run_calls(live, response.calls)
                if number >= MAX_ROUNDS or self._toolbox.is_exhausted:
                    use_tools = False
                    await self._tell(live, "TOOL LIMIT", NO_MORE_TOOLS)
                continue
            await live.refuse_calls()
            if response.text or (self.is_ending and self.answer.has_text):
                return
            if asked_again:
                break
            asked_again = True
            await self._tell(live, "EMPTY ANSWER", EMPTY_ANSWER)
        if not self.answer.has_text:
            raise ModelError(
                ModelErrorKind.PROTOCOL, "The model gave an empty answer. Say it again."
            )

    async def _check(self, live: LiveSession, response: Response) -> None:
        """Let only a completed response pass; calls of others are answered, not run."""
        if response.status is ResponseStatus.COMPLETED:
            return
        if response.status is ResponseStatus.CANCELLED:
            raise ModelError(
                ModelErrorKind.SERVER, "The answer was interrupted. Say it again."
            )
        await live.refuse_calls()
        if response.failure is not None:
            raise response.failure.as_error()
        raise ModelError(ModelErrorKind.SERVER, "The model failed. Say it again.")

    async def _run_calls(self, live: LiveSession, calls: Sequence[ToolCall]) -> None:
        """Run calls one after the other; each gets exactly one output, whatever happens."""
        self.enter(Guard.TOOLS)
        for call in calls[:MAX_CALLS_RUN]:
            self._renew()
            running = asyncio.create_task(self._toolbox.run(call))
            try:
                output = await asyncio.shield(running)
            except asyncio.CancelledError:
                await self._leave_call(live, call, running)
                raise
            await live.send_output(call, output)
            self._renew()
            await self._recorder.call(call, output)
        await live.refuse_calls()

    async def _leave_call(
        self, live: LiveSession, call: ToolCall, running: asyncio.Task[str]
    ) -> None:
        """Answer the running call although its caller went away; the others are refused."""
        await asyncio.wait({running}, timeout=TOOL_GRACE_S)
        running.cancel()
        await asyncio.wait({running})
        output = INTERRUPTED_CALL if running.cancelled() else running.result()
        await self._recorder.call(call, output)
        with contextlib.suppress(SessionLostError):
            await live.send_output(call, output)

    async def _tell(self, live: LiveSession, label: str, text: str) -> None:
        """Say something to the model that only this session needs."""
        notice = Notice(label=label, text=text)
        await live.send(AddNotice(id=live.next_id("notice"), notice=notice))

    def _say(self, text: str, is_new_part: bool) -> None:
        """Take text of the model; it is progress."""
        self._renew()
        self.answer.push(text, new_part=is_new_part)
        if self.answer.is_too_long and self._live is not None:
            self._live.fail(
                ModelError(
                    ModelErrorKind.PROTOCOL,
                    "The model's answer did not end. Say it again.",
                )
            )

    def _renew(self) -> None:
        """Put the deadline off; only text and tools of this turn do that."""
        if self._watchdog is not None and not self._watchdog.expired():
            loop = asyncio.get_running_loop()
            self._watchdog.reschedule(loop.time() + NO_PROGRESS_S)
