"""Batches on one connection after another: nothing that happened to one may reach the next."""

from tests.support.servers import StartServer
from tests.support.wire.node import check_in_step, node_of


async def test_server_that_restarts_between_two_batches(start_server: StartServer) -> None:
    first = start_server()
    node = node_of(first.tcp_options)
    await check_in_step(node)
    first.kill()
    start_server("--port", str(first.port))
    await check_in_step(node)
    await node.close()
