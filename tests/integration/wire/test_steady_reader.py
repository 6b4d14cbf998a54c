"""Streams with large entries that stand still, read without a look at these: as long as they do, and never longer."""

import asyncio
from typing import Any

import pytest

from streamops.model.readings import StreamReading
from streamops.wire import steady_reader, steady_replies
from streamops.wire.faults import Fault
from streamops.wire.node import Bundle, Node
from streamops.wire.steady_reader import MAX_CONSUMERS
from streamops.wire.steady_replies import NOISE, SteadyDecoder, Stood, steady_commands
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.deep_readings import add_six_entries_two_groups, essence, reading
from tests.support.wire.fixtures import SetUser
from tests.support.wire.steady_reader import GROUP, HEAVY, NAME, counts, one, standing, tells_additions, whole


async def test_while_only_time_passes_it_is_the_same_reading(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long this machine takes between two commands.
    monkeypatch.setattr(steady_replies, "NOISE", 30_000)
    add_six_entries_two_groups(server, NAME, size=HEAVY)
    async with standing(server.options) as (full, _):
        first = await one(full)
        await asyncio.sleep(0.01)
        assert await one(full) is first
        server.command("XREADGROUP", "GROUP", "busy", "a", "STREAMS", NAME, "0")
        server.command("XCLAIM", NAME, "busy", "a", 0, str(first.first_id), "IDLE", 90_000)
        aged = await one(full)
    before, after = first.groups[0].oldest_delivery, aged.groups[0].oldest_delivery
    assert before is not None
    assert after is not None
    assert 50_000 < before.delivered - after.delivered <= 90_000


MOVED: dict[str, list[list[Any]]] = {
    "added": [["XADD", NAME, "*", "n", "x"]],
    "deleted": [["XDEL", NAME, "{first}"]],
    "added and deleted, in the end as long as before": [
        ["XADD", NAME, "*", "n", "x"],
        ["XDEL", NAME, "{first}"],
    ],
    "added and deleted again": [
        ["XADD", NAME, "9999999999999-1", "n", "x"],
        ["XDEL", NAME, "9999999999999-1"],
    ],
    "trimmed": [["XTRIM", NAME, "MAXLEN", 3]],
    "replaced": [["XADD", NAME, "MAXLEN", 6, "*", "n", "x" * HEAVY]],
    "delivered": [["XREADGROUP", "GROUP", "busy", "a", "COUNT", 1, "STREAMS", NAME, ">"]],
    "acknowledged": [["XACK", NAME, "busy", "{first}"]],
    "rewound": [["XGROUP", "SETID", NAME, "busy", "0"]],
    "skipped ahead": [["XGROUP", "SETID", NAME, "busy", "$"]],
    "a consumer came": [["XGROUP", "CREATECONSUMER", NAME, "busy", "new"]],
    "a consumer went": [["XGROUP", "DELCONSUMER", NAME, "busy", "a"]],
    "a group came": [["XGROUP", "CREATE", NAME, "third", "0"]],
    "a group went": [["XGROUP", "DESTROY", NAME, "busy"]],
    "a group came again": [["XGROUP", "DESTROY", NAME, "busy"], ["XGROUP", "CREATE", NAME, "busy", "0"]],
    "began anew": [["DEL", NAME], ["XADD", NAME, "1-1", "n", "x"], ["XGROUP", "CREATE", NAME, "busy", "0"]],
    "given to another": [["XCLAIM", NAME, "busy", "b", 0, "{first}"]],
}


@pytest.mark.parametrize("what", MOVED)
async def test_whatever_moves_is_seen(server: RunningServer, what: str) -> None:
    add_six_entries_two_groups(server, NAME, size=HEAVY)
    async with standing(server.options) as (full, plain):
        before = await one(full)
        for command in MOVED[what]:
            server.command(*[str(part).replace("{first}", str(before.first_id)) for part in command])
        assert whole(await one(full)) == whole((await plain.read([NAME])).streams[0])


async def test_one_that_is_gone_is_missing(server: RunningServer) -> None:
    add_six_entries_two_groups(server, NAME, size=HEAVY)
    async with standing(server.options) as (full, _):
        server.command("DEL", NAME)
        assert isinstance((await full.read([NAME])).streams[0], Fault)
        server.command("SET", NAME, "no stream")
        assert isinstance((await full.read([NAME])).streams[0], Fault)


async def test_another_server_at_the_same_place_is_looked_at_anew(start_server: StartServer) -> None:
    """A replica that takes over may lack an entry, and get another one: all its counts are the same then."""
    server = start_server("--enable-debug-command", "yes")
    add_six_entries_two_groups(server, NAME, size=HEAVY)
    async with standing(server.options) as (full, _):
        # Two readings of the script have to agree again.
        for is_another, asks_script in ((False, False), (True, True), (False, True), (False, False)):
            if is_another:
                server.command("DEBUG", "CHANGE-REPL-ID")
            server.client.config_resetstat()
            await one(full)
            assert any(name.startswith("eval") for name in counts(server)) is asks_script


async def test_one_with_many_consumers_is_left_to_others(server: RunningServer) -> None:
    add_six_entries_two_groups(
        server, NAME, size=HEAVY, consumers=[f"c{number}" for number in range(MAX_CONSUMERS + 1)]
    )
    async with standing(server.options) as (full, _):
        server.client.config_resetstat()
        await one(full)
    assert "xinfo|consumers" not in counts(server)


async def test_it_is_read_afresh_now_and_then(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steady_reader, "KEPT_SECONDS", 0.0)
    add_six_entries_two_groups(server, NAME, size=HEAVY)
    async with standing(server.options) as (full, _):
        server.client.config_resetstat()
        await one(full)
    assert "xinfo|consumers" not in counts(server)


async def test_a_bundle_has_one_reply(server: RunningServer) -> None:
    async with reading(server.options) as (_, plain):
        node: Node = plain._server.nodes[0]
        bundle = Bundle([("ECHO", "a"), ("NOSUCHCOMMAND",), ("ECHO", "b\udcff")])
        for _ in range(2):
            first, several, last = await node.batch([("ECHO", "x"), bundle, ("ECHO", "y")])
            assert (first, last) == (b"x", b"y")
            assert [several[0], several[2]] == [b"a", b"b\xff"]
            assert isinstance(several[1], Exception)


STOOD = StreamReading(NAME, 5, (GROUP,), bounds_read=True, entries_added=7)


def replies(idle: int, inactive: int, delivered: int) -> list[Any]:
    """What a server says of the stream, whose one group has one consumer that holds one entry."""
    group = [*(b"name", b"g", b"consumers", 1, b"pending", 1, b"last-delivered-id", b"3-0")]
    consumer = [b"name", b"c", b"pending", 1, b"idle", idle, b"inactive", inactive]
    return [
        [[*group, b"entries-read", 3, b"lag", 4]],
        5,
        [[b"2-0", b"c", delivered, 1]],
        [consumer],
    ]


@pytest.mark.parametrize(
    ("passed", "ages", "same"),
    [
        (0, (10, 10, 10), True),
        (1000, (1010, 1010, 1010), True),
        (1000, (1010 + NOISE, 1010 - NOISE, 1010), True),
        (1000, (1010, 1010, 1011 + NOISE), False),
        (1000, (1009 - NOISE, 1010, 1010), False),
        (1000, (10, 1010, 1010), False),
        (1000, (1010, -1, 1010), False),
        (-500, (10, 10, 10), False),
    ],
)
def test_ages_grow_with_time_alone(passed: int, ages: tuple[int, int, int], same: bool) -> None:  # noqa: FBT001
    first = decoder(1_000_000).decode(STOOD, None, replies(10, 10, 10))
    assert first is not None
    second = decoder(1_000_000 + passed).decode(STOOD, first, replies(*ages))
    assert second is not None
    assert (second is first) is same
    delivery = second.reading.groups[0].oldest_delivery
    assert delivery is not None
    assert abs(delivery.delivered - (1_000_000 + passed - ages[2])) <= NOISE


def test_who_never_got_an_entry_never_did() -> None:
    first = decoder(1_000_000).decode(STOOD, None, replies(10, -1, 10))
    assert isinstance(first, Stood)
    members = first.reading.groups[0].members
    assert members is not None
    assert (members.seen, members.active) == ((999_990,), (None,))
    assert decoder(1_001_000).decode(STOOD, first, replies(1010, -1, 1010)) is first


def decoder(now: int) -> SteadyDecoder:
    """One that has heard the time."""
    made = SteadyDecoder()
    made.hear_time([str(now // 1000).encode(), str(now % 1000 * 1000).encode()])
    return made


def test_groups_are_asked_for_before_the_length() -> None:
    assert [command[0] for command in steady_commands(STOOD)] == ["XINFO", "XLEN", "XPENDING", "XINFO"]
    assert steady_commands(STOOD)[0] == ("XINFO", "GROUPS", NAME)


BEHIND: dict[str, list[list[Any]]] = {
    "who read nothing": [["XGROUP", "CREATE", NAME, "g", "0", "ENTRIESREAD", "0"]],
    "who read what was trimmed": [
        ["XGROUP", "CREATE", NAME, "g", "0"],
        ["XREADGROUP", "GROUP", "g", "a", "COUNT", 2, "STREAMS", NAME, ">"],
        ["XTRIM", NAME, "MAXLEN", 6],
    ],
    "who read the first one": [
        ["XGROUP", "CREATE", NAME, "g", "0"],
        ["XREADGROUP", "GROUP", "g", "a", "COUNT", 1, "STREAMS", NAME, ">"],
    ],
}


PUSHED: dict[str, list[list[Any]]] = {
    "at its cap": 3 * [["XADD", NAME, "MAXLEN", "{length}", "*", "n", "x" * HEAVY]],
    "one deleted for one added": [["XADD", NAME, "*", "n", "x" * HEAVY], ["XDEL", NAME, "{last}"]],
}


@pytest.mark.parametrize("who", BEHIND)
@pytest.mark.parametrize("how", PUSHED)
async def test_a_stream_that_moves_under_a_group_that_stands_still(
    server: RunningServer, who: str, how: str
) -> None:
    """Some servers tell the same of a group before the first entry, whatever was added."""
    if not tells_additions(server):
        pytest.skip("no stream is known to stand still here")
    server.command("XGROUP", "CREATE", NAME, "tail", "$", "MKSTREAM")
    for _ in range(8):
        server.command("XADD", NAME, "*", "n", "x" * HEAVY)
    for command in BEHIND[who]:
        server.command(*command)
    async with standing(server.options) as (full, plain):
        before = await one(full)
        for command in PUSHED[how]:
            words = {"{length}": str(before.length), "{last}": str(before.last_id)}
            server.command(*[words.get(str(part), part) for part in command])
        found, script = await full.read([NAME]), await plain.read([NAME])
    assert whole(found.streams[0]) == whole(script.streams[0])


async def test_what_may_not_be_asked_is_left_alone_for_a_while(
    server: RunningServer, as_user: SetUser
) -> None:
    if not tells_additions(server):
        pytest.skip("no stream is known to stand still here")
    add_six_entries_two_groups(server, NAME, size=HEAVY)
    async with standing(as_user("~*", "+@all", "-xpending")) as (full, _):
        for _ in range(3):
            assert essence(await one(full)).length == 6
        server.client.config_resetstat()
        assert essence(await one(full)).length == 6
        assert "xinfo|consumers" not in counts(server)
