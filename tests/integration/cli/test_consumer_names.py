"""No command line hands entries to a consumer without a name that people can read."""

import pytest

from tests.support.cli.running import Cli
from tests.support.servers import RunningServer


@pytest.mark.parametrize("name", [" ", "", "a\x1b[2J"])
@pytest.mark.parametrize("command", [("claim",), ("consumers", "rm", "worker-1")])
def test_entries_stay_with_their_consumer_when_the_receiver_is_unreadable(
    server: RunningServer, cli: Cli, name: str, command: tuple[str, ...]
) -> None:
    server.command("XADD", "orders", "1-0", "n", "1")
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "worker-1", "STREAMS", "orders", ">")
    verb, consumer = (command[:1], ()) if len(command) == 1 else (command[:2], command[2:])
    done = cli(*verb, "orders", "billing", *consumer, "--to", name, "--yes", "--url", server.unix_url)
    assert done.code == 2
    assert "--to: a name is not blank and holds no control characters" in done.err
    assert server.command("XPENDING", "orders", "billing")[3] == [[b"worker-1", b"1"]]
