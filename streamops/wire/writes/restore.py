"""Adding entries of a file to a stream, each once."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from streamops.model.entries import StreamEntry
from streamops.wire.faults import required
from streamops.wire.node import Argument
from streamops.wire.numbers import number
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

KEPT: Final = timedelta(days=7)
"""So long is known how far a file was restored."""


async def read_marker(server: Server, marker: str) -> int:
    """How many records of a file were restored; zero if that is not remembered."""
    return number(required(await server.single(marker, "GET", marker), f"marker {marker}")) or 0


async def restore_entries(
    server: Server,
    stream: str,
    marker: str,
    entries: Sequence[StreamEntry],
    *,
    said: int,
    says: int,
    new_ids: bool,
    create: bool,
) -> int | None:
    """Add entries with their own IDs, or with new ones.

    Args:
        server: Where.
        stream: The stream.
        marker: The key that says how many records are done, in the stream's slot.
        entries: Some hundred entries, of about a megabyte, each with fewer than 3,900 fields; IDs ascend.
        said: What the marker says before.
        says: What it says afterwards.
        new_ids: Whether they get new IDs.
        create: Whether the stream may be created.

    Returns:
        None where that was done; what the marker says where that is something else, and nothing was done.
    """
    arguments: list[Argument] = [str(said), str(says), int(KEPT.total_seconds()), "1" if create else ""]
    for entry in entries:
        arguments += ("*" if new_ids else str(entry.id), 2 * len(entry.fields))
        arguments += [part for pair in entry.fields for part in pair]
    call = Call(stream, tuple(arguments), _other, (marker,))
    return await write_script(server, "restore", call, f"stream {stream}")


def _other(reply: Sequence[Any]) -> int | None:
    # A marker that is no number was not written by us.
    return None if reply[0] else number(reply[1]) or 0
