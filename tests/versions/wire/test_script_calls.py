"""A script reaches every key, whatever its server has seen of it before."""

from collections.abc import AsyncIterator

import pytest

from streamops.wire.script_calls import run_script
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.fixtures import SetUser
from tests.support.wire.script_calls import counting

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


def read_only(server: RunningServer) -> bool:
    return server.label != "redis-6.2"


@pytest.fixture
async def connected(server: RunningServer) -> AsyncIterator[Server]:
    connection = await Server.connect(server.options)
    yield connection
    await connection.close()


async def test_source_is_sent_once(server: RunningServer, connected: Server) -> None:
    for number in range(3):
        for _ in range(number):
            server.command("XADD", f"s{number}", "*", "f", "v")
    calls = [counting(f"s{number}") for number in range(3)]
    for _ in range(2):
        server.command("SCRIPT", "FLUSH")
        server.command("CONFIG", "RESETSTAT")
        answers = await run_script(connected, "count_range", calls, read_only=read_only(server))
        assert answers.replies == [("counted", 0), ("counted", 1), ("counted", 2)]
        statistics = server.client.info("commandstats")
        suffix = "_ro" if read_only(server) else ""
        assert statistics[f"cmdstat_eval{suffix}"]["calls"] == 1
        assert statistics[f"cmdstat_evalsha{suffix}"]["calls"] == 2


async def test_first_key_is_denied(server: RunningServer, as_user: SetUser) -> None:
    """The call that brings the source is refused before the server has looked at it."""
    server.command("SCRIPT", "FLUSH")
    server.command("XADD", "mine", "*", "f", "v")
    connection = await Server.connect(as_user("~mine", "+@all"))
    calls = [counting(key) for key in ("denied", "mine", "mine")]
    replies = (await run_script(connection, "count_range", calls, read_only=read_only(server))).replies
    await connection.close()
    assert isinstance(replies[0], Exception)
    assert replies[1:] == [("counted", 1)] * 2
