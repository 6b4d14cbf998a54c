"""Asking whether a user may write says so, and writes nothing, whatever kind of key it meets."""

from typing import Any

import pytest

from streamops.wire.faults import FaultKind
from streamops.wire.harmless import KNOWN, refused_writes
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.fixtures import SetUser

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


# Only Redis 8.2 has XDELEX.
COMMANDS = tuple(command for command in KNOWN if command != "XDELEX")
KEYS = ("stream", "hash", "zset", "string", "none")


def fill(server: RunningServer) -> dict[str, Any]:
    server.command("XADD", "stream", "1-0", "f", "v")
    server.command("XGROUP", "CREATE", "stream", "g", "0")
    server.command("XREADGROUP", "GROUP", "g", "c", "STREAMS", "stream", ">")
    server.command("HSET", "hash", "f", "v", "", "empty")
    server.command("ZADD", "zset", 1, "m", 2, "")
    server.command("SET", "string", "v", "EX", 1_000)
    return state(server)


def state(server: RunningServer) -> dict[str, Any]:
    return {key: (server.command("DUMP", key), server.command("TTL", key) > 0) for key in KEYS}


def without(command: str, server: RunningServer) -> str:
    name, _, subcommand = command.lower().partition(" ")
    # Redis 6.2 cannot take a subcommand away.
    return f"-{name}|{subcommand}" if subcommand and server.label != "redis-6.2" else f"-{name}"


async def test_nothing_is_written(server: RunningServer) -> None:
    before = fill(server)
    connection = await Server.connect(server.options)
    writes = [(command, key) for command in COMMANDS for key in KEYS]
    assert await refused_writes(connection, writes) == []
    await connection.close()
    assert state(server) == before


@pytest.mark.parametrize("command", COMMANDS)
async def test_what_is_not_permitted_is_told(server: RunningServer, as_user: SetUser, command: str) -> None:
    before = fill(server)
    connection = await Server.connect(as_user("~*", "+@all", without(command, server)))
    others = [one for one in COMMANDS if one.partition(" ")[0] != command.partition(" ")[0]]
    refused = await refused_writes(connection, [(one, "none") for one in (*others, command)])
    await connection.close()
    assert [(told, key, why.kind) for told, key, why in refused] == [(command, "none", FaultKind.DENIED)]
    assert state(server) == before


async def test_key_that_is_not_permitted(as_user: SetUser) -> None:
    keyed = [command for command in COMMANDS if command not in {"TIME", "PERSIST", "GET", "DEL"}]
    connection = await Server.connect(as_user("~mine", "+@all"))
    refused = await refused_writes(connection, [(one, key) for one in keyed for key in ("mine", "other")])
    await connection.close()
    assert [(command, key) for command, key, _ in refused] == [(command, "other") for command in keyed]
