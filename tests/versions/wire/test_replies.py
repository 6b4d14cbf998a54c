"""Replies become nouns, and replies of other shapes a clear error."""

from datetime import timedelta

import pytest

from streamops.wire.replies import (
    decode_clock,
    decode_server,
)
from tests.support.servers import RunningServer
from tests.support.wire.replies import DENIED

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_the_clocks_of_time_and_info_agree(server: RunningServer) -> None:
    by_time = decode_clock(server.command("TIME"), DENIED)
    by_info = decode_clock(DENIED, server.command("INFO", "server"))
    assert by_time is not None
    assert by_info is not None
    assert abs(by_info - by_time) < timedelta(seconds=1)


def test_server_is_what_it_says(server: RunningServer) -> None:
    server.command("CONFIG", "SET", "maxmemory", "100mb")
    node = decode_server("here", server.command("INFO"))
    server.command("CONFIG", "SET", "maxmemory", "0")
    assert server.label == f"{node.flavour}-{node.version[0]}.{node.version[1]}"
    assert (node.address, node.role, node.maxmemory_policy) == ("here", "master", "noeviction")
    assert node.max_memory == 100 << 20
    assert node.used_memory is not None
    assert node.evicted_keys == 0
    assert len(node.replication_ids) == 2
