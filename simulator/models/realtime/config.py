"""The configuration of a realtime session: defaults, strict updates."""

from collections.abc import Mapping
import copy
import time
from typing import Any

from openai.types.realtime.realtime_session_create_request_param import (
    RealtimeSessionCreateRequestParam,
)

from simulator.models.function_tools import tool_problem
from simulator.models.identifiers import new_id
from simulator.models.schema import first_problem

from .errors import RealtimeError, from_problem

_VOICES = frozenset(
    [
        "alloy",
        "ash",
        "ballad",
        "cedar",
        "coral",
        "echo",
        "marin",
        "sage",
        "shimmer",
        "verse",
    ]
)
_NULLABLE = frozenset(
    {"session.audio.input.noise_reduction", "session.audio.input.transcription"}
)
"""Null switches these off, says their description, though their type does not."""
_REPLACED = frozenset({"format", "noise_reduction", "transcription", "turn_detection"})
"""Objects that an update replaces as a whole."""
_VAD_DEFAULTS: dict[str, dict[str, Any]] = {
    "server_vad": {
        "type": "server_vad",
        "threshold": 0.5,
        "prefix_padding_ms": 300,
        "silence_duration_ms": 500,
        "idle_timeout_ms": None,
        "create_response": True,
        "interrupt_response": True,
    },
    "semantic_vad": {
        "type": "semantic_vad",
        "eagerness": "auto",
        "create_response": True,
        "interrupt_response": True,
    },
}


def default_session(model: str, max_s: float) -> dict[str, Any]:
    """Return a fresh session as ``session.created`` shows it."""
    pcm = {"type": "audio/pcm", "rate": 24000}
    return {
        "type": "realtime",
        "object": "realtime.session",
        "id": new_id("sess"),
        "model": model,
        "output_modalities": ["audio"],
        "instructions": "Your knowledge cutoff is 2024-10. You are a helpful, witty, and friendly AI.",
        "tools": [],
        "tool_choice": "auto",
        "max_output_tokens": "inf",
        "tracing": None,
        "truncation": "auto",
        "prompt": None,
        "expires_at": int(time.time() + max_s),
        "audio": {
            "input": {
                "format": dict(pcm),
                "noise_reduction": None,
                "transcription": None,
                "turn_detection": dict(_VAD_DEFAULTS["server_vad"]),
            },
            "output": {"format": dict(pcm), "voice": "marin", "speed": 1.0},
        },
        "include": None,
    }


def updated_session(
    session: Mapping[str, Any], change: Any, *, audio_was_sent: bool
) -> dict[str, Any]:
    """Return the session after a ``session.update``; the given one is untouched.

    Raises:
        RealtimeError: Something in the change is refused; nothing of it applies.

    """
    _check_type(change)
    if problem := first_problem(
        change, RealtimeSessionCreateRequestParam, "session", nullable=_NULLABLE
    ):
        raise from_problem(problem)
    check_options(change, "session", model=session["model"])
    if change.get("model", session["model"]) != session["model"]:
        raise RealtimeError(
            message="Cannot update a session's model after it was created.",
            code="cannot_update_model",
            param="session.model",
        )
    voice = change.get("audio", {}).get("output", {}).get("voice")
    if audio_was_sent and voice not in (None, session["audio"]["output"]["voice"]):
        raise RealtimeError(
            message="Cannot update a conversation's voice if assistant audio is present.",
            code="cannot_update_voice",
        )
    return _merged(session, change)


def check_options(options: Mapping[str, Any], path: str, *, model: str) -> None:
    """Check what sessions and responses share, beyond its JSON types.

    Raises:
        RealtimeError: A value is out of range or does not fit the model.

    """
    modalities = options.get("output_modalities")
    if modalities is not None and modalities not in (["text"], ["audio"]):
        raise RealtimeError(
            message=f"Invalid modalities: {modalities}. Supported combinations are: "
            "['text'] and ['audio'].",
            code="invalid_value",
            param=f"{path}.output_modalities",
        )
    tokens = options.get("max_output_tokens", "inf")
    if tokens != "inf":
        _check_range(tokens, 1, 4096, f"{path}.max_output_tokens", kind="integer")
    for name in ("reasoning", "parallel_tool_calls"):
        if name in options and not model.startswith("gpt-realtime-2"):
            raise RealtimeError(
                message=f"Unsupported parameter: '{path}.{name}' is not supported with this model.",
                code="unsupported_parameter",
                param=f"{path}.{name}",
            )
    _check_tools(options, path)
    _check_audio(options.get("audio", {}), f"{path}.audio")


def _check_type(change: Any) -> None:
    if isinstance(change, dict) and change.get("type") == "transcription":
        raise RealtimeError(
            message="Passing a transcription session update event to a realtime session is not allowed.",
            code="invalid_session_type",
            param="session.type",
        )


def _check_tools(options: Mapping[str, Any], path: str) -> None:
    tools = options.get("tools", [])
    functions = [tool for tool in tools if tool.get("type", "function") == "function"]
    for index, tool in enumerate(tools):
        if "type" not in tool:
            param = f"{path}.tools[{index}].type"
            raise RealtimeError(
                message=f"Missing required parameter: '{param}'.",
                code="missing_required_parameter",
                param=param,
            )
    paths = [f"{path}.tools[{index}]" for index in range(len(functions))]
    if problem := tool_problem(functions, paths):
        raise from_problem(problem)
    choice = options.get("tool_choice")
    if (
        isinstance(choice, dict)
        and "tools" in options
        and choice.get("type") == "function"
    ):
        if choice["name"] not in {function["name"] for function in functions}:
            raise RealtimeError(
                message=f"Tool choice '{choice['name']}' not found in 'tools' parameter.",
                code="invalid_value",
                param=f"{path}.tool_choice",
            )


def _check_audio(audio: Mapping[str, Any], path: str) -> None:
    output = audio.get("output", {})
    voice = output.get("voice")
    if isinstance(voice, str) and voice not in _VOICES:
        names = ", ".join(repr(name) for name in sorted(_VOICES))
        raise RealtimeError(
            message=f"Invalid value: '{voice}'. Supported values are: {names}.",
            code="invalid_value",
            param=f"{path}.output.voice",
        )
    if "speed" in output:
        _check_range(output["speed"], 0.25, 1.5, f"{path}.output.speed")
    detection = audio.get("input", {}).get("turn_detection") or {}
    if "threshold" in detection:
        where = f"{path}.input.turn_detection.threshold"
        _check_range(detection["threshold"], 0, 1, where)


def _check_range(
    value: float, low: float, high: float, param: str, *, kind: str = "decimal"
) -> None:
    if low <= value <= high:
        return
    side = "below minimum" if value < low else "above maximum"
    bound = f">= {low}" if value < low else f"<= {high}"
    short = "below_min" if value < low else "above_max"
    raise RealtimeError(
        message=f"Invalid '{param}': {kind} {side} value. Expected a value {bound}, but got "
        f"{value} instead.",
        code=f"{kind}_{short}_value",
        param=param,
    )


def _merged(old: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    result = copy.deepcopy(dict(old))
    for name, value in change.items():
        if isinstance(value, dict) and isinstance(result.get(name), dict):
            if name == "turn_detection":
                result[name] = {**_VAD_DEFAULTS[value["type"]], **value}
                continue
            if name not in _REPLACED and name not in ("tool_choice", "truncation"):
                result[name] = _merged(result[name], value)
                continue
        if name == "turn_detection" and value is not None:
            value = {**_VAD_DEFAULTS[value["type"]], **value}
        result[name] = copy.deepcopy(value)
    return result
