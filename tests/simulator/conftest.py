"""A whole simulator in the test's own event loop."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from simulator.app import Simulator, SimulatorSettings, start

from .client import ControlClient


@pytest.fixture
async def simulator(socket_enabled: None, tmp_path: Path) -> AsyncIterator[Simulator]:
    """Return a running simulator with a name for its terminal device."""
    settings = SimulatorSettings(seed=1, pty_link=tmp_path / "board")
    async with await start(settings) as running:
        yield running


@pytest.fixture
async def control(simulator: Simulator) -> AsyncIterator[ControlClient]:
    """Return a client of its HTTP side."""
    async with aiohttp.ClientSession(simulator.http) as session:
        yield ControlClient(session)
