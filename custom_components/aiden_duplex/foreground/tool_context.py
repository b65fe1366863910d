"""What the tools of the foreground work with."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo

from ..tasks.manager import TaskManager
from ..tasks.model import Origin
from .delivery import Delivery


async def nobody(_speaker: Origin) -> bool:
    """Return that this is no person for certain."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What the tools of one turn work with."""

    tasks: TaskManager
    delivery: Delivery
    speaker: Origin
    now: Callable[[], datetime]
    """The local time, aware."""
    time_zone: Callable[[str], Awaitable[tzinfo | None]]
    """Finds a time zone by its IANA name."""
    phone_ready: Callable[[], str | None]
    """Why the phone cannot be worked now, as a sentence; None when it can."""
    arrived_at: datetime
    """When the person's text arrived, aware: what was asked later is not answered by it."""
    ending: asyncio.Event
    """Set when the session is to be closed after the answer."""
    text: str = ""
    """What the person said in this turn, to the letter."""
    is_latest: Callable[[], bool] = lambda: True
    """Whether they have said nothing since."""
    is_person: Callable[[Origin], Awaitable[bool]] = nobody
    """Whether a speaker certainly is a person."""
