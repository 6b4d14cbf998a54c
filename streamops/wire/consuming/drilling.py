"""What drills ask of the server besides what workers and publishers do."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from streamops.wire.consuming.subscription import Subscription
from streamops.wire.faults import fault
from streamops.wire.keys import same_slot
from streamops.wire.node import Command
from streamops.wire.replies import decode_groups
from streamops.wire.server import Server

PAGE: Final = 1_000


class DrillCounts(NamedTuple):
    """How a group stands, and what the ledger says, all at one instant.

    Attributes:
        added: Entries of the stream.
        delivered: The last ID that the group was given.
        pending: Entries with a consumer, those of the retry stream left out.
        retrying: Entries that are delayed or in the retry stream.
        dead_letters: Entries in the dead-letter queue.
        handled: Events that the ledger has.
        repeated: How often it was given one that it had.
    """

    added: int
    delivered: str
    pending: int
    retrying: int
    dead_letters: int
    handled: int
    repeated: int


async def renew_keys(server: Server, keys: Sequence[str], ttl: timedelta) -> None:
    """Have keys of one slot go by themselves, so long from now; those that are not there are left out.

    Raises:
        ServerError: The server did not answer, or does not let us.
    """
    milliseconds = round(ttl.total_seconds() * 1000)
    _refuse_faults(await server.pipeline(keys[0], [("PEXPIRE", key, milliseconds) for key in keys]), keys[0])


async def remove_keys(server: Server, keys: Sequence[str]) -> None:
    """Remove keys of one slot, their memory freed in the background.

    Raises:
        ServerError: The server did not answer, or does not let us.
    """
    _refuse_faults(await server.pipeline(keys[0], [("UNLINK", key) for key in keys]), keys[0])


async def open_streams(server: Server, streams: Sequence[str], group: str, ttl: timedelta) -> None:
    """Make empty streams of one slot, each with a group at its beginning, that go by themselves: all at one instant.

    Raises:
        ServerError: The server did not answer, or does not let us.
    """
    milliseconds = round(ttl.total_seconds() * 1000)
    commands: list[Command] = [("MULTI",)]
    for stream in streams:
        commands += [
            ("XGROUP", "CREATE", stream, group, "0", "MKSTREAM"),
            ("PEXPIRE", stream, milliseconds),
        ]
    replies = _refuse_faults(await server.pipeline(streams[0], [*commands, ("EXEC",)]), streams[0])
    _refuse_faults(replies[-1], streams[0])


async def read_drill_counts(server: Server, sub: Subscription, ledger: str, repeats: str) -> DrillCounts:
    """How a group stands, and what the ledger says.

    Raises:
        ServerError: The server did not answer, or does not let us.
    """
    assert same_slot(sub.stream, sub.retries, ledger, repeats)  # noqa: S101 - the caller chose the names
    commands: list[Command] = [
        ("MULTI",),
        ("XLEN", sub.stream),
        ("XINFO", "GROUPS", sub.stream),
        ("ZCARD", sub.delayed),
        ("XLEN", sub.retries),
        ("XLEN", sub.dead_letters),
        ("BITCOUNT", ledger),
        ("GET", repeats),
        ("EXEC",),
    ]
    replies = _refuse_faults(await server.pipeline(sub.stream, commands), sub.stream)
    added, groups, delayed, retries, dead_letters, handled, repeated = _refuse_faults(replies[-1], sub.stream)
    group = next((one for one in decode_groups(groups) if one.name == sub.group), None)
    return DrillCounts(
        added=added,
        delivered=str(group.last_delivered_id) if group else "0-0",
        pending=group.pending if group else 0,
        retrying=delayed + retries,
        dead_letters=dead_letters,
        handled=handled,
        repeated=int(repeated or 0),
    )


async def note_handled(server: Server, ledger: str, repeats: str, number: int) -> None:
    """Have the ledger know that an event was handled; if it did already, that is counted.

    Raises:
        ServerError: The server did not answer, or does not let us.
    """
    (before,) = _refuse_faults(await server.pipeline(ledger, [("SETBIT", ledger, number, 1)]), ledger)
    if before:
        _refuse_faults(await server.pipeline(repeats, [("INCR", repeats)]), repeats)


async def read_ledger(server: Server, ledger: str) -> set[int]:
    """The numbers of all events that were handled.

    Raises:
        ServerError: The server did not answer, or does not let us.
    """
    (bits,) = _refuse_faults(await server.pipeline(ledger, [("GET", ledger)]), ledger)
    return {
        at * 8 + bit
        for at, byte in enumerate(bits or b"")
        if byte
        for bit in range(8)
        if byte & (0x80 >> bit)
    }


async def read_field(server: Server, stream: str, field: bytes) -> list[bytes]:
    """The values of one field of all entries of a stream; nothing for an entry that has none.

    Raises:
        ServerError: The server did not answer, or does not let us.
    """
    values: list[bytes] = []
    first = "-"
    while True:
        (page,) = _refuse_faults(
            await server.pipeline(stream, [("XRANGE", stream, first, "+", "COUNT", PAGE)]), stream
        )
        values += [_value(parts, field) for _, parts in page]
        if len(page) < PAGE:
            return values
        first = f"({page[-1][0].decode()}"


def _value(parts: Sequence[bytes], field: bytes) -> bytes:
    pairs: Iterable[tuple[bytes, bytes]] = zip(parts[::2], parts[1::2], strict=True)
    return next((value for name, value in pairs if name == field), b"")


def _refuse_faults(replies: Any, what: str) -> Any:  # noqa: ANN401 - replies of any shape
    """Replies, none of which is an error; raises ``StreamopsError`` for the first that is."""
    for reply in [replies] if isinstance(replies, Exception) else replies or ():
        if isinstance(reply, Exception):
            raise fault(reply).error(what)
    return replies
