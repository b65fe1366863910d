"""A run that is told to end waits until the test lets it; a shutdown ends it at once."""

import asyncio
from collections.abc import Callable
from typing import override

from custom_components.aiden_duplex.tasks.runner import RunRequest, RunResult
from tests.tasks.house import Call, ScriptedRunner

from .disk import StepFiles

_BY_A_PERSON = (("canceled",), ("take_over",), ("kill_switch",))


class HeldRunner(ScriptedRunner):
    """Runs that end when the test says so.

    Attributes:
        began: After how many steps of the disk each run began.

    """

    def __init__(self, files: StepFiles) -> None:
        """Start with no run."""
        super().__init__()
        self.began: list[int] = []
        self._files = files

    def begin(self) -> None:
        """Let the steps of the disk count from here."""
        self.began = [0] * len(self.began)

    @override
    async def run(
        self, request: RunRequest, on_step: Callable[[str], None]
    ) -> RunResult:
        """Wait for the test."""
        call = Call(request, on_step)
        self.calls.append(call)
        self.began.append(len(self._files.steps))
        try:
            return await call.end
        except asyncio.CancelledError as err:
            if err.args not in _BY_A_PERSON:
                raise
        if not call.end.cancelled():
            # It had come to its end at the same moment.
            return await call.end
        # Stopped by a person: the end comes later, with or without a result.
        call.end = asyncio.get_running_loop().create_future()
        return await call.end
