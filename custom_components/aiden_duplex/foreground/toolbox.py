"""Runs the calls of one turn: checked, bounded, and always with an answer."""

import asyncio
from collections import Counter
import json
import logging

from ..models.tools import ToolArgumentError, ToolCall, parse_arguments
from ..tasks.errors import TaskError
from .tool_context import ToolContext
from .tool_errors import Output, error, task_error
from .tools import TOOLS

_LOGGER = logging.getLogger(__name__)

TOOL_TIMEOUT_S = 30.0
"""For one call (seed 1)."""
MAX_CALLS = 32
"""In one turn; our choice."""
MAX_BROKEN = 2
"""Calls with broken arguments or names that are asked for again (public reports)."""
MAX_REPEATS = 2
"""Runs of the same call with the same arguments in one turn; the third is refused."""

_TOOLS = {tool.spec.name: tool for tool in TOOLS}


class Toolbox:
    """The tools of one turn, with its counts."""

    def __init__(self, context: ToolContext) -> None:
        """Start with nothing called."""
        self._context = context
        self._runs: Counter[tuple[str, str]] = Counter()
        self._broken = 0
        self._refused = 0
        self.called: list[str] = []
        """The names of the tools that ran."""

    @property
    def is_exhausted(self) -> bool:
        """Return whether the model should be made to answer without tools."""
        return (
            self._broken > MAX_BROKEN
            or self._refused > 1
            or len(self.called) >= MAX_CALLS
        )

    @property
    def is_ending(self) -> bool:
        """Return whether the conversation is to end after the answer."""
        return self._context.ending.is_set()

    async def run(self, call: ToolCall) -> str:
        """Run a call; return its output as JSON, also when it failed."""
        return json.dumps(await self._run(call), ensure_ascii=False)

    async def _run(self, call: ToolCall) -> Output:
        tool = _TOOLS.get(call.name)
        if tool is None:
            self._broken += 1
            names = ", ".join(_TOOLS)
            return error("unknown_tool", f"Nothing was done. The tools are: {names}.")
        try:
            arguments = parse_arguments(tool.spec, call.arguments)
        except ToolArgumentError as err:
            self._broken += 1
            if self._broken > MAX_BROKEN:
                return error(
                    "invalid_arguments",
                    "Nothing was done. Do not call it again; tell the person that it failed.",
                )
            return error("invalid_arguments", f"Nothing was done. {err}")
        key = (call.name, json.dumps(arguments, sort_keys=True))
        if self._runs[key] >= MAX_REPEATS or len(self.called) >= MAX_CALLS:
            self._refused += 1
            return error(
                "repeated_call",
                "Not run again: the same call was made before. Stop calling tools and answer "
                "the person with what you have.",
            )
        self._runs[key] += 1
        self.called.append(call.name)
        try:
            async with asyncio.timeout(TOOL_TIMEOUT_S):
                return await tool.handler(self._context, arguments)
        except TaskError as err:
            return task_error(err)
        except TimeoutError:
            _LOGGER.warning("The tool %s did not return in time", call.name)
            return error(
                "timeout",
                "It is not known whether it took effect. Look with query_agent_task.",
            )
        except Exception:
            _LOGGER.exception("The tool %s failed unexpectedly", call.name)
            return error("failed", "It failed. Tell the person that it did not work.")
