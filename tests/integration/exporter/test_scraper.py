"""One collection for all who ask at once; a deadline; a server that is away and comes back. On real servers."""

import asyncio
import threading
from datetime import timedelta

import pytest
import structlog
from msgspec.structs import replace

from streamops.errors import SettingsError
from streamops.exporter import scraper as scraper_module
from streamops.exporter.page import MetricsPage
from streamops.exporter.scraper import Scraper
from streamops.exporter.series_limits import NO_LIMITS, SeriesLimits
from streamops.model.secret import Secret
from streamops.monitor.server_monitor import ServerMonitor
from streamops.monitor.watch import Watch
from tests.support.eventually import eventually
from tests.support.exporter.pages import add_orders, length, up, written
from tests.support.exporter.serving import grow_old, opening, reads, scraping
from tests.support.servers import RunningServer, StartServer

SOON = timedelta(milliseconds=200)


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages age when a test says so, and not by themselves."""
    monkeypatch.setattr(scraper_module, "FRESH_SECONDS", 60.0)


async def test_fifty_at_once_cost_one_collection(server: RunningServer) -> None:
    add_orders(server)
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    async with scraping(server) as scraper:
        await scraper.scrape()
        grow_old(scraper)
        before = reads(server)
        await scraper.scrape()
        one = reads(server) - before
        grow_old(scraper)
        pages = await asyncio.gather(*(scraper.scrape() for _ in range(50)))
        assert one > 0
        assert reads(server) - before == 2 * one
        assert len(set(map(id, pages))) == 1


async def test_a_page_serves_for_a_while(server: RunningServer) -> None:
    add_orders(server)
    async with scraping(server) as scraper:
        first = await scraper.scrape()
        add_orders(server)
        assert await scraper.scrape() is first
        grow_old(scraper)
        assert (length(first), length(await scraper.scrape())) == (1.0, 2.0)


async def test_who_comes_later_does_not_get_what_was_read_too_long_before(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A collection that began long ago is awaited, and another one made."""
    server = start_server()
    add_orders(server)
    async with scraping(server) as scraper:
        await scraper.scrape()
        grow_old(scraper)
        server.pause()
        slow = asyncio.create_task(scraper.scrape())
        await eventually(lambda: scraper.busy)
        monkeypatch.setattr(scraper_module, "FRESH_SECONDS", 0.0)
        late = asyncio.create_task(scraper.scrape())
        await asyncio.sleep(0.05)
        server.resume()
        assert (await late).begun > (await slow).begun
        assert late.result().begun >= scraper.used_at


async def test_at_the_deadline_a_server_that_hangs_is_down_and_the_collection_goes_on(
    start_server: StartServer,
) -> None:
    server = start_server()
    add_orders(server)
    async with scraping(server) as scraper:
        first = await scraper.scrape()
        grow_old(scraper)
        server.pause()
        late = await scraper.scrape(SOON)
        assert (up(late), length(late)) == (False, None)
        assert written(late, 'streamops_collect_errors_total{stage="deadline"}') == 1
        assert b"streamops_snapshot_timestamp_seconds " not in late.plain()
        assert scraper.busy
        server.resume()
        await eventually(lambda: not scraper.busy)
        name = "streamops_snapshot_timestamp_seconds"
        again = await scraper.scrape()
        assert (up(again), again is scraper.page) == (True, True)
        assert written(again, name) > written(first, name)


async def test_a_server_that_always_takes_longer_than_the_deadline_is_down_each_time(
    start_server: StartServer,
) -> None:
    """A number that was true a scrape ago is no number of now, however long the last collection took."""
    server = start_server()
    add_orders(server)
    async with scraping(server) as scraper:
        for _ in range(2):
            server.pause()
            late = await scraper.scrape(SOON)
            assert (up(late), length(late)) == (False, None)
            server.resume()
            await eventually(lambda: scraper.page is not None and not scraper.busy)
            grow_old(scraper)


async def test_without_any_page_a_deadline_says_that_the_server_is_not_up(start_server: StartServer) -> None:
    server = start_server()
    server.pause()
    async with scraping(server) as scraper:
        page = await scraper.scrape(SOON)
        assert not up(page)
        assert length(page) is None
        assert scraper.page is None
        assert b"\nstreamops_up 0\n" in page.plain()
        server.resume()
        await eventually(lambda: scraper.page is not None)
        assert up(await scraper.scrape())


def removed(page: MetricsPage) -> int:
    observation = page.reading.observation
    assert observation is not None
    return observation.streams[0].counts.removed


async def test_a_password_that_is_exchanged_is_read_anew(start_server: StartServer) -> None:
    server = start_server("--requirepass", "old")
    passwords = ["old"]

    async def open_monitor() -> ServerMonitor:
        options = replace(server.options, password=Secret(passwords[-1]))
        return await ServerMonitor.connect(options, Watch(deep=True))

    admin = server.connect(password="old")  # noqa: S106 - a test's own
    scraper = Scraper(open_monitor, NO_LIMITS, "test")
    try:
        admin.xadd("orders", {"n": "1"})
        assert up(await scraper.scrape())
        admin.xtrim("orders", 0, approximate=False)
        grow_old(scraper)
        assert removed(await scraper.scrape()) == 1
        admin.config_set("requirepass", "new")
        admin.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")  # type: ignore[no-untyped-call]
        grow_old(scraper)
        assert not up(await scraper.scrape())
        assert scraper.answered
        assert "new" not in (scraper.problem or "")
        passwords.append("new")
        grow_old(scraper)
        page = await scraper.scrape()
        assert (up(page), removed(page)) == (True, 1), "counters go on over another connection"
    finally:
        await scraper.close()


async def test_a_server_that_answers_and_tells_nothing_is_not_up(start_server: StartServer) -> None:
    """Else all series would vanish, and every alert on them, without a word."""
    server = start_server()
    add_orders(server)
    async with scraping(server) as scraper:
        assert up(await scraper.scrape())
        server.command("CONFIG", "SET", "replica-serve-stale-data", "no")
        server.command("REPLICAOF", "127.0.0.1", "1")
        grow_old(scraper)
        page = await scraper.scrape()
        assert (up(page), length(page), scraper.answered) == (False, None, True)
        assert written(page, 'streamops_collect_errors_total{stage="collect"}') == 1
        assert scraper.problem is not None
        assert scraper.problem.startswith("no stream can be read: ")
        assert "replica-serve-stale-data" in scraper.problem
        server.command("REPLICAOF", "NO", "ONE")
        grow_old(scraper)
        page = await scraper.scrape()
        assert (up(page), length(page)) == (True, 1)
        assert scraper.problem is None


async def test_streams_that_may_not_be_read_are_told_once(start_server: StartServer) -> None:
    server = start_server()
    add_orders(server)
    server.command("XADD", "secrets", "*", "a", "b")
    server.command("ACL", "SETUSER", "default", "resetkeys", "~orders", "~streamops:*")
    with structlog.testing.capture_logs() as logs:
        async with scraping(server) as scraper:
            for _ in range(2):
                page = await scraper.scrape()
                grow_old(scraper)
            assert (up(page), length(page)) == (True, 1)
    (line,) = [line for line in logs if line["part"] == "streams"]
    assert (line["event"], line["log_level"]) == ("a part cannot be read", "warning")
    assert "permission" in line["reason"]


async def test_who_may_begin_another_collection_keeps_it_busy(server: RunningServer) -> None:
    """A target that was closed between two collections of one scrape would be opened again, and stay open."""
    seen: list[bool] = []
    async with scraping(server) as scraper:
        waiting = asyncio.create_task(scraper.scrape())
        await asyncio.sleep(0)
        assert scraper._flight is not None
        scraper._flight.add_done_callback(lambda _: seen.append(scraper.busy))
        await waiting
        assert (seen, scraper.busy) == ([True], False)


async def test_what_stands_beside_is_told_where_it_cannot_be_read(start_server: StartServer) -> None:
    """Once, and the rest goes on."""
    server = start_server()
    add_orders(server)
    server.command("ACL", "SETUSER", "default", "-memory|usage")
    with structlog.testing.capture_logs() as logs:
        async with scraping(server) as scraper:
            await scraper.scrape()
            await eventually(lambda: "memory" in scraper._target.problems)
            for _ in range(3):
                grow_old(scraper)
                page = await scraper.scrape()
            assert up(page)
            assert length(page) == 1
            assert written(page, 'streamops_collect_errors_total{stage="memory"}') == 1
    (line,) = logs
    assert (line["event"], line["part"], line["log_level"]) == ("a part cannot be read", "memory", "warning")


async def test_a_collection_that_never_ends_is_given_up(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start_server()
    add_orders(server)
    async with scraping(server) as scraper:
        await scraper.scrape()
        monkeypatch.setattr(scraper_module, "GIVEN_UP_SECONDS", 0.3)
        grow_old(scraper)
        server.pause()
        assert not up(await scraper.scrape())
        assert scraper.problem == "it took longer than 0.3 s"
        server.resume()
        monkeypatch.undo()
        grow_old(scraper)
        assert up(await scraper.scrape())


async def test_settings_that_cannot_be_read_are_a_reason_too() -> None:
    async def open_monitor() -> ServerMonitor:
        raise SettingsError("the password cannot be read")

    scraper = Scraper(open_monitor, NO_LIMITS, "test")
    page = await scraper.scrape()
    assert not up(page)
    assert (scraper.problem, scraper.answered) == ("the password cannot be read", False)
    await scraper.close()


async def test_a_bug_leaves_the_exporter_up() -> None:
    async def open_monitor() -> ServerMonitor:
        raise RuntimeError("nobody thought of this")

    scraper = Scraper(open_monitor, NO_LIMITS, "test")
    with structlog.testing.capture_logs() as logs:
        assert not up(await scraper.scrape())
    assert "RuntimeError: nobody thought of this" in [line.get("reason", "") for line in logs][-1]
    await scraper.close()


async def test_streams_deleted_meanwhile(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever a stream goes or becomes something else, the others are told, and it vanishes."""
    monkeypatch.setattr(scraper_module, "FRESH_SECONDS", 0.0)
    for number in range(20):
        server.command("XADD", f"s{number}", "1-1", "a", "b")
        server.command("XGROUP", "CREATE", f"s{number}", "g", "0")
    add_orders(server)
    over = threading.Event()
    client = server.connect()

    def disturb() -> None:
        while not over.is_set():
            for number in range(20):
                client.delete(f"s{number}")
                client.set(f"s{number}", "no stream")
                client.delete(f"s{number}")
                client.xadd(f"s{number}", {"a": "b"})

    thread = threading.Thread(target=disturb)
    async with scraping(server) as scraper:
        await scraper.scrape()
        thread.start()
        try:
            pages = [await scraper.scrape() for _ in range(40)]
        finally:
            over.set()
            thread.join()
        for number in range(20):
            server.command("DEL", f"s{number}")
        last = await scraper.scrape()
    assert all(up(page) and length(page) == 1 for page in pages)
    assert up(last)
    assert b'stream="s1"' not in last.plain()
    assert length(last) == 1


async def test_what_is_beyond_what_is_read_is_counted(server: RunningServer) -> None:
    for number in range(7):
        server.command("XADD", f"s{number}", "1-1", "a", "b")

    async def open_monitor() -> ServerMonitor:
        return await ServerMonitor.connect(server.options, Watch(deep=True, max_streams=3))

    scraper = Scraper(open_monitor, SeriesLimits(max_streams=2), "test")
    try:
        page = await scraper.scrape()
        assert page.plain().count(b"\nstreamops_stream_length{") == 2
        omitted = 'streamops_series_omitted{reason="max_streams",scope="stream"}'
        assert written(page, omitted) == 5
    finally:
        await scraper.close()


async def test_closing_ends_what_is_under_way(start_server: StartServer) -> None:
    server = start_server()
    server.pause()
    scraper = Scraper(opening(server), NO_LIMITS, "test")
    waiting = asyncio.create_task(scraper.scrape())
    await eventually(lambda: scraper.busy)
    await scraper.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not scraper.busy
