"""Notices sent for good: to a real webhook, from a real Redis that comes and goes."""

import asyncio
from collections import Counter

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from streamops.exporter.notices.delivering import Sending
from streamops.exporter.notices.lookout import Lookout
from streamops.exporter.notices.metrics import NotifyCollector
from streamops.exporter.notices.sighting import Sight, Subject, see_failing
from streamops.model.secret import Secret
from streamops.wire.options import ConnectionOptions
from tests.support.eventually import eventually
from tests.support.exporter.found import condition, sight
from tests.support.exporter.inbox import webhook
from tests.support.exporter.notices.notify import (
    EVERY,
    notifier,
    running,
    scraping,
    stop_consuming,
)
from tests.support.invented import minutes, seconds
from tests.support.servers import RunningServer, StartServer

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
SUBJECTS = [Subject("stopped", "orders", f"group-{number}") for number in range(5)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages age faster, so that nobody waits for it."""
    for module in ("scraping.scraper", "notices.lookout"):
        monkeypatch.setattr(f"streamops.exporter.{module}.FRESH_SECONDS", 0.05)


class World:
    """What is found, look by look: the last of it stays."""

    def __init__(self, *sights: Sight) -> None:
        self.sights = list(sights)

    async def look(self) -> Sight:
        return self.sights.pop(0) if len(self.sights) > 1 else self.sights[0]


def growing(most: int) -> World:
    """One more subject at each look, and so one more message."""
    return World(*[sight(map(condition, SUBJECTS[:number])) for number in range(1, most + 1)])


async def test_messages_arrive_in_their_order_and_are_counted() -> None:
    async with webhook() as hook:
        told = notifier(hook.url)
        async with running(told, growing(3).look):
            await eventually(lambda: len(hook.bodies) == 3)
    assert [title[-7:] for title in hook.titles] == ["group-0", "group-1", "group-2"]
    assert told.counts() == {"sent": 3, "failed": 0, "dropped": 0}


async def test_a_refusal_is_tried_again_until_it_is_taken_and_the_order_stays() -> None:
    async with webhook() as hook:
        hook.refusals = [500, 503, 429]
        told = notifier(hook.url)
        async with running(told, growing(2).look):
            await eventually(lambda: len(hook.bodies) == 2)
    assert [title[-7:] for title in hook.titles] == ["group-0", "group-1"]
    assert told.counts() == {"sent": 2, "failed": 3, "dropped": 0}


async def test_what_cannot_be_sent_is_given_up_and_said() -> None:
    async with webhook() as hook:
        told = notifier("json://127.0.0.1:1/T0pSecretPath", hook.url, sending=Sending(give_up_after=EVERY))
        with capture_logs() as logs:
            async with running(told, growing(1).look):
                await eventually(lambda: told.counts()["dropped"] == 1 and len(hook.bodies) == 1)
    assert told.counts() == {"sent": 1, "failed": 1, "dropped": 1}
    assert [(line["event"], line["to"]) for line in logs] == [
        ("a notice is not sent", "target 1 (JSON)"),
        ("notices are dropped", "target 1 (JSON)"),
    ]
    assert "T0pSecretPath" not in repr(logs)


async def test_an_address_that_hangs_holds_nobody_else_up() -> None:
    async with webhook() as dumb, webhook() as hook:
        dumb.open.clear()
        told = notifier(dumb.url, hook.url)
        async with running(told, growing(3).look):
            await eventually(lambda: len(hook.bodies) == 3)
            assert dumb.bodies == []
            dumb.open.set()
            await eventually(lambda: len(dumb.bodies) == 3)


async def test_of_too_many_that_wait_the_oldest_are_dropped() -> None:
    async with webhook() as hook:
        hook.open.clear()
        told = notifier(hook.url, sending=Sending(most=2, attempt=minutes(5)))
        async with running(told, growing(5).look):
            await eventually(lambda: told.counts()["dropped"] == 3)
            hook.open.set()
            await eventually(lambda: len(hook.bodies) == 3)
    # The first was on its way already.
    assert [title[-7:] for title in hook.titles] == ["group-0", "group-3", "group-4"]


async def test_what_waits_when_it_ends_may_still_go_out() -> None:
    async with webhook() as hook:
        hook.refusals = [503]
        told = notifier(hook.url)
        async with running(told, growing(1).look):
            await eventually(lambda: told.counts()["failed"] == 1)
        assert len(hook.bodies) == 1


async def test_notice_under_way_at_the_end_is_dropped_and_counted() -> None:
    async with webhook() as hook:
        hook.open.clear()
        told = notifier(hook.url, sending=Sending(farewell=seconds(0.05), attempt=minutes(5)))
        async with running(told, growing(1).look):
            async with asyncio.timeout(20):
                await hook.asked.wait()
        assert told.counts() == {"sent": 0, "failed": 0, "dropped": 1}


async def test_a_look_that_fails_is_not_the_last() -> None:
    world, failures = growing(1), Counter[str]()

    async def look() -> Sight:
        failures["so far"] += 1
        if failures["so far"] == 1:
            raise ValueError("a bug")
        return await world.look()

    with capture_logs() as logs:
        async with webhook() as hook, running(notifier(hook.url), look):
            await eventually(lambda: len(hook.bodies) == 1)
    assert logs[0]["problem"] == "ValueError: a bug"


def test_the_metric_tells_every_outcome_from_the_first() -> None:
    told = notifier()
    (family,) = NotifyCollector(told.counts).collect()
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
        running(notifier(hook.url), Lookout(scraper, EVERY).look),
    ):
        await eventually(lambda: len(hook.bodies) == 1)
    assert hook.titles == ["[FIRING:1] streamops redis://here: collection_failing"]
    assert hook.bodies[0]["type"] == "failure"


async def test_a_page_that_a_scrape_made_is_looked_at_without_collecting_again(
    server: RunningServer,
) -> None:
    stop_consuming(server)
    async with scraping(server.tcp_options) as scraper:
        lookout = Lookout(scraper, minutes(1))
        page = await scraper.scrape()
        shown = await lookout.look()
        assert shown is not None
        assert Subject("no_consumers", "orders", "billing") in shown.found
        assert scraper.page is page


async def test_a_redis_that_hangs_is_told_though_no_collection_ends(start_server: StartServer) -> None:
    server = start_server()
    stop_consuming(server)
    async with scraping(replace(server.tcp_options, timeout=minutes(1))) as scraper:
        lookout = Lookout(scraper, seconds(0.1))
        assert await lookout.look() is not None
        server.pause()
        try:
            shown = None
            while shown is None:
                shown = await lookout.look()
        finally:
            server.resume()
    expected = see_failing("no collection", answered=False)
    assert shown.found.keys() == expected.found.keys()
    assert shown.doubted(Subject("no_consumers", "orders", "billing"))
