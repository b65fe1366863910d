"""The config flow: board, picture, the two models; each is checked before it is kept."""

from collections.abc import Mapping
from typing import Any, override

from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    ConfigEntry,
    ConfigEntryState,
    ConfigFlow,
    ConfigFlowResult,
)
from homeassistant.const import CONF_API_KEY, CONF_DEVICE, CONF_MODEL, CONF_NAME
from homeassistant.core import callback
from homeassistant.helpers.typing import UNDEFINED, UndefinedType
import voluptuous as vol

from .const import (
    CONF_BACKGROUND,
    CONF_BASE_URL,
    CONF_BOARD_ID,
    CONF_CAMERA,
    CONF_FOREGROUND,
    CONF_PART,
    CONF_PICTURE,
    CONF_SHOW_PICTURE,
    CONF_SNAPSHOT_URL,
    CONF_TOUCH_SPACE,
    DOMAIN,
)
from .flow_steps import (
    BOARD_SCHEMA,
    CONF_MODELS_OF,
    EXAMPLES,
    KEY_SCHEMA,
    MODEL_SCHEMA,
    NEW_FOREGROUND_SCHEMA,
    PICTURE_SCHEMA,
    SECTION_ADVANCED,
    address_of,
    errors,
    free_name,
    key_of,
    model_of,
    models_schema,
    shown,
    suggested_model,
    text,
    touch_space_of,
    user_schema,
    with_key,
)
from .home.checks import (
    BOARD_BUSY,
    KEY_REFUSED,
    Problem,
    async_check_board,
    async_check_model,
    async_check_picture,
)
from .options_flow import AidenOptionsFlow
from .phone.types import LinkState


class AidenConfigFlow(ConfigFlow, domain=DOMAIN):
    """Sets up one phone, and changes its parts one by one."""

    VERSION = 1

    def __init__(self) -> None:
        """Start with nothing known."""
        self._title = ""
        self._data: dict[str, Any] = {}
        self._options: dict[str, Any] = {}
        self._tried: dict[str, dict[str, Any]] = {}
        """Settings of a model that were typed in this flow and whose key was not refused."""

    @staticmethod
    @callback
    @override
    def async_get_options_flow(config_entry: ConfigEntry) -> AidenOptionsFlow:
        """Return the flow of the options."""
        return AidenOptionsFlow()

    @override
    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for a name and the board's port and shake hands; the board may come later."""
        name = free_name({entry.title for entry in self._async_current_entries()})
        problem: Problem | None = None
        if user_input is not None:
            problem = await self._async_take_board(text(user_input, CONF_DEVICE))
            if problem is None:
                self._title = text(user_input, CONF_NAME) or name
                self._data[CONF_TOUCH_SPACE] = touch_space_of(user_input)
                return await self.async_step_picture()
        return self._form("user", user_schema(name), user_input, problem)

    async def async_step_picture(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask where the phone's picture comes from and fetch one."""
        entry = self._changed
        present = entry.data[CONF_PICTURE] if entry else {}
        present_url = present.get(CONF_SNAPSHOT_URL)
        values = {**present, CONF_SNAPSHOT_URL: shown(present_url)}
        if entry:
            values |= entry.options
        problem: Problem | None = None
        if user_input is not None:
            values = user_input
            url = address_of(user_input, CONF_SNAPSHOT_URL, present_url)
            camera = user_input.get(CONF_CAMERA)
            problem = await async_check_picture(
                self.hass, snapshot_url=url, camera_entity_id=camera
            )
            if problem is None:
                self._data[CONF_PICTURE] = {CONF_SNAPSHOT_URL: url, CONF_CAMERA: camera}
                self._options = {CONF_SHOW_PICTURE: user_input[CONF_SHOW_PICTURE]}
                return self._async_save() if entry else await self.async_step_models()
        return self._form("picture", PICTURE_SCHEMA, values, problem)

    async def async_step_models(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Offer the models of the phones that are set up; they are tried like others."""
        entries = {
            entry.entry_id: entry
            for entry in self._async_current_entries(include_ignore=False)
        }
        if not entries:
            return await self.async_step_foreground()
        schema = models_schema({key: entry.title for key, entry in entries.items()})
        if user_input is None:
            return self._form("models", schema, {CONF_MODELS_OF: next(iter(entries))})
        if (chosen := user_input.get(CONF_MODELS_OF)) is None:
            return await self.async_step_foreground()
        for part in (CONF_FOREGROUND, CONF_BACKGROUND):
            model = dict(entries[chosen].data[part])
            if problem := await async_check_model(self.hass, part, model):
                return self._form("models", schema, user_input, problem)
            self._data[part] = model
        return self._async_create()

    async def async_step_foreground(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the conversation's model and open a session with it."""
        return await self._async_model_step(CONF_FOREGROUND, user_input)

    async def async_step_background(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the model that operates the phone and let it look at a picture."""
        return await self._async_model_step(CONF_BACKGROUND, user_input)

    async def _async_model_step(
        self, part: str, user_input: dict[str, Any] | None
    ) -> ConfigFlowResult:
        """Ask for a model and try it."""
        entry = self._changed
        present = entry.data[part] if entry else None
        problem: Problem | None = None
        if user_input is not None:
            model = model_of(user_input, self._tried.get(part), present)
            problem = await async_check_model(self.hass, part, model)
            if problem is None:
                self._data[part] = model
                return await self._async_after_model(part)
            if problem.key != KEY_REFUSED:
                self._tried[part] = model
        is_key_needed = part == CONF_FOREGROUND and entry is None
        schema = NEW_FOREGROUND_SCHEMA if is_key_needed else MODEL_SCHEMA
        values = dict(user_input or present or suggested_model(part, self._data))
        if entry:
            # A key that is kept is never shown again; an empty field keeps it.
            values.pop(CONF_API_KEY, None)
        return self._form(part, schema, values, problem)

    async def _async_after_model(self, part: str) -> ConfigFlowResult:
        """Go on to the other model, or keep what was changed."""
        if self._changed:
            return self._async_save()
        if part == CONF_FOREGROUND:
            return await self.async_step_background()
        return self._async_create()

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Let the person choose the part to change."""
        return self.async_show_menu(
            step_id="reconfigure",
            menu_options=["board", "picture", "foreground", "background"],
        )

    async def async_step_board(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the board anew; another may take the place of the old one."""
        entry = self._get_reconfigure_entry()
        present = entry.data[CONF_DEVICE]
        values: dict[str, Any] = {
            CONF_DEVICE: shown(present),
            SECTION_ADVANCED: {CONF_TOUCH_SPACE: entry.data[CONF_TOUCH_SPACE]},
        }
        problem: Problem | None = None
        if user_input is not None:
            values = user_input
            device = address_of(user_input, CONF_DEVICE, present)
            problem = await self._async_change_board(entry, device)
            if problem is None:
                self._data[CONF_TOUCH_SPACE] = touch_space_of(user_input)
                return self._async_save(unique_id=self._data[CONF_BOARD_ID])
        return self._form("board", BOARD_SCHEMA, values, problem)

    async def _async_change_board(
        self, entry: ConfigEntry, device: str | None
    ) -> Problem | None:
        """Bind the entry to the board behind a port, which it may hold itself."""
        is_loaded = entry.state is ConfigEntryState.LOADED
        if (
            is_loaded
            and device == entry.data[CONF_DEVICE]
            and entry.runtime_data.phone.link is not LinkState.DOWN
        ):
            self._data |= {
                name: entry.data.get(name) for name in (CONF_DEVICE, CONF_BOARD_ID)
            }
            return None
        problem = await self._async_take_board(device)
        if problem is None or problem.key != BOARD_BUSY or not is_loaded:
            return problem
        is_taken = False
        await self.hass.config_entries.async_unload(entry.entry_id)
        try:
            problem = await self._async_take_board(device)
            is_taken = problem is None
        finally:
            if not is_taken:
                await self.hass.config_entries.async_setup(entry.entry_id)
        return problem

    async def _async_take_board(self, device: str | None) -> Problem | None:
        """Shake hands with the board behind a port that no other phone has."""
        self._data |= {CONF_DEVICE: device, CONF_BOARD_ID: None}
        if device is None:
            return None
        self._async_abort_entries_match({CONF_DEVICE: device})
        board = await async_check_board(device)
        if isinstance(board, Problem):
            return board
        known = await self.async_set_unique_id(board.board_id)
        if known and known.entry_id != self.context.get("entry_id"):
            self._abort_if_unique_id_configured()
        self._data[CONF_BOARD_ID] = board.board_id
        return None

    async def async_step_reauth(
        self, entry_data: Mapping[str, Any]
    ) -> ConfigFlowResult:
        """Ask for the key of the model that lost it."""
        if entry_data[CONF_PART] == CONF_BACKGROUND:
            return await self.async_step_reauth_background()
        return await self.async_step_reauth_foreground()

    async def async_step_reauth_foreground(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the key of the conversation's model."""
        return await self._async_reauth_step(CONF_FOREGROUND, user_input)

    async def async_step_reauth_background(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the key of the model that operates the phone."""
        return await self._async_reauth_step(CONF_BACKGROUND, user_input)

    async def _async_reauth_step(
        self, part: str, user_input: dict[str, Any] | None
    ) -> ConfigFlowResult:
        """Ask for a key and try it; both models get it if they shared the old one."""
        entry = self._get_reauth_entry()
        present = entry.data[part]
        problem: Problem | None = None
        if user_input is not None:
            key = key_of(user_input)
            model = {**present, CONF_API_KEY: key}
            problem = await async_check_model(self.hass, part, model)
            if problem is None:
                return self.async_update_reload_and_abort(
                    entry, data_updates=with_key(entry.data, part, key)
                )
        return self._form(
            f"reauth_{part}",
            KEY_SCHEMA,
            None,
            problem,
            model=present[CONF_MODEL],
            address=shown(present[CONF_BASE_URL]) or "",
        )

    @property
    def _changed(self) -> ConfigEntry | None:
        """Return the entry whose parts are changed; None at a first setup."""
        if self.source == SOURCE_RECONFIGURE:
            return self._get_reconfigure_entry()
        return None

    def _async_create(self) -> ConfigFlowResult:
        """Set the phone up."""
        return self.async_create_entry(
            title=self._title, data=self._data, options=self._options
        )

    def _async_save(
        self, *, unique_id: str | UndefinedType | None = UNDEFINED
    ) -> ConfigFlowResult:
        """Keep the changed part and reload the entry."""
        entry = self._get_reconfigure_entry()
        return self.async_update_reload_and_abort(
            entry,
            unique_id=unique_id,
            data_updates=self._data,
            options={**entry.options, **self._options},
        )

    def _form(
        self,
        step_id: str,
        schema: vol.Schema,
        values: Mapping[str, Any] | None,
        problem: Problem | None = None,
        **placeholders: str,
    ) -> ConfigFlowResult:
        """Show a step with what was typed and what was wrong with it."""
        detail = problem.detail if problem else ""
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, values),
            errors=errors(schema, problem),
            description_placeholders={"detail": detail, **EXAMPLES, **placeholders},
        )
