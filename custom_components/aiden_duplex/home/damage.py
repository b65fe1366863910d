"""Says in Home Assistant's repairs that a journal was found damaged."""

from collections.abc import Iterable

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from ..const import DOMAIN


@callback
def async_report_damage(
    hass: HomeAssistant, entry_id: str, name: str, damage: Iterable[str]
) -> None:
    """Open an issue that stays until the person has seen it; nothing if all is well.

    The journals themselves go on with what was good.
    """
    detail = "; ".join(damage)
    if not detail:
        return
    ir.async_create_issue(
        hass,
        DOMAIN,
        f"journal_damaged_{entry_id}",
        is_fixable=True,
        # The next start finds the repaired journal and would say nothing.
        is_persistent=True,
        severity=ir.IssueSeverity.WARNING,
        translation_key="journal_damaged",
        translation_placeholders={"name": name, "detail": detail},
    )
