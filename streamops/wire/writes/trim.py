"""Trimming, slice by slice; each tells what it took the server."""

from datetime import timedelta
from typing import Final, NamedTuple

from streamops.model.entries import EntryId
from streamops.wire.node import Argument, Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, write_timed_script
from streamops.wire.server import Server

ACKED: Final = "ACKED"
DELREF: Final = "DELREF"
"""Words of XTRIM's exact form, from Redis 8.2 on: only entries that every group has read and acknowledged; their
pending rows too."""


class How(NamedTuple):
    """How a slice is trimmed.

    Attributes:
        most: Remove at most this many entries.
        exact: Go on where a node can go only in part.
        references: Whether an exact trim tells XTRIM of pending rows: ``ACKED`` where it is safe, else ``DELREF``.
    """

    most: int
    exact: bool
    references: bool = False


class Slice(NamedTuple):
    """What one slice did.

    Attributes:
        removed: Entries removed.
        length: Entries left.
        cut: The ID below which entries were free to go.
        holder: The group that keeps the rest; empty where the cut is the one that was asked for.
        spent: What it took the server; none where its clock may not be asked.
    """

    removed: int
    length: int
    cut: EntryId
    holder: str
    spent: timedelta | None = None


class Floor(NamedTuple):
    """Where a trim ends that heeds no group.

    Attributes:
        cut: The ID below which entries go.
        kept: Entries that stay in any case.
        positions: The groups that the plan saw, none of which may be missing, new, or set back.
    """

    cut: EntryId
    kept: int
    positions: tuple[tuple[str, EntryId], ...]


async def trim_safely(server: Server, stream: str, bound: int | EntryId, how: How, what: str = "") -> Slice:
    """Remove the oldest entries, none that a group has yet to read or to acknowledge.

    Args:
        server: Where.
        stream: The stream.
        bound: Keep this many entries, or those from this ID on.
        how: How much in this slice, and how.
        what: What an error is said of, where that is more than the stream.
    """
    return await _timed(server, "trim_safely", stream, safe_words(bound, how), what)


async def trim_to(server: Server, stream: str, floor: Floor, how: How, what: str = "") -> Slice:
    """Remove the oldest entries below an ID, needed or not; at most this many in this slice."""
    return await _timed(server, "trim_to", stream, floor_words(floor, how), what)


async def knows_references(server: Server, stream: str) -> bool:
    """Whether the server says of itself that its XTRIM knows ``ACKED`` and ``DELREF``."""
    known = _words(await server.single(stream, "COMMAND", "DOCS", "XTRIM"))
    return {ACKED.encode(), DELREF.encode()} <= known


def safe_words(bound: int | EntryId, how: How) -> tuple[Argument, ...]:
    """What ``trim_safely.lua`` is told."""
    kind = "minid" if isinstance(bound, EntryId) else "maxlen"
    return kind, str(bound), *_mode_arguments(how, ACKED)


def floor_words(floor: Floor, how: How) -> tuple[Argument, ...]:
    """What ``trim_to.lua`` is told."""
    groups = (part for name, position in floor.positions for part in (name, str(position)))
    return str(floor.cut), floor.kept, *_mode_arguments(how, DELREF), *groups


def _mode_arguments(how: How, word: str) -> tuple[Argument, ...]:
    return how.most, "exact" if how.exact else "approximate", word if how.references else ""


async def _timed(server: Server, name: str, stream: str, arguments: tuple[Argument, ...], what: str) -> Slice:
    """Run a script, and note what it took."""
    call = Call(stream, arguments, _slice)
    done, spent = await write_timed_script(server, name, call, what or f"stream {stream}")
    return done._replace(spent=spent)


def _slice(reply: Reply) -> Slice:
    removed, length, cut, holder = reply
    return Slice(removed, length, EntryId.parse(cut), decode_name(holder))


def _words(reply: Reply) -> set[bytes]:
    """All strings in a reply, however deep; none in an error."""
    if isinstance(reply, bytes):
        return {reply}
    return {word for part in reply for word in _words(part)} if isinstance(reply, list) else set()
