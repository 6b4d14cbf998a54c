"""A worker whose primary dies, or is demoted: it goes on with the next one."""

import pytest

from streamops.errors import Unreachable
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server
from tests.support.servers import RunningServer, StartServer


async def test_a_demoted_server_is_left_for_whoever_is_the_primary(
    server: RunningServer, start_server: StartServer
) -> None:
    """After its first refusal, by a command or a script, the connection is made anew."""
    demoted = start_server(program=server.program)
    connection = await Server.connect(demoted.options)
    demoted.command("XADD", "orders", "*", "n", "1")
    demoted.command("REPLICAOF", "127.0.0.1", "1")

    async def client() -> int:
        return int(await connection.single("orders", "CLIENT", "ID"))

    first = await client()
    assert await client() == first
    reply = await connection.single("orders", "XADD", "orders", "*", "n", "2")
    assert isinstance(reply, Exception)
    second = await client()
    assert second != first
    call = Call("streamops:worker:x", (1000, "a", "b"), int)
    with pytest.raises(Unreachable):
        await write_script(connection, "worker_heartbeat", call, "heartbeat")
    assert await client() != second
    await connection.close()
