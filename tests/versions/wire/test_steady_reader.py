"""Streams with large entries that stand still, read without a look at these: as long as they do, and never longer."""

import random
from typing import Any

import pytest

from tests.support.servers import RunningServer
from tests.support.wire.deep_readings import add_six_entries_two_groups, essence, reading
from tests.support.wire.steady_reader import HEAVY, NAME, counts, one, standing, tells_additions, whole

pytestmark = pytest.mark.every_server("replies and scripts differ by version")

MOVES = 30
"""Steps of a walk at random."""


async def test_no_entry_is_copied_while_it_stands_still(server: RunningServer) -> None:
    add_six_entries_two_groups(server, NAME, size=HEAVY)
    async with standing(server.options) as (full, plain):
        server.client.config_resetstat()
        found = await one(full)
        asked = counts(server)
        script = (await plain.read([NAME])).streams[0]
    assert whole(found) == whole(script)
    assert found.groups[0].members is not None or not tells_additions(server)
    copying = [name for name in asked if name.startswith(("eval", "xrange", "xinfo|stream"))]
    assert bool(copying) is not tells_additions(server)


async def test_a_walk_at_random(server: RunningServer) -> None:
    """Whatever happens between two readings, both ways of reading tell the same."""
    chance = random.Random(1)
    names = [NAME, "light", "heavy"]
    for name in names:
        add_six_entries_two_groups(server, name, size=10 if name == "light" else HEAVY)
        server.command("XGROUP", "CREATE", name, "behind", "0")
        server.command("XREADGROUP", "GROUP", "behind", "d", "COUNT", 1, "STREAMS", name, ">")
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
