"""Claiming pending rows, a page or a list of IDs at a time."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from streamops.model.ids import EPOCH, EntryId
from streamops.wire.claimable import Claimable
from streamops.wire.faults import Fault
from streamops.wire.node import Argument, Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

PAGE = 1_000
"""Rows that one call looks at: about 3 ms of the server's time where all of them are claimed."""


class Claimed(Struct, frozen=True):
    """Rows that were claimed in one call, still packed, because nobody but an undo reads them.

    Attributes:
        count: How many.
        at: When, by the server's clock.
        owners: Whose they were.
        columns: The rows as they were, as MessagePack: IDs, places of their owners, idle milliseconds, deliveries.
        gone: IDs whose entries are gone, and whose rows the server removed.
        left: IDs that the server would not claim after all.
    """

    count: int
    at: datetime
    owners: tuple[str, ...]
    columns: bytes
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
    """

    claimed: Claimed
    last: EntryId | None
    ended: bool


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
) -> ClaimedPage | Fault:
    """Claim what matches in the next page of a group's pending rows.

    Args:
        server: Where.
        what: Whose rows, for whom.
        position: The group must not stand before it; none asks for the group alone.
        after: Begin after this ID; none for the beginning.
        until: Go no further than to this ID.
        most: Claim no more than so many.
    """
    start = "-" if after is None else f"({after}"
    owner: tuple[Argument, ...] = () if what.source is None else (what.source,)
    arguments = (*_who(what, position), start, str(until), most, PAGE, *owner)
    reply: ClaimedPage | Fault = await write_script(server, "claim", Call(what.stream, arguments, _page))
    return reply


async def claim_ids(
    server: Server, what: Claimable, ids: Sequence[EntryId], *, position: EntryId | None
) -> ClaimedIds | Fault:
    """Claim those of at most a thousand IDs that match."""
    source = (0, "") if what.source is None else (1, what.source)
    arguments = (*_who(what, position), *source, *map(str, ids))
    reply: ClaimedIds | Fault = await write_script(server, "claim_ids", Call(what.stream, arguments, _ids))
    return reply


def _who(what: Claimable, position: EntryId | None) -> tuple[Argument, ...]:
    return what.group, "" if position is None else str(position), what.to, what.min_idle_ms


def _page(reply: Sequence[Reply]) -> ClaimedPage:
    last, ended, claimed = reply
    return ClaimedPage(_claimed(claimed), EntryId.parse(last) if last else None, bool(ended))


def _ids(reply: Sequence[Reply]) -> ClaimedIds:
    claimed, alone, why = reply
    return ClaimedIds(_claimed(claimed), tuple(zip(_texts(alone), _texts(why), strict=True)))


def _claimed(reply: Sequence[Reply]) -> Claimed:
    count, at_ms, owners, columns, gone, left = reply
    return Claimed(
        count,
        EPOCH + timedelta(milliseconds=at_ms),
        tuple(map(decode_name, owners)),
        columns,
        _texts(gone),
        _texts(left),
    )


def _texts(reply: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(one.decode() for one in reply)
