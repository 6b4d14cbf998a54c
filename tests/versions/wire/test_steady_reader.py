"""Streams with large entries that stand still, read without a look at these: as long as they do, and never longer."""

import random
from typing import Any

import pytest

from tests.support.servers import RunningServer
from tests.support.wire.deep_readings import essence, fill, reading
from tests.support.wire.fixtures import SetUser
from tests.support.wire.steady_reader import HEAVY, NAME, counts, one, standing, whole

pytestmark = pytest.mark.every_server("replies and scripts differ by version")

MOVES = 60
"""Steps of a walk at random."""


def tells_additions(server: RunningServer) -> bool:
    """Whether its groups tell their lags, which came with Redis 7.0."""
    return server.label != "redis-6.2"


async def test_no_entry_is_copied_while_it_stands_still(server: RunningServer) -> None:
    fill(server, NAME, size=HEAVY)
    async with standing(server.options) as (full, plain):
        server.client.config_resetstat()
        found = await one(full)
        asked = counts(server)
        script = (await plain.read([NAME])).streams[0]
    assert whole(found) == whole(script)
    assert found.groups[0].members is not None or not tells_additions(server)
    copying = [name for name in asked if name.startswith(("eval", "xrange", "xinfo|stream"))]
    assert bool(copying) is not tells_additions(server)


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


@pytest.mark.parametrize("seed", range(3))
async def test_a_walk_at_random(server: RunningServer, seed: int) -> None:
    """Whatever happens between two readings, both ways of reading tell the same."""
    chance = random.Random(seed)
    names = [NAME, "light", "heavy"]
    for name in names:
        fill(server, name, size=10 if name == "light" else HEAVY)
        server.command("XGROUP", "CREATE", name, "behind", "0")
        server.command("XREADGROUP", "GROUP", "behind", "d", "COUNT", max(1, seed % 7), "STREAMS", name, ">")
    async with reading(server.options) as (full, plain):
        for _ in range(MOVES):
            for _ in range(chance.choice((0, 0, 1, 2))):
                move(server, chance, chance.choice(names))
            found, script = await full.read(names), await plain.read(names)
            assert list(map(essence, found.streams)) == list(map(essence, script.streams))


def move(server: RunningServer, chance: random.Random, name: str) -> None:
    """Do something to a stream, as its workers, its producers and its operators may."""
    entries = [entry for entry, _ in server.command("XRANGE", name, "-", "+")]
    some = chance.choice(entries) if entries else b"1-1"
    size = 10 if name == "light" else HEAVY
    commands: list[list[Any]] = [
        ["XADD", name, "*", "n", "x" * size],
        ["XADD", name, "MAXLEN", 6, "*", "n", "x" * size],
        ["XDEL", name, some],
        ["XTRIM", name, "MAXLEN", 4],
        ["XREADGROUP", "GROUP", "busy", "a", "COUNT", 1, "STREAMS", name, ">"],
        ["XREADGROUP", "GROUP", "idle", "c", "NOACK", "COUNT", 2, "STREAMS", name, ">"],
        ["XACK", name, "busy", some],
        ["XCLAIM", name, "busy", "b", 0, some],
        ["XGROUP", "SETID", name, "idle", some],
        ["XGROUP", "CREATECONSUMER", name, "idle", f"c{chance.randrange(9)}"],
    ]
    server.command(*chance.choice(commands))


async def test_what_may_not_be_asked_is_left_alone_for_a_while(
    server: RunningServer, as_user: SetUser
) -> None:
    if not tells_additions(server):
        pytest.skip("no stream is known to stand still here")
    fill(server, NAME, size=HEAVY)
    async with standing(as_user("~*", "+@all", "-xpending")) as (full, _):
        for _ in range(3):
            assert essence(await one(full)).length == 6
        server.client.config_resetstat()
        assert essence(await one(full)).length == 6
        assert "xinfo|consumers" not in counts(server)
