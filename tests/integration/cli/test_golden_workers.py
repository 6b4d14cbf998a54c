"""Exit codes and JSON of ``workers ls``, ``pools pause`` and ``pools resume``, on a real server.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

import json
from pathlib import Path

import pytest

from tests.support.cli.golden import MASKS, compare, told
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer

GOLDEN = Path(__file__).with_name("golden_workers")
LISTING = [
    ["workers", "ls"],
    ["workers", "ls", "-o", "json"],
    *(["workers", "ls", "--pool", pool, "-o", "json"] for pool in ("billing", "none")),
]
ACTING = [
    ["pools", "pause", "billing", "--dry-run", "-o", "json"],
    ["--read-only", "pools", "pause", "billing"],
    ["pools", "pause", "billing", "--reason", "the bank is down"],
    ["pools", "pause", "billing", "--reason", "the bank is down", "--yes"],
    ["pools", "pause", "billing"],
    ["pools", "resume", "billing", "-o", "json"],
    ["pools", "resume", "billing"],
    ["pools", "resume", "other"],
    ["pools", "pause", "odd name", "-o", "jsonl", "--yes"],
    ["pools", "pause", "biling", "--yes"],
    ["pools", "pause"],
]
MONTH_MS = 30 * 24 * 3600 * 1000


def heartbeat(server: RunningServer, ident: str, **told: str | bytes | int) -> None:
    seconds, microseconds = map(int, server.command("TIME"))
    heart: dict[str, str | bytes | int] = {
        "v": 1,
        "host": "web-1",
        "pid": 4711,
        "app": "shop.workers:app",
        "pool": "default",
        "consumers": json.dumps([["orders", "billing", ident]]),
        "slots": 16,
        "busy": 4,
        "state": "running",
        "beat_ms": seconds * 1000 + microseconds // 1000 - MONTH_MS,
    }
    heart.update(told)
    server.command("HSET", f"streamops:worker:{ident}", *(part for pair in heart.items() for part in pair))


@pytest.fixture
def crowded(server: RunningServer, place: Place) -> RunningServer:
    """A server with workers of two pools, and a hash that is none."""
    config = f'default_context = "local"\n[contexts.local]\nurl = "{server.url}"\n'
    place.configure(config)
    heartbeat(server, "so-web-1-4711-ab12")
    heartbeat(server, "so-web-2-17-cd34", host="web-2", pid=17, state="stalled", busy=16)
    heartbeat(server, "so-bank-1-8-ef56", pool="billing", state="paused", slots=0, busy=0, app="")
    heartbeat(server, "so-\x1b[2J", pool="billing", host=b"\xff", state="draining")
    server.command("HSET", "streamops:worker:so-broken", "v", 1)
    return server


def test_a_list_of_workers_prints_what_is_recorded_and_writes_nothing(
    cli: Cli, place: Place, crowded: RunningServer
) -> None:
    assert crowded.command("DBSIZE") == 5
    compare("listing", told(cli, LISTING, place, MASKS), GOLDEN)


def test_a_list_of_no_workers_prints_what_is_recorded(cli: Cli, place: Place, server: RunningServer) -> None:
    assert server.command("DBSIZE") == 0
    text = told(cli, [["--url", server.url, "workers", "ls", "-o", "json"]], place, MASKS)
    compare("nobody", text, GOLDEN)


def test_commands_that_act_on_workers_print_what_they_did(
    cli: Cli, place: Place, crowded: RunningServer
) -> None:
    crowded.command("HSET", "streamops:pool:odd name", "mode", "running")
    compare("acting", told(cli, ACTING, place, MASKS), GOLDEN)
    assert crowded.command("HGET", "streamops:pool:billing", "mode") == b"running"
    assert crowded.command("HGET", "streamops:pool:odd name", "mode") == b"paused"
    assert crowded.command("EXISTS", "streamops:pool:other") == 0
    records = repr(crowded.command("XRANGE", "streamops:audit", "-", "+"))
    assert "the bank is down" in records
