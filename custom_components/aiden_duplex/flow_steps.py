"""What the flows ask: their forms, and how an answer is read."""

from collections.abc import Collection, Mapping
import itertools
import re
from typing import Any

from homeassistant.const import CONF_API_KEY, CONF_DEVICE, CONF_MODEL, CONF_NAME
from homeassistant.data_entry_flow import section
from homeassistant.helpers import selector
import voluptuous as vol

from .const import (
    CONF_BACKGROUND,
    CONF_BASE_URL,
    CONF_CAMERA,
    CONF_FOREGROUND,
    CONF_RESERVE,
    CONF_SHOW_PICTURE,
    CONF_SLOTS,
    CONF_SNAPSHOT_URL,
    CONF_TOUCH_SPACE,
    DEFAULT_BASE_URL,
    DEFAULT_FOREGROUND_MODEL,
    DEFAULT_RESERVE,
    DEFAULT_SLOTS,
    MAX_SLOTS,
)
from .home.checks import Problem
from .phone.coordinates import TouchSpace

CONF_MODELS_OF = "models_of"
SECTION_ADVANCED = "advanced"
DEFAULT_NAME = "Aiden"
MAX_RESERVE_S = 3600

_URL = selector.TextSelector(
    selector.TextSelectorConfig(type=selector.TextSelectorType.URL)
)
_PASSWORD = selector.TextSelector(
    selector.TextSelectorConfig(type=selector.TextSelectorType.PASSWORD)
)
_BOARD_FIELDS = {
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

BOARD_SCHEMA = vol.Schema(_BOARD_FIELDS)
PICTURE_SCHEMA = vol.Schema(
    {
        vol.Optional(CONF_SNAPSHOT_URL): _URL,
        vol.Optional(CONF_CAMERA): selector.EntitySelector(
            selector.EntitySelectorConfig(domain="camera")
        ),
        vol.Required(CONF_SHOW_PICTURE, default=False): selector.BooleanSelector(),
    }
)
NEW_FOREGROUND_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_BASE_URL, default=DEFAULT_BASE_URL): _URL,
        vol.Required(CONF_API_KEY): _PASSWORD,
        vol.Required(CONF_MODEL, default=DEFAULT_FOREGROUND_MODEL): str,
    }
)
MODEL_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_BASE_URL, default=DEFAULT_BASE_URL): _URL,
        vol.Optional(CONF_API_KEY): _PASSWORD,
        vol.Required(CONF_MODEL): str,
    }
)
KEY_SCHEMA = vol.Schema({vol.Required(CONF_API_KEY): _PASSWORD})
OPTIONS_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_SLOTS, default=DEFAULT_SLOTS): vol.All(
            selector.NumberSelector(
                selector.NumberSelectorConfig(
                    min=1, max=MAX_SLOTS, mode=selector.NumberSelectorMode.BOX
                )
            ),
            vol.Coerce(int),
        ),
        vol.Required(CONF_RESERVE, default=DEFAULT_RESERVE): vol.All(
            selector.NumberSelector(
                selector.NumberSelectorConfig(
                    min=0,
                    max=MAX_RESERVE_S,
                    unit_of_measurement="s",
                    mode=selector.NumberSelectorMode.BOX,
                )
            ),
            vol.Coerce(int),
        ),
        vol.Required(CONF_SHOW_PICTURE, default=False): selector.BooleanSelector(),
    }
)

EXAMPLES = {"board_example": "socket://host:port", "service_example": DEFAULT_BASE_URL}
"""Placeholders of the texts: translations may hold no addresses."""

_FIELD_OF = {
    "address_invalid": CONF_BASE_URL,
    "camera_unusable": CONF_CAMERA,
    "model_authentication": CONF_API_KEY,
    "model_bad_request": CONF_MODEL,
    "model_context_overflow": CONF_MODEL,
    "model_model_unknown": CONF_MODEL,
    "model_network": CONF_BASE_URL,
    "model_protocol": CONF_BASE_URL,
    "model_timeout": CONF_BASE_URL,
    "picture_unusable": CONF_SNAPSHOT_URL,
}
"""Which field a problem belongs to, where that is certain."""


def user_schema(name: str) -> vol.Schema:
    """Return the first form, with the name that it offers."""
    return vol.Schema({vol.Required(CONF_NAME, default=name): str, **_BOARD_FIELDS})


def models_schema(titles: Mapping[str, str]) -> vol.Schema:
    """Return the choice of a phone, by its entry's id, whose models to take over."""
    options = [
        selector.SelectOptionDict(value=entry_id, label=title)
        for entry_id, title in titles.items()
    ]
    return vol.Schema(
        {
            vol.Optional(CONF_MODELS_OF): selector.SelectSelector(
                selector.SelectSelectorConfig(
                    options=options, mode=selector.SelectSelectorMode.DROPDOWN
                )
            )
        }
    )


def errors(schema: vol.Schema, problem: Problem | None) -> dict[str, str]:
    """Return the problem at its field, or at the form if it belongs to none of it."""
    if problem is None:
        return {}
    field = _FIELD_OF.get(problem.key)
    if problem.key.startswith("board_"):
        field = CONF_DEVICE
    return {field if field and field in schema.schema else "base": problem.key}


def free_name(taken: Collection[str]) -> str:
    """Return the first of "Aiden", "Aiden 2", "Aiden 3", ... that no phone has."""
    names = (f"{DEFAULT_NAME} {number}" for number in itertools.count(2))
    return next(
        name for name in itertools.chain((DEFAULT_NAME,), names) if name not in taken
    )


def text(user_input: Mapping[str, Any], name: str) -> str | None:
    """Return a trimmed text, None when it is absent or empty."""
    return (user_input.get(name) or "").strip() or None


def touch_space_of(user_input: Mapping[str, Any]) -> str:
    """Return what touches of the phone span."""
    space: str = user_input[SECTION_ADVANCED][CONF_TOUCH_SPACE]
    return space


def key_of(user_input: Mapping[str, Any]) -> str | None:
    """Return the key that was typed; a pasted one may begin with "Bearer"."""
    key = text(user_input, CONF_API_KEY)
    return key and key.removeprefix("Bearer ").strip()


def shown(address: str | None) -> str | None:
    """Return an address as a form may show it again: without password and query."""
    return address and re.sub(r"//[^/@]*@", "//", address.partition("?")[0])


def address_of(
    user_input: Mapping[str, Any], name: str, present: str | None
) -> str | None:
    """Return the address that was typed; one left as it was shown is the present one."""
    typed = text(user_input, name)
    return present if typed and typed == shown(present) else typed


def model_of(
    user_input: Mapping[str, Any], *known: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return a model's settings; without a key, that of the first known at this address.

    A key never goes to another address than the one it was entered for.
    """
    base_url = (text(user_input, CONF_BASE_URL) or "").rstrip("/")
    kept = (
        model[CONF_API_KEY]
        for model in known
        if model and model[CONF_BASE_URL] == base_url
    )
    return {
        CONF_BASE_URL: base_url,
        CONF_API_KEY: key_of(user_input) or next(kept, None),
        CONF_MODEL: text(user_input, CONF_MODEL) or "",
    }


def suggested_model(part: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a new model may have in common with the one that was entered before."""
    if part != CONF_BACKGROUND:
        return {}
    foreground = data[CONF_FOREGROUND]
    return {name: foreground[name] for name in (CONF_BASE_URL, CONF_API_KEY)}


def with_key(data: Mapping[str, Any], part: str, key: str | None) -> dict[str, Any]:
    """Return the models with a new key for one, and for the other if it shared the old."""
    old = data[part]
    return {
        name: {**model, CONF_API_KEY: key}
        for name in (CONF_FOREGROUND, CONF_BACKGROUND)
        if (model := data.get(name))
        and all(model[item] == old[item] for item in (CONF_BASE_URL, CONF_API_KEY))
    }
