"""Removing consumers on real servers: what they had pending is never lost."""

import pytest

from streamops.errors import Forbidden
from tests.support.eventually import eventually
from tests.support.operations.consumers import pruning, stock
from tests.support.operations.doing import open_console
from tests.support.servers import StartServer

# Pruning.


async def test_a_replica_does_not_judge(start_server: StartServer) -> None:
    primary = start_server("--repl-diskless-sync-delay", "0")
    stock(primary, 2, idle=1)
    replica = start_server("--replicaof", "127.0.0.1", str(primary.port))

    def is_synchronised() -> bool:
        return b"master_link_status:up" in replica.command("INFO", "replication")

    await eventually(is_synchronised)
    async with await open_console(replica) as console:
        with pytest.raises(Forbidden, match="is a replica"):
            await console.prepare(pruning(3600))
