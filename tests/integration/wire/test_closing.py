"""A server that was closed has no connection left: cancelled while it closes, or closed while it connects."""

import pytest

from streamops.wire.options import ConnectionOptions
from tests.support.servers import RunningServer
from tests.support.wire.closing import check_closing, check_leaving


@pytest.fixture(params=["unix", "tcp"])
def options(request: pytest.FixtureRequest, server: RunningServer) -> ConnectionOptions:
    """How streamops reaches ``server``."""
    return server.options if request.param == "unix" else server.tcp_options


def test_a_program_cancelled_twice_leaves_no_connection_open(options: ConnectionOptions) -> None:
    check_leaving(options)


async def test_closed_while_connecting(options: ConnectionOptions, server: RunningServer) -> None:
    await check_closing(options, server)
