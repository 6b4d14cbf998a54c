"""The script reads what the plain commands read, payloads left out."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.model.entries import EntryId, PendingEntry
from streamops.model.streams import GroupReading, StreamReading
from streamops.wire.server import Server
from streamops.wire.stream_reader import LARGE_BYTES, Depth, StreamReader
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


STREAM = b"a \xff{odd}\r\nname"
NAME = STREAM.decode("utf-8", "surrogateescape")
Value = TypeVar("Value")
Command = tuple[Any, ...]

groups = st.sampled_from([b"billing", b"\xfe\r\n", b""])
consumers = st.sampled_from([b"worker", b"\x00 {w}"])
sizes = st.sampled_from([0, 10, LARGE_BYTES, 3 * LARGE_BYTES])
ids = st.builds("{}-{}".format, st.integers(0, 30), st.integers(0, 2))
commands = st.one_of(
    st.builds(lambda size: ("XADD", STREAM, "*", "f", b"\xff" * size), sizes),
    st.builds(lambda one, size: ("XADD", STREAM, one, "f", "x" * size, "f", "again"), ids, sizes),
    st.builds(lambda one: ("XDEL", STREAM, one), ids),
    st.builds(lambda many: ("XTRIM", STREAM, "MAXLEN", many), st.integers(0, 5)),
    st.builds(lambda group, one: ("XGROUP", "CREATE", STREAM, group, one, "MKSTREAM"), groups, ids),
    st.builds(lambda group: ("XGROUP", "SETID", STREAM, group, "$"), groups),
    st.builds(lambda group: ("XGROUP", "DESTROY", STREAM, group), groups),
    st.builds(
        lambda group, who, many: ("XREADGROUP", "GROUP", group, who, "COUNT", many, "STREAMS", STREAM, ">"),
        groups,
        consumers,
        st.integers(1, 4),
    ),
    st.builds(lambda group, one: ("XACK", STREAM, group, one), groups, ids),
    st.builds(lambda group, who: ("XAUTOCLAIM", STREAM, group, who, 0, "0"), groups, consumers),
    st.builds(lambda one: ("XSETID", STREAM, one), ids),
    st.just(("DEL", STREAM)),
)


class Readers:
    """One reader that runs scripts and one that does not, on the same server."""

    def __init__(self, running: RunningServer) -> None:
        self._runner = asyncio.Runner()
        self._server = self.run(Server.connect(running.options))
        self.begin()

    def begin(self) -> None:
        """Know nothing of any stream."""
        self.scripted = StreamReader(self._server)
        self.plain = StreamReader(self._server)
        self.plain.depth = Depth.TRANSACTION

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        return self._runner.run(work)

    def close(self) -> None:
        self.run(self._server.close())
        self._runner.close()


def check_same(running: RunningServer, readers: Readers) -> None:
    (scripted,) = readers.run(readers.scripted.read([NAME])).streams
    (plain,) = readers.run(readers.plain.read([NAME])).streams
    if not isinstance(scripted, StreamReading) or not isinstance(plain, StreamReading):
        assert scripted == plain
        return
    bare = [replace(group, oldest_pending=None, next_id=None, next_read=False) for group in scripted.groups]
    if (scripted.entry_bytes or 0) >= LARGE_BYTES:
        # What was added and deleted again is seen only when the entries are read afresh.
        unseen = {"last_generated_id", "entries_added", "max_deleted_id"}
        scripted = replace(scripted, **{field: getattr(plain, field) for field in unseen})
    assert replace(scripted, groups=tuple(bare)) == plain
    for group in scripted.groups:
        check_extras(running, group)


def check_extras(running: RunningServer, group: GroupReading) -> None:
    name = group.name.encode("utf-8", "surrogateescape")
    rows = running.command("XPENDING", STREAM, name, "-", "+", 1)
    assert _without_idle(group.oldest_pending) == [
        (EntryId.parse(row[0]), row[1].decode("utf-8", "surrogateescape"), row[3]) for row in rows
    ]
    after: Sequence[Any] = running.command("XRANGE", STREAM, f"({group.last_delivered_id}", "+", "COUNT", 1)
    assert group.next_read
    assert group.next_id == (EntryId.parse(after[0][0]) if after else None)


def _without_idle(row: PendingEntry | None) -> list[tuple[EntryId, str, int]]:
    return [] if row is None else [(row.id, row.consumer, row.delivery_count)]


def test_script_equals_plain_commands(server: RunningServer) -> None:
    readers = Readers(server)

    @given(st.lists(commands, max_size=12))
    def check(history: list[Command]) -> None:
        server.flush()
        readers.begin()
        for command in history:
            try:
                server.command(*command)
            except redis.ResponseError:
                continue
            check_same(server, readers)

    try:
        check()
    finally:
        readers.close()
