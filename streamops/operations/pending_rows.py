"""Consumers of a group, and what is left to its workers where rows of entries that are gone were taken away."""

from collections.abc import Iterable, Sequence

from streamops.errors import NotFound
from streamops.model.entries import EntryId
from streamops.model.streams import Consumer
from streamops.operations.running import Run
from streamops.wire.consuming.heartbeats import WORKER_PREFIX
from streamops.wire.consuming.subscription import mark_prefix
from streamops.wire.faults import required
from streamops.wire.keys import retry_source, unhandled_key
from streamops.wire.reads import read_consumers
from streamops.wire.server import Server
from streamops.wire.writes.pending import Unhandled, note_unhandled


async def read_members(
    server: Server, stream: str, group: str, needed: str | None = None
) -> tuple[Consumer, ...]:
    """A group's consumers; raises ``NotFound`` if the one that is needed is not among them."""
    (found,) = await read_consumers(server, [(stream, group)])
    consumers = required(found, f"group {stream}/{group}")
    names = [one.name for one in consumers]
    if needed is not None and needed not in names:
        raise NotFound(
            f"group {stream}/{group} has no consumer {needed}",
            f"Its consumers: {', '.join(names)}." if names else "It has no consumers.",
        )
    return consumers.consumers


def unhandled_of(stream: str, group: str, consumers: Iterable[Consumer]) -> Unhandled | None:
    """Where to note entries that were never handled; none for a group without workers of streamops.

    Other libraries remember no business keys here.
    """
    if not any(one.name.startswith(WORKER_PREFIX) for one in consumers):
        return None
    source = retry_source(stream)
    return Unhandled(unhandled_key(source or stream, group), mark_prefix(retries=source is not None))


async def note_gone(run: Run, place: Unhandled | None, ids: Sequence[EntryId | str]) -> None:
    """Free the business keys of entries that are gone; says so where that is refused."""
    if place is None or not ids:
        return
    if problem := await note_unhandled(run.server, place, ids):
        run.note(f"Business keys of deleted entries stay reserved: {place.key}: {problem.reason}.")
