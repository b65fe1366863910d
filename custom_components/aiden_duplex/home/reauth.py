"""Asks the person for a new key when a service refuses the present one."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant

from ..const import CONF_BACKGROUND, CONF_PART
from ..models.chat.messages import ChatMessage, ChatModel, ChatReply, ToolChoice
from ..models.errors import ModelError, ModelErrorKind
from ..models.tools import ToolSpec


@contextmanager
def asking_for_key(
    hass: HomeAssistant, entry: ConfigEntry[Any], part: str
) -> Generator[None]:
    """Ask for a new key if the service of a model refuses the present one.

    Home Assistant asks once, however often it is refused. The error goes its way.
    """
    try:
        yield
    except ModelError as err:
        if err.kind is ModelErrorKind.AUTHENTICATION:
            entry.async_start_reauth(hass, data={CONF_PART: part})
        raise


class KeyWatchedChat(ChatModel):
    """The phone's model; a refused key is asked for anew."""

    def __init__(
        self, hass: HomeAssistant, entry: ConfigEntry[Any], chat: ChatModel
    ) -> None:
        """Keep the model that does the work."""
        self._hass = hass
        self._entry = entry
        self._chat = chat

    @override
    async def complete(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
    ) -> ChatReply:
        """Return the model's next message."""
        with asking_for_key(self._hass, self._entry, CONF_BACKGROUND):
            return await self._chat.complete(messages, tools, tool_choice=tool_choice)
