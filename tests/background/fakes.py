"""A phone and a model that do as they are told."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
import json
from typing import Any, override

from custom_components.aiden_duplex.background.ports import PhoneControl
from custom_components.aiden_duplex.models.chat.messages import (
    ChatMessage,
    ChatModel,
    ChatReply,
    ChatRole,
    ToolChoice,
)
from custom_components.aiden_duplex.models.tools import ToolCall, ToolSpec
from custom_components.aiden_duplex.phone.lease import Lease, LeaseDesk
from custom_components.aiden_duplex.phone.types import (
    Area,
    Key,
    NotObservedError,
    Observation,
    PhoneError,
    Point,
    Settle,
)

from . import pictures

ACT_S = 0.5
LOOK_S = 0.5
MODEL_S = 2.0


@dataclass(frozen=True, slots=True)
class Did:
    """An act that reached the phone."""

    name: str
    arguments: tuple[Any, ...]


class FakePhone(PhoneControl):
    """A phone whose screen is a name; acts change it as ``effect`` says."""

    def __init__(
        self,
        screen: str = "home",
        effect: Callable[[FakePhone, Did], None] | None = None,
    ) -> None:
        """Show a screen; without ``effect`` nothing ever changes."""
        self.desk = LeaseDesk()
        self.screen = screen
        self.did: list[Did] = []
        self.looks = 0
        self.released: list[str] = []
        self.fenced: list[str] = []
        self.calls: list[str] = []
        """``revoke`` and ``release``, in the order in which they were asked for."""
        self.act_errors: deque[PhoneError | None] = deque()
        """What the next acts raise; None lets one pass."""
        self.look_errors: deque[PhoneError | None] = deque()
        self.release_s = 0.1
        self.noise = False
        self.clock = False
        self.always_changed = False
        self.moving = False
        self._effect = effect
        self._shown: str | None = None
        self._observed: Lease | None = None
        self._revoked_with: int | None = None

    @property
    def acts_after_revoke(self) -> int:
        """Return how many acts reached the phone after control was taken back."""
        return 0 if self._revoked_with is None else len(self.did) - self._revoked_with

    @property
    @override
    def loans(self) -> int:
        return self.desk.loans

    def use(self, screen: str) -> None:
        """Let somebody else use the phone for a moment; the owner must look again."""
        self.desk.end_loan(self.desk.lend("automation", preempt=True))
        self.screen = screen
        self._observed = None

    @override
    def acquire(self, owner: str) -> Lease:
        lease = self.desk.acquire(owner)
        self._observed = None
        self._revoked_with = None
        return lease

    @override
    def revoke(self, owner: str) -> None:
        self.calls.append("revoke")
        if self.desk.revoke(owner):
            self._revoked_with = len(self.did)

    @override
    def fence(self, owner: str) -> None:
        self.fenced.append(owner)
        if self.desk.fence(owner):
            self._revoked_with = len(self.did)

    @override
    async def release(self, lease: Lease) -> None:
        self.calls.append("release")
        if self.desk.revoke(lease.owner):
            self._revoked_with = len(self.did)
        await asyncio.sleep(self.release_s)
        self.released.append(lease.owner)
        self.desk.free(lease)

    @override
    async def observe(self, lease: Lease) -> Observation:
        self.desk.check(lease)
        loans = None
        while loans != self.desk.loans:
            loans = self.desk.loans
            await asyncio.sleep(LOOK_S)
        if self.look_errors and (error := self.look_errors.popleft()):
            raise error
        self.desk.check(lease)
        self.looks += 1
        changed = self.always_changed or self.screen != self._shown
        self._shown = self.screen
        self._observed = lease
        black = self.screen == "black"
        moving = Settle.TIMEOUT if self.moving else Settle.SETTLED
        return Observation(
            jpeg=pictures.screen(
                self.screen,
                noise=self.looks if self.noise else 0,
                clock=self.looks if self.clock else 0,
            ),
            width=pictures.WIDTH,
            height=pictures.HEIGHT,
            area=Area(left=0, top=0, width=pictures.WIDTH, height=pictures.HEIGHT),
            source_width=pictures.WIDTH,
            source_height=pictures.HEIGHT,
            captured_at=asyncio.get_running_loop().time(),
            settle=Settle.BLACK if black else moving,
            changed=changed,
        )

    @override
    async def tap(self, lease: Lease, point: Point, *, hold_ms: int = 60) -> None:
        await self._act(lease, Did("tap", (point.x, point.y)))

    @override
    async def long_press(
        self, lease: Lease, point: Point, *, hold_ms: int = 600
    ) -> None:
        await self._act(lease, Did("long_press", (point.x, point.y, hold_ms)))

    @override
    async def swipe(
        self, lease: Lease, start: Point, end: Point, *, duration_ms: int = 400
    ) -> None:
        arguments = (start.x, start.y, end.x, end.y, duration_ms)
        await self._act(lease, Did("swipe", arguments))

    @override
    async def type_text(
        self, lease: Lease, text: str, *, allow_enter: bool = False
    ) -> None:
        assert allow_enter or "\n" not in text
        await self._act(lease, Did("type_text", (text,)))

    @override
    async def press_key(self, lease: Lease, key: Key) -> None:
        await self._act(lease, Did("press_key", (key,)))

    async def _act(self, lease: Lease, did: Did) -> None:
        self.desk.check(lease)
        if self._observed != lease:
            raise NotObservedError("the screen is unsettled; nothing was sent")
        if self.act_errors and (error := self.act_errors.popleft()):
            raise error
        self.did.append(did)
        await asyncio.sleep(ACT_S)
        if self._effect is not None:
            self._effect(self, did)


def call(name: str, call_id: str = "", **arguments: Any) -> ToolCall:
    """Return a call as a model would write it."""
    return ToolCall(call_id=call_id, name=name, arguments=json.dumps(arguments))


def tap(x: float = 500, y: float = 500) -> ToolCall:
    """Return a tap."""
    return call("tap", x=x, y=y)


def finish(outcome: str = "achieved", result: str = "Done.", **more: Any) -> ToolCall:
    """Return an end, with evidence unless it is given."""
    return call(
        "finish",
        **({"outcome": outcome, "result": result, "evidence": "I see it."} | more),
    )


type Line = (
    ToolCall
    | str
    | Sequence[ToolCall]
    | Exception
    | Callable[[Sequence[ChatMessage]], ToolCall | str | Sequence[ToolCall]]
)


@dataclass(slots=True)
class FakeChat(ChatModel):
    """A model that reads its lines; the last one is repeated for ever.

    Refuses, as the real servers do, a conversation that is not balanced, has two
    messages of the user in a row, an empty message, or a picture in a wrong place.
    """

    lines: Sequence[Line]
    asked: list[list[ChatMessage]] = field(default_factory=list)

    @override
    async def complete(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolSpec],
        *,
        tool_choice: ToolChoice = "auto",
    ) -> ChatReply:
        problem = problem_in(messages)
        assert problem is None, problem
        number = len(self.asked)
        self.asked.append(list(messages))
        await asyncio.sleep(MODEL_S)
        line = self.lines[min(number, len(self.lines) - 1)]
        if callable(line):
            line = line(messages)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, str):
            return ChatReply(text=line)
        calls = [line] if isinstance(line, ToolCall) else line
        earlier = sum(len(message.tool_calls) for message in messages)
        return ChatReply(
            text="",
            tool_calls=tuple(
                ToolCall(
                    call_id=item.call_id or f"call_{earlier + index}",
                    name=item.name,
                    arguments=item.arguments,
                )
                for index, item in enumerate(calls)
            ),
        )

    def words(self, number: int = -1) -> str:
        """Return everything that was said to the model at one time."""
        return "\n".join(message.text for message in self.asked[number])

    def new_words(self, number: int = -1) -> str:
        """Return what was said since the model's last answer."""
        texts: list[str] = []
        for message in reversed(self.asked[number]):
            if message.role is ChatRole.ASSISTANT:
                break
            texts.append(message.text)
        return "\n".join(reversed(texts))


def problem_in(messages: Sequence[ChatMessage]) -> str | None:
    """Return what a strict server would refuse in a conversation."""
    waiting: list[str] = []
    ids: set[str] = set()
    last: ChatRole | None = None
    for number, message in enumerate(messages):
        if (message.role is ChatRole.SYSTEM) != (number == 0):
            return "the system's message is not the first one"
        if not (message.text.strip() or message.images or message.tool_calls):
            return "an empty message"
        if message.images and message.role is not ChatRole.USER:
            return "a picture in a wrong place"
        if message.role is last is ChatRole.USER:
            return "two messages of the user in a row"
        last = message.role
        if message.role is ChatRole.TOOL:
            if message.tool_call_id not in waiting:
                return "a result without its call"
            waiting.remove(message.tool_call_id)
            continue
        if waiting:
            return "a call without its result"
        waiting = [item.call_id for item in message.tool_calls]
        if len(set(waiting)) < len(waiting) or ids & set(waiting):
            return "a repeated id"
        ids.update(waiting)
    return "a call without its result" if waiting else None
