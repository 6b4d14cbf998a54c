"""Pending rows: claiming, acknowledging, giving back and handing them over; and noting those that were never handled."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import GIVEN_BACK, EntryId, PendingEntry
from streamops.wire.faults import Fault
from streamops.wire.node import Argument, Reply
from streamops.wire.pending import Claimable
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, optional, try_script, write_script, write_timed_script
from streamops.wire.server import Server
from streamops.wire.writes.audit import SECONDS_KEPT

MISSING = "missing"
"""Why a row was left alone whose entry is gone: the server took it off the list."""


class LeftRow(NamedTuple):
    """A row that was left alone.

    Attributes:
        id: The ID.
        why: ``gone`` if it is pending no more, ``owner`` if it is another consumer's, ``idle`` if it is not idle for
            long enough (of one to be given back: where it looks so already), ``delivered`` if it was delivered again,
            ``missing`` as above.
        owner: Its owner now; empty if that was not read, or it has none.
    """

    id: str
    why: str
    owner: str = ""


class ChangedRows(Struct, frozen=True):
    """What one call of a script did to pending rows.

    Attributes:
        count: How many it changed.
        rows: They as they were, packed, where nothing keeps them beside the stream.
        left: Those that it left alone.
    """

    count: int
    rows: bytes
    left: tuple[LeftRow, ...]

    @property
    def missing(self) -> list[str]:
        """IDs of entries that are gone."""
        return [row.id for row in self.left if row.why == MISSING]


class ChangedPage(Struct, frozen=True):
    """One page of a group's pending rows.

    Attributes:
        changed: What was done to it.
        last_id: The last ID that was looked at; None if there was none.
        ended: Whether there are no more.
        spent: What it took the server; None if its clock may not be asked.
    """

    changed: ChangedRows
    last_id: EntryId | None
    ended: bool
    spent: timedelta | None = None


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
) -> ChangedPage:
    """Claim what matches in the next page of a group's pending rows.

    Args:
        server: Where.
        what: The rows and their new owner.
        position: The group must not stand before it; none asks for the group alone.
        after: Begin after this ID; none for the beginning.
        until: Go no further than to this ID.
        most: Claim no more than this many.
        look: Look at this many rows.
        snapshot: The hash that is to keep the rows as they were; empty to return them.
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
) -> ChangedRows:
    """Claim those of at most a thousand IDs that match; ``snapshot`` as above.

    ``idle`` is for how long they look idle afterwards, if that is not to begin again.
    """
    source = (0, "") if what.source is None else (1, what.source)
    looks = "" if idle is None else idle // timedelta(milliseconds=1)
    arguments = (*_who(what, position), SECONDS_KEPT, *source, looks, *map(str, ids))
    call = Call(what.stream, arguments, _changed, _optional_key(snapshot))
    return await write_script(server, "claim_ids", call, f"group {what.stream}/{what.group}")


async def ack(
    server: Server,
    stream: str,
    group: str,
    rows: Sequence[PendingEntry],
    *,
    position: EntryId | None,
) -> ChangedRows:
    """Acknowledge those that have the same owner and were not delivered again.

    Args:
        server: Where.
        stream: The stream.
        group: Its group.
        rows: At most a thousand rows as the plan saw them: what one script call does, no other client can interrupt.
        position: The group must not stand before it; none asks for the group alone.
    """
    arguments = [group, optional(position)]
    for row in rows:
        arguments += (str(row.id), row.consumer, str(row.delivery_count))
    call = Call(stream, tuple(arguments), _changed)
    return await write_script(server, "ack", call, f"group {stream}/{group}")


async def nack(
    server: Server,
    stream: str,
    group: str,
    rows: Sequence[PendingEntry],
    *,
    position: EntryId | None,
    snapshot: str = "",
) -> ChangedRows:
    """Give back those of at most a thousand rows whose owner is still the same; ``position`` and ``snapshot`` as above."""
    arguments = [group, optional(position), str(SECONDS_KEPT)]
    arguments.append(str(GIVEN_BACK // timedelta(milliseconds=1)))
    for row in rows:
        arguments += (str(row.id), row.consumer)
    call = Call(stream, tuple(arguments), _changed, _optional_key(snapshot))
    return await write_script(server, "nack", call, f"group {stream}/{group}")


async def hand_over(
    server: Server,
    stream: str,
    group: str,
    *,
    floor: EntryId | None,
    source: str,
    target: str,
    after: EntryId | None,
    count: int,
    most: int | None,
    snapshot: str = "",
) -> ChangedPage:
    """Hand pending entries of one consumer to another one, with their idle times and counts.

    Args:
        server: Where.
        stream: The stream.
        group: The group.
        floor: It must not stand before this; none asks for the group alone.
        source: The former owner.
        target: The new owner; created if there is no consumer of that name.
        after: Begin after this row; none for the first.
        count: How many rows: some hundreds.
        most: Refuse where ``source`` has more rows than this; None if that was asked before.
        snapshot: The hash that is to keep the rows as they were; empty to return them.
    """
    arguments: tuple[Argument, ...] = (
        group,
        optional(floor),
        source,
        target,
        optional(after),
        count,
        optional(most),
        SECONDS_KEPT,
    )
    call = Call(stream, arguments, _page, _optional_key(snapshot))
    return await write_script(server, "consumer_hand_over", call, f"consumer {stream}/{group}/{source}")


def _optional_key(key: str) -> tuple[str, ...]:
    return (key,) if key else ()


def _who(what: Claimable, position: EntryId | None) -> tuple[Argument, ...]:
    return what.group, optional(position), what.to, what.min_idle_ms


def _page(reply: Sequence[Reply]) -> ChangedPage:
    last, ended, *changed = reply
    return ChangedPage(_changed(changed), EntryId.parse(last) if last else None, bool(ended))


def _changed(reply: Sequence[Reply]) -> ChangedRows:
    count, rows, *left = reply
    return ChangedRows(
        count,
        rows,
        tuple(LeftRow(one.decode(), *map(decode_name, about)) for one, *about in zip(*left, strict=True)),
    )


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
