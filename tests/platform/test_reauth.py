"""A key that is refused while the phone is in use is asked for anew, once."""

from collections.abc import AsyncGenerator, Iterator
from typing import Any
from unittest.mock import AsyncMock

from aiohttp import web
from aiohttp.test_utils import TestServer
from homeassistant.config_entries import SOURCE_REAUTH, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.flow_steps import EXAMPLES
from custom_components.aiden_duplex.home.checks import Problem
from custom_components.aiden_duplex.models.chat.messages import ChatMessage, ChatRole
from custom_components.aiden_duplex.models.errors import ModelError, ModelErrorKind
from custom_components.aiden_duplex.runtime import _build_chat

from .conftest import ENTRY_DATA
from .flows import checks_replaced, go, suggested

QUESTION = [ChatMessage(role=ChatRole.USER, text="Hello?")]


@pytest.fixture
def checks() -> Iterator[dict[str, AsyncMock]]:
    """Replace the checks of the outside."""
    with checks_replaced() as mocks:
        yield mocks


@pytest.fixture
async def status(
    hass: HomeAssistant, entry: MockConfigEntry
) -> AsyncGenerator[dict[str, int]]:
    """Let both models be a server that answers every request with a status."""
    answer = {"status": 401}

    async def refuse(_request: web.Request) -> web.Response:
        return web.json_response({}, status=answer["status"])

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", refuse)
    async with TestServer(app) as server:
        base_url = str(server.make_url("/v1"))
        models = {
            part: {**ENTRY_DATA[part], "base_url": base_url}
            for part in ("foreground", "background")
        }
        hass.config_entries.async_update_entry(entry, data={**ENTRY_DATA, **models})
        await hass.config_entries.async_reload(entry.entry_id)
        yield answer


def _flows(hass: HomeAssistant) -> list[Any]:
    """Return the flows that wait for the person."""
    return hass.config_entries.flow.async_progress_by_handler(DOMAIN)


async def _talk(hass: HomeAssistant) -> str:
    """Say something; return the answer."""
    answer = await hass.services.async_call(
        "conversation",
        "process",
        {"text": "hello", "agent_id": "conversation.aiden"},
        blocking=True,
        return_response=True,
    )
    response: Any = answer and answer["response"]
    speech: str = response["speech"]["plain"]["speech"]
    return speech


async def test_a_refused_key_of_the_conversation_is_asked_for_once(
    hass: HomeAssistant, entry: MockConfigEntry, status: dict[str, int]
) -> None:
    """Two refusals make one flow, which names the phone and the model."""
    for _ in range(2):
        assert "key" in await _talk(hass)
    await hass.async_block_till_done()
    (flow,) = _flows(hass)
    assert flow["step_id"] == "reauth_foreground"
    assert flow["context"]["source"] == SOURCE_REAUTH
    assert flow["context"]["title_placeholders"] == {"name": "Aiden"}


async def test_a_refused_key_of_the_phone_model_is_asked_for(
    hass: HomeAssistant, entry: MockConfigEntry, status: dict[str, int]
) -> None:
    """The refusal goes on to the task as before."""
    chat = _build_chat(hass, entry)
    assert chat is not None
    with pytest.raises(ModelError) as caught:
        await chat.complete(QUESTION, [])
    assert caught.value.kind is ModelErrorKind.AUTHENTICATION
    await hass.async_block_till_done()
    (flow,) = _flows(hass)
    assert flow["step_id"] == "reauth_background"


async def test_another_failure_asks_for_no_key(
    hass: HomeAssistant, entry: MockConfigEntry, status: dict[str, int]
) -> None:
    """Credits that are used up are no matter of the key."""
    status["status"] = 402
    await _talk(hass)
    chat = _build_chat(hass, entry)
    assert chat is not None
    with pytest.raises(ModelError):
        await chat.complete(QUESTION, [])
    await hass.async_block_till_done()
    assert _flows(hass) == []


@pytest.mark.parametrize("part", ["foreground", "background"])
async def test_a_new_key_is_tried_and_replaces_the_shared_one(
    hass: HomeAssistant, entry: MockConfigEntry, checks: dict[str, AsyncMock], part: str
) -> None:
    """A wrong key is shown at its field; the right one serves both models."""
    entry.async_start_reauth(hass, data={"part": part})
    await hass.async_block_till_done()
    (progress,) = _flows(hass)
    step_id = f"reauth_{part}"
    result = await hass.config_entries.flow.async_configure(progress["flow_id"])
    assert result["description_placeholders"] == {
        **EXAMPLES,
        "detail": "",
        "model": ENTRY_DATA[part]["model"],
        "address": "http://127.0.0.1:9/v1",
        "name": "Aiden",
    }
    for key, field in (
        ("model_authentication", "api_key"),
        ("model_network", "base"),
    ):
        checks[part].return_value = Problem(key=key, detail="why")
        result = await go(hass, [(step_id, {"api_key": "sk-wrong"})], result)
        assert result["errors"] == {field: key}
        assert suggested(result) == {}
    checks[part].return_value = None
    result = await go(hass, [(step_id, {"api_key": "Bearer sk-new "})], result)
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "reauth_successful"
    assert entry.state is ConfigEntryState.LOADED
    for name in ("foreground", "background"):
        assert entry.data[name] == {**ENTRY_DATA[name], "api_key": "sk-new"}
    assert _flows(hass) == []


@pytest.mark.parametrize(
    "other", [{"api_key": "sk-other"}, {"base_url": "https://elsewhere.example/v1"}]
)
async def test_another_key_or_address_is_left_alone(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    checks: dict[str, AsyncMock],
    other: dict[str, str],
) -> None:
    """Only the model that lost its key gets the new one."""
    background = {**ENTRY_DATA["background"], **other}
    hass.config_entries.async_update_entry(
        entry, data={**ENTRY_DATA, "background": background}
    )
    entry.async_start_reauth(hass, data={"part": "foreground"})
    await hass.async_block_till_done()
    (progress,) = _flows(hass)
    result = await hass.config_entries.flow.async_configure(
        progress["flow_id"], {"api_key": "sk-new"}
    )
    await hass.async_block_till_done()
    assert result["reason"] == "reauth_successful"
    assert entry.data["foreground"]["api_key"] == "sk-new"
    assert entry.data["background"] == background
