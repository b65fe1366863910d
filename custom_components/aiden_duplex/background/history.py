"""The conversation with the phone's model: always balanced, always bounded. No I/O."""

from dataclasses import dataclass, replace
import json

from ..models.chat.messages import ChatMessage, ChatReply, ChatRole

TEXT_LIMIT = 4000
"""Characters of one message, and of one call's arguments."""
TOTAL_LIMIT = 80_000
"""Characters of the whole conversation, about 20,000 tokens beside the pictures."""
PINNED = 8
"""Messages of the person that outlive the others."""
OLD_PICTURE = "[PICTURE]: no longer shown."
UNANSWERED = json.dumps(
    {"ok": False, "error": "No result: the call was not completed."}
)


@dataclass(frozen=True, slots=True)
class _Item:
    """A message, and whether it outlives the shortening."""

    message: ChatMessage
    pinned: bool = False

    @property
    def size(self) -> int:
        """Return its characters, without pictures."""
        message = self.message
        return (
            len(message.text)
            + sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
            + (len(str(message.echo)) if message.echo else 0)
        )


class History:
    """What was said to the model and what it answered, in one task.

    Every call has exactly one result, right behind its message, whatever order the
    methods are called in: results for calls that are not open are ignored, and calls
    that are still open when the conversation goes on get :data:`UNANSWERED`.
    """

    def __init__(self, system: str, *, pictures: int = 2) -> None:
        """Start with the rules; ``pictures`` is how many pictures are shown at once."""
        self._system = ChatMessage(role=ChatRole.SYSTEM, text=system)
        self._pictures = pictures
        self._items: list[_Item] = []
        self._open: list[str] = []
        self._left_out = 0

    @property
    def open_calls(self) -> tuple[str, ...]:
        """Return the ids of the calls without a result."""
        return tuple(self._open)

    def add_user(self, text: str, *, pinned: bool = False) -> None:
        """Append words; ``pinned`` ones outlive the shortening of the conversation."""
        self.close_calls()
        self._append(ChatMessage(role=ChatRole.USER, text=_clip(text)), pinned=pinned)

    def add_picture(self, jpeg: bytes, text: str) -> None:
        """Append a picture with its words; the oldest picture makes room for it."""
        self.close_calls()
        self._append(ChatMessage(role=ChatRole.USER, text=_clip(text), images=(jpeg,)))
        self._show(self._pictures)

    def add_reply(self, reply: ChatReply) -> None:
        """Append the model's answer; an empty one leaves no trace."""
        self.close_calls()
        if not reply.text.strip() and not reply.tool_calls:
            return
        calls = tuple(
            call if len(call.arguments) <= TEXT_LIMIT else replace(call, arguments="{}")
            for call in reply.tool_calls
        )
        self._open = [call.call_id for call in calls]
        self._append(
            ChatMessage(
                role=ChatRole.ASSISTANT,
                text=_clip(reply.text),
                tool_calls=calls,
                echo=reply.echo,
            )
        )

    def add_result(self, call_id: str, text: str) -> None:
        """Append the result of an open call."""
        if call_id not in self._open:
            return
        self._open.remove(call_id)
        self._append(
            ChatMessage(role=ChatRole.TOOL, tool_call_id=call_id, text=_clip(text))
        )

    def close_calls(self, text: str = UNANSWERED) -> None:
        """Give every open call the same result."""
        for call_id in self.open_calls:
            self.add_result(call_id, text)

    def hide_pictures(self) -> None:
        """Let go of all pictures."""
        self._show(0)

    def shorten(self) -> None:
        """Leave out about half of the conversation: it was too long for the model."""
        self.close_calls()
        self._trim(sum(item.size for item in self._items) // 2)
        self._show(1)

    def messages(self) -> list[ChatMessage]:
        """Return what to send; neighbouring messages of the user are one message.

        Some servers' templates refuse two in a row.
        """
        self.close_calls()
        result = [self._system]
        for message in [*self._note(), *(item.message for item in self._items)]:
            last = result[-1]
            if message.role is last.role is ChatRole.USER:
                result[-1] = replace(
                    last,
                    text="\n\n".join(filter(None, (last.text, message.text))),
                    images=last.images + message.images,
                )
            else:
                result.append(message)
        return result

    def _note(self) -> list[ChatMessage]:
        """Return what tells that messages are missing."""
        if not self._left_out:
            return []
        text = f"[NOTICE]: {self._left_out} earlier messages of this task are left out."
        return [ChatMessage(role=ChatRole.USER, text=text)]

    def _append(self, message: ChatMessage, *, pinned: bool = False) -> None:
        """Append a message and keep the whole within its bounds."""
        self._items.append(_Item(message, pinned))
        if pinned:
            self._unpin()
        self._trim(TOTAL_LIMIT)

    def _unpin(self) -> None:
        """Keep the first pinned message, which is the goal, and the latest others."""
        pinned = [i for i, item in enumerate(self._items) if item.pinned]
        for index in pinned[1 : -PINNED + 1]:
            self._items[index] = replace(self._items[index], pinned=False)

    def _trim(self, limit: int) -> None:
        """Leave out the oldest exchanges until the rest fits; the last one always stays."""
        excess = sum(item.size for item in self._items) - limit
        index = 0
        while excess > 0 and (end := self._exchange_end(index)) < len(self._items):
            if self._items[index].pinned:
                index += 1
                continue
            excess -= sum(item.size for item in self._items[index:end])
            self._left_out += end - index
            del self._items[index:end]

    def _exchange_end(self, index: int) -> int:
        """Return the index behind a message and the results that belong to it."""
        end = index + 1
        while end < len(self._items) and self._items[end].message.role is ChatRole.TOOL:
            end += 1
        return end

    def _show(self, count: int) -> None:
        """Keep the latest pictures and let go of the bytes of the others."""
        with_picture = [i for i, item in enumerate(self._items) if item.message.images]
        for index in with_picture[: max(len(with_picture) - count, 0)]:
            item = self._items[index]
            self._items[index] = replace(
                item,
                message=replace(
                    item.message,
                    images=(),
                    text=f"{item.message.text}\n{OLD_PICTURE}".strip(),
                ),
            )


def _clip(text: str) -> str:
    """Return a text that is no longer than one message may be."""
    return text if len(text) <= TEXT_LIMIT else f"{text[: TEXT_LIMIT - 1]}…"
