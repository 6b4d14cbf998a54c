"""Noting entries that were deleted before they were handled, so that their business keys are free."""

from collections.abc import Sequence
from typing import NamedTuple

from streamops.model.entries import EntryId
from streamops.wire.faults import Fault
from streamops.wire.script_calls import Call, try_script
from streamops.wire.server import Server


class Unhandled(NamedTuple):
    """Where a group's workers look for such entries.

    Attributes:
        key: The sorted set.
        prefix: What its members begin with, before an ID of the stream or retry stream in question.
    """

    key: str
    prefix: str


async def note_unhandled(server: Server, place: Unhandled, ids: Sequence[EntryId | str]) -> Fault | None:
    """Note some thousand entries at most; noting one twice does no harm.

    Raises:
        ServerError: The server did not answer.
    """
    call = Call(place.key, tuple(f"{place.prefix}{one}" for one in ids), int)
    noted = await try_script(server, "note_unhandled", call)
    return noted if isinstance(noted, Fault) else None
