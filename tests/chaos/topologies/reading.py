"""What a server holds, read with plain commands: on a replica too, and never through what is tested."""

from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct

from tests.support.servers import RunningServer

PAGE = 10_000


class Group(Struct, frozen=True):
    """A group of a stream.

    Attributes:
        last: Up to which ID its entries were delivered.
        pending: The consumer of each pending entry.
    """

    last: tuple[int, int]
    pending: Mapping[str, str]


class Reading(Struct, frozen=True):
    """A stream as it was read.

    Attributes:
        entries: Its fields by ID; of a name that comes twice, the last.
        groups: Its groups.
    """

    entries: Mapping[str, Mapping[str, str]] = {}
    groups: Mapping[str, Group] = {}

    def owed(self, group: str) -> Iterator[str]:
        """The entries that a group has yet to be given, or to acknowledge."""
        found = self.groups.get(group)
        for one in self.entries:
            if found is None or parsed(one) > found.last or one in found.pending:
                yield one

    def values(self, name: str) -> list[str]:
        """A field of each entry, in their order."""
        return [fields[name] for fields in self.entries.values() if name in fields]


def read_stream(server: RunningServer, key: str) -> Reading:
    """A stream with its groups; nothing where there is none. The server is still: nobody writes to it."""
    rows = server.command("XRANGE", key, "-", "+")
    entries = {one.decode(): _fields(flat) for one, flat in rows}
    if not server.command("EXISTS", key):
        return Reading()
    groups = {}
    for row in server.command("XINFO", "GROUPS", key):
        told = dict(zip(row[::2], row[1::2], strict=True))
        name = told[b"name"].decode()
        pending = server.command("XPENDING", key, name, "-", "+", PAGE)
        groups[name] = Group(
            parsed(told[b"last-delivered-id"].decode()), {row[0].decode(): row[1].decode() for row in pending}
        )
    return Reading(entries, groups)


def read_key(server: RunningServer, key: str) -> Reading:
    """The same; of the bodies of delayed messages, the entries whose next attempt they are, by their IDs."""
    if server.command("TYPE", key) != b"hash":
        return read_stream(server, key)
    bodies = map(msgspec.msgpack.decode, server.command("HVALS", key))
    return Reading({body[4]: {} for body in bodies})


def parsed(entry_id: str) -> tuple[int, int]:
    """An ID as numbers that compare."""
    first, _, second = entry_id.partition("-")
    return int(first), int(second)


def _fields(flat: list[bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in zip(flat[::2], flat[1::2], strict=True)}
