"""A camera entity as the phone's picture."""

import asyncio
from typing import override

from aiohttp import ClientError
from homeassistant.components.camera import async_get_image
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError

from ..phone.picture import PictureSource, SourceFrame
from ..phone.types import PictureError

CAMERA_TIMEOUT_S = 10


class CameraSource(PictureSource):
    """Takes still pictures of a camera entity."""

    def __init__(self, hass: HomeAssistant, entity_id: str) -> None:
        """Keep the camera's id; it may not exist yet."""
        self._hass = hass
        self._entity_id = entity_id

    @override
    async def fetch(self) -> SourceFrame:
        """Return a picture asked for now.

        Raises:
            PictureError: The camera is missing or gives no picture.

        """
        requested_at = asyncio.get_running_loop().time()
        try:
            image = await async_get_image(
                self._hass, self._entity_id, timeout=CAMERA_TIMEOUT_S
            )
        except (HomeAssistantError, ClientError, OSError) as err:
            raise PictureError(
                f"the camera {self._entity_id} gives no picture: {err}"
            ) from err
        return SourceFrame(
            data=image.content,
            content_type=image.content_type,
            captured_at=requested_at,
            sequence=None,
        )
