"""Notices sent for good: to a real webhook, from a real Redis that comes and goes."""

import asyncio
from collections import Counter

import pytest
from aiohttp import ClientSession
from msgspec.structs import replace
from structlog.testing import capture_logs

from streamops.exporter.alerts import AlertSource, Evaluation, evaluate_failing
from streamops.exporter.notifier import PageWatcher, Sending
from streamops.exporter.own_metrics import OwnMetrics
from streamops.exporter.server import ServerOptions, serving
from streamops.exporter.targets import ScrapeTargets
from streamops.model.secret import Secret
from streamops.wire.options import ConnectionOptions
from tests.support.eventually import eventually
from tests.support.exporter.found import condition, look
from tests.support.exporter.inbox import webhook
from tests.support.exporter.notify import (
    EVERY,
    notifier,
    running,
    scraping,
    stop_consuming,
)
from tests.support.invented import minutes, seconds
from tests.support.servers import RunningServer, StartServer

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
SOON = seconds(0.3)
SUBJECTS = [AlertSource("stopped", "orders", f"group-{number}") for number in range(5)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages age faster, so that nobody waits for it."""
    monkeypatch.setattr("streamops.exporter.scraper.FRESH_SECONDS", 0.05)


class World:
    """What is found, look by look: the last of it stays."""

    def __init__(self, most: int) -> None:
        self.given = 0
        self.looks = [look(map(condition, SUBJECTS[:number])) for number in range(1, most + 1)]

    async def look(self) -> Evaluation:
        self.given += 1
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]


async def test_notices_arrive_and_are_counted() -> None:
    async with webhook() as hook:
        told = notifier(hook.url)
        async with running(told, World(1).look):
            await eventually(lambda: told.counts()["sent"] == 1)
    assert hook.titles == ["[FIRING:1] streamops redis://here: stopped orders/group-0"]
    assert told.counts() == {"sent": 1, "failed": 0, "dropped": 0}


async def test_what_comes_during_the_pause_goes_out_in_one_message() -> None:
    async with webhook() as hook:
        world = World(4)
        told = notifier(hook.url, sending=Sending(pause=minutes(5)))
        async with running(told, world.look):
            await eventually(lambda: len(hook.bodies) == 1)
            await eventually(lambda: world.given > 4)
    assert [title.partition("]")[0] for title in hook.titles] == ["[FIRING:1", "[FIRING:3"]


async def test_a_refusal_is_tried_again_until_it_is_taken() -> None:
    async with webhook() as hook:
        hook.refusals = [500, 503, 429]
        told = notifier(hook.url)
        async with running(told, World(1).look):
            await eventually(lambda: told.counts()["sent"] == 1)
    assert len(hook.bodies) == 1
    assert told.counts() == {"sent": 1, "failed": 3, "dropped": 0}


async def test_a_failure_is_logged_without_its_address() -> None:
    async with webhook() as hook:
        told = notifier("json://127.0.0.1:1/T0pSecretPath", hook.url)
        with capture_logs() as logs:
            async with running(told, World(1).look):
                await eventually(lambda: told.counts()["failed"] > 0 and len(hook.bodies) == 1)
    assert told.counts()["dropped"] == 1
    assert {(line["event"], line["to"]) for line in logs} == {
        ("notices are not sent yet", "target 1 (JSON)"),
        ("notices are dropped", "target 1 (JSON)"),
    }
    assert "T0pSecretPath" not in repr(logs)


async def test_an_outlet_that_hangs_holds_nobody_else_up() -> None:
    async with webhook() as dumb, webhook() as hook:
        dumb.open.clear()
        told = notifier(dumb.url, hook.url)
        async with running(told, World(1).look):
            await eventually(lambda: len(hook.bodies) == 1)
            assert dumb.bodies == []
            dumb.open.set()
            await eventually(lambda: len(dumb.bodies) == 1)


async def test_an_outlet_that_hangs_is_given_no_second_thread() -> None:
    async with webhook() as hook:
        hook.open.clear()
        told = notifier(hook.url, sending=Sending(attempt=EVERY, pause=EVERY, shutdown=seconds(1)))
        with capture_logs() as logs:
            async with running(told, World(1).look):
                await eventually(lambda: told.counts()["failed"] > 2)
                hook.open.set()
                await eventually(lambda: told.counts()["sent"] == 1)
    assert logs[0]["reason"] == "no answer within 0.02 s"
    assert logs[1]["reason"] == "the attempt before this one has not come to its end"


async def test_of_too_many_that_wait_the_oldest_are_dropped() -> None:
    async with webhook() as hook:
        hook.open.clear()
        told = notifier(
            hook.url, sending=Sending(most=2, attempt=minutes(5), pause=EVERY, shutdown=seconds(1))
        )
        async with running(told, World(5).look):
            await eventually(lambda: told.counts()["dropped"] == 2)
            hook.open.set()
            await eventually(lambda: len(hook.bodies) == 2)
    # The first was on its way already.
    assert "group-0" in hook.titles[0]
    assert [f"group-{number}" in hook.bodies[1]["message"] for number in range(5)] == [False] * 3 + [True] * 2
    assert told.counts() == {"sent": 3, "failed": 0, "dropped": 2}


async def test_what_waits_at_the_end_has_a_last_attempt() -> None:
    async with webhook() as hook:
        hook.refusals = [503]
        told = notifier(hook.url, sending=Sending(pause=minutes(5)))
        async with running(told, World(1).look):
            await eventually(lambda: told.counts()["failed"] == 1)
        assert len(hook.bodies) == 1


async def test_notice_under_way_at_the_end_is_dropped_and_counted() -> None:
    async with webhook() as hook:
        hook.open.clear()
        told = notifier(hook.url, sending=Sending(shutdown=seconds(0.05), attempt=minutes(5)))
        async with running(told, World(1).look):
            async with asyncio.timeout(20):
                await hook.asked.wait()
        assert told.counts() == {"sent": 0, "failed": 0, "dropped": 1}


async def test_a_look_that_fails_is_not_the_last() -> None:
    world, failures = World(1), Counter[str]()

    async def failing() -> Evaluation:
        failures["so far"] += 1
        if failures["so far"] == 1:
            raise ValueError("a bug")
        return await world.look()

    with capture_logs() as logs:
        async with webhook() as hook, running(notifier(hook.url), failing):
            await eventually(lambda: len(hook.bodies) == 1)
    assert logs[0]["problem"] == "ValueError: a bug"


def test_the_metric_tells_every_outcome_from_the_first() -> None:
    told = notifier()
    (family,) = OwnMetrics(told.counts).collect()
    assert family.name == "streamops_notifications"
    assert {(sample.name, sample.labels["outcome"]): sample.value for sample in family.samples} == {
        ("streamops_notifications_total", "sent"): 0,
        ("streamops_notifications_total", "failed"): 0,
        ("streamops_notifications_total", "dropped"): 0,
    }


async def test_a_redis_that_refuses_is_not_down_but_cannot_be_collected_from(
    server: RunningServer,
) -> None:
    options = ConnectionOptions(
        addresses=(("127.0.0.1", server.port),), password=Secret("wrong"), label="redis://here"
    )
    async with (
        webhook() as hook,
        scraping(options) as scraper,
        running(notifier(hook.url), PageWatcher(scraper, EVERY).look),
    ):
        await eventually(lambda: len(hook.bodies) == 1)
    assert hook.titles == ["[FIRING:1] streamops redis://here: collection_failing"]
    assert hook.bodies[0]["type"] == "failure"


async def test_a_page_that_a_scrape_made_is_looked_at_without_collecting_again(
    server: RunningServer,
) -> None:
    stop_consuming(server)
    async with scraping(server.tcp_options) as scraper:
        watcher = PageWatcher(scraper, minutes(1))
        page = await scraper.scrape()
        shown = await watcher.look()
        assert shown is not None
        assert AlertSource("no_consumers", "orders", "billing") in shown.found
        assert scraper.page is page


async def test_a_redis_that_hangs_is_told_though_no_collection_ends(start_server: StartServer) -> None:
    server = start_server()
    stop_consuming(server)
    async with scraping(replace(server.tcp_options, timeout=minutes(1))) as scraper:
        watcher = PageWatcher(scraper, seconds(0.1))
        # A look waits for 0.1 s for a collection; the first one may take longer.
        while await watcher.look() is None:
            pass
        server.pause()
        try:
            shown = None
            while shown is None:
                shown = await watcher.look()
        finally:
            server.resume()
    expected = evaluate_failing("no collection", down=False)
    assert shown.found.keys() == expected.found.keys()
    assert shown.unknown(AlertSource("no_consumers", "orders", "billing"))


async def test_one_exporter_sends_notices_of_several_servers(start_server: StartServer) -> None:
    one, other = start_server(), start_server()
    for server in (one, other):
        stop_consuming(server)
    options = ServerOptions(host="127.0.0.1", port=0)
    async with webhook() as hook, scraping(one.options) as first, scraping(other.options) as second:
        watched = [
            (scraper, notifier(hook.url, after=SOON, label=f"redis://{name}"))
            for scraper, name in ((first, "one"), (second, "other"))
        ]
        targets = ScrapeTargets(tuple, lambda _: first)
        async with serving(options, first, targets, watched) as port, ClientSession() as session:
            await eventually(lambda: [told.counts()["sent"] for _, told in watched] == [1, 1])
            async with session.get(f"http://127.0.0.1:{port}/metrics") as response:
                page = await response.text()
    assert sorted(hook.titles) == [
        f"[FIRING:1] streamops redis://{name}: no_consumers orders/billing" for name in ("one", "other")
    ]
    assert 'streamops_notifications_total{outcome="sent"} 2.0' in page
