"""Constants of the Aiden Duplex integration."""

from typing import Final

from homeassistant.const import Platform

DOMAIN: Final = "aiden_duplex"

PLATFORMS: Final = (
    Platform.BINARY_SENSOR,
    Platform.CONVERSATION,
    Platform.EVENT,
    Platform.SENSOR,
)

CONF_BACKGROUND: Final = "background"
CONF_BASE_URL: Final = "base_url"
CONF_BOARD_ID: Final = "board_id"
CONF_CAMERA: Final = "camera_entity_id"
CONF_FOREGROUND: Final = "foreground"
CONF_PICTURE: Final = "picture"
CONF_SNAPSHOT_URL: Final = "snapshot_url"
CONF_TOUCH_SPACE: Final = "touch_space"

DEFAULT_BASE_URL: Final = "https://api.openai.com/v1"
DEFAULT_FOREGROUND_MODEL: Final = "gpt-realtime"

MANUFACTURER: Final = "Aiden Duplex"
