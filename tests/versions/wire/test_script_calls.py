"""A script reaches every key, whatever its server has seen of it before."""

import pytest

from streamops.wire.script_calls import run_script
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.script_calls import counting, read_only

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


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
