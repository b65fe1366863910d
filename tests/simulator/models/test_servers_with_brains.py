"""Both servers with their scripted brains, as the simulator runs them."""

from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
import openai
import pytest

from simulator.models import ModelSettings, add_routes

from .drawing import draw_list
from .paper_phone import TOOLS
from .support import KEY, Client, connected, data_url, user

SETTINGS = ModelSettings(api_key=KEY, think_s=0, realtime_think_s=0, delta_pace_s=0)


def chat_tools() -> Any:
    """Return the phone's tools in the chat protocol's shape."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "parameters": dict(tool.parameters)},
        }
        for tool in TOOLS.values()
    ]


async def served(settings: ModelSettings = SETTINGS) -> Client:
    """Return a client of a running application."""
    app = web.Application()
    add_routes(app, settings)
    client: Client = TestClient(TestServer(app, host="127.0.0.1"))
    await client.start_server()
    return client


async def test_a_picture_goes_in_and_a_tap_comes_out() -> None:
    """A picture goes in and a tap comes out."""
    client = await served()
    picture = draw_list("Connections", [("WLAN", True), ("Flight mode", False)])
    content: Any = [
        {"type": "text", "text": "[GOAL]: turn on airplane mode"},
        {"type": "image_url", "image_url": {"url": data_url(picture)}},
    ]
    async with openai.AsyncOpenAI(
        api_key=KEY, base_url=str(client.make_url("/v1")), max_retries=0
    ) as vendor:
        reply = await vendor.chat.completions.create(
            model=SETTINGS.chat_model,
            messages=[{"role": "user", "content": content}],
            tools=chat_tools(),
        )
    await client.close()
    message = reply.choices[0].message
    assert message.content == "On “Connections”: flip “Flight mode”. It is Off now."
    assert message.tool_calls is not None
    assert [
        call.function.name for call in message.tool_calls if call.type == "function"
    ] == ["tap"]


async def test_a_command_goes_in_and_a_task_comes_out() -> None:
    """A command goes in and a task comes out."""
    client = await served()
    tool = {
        "type": "function",
        "name": "create_agent_task",
        "parameters": {"type": "object", "properties": {"task": {"type": "string"}}},
    }
    update = {"type": "realtime", "output_modalities": ["text"], "tools": [tool]}
    async with connected(client) as socket:
        await socket.next()
        await socket.ask("session.update", session=update)
        await socket.send(
            "conversation.item.create", item=user("turn on airplane mode")
        )
        await socket.send("response.create")
        done = (await socket.until("response.done"))[-1]["response"]
    await client.close()
    assert [item["arguments"] for item in done["output"]] == [
        '{"task": "Turn on airplane mode"}'
    ]


async def test_without_the_reading_program_a_picture_is_a_server_error() -> None:
    """Without the reading program a picture is a server error."""
    client = await served(ModelSettings(api_key=KEY, tesseract="no-such-program"))
    content: Any = [
        {"type": "text", "text": "[GOAL]: turn on airplane mode"},
        {"type": "image_url", "image_url": {"url": data_url(draw_list("A", []))}},
    ]
    async with openai.AsyncOpenAI(
        api_key=KEY, base_url=str(client.make_url("/v1")), max_retries=0
    ) as vendor:
        with pytest.raises(
            openai.InternalServerError, match="no-such-program cannot be run"
        ):
            await vendor.chat.completions.create(
                model=SETTINGS.chat_model,
                messages=[{"role": "user", "content": content}],
            )
    await client.close()


def test_the_key_is_not_in_the_settings_representation() -> None:
    """The key is not in the settings representation."""
    assert KEY not in repr(SETTINGS)
