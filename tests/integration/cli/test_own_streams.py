"""Streams that streamops keeps for itself: shown to people who ask for them."""

import json

from tests.support.cli.running import Cli
from tests.support.servers import RunningServer


def test_the_audit_log_is_shown_to_whoever_asks_for_it(cli: Cli, server: RunningServer) -> None:
    url = ("--url", server.unix_url)
    assert cli("publish", "orders", "n=1", *url).code == 0
    for command in (("status",), ("streams", "ls")):
        table = cli(*command, "-o", "table", *url).out
        assert ("orders" in table, "streamops:audit" in table) == (True, False)
        assert "streamops:audit" in cli(*command, "streamops:*", "-o", "table", *url).out
        told = json.loads(cli(*command, "-o", "json", *url).out)
        assert [stream["stream"] for stream in told["streams"]] == ["orders", "streamops:audit"]
    assert cli("check", *url).out == "OK: 0 groups of 1 stream: no findings\n"


def test_the_audit_log_is_shown_unasked_if_it_has_a_group(cli: Cli, server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", "streamops:audit", "mirror", "0", "MKSTREAM")
    assert "streamops:audit" in cli("status", "-o", "table", "--url", server.unix_url).out
