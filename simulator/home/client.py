"""A client of Home Assistant's own APIs, as a person's browser would use them."""

import asyncio
from collections.abc import Callable
import contextlib
from dataclasses import dataclass, field
import itertools
from typing import Any, Self

import aiohttp

USER = "dev"
PASSWORD = "aiden-dev"  # noqa: S105 - of a simulation that listens on this machine only
CALL_S = 60
START_S = 300
"""The first start of a new configuration takes longest."""


class ApiError(Exception):
    """Home Assistant refused a request."""

    def __init__(self, status: int | str, text: str) -> None:
        """Keep the status or code and the text."""
        super().__init__(f"{status}: {text}")
        self.status = status
        self.text = text


@dataclass(slots=True)
class HassClient:
    """Speaks REST and WebSocket with one Home Assistant as one user."""

    url: str
    session: aiohttp.ClientSession = field(default_factory=aiohttp.ClientSession)
    token: str = ""
    _socket: aiohttp.ClientWebSocketResponse | None = None
    _reader: asyncio.Task[None] | None = None
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _pending: dict[int, asyncio.Future[Any]] = field(default_factory=dict)
    _handlers: dict[int, Callable[[dict[str, Any]], None]] = field(default_factory=dict)

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """Close the connections."""
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self.close_socket()
        await self.session.close()

    async def close_socket(self) -> None:
        """Close the WebSocket, for a new one after a restart."""
        if self._reader:
            self._reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reader
        if self._socket:
            await self._socket.close()
        self._socket = self._reader = None

    # REST

    async def request(self, method: str, path: str, json: Any = None) -> Any:
        """Call a REST path and return its JSON."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        async with self.session.request(
            method,
            f"{self.url}{path}",
            json=json,
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=CALL_S),
        ) as response:
            if response.status >= 400:
                raise ApiError(response.status, await response.text())
            return await response.json(content_type=None)

    async def sign_in(self, *, name: str = USER, password: str = PASSWORD) -> None:
        """Sign in as the ready user; create it at a first start."""
        if await self._is_new():
            await self._onboard(name, password)
        else:
            await self._log_in(name, password)
        await self._until_running()

    async def _is_new(self) -> bool:
        """Return whether there is no user yet; the path is gone after the onboarding."""
        try:
            steps = await self.request("GET", "/api/onboarding")
        except ApiError as err:
            if err.status == 404:
                return False
            raise
        return any(step["step"] == "user" and not step["done"] for step in steps)

    async def _until_running(self) -> None:
        """Wait until Home Assistant has started all integrations."""
        async with asyncio.timeout(START_S):
            while (await self.request("GET", "/api/config"))["state"] != "RUNNING":
                await asyncio.sleep(0.1)

    async def _onboard(self, name: str, password: str) -> None:
        """Create the first user and end the onboarding."""
        created = await self.request(
            "POST",
            "/api/onboarding/users",
            {
                "client_id": self._client_id,
                "name": name,
                "username": name,
                "password": password,
                "language": "en",
            },
        )
        await self._take_token(created["auth_code"])
        await self.request("POST", "/api/onboarding/analytics", {})
        await self.request(
            "POST",
            "/api/onboarding/integration",
            {"client_id": self._client_id, "redirect_uri": self._client_id},
        )

    async def _log_in(self, name: str, password: str) -> None:
        """Sign in with a password."""
        flow = await self.request(
            "POST",
            "/auth/login_flow",
            {
                "client_id": self._client_id,
                "handler": ["homeassistant", None],
                "redirect_uri": self._client_id,
            },
        )
        done = await self.request(
            "POST",
            f"/auth/login_flow/{flow['flow_id']}",
            {"client_id": self._client_id, "username": name, "password": password},
        )
        if done["type"] != "create_entry":
            raise ApiError(401, "the user or the password is wrong")
        await self._take_token(done["result"])

    @property
    def _client_id(self) -> str:
        """Return the id that Home Assistant wants of a client: its address."""
        return f"{self.url}/"

    async def _take_token(self, code: str) -> None:
        """Trade an authorization code for an access token (valid for 30 minutes)."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": self._client_id,
        }
        async with self.session.post(f"{self.url}/auth/token", data=form) as response:
            if response.status != 200:
                raise ApiError(response.status, await response.text())
            self.token = (await response.json())["access_token"]

    async def states(self) -> dict[str, dict[str, Any]]:
        """Return all states by entity id."""
        return {
            state["entity_id"]: state
            for state in await self.request("GET", "/api/states")
        }

    async def action(
        self, domain: str, name: str, data: dict[str, Any], *, response: bool = False
    ) -> Any:
        """Perform an action; return its response when asked."""
        path = f"/api/services/{domain}/{name}"
        result = await self.request(
            "POST", f"{path}?return_response" if response else path, data
        )
        return result["service_response"] if response else result

    async def start_flow(self, domain: str) -> dict[str, Any]:
        """Start a config flow."""
        flow: dict[str, Any] = await self.request(
            "POST",
            "/api/config/config_entries/flow",
            {"handler": domain, "show_advanced_options": False},
        )
        return flow

    async def submit(
        self, flow: dict[str, Any], data: dict[str, Any]
    ) -> dict[str, Any]:
        """Submit one step of a config flow and return the next."""
        result: dict[str, Any] = await self.request(
            "POST", f"/api/config/config_entries/flow/{flow['flow_id']}", data
        )
        return result

    async def converse(self, text: str, agent_id: str) -> str:
        """Say something to a conversation agent and return the answer's text."""
        answer = await self.request(
            "POST",
            "/api/conversation/process",
            {"text": text, "agent_id": agent_id, "language": "en"},
        )
        speech: str = answer["response"]["speech"]["plain"]["speech"]
        return speech

    # WebSocket

    async def connect(self) -> None:
        """Open the WebSocket."""
        self._socket = await self.session.ws_connect(
            f"{self.url}/api/websocket", max_msg_size=0
        )
        await self._socket.receive_json()
        await self._socket.send_json({"type": "auth", "access_token": self.token})
        answer = await self._socket.receive_json()
        if answer["type"] != "auth_ok":
            raise ApiError(401, str(answer))
        self._reader = asyncio.create_task(self._read(self._socket))

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Hand every message to whoever waits for it."""
        async for message in socket:
            if message.type is not aiohttp.WSMsgType.TEXT:
                break
            data = message.json()
            for item in data if isinstance(data, list) else [data]:
                self._take(item)

    def _take(self, item: dict[str, Any]) -> None:
        """Resolve a call or pass an event on."""
        if item["type"] == "event":
            if handler := self._handlers.get(item["id"]):
                handler(item["event"])
        elif (future := self._pending.pop(item["id"], None)) and not future.done():
            if item["success"]:
                future.set_result(item.get("result"))
            else:
                error = item["error"]
                future.set_exception(ApiError(error["code"], error["message"]))

    async def call(self, kind: str, **data: Any) -> Any:
        """Call a WebSocket command and return its result."""
        if self._socket is None:
            await self.connect()
        assert self._socket is not None
        number = next(self._ids)
        future = asyncio.get_running_loop().create_future()
        self._pending[number] = future
        await self._socket.send_json({"id": number, "type": kind, **data})
        async with asyncio.timeout(CALL_S):
            return await future

    async def subscribe(
        self, handler: Callable[[dict[str, Any]], None], kind: str, **data: Any
    ) -> None:
        """Start a subscription; the handler gets every event."""
        if self._socket is None:
            await self.connect()
        assert self._socket is not None
        number = next(self._ids)
        future = asyncio.get_running_loop().create_future()
        self._pending[number] = future
        self._handlers[number] = handler
        await self._socket.send_json({"id": number, "type": kind, **data})
        async with asyncio.timeout(CALL_S):
            await future
