"""Exit codes and JSON of ``pools`` and ``autoscale``, on a real server.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

from pathlib import Path

import pytest

from tests.support.cli.golden import MASKS, compare, told
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer
from tests.support.written_pools import UP, write_pool, write_pools

GOLDEN = Path(__file__).with_name("golden_pools")
LISTING = [
    ["pools", "ls"],
    ["pools", "show", "billing"],
    ["pools", "ls", "-o", "json"],
    ["pools", "ls", "--fields", "pool,nonsense"],
    ["pools", "show", "billing", "-o", "json"],
    ["pools", "show", "by hand", "-o", "json"],
    ["pools", "show", "none"],
    ["pools", "show"],
]
EXPLAINING = [
    ["pools", "explain", "billing"],
    ["pools", "explain", "old"],
    ["pools", "explain", "mail"],
    ["pools", "explain", "letters"],
    ["pools", "explain", "billing", "-o", "json"],
    ["pools", "explain", "mail", "-o", "json"],
    ["pools", "explain", "letters", "-o", "json"],
    ["pools", "explain", "old", "-o", "json"],
    ["pools", "explain", "by hand"],
    ["pools", "explain"],
]
SCALING = [
    ["pools", "scale", "billing", "6", "--dry-run", "-o", "json"],
    ["pools", "scale", "billing", "20", "--dry-run", "-o", "json"],
    ["pools", "scale", "billing", "4"],
    ["--read-only", "pools", "scale", "billing", "6"],
    ["pools", "scale", "billing", "6", "--current", "5"],
    ["pools", "scale", "billing", "6", "--current", "4", "--reason", "sale"],
    ["pools", "scale", "billing", "2", "-o", "json"],
    ["pools", "scale", "none", "2"],
    ["pools", "scale", "billing", "many"],
    ["pools", "scale", "billing", "100001"],
    ["pools", "scale", "billing"],
]
STEERING = [
    ["autoscale", "pause", "billing", "--dry-run", "-o", "json"],
    ["autoscale", "pause", "billing", "--for", "2h", "--reason", "migration"],
    ["autoscale", "pause", "billing", "--for", "soon"],
    ["autoscale", "pause", "billing", "--for", "0s"],
    ["pools", "override", "billing", "12", "--for", "30d", "-o", "json"],
    ["pools", "override", "billing", "12"],
    ["pools", "override", "billing"],
    ["pools", "limits", "billing", "--minimum", "2", "--maximum", "40"],
    ["pools", "limits", "billing", "--minimum", "2", "--maximum", "40"],
    ["pools", "limits", "billing", "--minimum", "5", "--maximum", "2"],
    ["pools", "limits", "billing", "--maximum", "0"],
    ["autoscale", "pause", "billing", "-o", "jsonl"],
    ["--read-only", "autoscale", "resume", "billing"],
    ["pools", "limits", "billing"],
    ["pools", "limits", "billing", "--max", "40", "--yes"],
    ["pools", "limits", "billing", "--maximum", "1"],
    ["pools", "limits", "billing", "--reset"],
    ["autoscale", "resume", "billing"],
    ["autoscale", "resume", "billing"],
    ["autoscale", "pause", "-odd name", "--dry-run"],
    ["autoscale", "pause", "--dry-run", "-o", "json", "--", "-odd name"],
    ["pools", "override", "--dry-run", "--for", "90s", "-o", "json", "--", "-odd name", "3"],
]


@pytest.fixture
def pools(server: RunningServer, place: Place) -> RunningServer:
    """A server with five pools."""
    config = f'default_context = "local"\n[contexts.local]\nurl = "{server.url}"\n'
    place.configure(config)
    write_pools(server)
    return server


def test_a_list_of_pools_prints_what_is_recorded_and_writes_nothing(
    cli: Cli, place: Place, pools: RunningServer
) -> None:
    before = pools.command("DBSIZE")
    compare("listing", told(cli, LISTING, place, MASKS), GOLDEN)
    assert pools.command("DBSIZE") == before


def test_explaining_a_pool_prints_what_is_recorded(cli: Cli, place: Place, pools: RunningServer) -> None:
    first, *_ = pools.command("XRANGE", "streamops:decisions:billing", "-", "+")
    pools.command("XADD", "streamops:decisions:billing", "*", "decision", "of a later version")
    write_pool(pools, "billing", {**UP, "code": "starting", "text": "2 of 4 workers starting"})
    compare("explaining", told(cli, EXPLAINING, place, MASKS), GOLDEN)
    assert first == pools.command("XRANGE", "streamops:decisions:billing", "-", "+")[0]


def test_scaling_a_pool_prints_what_is_recorded(cli: Cli, place: Place, pools: RunningServer) -> None:
    compare("scaling", told(cli, SCALING, place, MASKS), GOLDEN)
    assert pools.command("HGET", "streamops:pool:billing", "desired") == b"2"
    records = repr(pools.command("XRANGE", "streamops:audit", "-", "+"))
    assert "sale" in records


def test_steering_a_pool_prints_what_is_recorded(cli: Cli, place: Place, pools: RunningServer) -> None:
    pools.command("HSET", "streamops:pool:-odd name", "mode", "running")
    compare("steering", told(cli, STEERING, place, MASKS), GOLDEN)
    told_last = pools.command(
        "HMGET", "streamops:pool:billing", "scaling", "override", "steered_until", "limit_min", "limit_max"
    )
    assert told_last == [None] * 5
    assert pools.command("HGETALL", "streamops:pool:-odd name") == [b"mode", b"running"]


def test_a_list_of_no_pools_prints_what_is_recorded(cli: Cli, place: Place, server: RunningServer) -> None:
    lines = [["--url", server.url, "pools", "ls", "-o", "json"]]
    compare("nobody", told(cli, lines, place, MASKS), GOLDEN)
    assert server.command("DBSIZE") == 0
