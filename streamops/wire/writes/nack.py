"""Giving pending entries back."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from streamops.model.entries import PendingEntry
from streamops.model.ids import EPOCH, EntryId
from streamops.wire.faults import Fault
from streamops.wire.node import Reply
from streamops.wire.replies import decode_pending_rows
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Request, Server

IDLE_LONG: Final = timedelta(days=30)
"""How idle a row is made to look: longer than any reclaimer waits."""


class GivenBack(Struct, frozen=True):
    """What came of giving entries back.

    Attributes:
        at: When, by the server's clock.
        rows: The rows that were given back, as they were.
        alone: IDs left alone, each with why: ``gone``, ``owner``, or ``missing`` where the entry is gone.
    """

    at: datetime
    rows: tuple[PendingEntry, ...]
    alone: tuple[tuple[str, str], ...]


async def has_xnack(server: Server, stream: str) -> bool:
    """Whether the server that serves a stream has XNACK (Redis 8.8)."""
    reply = (await server.batch([Request(stream, ("COMMAND", "INFO", "XNACK"))])).replies[0]
    return isinstance(reply, list) and bool(reply and reply[0])


async def nack(
    server: Server,
    stream: str,
    group: str,
    rows: Sequence[PendingEntry],
    *,
    position: EntryId | None,
    by_xnack: bool,
) -> GivenBack | Fault:
    """Give back those of at most a thousand rows whose owner is still the same."""
    arguments = [group, "" if position is None else str(position), "XNACK" if by_xnack else "XCLAIM"]
    arguments.append(str(IDLE_LONG // timedelta(milliseconds=1)))
    for row in rows:
        arguments += (str(row.id), row.consumer)
    reply: GivenBack | Fault = await write_script(server, "nack", Call(stream, tuple(arguments), _given_back))
    return reply


def _given_back(reply: Sequence[Reply]) -> GivenBack:
    at_ms, rows, alone, why = reply
    return GivenBack(
        EPOCH + timedelta(milliseconds=at_ms),
        decode_pending_rows(rows),
        tuple((one.decode(), reason.decode()) for one, reason in zip(alone, why, strict=True)),
    )
