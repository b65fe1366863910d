"""What a journal promises, and what can go wrong with it."""

from collections.abc import Sequence
from typing import Any, Protocol

type Record = dict[str, Any]
"""One journalled record: a JSON object."""


class JournalError(Exception):
    """The journal could not keep or give back records; the text says why."""


class RecordTooLargeError(JournalError):
    """One record is larger than the journal takes; the journal itself is well."""


class JournalProtocol(Protocol):
    """An append-only log of records that survives a crash."""

    async def open(self) -> list[Record]:
        """Return all records, oldest first. Also ends the refusal after a failure.

        Raises:
            JournalError: The records cannot be read or repaired.

        """
        ...

    async def append(self, record: Record) -> None:
        """Keep one record; returns when it is durable.

        Records of concurrent calls are kept in the order of the calls. A call that is
        cancelled while it waits may or may not have kept its record.

        Raises:
            JournalError: The record is not durable and will not be replayed. Later
                calls are refused until :meth:`open` is called again.
            RecordTooLargeError: Only this record is refused.

        """
        ...

    async def compact(self, records: Sequence[Record]) -> None:
        """Replace everything that was appended before this call, or change nothing.

        Raises:
            JournalError: The records of before are still there.

        """
        ...

    async def close(self) -> None:
        """Keep what was appended before and let go of every resource."""
        ...
