"""The items of a realtime conversation."""

import base64
import binascii
import re
from typing import Any

from openai.types.realtime.conversation_item_param import ConversationItemParam

from simulator.models.identifiers import new_id
from simulator.models.pictures import PictureUrlError, decode_data_url
from simulator.models.schema import first_problem

from .errors import RealtimeError, from_problem

_MAX_ID = 32
_CALL_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_NEEDS = {
    "input_text": "text",
    "output_text": "text",
    "input_audio": "audio",
    "input_image": "image_url",
}
"""What a content part of each type must hold."""

type Item = dict[str, Any]


class Conversation:
    """The items in order; the rules of adding and removing."""

    def __init__(self) -> None:
        """Start empty."""
        self._items: list[Item] = []

    @property
    def items(self) -> list[Item]:
        """Return the items in order."""
        return list(self._items)

    def get(self, item_id: str) -> Item | None:
        """Return an item by its id."""
        return next((item for item in self._items if item["id"] == item_id), None)

    def named(self, item_id: str, act: str, doing: str) -> Item:
        """Return the item that an event is about.

        Raises:
            RealtimeError: It does not exist.

        """
        item = self.get(item_id)
        if item is None:
            raise RealtimeError(
                message=f"Error {doing} item: the item with id '{item_id}' does not exist.",
                code=f"item_{act}_invalid_item_id",
                param="item_id",
            )
        return item

    def before(self, item_id: str) -> str | None:
        """Return the id of the item in front of another."""
        ids = [None, *(item["id"] for item in self._items)]
        return ids[ids.index(item_id) - 1] if item_id in ids else None

    def append(self, item: Item) -> str | None:
        """Add an item of the server's own; return the id before it."""
        previous = self._items[-1]["id"] if self._items else None
        self._items.append(item)
        return previous

    def create(
        self, item: Any, previous_item_id: str | None
    ) -> tuple[Item, str | None]:
        """Add a client's item; return it as stored and the id before it.

        Raises:
            RealtimeError: The item breaks a rule; nothing was added.

        """
        check_item(item, "item", known_calls=self._calls())
        if self.get(item.get("id", "")):
            raise RealtimeError(
                message=f"Error adding item: an item with id '{item['id']}' already exists.",
                code="item_create_duplicate_item_id",
                param="item.id",
            )
        index = self._index_after(previous_item_id)
        stored = {
            "object": "realtime.item",
            "status": "completed",
            **item,
            "id": item.get("id") or new_id("item"),
        }
        if stored["type"] == "function_call":
            stored.setdefault("call_id", new_id("call", 16))
        self._items.insert(index, stored)
        return stored, self._items[index - 1]["id"] if index else None

    def delete(self, item_id: str) -> None:
        """Remove an item.

        Raises:
            RealtimeError: It does not exist.

        """
        self._items.remove(self.named(item_id, "delete", "deleting"))

    def _calls(self) -> set[str]:
        return {i["call_id"] for i in self._items if i["type"] == "function_call"}

    def _index_after(self, previous_item_id: str | None) -> int:
        if previous_item_id is None:
            return len(self._items)
        if previous_item_id == "root":
            return 0
        for index, item in enumerate(self._items):
            if item["id"] == previous_item_id:
                return index + 1
        raise RealtimeError(
            message=f"Error adding item: the previous item with id '{previous_item_id}' does not exist.",
            code="item_create_invalid_previous_item_id",
            param="previous_item_id",
        )


def check_item(item: Any, path: str, *, known_calls: set[str]) -> None:
    """Check a client's item.

    Raises:
        RealtimeError: It breaks a rule.

    """
    if problem := first_problem(item, ConversationItemParam, path):
        raise from_problem(problem)
    if len(item.get("id", "")) > _MAX_ID:
        raise RealtimeError(
            message=f"Invalid '{path}.id': string too long. Expected a string with maximum length "
            f"{_MAX_ID}, but got a string with length {len(item['id'])} instead.",
            code="string_above_max_length",
            param=f"{path}.id",
        )
    if item["type"] == "message":
        _check_content(item, path)
    if "call_id" in item and not _CALL_ID.match(item["call_id"]):
        raise RealtimeError(
            message=f"Invalid '{path}.call_id': string does not match pattern. Expected a string "
            "that matches the pattern '^[a-zA-Z0-9_-]+$'.",
            code="invalid_value",
            param=f"{path}.call_id",
        )
    if item["type"] == "function_call_output" and item["call_id"] not in known_calls:
        raise RealtimeError(
            message=f"Tool call ID '{item['call_id']}' not found in conversation.",
            code="invalid_tool_call_id",
        )


def _check_content(item: Item, path: str) -> None:
    if not item["content"]:
        raise RealtimeError(
            message=f"Invalid '{path}.content': empty array. Expected an array with minimum length "
            "1, but got an empty array instead.",
            code="empty_array",
            param=f"{path}.content",
        )
    for index, part in enumerate(item["content"]):
        where = f"{path}.content[{index}]"
        if "type" not in part:
            raise _missing(f"{where}.type")
        if part["type"] == "output_audio":
            raise RealtimeError(
                message="Assistant audio cannot be added by the client.",
                code="invalid_value",
                param=f"{where}.type",
            )
        if _NEEDS[part["type"]] not in part:
            raise _missing(f"{where}.{_NEEDS[part['type']]}")
        _check_part(part, where)


def _check_part(part: dict[str, Any], where: str) -> None:
    match part["type"]:
        case "input_image":
            try:
                decode_data_url(part["image_url"])
            except PictureUrlError as err:
                raise RealtimeError(
                    message=str(err), code="invalid_value", param=f"{where}.image_url"
                ) from err
        case "input_audio":
            decode_audio(part["audio"], f"{where}.audio")
        case _ if not part["text"]:
            raise RealtimeError(
                message=f"Invalid '{where}.text': empty string. Expected a string with minimum "
                "length 1, but got an empty string instead.",
                code="empty_string",
                param=f"{where}.text",
            )


def decode_audio(text: str, param: str) -> bytes:
    """Return the bytes of base64 sound.

    Raises:
        RealtimeError: It is no base64.

    """
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise RealtimeError(
            message=f"Invalid '{param}'. Expected base64-encoded audio bytes, but got an invalid value.",
            code="invalid_value",
            param=param,
        ) from None


def _missing(param: str) -> RealtimeError:
    return RealtimeError(
        message=f"Missing required parameter: '{param}'.",
        code="missing_required_parameter",
        param=param,
    )
