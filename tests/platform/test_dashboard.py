"""The card's modules are served under an address that changes with them."""

import re

from homeassistant.components import frontend
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.aiden_duplex.const import DOMAIN
from custom_components.aiden_duplex.dashboard import FOLDER

LARGEST = 35_000
"""Bytes of all modules together, as they are served."""


@pytest.fixture
async def with_frontend(hass: HomeAssistant, socket_enabled: None) -> None:
    """Set the frontend up before the integration, as Home Assistant does."""
    assert await async_setup_component(hass, frontend.DOMAIN, {})


async def test_the_frontend_loads_the_modules(
    hass: HomeAssistant,
    with_frontend: None,
    entry: MockConfigEntry,
    hass_client_no_auth: ClientSessionGenerator,
) -> None:
    """One address is given; it and what it imports are JavaScript that may be cached."""
    urls = hass.data[frontend.DATA_EXTRA_MODULE_URL].urls
    (url,) = [url for url in urls if DOMAIN in url]
    assert re.fullmatch(
        r"/aiden_duplex/\d+\.\d+\.\d+-[0-9a-f]{12}/aiden-duplex\.js", url
    )
    client = await hass_client_no_auth()
    for file in FOLDER.glob("*.js"):
        response = await client.get(f"{url.rpartition('/')[0]}/{file.name}")
        assert response.status == 200
        assert response.content_type in ("text/javascript", "application/javascript")
        assert "max-age" in response.headers["Cache-Control"]
        assert await response.read() == file.read_bytes()


async def test_without_a_frontend_nothing_is_given(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """A Home Assistant without its frontend sets the integration up all the same."""
    assert frontend.DATA_EXTRA_MODULE_URL not in hass.data
    assert entry.state is ConfigEntryState.LOADED


def test_the_modules_are_small_and_ask_nobody_outside() -> None:
    """No other server, no markup made of texts, no colours of their own."""
    sources = {file.name: file.read_text() for file in FOLDER.glob("*.js")}
    assert sum(map(len, sources.values())) < LARGEST
    for name, source in sources.items():
        for banned in ("://", "innerHTML", "outerHTML", "insertAdjacentHTML", "eval("):
            assert banned not in source, f"{banned} in {name}"
        for imported in re.findall(r'from "(.+?)"', source):
            assert imported.removeprefix("./") in sources, f"{imported} in {name}"
    assert not re.findall(r"#[0-9a-f]{3,8}\b|rgba?\(|hsl", sources["style.js"])
