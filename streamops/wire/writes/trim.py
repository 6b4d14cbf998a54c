"""Trimming, slice by slice; each tells what it took the server."""

from datetime import timedelta
from typing import Final, NamedTuple

from streamops.model.ids import EntryId
from streamops.wire.faults import Fault, fault
from streamops.wire.node import Argument, Reply
from streamops.wire.replies import decode_name, decode_time
from streamops.wire.script_calls import Call
from streamops.wire.scripts import load_script
from streamops.wire.server import Request, Server

ACKED: Final = "ACKED"
"""XTRIM's word, from Redis 8.2 on, for entries that every group has read and acknowledged."""


class How(NamedTuple):
    """How a slice is trimmed.

    Attributes:
        most: Remove at most so many entries.
        exact: Go on where a node can go only in part.
        acked: Whether XTRIM is told ``ACKED`` too, in its approximate form and in its exact one.
    """

    most: int
    exact: bool
    acked: tuple[bool, bool] = (False, False)


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


async def trim_safely(server: Server, stream: str, bound: int | EntryId, how: How) -> Slice | Fault:
    """Remove the oldest entries, none that a group has yet to read or to acknowledge.

    Args:
        server: Where.
        stream: The stream.
        bound: Keep so many entries, or those from this ID on.
        how: How much in this slice, and how.
    """
    kind = "minid" if isinstance(bound, EntryId) else "maxlen"
    arguments = (kind, str(bound), *_told(how), *(ACKED if acked else "" for acked in how.acked))
    return await _timed(server, "trim", stream, arguments)


async def trim_to(server: Server, stream: str, floor: Floor, how: How) -> Slice | Fault:
    """Remove the oldest entries below an ID, whoever needs them; at most so many in this slice."""
    groups = (part for name, position in floor.positions for part in (name, str(position)))
    return await _timed(server, "trim_to", stream, (str(floor.cut), floor.kept, *_told(how), *groups))


async def knows_acked(server: Server, stream: str) -> bool:
    """Whether the server says of itself that its XTRIM knows ``ACKED``."""
    return ACKED.encode() in _words(await server.single(stream, "COMMAND", "DOCS", "XTRIM"))


def _told(how: How) -> tuple[Argument, ...]:
    return how.most, "exact" if how.exact else "approximate"


async def _timed(server: Server, name: str, stream: str, arguments: tuple[Argument, ...]) -> Slice | Fault:
    """Run a script between two looks at the server's clock: inside a script it stands still."""
    clock = Request(stream, ("TIME",))
    script = Call(stream, arguments, _slice).request("EVAL", load_script(name).source)
    answers = await server.batch([clock, script, clock])
    before, reply, after = answers.replies
    if isinstance(reply, Exception):
        if answers.failures:
            raise server.error(reply)
        return fault(reply)
    done: Slice = reply
    if isinstance(before, Exception) or isinstance(after, Exception):
        return done
    return done._replace(spent=decode_time(after) - decode_time(before))


def _slice(reply: Reply) -> Slice:
    removed, length, cut, holder = reply
    return Slice(removed, length, EntryId.parse(cut), decode_name(holder))


def _words(reply: Reply) -> set[bytes]:
    """All strings in a reply, however deep; none in an error."""
    if isinstance(reply, bytes):
        return {reply}
    return {word for part in reply for word in _words(part)} if isinstance(reply, list) else set()
