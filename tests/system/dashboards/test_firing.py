"""Every alert fires on a real Prometheus, which scrapes the real exporter and real workers: one trouble for each of them."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from dashboards.rules import ALERTS, build_rules
from streamops.model.delayed import DelayedBody
from streamops.model.pools import WorkerHeartbeat, WorkerState
from streamops.service.processes import module_command, module_environment
from streamops.wire.consuming.heartbeats import write_heartbeat
from streamops.wire.delayed import encode_body
from streamops.wire.server import Server
from tests.support.dashboards.cast import APP, BLIND, NOWHERE, PREFILL
from tests.support.eventually import wait_until
from tests.support.prometheus import RunningProgram, RunningPrometheus
from tests.support.servers import RunningServer, StartServer
from tests.support.written_pools import SIGNALS, UP, write_pool

CONFIGURATION: Final = f"""
[contexts.here]
url = "HERE"

[contexts.{NOWHERE}]
url = "unix:///nowhere/at/all"

[contexts.{BLIND}]
url = "HERE"
username = "{BLIND}"
password_file = "password"
streams = ["jobs", "calm"]

[contexts.evicting]
url = "EVICTING"

[contexts.slow]
url = "SLOW"

[contexts.gone]
url = "GONE"

[health]
stopped_after = "2s"
stalled_after = "2s"
no_consumers_after = "1s"
consumer_unseen = "3s"
pending_age = "2s"
poison_deliveries = 3
lag_growing_for = "5s"
lag_growing_entries = 10
time_lag = "1s"
delayed_overdue = "1s"
oom_memory = 0.001

[[retention]]
streams = ["huge"]
maxlen = 1000
"""
TICK: Final = 0.05
HUGE: Final = 60_000
SLOW_SECONDS: Final = 0.9
"""More than half of the timeout of a scrape, less than what the exporter waits, and in no step with the scrapes."""
EVERY: Final = {(alert.name, alert.code) for alerts in ALERTS.values() for alert in alerts}


class Troubles:
    """One server with a trouble for nearly every alert; some go on in a thread until the block ends."""

    def __init__(self, server: RunningServer) -> None:
        self._server = server
        self._client = server.connect()
        self._beats = 0

    def prepare(self) -> None:
        """Make all troubles that need no beat."""
        client = self._client
        for _ in range(200):
            client.xadd("orders", {"n": "1"})
            client.xadd("edge", {"n": "1"})
        for group in ("nobody", "idle", "hung", "slow", "late", "rewound"):
            client.xgroup_create("orders", group, "$" if group in ("slow", "rewound") else "0")
        client.xgroup_createconsumer("orders", "idle", "one")
        client.xgroup_create("edge", "reader", "0")
        client.xgroup_create("calm", "crashed", "0", mkstream=True)
        client.xgroup_create("torn", "reader", "0", mkstream=True)
        torn = [client.xadd("torn", {"n": "1"}) for _ in range(5)]
        client.xreadgroup("reader", "one", {"torn": ">"})
        client.xdel("torn", *torn)
        for _ in range(7):
            client.xadd("calm", {"n": "1"})
        client.xreadgroup("crashed", "gone", {"calm": ">"})
        for _ in range(3):
            client.xreadgroup("crashed", "gone", {"calm": "0"})
        client.xgroup_create("calm", "forgetful", "0")
        # This one is never acknowledged.
        client.xreadgroup("forgetful", "quick", {"calm": ">"}, count=1)
        client.eval(PREFILL, 1, "huge", str(HUGE // 2))
        half = client.xinfo_stream("huge")["last-generated-id"]
        client.eval(PREFILL, 1, "huge", str(HUGE // 2))
        client.xgroup_create("huge", "unclear", half)
        client.xadd("x" * 1_100, {"n": "1"})
        client.zadd("{calm}:delayed", {"due": 1})
        client.hset("{calm}:delayed:jobs", "due", encode_body(DelayedBody("calm", ((b"a", b"1"),))))
        client.zadd("{orders}:delayed", {"of another program": 1})
        client.acl_setuser(BLIND, enabled=True, passwords=[f"+{BLIND}"], keys=["calm"], commands=["+@all"])
        client.hset("streamops:pool:night", "mode", "paused")
        asyncio.run(self._write_heartbeat("night"))
        self._write_pools()

    def strike(self) -> None:
        """What counts only once it was seen that it was not so."""
        self._client.xtrim("orders", maxlen=100, approximate=False)
        self._client.xgroup_setid("orders", "rewound", "0")

    async def _write_heartbeat(self, pool: str) -> None:
        server = await Server.connect(self._server.options)
        heart = WorkerHeartbeat(
            id="so-1",
            host="here",
            pid=1,
            app="shop:app",
            pool=pool,
            consumers=(),
            slots=4,
            busy=0,
            state=WorkerState.PAUSED,
        )
        try:
            await write_heartbeat(server, heart, timedelta(minutes=5))
        finally:
            await server.close()

    def _write_pools(self) -> None:
        now = datetime.fromtimestamp(self._client.time()[0], UTC)
        small = {**UP, "at": now.isoformat(), "target": 12, "signals": {**SIGNALS, "predicted": 20.0}}
        write_pool(self._server, "small", small)
        write_pool(self._server, "left", {**UP, "at": (now - timedelta(minutes=10)).isoformat()})
        for pool in ("unseeing", "stuck"):
            write_pool(self._server, pool, {**UP, "at": now.isoformat()}, stream="calm", group="crashed")

    def beat(self) -> None:
        """Go on with what must go on."""
        client = self._client
        self._beats += 1
        for _ in range(3):
            client.xadd("orders", {"n": "1"})
        client.xadd("jobs", {"n": str(self._beats)})
        client.xadd("calm", {"n": "1"})
        self._read("calm", "crashed", count=5)
        self._read("calm", "forgetful", count=5)
        self._read("orders", "late", count=3)
        if self._beats % 5 == 0:
            self._read("orders", "slow", count=1)
        client.xreadgroup("hung", "one", {"orders": ">"}, count=1)
        # As much is trimmed as was read: nothing is lost, and nearly all is still to be read.
        self._read("edge", "reader", count=1)
        client.xadd("edge", {"n": "1"})
        client.xtrim("edge", maxlen=200, approximate=False)
        client.hincrby("streamops:pool:unseeing", "n:hold:unreadable", 50)
        client.hincrby("streamops:pool:stuck", "n:hold:stuck", 50)
        client.hincrby("streamops:pool:small", "errors", 1)

    def _read(self, stream: str, group: str, count: int) -> None:
        reply: Any = self._client.xreadgroup(group, "quick", {stream: ">"}, count=count)
        for rows in (reply or {}).values():
            self._client.xack(stream, group, *(row[0] for row in rows))


@contextmanager
def going_on(*acts: Callable[[], object]) -> Iterator[None]:
    """Have each act happen again and again, in a thread of its own."""
    stop = threading.Event()

    def play(act: Callable[[], object]) -> None:
        while not stop.wait(TICK):
            act()

    threads = [threading.Thread(target=play, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def prometheus_config(rules: Path, exporter: int, workers: int) -> dict[str, Any]:
    """Scrape the exporter and its contexts, the workers, and an exporter that is not there."""

    def job(name: str, port: int, target: str = "", **more: Any) -> dict[str, Any]:
        probe = {"metrics_path": "/probe", "params": {"target": [target]}} if target else {}
        return {
            "job_name": name,
            "static_configs": [{"targets": [f"127.0.0.1:{port}"]}],
            "scrape_interval": "1s",
            "scrape_timeout": "1s",
            **probe,
            **more,
        }

    slow = {"scrape_interval": "2s", "scrape_timeout": "1500ms"}
    return {
        "global": {"evaluation_interval": "1s"},
        "rule_files": [str(rules)],
        "scrape_configs": [
            job("streamops", exporter),
            job("streamops-exporter", 1),
            job("streamops-workers", workers),
            job("nowhere", exporter, NOWHERE),
            job("blind", exporter, BLIND),
            job("evicting", exporter, "evicting", scrape_interval="8s"),
            job("gone", exporter, "gone"),
            job("slow", exporter, "slow", **slow),
        ],
    }


@contextmanager
def stage(directory: Path, urls: dict[str, str]) -> Iterator[RunningPrometheus]:
    """The exporter and the workers, and the Prometheus that scrapes them and judges by the shipped rules at once."""
    configuration = CONFIGURATION
    for name, url in urls.items():
        configuration = configuration.replace(f'"{name}"', f'"{url}"')
    (directory / "streamops.toml").write_text(configuration)
    (directory / "shop.py").write_text(APP)
    (directory / "password").write_text(BLIND)
    (directory / "password").chmod(0o600)
    # Nobody can set the clock of a Redis back here: two seconds are the age between two of the slowest scrapes.
    rules = re.sub(r" for: \S+", " for: 1s", build_rules())
    rules = rules.replace(
        "streamops_snapshot_timestamp_seconds > 120", "streamops_snapshot_timestamp_seconds > 2"
    )
    (directory / "rules.yml").write_text(rules)
    environ = {
        "STREAMOPS_CONFIG": str(directory / "streamops.toml"),
        "PYTHONPATH": f"{directory}:{module_environment()['PYTHONPATH']}",
    }

    def words(*more: str) -> Callable[[Path, int], Sequence[str]]:
        return lambda _, port: module_command(
            "streamops", "--context", "here", *(word.replace("PORT", str(port)) for word in more)
        )

    with ExitStack() as stack:
        workers = stack.enter_context(
            RunningProgram(words("run", "shop:app", "--metrics", "127.0.0.1:PORT"), "/-/ready", environ)
        )
        exporter = stack.enter_context(
            RunningProgram(words("exporter", "--listen", "127.0.0.1:PORT"), "/-/healthy", environ)
        )
        config = prometheus_config(directory / "rules.yml", exporter.port, workers.port)
        yield stack.enter_context(RunningPrometheus(config, "--enable-feature=extra-scrape-metrics"))


@pytest.mark.timeout(180)
def test_every_alert_fires(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("--maxmemory", "512mb")
    evicting = start_server("--maxmemory", "512mb", "--maxmemory-policy", "allkeys-lru")
    slow = start_server("--enable-debug-command", "yes")
    gone = start_server()
    for other in (evicting, slow, gone):
        other.command("XADD", "was", "*", "n", "1")
    urls = {"HERE": server, "EVICTING": evicting, "SLOW": slow, "GONE": gone}
    troubles = Troubles(server)
    troubles.prepare()
    fired: set[tuple[str, str]] = set()
    with (
        stage(tmp_path, {name: one.unix_url for name, one in urls.items()}) as prometheus,
        going_on(troubles.beat, lambda: slow.command("DEBUG", "SLEEP", SLOW_SECONDS)),
    ):
        wait_until(lambda: prometheus.query('streamops_group_rewinds_total{group="rewound"}'))
        wait_until(lambda: prometheus.query('streamops_stream_length{job="gone"}'))
        troubles.strike()
        gone.flush()

        def all_fired() -> bool:
            for row in prometheus.query('ALERTS{alertstate="firing"}'):
                fired.add((row["metric"]["alertname"], row["metric"].get("code", "")))
            return fired >= EVERY

        try:
            wait_until(all_fired, 90)
        except AssertionError:
            pytest.fail(f"never fired: {sorted(EVERY - fired)}")
