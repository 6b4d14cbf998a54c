"""Claiming pending rows, a page or a list of IDs at a time."""

from collections.abc import Sequence
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import EntryId
from streamops.wire.claimable import Claimable
from streamops.wire.node import Argument, Reply
from streamops.wire.script_calls import Call, optional, write_script, write_timed_script
from streamops.wire.server import Server
from streamops.wire.writes.undo_snapshots import SECONDS_KEPT


class Claimed(Struct, frozen=True):
    """Rows that were claimed in one call.

    Attributes:
        count: How many.
        rows: The rows as they were, packed, where nothing keeps them beside the stream.
        gone: IDs whose entries are gone, and whose rows the server removed.
        left: IDs that the server would not claim after all.
    """

    count: int
    rows: bytes
    gone: tuple[str, ...]
    left: tuple[str, ...]

    @property
    def dealt_with(self) -> int:
        """Rows that were claimed, or will not be."""
        return self.count + len(self.gone) + len(self.left)


class ClaimedPage(Struct, frozen=True):
    """One page of a group's pending rows.

    Attributes:
        claimed: What was claimed of it.
        last: The last ID that was looked at; none where there was none.
        ended: Whether there are no more.
        spent: What it took the server; none where its clock may not be asked.
    """

    claimed: Claimed
    last: EntryId | None
    ended: bool
    spent: timedelta | None = None


class ClaimedIds(Struct, frozen=True):
    """Some of the IDs that were asked for.

    Attributes:
        claimed: What was claimed of them.
        alone: Those that were left alone, each with why: ``gone``, ``owner`` or ``idle``.
    """

    claimed: Claimed
    alone: tuple[tuple[str, str], ...]


async def claim_page(
    server: Server,
    what: Claimable,
    *,
    position: EntryId | None,
    after: EntryId | None,
    until: EntryId,
    most: int,
    look: int,
    snapshot: str = "",
) -> ClaimedPage:
    """Claim what matches in the next page of a group's pending rows.

    Args:
        server: Where.
        what: Whose rows, for whom.
        position: The group must not stand before it; none asks for the group alone.
        after: Begin after this ID; none for the beginning.
        until: Go no further than to this ID.
        most: Claim no more than this many.
        look: Look at this many rows.
        snapshot: The hash that is to keep the rows as they were; empty to be told them.
    """
    start = "-" if after is None else f"({after}"
    owner: tuple[Argument, ...] = () if what.source is None else (what.source,)
    arguments = (*_who(what, position), start, str(until), most, SECONDS_KEPT, look, *owner)
    call = Call(what.stream, arguments, _page, _optional_key(snapshot))
    page, spent = await write_timed_script(server, "claim", call, f"group {what.stream}/{what.group}")
    return replace(page, spent=spent)


async def claim_ids(
    server: Server,
    what: Claimable,
    ids: Sequence[EntryId],
    *,
    position: EntryId | None,
    snapshot: str = "",
    idle: timedelta | None = None,
) -> ClaimedIds:
    """Claim those of at most a thousand IDs that match; ``snapshot`` as above.

    ``idle`` is for how long they look idle afterwards, where that is not to begin anew.
    """
    source = (0, "") if what.source is None else (1, what.source)
    looks = "" if idle is None else idle // timedelta(milliseconds=1)
    arguments = (*_who(what, position), SECONDS_KEPT, *source, looks, *map(str, ids))
    call = Call(what.stream, arguments, _ids, _optional_key(snapshot))
    return await write_script(server, "claim_ids", call, f"group {what.stream}/{what.group}")


def _optional_key(key: str) -> tuple[str, ...]:
    return (key,) if key else ()


def _who(what: Claimable, position: EntryId | None) -> tuple[Argument, ...]:
    return what.group, optional(position), what.to, what.min_idle_ms


def _page(reply: Sequence[Reply]) -> ClaimedPage:
    last, ended, claimed = reply
    return ClaimedPage(_claimed(claimed), EntryId.parse(last) if last else None, bool(ended))


def _ids(reply: Sequence[Reply]) -> ClaimedIds:
    claimed, alone, why = reply
    return ClaimedIds(_claimed(claimed), tuple(zip(_texts(alone), _texts(why), strict=True)))


def _claimed(reply: Sequence[Reply]) -> Claimed:
    count, rows, gone, left = reply
    return Claimed(count, rows, _texts(gone), _texts(left))


def _texts(reply: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(one.decode() for one in reply)
