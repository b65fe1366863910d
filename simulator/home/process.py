"""Child processes: a real Home Assistant and the simulator."""

import asyncio
from collections.abc import Mapping
import contextlib
from dataclasses import dataclass, field
import json
import os
from pathlib import Path
import signal
import socket
import sys
from typing import Any, override

import aiohttp

ROOT = Path(__file__).resolve().parents[2]
COMPONENT = ROOT / "custom_components" / "aiden_duplex"
STOP_S = 30
"""Home Assistant gives its own stages up to 20 s each; ours end sooner."""


class ProcessError(Exception):
    """A child process did not start or ended too early; the text says what to look at."""


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(slots=True, kw_only=True)
class Child:
    """A process that is stopped with everything it started."""

    process: asyncio.subprocess.Process
    log: Path

    async def stop(self, *, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask the process to end, kill its group if it does not; return its exit code."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(how)
            try:
                async with asyncio.timeout(STOP_S):
                    await self.process.wait()
            except TimeoutError:
                self.kill()
        return await self.process.wait()

    def kill(self) -> None:
        """End the process and its group at once (kill -9)."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def tail(self) -> str:
        """Return the end of what the process logged."""
        return self.log.read_text(errors="replace")[-4000:]


async def start_child(
    *command: str, log: Path, pipe: bool = False, python_path: str = str(ROOT)
) -> Child:
    """Start a process of the project in a group of its own."""
    environment = {
        **os.environ,
        "PYTHONPATH": python_path,
        "PYTHONUNBUFFERED": "1",
    }
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=ROOT,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE if pipe else output,
            stderr=output,
            start_new_session=True,
        )
    return Child(process=process, log=log)


@dataclass(slots=True, kw_only=True)
class SimulatorProcess(Child):
    """The simulator and where its parts are."""

    ready: Mapping[str, Any]

    def __getitem__(self, name: str) -> str:
        """Return one of the addresses or names that the simulator printed."""
        return str(self.ready[name])


async def start_simulator(*arguments: str, log: Path) -> SimulatorProcess:
    """Start the simulator and wait until it says that it is ready."""
    child = await start_child(
        sys.executable, "-m", "simulator", *arguments, log=log, pipe=True
    )
    assert child.process.stdout is not None
    try:
        async with asyncio.timeout(30):
            line = await child.process.stdout.readline()
    except TimeoutError:
        line = b""
    if not line:
        child.kill()
        await child.process.wait()
        raise ProcessError(f"the simulator did not start:\n{child.tail()}")
    return SimulatorProcess(
        process=child.process, log=child.log, ready=json.loads(line)
    )


CONFIGURATION = """\
# Written anew at every start by the project's own scripts.
homeassistant:
  name: Aiden simulation
  country: DE
  unit_system: metric
frontend:
config:
history:
logbook:
recorder:
assist_pipeline:
system_health:
logger:
  default: warning
  logs:
    homeassistant.bootstrap: info
    custom_components.aiden_duplex: {level}
    # Said about every custom integration at every start.
    homeassistant.loader: error
"""


def http_storage(host: str, port: int) -> dict[str, Any]:
    """Return the stored HTTP configuration.

    What the YAML says is only tried for five minutes and then reverted with a restart,
    unless somebody confirms it.
    """
    stable = {
        "server_host": [host],
        "server_port": port,
        "cors_allowed_origins": ["https://cast.home-assistant.io"],
        "login_attempts_threshold": -1,
        "ip_ban_enabled": True,
        "ssl_profile": "modern",
        "use_x_frame_options": True,
        "created_at": "2026-11-01T00:00:00+00:00",
        "error": None,
        "error_message": None,
    }
    return {
        "version": 2,
        "minor_version": 2,
        "key": "http",
        "data": {"stable": stable, "pending": None, "yaml_migration_done": True},
    }


ONBOARDING: dict[str, Any] = {
    "version": 4,
    "key": "onboarding",
    # The configuration says it all. That step would also set up a weather service, a
    # speech service and a radio directory, none of which belongs to a simulation.
    "data": {"done": ["core_config"]},
}


@dataclass(slots=True, kw_only=True)
class HassProcess:
    """A real Home Assistant with the integration in its configuration folder."""

    config: Path
    port: int = field(default_factory=free_port)
    host: str = "127.0.0.1"
    level: str = "debug"
    component: Path = COMPONENT
    """The folder of the integration: the clone's, or an archive that was unpacked."""
    child: Child | None = None

    @property
    def url(self) -> str:
        """Return the base address."""
        return f"http://127.0.0.1:{self.port}"

    def prepare(self) -> None:
        """Write the configuration and link the integration."""
        components = self.config / "custom_components"
        components.mkdir(parents=True, exist_ok=True)
        link = components / "aiden_duplex"
        if link.is_symlink():
            link.unlink()
        link.symlink_to(self.component)
        (self.config / "configuration.yaml").write_text(
            CONFIGURATION.format(level=self.level)
        )
        storage = self.config / ".storage"
        storage.mkdir(exist_ok=True)
        (storage / "http").write_text(json.dumps(http_storage(self.host, self.port)))
        if not (storage / "onboarding").exists():
            (storage / "onboarding").write_text(json.dumps(ONBOARDING))

    async def start(self, *, deadline_s: float = 300) -> None:
        """Start and wait until the API answers."""
        self.prepare()
        hass = Path(sys.executable).with_name("hass")
        self.child = await start_child(
            str(hass),
            *("--config", str(self.config)),
            # All requirements are in the lock; nothing may change the environment.
            "--skip-pip",
            log=self.config / "output.log",
            # As at a user's: what the configuration folder does not hold is not there.
            python_path="",
        )
        try:
            async with asyncio.timeout(deadline_s):
                await self._answering(self.child)
        except TimeoutError as err:
            await self.stop()
            raise ProcessError(
                f"Home Assistant did not answer within {deadline_s:.0f} s:\n{self.child.tail()}"
            ) from err

    async def _answering(self, child: Child) -> None:
        """Wait until the server answers."""
        async with aiohttp.ClientSession() as session:
            while True:
                if child.process.returncode is not None:
                    raise ProcessError(f"Home Assistant ended:\n{child.tail()}")
                with contextlib.suppress(aiohttp.ClientError):
                    async with session.get(f"{self.url}/api/onboarding") as response:
                        if response.status < 500:
                            return
                await asyncio.sleep(0.2)

    async def stop(self) -> int:
        """Stop in order."""
        return await self.child.stop() if self.child else 0

    @property
    def log(self) -> str:
        """Return everything it logged."""
        return (self.config / "output.log").read_text(errors="replace")

    @override
    def __repr__(self) -> str:
        """Name it by its address."""
        return f"<Home Assistant at {self.url}>"
