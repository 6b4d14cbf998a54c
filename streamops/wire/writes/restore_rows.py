"""Giving pending rows back what they had before something was done to them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby

from streamops.model.entries import PendingEntry
from streamops.model.ids import EPOCH, EntryId
from streamops.model.pending import Done
from streamops.wire.node import Argument
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

ROWS = 250
"""Rows of one call: about 3 ms of the server's time."""


async def restore_rows(
    server: Server,
    stream: str,
    group: str,
    rows: Sequence[PendingEntry],
    *,
    done: Done,
    holder: str,
    at: datetime,
    position: EntryId | None,
    writes: bool,
) -> list[str]:
    """Restore owner, time of delivery and deliveries of rows.

    Args:
        server: Where.
        stream: The stream.
        group: Its group.
        rows: The rows as they were, at most ``ROWS`` of them.
        done: What was done to them.
        holder: Who claimed them, where they were claimed.
        at: When it was done; a row delivered since is left alone.
        position: The group must not stand before it; none asks for the group alone.
        writes: Whether to restore them, or only to say what would come of it.

    Returns:
        What came of each: ``restored``, or why not.
    """
    arguments: list[Argument] = [group, "" if position is None else str(position), done.value, holder]
    arguments += (_ms(at), "write" if writes else "look")
    for (owner, idle, deliveries), alike in groupby(rows, _what_it_gets):
        ids = [str(row.id) for row in alike]
        arguments += (owner, max(0, _ms(at - idle)), deliveries, len(ids), *ids)
    call = Call(stream, tuple(arguments), lambda came: [one.decode() for one in came])
    return await write_script(server, "restore_rows", call, f"group {stream}/{group}")


def _what_it_gets(row: PendingEntry) -> tuple[str, timedelta, int]:
    return row.consumer, row.idle, row.delivery_count


def _ms(instant: datetime) -> int:
    return (instant - EPOCH) // timedelta(milliseconds=1)
