"""What the real Chat Completions server refuses.

Stricter than the vendor in one point: empty texts are refused everywhere, because
several compatible servers refuse them.
"""

from collections.abc import Sequence
from typing import Any

from openai.types.chat.completion_create_params import CompletionCreateParamsBase

from simulator.models.errors import ApiError, bad_request, from_problem
from simulator.models.function_tools import tool_problem
from simulator.models.pictures import PictureUrlError, decode_data_url
from simulator.models.schema import first_problem, missing, wrong_type

_STREAM = "stream"


def check_body(body: Any) -> None:
    """Check the body of a request.

    Raises:
        ApiError: The first thing that is wrong, as a 400.

    """
    if not isinstance(body, dict):
        raise bad_request("We could not parse the JSON body of your request.")
    known = {*CompletionCreateParamsBase.__annotations__, _STREAM}
    if unknown := [name for name in body if name not in known]:
        plural = "s" if len(unknown) > 1 else ""
        raise bad_request(
            f"Unrecognized request argument{plural} supplied: {', '.join(unknown)}"
        )
    if "model" not in body:
        raise bad_request("you must provide a model parameter")
    if "messages" not in body:
        raise from_problem(missing("messages"))
    _check_null_content(body["messages"])
    plain = {name: value for name, value in body.items() if name != _STREAM}
    if problem := first_problem(plain, CompletionCreateParamsBase):
        raise from_problem(problem)
    _check_options(body)
    _check_tools(body)
    _check_messages(body["messages"])


def _check_null_content(messages: Any) -> None:
    """Answer null content as the vendor does: without naming the place."""
    if not isinstance(messages, list):
        return
    for message in messages:
        if not isinstance(message, dict) or message.get("content", "") is not None:
            continue
        if message.get("role") != "assistant" or not message.get("tool_calls"):
            raise bad_request(
                "Invalid value for 'content': expected a string, got null."
            )


def _check_options(body: dict[str, Any]) -> None:
    stream = body.get(_STREAM)
    if stream is not None and not isinstance(stream, bool):
        raise from_problem(wrong_type(stream, "a boolean", _STREAM))
    if body.get("stream_options") is not None and not stream:
        raise bad_request(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )
    ranges = {
        "temperature": (0, 2),
        "top_p": (0, 1),
        "presence_penalty": (-2, 2),
        "frequency_penalty": (-2, 2),
        "n": (1, 1),
    }
    for name, (low, high) in ranges.items():
        value = body.get(name)
        if value is not None and not low <= value <= high:
            raise bad_request(
                f"Invalid '{name}': expected a value between {low} and {high}, but got {value} instead.",
                param=name,
                code="decimal_out_of_range" if name != "n" else "integer_out_of_range",
            )
    for name in ("max_tokens", "max_completion_tokens"):
        if body.get(name) is not None and body[name] < 1:
            raise bad_request(
                f"Invalid '{name}': integer below minimum value. Expected a value >= 1, "
                f"but got {body[name]} instead.",
                param=name,
                code="integer_below_min_value",
            )


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools")
    if tools is None:
        for name in ("tool_choice", "parallel_tool_calls"):
            if name in body:
                raise bad_request(
                    f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.",
                    param=name,
                )
        return
    if not tools:
        raise _empty_array("tools")
    if len(tools) > 128:
        raise bad_request(
            f"Invalid 'tools': array too long. Expected an array with maximum length 128, "
            f"but got an array with length {len(tools)} instead.",
            param="tools",
            code="array_above_max_length",
        )
    for index, tool in enumerate(tools):
        if tool["type"] != "function":
            raise _unsupported_kind(f"tools[{index}].type", tool["type"])
    functions = [tool["function"] for tool in tools]
    if problem := tool_problem(
        functions, [f"tools[{i}].function" for i in range(len(tools))]
    ):
        raise from_problem(problem)
    choice = body.get("tool_choice", "auto")
    if isinstance(choice, str):
        return
    if choice["type"] != "function":
        raise _unsupported_kind("tool_choice.type", choice["type"])
    name = choice["function"]["name"]
    if name not in {function["name"] for function in functions}:
        raise bad_request(
            f"Invalid value for 'tool_choice': no function named '{name}' was specified in "
            "the 'tools' parameter.",
            param="tool_choice",
        )


def _check_messages(messages: Sequence[dict[str, Any]]) -> None:
    if not messages:
        raise _empty_array("messages")
    waiting: list[str] = []
    for index, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                raise bad_request(
                    "Invalid parameter: messages with role 'tool' must be a response to a "
                    "preceeding message with 'tool_calls'.",
                    param=f"messages.[{index}].role",
                )
            waiting.remove(message["tool_call_id"])
        elif waiting:
            raise _unanswered(waiting, index)
        _check_content(message, index)
        if role == "assistant" and "tool_calls" in message:
            waiting = _call_ids(message, index)
    if waiting:
        raise _unanswered(waiting, len(messages))


def _call_ids(message: dict[str, Any], index: int) -> list[str]:
    for number, call in enumerate(message["tool_calls"]):
        if call["type"] != "function":
            raise _unsupported_kind(
                f"messages[{index}].tool_calls[{number}].type", call["type"]
            )
    ids = [call["id"] for call in message["tool_calls"]]
    if not ids:
        raise _empty_array(f"messages[{index}].tool_calls")
    if len(set(ids)) != len(ids):
        raise bad_request(
            f"Invalid 'messages[{index}].tool_calls': duplicate tool call ids.",
            param=f"messages[{index}].tool_calls",
            code="invalid_value",
        )
    return ids


def _check_content(message: dict[str, Any], index: int) -> None:
    path = f"messages[{index}].content"
    content = message.get("content")
    if content is None or content == "":
        if message["role"] == "assistant" and message.get("tool_calls"):
            return
        raise _empty_text(path)
    if isinstance(content, str):
        return
    if not content:
        raise _empty_array(path)
    for number, part in enumerate(content):
        if part["type"] == "text" and not part["text"]:
            raise _empty_text(f"{path}[{number}].text")
        if part["type"] == "image_url":
            _check_image(part["image_url"]["url"], f"{path}[{number}].image_url")


def _check_image(url: str, path: str) -> None:
    try:
        decode_data_url(url)
    except PictureUrlError as err:
        code = (
            "invalid_image_format" if "unsupported" in str(err) else "invalid_image_url"
        )
        raise bad_request(str(err), param=path, code=code) from err


def check_image_roles(body: Any) -> None:
    """Refuse pictures outside the person's messages with the vendor's own sentence.

    Raises:
        ApiError: A message of another role carries a picture.

    """
    messages = body.get("messages") if isinstance(body, dict) else None
    for index, message in enumerate(messages if isinstance(messages, list) else []):
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, list) or message.get("role") == "user":
            continue
        if any(isinstance(p, dict) and p.get("type") == "image_url" for p in content):
            raise bad_request(
                f"Invalid 'messages[{index}]'. Image URLs are only allowed for messages with role "
                f"'user', but this message with role '{message.get('role')}' contains an image URL.",
                param=f"messages[{index}]",
                code="invalid_value",
            )


def refuse_pictures(body: dict[str, Any]) -> None:
    """Refuse pictures as the vendor's models without vision do.

    Raises:
        ApiError: A message carries a picture.

    """
    for index, message in enumerate(body["messages"]):
        content = message.get("content")
        for number, part in enumerate(content if isinstance(content, list) else []):
            if part["type"] == "image_url":
                raise bad_request(
                    "Invalid content type. image_url is only supported by certain models.",
                    param=f"messages.[{index}].content.[{number}].type",
                )


def _unanswered(ids: Sequence[str], index: int) -> ApiError:
    return bad_request(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
        f"{', '.join(ids)}",
        param=f"messages.[{index}].role",
    )


def _unsupported_kind(path: str, kind: str) -> ApiError:
    """Refuse what this model does not do, such as free-form tools."""
    return bad_request(
        f"Unsupported value: '{path}' does not support '{kind}' with this model.",
        param=path,
        code="unsupported_value",
    )


def _empty_array(path: str) -> ApiError:
    return bad_request(
        f"Invalid '{path}': empty array. Expected an array with minimum length 1, "
        "but got an empty array instead.",
        param=path,
        code="empty_array",
    )


def _empty_text(path: str) -> ApiError:
    return bad_request(
        f"Invalid '{path}': empty string. Expected a string with minimum length 1, "
        "but got an empty string instead.",
        param=path,
        code="empty_string",
    )
