"""One collection for all who ask at once; a deadline; a server that is away and comes back. On real servers."""

import asyncio
import time
from datetime import timedelta

import pytest
import structlog

from streamops.exporter import scraper as scraper_module
from streamops.exporter.scraper import Scraper
from streamops.exporter.series_limits import NO_LIMITS
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from tests.support.deployments import RunningCluster, StartSentinel
from tests.support.eventually import SETTLE_SECONDS, eventually
from tests.support.exporter.pages import add_orders, length, up, written
from tests.support.exporter.serving import grow_old, scraping
from tests.support.servers import StartServer
from tests.support.wire.sentinel import behind, has_good_replica


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages age when a test says so, and not by themselves."""
    monkeypatch.setattr(scraper_module, "FRESH_SECONDS", 60.0)


async def test_a_server_that_goes_and_comes_back(start_server: StartServer) -> None:
    server = start_server()
    add_orders(server, 3)
    with structlog.testing.capture_logs() as logs:
        async with scraping(server, patience=timedelta(seconds=2)) as scraper:
            assert length(await scraper.scrape()) == 3
            assert (scraper.problem, scraper.answered) == (None, True)
            server.kill()
            for number in (1, 2, 3):
                grow_old(scraper)
                page = await scraper.scrape()
                assert not up(page)
                assert length(page) is None
                assert written(page, 'streamops_collect_errors_total{stage="collect"}') == number
            assert (scraper.page is not None, scraper.answered) == (True, False)
            assert scraper.problem is not None
            server.restart()
            add_orders(server, 2)
            grow_old(scraper)
            page = await scraper.scrape()
            assert up(page)
            assert length(page) == 2
            # What was counted goes on.
            assert written(page, 'streamops_stream_entries_added_total{db="0",stream="orders"}') >= 3
    told = [(line["event"], line["log_level"]) for line in logs]
    assert told == [("redis cannot be read", "warning"), ("redis can be read again", "info")]
    assert "cannot be reached" in logs[0]["reason"]


async def test_a_server_that_is_away_from_the_start(start_server: StartServer) -> None:
    server = start_server()
    server.kill()
    async with scraping(server) as scraper:
        page = await scraper.scrape()
        assert (up(page), scraper.page is not None, scraper.answered) == (False, True, False)
        assert written(page, 'streamops_collect_errors_total{stage="connect"}') == 1
        server.restart()
        add_orders(server)
        grow_old(scraper)
        assert length(await scraper.scrape()) == 1


async def test_during_a_failover_the_server_is_down_until_the_new_primary_answers(
    start_server: StartServer, start_sentinel: StartSentinel
) -> None:
    primary = start_server()
    replica = start_server("--replicaof", "127.0.0.1", str(primary.port))
    add_orders(primary, 3)
    await eventually(lambda: primary.command("WAIT", 1, 10) == 1)
    sentinel = start_sentinel(primary)
    sentinel.command("SENTINEL", "SET", "orders", "down-after-milliseconds", 500, "failover-timeout", 1000)
    await eventually(lambda: has_good_replica(sentinel))

    async def open_console() -> Console:
        return await Console.open(behind(sentinel.port), Watch(deep=True), read_only=True)

    scraper = Scraper(open_console, NO_LIMITS, "test")
    within = timedelta(seconds=1)
    try:
        assert length(await scraper.scrape()) == 3
        primary.kill()
        grow_old(scraper)
        begun = time.monotonic()
        page = await scraper.scrape(within)
        assert time.monotonic() - begun < 1.5 * within.total_seconds()
        assert (up(page), length(page)) == (False, None)
        async with asyncio.timeout(SETTLE_SECONDS):
            while not up(page):
                if scraper.page is not None:
                    grow_old(scraper)
                page = await scraper.scrape(within)
        add_orders(replica)
        grow_old(scraper)
        assert length(await scraper.scrape()) == 4
    finally:
        await scraper.close()


async def test_a_page_of_a_cluster_tells_streams_of_all_nodes(cluster: RunningCluster) -> None:
    for name in ("orders", "payments", "returns"):
        cluster.node_of(name).command("XADD", name, "*", "a", "b")

    async def open_console() -> Console:
        return await Console.open(cluster.options, Watch(deep=True), read_only=True)

    scraper = Scraper(open_console, NO_LIMITS, "test")
    try:
        page = await scraper.scrape()
        assert up(page)
        assert page.plain().count(b"\nstreamops_stream_length{") == 3
        assert page.plain().count(b"\nstreamops_redis_info{") == 3
    finally:
        await scraper.close()
