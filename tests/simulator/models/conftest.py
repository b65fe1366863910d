"""The tests of the model servers talk to real sockets on 127.0.0.1."""

import pytest


@pytest.fixture(autouse=True)
def _sockets(socket_enabled: None) -> None:
    """Allow sockets to 127.0.0.1."""
