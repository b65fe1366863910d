"""The conversation agent: text in, the foreground's answer out."""

from collections.abc import AsyncGenerator
import logging
from typing import Literal, override

from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.components import conversation
from homeassistant.const import MATCH_ALL
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import intent
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import DOMAIN
from .entity import AidenEntity
from .foreground.errors import ForegroundBusyError
from .models.errors import ModelError
from .runtime import AidenConfigEntry
from .tasks.model import Origin

PARALLEL_UPDATES = 0
_LOGGER = logging.getLogger(__name__)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: AidenConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up the conversation agent."""
    async_add_entities([AidenConversationEntity(entry)])


class AidenConversationEntity(AidenEntity, conversation.ConversationEntity):
    """Talks through the foreground; our own transcript is the history."""

    _attr_name = None
    _attr_supports_streaming = True

    def __init__(self, entry: AidenConfigEntry) -> None:
        """Name the agent."""
        super().__init__(entry, "assistant")

    @property
    @override
    def supported_languages(self) -> list[str] | Literal["*"]:
        """Return that the model decides."""
        return MATCH_ALL

    @override
    async def _async_handle_message(
        self,
        user_input: conversation.ConversationInput,
        chat_log: conversation.ChatLog,
    ) -> conversation.ConversationResult:
        """Hand the text to the foreground and stream its answer into the chat log."""
        if not user_input.text.strip():
            return self._error(user_input, chat_log, "nothing_heard")
        if not await self._may_control(user_input.context):
            return self._error(user_input, chat_log, "may_not_control")
        speaker = Origin(
            source="conversation",
            user_id=user_input.context.user_id,
            context_id=user_input.context.id,
            device_id=user_input.device_id,
        )
        deltas = self._deltas(user_input.text, speaker)
        try:
            async for _content in chat_log.async_add_delta_content_stream(
                self.entity_id, deltas
            ):
                pass
        except ForegroundBusyError as err:
            return self._error(
                user_input, chat_log, "foreground_busy", guard=str(err.guard)
            )
        except ModelError as err:
            _LOGGER.warning("The conversation model failed: %s", err.message)
            return self._error(
                user_input, chat_log, "conversation_failed", detail=err.message
            )
        finally:
            await deltas.aclose()
        return conversation.async_get_result_from_chat_log(user_input, chat_log)

    async def _deltas(
        self, text: str, speaker: Origin
    ) -> AsyncGenerator[conversation.AssistantContentDeltaDict]:
        """Yield the answer in the chat log's form."""
        yield {"role": "assistant"}
        stream = self.aiden.foreground.converse(text, speaker=speaker)
        try:
            async for delta in stream:
                yield {"content": delta}
        finally:
            await stream.aclose()

    async def _may_control(self, context: Context) -> bool:
        """Return whether who speaks may operate the phone; a satellite has no user."""
        if context.user_id is None:
            return True
        user = await self.hass.auth.async_get_user(context.user_id)
        return user is not None and user.permissions.check_entity(
            self.entity_id, POLICY_CONTROL
        )

    def _error(
        self,
        user_input: conversation.ConversationInput,
        chat_log: conversation.ChatLog,
        key: str,
        **placeholders: str,
    ) -> conversation.ConversationResult:
        """Return a spoken, translated error instead of an answer."""
        error = HomeAssistantError(
            translation_domain=DOMAIN,
            translation_key=key,
            translation_placeholders=placeholders,
        )
        response = intent.IntentResponse(language=user_input.language)
        response.async_set_error(
            intent.IntentResponseErrorCode.FAILED_TO_HANDLE, str(error)
        )
        return conversation.ConversationResult(
            response=response, conversation_id=chat_log.conversation_id
        )
