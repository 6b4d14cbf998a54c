"""The handler: what it raises says what becomes of the message."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from streamops.errors import Reject, RetryLater
from streamops.model.schedules import parse_schedule
from streamops.model.topics import Topic
from streamops.webhooks.breaker import BreakerOptions, BreakerState
from streamops.webhooks.callback import Callback, HostOptions
from streamops.webhooks.calling import Caller
from streamops.webhooks.reach import Reach
from tests.support.eventually import eventually
from tests.support.servers import choose_port
from tests.support.webhooks.entries import InventedEntry
from tests.support.webhooks.receiver import Receiver

OPTIONS = HostOptions(concurrency=2, breaker=BreakerOptions(failures=3, pause=timedelta(milliseconds=100)))
SOON = timedelta(milliseconds=150)


@pytest.fixture
async def callback() -> AsyncIterator[Callback]:
    async with Caller(Reach(["127.0.0.1"])) as caller:
        yield Callback(caller, OPTIONS, chance=lambda: 0.0)


async def later(callback: Callback, topic: Topic, attempt: int = 1) -> RetryLater:
    with pytest.raises(RetryLater) as told:
        await callback(topic, InventedEntry(attempt=attempt))
    return told.value


async def test_a_message_that_was_taken(receiver: Receiver, callback: Callback) -> None:
    await callback(receiver.topic(), InventedEntry())
    assert len(receiver.seen) == 1


@pytest.mark.parametrize(("attempt", "minutes"), [(1, 1), (2, 3), (3, 5), (10, 19)])
async def test_a_failure_is_tried_again_by_the_schedule(
    receiver: Receiver, callback: Callback, attempt: int, minutes: int
) -> None:
    receiver.status = 500
    error = await later(callback, receiver.topic(), attempt)
    assert (error.delay, error.counts, error.message) == (timedelta(minutes=minutes), True, "status 500")


async def test_by_the_retry_condition(receiver: Receiver, callback: Callback) -> None:
    receiver.answer = '{"code": 500}'
    topic = receiver.topic(retry_when="body.code != `200`", retry=parse_schedule("7s"))
    error = await later(callback, topic)
    assert (error.delay, error.counts) == (timedelta(seconds=7), True)


async def test_an_answer_of_gone_rejects_the_message(receiver: Receiver, callback: Callback) -> None:
    receiver.status = 410
    with pytest.raises(Reject, match="410 Gone"):
        await callback(receiver.topic(), InventedEntry())


@pytest.mark.parametrize(
    ("said", "seconds"), [("120", 120), ("999999", 3600), ("soon", 1), ("1", 1), ("-5", 1)]
)
async def test_the_receiver_says_when(
    receiver: Receiver, callback: Callback, said: str, seconds: int
) -> None:
    receiver.status, receiver.headers = 429, {"Retry-After": said}
    error = await later(callback, receiver.topic(retry=parse_schedule("1s")))
    assert error.delay == timedelta(seconds=seconds)


async def test_a_host_in_trouble_is_left_alone_and_that_is_no_attempt(
    receiver: Receiver, callback: Callback
) -> None:
    receiver.status = 503
    for _ in range(3):
        assert (await later(callback, receiver.topic())).counts
    assert list(callback.states().values()) == [BreakerState.OPEN]
    error = await later(callback, receiver.topic())
    assert (error.counts, len(receiver.seen)) == (False, 3)
    assert timedelta() < error.delay <= timedelta(milliseconds=100)
    receiver.status = 200
    await asyncio.sleep(SOON.total_seconds())
    await callback(receiver.topic(), InventedEntry())
    assert list(callback.states().values()) == [BreakerState.CLOSED]


async def test_one_trial_at_a_time(receiver: Receiver, callback: Callback) -> None:
    receiver.status = 503
    for _ in range(3):
        await later(callback, receiver.topic())
    await asyncio.sleep(SOON.total_seconds())
    receiver.status = 200
    trial = asyncio.create_task(callback(receiver.topic("/wait"), InventedEntry()))
    await eventually(lambda: bool(receiver.at_once))
    assert not (await later(callback, receiver.topic())).counts
    receiver.gate.set()
    await trial
    await callback(receiver.topic(), InventedEntry())


async def test_hosts_have_breakers_of_their_own(receiver: Receiver, callback: Callback) -> None:
    dead = Topic(name="dead", url=f"http://127.0.0.1:{choose_port()}/")
    for _ in range(4):
        await later(callback, dead)
    assert not (await later(callback, dead)).counts
    await callback(receiver.topic(), InventedEntry())


async def test_an_error_of_the_application_does_not_open_it(receiver: Receiver, callback: Callback) -> None:
    receiver.status = 400
    for _ in range(10):
        assert (await later(callback, receiver.topic())).counts


async def test_calls_to_one_host_are_bounded(receiver: Receiver, callback: Callback) -> None:
    """What finds no room in time is put back; a slow host does not swallow every slot for ever."""
    topic = receiver.topic("/wait", time_to_run=timedelta(seconds=5))
    calls = [asyncio.create_task(callback(topic, InventedEntry())) for _ in range(2)]
    await eventually(lambda: receiver.at_once == 2)
    error = await later(callback, receiver.topic(time_to_run=timedelta(milliseconds=50)))
    assert (error.counts, receiver.most_at_once) == (False, 2)
    receiver.gate.set()
    await asyncio.gather(*calls)


async def test_a_cancelled_call_gives_its_room_back(receiver: Receiver, callback: Callback) -> None:
    for number in range(5):
        task = asyncio.create_task(callback(receiver.topic("/wait"), InventedEntry()))
        await eventually(lambda: len(receiver.seen) > number)  # noqa: B023 - awaited at once
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await callback(receiver.topic(), InventedEntry())
