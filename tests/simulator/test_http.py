"""Picture, finger and control over HTTP."""

import asyncio
from io import BytesIO
from pathlib import Path
import re
from typing import Any

import aiohttp
import numpy as np
from PIL import Image
import pytest

from simulator.app import SimulatorSettings, start
from simulator.phone.screen_code import ScreenId, decode

from .client import ControlClient


async def _snapshot(control: ControlClient) -> tuple[aiohttp.ClientResponse, bytes]:
    async with control.session.get("/snapshot.jpg") as response:
        return response, await response.read()


async def test_a_snapshot_is_the_letterboxed_picture_of_now(
    control: ControlClient,
) -> None:
    """Nobody may keep it, and it says which picture it is."""
    response, body = await _snapshot(control)
    assert response.status == 200
    assert response.content_type == "image/jpeg"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Age"] == "0"
    image = Image.open(BytesIO(body))
    assert image.size == (1920, 1080)
    assert decode(image) == ScreenId.HOME
    assert np.asarray(image.convert("L"))[:, :700].max() < 16


async def test_the_sequence_counts_pictures_that_differ(control: ControlClient) -> None:
    """The same picture keeps its number."""
    first, body = await _snapshot(control)
    second, same = await _snapshot(control)
    assert body == same
    assert first.headers["X-Frame-Sequence"] == second.headers["X-Frame-Sequence"]
    assert first.headers["ETag"] == second.headers["ETag"]
    await control.post("phone", open="settings")
    third, other = await _snapshot(control)
    assert other != body
    assert int(third.headers["X-Frame-Sequence"]) > int(
        first.headers["X-Frame-Sequence"]
    )


async def test_the_stream_sends_what_changes(control: ControlClient) -> None:
    """As multipart JPEG, with the settings' picture once they are open."""
    async with control.session.get("/stream.mjpg") as response:
        assert response.content_type == "multipart/x-mixed-replace"
        received = b""
        seen: set[int | None] = set()
        opened = False
        async with asyncio.timeout(15):
            while ScreenId.SETTINGS not in seen:
                received += await response.content.readany()
                head = re.search(
                    rb"Content-Length: (\d+)\r\n.*?\r\n\r\n", received, re.DOTALL
                )
                if head is None or len(received) < head.end() + int(head[1]):
                    continue
                end = head.end() + int(head[1])
                seen.add(decode(Image.open(BytesIO(received[head.end() : end]))))
                received = received[end:]
                if not opened:
                    opened = True
                    await control.post("phone", open="settings")
    assert ScreenId.HOME in seen


@pytest.mark.parametrize(
    ("mode", "status", "content_type"),
    [
        ("html", 200, "text/html"),
        ("missing", 503, "text/plain"),
        ("black", 200, "image/jpeg"),
        ("garbage", 200, "image/jpeg"),
    ],
)
async def test_pictures_that_are_none(
    control: ControlClient, mode: str, status: int, content_type: str
) -> None:
    """What a capture device or a gateway may answer instead."""
    await control.post("picture", mode=mode)
    response, body = await _snapshot(control)
    assert (response.status, response.content_type) == (status, content_type)
    if mode == "black":
        assert np.asarray(Image.open(BytesIO(body)).convert("L")).max() == 0
    if mode == "garbage":
        with pytest.raises(OSError):
            Image.open(BytesIO(body)).load()
    await control.post("picture", mode="normal")
    _, body = await _snapshot(control)
    assert decode(Image.open(BytesIO(body))) == ScreenId.HOME


async def test_a_frozen_picture_stays_and_grows_old(control: ControlClient) -> None:
    """The phone goes on behind it."""
    await control.post("picture", mode="frozen")
    first, body = await _snapshot(control)
    await control.post("phone", open="settings")
    later, same = await _snapshot(control)
    assert same == body
    ages = [int(r.headers["X-Frame-Age-Ms"]) for r in (first, later)]
    assert 0 <= ages[0] < ages[1]


async def test_a_slow_picture_comes_late(control: ControlClient) -> None:
    """By as much as was said."""
    await control.post("picture", mode="slow", delay_s=0.3)
    loop = asyncio.get_running_loop()
    started = loop.time()
    response, _ = await _snapshot(control)
    assert response.status == 200
    assert loop.time() - started >= 0.29


async def test_the_finger_is_no_hid(control: ControlClient) -> None:
    """It locks, unlocks, taps by name and place, swipes, types; no report is logged."""
    phone = await control.post("phone", open="notes")
    if phone["screen"] == "permission":
        await control.post("finger", action="tap", label=phone["words"]["allow"])
    await control.post("finger", action="tap", label=phone["words"]["new_note"])
    await control.post("finger", action="tap", x=500, y=300)
    phone = await control.post("finger", action="type", text="Grüße")
    assert phone["focused_text"] == "Grüße"
    phone = await control.post("finger", action="home")
    assert phone["screen"] == "home"
    phone = await control.post("finger", action="lock")
    assert phone["locked"] is True
    swipe = {"x": 500, "y": 900, "to_x": 500, "to_y": 300}
    phone = await control.post("finger", action="swipe", **swipe, seconds=0.1)
    assert phone["screen"] == "pin"
    phone = await control.post("finger", action="unlock")
    assert (phone["locked"], phone["screen"]) == (False, "home")
    phone = await control.post("finger", action="take_over", app="maps")
    assert (phone["screen"], phone["about"]) == ("other_app", "maps")
    assert (await control.get("hid"))["count"] == 0


async def test_tests_put_the_phone_where_they_want_it(control: ControlClient) -> None:
    """Reset to a seed, set switches, open a place: at once, without a transition."""
    phone = await control.post(
        "phone", reset=6, set={"wifi": False, "notes": ["one"]}, open="settings/network"
    )
    assert (phone["seed"], phone["screen"], phone["moving"]) == (
        6,
        "settings_network",
        False,
    )
    assert phone["toggles"]["wifi"] is False
    assert phone["notes"] == ["one"]
    assert (await control.post("phone", open="home"))["screen"] == "home"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("phone", {"open": "nowhere"}),
        ("phone", {"open": "settings/nowhere"}),
        ("phone", {"set": {"airplane_mode": "yes"}}),
        ("phone", {"set": {"warp_drive": True}}),
        ("phone", {"reset": "x"}),
        ("phone", {"opne": "home"}),
        ("finger", {"action": "poke"}),
        ("finger", {"action": "tap", "label": "no such thing"}),
        ("finger", {"action": "tap", "x": 500}),
        ("finger", {"action": "tap", "x": 500, "y": 1001}),
        ("finger", {}),
        ("board", {"action": "explode"}),
        ("board", {"action": "noise", "hex": "xyz"}),
        ("picture", {"mode": "pretty"}),
        ("picture", ["mode"]),
    ],
)
async def test_a_mistake_is_said_and_changes_nothing(
    control: ControlClient, path: str, body: Any
) -> None:
    """400 with the reason."""
    before = await control.get("phone")
    async with control.session.post(f"/control/{path}", json=body) as response:
        assert response.status == 400
        assert (await response.json())["error"]
    assert await control.get("phone") == before


async def test_the_page_says_what_it_is(control: ControlClient) -> None:
    """Nobody shall take this for a phone."""
    async with control.session.get("/") as response:
        assert "Aiden simulator: nothing here is a real phone" in await response.text()


async def test_the_models_are_behind_the_same_address(control: ControlClient) -> None:
    """With their key."""
    headers = {"Authorization": "Bearer sk-simulated"}
    async with control.session.get("/v1/models", headers=headers) as response:
        assert response.status == 200


async def test_two_simulators_share_nothing(
    socket_enabled: None, tmp_path: Path
) -> None:
    """Ports, devices and phones are their own; a taken name is refused."""
    taken = tmp_path / "taken"
    taken.write_text("mine")
    async with (
        await start(SimulatorSettings(seed=1)) as one,
        await start(SimulatorSettings(seed=2, locked=True)) as two,
    ):
        places = [sim.ready() for sim in (one, two)]
        for key in ("http", "board_tcp", "board_pty"):
            assert places[0][key] != places[1][key]
        with pytest.raises(FileExistsError):
            await start(SimulatorSettings(pty_link=taken))
    assert taken.read_text() == "mine"
