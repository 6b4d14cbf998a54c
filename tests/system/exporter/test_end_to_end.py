"""Redis, a group, the exporter, Prometheus, Alertmanager, a webhook: all real, and what happens at one end arrives at
the other. The rules and the configuration are those that are shipped, with every span divided by ``FASTER``, that of
``[health]`` too.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import redis.asyncio
import yaml
from aiohttp import web

from dashboards.rules import build_rules
from streamops.service.processes import module_command
from streamops.wire.keys import retry_key
from tests.support.grafana.stack import STACK, read_yaml
from tests.support.prometheus import RunningAlertmanager, RunningProgram, RunningPrometheus
from tests.support.servers import RunningServer, StartServer

FASTER: Final = 60
PATIENCE: Final = 60.0
STREAM: Final = "orders"
GROUP: Final = "billing"
RETRIES: Final = retry_key(STREAM, GROUP)


class Inbox:
    """What the webhook was sent: notifications, and their alerts, each with its labels and its status."""

    def __init__(self) -> None:
        self.notifications: list[dict[str, Any]] = []

    @property
    def alerts(self) -> list[dict[str, Any]]:
        """The alerts of all notifications."""
        return [alert for one in self.notifications for alert in one["alerts"]]

    @property
    def pages(self) -> list[dict[str, Any]]:
        """Critical alerts that fire, as often as a notification told of one."""
        return [
            one["labels"]
            for one in self.alerts
            if one["status"] == "firing" and one["labels"]["severity"] == "critical"
        ]

    async def take(self, request: web.Request) -> web.Response:
        self.notifications.append(await request.json())
        return web.Response()

    async def wait_for(self, name: str, status: str) -> dict[str, Any]:
        """The first alert of a name that came with a status."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for alert in self.alerts:
                if (alert["labels"]["alertname"], alert["status"]) == (name, status):
                    return alert
            await asyncio.sleep(0.05)
        came = [(alert["labels"]["alertname"], alert["status"]) for alert in self.alerts]
        raise AssertionError(f"{name} never came as {status}; there came {came}")


@asynccontextmanager
async def webhook() -> AsyncIterator[tuple[Inbox, str]]:
    """An inbox, and the address of a webhook that fills it."""
    inbox, application = Inbox(), web.Application()
    application.router.add_post("/", inbox.take)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield inbox, f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


def hasten(span: str) -> str:
    """A span of the shipped configuration, divided."""
    unit = {"s": 1, "m": 60, "h": 3600}[span[-1]]
    return f"{max(1, round(float(span[:-1]) * unit * 1000 / FASTER))}ms"


def alertmanager_config(url: str) -> dict[str, Any]:
    """The shipped configuration, its receiver a webhook."""
    config: dict[str, Any] = read_yaml(STACK / "alertmanager.yml")
    for route in (config["route"], *config["route"]["routes"]):
        for key in ("group_wait", "group_interval", "repeat_interval"):
            if key in route:
                route[key] = hasten(route[key])
    (receiver,) = config["receivers"]
    receiver["webhook_configs"] = [{"url": url, "send_resolved": True}]
    return config


def prometheus_config(rules: Path, exporter: int, alertmanager: int) -> dict[str, Any]:
    """The shipped configuration, at the ports of this test."""
    config: dict[str, Any] = read_yaml(STACK / "prometheus.yml")
    # Scraped once a second: a timeout cannot be longer, and the exporter keeps half a second of it for itself.
    config["global"] = {
        "scrape_interval": "1s",
        "scrape_timeout": "1s",
        "evaluation_interval": hasten(config["global"]["evaluation_interval"]),
    }
    config["rule_files"] = [str(rules)]
    config["alerting"]["alertmanagers"] = [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager}"]}]}]
    (job,) = [job for job in config["scrape_configs"] if job["job_name"] == "streamops"]
    config["scrape_configs"] = [job | {"static_configs": [{"targets": [f"127.0.0.1:{exporter}"]}]}]
    return config


class Shop:
    """A stream that is added to all the time, and a group whose consumers can be stopped."""

    def __init__(self, server: RunningServer) -> None:
        self._client = redis.asyncio.Redis(
            unix_socket_path=str(server.socket_path), protocol=2, legacy_responses=False
        )
        self._consumers: list[asyncio.Task[None]] = []
        self._producer: asyncio.Task[None] | None = None
        self._is_open = self._at_work = False

    async def open(self) -> None:
        """Make the stream, the retry stream and the group of both, and begin to add."""
        for stream in (STREAM, RETRIES):
            await self._client.xgroup_create(stream, GROUP, id="0", mkstream=True)
        self._is_open = True
        self._producer = asyncio.create_task(self._produce())

    def start(self) -> None:
        """Have two consumers read and acknowledge."""
        self._at_work = True
        self._consumers = [asyncio.create_task(self._consume(name)) for name in ("worker-1", "worker-2")]

    async def stop(self) -> None:
        """Stop the consumers; they end by themselves, at most one blocking read later."""
        self._at_work = False
        await asyncio.gather(*self._consumers)
        self._consumers = []

    async def close(self) -> None:
        """Stop everything; twice is harmless."""
        self._is_open = False
        await self.stop()
        if self._producer is not None:
            await self._producer
        await self._client.aclose()

    async def _produce(self) -> None:
        while self._is_open:
            for stream in (STREAM, RETRIES):
                await self._client.xadd(stream, {"order": "1"})
            await asyncio.sleep(0.05)

    async def _consume(self, name: str) -> None:
        while self._at_work:
            streams: Any = dict.fromkeys((STREAM, RETRIES), ">")
            reply: Any = await self._client.xreadgroup(GROUP, name, streams, count=10, block=200)
            for stream, rows in (reply or {}).items():
                await self._client.xack(stream, GROUP, *(row[0] for row in rows))


@asynccontextmanager
async def shop(server: RunningServer) -> AsyncIterator[Shop]:
    """A shop that is open."""
    opened = Shop(server)
    try:
        await opened.open()
        yield opened
    finally:
        await opened.close()


@contextmanager
def stack(server: RunningServer, url: str, rules: Path) -> Iterator[RunningPrometheus]:
    """The exporter of a server, scraped by a Prometheus, whose alerts an Alertmanager sends to a webhook."""
    with (
        RunningProgram(
            lambda _, port: module_command(
                "streamops", "--url", server.url, "exporter", "--listen", f"127.0.0.1:{port}"
            ),
            "/-/healthy",
            {"STREAMOPS_CONFIG": str(rules.with_name("streamops.toml"))},
        ) as exporter,
        RunningAlertmanager(alertmanager_config(url)) as alertmanager,
        RunningPrometheus(prometheus_config(rules, exporter.port, alertmanager.port)) as prometheus,
    ):
        yield prometheus


async def settled(prometheus: RunningPrometheus, expression: str) -> None:
    """Wait until an expression has an answer."""
    deadline = time.monotonic() + PATIENCE
    while not await asyncio.to_thread(prometheus.query, expression):
        assert time.monotonic() < deadline, f"{expression} stayed empty"
        await asyncio.sleep(0.05)


async def calm(prometheus: RunningPrometheus) -> None:
    """Wait until nothing fires: before the first scrape the exporter counts as down."""
    deadline = time.monotonic() + PATIENCE
    while firing := await asyncio.to_thread(prometheus.firing):
        assert time.monotonic() < deadline, f"{firing} went on"
        await asyncio.sleep(0.05)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """The rules, hastened."""
    path = tmp_path / "rules.yml"
    document = yaml.safe_load(build_rules())
    for rule in (rule for group in document["groups"] for rule in group["rules"]):
        rule |= {key: hasten(rule[key]) for key in ("for", "keep_firing_for") if key in rule}
    path.write_text(yaml.safe_dump(document))
    path.with_name("streamops.toml").write_text(f'[health]\nstopped_after = "{hasten("2m")}"\n')
    return path


@pytest.mark.timeout(300)
async def test_a_group_that_stops_and_a_redis_that_is_down(rules: Path, start_server: StartServer) -> None:
    server = start_server()
    # The stream is there before the exporter, which looks for others but twice a minute.
    async with webhook() as (inbox, url), shop(server) as opened:
        opened.start()
        with stack(server, url, rules) as prometheus:
            await settled(prometheus, f'streamops_group_acked_entries_total{{group="{GROUP}"}} > 0')
            await calm(prometheus)

            await opened.stop()
            fired = await inbox.wait_for("StreamopsConsumerGroupNotReading", "firing")
            labels = fired["labels"]
            assert (labels["stream"], labels["group"], labels["db"]) == (STREAM, GROUP, "0")
            assert (labels["severity"], labels["job"]) == ("critical", "streamops")
            assert GROUP in fired["annotations"]["summary"]
            assert fired["annotations"]["fix"].startswith("Start the consumers")

            # Several intervals of a notification later: one page for one group, whose retries wait too.
            await settled(
                prometheus,
                f'count_over_time(streamops_group_status{{stream="{RETRIES}",status="stopped"}}[8s]) > 5',
            )
            assert [(page["stream"], page["group"]) for page in inbox.pages] == [(STREAM, GROUP)]

            # An alert that came and went by itself while the machine was slow proves nothing.
            inbox.notifications.clear()
            opened.start()
            resolved = await inbox.wait_for("StreamopsConsumerGroupNotReading", "resolved")
            assert resolved["labels"] == labels
            assert resolved["endsAt"] > resolved["startsAt"]

            await opened.close()
            server.kill()
            down = await inbox.wait_for("StreamopsRedisDown", "firing")
            assert down["labels"]["severity"] == "critical"
            await settled(prometheus, 'up{job="streamops"} == 1')
            server.restart()
            assert (await inbox.wait_for("StreamopsRedisDown", "resolved"))["labels"] == down["labels"]
