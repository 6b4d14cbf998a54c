"""``bench`` on a real server: it measures, it drills, and leaves nothing."""

import json

from tests.support.cli.running import Cli
from tests.support.runtime.working import keys
from tests.support.servers import RunningServer


def test_without_a_name_everything_is_measured(cli: Cli, server: RunningServer) -> None:
    options = ("--entries", "50", "--rate", "1000", "--yes", "-o", "json")
    result = cli("--url", server.url, "bench", *options)
    assert result.code == 0
    document = json.loads(result.out)
    assert document["schema"] == "streamops.bench/1"
    assert len(document["figures"]) == 6
    assert "{streamops-bench:" in result.err
    assert keys(server) == set()


def test_a_drill_prints_its_timeline_and_passes(cli: Cli, server: RunningServer) -> None:
    options = ("--events", "200", "--work", "1ms-2ms", "--workers", "1", "--no-stop-half", "--yes")
    result = cli("--url", server.url, "bench", "drill", *options)
    assert result.code == 0
    assert result.out.split()[:4] == ["AT", "LAG", "PENDING", "RETRYING"]
    assert "200 events = 198 handled + 2 dead letters" in result.out
    assert result.out.endswith("passed\n")
    assert keys(server) == set()


def test_nothing_that_cannot_be_connected_to_is_measured(cli: Cli) -> None:
    result = cli("--url", "redis://127.0.0.1:1/0", "bench", "produce", "--yes")
    assert result.code == 3
    assert "error: " in result.err
    assert "Traceback" not in result.err
