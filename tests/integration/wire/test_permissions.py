"""Asking whether a user may write says so, and writes nothing, whatever kind of key it meets."""

import pytest

from streamops.wire.faults import FaultKind
from streamops.wire.permissions import refused_writes
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.fixtures import SetUser
from tests.support.wire.harmless import COMMANDS, add_a_key_of_each_type, state


def without(command: str, server: RunningServer) -> str:
    name, _, subcommand = command.lower().partition(" ")
    # Redis 6.2 cannot take a subcommand away.
    return f"-{name}|{subcommand}" if subcommand and server.label != "redis-6.2" else f"-{name}"


@pytest.mark.parametrize("command", COMMANDS)
async def test_what_is_not_permitted_is_told(server: RunningServer, as_user: SetUser, command: str) -> None:
    before = add_a_key_of_each_type(server)
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
