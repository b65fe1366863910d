"""What a run says to the model that operates the phone, and what it takes from it."""

from collections.abc import Awaitable, Callable
import logging

from ..models.chat.messages import ChatModel, ChatReply, UnusableReplyError
from ..models.errors import ModelError, ModelErrorKind
from ..models.tools import ToolCall
from . import prompts, tools
from .ends import RunOver, failed
from .history import History
from .limits import LoopLimits
from .prompts import Interrupt
from .steering import Steering

_LOGGER = logging.getLogger(__name__)

type Record = Callable[[ToolCall, str], Awaitable[None]]
"""Keeps a call together with its result."""


class Dialogue:
    """Asks the model, and sees to it that each of its calls gets one result."""

    def __init__(
        self,
        chat: ChatModel,
        history: History,
        *,
        limits: LoopLimits,
        on_step: Callable[[str], None],
        record: Record,
        steering: Steering,
    ) -> None:
        """Say nothing yet."""
        self._chat = chat
        self._history = history
        self._limits = limits
        self._on_step = on_step
        self._record = record
        self._steering = steering
        self._failures = 0
        """Answers in a row that could not be used."""
        self._shortened = False

    def forgive(self) -> None:
        """Hold no unusable answer against the model any more."""
        self._failures = 0

    async def ask(self) -> ChatReply:
        """Return the model's next answer."""
        self._on_step("waiting for the model")
        try:
            return await self._complete()
        except UnusableReplyError:
            raise
        except ModelError as err:
            _LOGGER.debug("The phone's model failed: %s", err.message)
            raise RunOver(
                failed(prompts.model_error(err.kind)), Interrupt.MODEL_ERROR
            ) from err

    async def _complete(self) -> ChatReply:
        """Ask the model; once in a run, ask again with less if it was too much."""
        try:
            return await self._chat.complete(self._history.messages(), tools.CATALOGUE)
        except ModelError as err:
            if err.kind is not ModelErrorKind.CONTEXT_OVERFLOW or self._shortened:
                raise
        self._shortened = True
        self._history.shorten()
        return await self._chat.complete(self._history.messages(), tools.CATALOGUE)

    async def take(self, reply: ChatReply) -> ToolCall | None:
        """Keep an answer in the history; return its first call, the only one that runs.

        None runs that was meant for a goal which was replaced while the model thought.
        """
        self._history.add_reply(reply)
        outdated = self._steering.is_due
        why = prompts.OUTDATED if outdated else prompts.NOT_EXECUTED
        for other in reply.tool_calls[1:]:
            self._history.add_result(other.call_id, why)
        if not reply.tool_calls:
            return None
        call = reply.tool_calls[0]
        if outdated:
            await self.answer(call, why)
            return None
        return call

    def fail(self, problem: str | None) -> None:
        """Count an answer that cannot be used; say what is wrong, unless a result does."""
        self._failures += 1
        if self._failures >= self._limits.unusable_replies:
            text = prompts.UNUSABLE.format(count=self._failures)
            raise RunOver(failed(text), Interrupt.PARSE_FAILURE)
        if problem is not None:
            self._history.add_user(prompts.correction(problem))

    async def answer(self, call: ToolCall, result: str) -> None:
        """Give a call its result, in the conversation first and in the transcript then."""
        self._history.add_result(call.call_id, result)
        await self._record(call, result)
