"""The options: how much of the phone's work is shown, and how long it waits."""

from typing import Any

from homeassistant.config_entries import ConfigFlowResult, OptionsFlowWithReload

from .flow_steps import OPTIONS_SCHEMA


class AidenOptionsFlow(OptionsFlowWithReload):
    """Changes the options of one phone."""

    async def async_step_init(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for all options at once."""
        if user_input is not None:
            return self.async_create_entry(data=user_input)
        return self.async_show_form(
            step_id="init",
            data_schema=self.add_suggested_values_to_schema(
                OPTIONS_SCHEMA, self.config_entry.options
            ),
        )
