"""Constants of the Aiden Duplex integration."""

from typing import Final

from homeassistant.const import Platform

DOMAIN: Final = "aiden_duplex"

PLATFORMS: Final = (
    Platform.BINARY_SENSOR,
    Platform.BUTTON,
    Platform.CONVERSATION,
    Platform.EVENT,
    Platform.IMAGE,
    Platform.SENSOR,
    Platform.SWITCH,
)

CONF_BACKGROUND: Final = "background"
CONF_BASE_URL: Final = "base_url"
CONF_BOARD_ID: Final = "board_id"
CONF_CAMERA: Final = "camera_entity_id"
CONF_FOREGROUND: Final = "foreground"
CONF_PART: Final = "part"
"""Which model a new key is asked for: ``foreground`` or ``background``."""
CONF_PICTURE: Final = "picture"
CONF_RESERVE: Final = "reserve_s"
CONF_SHOW_PICTURE: Final = "show_picture"
CONF_SLOTS: Final = "slots"
CONF_SNAPSHOT_URL: Final = "snapshot_url"
CONF_TOUCH_SPACE: Final = "touch_space"

DEFAULT_BASE_URL: Final = "https://api.openai.com/v1"
DEFAULT_FOREGROUND_MODEL: Final = "gpt-realtime"

DEFAULT_RESERVE: Final = 120
"""Seconds for which the phone stays with a person who has to do something on it."""
DEFAULT_SLOTS: Final = 4
MAX_SLOTS: Final = 16
"""Task sensors of an entry (option)."""

EVENT_TASK: Final = "aiden_duplex_task"
"""Fired for what the logbook shows of a task, in the context of who asked for it."""
ATTR_GOAL: Final = "goal"
ATTR_TYPE: Final = "type"

MANUFACTURER: Final = "Aiden Duplex"
