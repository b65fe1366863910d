"""A person at the forms of the integration, by REST: wrong answers and right ones."""

import os
import tty
from typing import Any

from simulator.home.client import HassClient
from simulator.home.setup import DOMAIN

NOBODY = "http://127.0.0.1:9"
FLOWS = "/api/config/config_entries/flow"
ENTRIES = "/api/config/config_entries/entry"


async def open_part(client: HassClient, title: str, part: str) -> dict[str, Any]:
    """Open the form of one part of a phone that is set up."""
    entry = await find_entry(client, title)
    order = {"handler": DOMAIN, "entry_id": entry["entry_id"]}
    menu = await client.request("POST", FLOWS, order)
    assert menu["type"] == "menu", menu
    return await client.submit(menu, {"next_step_id": part})


async def find_entry(client: HassClient, title: str) -> dict[str, Any]:
    """Return the entry with a title."""
    entries = await client.request("GET", ENTRIES)
    found: dict[str, Any] = next(
        entry
        for entry in entries
        if entry["domain"] == DOMAIN and entry["title"] == title
    )
    return found


async def refused(
    client: HassClient,
    flow: dict[str, Any],
    data: dict[str, Any],
    errors: dict[str, str],
) -> str:
    """Submit a step that must be refused; return the detail that is shown."""
    result = await client.submit(flow, data)
    assert result["type"] == "form", result
    assert result["errors"] == errors, result
    assert result["step_id"] == flow["step_id"]
    detail: str = result["description_placeholders"]["detail"]
    return detail


async def submitted(
    client: HassClient, flow: dict[str, Any], data: dict[str, Any], step_id: str
) -> dict[str, Any]:
    """Submit a step that must lead to another one."""
    result = await client.submit(flow, data)
    assert result.get("step_id") == step_id, result
    assert not result["errors"], result
    return result


async def refuse_boards(client: HassClient, flow: dict[str, Any]) -> None:
    """Answer with a port that is missing, closed, or not a board's."""
    advanced = {"advanced": {"touch_space": "frame"}}
    for device in ("/dev/nothing-here", "socket://127.0.0.1:9"):
        data = {"device": device, **advanced}
        detail = await refused(client, flow, data, {"device": "board_cannot_open"})
        assert device in detail
    master, slave = os.openpty()
    tty.setraw(slave)
    os.write(master, b"ESP-ROM:esp32s3-20210327\r\nBuild:Mar 27 2021\r\n")
    data = {"device": os.ttyname(slave), **advanced}
    os.close(slave)
    await refused(client, flow, data, {"device": "board_not_a_board"})
    os.close(master)


async def refuse_pictures(client: HassClient, flow: dict[str, Any], http: str) -> None:
    """Answer with a page, with nothing, with nobody, with no address, and with two."""
    for url, words in (
        (f"{http}/", "text/html"),
        (f"{http}/nothing.jpg", "404"),
        (f"{NOBODY}/snapshot.jpg", "cannot connect"),
        ("snapshot.jpg", "no valid http"),
    ):
        data = {"snapshot_url": url}
        detail = await refused(client, flow, data, {"snapshot_url": "picture_unusable"})
        assert words in detail, detail
    camera = {"camera_entity_id": "camera.nowhere"}
    detail = await refused(
        client, flow, camera, {"camera_entity_id": "camera_unusable"}
    )
    assert "camera.nowhere" in detail
    both = {"snapshot_url": f"{http}/snapshot.jpg", **camera}
    await refused(client, flow, both, {"base": "picture_twice"})


async def refuse_models(
    client: HassClient, flow: dict[str, Any], model: dict[str, Any]
) -> None:
    """Answer with a wrong key, a wrong name, no address, and nobody behind one."""
    for wrong, errors in (
        ({"api_key": "sk-wrong"}, {"api_key": "model_authentication"}),
        ({"model": "gpt-nothing"}, {"model": "model_model_unknown"}),
        ({"base_url": f"{NOBODY}/v1"}, {"base_url": "model_network"}),
        ({"base_url": "models.example"}, {"base_url": "address_invalid"}),
    ):
        detail = await refused(client, flow, {**model, **wrong}, errors)
        assert "sk-wrong" not in detail
        if "base_url" not in errors or wrong["base_url"].startswith(NOBODY):
            assert detail.startswith({**model, **wrong}["model"]), detail
