"""The actions: entity actions on the task sensor, so that permissions apply."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from homeassistant.components.sensor import DOMAIN as SENSOR_DOMAIN
from homeassistant.core import HomeAssistant, SupportsResponse, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.service import async_register_platform_entity_service
from homeassistant.helpers.typing import VolDictType
import voluptuous as vol

from . import phone_actions
from .const import DOMAIN
from .tasks.errors import (
    ConsentNeedsPersonError,
    ConsentNeedsYesError,
    DuplicateTaskError,
    HaltedError,
    NotRunningError,
    NotUpdatableError,
    NotWaitingError,
    RolloverError,
    StaleQuestionError,
    TaskError,
    TaskNotFoundError,
    TaskQueueFullError,
    TaskValueError,
)
from .tasks.model import Decision

FEATURE_TASKS: Final = 1
"""Feature bit of the task sensor: other sensors of the device are no targets."""

CREATE_SCHEMA: Final[VolDictType] = {
    vol.Required("goal"): cv.string,
    vol.Optional("repeat", default=False): cv.boolean,
}
UPDATE_SCHEMA: Final[VolDictType] = {
    vol.Required("task_id"): cv.string,
    vol.Required("goal"): cv.string,
}
CANCEL_SCHEMA: Final[VolDictType] = {vol.Required("task_id"): cv.string}
RESPOND_SCHEMA: Final[VolDictType] = {
    vol.Required("task_id"): cv.string,
    vol.Required("message"): cv.string,
    vol.Optional("decision", default=Decision.ANSWERED.value): vol.In(
        [decision.value for decision in Decision]
    ),
    vol.Optional("question_id"): cv.string,
}
QUERY_SCHEMA: Final[VolDictType] = {
    vol.Optional("task_id"): cv.string,
    vol.Optional("include_finished", default=False): cv.boolean,
}

EXPORT_SCHEMA: Final[VolDictType] = {
    vol.Optional("task_id"): cv.string,
    vol.Optional("start"): cv.datetime,
    vol.Optional("end"): cv.datetime,
    vol.Optional("limit", default=100): vol.All(
        vol.Coerce(int), vol.Range(min=1, max=1000)
    ),
}
TAKE_OVER_SCHEMA: Final[VolDictType] = {vol.Optional("task_id"): cv.string}
KILL_SWITCH_SCHEMA: Final[VolDictType] = {vol.Required("active"): cv.boolean}

_ACTIONS: Final[dict[str, tuple[VolDictType, SupportsResponse]]] = {
    "create_task": (CREATE_SCHEMA, SupportsResponse.OPTIONAL),
    "update_task": (UPDATE_SCHEMA, SupportsResponse.OPTIONAL),
    "cancel_task": (CANCEL_SCHEMA, SupportsResponse.OPTIONAL),
    "respond": (RESPOND_SCHEMA, SupportsResponse.OPTIONAL),
    "query_tasks": (QUERY_SCHEMA, SupportsResponse.ONLY),
    "export_audit": (EXPORT_SCHEMA, SupportsResponse.ONLY),
    "take_over": (TAKE_OVER_SCHEMA, SupportsResponse.OPTIONAL),
    "set_kill_switch": (KILL_SWITCH_SCHEMA, SupportsResponse.NONE),
    **{
        name: (schema, SupportsResponse.OPTIONAL)
        for name, schema in phone_actions.SCHEMAS.items()
    },
}


@callback
def async_setup_actions(hass: HomeAssistant) -> None:
    """Register the actions."""
    for name, (schema, supports_response) in _ACTIONS.items():
        async_register_platform_entity_service(
            hass,
            DOMAIN,
            name,
            entity_domain=SENSOR_DOMAIN,
            func=f"async_{name}",
            required_features=[FEATURE_TASKS],
            schema=schema,
            supports_response=supports_response,
        )


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn the task manager's errors into Home Assistant's, translated by their code."""
    try:
        yield
    except TaskError as err:
        kind = (
            ServiceValidationError if isinstance(err, _CALLERS) else HomeAssistantError
        )
        raise kind(
            translation_domain=DOMAIN,
            translation_key=err.code,
            translation_placeholders=_placeholders(err),
        ) from err


_CALLERS = (
    ConsentNeedsPersonError,
    ConsentNeedsYesError,
    DuplicateTaskError,
    HaltedError,
    NotRunningError,
    NotUpdatableError,
    NotWaitingError,
    RolloverError,
    StaleQuestionError,
    TaskNotFoundError,
    TaskQueueFullError,
    TaskValueError,
)
"""What the caller can mend; the others are failures."""


def _placeholders(err: TaskError) -> dict[str, str]:
    """Return what the sentences of the translations name."""
    match err:
        case DuplicateTaskError():
            existing = [err.existing] if err.existing else err.outstanding
            return {"existing": ", ".join(task.id for task in existing)}
        case (
            ConsentNeedsPersonError()
            | ConsentNeedsYesError()
            | TaskNotFoundError()
            | NotWaitingError()
            | NotRunningError()
            | NotUpdatableError()
            | StaleQuestionError()
        ):
            return {"task_id": err.task_id}
        case _:
            return {"detail": str(err)}
