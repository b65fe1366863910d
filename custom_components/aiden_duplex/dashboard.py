"""Serves the card and the ready dashboard, and lets the frontend load them."""

import hashlib
from pathlib import Path
from typing import Final

from homeassistant.components import frontend
from homeassistant.components.http.server import StaticPathConfig
from homeassistant.core import HomeAssistant
from homeassistant.loader import async_get_integration

from .const import DOMAIN

FOLDER: Final = Path(__file__).parent / "www"
MODULE: Final = "aiden-duplex.js"


async def async_setup_dashboard(hass: HomeAssistant) -> None:
    """Serve the modules under an address that changes with their content."""
    integration = await async_get_integration(hass, DOMAIN)
    digest = await hass.async_add_executor_job(_digest)
    # In the path, not in a query: the modules import each other by relative addresses.
    path = f"/{DOMAIN}/{integration.version}-{digest}"
    await hass.http.async_register_static_paths([StaticPathConfig(path, str(FOLDER))])
    if frontend.DOMAIN in hass.config.components:
        frontend.add_extra_js_url(hass, f"{path}/{MODULE}")


def _digest() -> str:
    """Return a short hash of all modules."""
    digest = hashlib.sha256()
    for file in sorted(FOLDER.glob("*.js")):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
