"""Numbers of strangers, larger than clocks, calendars and counters are: they are shown or refused, and stop nothing."""

import json
from contextlib import suppress

import pytest
import redis

from streamops.wire.keys import (
    attempts_key,
    bodies_key,
    delayed_key,
    pool_key,
    supervisors_key,
    worker_key,
    worker_registry_key,
)
from tests.support.cli.running import Cli
from tests.support.security.hostile_numbers import HUGE, POOL, G, S
from tests.support.servers import RunningServer

pytestmark = pytest.mark.border_servers("numbers are checked differently by version")

MOST = 2**63 - 1

READING = (
    ("status",),
    ("alerts", "ls"),
    ("streams", "show", S),
    ("entries", "trace", S, "1-1"),
    ("groups", "ls"),
    ("groups", "show", S, G),
    ("consumers", "ls", S),
    ("pending", "ls", S, G),
    ("pending", "summary", S, G),
    ("delayed", "ls"),
    ("delayed", "ls", S),
    ("delayed", "show", S, "m"),
    ("workers", "ls"),
    ("pools", "ls"),
    ("pools", "explain", POOL),
    ("pools", "show", POOL),
    ("webhooks", "ls"),
    ("webhooks", "show", "t"),
    ("jobs", "ls"),
    ("jobs", "show", "j"),
    ("audit", "ls"),
    ("doctor",),
    ("claim", S, G, "--to", "ben", "--min-idle", "0s", "--dry-run"),
    ("streams", "reclaim", S, G, "--min-idle", "0s", "--dry-run"),
    ("trim", S, "--maxlen", "0", "--dry-run"),
)


def plant(server: RunningServer, number: str) -> None:
    """A number wherever a stranger may write one."""
    command = server.command
    command("XADD", S, "1-1", "_so_attempt", number, "_so_origin_id", number)
    command("XGROUP", "CREATE", S, G, "0")
    command("XREADGROUP", "GROUP", G, "ann", "COUNT", 1, "STREAMS", S, ">")
    command("XCLAIM", S, G, "ann", 0, "1-1", "RETRYCOUNT", MOST, "JUSTID")
    with suppress(redis.ResponseError):
        # Redis 6.2 counts nothing that could be set.
        command("XGROUP", "SETID", S, G, "1-1", "ENTRIESREAD", MOST)
        command("XSETID", S, "1-1", "ENTRIESADDED", MOST, "MAXDELETEDID", "0-0")
    command("HSET", attempts_key(S, G), "1-1", number)
    with suppress(redis.ResponseError):
        command("ZADD", delayed_key(S), number, "m")
    body = {"v": 1, "created_ms": MOST, "attempt": MOST, "stream": S, "fields": []}
    command("HSET", bodies_key(delayed_key(S)), "m", json.dumps(body))
    consumers = json.dumps([[S, G, "so-w"]])
    heart = {"v": "1", "host": "h", "app": "a", "pool": POOL, "state": "running", "consumers": consumers}
    for name in ("pid", "slots", "busy", "beat_ms"):
        usual = {"pid": "1", "slots": "1", "busy": "0", "beat_ms": "1", **heart, name: number}
        command("HSET", worker_key(f"so-{name}"), *[part for pair in usual.items() for part in pair])
    steering = ("desired", "desired_at", "override", "steered_until", "limit_min", "limit_max", "steered_at", "term",
                "leader_until", "updated_at", "errors", "min", "max", "n:up:backlog")  # fmt: skip
    command("HSET", "streamops:pools", POOL, number)
    command("HSET", pool_key(POOL), "leader", "x", *[part for name in steering for part in (name, number)])
    command("HSET", worker_registry_key(POOL), "so-1", f"{number} {number} {number} {number} running")
    command("HSET", worker_registry_key(POOL), "so-2", f"1 {number} 1 {number} running")
    command("HSET", supervisors_key(POOL), "x", f"{number} {number} {number}")
    topic = f'{{"v": 1, "url": "http://h/", "delay_seconds": {number}, "max_attempts": {number}}}'
    command("HSET", "streamops:topics", "t", topic)
    told = ("created_ms", "updated_ms", "lease_ms", "requested", "applied", "total", "done", "rate")
    command(
        "HSET",
        "streamops:job:j",
        "v",
        1,
        "state",
        "running",
        *[part for name in told for part in (name, number)],
    )
    command("ZADD", "streamops:jobs", 1, "j")


@pytest.mark.parametrize("number", HUGE, ids=lambda number: number[:20])
def test_no_command_stumbles(server: RunningServer, cli: Cli, number: str) -> None:
    plant(server, number)
    done = 0
    for words in READING:
        result = cli("--url", server.unix_url, *words, "-o", "json")
        assert "a bug in streamops" not in result.err, (words, result.err)
        assert "-9223372036854775808" not in result.out.replace(number, ""), (words, result.out)
        if result.out.startswith("{"):
            json.loads(result.out)
        done += result.code == 0
        result = cli("--url", server.unix_url, *words)
        assert "a bug in streamops" not in result.err, (words, result.err)
    assert done > len(READING) // 2


def test_deliveries_are_as_many_as_the_server_says(server: RunningServer, cli: Cli) -> None:
    plant(server, "1")
    told = json.loads(cli("--url", server.unix_url, "groups", "ls", "-o", "json").out)["groups"][0]
    assert told["oldest_pending"]["deliveries"] == MOST
