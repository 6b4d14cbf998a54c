"""Beside Debian's redis_exporter on the same server: what both tell is the same, and what it does not tell is listed."""

from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from docs.reference import REDIS_EXPORTER, THE_SAME
from tests.support.exporter.shop import Orders
from tests.support.exporter.truth import Exposition, Labels, watching
from tests.support.prometheus import RunningProgram, fetch, find_program
from tests.support.servers import RunningServer

NAME = 'we"ird\nna\\me'

SAME = {theirs: ours for theirs, (ours, words) in REDIS_EXPORTER.items() if words == THE_SAME}
"""What is one number under two names."""

TIMES = {
    "redis_stream_last_generated_id": "stream_last_generated_timestamp_seconds",
    "redis_stream_group_last_delivered_id": "group_last_delivered_timestamp_seconds",
}
"""Milliseconds there, seconds here. Where nothing was ever delivered it says 0, in 1970; here the series is absent."""

IDLE = "redis_stream_group_consumer_idle_seconds"
LEFT_OUT = {"redis_stream_radix_tree_keys", "redis_stream_radix_tree_nodes"}
"""What tells of the server's own data structures."""


def beside(server: RunningServer) -> RunningProgram:
    """A redis_exporter of a server."""
    program = find_program("prometheus-redis-exporter")
    return RunningProgram(
        lambda _, port: [
            *(program, "-redis.addr", server.url, "-web.listen-address", f"127.0.0.1:{port}"),
            *("-check-streams", "*"),
        ],
        "/",
    )


def told(body: str) -> Iterator[tuple[str, Labels, float]]:
    """Its samples of streams; its database ``db0`` is ``0`` here."""
    for family in text_string_to_metric_families(body):
        for sample in family.samples:
            if sample.name.startswith("redis_stream"):
                yield (
                    sample.name,
                    {**sample.labels, "db": sample.labels["db"].removeprefix("db")},
                    sample.value,
                )


def add_streams_of_all_sorts(server: RunningServer) -> Orders:
    """Streams with groups and consumers of all sorts."""
    orders = Orders(server)
    orders.add(0, 9)
    orders.create("billing", "audit")
    orders.read("one", 4)
    orders.read("two", 2)
    orders.ack(0, 1)
    orders.trim(7)
    server.client.xadd(NAME, {"a": "1"})
    server.client.xgroup_create(NAME, NAME, id="0")
    server.client.xreadgroup(NAME, NAME, {NAME: ">"})
    return orders


@pytest.mark.every_server("values are held against what each version says")
async def test_what_both_tell_is_the_same(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    orders = add_streams_of_all_sorts(server)
    async with watching(server, monkeypatch) as watched:
        page = await watched.look()
        with beside(server) as other:
            rows = list(told(fetch(f"{other.url}/metrics").decode()))
        now = orders.now()
    assert {name for name, _, _ in rows} == {*SAME, *TIMES, IDLE, *LEFT_OUT}
    assert {name for name, _, _ in rows} <= set(REDIS_EXPORTER)
    for name, labels, value in rows:
        if name in SAME:
            assert page.value(SAME[name], **labels) == value, (name, labels)
        elif name in TIMES:
            assert page.value(TIMES[name], **labels) == (value / 1000 or None), (name, labels)
        elif name == IDLE:
            seen = page.value("consumer_last_seen_timestamp_seconds", **labels)
            assert seen == pytest.approx(now - value, abs=3), labels
    for name, ours in SAME.items():
        assert len(page.samples(ours)) == len([row for row in rows if row[0] == name]), name


@pytest.mark.every_server("values are held against what each version says")
async def test_redis_exporter_does_not_tell_lags_ages_and_counters(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian's 1.45 has no lag at all, neither a time lag nor ages of pending entries nor deliveries, and no counters.

    Later versions hand the server's lag on, and 0 where the server answers nil: after XDEL, on any version.
    """
    orders = add_streams_of_all_sorts(server)
    orders.delete(8)
    async with watching(server, monkeypatch) as watched:
        page = await watched.look()
    billing = {"db": "0", "stream": "orders", "group": "billing"}
    assert page.value("group_lag_entries", **billing) == 3
    assert page.value("group_pending_entries", **billing) == 4
    with beside(server) as other:
        names = {name for name, _, _ in told(fetch(f"{other.url}/metrics").decode())}
    assert not [name for name in names if "lag" in name or "oldest" in name or name.endswith("_total")]


@pytest.mark.every_server("values are held against what each version says")
async def test_memory_and_version(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async with watching(server, monkeypatch) as watched:
        page = await watched.look()
        with beside(server) as other:
            theirs = Exposition(fetch(f"{other.url}/metrics").replace(b"\nredis_", b"\nstreamops_redis_"))
    (labels, one), (their_labels, their_one) = (
        page.samples("redis_info")[0],
        theirs.samples("redis_instance_info")[0],
    )
    assert one == their_one == 1
    assert labels["role"] == their_labels["role"] == "master"
    assert labels["mode"] == "standalone"
    if server.program.flavour == "redis":
        assert labels["version"] == their_labels["redis_version"]
        assert labels["mode"] == their_labels["redis_mode"]
    else:
        # It takes Valkey for Redis 7.2.4, of no mode.
        assert labels["version"] != their_labels["redis_version"]
        assert their_labels["redis_mode"] == ""
    ours = page.samples("redis_memory_used_bytes")[0][1]
    assert ours == pytest.approx(theirs.samples("redis_memory_used_bytes")[0][1], abs=1 << 20)
    # No limit is 0 there, and no series here.
    assert theirs.samples("redis_memory_max_bytes")[0][1] == 0
    assert page.samples("redis_memory_max_bytes") == []
