"""Delayed messages as they are stored and read back, scheduled, moved and cancelled."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.delayed import DelayedBody
from streamops.wire.delayed import read_due
from streamops.wire.delayed_bodies import decode_body, encode_body
from streamops.wire.server import Server
from tests.support.servers import RunningServer, StartServer
from tests.support.strategies import names
from tests.support.wire.delayed import ORDER, QUEUE


def bodies() -> st.SearchStrategy[DelayedBody]:
    field = st.tuples(st.binary(max_size=40), st.one_of(st.binary(max_size=300), st.just(b"x" * 70_000)))
    return st.builds(
        DelayedBody,
        names().filter(bool),
        st.lists(field, min_size=1, max_size=4).map(tuple),
        names(),
        st.integers(0, 2**63 - 1),
        names(),
    )


@pytest.fixture
async def connected(server: RunningServer) -> AsyncIterator[Server]:
    connection = await Server.connect(server.options)
    yield connection
    await connection.close()


@given(bodies())
def test_bodies_come_back_as_they_were(body: DelayedBody) -> None:
    assert decode_body(encode_body(body)) == body


def test_bodies_of_other_writers() -> None:
    raw = msgspec.msgpack.encode([1, b"orders", None, None, "", [b"f\xff", b"v" * 300, "g", b""]])
    assert decode_body(raw) == DelayedBody("orders", ((b"f\xff", b"v" * 300), (b"g", b"")))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([2, "orders", "", 0, "", ["f", "v"]], "version 2"),
        ([1, "orders", "", 0, "", ["f"]], "no pairs"),
        ([1, "orders", "", 0, "", []], "no pairs"),
        ([1, "", "", 0, "", ["f", "v"]], "no destination"),
        ([1, "orders", "", 0, "", ["f", 7]], "no text"),
        ([1, "orders"], "length 6"),
        ("orders", "array"),
        ({"v": 1}, "array"),
    ],
)
def test_bodies_that_cannot_be_read(value: object, reason: str) -> None:
    raw = msgspec.msgpack.encode(value)
    with pytest.raises(ValueError, match=reason):
        decode_body(raw)


def test_bodies_that_are_broken() -> None:
    raw = encode_body(ORDER)
    for broken in (*(raw[:end] for end in range(len(raw))), b"\xc1", raw + b"\x00"):
        with pytest.raises(ValueError, match=r"truncated|malformed"):
            decode_body(broken)


async def test_to_skip_members_the_server_does_not_walk_over_them(start_server: StartServer) -> None:
    server = start_server("--slowlog-log-slower-than", "0")
    server.command("ZADD", QUEUE, 1, "a", 2, "b")
    connected = await Server.connect(server.options)
    await read_due(connected, QUEUE, until=datetime(2031, 5, 1, tzinfo=UTC), skip=1, limit=1)
    await connected.close()
    sent = [row[3] for row in server.command("SLOWLOG", "GET", -1)]
    assert [words for words in sent if words[0] == b"ZRANGE"] == [
        [b"ZRANGE", QUEUE.encode(), b"1", b"1", b"WITHSCORES"]
    ]
