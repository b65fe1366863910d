"""Asks a Chat Completions server, with deadlines and bounded retries."""

import asyncio
from collections.abc import Callable, Sequence
import json
import logging
import random
from typing import Any, override

import aiohttp
import orjson

from ..errors import ModelError, ModelErrorKind
from ..tools import ToolSpec
from . import completions, failures, probe
from .messages import ChatMessage, ChatModel, ChatReply, ToolChoice, UnusableReplyError

_LOGGER = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 10.0
RESPONSE_LIMIT_BYTES = 4 * 1024 * 1024
ERROR_LIMIT_BYTES = 64 * 1024
LONGEST_WAIT_S = 30.0
"""A server that asks for a longer pause gets none: the caller decides."""
RETRY_DELAYS_S = (1.0, 2.0, 4.0)
_RETRIED = (
    ModelErrorKind.RATE_LIMITED,
    ModelErrorKind.SERVER,
    ModelErrorKind.NETWORK,
    ModelErrorKind.TIMEOUT,
)


class ChatCompletions(ChatModel):
    """A model behind any server that speaks Chat Completions."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        base_url: str,
        api_key: str | None,
        model: str,
        timeout_s: float = 120.0,
        retry_delays_s: Sequence[float] = RETRY_DELAYS_S,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Keep the session, which stays its owner's to close.

        ``base_url`` ends before ``/chat/completions``. ``timeout_s`` bounds one
        request; local servers may take 90 s to the first token while they load.
        ``retry_delays_s`` are the pauses before the retries, each stretched by up to a
        half by ``jitter`` (0 to 1).
        """
        self._session = session
        self._url = f"{base_url.strip().rstrip('/')}/chat/completions"
        self._api_key = (api_key or "").strip()
        self._model = model.strip()
        self._timeout_s = timeout_s
        self._retry_delays_s = tuple(retry_delays_s)
        self._jitter = jitter

    @override
    async def complete(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
    ) -> ChatReply:
        """Return the model's next message.

        Asking again costs money at worst, so a failure of the way or of the server is
        retried, up to three times, and never started after twice ``timeout_s``.

        Raises:
            UnusableReplyError: The reply was cut off or is no message.
            ModelError: Everything else, by kind.

        """
        time = asyncio.get_running_loop().time
        last_start = time() + 2 * self._timeout_s
        for delay_s in self._retry_delays_s:
            try:
                return await self._ask(messages, tools, tool_choice)
            except ModelError as err:
                wait_s = self._wait_s(err, delay_s)
                if wait_s is None or time() + wait_s > last_start:
                    raise
                _LOGGER.debug("Asking again in %.1f s: %s", wait_s, err.message)
            await asyncio.sleep(wait_s)
        return await self._ask(messages, tools, tool_choice)

    async def check(self) -> None:
        """Ask one small question with a picture and a tool.

        Raises:
            ModelError: The server, the key or the model does not work; or the model
                takes no pictures or no tools, which the message says in words.

        """
        try:
            reply = await self._ask(probe.messages(), [probe.TOOL], "auto")
        except ModelError as err:
            if not probe.is_doubtful(err):
                raise
            for missing, messages, tools in probe.without():
                try:
                    await self._ask(messages, tools, "auto")
                except ModelError:
                    continue
                raise ModelError(
                    ModelErrorKind.BAD_REQUEST, f"{missing} {err.message}"
                ) from err
            raise
        if problem := probe.problem(reply):
            raise ModelError(ModelErrorKind.BAD_REQUEST, problem)

    def _wait_s(self, err: ModelError, delay_s: float) -> float | None:
        """Return the pause before the next try; None to give up."""
        if err.kind not in _RETRIED:
            return None
        wait_s = delay_s * (1 + self._jitter() / 2)
        if err.retry_after_s is not None:
            wait_s = max(wait_s, err.retry_after_s)
        return wait_s if wait_s <= LONGEST_WAIT_S else None

    async def _ask(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSpec],
        tool_choice: ToolChoice,
    ) -> ChatReply:
        """Send one request and return its reply."""
        body = completions.request_body(self._model, messages, tools, tool_choice)
        payload = await self._post(body)
        if err := failures.from_payload(payload, secret=self._api_key):
            raise err
        return completions.parse_reply(
            payload,
            tool_names={tool.name for tool in tools},
            taken_ids=completions.call_ids(messages),
        )

    async def _post(self, body: dict[str, Any]) -> object:
        """Return the JSON value of an answer with status 200."""
        try:
            async with self._session.post(
                self._url,
                # Not orjson: a lone surrogate in a text must not stop the request.
                data=json.dumps(body).encode(),
                headers=self._headers(),
                timeout=aiohttp.ClientTimeout(
                    total=self._timeout_s, sock_connect=CONNECT_TIMEOUT_S
                ),
                # A key is never carried to another address.
                allow_redirects=False,
            ) as response:
                if response.status != 200:
                    raise failures.from_status(
                        response.status,
                        await _read(response, ERROR_LIMIT_BYTES, cut=True),
                        retry_after=response.headers.get("Retry-After"),
                        secret=self._api_key,
                    )
                return _decode(
                    await _read(response, RESPONSE_LIMIT_BYTES), response.content_type
                )
        except TimeoutError as err:
            raise ModelError(
                ModelErrorKind.TIMEOUT, "The server did not answer in time."
            ) from err
        except (aiohttp.ClientError, OSError, ValueError) as err:
            raise self._unreachable(err) from err

    def _headers(self) -> dict[str, str]:
        """Return the headers, with the key if there is one."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._api_key:
            if not self._api_key.isprintable():
                raise ModelError(
                    ModelErrorKind.AUTHENTICATION,
                    "The key holds characters that no key can have.",
                )
            headers["Authorization"] = f"Bearer {self._api_key}"
        return headers

    def _unreachable(self, err: Exception) -> ModelError:
        """Return the failure of a way that broke; names no address, which may hold a secret."""
        match err:
            case aiohttp.ClientConnectorDNSError():
                sentence = "The server's name cannot be resolved."
            case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
                sentence = (
                    "The server's certificate is not trusted, or it speaks no TLS."
                )
            case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
                sentence = "The server's address is not a valid http or https address."
            case aiohttp.ClientConnectorError():
                sentence = "The server does not accept connections."
            case _:
                sentence = "The connection to the server broke."
        return ModelError(ModelErrorKind.NETWORK, sentence)


async def _read(
    response: aiohttp.ClientResponse, limit_bytes: int, *, cut: bool = False
) -> bytes:
    """Return the body; past the limit either what fits (``cut``) or an error."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > limit_bytes:
            # Closing keeps the rest from being read into the connection's buffer.
            response.close()
            if cut:
                break
            raise ModelError(
                ModelErrorKind.PROTOCOL, "The server's answer was far too long."
            )
    return bytes(body[:limit_bytes])


def _decode(body: bytes, content_type: str) -> object:
    """Return the JSON value of a body that should hold one."""
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError as err:
        if content_type == "text/html" or body.lstrip().startswith(b"<"):
            raise ModelError(
                ModelErrorKind.PROTOCOL,
                "The server answered with a web page; is the address complete?",
            ) from err
        raise UnusableReplyError("The server's answer was not valid JSON.") from err
    return value
