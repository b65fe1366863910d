"""POST /v1/chat/completions and GET /v1/models."""

import asyncio
import contextlib
import json
import time
from typing import Any

from aiohttp import web

from simulator.models.brain.thoughts import (
    Brain,
    BrainError,
    Call,
    Message,
    Question,
    Tool,
)
from simulator.models.errors import (
    ApiError,
    bad_request,
    check_key,
    dead_key,
    quota_exceeded,
    rate_limited,
    server_error,
    unknown_model,
    wrong_country,
)
from simulator.models.faults import ChatMode, Fault, Faults
from simulator.models.identifiers import new_id
from simulator.models.pictures import decode_data_url
from simulator.models.record import Record
from simulator.models.settings import ModelSettings

from .answers import Answer, answer
from .validation import check_body, check_image_roles, refuse_pictures

_HANG_S = 600.0
"""Even a hanging answer ends some day."""
_HANG_LOOK_S = 0.2
"""How often a hanging answer looks whether anybody still waits."""
_IMAGE_TOKENS = 765
_MAX_BODY = 50 << 20
"""Bytes of one request; the vendor's limit for pictures is 50 MB a request."""


class ChatServer:
    """Answers chat completions with a brain."""

    def __init__(
        self, settings: ModelSettings, faults: Faults, record: Record, brain: Brain
    ) -> None:
        """Keep what is shared with the realtime server and the control routes."""
        self._settings = settings
        self._faults = faults
        self._record = record
        self._brain = brain
        self._closing = asyncio.Event()

    def close(self) -> None:
        """Let hanging answers end."""
        self._closing.set()

    async def models(self, request: web.Request) -> web.Response:
        """List the models, as ``GET /v1/models``."""
        try:
            check_key(request.headers, self._faults.api_key or self._settings.api_key)
        except ApiError as err:
            return err.response()
        names = (self._settings.chat_model, self._settings.realtime_model)
        data = [
            {
                "id": name,
                "object": "model",
                "created": 1756310470,
                "owned_by": "simulator",
            }
            for name in names
        ]
        return web.json_response({"object": "list", "data": data})

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """Answer one completion."""
        fault = self._faults.chat
        mode = self._faults.take_chat()
        status = 200
        body: Any = None
        try:
            check_key(request.headers, self._faults.api_key or self._settings.api_key)
            body = await _read(request)
            _refuse(mode, fault, self._settings.chat_model)
            check_image_roles(body)
            check_body(body)
            if body["model"] != self._settings.chat_model:
                raise unknown_model(body["model"])
            if mode is ChatMode.NO_PICTURES:
                refuse_pictures(body)
            return await self._answer(request, body, mode, fault)
        except ApiError as err:
            status = err.status
            return err.response()
        finally:
            self._record.add(
                path=request.path, body=body, status=status, mode=str(mode)
            )

    async def _answer(
        self,
        request: web.Request,
        body: dict[str, Any],
        mode: ChatMode,
        fault: Fault[ChatMode],
    ) -> web.StreamResponse:
        if mode is ChatMode.HANG:
            await self._hang(request)
            return web.Response(status=504)
        if mode is ChatMode.HTML:
            return web.Response(
                text="<html><body>Please sign in to the network.</body></html>",
                content_type="text/html",
            )
        begin = time.monotonic()
        question = _question(body)
        try:
            reply = await self._brain.reply(question)
        except BrainError as err:
            raise ApiError(status=500, message=str(err), type="server_error") from err
        wait_s = self._settings.think_s - (time.monotonic() - begin)
        await asyncio.sleep(
            max(0.0, wait_s) + fault.latency_s * (mode is ChatMode.SLOW)
        )
        if mode is ChatMode.RESET:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        finished = answer(
            reply, model=body["model"], prompt_tokens=_tokens(question), mode=mode
        )
        headers = {"x-request-id": new_id("req", 32)}
        if body.get("stream"):
            return await self._stream(request, body, finished, headers)
        return web.json_response(finished.body(), headers=headers)

    async def _hang(self, request: web.Request) -> None:
        """Wait until the client gives up or the server closes."""
        deadline = time.monotonic() + _HANG_S
        while time.monotonic() < deadline:
            transport = request.transport
            if transport is None or transport.is_closing():
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), _HANG_LOOK_S)
                return

    async def _stream(
        self,
        request: web.Request,
        body: dict[str, Any],
        finished: Answer,
        headers: dict[str, str],
    ) -> web.StreamResponse:
        usage = bool((body.get("stream_options") or {}).get("include_usage"))
        response = web.StreamResponse(
            headers={**headers, "Content-Type": "text/event-stream; charset=utf-8"}
        )
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            for chunk in finished.chunks(include_usage=usage):
                await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
                await asyncio.sleep(self._settings.delta_pace_s / 10)
            await response.write(b"data: [DONE]\n\n")
            await response.write_eof()
        return response


async def _read(request: web.Request) -> Any:
    """Return the JSON body; pictures make it larger than aiohttp's own limit."""
    data = bytearray()
    async for chunk in request.content.iter_chunked(1 << 16):
        data += chunk
        if len(data) > _MAX_BODY:
            raise ApiError(status=413, message="Request body too large.")
    try:
        return json.loads(data)
    except ValueError:
        raise bad_request(
            "We could not parse the JSON body of your request. (HINT: This likely means you "
            "aren't using your HTTP library correctly. The API expects a JSON payload.)"
        ) from None


def _refuse(mode: ChatMode, fault: Fault[ChatMode], model: str) -> None:
    """Raise what an ordered fault answers instead of thinking."""
    match mode:
        case ChatMode.UNAUTHORIZED:
            raise dead_key()
        case ChatMode.FORBIDDEN:
            raise wrong_country()
        case ChatMode.MODEL_NOT_FOUND:
            raise unknown_model(model)
        case ChatMode.RATE_LIMITED:
            raise rate_limited(fault.retry_after_s)
        case ChatMode.QUOTA:
            raise quota_exceeded()
        case ChatMode.ERROR500:
            raise server_error()
        case ChatMode.ERROR503:
            raise server_error(503)
        case ChatMode.CONTEXT_LENGTH:
            raise bad_request(
                "This model's maximum context length is 128000 tokens. However, your messages "
                "resulted in 131072 tokens. Please reduce the length of the messages.",
                param="messages",
                code="context_length_exceeded",
            )


def _question(body: dict[str, Any]) -> Question:
    tools = {
        tool["function"]["name"]: Tool(
            name=tool["function"]["name"],
            description=tool["function"].get("description", ""),
            parameters=tool["function"].get("parameters", {}),
        )
        for tool in body.get("tools", [])
        if tool["type"] == "function"
    }
    choice = body.get("tool_choice", "auto")
    return Question(
        messages=[_message(message) for message in body["messages"]],
        tools=tools,
        tool_choice=choice if isinstance(choice, str) else choice["function"]["name"],
    )


def _message(message: dict[str, Any]) -> Message:
    content = message.get("content") or ""
    parts: list[dict[str, Any]] = (
        [{"type": "text", "text": content}] if isinstance(content, str) else content
    )
    role = message["role"]
    return Message(
        role="system" if role == "developer" else role,
        text="\n".join(part["text"] for part in parts if part["type"] == "text"),
        images=tuple(
            decode_data_url(part["image_url"]["url"])
            for part in parts
            if part["type"] == "image_url"
        ),
        calls=tuple(_past_call(call) for call in message.get("tool_calls", [])),
        call_id=message.get("tool_call_id", ""),
    )


def _past_call(call: dict[str, Any]) -> Call:
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        arguments = {}
    return Call(
        name=call["function"]["name"],
        arguments=arguments if isinstance(arguments, dict) else {},
        call_id=call["id"],
    )


def _tokens(question: Question) -> int:
    text = sum(len(message.text) for message in question.messages)
    images = sum(len(message.images) for message in question.messages)
    return text // 4 + images * _IMAGE_TOKENS
