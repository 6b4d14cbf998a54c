"""A server that cannot save any more refuses writes: that is told before the first of them."""

from streamops.wire.permissions import refused_writes
from streamops.wire.server import Server
from tests.support.eventually import eventually
from tests.support.servers import RunningServer, StartServer


def cannot_save(running: RunningServer) -> bool:
    return b"rdb_last_bgsave_status:err" in running.command("INFO", "persistence")


async def test_a_server_that_cannot_save_is_told_before_the_first_write(start_server: StartServer) -> None:
    running = start_server("--save", "3600 1")
    # Where its file would have to be.
    (running.directory / "dump.rdb").mkdir()
    running.command("BGSAVE")
    await eventually(lambda: cannot_save(running))
    connection = await Server.connect(running.options)
    try:
        ((command, key, why),) = await refused_writes(connection, [("XADD", "s")])
    finally:
        await connection.close()
    assert (command, key) == ("XADD", "s")
    assert "MISCONF" in why.reason
