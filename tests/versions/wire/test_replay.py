"""The script that moves letters: what it writes is what the pure reading of a letter says."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.dead_letters import (
    ABOUT,
    DeadLetterShape,
    Fields,
    read_dead_letter,
    republished,
    retried,
)
from streamops.model.entries import EntryId, StreamEntry
from streamops.wire.script_calls import Value, lua_value
from streamops.wire.server import Server
from streamops.wire.writes.replay import (
    DeadLetterBatch,
    Replayer,
    ReplayReply,
    ScriptRoute,
    TargetGroups,
    move_dead_letters,
)
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


QUEUE, STREAM, RETRIES = "{orders}:dlq", "orders", "{orders}:retry:g"
ONE = EntryId(7, 7)

names = st.one_of(
    st.binary(max_size=6),
    st.sampled_from([*sorted(ABOUT), b"_so_replay_of", b"_so_other", b"orig_id", b"reason", b"payload"]),
)
values = st.one_of(
    st.binary(max_size=40), st.sampled_from([b"1-1", b"99999999999999999999-1", b"5", b"x-1", b"orders"])
)
letters = st.lists(st.tuples(names, values), min_size=1, max_size=12).map(tuple)
edits = st.dictionaries(st.sampled_from([b"", b"a", b"payload"]), st.binary(max_size=5), max_size=2)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as running:
        yield running


def replayer(mode: str, edited: Fields) -> Replayer:
    key = STREAM if mode == "republish" else RETRIES
    return Replayer(
        queue=QUEUE,
        mode=mode,
        source=STREAM,
        anywhere=True,
        ways=(*(ScriptRoute("", group, STREAM, key, "g") for group in ("", "g")),),
        told=(TargetGroups(STREAM, ("g",)),),
        edits=edited,
    )


@pytest.mark.parametrize("mode", ["republish", "retry"])
def test_bytes_order_and_repeated_names_survive(
    server: RunningServer, runner: asyncio.Runner, mode: str
) -> None:
    connection = runner.run(Server.connect(server.options))
    server.command("XGROUP", "CREATE", STREAM, "g", "$", "MKSTREAM")
    key = STREAM if mode == "republish" else RETRIES

    @given(letters, edits)
    def check(pairs: Fields, changes: dict[bytes, bytes]) -> None:
        server.command("DEL", QUEUE, RETRIES)
        server.command("XTRIM", STREAM, "MAXLEN", 0)
        server.command("XADD", QUEUE, str(ONE), *(part for pair in pairs for part in pair))
        edited = tuple(changes.items())
        letter = read_dead_letter(StreamEntry(ONE, pairs), QUEUE, STREAM)
        told = replayer(mode, edited)
        moved = runner.run(
            move_dead_letters(connection, told, DeadLetterBatch(after=EntryId(0, 0), last=ONE))
        )
        assert isinstance(moved, ReplayReply)
        if letter.shape is DeadLetterShape.FOREIGN or letter.problem:
            assert moved.again == ((ONE, ""),)
            return
        if mode == "retry" and letter.group not in {None, "g"}:
            assert len(moved.left) == 1
            return
        assert moved.moved == 1
        ((_, found),) = server.command("XRANGE", key, "-", "+")
        expected = (
            republished(letter, edited) if mode == "republish" else retried(letter, STREAM, "g", edited)
        )
        assert found == [part for pair in expected for part in pair]

    try:
        check()
    finally:
        runner.run(connection.close())


def test_values_as_the_server_reads_them(server: RunningServer) -> None:
    value: dict[str, Value] = {
        "bytes": b"\xff" * 70_000,
        "list": ["a", 1, -(2**40), True, None],
        "map": {"k": {b"\xfe": b""}},
    }
    script = "local v = cmsgpack.unpack(ARGV[1]) return {v.bytes, v.list[1], v.list[2], tostring(v.list[3]), v.map.k['\\254'], #v.list}"
    assert server.command("EVAL", script, 0, lua_value(value)) == [
        *(b"\xff" * 70_000, b"a", 1, b"-1099511627776", b"", 4),
    ]
