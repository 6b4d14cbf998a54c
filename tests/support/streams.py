"""What a test writes to streams and reads from them by commands of its own, beside streamops."""

from collections.abc import Sequence

from tests.support.servers import RunningServer

Name = str | bytes


def add_entry(server: RunningServer, stream: Name, *parts: Name | int, entry_id: str = "*") -> str:
    """Add an entry of these names and values; its ID."""
    return str(server.command("XADD", stream, entry_id, *parts).decode())


def add_numbered(
    server: RunningServer, stream: Name, first: int, last: int, *, sequence: int = 1, size: int = 1
) -> None:
    """Add entries ``first``-1 to ``last``-1, of values of this size."""
    numbers = range(first, last + 1)
    server.commands(("XADD", stream, f"{number}-{sequence}", "f", "x" * size) for number in numbers)


def deliver(
    server: RunningServer, stream: Name, group: Name, consumer: Name, count: int, *words: str
) -> list[str]:
    """Have a consumer read; the IDs that it was given."""
    reply = server.command(
        "XREADGROUP", "GROUP", group, consumer, "COUNT", count, *words, "STREAMS", stream, ">"
    )
    return [entry[0].decode() for entry in reply[0][1]] if reply else []


def entries_of(server: RunningServer, stream: Name) -> list[tuple[str, list[bytes]]]:
    """IDs of all entries, each with names and values in turns."""
    return [(one.decode(), parts) for one, parts in server.command("XRANGE", stream, "-", "+")]


def fields_of(server: RunningServer, stream: Name) -> list[dict[bytes, bytes]]:
    """The fields of all entries."""
    return [dict(zip(parts[::2], parts[1::2], strict=True)) for _, parts in entries_of(server, stream)]


def milliseconds_of(server: RunningServer, stream: Name) -> list[int]:
    """The first numbers of the IDs of all entries."""
    return [int(one.partition("-")[0]) for one, _ in entries_of(server, stream)]


def pending_count(server: RunningServer, stream: Name = "orders", group: Name = "billing") -> int:
    """How many entries a group has pending."""
    return int(server.command("XPENDING", stream, group)[0])


def pending_rows(server: RunningServer, stream: Name, group: Name) -> Sequence[tuple[str, str, int, int]]:
    """ID, consumer, idle milliseconds and deliveries of what a group has pending."""
    rows = server.command("XPENDING", stream, group, "-", "+", 100_000)
    return [(one.decode(), owner.decode(), idle, times) for one, owner, idle, times in rows]


def pending_owners(server: RunningServer, stream: Name, group: Name) -> list[str]:
    """The consumer of each pending entry."""
    return [owner for _, owner, _, _ in pending_rows(server, stream, group)]


def consumer_names(server: RunningServer, stream: Name, group: Name) -> list[str]:
    return [row[1].decode() for row in server.command("XINFO", "CONSUMERS", stream, group)]


def parts_of(server: RunningServer, stream: Name) -> list[list[bytes]]:
    """Names and values in turns of all entries."""
    return [parts for _, parts in entries_of(server, stream)]


def pending_ids(server: RunningServer, stream: Name, group: Name) -> list[str]:
    return [one for one, _, _, _ in pending_rows(server, stream, group)]


def add_counting(server: RunningServer, stream: Name, first: int, last: int) -> None:
    """Add entries ``first``-0 to ``last``-0, each of which holds its number as ``n``."""
    server.commands(("XADD", stream, f"{number}-0", "n", number) for number in range(first, last + 1))
