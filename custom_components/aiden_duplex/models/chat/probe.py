"""The small question that shows whether a model takes pictures and tools. No I/O."""

import base64
from collections.abc import Iterator, Sequence
import re

from ..errors import ModelError, ModelErrorKind
from ..tools import ToolArgumentError, ToolSpec, object_schema, parse_arguments
from .messages import ChatMessage, ChatReply, ChatRole

NO_PICTURES = "The model, or its server, accepts no pictures. The phone model must see."
NO_TOOLS = (
    "The model, or its server, cannot call tools. The phone model must call tools."
)
NOTHING_SEEN = (
    "The model says that no picture reached it. The phone model must see pictures."
)

TOOL = ToolSpec(
    name="report_colour",
    description="Report the colour that fills the picture.",
    parameters=object_schema(
        {
            "colour": {
                "type": "string",
                "enum": ["red", "green", "blue", "other", "no_picture"],
                "description": "no_picture if you were given no picture.",
            }
        },
        required=["colour"],
    ),
)

# A red square of 64 x 64 pixels; some servers refuse pictures below 28 pixels or 512 in all.
PICTURE = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9V"
    "XVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSk"
    "pKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCABAAEADASIA"
    "AhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFgEB"
    "AQEAAAAAAAAAAAAAAAAAAAQF/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AhASt"
    "0AAAAAAAAAAAAAAAAAAAAAAAAAAAAAB//9k="
)
_QUESTION = "Which colour fills this picture? Answer by calling report_colour."
_ABOUT_INPUT = re.compile(
    r"image|vision|picture|multi-?modal|tool|function", re.IGNORECASE
)


def messages() -> list[ChatMessage]:
    """Return the question with its picture."""
    return [ChatMessage(role=ChatRole.USER, text=_QUESTION, images=(PICTURE,))]


def without() -> Iterator[tuple[str, Sequence[ChatMessage], Sequence[ToolSpec]]]:
    """Yield what to ask after a refusal: if it is answered, the sentence says what is missing."""
    yield (
        NO_PICTURES,
        [ChatMessage(role=ChatRole.USER, text="Call report_colour with red.")],
        [TOOL],
    )
    yield NO_TOOLS, messages(), []


def is_doubtful(err: ModelError) -> bool:
    """Return whether a failure may come from the picture or the tool."""
    return err.kind is ModelErrorKind.BAD_REQUEST or (
        err.kind in (ModelErrorKind.SERVER, ModelErrorKind.MODEL_UNKNOWN)
        and _ABOUT_INPUT.search(err.message) is not None
    )


def problem(reply: ChatReply) -> str | None:
    """Return what the reply shows to be missing; a wrong colour alone is no proof."""
    if not reply.tool_calls:
        return NO_TOOLS
    try:
        colour = parse_arguments(TOOL, reply.tool_calls[0].arguments).get("colour")
    except ToolArgumentError:
        return None
    return NOTHING_SEEN if colour == "no_picture" else None
