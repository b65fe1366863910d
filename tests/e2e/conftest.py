"""Fixtures of the tests through a real Home Assistant process."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
import pytest_socket

from .world import World

type Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    """Return one event loop for all tests of a module."""
    pytest_socket.enable_socket()
    with asyncio.Runner() as value:
        yield value


@pytest.fixture(scope="module")
def world(
    runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Return a running world that is set up."""
    folder = tmp_path_factory.mktemp("world")
    value = runner.run(World.start(folder))
    yield value
    runner.run(value.stop())
    assert value.complaints() == []


@pytest.fixture
def run(runner: asyncio.Runner, socket_enabled: None) -> Run:
    """Return what runs a coroutine on the module's loop."""
    return runner.run
