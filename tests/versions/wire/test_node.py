"""Batches on one connection after another: nothing that happened to one may reach the next."""

import asyncio

import pytest

from streamops.wire.node import BREATH
from tests.support.servers import RunningServer
from tests.support.wire.node import check_in_step, echoes, node_of

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_replies_come_in_order_with_errors_among_them(server: RunningServer) -> None:
    node = node_of(server.options)
    commands, replies = echoes(2 * BREATH)
    answers = await node.batch([("NOSUCHCOMMAND",), *commands, ("XLEN",)])
    assert answers[1:-1] == replies
    assert isinstance(answers[0], Exception)
    assert isinstance(answers[-1], Exception)
    await check_in_step(node)
    await node.close()


async def test_server_that_closes_our_idle_connections(server: RunningServer) -> None:
    for options in (server.options, server.tcp_options):
        node = node_of(options)
        await asyncio.gather(*(check_in_step(node, 2 * BREATH) for _ in range(4)))
        server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        await asyncio.gather(*(check_in_step(node) for _ in range(4)))
        await node.close()
