"""Every value against the truth, where it is not of streams, groups and consumers alone, on every server version."""

import platform
import re
from datetime import timedelta

import pytest

import streamops
from streamops.exporter.series_limits import SeriesLimits
from streamops.model.delayed import DelayedBody
from streamops.model.pools import WorkerHeartbeat, WorkerState
from streamops.model.retention import RetentionPolicy
from streamops.wire.consuming.heartbeats import write_heartbeat
from streamops.wire.delayed import encode_body
from streamops.wire.keys import pool_key
from streamops.wire.server import Server
from tests.support.exporter.shop import Orders
from tests.support.exporter.truth import Exposition, Ledger, families, watching
from tests.support.exporter.values import BESIDE
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer

PAYMENTS, QUEUE, LATER = "payments", "{payments}:dlq", "{payments}:delayed"
MAX_MEMORY = 100 << 20
ELSEWHERE = {"notifications_total", "scrape_partial_failures"}
"""What is told only where somebody is notified, or something cannot be read: ``test_notify`` and ``test_gaps`` have it."""


class Payments:
    """Dead letters, delayed messages, workers and whatever else stands beside streams.

    Attributes:
        clock: The server's clock when it was made.
    """

    def __init__(self, server: RunningServer) -> None:
        self._server = server
        self._client = server.client
        self.clock = self.now()

    def now(self) -> float:
        """The server's clock."""
        seconds, microseconds = self._client.time()
        return float(seconds + microseconds / 1e6)

    def ms(self, seconds: float) -> int:
        """That many seconds from the beginning on, in milliseconds."""
        return round((self.clock + seconds) * 1000)

    async def fill(self) -> None:
        """Make all of it."""
        for age in (30, 20, 10):
            self._client.xadd(PAYMENTS, {"a": "1"}, id=f"{self.ms(-age)}-0")
            self._client.xadd(QUEUE, {"a": "1"}, id=f"{self.ms(-age)}-0")
        self._client.xadd("secret:1", {"a": "1"})
        body = encode_body(DelayedBody(PAYMENTS, ((b"a", b"1"),)))
        for ident, seconds in (("due", -5), ("soon", 600), ("later", 900)):
            self._client.zadd(LATER, {ident: self.ms(seconds)})
            self._client.hset(f"{LATER}:jobs", ident, body)
        for group, deliveries in (("healthy", 1), ("poisoned", 12)):
            self._client.xgroup_create(PAYMENTS, group, id="0")
            self._client.xreadgroup(group, "one", {PAYMENTS: ">"})
            self._server.command(
                *("XCLAIM", PAYMENTS, group, "one", 0, f"{self.ms(-30)}-0"),
                *("RETRYCOUNT", deliveries, "JUSTID"),
            )
        self._client.hset(pool_key("night"), "mode", "paused")
        self._client.hset(pool_key("day"), "mode", "running")
        server = await Server.connect(self._server.options)
        try:
            for heart in self._hearts():
                await write_heartbeat(server, heart, timedelta(minutes=5))
        finally:
            await server.close()

    @staticmethod
    def _hearts() -> list[WorkerHeartbeat]:
        told = (
            ("day", WorkerState.RUNNING, 16, 3),
            ("day", WorkerState.RUNNING, 16, 4),
            ("day", WorkerState.DRAINING, 8, 1),
            ("night", WorkerState.PAUSED, 4, 0),
        )
        return [
            WorkerHeartbeat(
                id=f"so-{number}",
                host="here",
                pid=number,
                app="shop:app",
                pool=pool,
                consumers=(),
                slots=slots,
                busy=busy,
                state=state,
            )
            for number, (pool, state, slots, busy) in enumerate(told)
        ]


@pytest.fixture
def server(program: ServerProgram, start_server: StartServer) -> RunningServer:
    """A server of its own: it has a limit of memory, and is killed in the end."""
    return start_server("--maxmemory", str(MAX_MEMORY), "--maxmemory-policy", "allkeys-lru", program=program)


@pytest.mark.border_servers("values are held against what each version says")
async def test_values_beside_streams_are_what_the_server_says(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    payments, ledger = Payments(server), Ledger()
    await payments.fill()
    guards = SeriesLimits(exclude=(re.compile("secret:.*"),))
    policies = (RetentionPolicy(streams=("pay*",), maxlen=1000),)
    async with watching(server, monkeypatch, guards=guards, policies=policies) as watched:
        await watched.look_for("delayed_entries", "workers", "pool_paused", "stream_memory_bytes")
        # How long rendering took is told by the page after.
        ledger.page = await watched.glance()
        _dead_letters(ledger, payments, server)
        _delayed(ledger, payments)
        _workers(ledger)
        _streams(ledger, server)
        _statuses(ledger)
        _redis(ledger, server)
        _exporter(ledger, payments)
        server.kill()
        ledger.page = await watched.glance()
        _down(ledger)
    assert (
        ledger.compared
        == BESIDE
        | families(
            *("Dead letters", "Delayed messages", "Worker processes, as the server knows them"),
            *("Redis or Valkey", "The exporter itself"),
        )
        - ELSEWHERE
    )


def _dead_letters(ledger: Ledger, payments: Payments, server: RunningServer) -> None:
    added = 3 if Orders(server).counts_added else 0
    ledger.equal(
        {
            "dlq_entries": 3,
            "dlq_entries_added_total": added,
            "dlq_oldest_timestamp_seconds": payments.ms(-30) / 1000,
        },
        db="0",
        stream=QUEUE,
        source=PAYMENTS,
    )


def _delayed(ledger: Ledger, payments: Payments) -> None:
    ledger.equal(
        {
            "delayed_entries": 3,
            "delayed_due_entries": 1,
            "delayed_foreign_entries": 0,
            "delayed_next_due_timestamp_seconds": payments.ms(-5) / 1000,
        },
        db="0",
        queue=LATER,
    )


def _workers(ledger: Ledger) -> None:
    ledger.equal({"workers": 2}, pool="day", app="shop:app", state="running")
    ledger.equal({"workers": 1}, pool="day", app="shop:app", state="draining")
    ledger.equal({"workers": 1}, pool="night", app="shop:app", state="paused")
    ledger.equal({"worker_slots": 40, "worker_busy": 8}, pool="day", app="shop:app")
    ledger.equal({"worker_slots": 4, "worker_busy": 0}, pool="night", app="shop:app")
    ledger.equal({"pool_paused": 1}, pool="night")
    ledger.equal({"pool_paused": 0}, pool="day")


def _streams(ledger: Ledger, server: RunningServer) -> None:
    memory = server.client.memory_usage(PAYMENTS)
    ledger.equal({"stream_memory_bytes": memory, "stream_max_length": 1000}, db="0", stream=PAYMENTS)
    # A queue of dead letters is not what a pattern means.
    ledger.equal({"stream_max_length": None}, db="0", stream=QUEUE)


def _statuses(ledger: Ledger) -> None:
    def statuses(group: str) -> set[str]:
        return {labels["status"] for labels, _ in ledger.page.samples("group_status", group=group)}

    assert statuses("poisoned") == {"poison"}
    assert statuses("healthy") == {"ok"}
    for group, status in (("poisoned", "poison"), ("healthy", "ok")):
        ledger.equal({"group_status": 1}, db="0", stream=PAYMENTS, group=group, status=status)


def _redis(ledger: Ledger, server: RunningServer) -> None:
    info = server.client.info()
    flavour = server.program.flavour
    version = info["valkey_version" if flavour == "valkey" else "redis_version"]
    told = {"flavour": flavour, "version": version, "role": "master", "mode": "standalone"}
    ledger.equal({"redis_info": 1}, **told)
    ledger.equal({"redis_config_info": 1}, maxmemory_policy="allkeys-lru")
    ledger.equal({"redis_memory_max_bytes": MAX_MEMORY})
    used = ledger.page.samples("redis_memory_used_bytes")
    assert used[0][1] == pytest.approx(info["used_memory"], abs=1 << 20)
    ledger.compared.add("redis_memory_used_bytes")
    addresses = {
        labels["address"]
        for name in ledger.compared
        for labels, _ in ledger.page.samples(name)
        if "address" in labels
    }
    assert len(addresses) == 1


def _exporter(ledger: Ledger, payments: Payments) -> None:
    ledger.equal({"up": 1, "discovered_streams": 3})
    ledger.equal({"series_omitted": 1}, scope="stream", reason="pattern")
    ledger.equal({"build_info": 1}, version=streamops.__version__, python=platform.python_version())
    assert _is_between(ledger.page, "scrape_commands", 3, 100)
    assert ledger.page.samples("collect_errors_total") == []
    phases = {labels["phase"]: value for labels, value in ledger.page.samples("scrape_duration_seconds")}
    assert phases.keys() == {"collect", "judge", "render"}
    assert all(0 <= seconds < 60 for seconds in phases.values())
    ledger.near({"snapshot_timestamp_seconds": payments.now()})
    ledger.compared |= {"scrape_commands", "scrape_duration_seconds"}


def _down(ledger: Ledger) -> None:
    ledger.equal({"up": 0, "snapshot_timestamp_seconds": None})
    ledger.equal({"collect_errors_total": 1}, stage="collect")
    assert not ledger.page.subjects("stream")
    assert not ledger.page.subjects("queue")
    assert not ledger.page.subjects("address")


def _is_between(page: Exposition, name: str, least: int, most: int) -> bool:
    value = page.value(name)
    return value is not None and least <= value <= most
