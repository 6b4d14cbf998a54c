"""The workers of topics end when they are told to, whatever comes at that moment."""

import asyncio

import msgspec
import pytest

from streamops.model.secret import Secret
from streamops.runtime.events import DeadLettered
from streamops.runtime.worker import WorkerOptions
from streamops.webhooks.callback import Callback, HostOptions
from streamops.webhooks.calling import Caller, CallerOptions
from streamops.webhooks.dispatcher import Dispatcher, WeightedSemaphore
from streamops.webhooks.notices import GivenUpNotices
from streamops.webhooks.reach import Reach
from streamops.webhooks.registry import TopicRegistry
from tests.support.eventually import eventually
from tests.support.servers import RunningServer
from tests.support.webhooks.receiver import Receiver
from tests.support.webhooks.serving import serving, site


async def test_topics_that_change_while_their_workers_are_ended_hold_nothing_up(
    server: RunningServer,
) -> None:
    registry = TopicRegistry([site(server)])
    (place,) = registry.places
    async with Caller(Reach((), deny_private=False), CallerOptions()) as caller:
        callers = Dispatcher(
            place, registry, Callback(caller, HostOptions()), WeightedSemaphore(1), WorkerOptions()
        )
        running = asyncio.create_task(callers.run())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        place.changed.set()
        running.cancel()
        await asyncio.wait({running}, timeout=5)
        assert running.cancelled()
    await registry.close()


async def test_c4_a_notice_of_each_message_given_up_is_posted_up_to_a_rate(
    server: RunningServer, receiver: Receiver
) -> None:
    topic = receiver.topic(max_attempts=1)
    receiver.status = 500
    url = Secret(f"{receiver.url}/given-up")
    async with serving(site(server, topic), given_up_url=url, given_up_per_minute=2) as served:
        for _ in range(5):
            await served.post("remind/messages")
        await eventually(lambda: server.command("XLEN", "{topic:remind}:dlq") == 5)
    notices = [msgspec.json.decode(seen.body) for seen in receiver.seen if seen.path == "/given-up"]
    ids = {entry[0].decode() for entry in server.command("XRANGE", "topic:remind", "-", "+")}
    assert len(notices) == 2
    for notice in notices:
        assert notice.pop("entry_id") in ids
        assert notice == {
            "topic": "remind",
            "stream": "topic:remind",
            "group": "callbacks",
            "attempts": 1,
            "reason": "max-deliveries",
            "error": "status 500",
            "left_out": 0,
        }


async def test_a_notice_says_how_many_were_left_out_before_it(receiver: Receiver) -> None:
    now = 100.0
    async with Caller(Reach(("127.0.0.1",))) as caller:
        notices = GivenUpNotices(caller, f"{receiver.url}/given-up", 2, clock=lambda: now)
        for number in range(5):
            notices.send("remind", DeadLettered("s", "g", f"{number}-0", 1, "max-deliveries", "status 500"))
        now += 30
        for number in range(5, 7):
            notices.send("remind", DeadLettered("s", "g", f"{number}-0", 1, "max-deliveries", "status 500"))
        await notices.close()
    posted = [msgspec.json.decode(seen.body) for seen in receiver.seen]
    assert sorted((one["entry_id"], one["left_out"]) for one in posted) == [
        ("0-0", 0),
        ("1-0", 0),
        ("5-0", 3),
    ]


async def test_a_notice_that_cannot_be_posted_is_logged(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.status = 500
    async with Caller(Reach(("127.0.0.1",))) as caller:
        for path in ("answer", "reset"):
            notices = GivenUpNotices(caller, f"{receiver.url}/{path}", 2)
            notices.send("remind", DeadLettered("s", "g", "1-0", 1, "max-deliveries", "status 500"))
            await notices.close()
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "status 500",
        "127.0.0.1: it closed the connection without an answer",
    ]
