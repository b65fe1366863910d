"""What the config flow asks of the outside before it saves."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from homeassistant.const import CONF_API_KEY, CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from yarl import URL

from ..const import CONF_BASE_URL, CONF_FOREGROUND
from ..models.chat.client import ChatCompletions
from ..models.errors import ModelError, ModelErrorKind
from ..models.realtime.connection import check as check_realtime
from ..phone.frame import decode_frame
from ..phone.link import BoardInfo, ProbeError, ProbeReason, probe
from ..phone.picture import HttpSnapshotSource, PictureSource
from ..phone.types import PictureError
from .camera import CameraSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a check found: a key of the translations and a sentence of detail."""

    key: str
    detail: str = ""


BOARD_BUSY = f"board_{ProbeReason.BUSY}"
KEY_REFUSED = f"model_{ModelErrorKind.AUTHENTICATION}"


async def async_check_board(device: str) -> BoardInfo | Problem:
    """Shake hands with the board."""
    try:
        return await probe(device)
    except ProbeError as err:
        return Problem(key=f"board_{err.reason}", detail=str(err))


async def async_check_picture(
    hass: HomeAssistant, *, snapshot_url: str | None, camera_entity_id: str | None
) -> Problem | None:
    """Fetch and decode one picture."""
    source: PictureSource
    if snapshot_url is not None and camera_entity_id is not None:
        return Problem(key="picture_twice")
    if snapshot_url is not None:
        source = HttpSnapshotSource(_session(hass), snapshot_url)
    elif camera_entity_id is not None:
        source = CameraSource(hass, camera_entity_id)
    else:
        return None
    try:
        frame = await source.fetch()
        await hass.async_add_executor_job(decode_frame, frame.data)
    except PictureError as err:
        key = "picture_unusable" if snapshot_url is not None else "camera_unusable"
        return Problem(key=key, detail=str(err))
    return None


async def async_check_model(
    hass: HomeAssistant, part: str, model: Mapping[str, Any]
) -> Problem | None:
    """Try a model in its role."""
    check = (
        async_check_foreground if part == CONF_FOREGROUND else async_check_background
    )
    return await check(
        hass,
        base_url=model[CONF_BASE_URL],
        api_key=model[CONF_API_KEY],
        model=model[CONF_MODEL],
    )


async def async_check_foreground(
    hass: HomeAssistant, *, base_url: str, api_key: str | None, model: str
) -> Problem | None:
    """Open a realtime session with a text configuration and close it."""
    if not _is_address(base_url, ("http", "https", "ws", "wss")):
        return Problem(key="address_invalid")
    try:
        await check_realtime(
            _session(hass), base_url=base_url, api_key=api_key or "", model=model
        )
    except ModelError as err:
        return _refusal(model, err)
    return None


async def async_check_background(
    hass: HomeAssistant, *, base_url: str, api_key: str | None, model: str
) -> Problem | None:
    """Ask the phone model one small question with a picture and a tool."""
    if not _is_address(base_url, ("http", "https")):
        return Problem(key="address_invalid")
    chat = ChatCompletions(
        _session(hass), base_url=base_url, api_key=api_key, model=model
    )
    try:
        await chat.check()
    except ModelError as err:
        return _refusal(model, err)
    return None


def _is_address(text: str, schemes: Container[str]) -> bool:
    """Return whether a text is a complete address of a service."""
    try:
        url = URL(text)
    except ValueError:
        return False
    return url.scheme in schemes and bool(url.host)


def _refusal(model: str, err: ModelError) -> Problem:
    """Return which model refused what."""
    return Problem(key=f"model_{err.kind}", detail=f"{model}: {err.message}")


def _session(hass: HomeAssistant) -> aiohttp.ClientSession:
    """Return Home Assistant's shared session; it is never closed by us."""
    return async_get_clientsession(hass)
