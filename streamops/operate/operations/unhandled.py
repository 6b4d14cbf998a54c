"""What commands leave to a group's workers where the server took rows off the list whose entries are gone."""

from collections.abc import Iterable, Sequence

from streamops.model.ids import EntryId
from streamops.model.streams import Consumer
from streamops.operate.acting.run import Run
from streamops.wire.consuming.asking import mark_prefix
from streamops.wire.consuming.hearts import WORKER_PREFIX
from streamops.wire.keys import retry_source, unhandled_key
from streamops.wire.writes.unhandled import Unhandled, note_unhandled


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
        run.note(f"Business keys of entries that are gone stay taken: {place.key}: {problem.reason}.")
