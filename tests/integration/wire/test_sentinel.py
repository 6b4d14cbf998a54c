"""A primary behind Sentinels: found, followed through a failover, and its absence explained."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from streamops.errors import UnexpectedReply, Unreachable
from streamops.wire.options import Secret
from streamops.wire.primary import NamedPrimary, PrimaryTracker
from tests.support.servers import RunningServer, choose_port
from tests.support.wire.refusals import PLANTED, refusal
from tests.support.wire.sentinel import behind, names
from tests.support.wire.strangers import answering, stranger


async def test_sentinels_that_are_all_down() -> None:
    error = await refusal(
        replace(
            behind(choose_port(), choose_port()), password=Secret(PLANTED), sentinel_password=Secret(PLANTED)
        )
    )
    assert isinstance(error, Unreachable)
    assert "the connection was refused" in error.message


async def test_server_in_the_place_of_a_sentinel(server: RunningServer) -> None:
    error = await refusal(behind(server.port))
    assert isinstance(error, UnexpectedReply)
    assert "SENTINEL" in error.message


def bulk(*words: str) -> bytes:
    parts = (f"${len(word)}\r\n{word}\r\n" for word in words)
    return f"*{len(words)}\r\n{''.join(parts)}".encode()


async def test_what_merely_speaks_like_a_sentinel_need_not_count_failovers(server: RunningServer) -> None:
    server.flush()
    server.command("XADD", "kept", "*", "a", "b")
    state = ("name", "orders", "ip", "127.0.0.1", "port", str(server.port), "flags", "master")
    async with stranger(answering({b"SENTINEL MASTERS": b"*1\r\n" + bulk(*state)})) as emulator:
        assert await names(behind(emulator.addresses[0][1])) == ["kept"]


@pytest.mark.parametrize(
    "answer",
    [
        b"+OK\r\n",
        b"*-1\r\n",
        b"*1\r\n" + bulk("ip", "127.0.0.1", "port", "1", "flags", "master"),
        b"*1\r\n" + bulk("name", "orders", "port", "1", "flags", "master"),
        b"*1\r\n" + bulk("name", "orders", "ip", "127.0.0.1", "flags", "master"),
        b"*1\r\n" + bulk("name", "orders", "ip", "127.0.0.1", "port", "no number", "flags", "master"),
        b"*1\r\n" + bulk("name", "orders", "ip", "127.0.0.1", "port", "1"),
    ],
    ids=["OK", "nothing", "no name", "no ip", "no port", "a port that is none", "no flags"],
)
async def test_what_speaks_like_a_sentinel_and_leaves_out_what_is_needed(answer: bytes) -> None:
    async with stranger(answering({b"SENTINEL MASTERS": answer})) as emulator:
        error = await refusal(behind(emulator.addresses[0][1]))
    assert isinstance(error, UnexpectedReply)
    assert "without the name, ip, port and flags" in error.message


A, B = NamedPrimary(1, ("10.0.0.1", 6379)), NamedPrimary(2, ("10.0.0.2", 6379))


def test_those_that_were_told_late_agree_until_there_is_a_doubt() -> None:
    tracker = PrimaryTracker()
    assert [tracker.agreed_for([A, A], now) for now in (100.0, 120.0, 131.0)] == [0.0, 20.0, 31.0]
    assert [tracker.agreed_for([B], now) for now in (131.0, 141.0)] == [0.0, 10.0]
    doubts: list[Callable[[], object]] = [
        lambda: tracker.agreed_for([A, B], 150.0),
        lambda: tracker.agreed_for([], 150.0),
        lambda: tracker.follow(A),
        tracker.doubt,
    ]
    for doubt in doubts:
        tracker.agreed_for([A], 140.0)
        doubt()
        assert [tracker.agreed_for([A], now) for now in (150.0, 151.0)] == [0.0, 1.0]
