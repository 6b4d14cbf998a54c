"""Entries: adding one, deleting some by their IDs, restoring those of a file, trimming the oldest."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from streamops.model.entries import EntryId, StreamEntry
from streamops.model.streams import Flavour, ServerNode
from streamops.wire.batches import Request
from streamops.wire.faults import Fault, FaultKind, required
from streamops.wire.node import Argument, Reply
from streamops.wire.replies import decode_name, number
from streamops.wire.script_calls import Call, write_script, write_timed_script
from streamops.wire.server import Server

_TOO_SMALL: Final = "equal or smaller"


async def add_entry(
    server: Server,
    stream: str,
    fields: Sequence[tuple[bytes, bytes]],
    *,
    entry_id: str | None = None,
) -> EntryId:
    """Add an entry; its ID.

    Args:
        server: Where.
        stream: The stream; created if there is none.
        fields: Field and value pairs, in their order.
        entry_id: Its ID; the server's choice unless given.
    """
    parts = [part for pair in fields for part in pair]
    reply = await server.single(stream, "XADD", stream, entry_id or "*", *parts)
    if isinstance(reply, Exception) and _TOO_SMALL in str(reply):
        reply = Fault(FaultKind.DRIFT, "an entry with a greater ID has been added")
    return EntryId.parse(required(reply, f"stream {stream}"))


REFERENCES_SOUND: Final = (8, 2, 3)


def references_are_sound(nodes: Sequence[ServerNode]) -> bool:
    """Whether these servers heed pending rows: XDELEX, and XTRIM's ``ACKED`` and ``DELREF`` in its exact form.

    Source: tried on Redis 8.2.3, whose approximate form removes nothing with either word. Pending rows of entries
    that were deleted before stay; redis #15581.
    """
    return bool(nodes) and all(
        node.flavour is Flavour.REDIS and node.version >= REFERENCES_SOUND for node in nodes
    )


async def has_xdelex(server: Server, stream: str) -> bool:
    """Whether the server that serves a stream has XDELEX (Redis 8.2)."""
    reply = (await server.batch([Request(stream, ("COMMAND", "INFO", "XDELEX"))])).replies[0]
    return isinstance(reply, list) and bool(reply and reply[0])


class Deleting(NamedTuple):
    """What is deleted from, and how.

    Attributes:
        stream: The stream.
        positions: The groups that the plan saw, none of which may be missing, new, or set back.
        references: Whether pending rows go with their entries, by XDELEX.
        what: What an error is said of; the stream unless given.
    """

    stream: str
    positions: Sequence[tuple[str, EntryId]]
    references: bool = False
    what: str = ""


async def delete(server: Server, how: Deleting, ids: Sequence[EntryId]) -> frozenset[EntryId]:
    """Delete those of at most a thousand IDs that are there; which they were."""
    words = delete_words(ids, how.positions, references=how.references)
    call = Call(how.stream, words, _deleted)
    return await write_script(server, "delete", call, how.what or f"stream {how.stream}")


def delete_words(
    ids: Sequence[EntryId], positions: Sequence[tuple[str, EntryId]], *, references: bool
) -> tuple[Argument, ...]:
    """Arguments of ``delete.lua``."""
    groups = (part for name, position in positions for part in (name, str(position)))
    return "DELREF" if references else "", len(positions), *groups, *map(str, ids)


def _deleted(reply: Sequence[bytes]) -> frozenset[EntryId]:
    return frozenset(map(EntryId.parse, reply))


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
        None if that was done; what the marker says where that is something else, and nothing was done.
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


ACKED: Final = "ACKED"
DELREF: Final = "DELREF"
"""Words of XTRIM's exact form, from Redis 8.2 on: only entries that every group has read and acknowledged; their
pending rows too."""


class TrimMode(NamedTuple):
    """How a slice is trimmed.

    Attributes:
        most: Remove at most this many entries.
        exact: Go on where a node can go only in part.
        references: Whether an exact trim tells XTRIM of pending rows: ``ACKED`` if it is safe, else ``DELREF``.
    """

    most: int
    exact: bool
    references: bool = False


class TrimmedSlice(NamedTuple):
    """What one slice did.

    Attributes:
        removed: Entries removed.
        length: Entries left.
        cut: The ID below which entries were free to go.
        blocking_group: The group that needs the rest; empty if the cut is the one that was asked for.
        spent: What it took the server; None if its clock may not be asked.
    """

    removed: int
    length: int
    cut: EntryId
    blocking_group: str
    spent: timedelta | None = None


class TrimFloor(NamedTuple):
    """Where a trim ends that heeds no group.

    Attributes:
        cut: The ID below which entries go.
        kept: Entries that stay in any case.
        positions: The groups that the plan saw, none of which may be missing, new, or set back.
    """

    cut: EntryId
    kept: int
    positions: tuple[tuple[str, EntryId], ...]


async def trim_safely(
    server: Server, stream: str, bound: int | EntryId, how: TrimMode, what: str = ""
) -> TrimmedSlice:
    """Remove the oldest entries, none that a group has yet to read or to acknowledge.

    Args:
        server: Where.
        stream: The stream.
        bound: Keep this many entries, or those from this ID on.
        how: How much in this slice, and how.
        what: What an error is said of, if that is more than the stream.
    """
    return await _timed(server, "trim_safely", stream, safe_trim_arguments(bound, how), what)


async def trim_to(
    server: Server, stream: str, floor: TrimFloor, how: TrimMode, what: str = ""
) -> TrimmedSlice:
    """Remove the oldest entries below an ID, needed or not; at most this many in this slice."""
    return await _timed(server, "trim_to", stream, floor_trim_arguments(floor, how), what)


async def knows_references(server: Server, stream: str) -> bool:
    """Whether the server says of itself that its XTRIM knows ``ACKED`` and ``DELREF``."""
    known = _words(await server.single(stream, "COMMAND", "DOCS", "XTRIM"))
    return {ACKED.encode(), DELREF.encode()} <= known


def safe_trim_arguments(bound: int | EntryId, how: TrimMode) -> tuple[Argument, ...]:
    """Arguments of ``trim_safely.lua``."""
    kind = "minid" if isinstance(bound, EntryId) else "maxlen"
    return kind, str(bound), *_mode_arguments(how, ACKED)


def floor_trim_arguments(floor: TrimFloor, how: TrimMode) -> tuple[Argument, ...]:
    """Arguments of ``trim_to.lua``."""
    groups = (part for name, position in floor.positions for part in (name, str(position)))
    return str(floor.cut), floor.kept, *_mode_arguments(how, DELREF), *groups


def _mode_arguments(how: TrimMode, word: str) -> tuple[Argument, ...]:
    return how.most, "exact" if how.exact else "approximate", word if how.references else ""


async def _timed(
    server: Server, name: str, stream: str, arguments: tuple[Argument, ...], what: str
) -> TrimmedSlice:
    """Run a script, and note what it took."""
    call = Call(stream, arguments, _slice)
    done, spent = await write_timed_script(server, name, call, what or f"stream {stream}")
    return done._replace(spent=spent)


def _slice(reply: Reply) -> TrimmedSlice:
    removed, length, cut, group = reply
    return TrimmedSlice(removed, length, EntryId.parse(cut), decode_name(group))


def _words(reply: Reply) -> set[bytes]:
    """All strings in a reply, however deep; none in an error."""
    if isinstance(reply, bytes):
        return {reply}
    return {word for part in reply for word in _words(part)} if isinstance(reply, list) else set()
