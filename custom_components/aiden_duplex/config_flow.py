"""The config flow: link, picture, the two models; each is checked before it is kept."""

from typing import Any, override

from homeassistant.config_entries import ConfigFlow, ConfigFlowResult
from homeassistant.const import CONF_API_KEY, CONF_DEVICE, CONF_MODEL
from homeassistant.data_entry_flow import section
from homeassistant.helpers import selector
import voluptuous as vol

from .const import (
    CONF_BACKGROUND,
    CONF_BASE_URL,
    CONF_BOARD_ID,
    CONF_CAMERA,
    CONF_FOREGROUND,
    CONF_PICTURE,
    CONF_SNAPSHOT_URL,
    CONF_TOUCH_SPACE,
    DEFAULT_BASE_URL,
    DEFAULT_FOREGROUND_MODEL,
    DOMAIN,
)
from .home.checks import (
    Problem,
    async_check_background,
    async_check_board,
    async_check_foreground,
    async_check_picture,
)
from .phone.coordinates import TouchSpace

SECTION_ADVANCED = "advanced"

_URL = selector.TextSelector(
    selector.TextSelectorConfig(type=selector.TextSelectorType.URL)
)
_PASSWORD = selector.TextSelector(
    selector.TextSelectorConfig(type=selector.TextSelectorType.PASSWORD)
)

LINK_SCHEMA = vol.Schema(
    {
        vol.Optional(CONF_DEVICE): selector.SerialPortSelector(),
        vol.Required(SECTION_ADVANCED): section(
            vol.Schema(
                {
                    vol.Required(
                        CONF_TOUCH_SPACE, default=TouchSpace.FRAME.value
                    ): selector.SelectSelector(
                        selector.SelectSelectorConfig(
                            options=[space.value for space in TouchSpace],
                            translation_key=CONF_TOUCH_SPACE,
                        )
                    )
                }
            ),
            {"collapsed": True},
        ),
    }
)
PICTURE_SCHEMA = vol.Schema(
    {
        vol.Optional(CONF_SNAPSHOT_URL): _URL,
        vol.Optional(CONF_CAMERA): selector.EntitySelector(
            selector.EntitySelectorConfig(domain="camera")
        ),
    }
)
FOREGROUND_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_BASE_URL, default=DEFAULT_BASE_URL): _URL,
        vol.Required(CONF_API_KEY): _PASSWORD,
        vol.Required(CONF_MODEL, default=DEFAULT_FOREGROUND_MODEL): str,
    }
)
BACKGROUND_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_BASE_URL, default=DEFAULT_BASE_URL): _URL,
        vol.Optional(CONF_API_KEY): _PASSWORD,
        vol.Required(CONF_MODEL): str,
    }
)


class AidenConfigFlow(ConfigFlow, domain=DOMAIN):
    """Sets up one phone."""

    VERSION = 1

    def __init__(self) -> None:
        """Start with nothing known."""
        self._data: dict[str, Any] = {}

    @override
    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the board's port and shake hands; it may come later."""
        problem: Problem | None = None
        if user_input is not None:
            device = _text(user_input, CONF_DEVICE)
            problem = await self._async_take_board(device) if device else None
            if problem is None:
                self._data[CONF_DEVICE] = device
                self._data[CONF_TOUCH_SPACE] = user_input[SECTION_ADVANCED][
                    CONF_TOUCH_SPACE
                ]
                return await self.async_step_picture()
        return self._form("user", LINK_SCHEMA, user_input, problem)

    async def _async_take_board(self, device: str) -> Problem | None:
        """Bind the entry to the board behind a port."""
        self._async_abort_entries_match({CONF_DEVICE: device})
        board = await async_check_board(device)
        if isinstance(board, Problem):
            return board
        await self.async_set_unique_id(board.board_id)
        self._abort_if_unique_id_configured()
        self._data[CONF_BOARD_ID] = board.board_id
        return None

    async def async_step_picture(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask where the phone's picture comes from and fetch one."""
        problem: Problem | None = None
        if user_input is not None:
            url, camera = (
                _text(user_input, CONF_SNAPSHOT_URL),
                user_input.get(CONF_CAMERA),
            )
            if url and camera:
                problem = Problem(key="picture_twice", detail="")
            else:
                problem = await async_check_picture(
                    self.hass, snapshot_url=url, camera_entity_id=camera
                )
            if problem is None:
                self._data[CONF_PICTURE] = {CONF_SNAPSHOT_URL: url, CONF_CAMERA: camera}
                return await self.async_step_foreground()
        return self._form("picture", PICTURE_SCHEMA, user_input, problem)

    async def async_step_foreground(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the conversation's model and open a session with it."""
        problem: Problem | None = None
        if user_input is not None:
            model = _model(user_input)
            problem = await async_check_foreground(
                self.hass,
                base_url=model[CONF_BASE_URL],
                api_key=model[CONF_API_KEY] or "",
                model=model[CONF_MODEL],
            )
            if problem is None:
                self._data[CONF_FOREGROUND] = model
                return await self.async_step_background()
        return self._form("foreground", FOREGROUND_SCHEMA, user_input, problem)

    async def async_step_background(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the model that operates the phone and let it look at a picture."""
        problem: Problem | None = None
        if user_input is not None:
            model = _model(user_input)
            problem = await async_check_background(
                self.hass,
                base_url=model[CONF_BASE_URL],
                api_key=model[CONF_API_KEY],
                model=model[CONF_MODEL],
            )
            if problem is None:
                self._data[CONF_BACKGROUND] = model
                return self.async_create_entry(title="Aiden", data=self._data)
        else:
            foreground = self._data[CONF_FOREGROUND]
            suggested = {
                name: foreground[name] for name in (CONF_BASE_URL, CONF_API_KEY)
            }
            return self._form("background", BACKGROUND_SCHEMA, suggested, None)
        return self._form("background", BACKGROUND_SCHEMA, user_input, problem)

    def _form(
        self,
        step_id: str,
        schema: vol.Schema,
        values: dict[str, Any] | None,
        problem: Problem | None,
    ) -> ConfigFlowResult:
        """Show a step with what was typed and what was wrong with it."""
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, values or {}),
            errors={"base": problem.key} if problem else {},
            description_placeholders={"detail": problem.detail if problem else ""},
        )


def _text(user_input: dict[str, Any], name: str) -> str | None:
    """Return a trimmed text, None when it is absent or empty."""
    return (user_input.get(name) or "").strip() or None


def _model(user_input: dict[str, Any]) -> dict[str, Any]:
    """Return a model's settings, trimmed; a pasted key may begin with "Bearer"."""
    key = _text(user_input, CONF_API_KEY)
    return {
        CONF_BASE_URL: (_text(user_input, CONF_BASE_URL) or "").rstrip("/"),
        CONF_API_KEY: key and key.removeprefix("Bearer ").strip(),
        CONF_MODEL: _text(user_input, CONF_MODEL),
    }
