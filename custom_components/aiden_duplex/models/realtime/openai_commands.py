"""OpenAI's Realtime interface (GA): the address and every frame that we send. No I/O."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ..errors import ModelError, ModelErrorKind
from ..tools import ToolSpec
from .dialect import Frame
from .session import (
    AddNotice,
    AddText,
    AddToolOutput,
    AssistantText,
    CallWithOutput,
    CancelResponse,
    Command,
    CreateResponse,
    Replay,
    ReplayItem,
    SessionConfig,
    UserText,
)

_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}
REQUEST_ID = "request_id"
"""The key in a response's metadata that carries the request's id there and back."""


def realtime_url(base_url: str, model: str) -> str:
    """Return the WebSocket address of a model below a base address.

    ``https://api.openai.com/v1`` becomes ``wss://api.openai.com/v1/realtime?model=...``;
    other query parameters stay.

    Raises:
        ModelError: The address is none.

    """
    try:
        parts = urlsplit(base_url.strip())
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in _SCHEMES:
        raise ModelError(
            ModelErrorKind.BAD_REQUEST,
            "The address must begin with http://, https://, ws:// or wss:// and name a server.",
        )
    path = parts.path.rstrip("/")
    if not path.endswith("/realtime"):
        path = f"{path}/realtime"
    query = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name != "model"
    ]
    query.append(("model", model))
    return urlunsplit(
        (_SCHEMES[parts.scheme], parts.netloc, path, urlencode(query), "")
    )


def authorization(api_key: str) -> dict[str, str]:
    """Return the headers of a key; none for a server that wants no key."""
    key = api_key.strip().removeprefix("Bearer ").strip()
    return {"Authorization": f"Bearer {key}"} if key else {}


def encode(command: Command) -> tuple[Frame, ...]:
    """Return the frames of a command."""
    match command:
        case AddText():
            return (_create_item(command.id, _message("user", command.text)),)
        case AddNotice():
            return (_create_item(command.id, _message("user", command.notice.content)),)
        case AddToolOutput():
            return (_create_item(command.id, _output(command.call_id, command.output)),)
        case Replay():
            items = [frame for item in command.items for frame in _replayed(item)]
            return tuple(
                _create_item(f"{command.id}.{number}", item)
                for number, item in enumerate(items, 1)
            )
        case CreateResponse():
            response: Frame = {"metadata": {REQUEST_ID: command.id}}
            if not command.use_tools:
                response["tool_choice"] = "none"
            return (
                {
                    "type": "response.create",
                    "event_id": command.id,
                    "response": response,
                },
            )
        case CancelResponse():
            frame: Frame = {"type": "response.cancel", "event_id": command.id}
            if command.response_id is not None:
                frame["response_id"] = command.response_id
            return (frame,)


def session_update(config: SessionConfig) -> Frame:
    """Return the frame that configures a session."""
    return {
        "type": "session.update",
        "event_id": "session",
        "session": {
            "type": "realtime",
            "output_modalities": [str(config.modality)],
            "instructions": config.instructions,
            "tools": [_tool(spec) for spec in config.tools],
            "tool_choice": "auto",
        },
    }


def _tool(spec: ToolSpec) -> Frame:
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
    }


def _create_item(event_id: str, item: Frame) -> Frame:
    return {"type": "conversation.item.create", "event_id": event_id, "item": item}


def _message(role: str, text: str) -> Frame:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _output(call_id: str, output: str) -> Frame:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _replayed(item: ReplayItem) -> tuple[Frame, ...]:
    match item:
        case UserText():
            return (_message("user", item.text),)
        case AssistantText():
            return (_message("assistant", item.text),)
        case CallWithOutput(call=call):
            return (
                {
                    "type": "function_call",
                    "call_id": call.call_id,
                    "name": call.name,
                    "arguments": call.arguments,
                },
                _output(call.call_id, item.output),
            )
