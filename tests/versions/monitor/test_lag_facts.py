"""Every situation in which a server is known to tell a wrong lag, or none: here it is right all the same."""

import shutil
import time
from collections.abc import Callable
from typing import Any

import pytest

from streamops.model.lag import Lag
from streamops.model.streams import ConsumerGroup
from streamops.monitor.collect import Collector
from streamops.monitor.watch import Watch
from streamops.wire.server import Server
from tests.support.programs import ServerProgram, find_programs
from tests.support.servers import RunningServer, StartServer

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


STREAM = "orders"
Act = Callable[[RunningServer], object]


def add(first: int, last: int, *cap: str | int) -> Act:
    def act(server: RunningServer) -> None:
        for number in range(first, last + 1):
            server.command("XADD", STREAM, *cap, f"{number}-1", "f", "v")

    return act


def run(*words: str | int) -> Act:
    return lambda server: server.command(*words)


def create(position: str) -> Act:
    return run("XGROUP", "CREATE", STREAM, "billing", position, "MKSTREAM")


def move(position: str) -> Act:
    return run("XGROUP", "SETID", STREAM, "billing", position)


def read(many: int) -> Act:
    return run("XREADGROUP", "GROUP", "billing", "w", "COUNT", many, "STREAMS", STREAM, ">")


def delete(*numbers: int) -> Act:
    return run("XDEL", STREAM, *(f"{number}-1" for number in numbers))


def trim(length: int) -> Act:
    return run("XTRIM", STREAM, "MAXLEN", "=", length)


SITUATIONS: dict[str, tuple[int, list[Act]]] = {
    "no entries": (0, [create("0")]),
    "at the beginning": (10, [add(1, 10), create("0")]),
    "at the beginning, then some read": (7, [add(1, 10), create("0"), read(3)]),
    "at the beginning, all read": (0, [add(1, 10), create("0"), read(10)]),
    "at the end": (0, [add(1, 10), create("$")]),
    "at the end, then one added": (1, [add(1, 10), create("$"), add(11, 11)]),
    "at the end, then some added and read": (3, [add(1, 10), create("$"), add(11, 15), read(2)]),
    "at the end of nothing, then some added": (5, [create("$"), add(1, 5)]),
    "amid": (5, [add(1, 10), create("5-1")]),
    "amid, then some read": (3, [add(1, 10), create("5-1"), read(2)]),
    "amid, between two IDs": (5, [add(1, 10), create("5-9")]),
    "at the first ID, then one read": (8, [add(1, 10), create("1-1"), read(1)]),
    "moved back to the beginning": (10, [add(1, 10), create("0"), read(10), move("0")]),
    "moved amid": (4, [add(1, 10), create("0"), read(10), move("6-1")]),
    "moved to the end": (0, [add(1, 10), create("0"), read(2), move("$")]),
    "moved into the future": (0, [add(1, 10), create("0"), move("99-1")]),
    "moved into the future, then some added": (0, [add(1, 10), create("0"), move("99-1"), add(11, 20)]),
    "moved into the future, which came": (2, [add(1, 10), create("0"), move("19-1"), add(11, 21)]),
    "deleted ahead": (6, [add(1, 10), create("0"), read(3), delete(5)]),
    "deleted the position": (7, [add(1, 10), create("0"), read(3), delete(3)]),
    "deleted the last, all read": (0, [add(1, 10), create("0"), read(10), delete(10)]),
    "deleted the last, unread": (0, [add(1, 10), create("0"), read(9), delete(10)]),
    "deleted the last, then some added": (3, [add(1, 10), create("0"), read(9), delete(10), add(11, 13)]),
    "deleted the last, then some added and read": (
        1,
        [add(1, 10), create("0"), read(9), delete(10), add(11, 13), read(2)],
    ),
    "deleted behind": (7, [add(1, 10), create("0"), read(3), delete(1, 2)]),
    "deleted the first, unread": (9, [add(1, 10), create("0"), delete(1)]),
    "deleted all": (0, [add(1, 5), create("0"), read(2), delete(1, 2, 3, 4, 5)]),
    "trimmed behind": (7, [add(1, 10), create("0"), read(3), trim(8)]),
    "trimmed up to the position": (7, [add(1, 10), create("0"), read(3), trim(7)]),
    "overrun by trimming": (4, [add(1, 10), create("0"), read(3), trim(4)]),
    "overrun by trimming, then some read": (2, [add(1, 10), create("0"), read(3), trim(4), read(2)]),
    "overrun by trimming, then all read": (0, [add(1, 10), create("0"), read(3), trim(4), read(4)]),
    "overrun, all read, then some added": (
        2,
        [add(1, 10), create("0"), read(3), trim(4), read(4), add(11, 12)],
    ),
    "overrun before the first read": (3, [add(1, 10), create("0"), trim(4), read(1)]),
    "overrun by a capped producer": (
        3,
        [add(1, 10), create("0"), read(2), add(11, 20, "MAXLEN", "=", 5), read(2)],
    ),
    "overrun to the last": (0, [add(1, 10), create("0"), read(3), trim(0)]),
    "overrun to the last, then some added": (3, [add(1, 10), create("0"), read(3), trim(0), add(11, 13)]),
    "claims and acknowledgements do not count": (
        5,
        [
            *(add(1, 10), create("0"), read(5)),
            run("XCLAIM", STREAM, "billing", "other", 0, "2-1"),
            run("XACK", STREAM, "billing", "1-1", "3-1"),
        ],
    ),
    "claimed with LASTID": (
        3,
        [
            *(add(1, 10), create("0"), read(2)),
            run("XCLAIM", STREAM, "billing", "w", 0, "2-1", "LASTID", "7-1"),
        ],
    ),
}
FALSEHOODS: dict[str, tuple[int, list[Act]]] = {
    "false ENTRIESREAD": (
        5,
        [add(1, 10), run("XGROUP", "CREATE", STREAM, "billing", "5-1", "ENTRIESREAD", 8)],
    ),
    "ENTRIESREAD beyond all": (
        5,
        [add(1, 10), run("XGROUP", "CREATE", STREAM, "billing", "5-1", "ENTRIESREAD", 80)],
    ),
    "false ENTRIESADDED": (
        5,
        [
            *(add(1, 10), create("0"), read(5)),
            run("XSETID", STREAM, "10-1", "ENTRIESADDED", 13, "MAXDELETEDID", "0-0"),
        ],
    ),
}


async def settled(server: RunningServer, collections: int = 1) -> ConsumerGroup:
    connection = await Server.connect(server.options)
    try:
        collector = Collector(connection, Watch())
        for _ in range(collections):
            snapshot = await collector.collect([STREAM], discovered=1, complete=True)
    finally:
        await connection.close()
    return snapshot.streams[0].groups[0]


def check(lag: Lag, truth: int) -> None:
    assert lag.known, lag
    assert lag.entries == lag.lower == lag.upper == truth, lag


@pytest.mark.parametrize("situation", SITUATIONS)
async def test_the_lag_is_the_truth_in_each_situation(server: RunningServer, situation: str) -> None:
    truth, history = SITUATIONS[situation]
    for act in history:
        act(server)
    # The rolling check catches what was set by hand: nobody else's count is wrong here.
    group = await settled(server, collections=2 if "LASTID" in situation else 1)
    check(group.lag, truth)
    assert group.time_lag.age is None or truth == 0
    assert (group.time_lag.age is None) == (truth > 0)


@pytest.mark.parametrize("falsehood", FALSEHOODS)
async def test_lag_that_somebody_made_false_is_found_out(server: RunningServer, falsehood: str) -> None:
    if server.label == "redis-6.2":
        pytest.skip("no counters to set")
    truth, history = FALSEHOODS[falsehood]
    for act in history:
        act(server)
    check((await settled(server, collections=2)).lag, truth)


def promoted(start_server: StartServer, program: ServerProgram) -> RunningServer:
    """A replica that took over after some reads."""
    primary = start_server("--repl-diskless-sync-delay", "0", program=program)
    replica = start_server("--replicaof", "127.0.0.1", str(primary.port), program=program)
    for act in (add(1, 10), create("0"), read(3)):
        act(primary)
    deadline = time.monotonic() + 10
    while primary.command("XINFO", "GROUPS", STREAM)[0][7] != _position(replica):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    replica.command("REPLICAOF", "NO", "ONE")
    return replica


def _position(server: RunningServer) -> Any:  # noqa: ANN401  # as raw as it came
    groups = server.command("XINFO", "GROUPS", STREAM) if server.command("EXISTS", STREAM) else []
    return groups[0][7] if groups else None


async def test_lag_on_a_replica_that_took_over(start_server: StartServer, program: ServerProgram) -> None:
    check((await settled(promoted(start_server, program))).lag, 7)


OLD_DATA = ("at the beginning", "amid", "at the end", "deleted the last, unread")


async def test_lag_in_data_of_an_older_version(start_server: StartServer, program: ServerProgram) -> None:
    old = next((one for one in find_programs() if one.label == "redis-6.2"), None)
    if old is None:
        pytest.skip("no old server here")
    giver = start_server(program=old)
    for situation in OLD_DATA:
        for act in SITUATIONS[situation][1]:
            act(giver)
        giver.command("RENAME", STREAM, situation)
    giver.command("SAVE")
    taker_files = giver.directory / "copy"
    taker_files.mkdir()
    shutil.copy(giver.directory / "dump.rdb", taker_files)
    taker = start_server("--dir", str(taker_files), program=program)
    for situation in OLD_DATA:
        taker.command("RENAME", situation, STREAM)
        check((await settled(taker)).lag, SITUATIONS[situation][0])
