"""A script reaches every key, whatever its server has seen of it before."""

import pytest

from streamops.errors import Refused
from streamops.wire.script_calls import Call, run_script, write_script
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.fixtures import SetUser
from tests.support.wire.script_calls import counting, read_only

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


def calls_of(server: RunningServer, command: str) -> int:
    """How often a command was called since the last look, in the form that the server has for readers."""
    statistics = server.client.info("commandstats")
    calls: int = statistics.get(f"cmdstat_{command}{'_ro' if read_only(server) else ''}", {}).get("calls", 0)
    return calls


async def test_the_source_is_sent_once_and_again_after_it_was_flushed(
    server: RunningServer, connected: Server
) -> None:
    for number in range(3):
        for _ in range(number):
            server.command("XADD", f"s{number}", "*", "f", "v")
    calls = [counting(f"s{number}") for number in range(3)]
    for flushed, sources, digests in ((True, 1, 2), (False, 0, 3), (True, 3, 3), (False, 0, 3)):
        if flushed:
            server.command("SCRIPT", "FLUSH")
        server.command("CONFIG", "RESETSTAT")
        answers = await run_script(connected, "count_range", calls, read_only=read_only(server))
        assert answers.replies == [("counted", 0), ("counted", 1), ("counted", 2)]
        assert (calls_of(server, "eval"), calls_of(server, "evalsha")) == (sources, digests)


async def test_a_user_without_evalsha_runs_scripts_by_their_source(
    server: RunningServer, as_user: SetUser
) -> None:
    user = await Server.connect(
        as_user("~*", "+@all", "-evalsha", "-evalsha_ro" if read_only(server) else "+ping")
    )
    try:
        calls = [counting("s0"), counting("s1")]
        for _ in range(2):
            answers = await run_script(user, "count_range", calls, read_only=read_only(server))
            assert answers.replies == [("counted", 0)] * 2
    finally:
        await user.close()


async def test_a_script_that_is_refused_half_way_is_not_run_again(
    server: RunningServer, as_user: SetUser
) -> None:
    """What it wrote before stays; a second run would write it twice."""
    user = await Server.connect(as_user("~*", "+@all", "-pexpire"))
    server.command("CONFIG", "RESETSTAT")
    try:
        for _ in range(2):
            with pytest.raises(Refused):
                await write_script(user, "worker_heartbeat", Call("w", (1000, "state", "works"), bytes), "w")
    finally:
        await user.close()
    assert server.client.info("commandstats")["cmdstat_hset"]["calls"] == 2
