"""``python -m simulator`` as scripts use it."""

import asyncio
import json
from pathlib import Path
import signal
import sys

import aiohttp

ROOT = Path(__file__).parents[2]


async def test_it_says_where_everything_is_and_ends_in_order(
    socket_enabled: None, tmp_path: Path
) -> None:
    """One line of JSON when ready; a signal ends it with 0 and removes the device's name."""
    link = tmp_path / "board"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "simulator", "--seed", "4", "--locked"),
        *("--pty-link", str(link), "--api-key", "sk-mine", "--touch-space", "screen"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            ready = json.loads(await process.stdout.readline())
        assert ready["simulation"] is True
        assert ready["board_pty"] == str(link)
        assert ready["api_key"] == "sk-mine"
        assert ready["openai_base_url"] == f"{ready['http']}/v1"
        assert (ready["realtime_model"], ready["chat_model"]) == (
            "gpt-realtime",
            "simulated-vision",
        )
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{ready['http']}/control/phone") as response,
        ):
            phone = await response.json()
        assert (phone["seed"], phone["screen"]) == (4, "lock")
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            rest, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert (process.returncode, rest) == (0, b"")
    assert b"Traceback" not in errors
    assert not link.is_symlink()


async def test_a_wrong_option_is_an_error() -> None:
    """With its reason, at once."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "simulator", "--speed", "0"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        output, errors = await process.communicate()
    assert process.returncode == 2
    assert output == b""
    assert b"--speed must be above 0" in errors
