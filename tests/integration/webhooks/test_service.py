"""Messages from the intake to the receiver and beyond, on real servers."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from streamops.model.acting import Confirmation
from streamops.model.secret import Secret
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.webhooks import registry
from streamops.webhooks.registry import keep_short
from streamops.webhooks.request_log import RequestLog
from streamops.wire.topics import TOPICS, encode_topic
from tests.support.eventually import eventually
from tests.support.operations.engine.examples import WORKSHOP
from tests.support.servers import RunningServer
from tests.support.webhooks.receiver import Receiver
from tests.support.webhooks.service import LETTERS, SOON
from tests.support.webhooks.serving import serving, site

OWN = {b"streamops:topics", b"topic:remind", LETTERS.encode()}


def left(server: RunningServer) -> int:
    """Entries pending, delayed and waiting to be tried again."""
    pending = server.command("XPENDING", "topic:remind", "callbacks")[0]
    return int(
        pending
        + server.command("ZCARD", "{topic:remind}:delayed")
        + server.command("HLEN", "{topic:remind}:delayed:jobs")
        + server.command("XLEN", "{topic:remind}:retry:callbacks")
    )


async def test_c2_c3_c4_from_the_intake_to_the_dead_letters_and_back(
    server: RunningServer, receiver: Receiver
) -> None:
    """A message waits, is called, is tried again by its condition, given up, replayed, and taken."""
    topic = receiver.topic(
        delay=timedelta(milliseconds=50), retry=SOON, max_attempts=3, retry_when="body.code != `200`"
    )
    receiver.answer = '{"code": 500}'
    async with serving(site(server, topic)) as served:
        await served.post("remind/messages/order-5")
        assert (await served.get("remind/messages/order-5"))[0] == 200
        await eventually(lambda: bool(server.command("XLEN", LETTERS)))
        attempts = [seen.headers["X-Streamops-Attempt"] for seen in receiver.seen]
        assert attempts == ["1", "2", "3"]
        assert {seen.headers["X-Streamops-Id"] for seen in receiver.seen} == {"order-5"}
        assert len({seen.headers["Idempotency-Key"] for seen in receiver.seen}) == 1
        await eventually(lambda: left(server) == 0)
        ((_, fields),) = server.command("XRANGE", LETTERS, "-", "+")
        letter = dict(zip(fields[::2], fields[1::2], strict=True))
        assert (letter[b"_so_reason"], letter[b"data"]) == (b"max-deliveries", b'{"n":1}')
        assert letter[b"_so_error"] == b"the retry condition holds: status 200"
        receiver.answer = '{"code": 200}'
        async with await Console.open(server.options, actor=WORKSHOP) as console:
            prepared = await console.prepare(ReplayIntent(queue=LETTERS, mode=ReplayMode.RETRY))
            await console.apply(prepared, Confirmation(yes=True))
        await eventually(lambda: len(receiver.seen) == 4)
        await eventually(lambda: left(server) == 0)
        assert server.command("XLEN", LETTERS) == 0
    last = receiver.seen[-1]
    assert (last.headers["X-Streamops-Id"], last.headers["X-Streamops-Attempt"]) == ("order-5", "1")
    assert last.headers["Idempotency-Key"] == receiver.seen[0].headers["Idempotency-Key"]


async def test_nothing_is_left_where_all_went_well(server: RunningServer, receiver: Receiver) -> None:
    topic = receiver.topic()
    async with serving(site(server, topic)) as served:
        await asyncio.gather(*(served.post("remind/messages") for _ in range(50)))
        await eventually(lambda: len(receiver.seen) == 50)
        await eventually(lambda: left(server) == 0)
    keys = {key for key in server.command("KEYS", "*") if server.command("TYPE", key) != b"none"}
    assert keys <= OWN | {b"{topic:remind}:retry:callbacks"}


async def test_c1_topics_are_added_switched_and_removed_while_it_runs(
    server: RunningServer, receiver: Receiver
) -> None:
    topic = receiver.topic()
    async with serving(site(server)) as served:
        server.command("HSET", TOPICS, "remind", encode_topic(topic))
        await eventually(lambda: bool(server.command("EXISTS", "topic:remind")))
        await served.post("remind/messages")
        await eventually(lambda: len(receiver.seen) == 1)
        server.command("HSET", TOPICS, "remind", encode_topic(replace(topic, enabled=False)))
        await eventually(lambda: not server.command("XINFO", "CONSUMERS", "topic:remind", "callbacks"))
        await served.post("remind/messages")
        looks = server.calls("hgetall")
        await eventually(lambda: server.calls("hgetall") > looks + 5)
        assert len(receiver.seen) == 1
        server.command("HSET", TOPICS, "remind", encode_topic(replace(topic, url=f"{receiver.url}/moved")))
        await eventually(lambda: len(receiver.seen) == 2)
        assert receiver.seen[1].path == "/moved"
        server.command("DEL", TOPICS)
        await eventually(lambda: left(server) == 0)


async def test_a_host_that_is_down_costs_no_attempts(server: RunningServer, receiver: Receiver) -> None:
    """Its breaker opens; what waits is called once it is well again, within the attempts that the topic allows."""
    topic = receiver.topic(retry=SOON, max_attempts=20, concurrency=4)
    receiver.status = 503
    async with serving(site(server, topic)) as served:
        for number in range(10):
            await served.post(f"remind/messages/m-{number}")
        await eventually(lambda: len(receiver.seen) >= 5)
        looks = server.calls("hgetall")
        await eventually(lambda: server.calls("hgetall") > looks + 5)
        assert len(receiver.seen) < 20
        receiver.status = 200
        begun = len(receiver.seen)
        await eventually(lambda: len(receiver.seen) >= begun + 10)
        await eventually(lambda: left(server) == 0)
        assert {seen.headers["X-Streamops-Id"] for seen in receiver.seen[-10:]} == {
            f"m-{number}" for number in range(10)
        }
        assert server.command("EXISTS", LETTERS) == 0


async def test_a_call_under_way_is_finished_before_the_end(server: RunningServer, receiver: Receiver) -> None:
    async with serving(site(server, receiver.topic("/wait"))) as served:
        await served.post("remind/messages")
        await eventually(lambda: bool(receiver.at_once))
        asyncio.get_running_loop().call_later(0.2, receiver.gate.set)
    assert left(server) == 0
    assert len(receiver.seen) == 1


async def test_other_producers_entries_are_called_too(server: RunningServer, receiver: Receiver) -> None:
    async with serving(site(server, receiver.topic())):
        server.command("XADD", "topic:remind", "*", "kind", "paid", "amount", "5")
        await eventually(lambda: len(receiver.seen) == 1)
    assert receiver.seen[0].body == b'{"kind":"paid","amount":"5"}'


async def test_c7_priorities_are_called_by_their_weights(server: RunningServer, receiver: Receiver) -> None:
    """Where more wait than may be called, high, normal and low get 5:3:2, and none starves."""
    weights = {"high": 5, "normal": 3, "low": 2}
    topics = [receiver.topic(name=name, weight=weight) for name, weight in weights.items()]
    for topic in topics:
        for number in range(150):
            server.client.xadd(topic.key, {"data": str(number)})
    async with serving(site(server, *topics), calls=2):
        await eventually(lambda: len(receiver.seen) >= 200)
        names = [seen.headers["X-Streamops-Topic"] for seen in receiver.seen[50:200]]
        shares = {name: names.count(name) / 15 for name in weights}
    assert all(abs(shares[name] - weight) < 1 for name, weight in weights.items()), shares


async def test_a_topic_whose_stream_is_none_holds_up_no_other(
    server: RunningServer, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    server.command("SET", "topic:odd", "x")
    topics = receiver.topic(name="odd"), receiver.topic()
    async with serving(site(server, *topics)) as served:
        await served.post("remind/messages")
        await eventually(lambda: len(receiver.seen) == 1)
    assert "topic odd is not called: topic:odd is not a stream" in caplog.text


async def test_two_topics_of_one_stream_and_group(
    server: RunningServer, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    """One of them is left out, and told; with groups of their own both are called with every message."""
    first = receiver.topic(name="first", stream="shared")
    second = replace(first, name="second")
    async with serving(site(server, first, second)) as served:
        # At first the topics kept in Redis have not been read.
        while (status := (await served.get("second/messages"))[0]) == 503:
            pass
        assert status == 404
        await served.post("first/messages")
        await eventually(lambda: len(receiver.seen) == 1)
    assert "topic first has the same stream and group" in caplog.text
    async with serving(site(server, first, replace(second, group="mail"))) as served:
        await eventually(lambda: len(receiver.seen) == 2)
        await served.post("second/messages")
        await eventually(lambda: len(receiver.seen) == 4)


async def test_streams_are_kept_short(server: RunningServer, receiver: Receiver) -> None:
    """What was called goes, but for the newest; what waits to be called stays, and so does what nobody reads yet."""
    idle = receiver.topic(name="idle", enabled=False)
    filling = server.client.pipeline(transaction=False)
    for number in range(3_000):
        filling.xadd("topic:remind", {"n": number})
        filling.xadd("topic:idle", {"n": number})
    filling.execute()
    server.command("XGROUP", "CREATE", "topic:remind", "callbacks", "0")
    server.command(
        "XREADGROUP", "GROUP", "callbacks", "w", "COUNT", 2_900, "NOACK", "STREAMS", "topic:remind", ">"
    )
    places = registry.TopicRegistry([site(server, receiver.topic(), idle)])
    keeping = asyncio.create_task(keep_short(places, timedelta(milliseconds=10), kept=500))
    await eventually(lambda: 500 <= server.command("XLEN", "topic:remind") < 700)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    await places.close()
    assert server.command("XLEN", "topic:idle") == 3_000
    assert len(server.command("XRANGE", "topic:remind", "-", "+")) >= 500


async def test_c10_requests_and_calls_are_logged_without_secrets(
    server: RunningServer, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "streamops")
    hidden = "never to be seen anywhere"
    topic = receiver.topic(
        f"/answer?token={hidden.replace(' ', '-')}",
        headers=(("Authorization", hidden),),
        secret=Secret(hidden),
        retry=SOON,
    )
    receiver.status, receiver.answer = 500, hidden
    body = f'{{"note": "{hidden}", "api_key": "abc", "n": 1}}'.encode()
    with capture_logs() as lines:
        async with serving(
            site(server, replace(topic, max_attempts=1)), log=RequestLog(bodies=1000)
        ) as served:
            await served.post("remind/messages/order-5", body)
            await eventually(lambda: "is given up" in caplog.text)
    accepted, called = lines
    shown = '{"note": "[redacted]", "api_key": "[redacted]", "n": 1}'
    assert (accepted["event"], accepted["id"], accepted["body"]) == ("message accepted", "order-5", shown)
    assert (called["event"], called["id"], called["status"]) == ("message called", "order-5", 500)
    assert (called["outcome"], called["given_up"], called["answer"]) == ("failed", True, "[redacted]")
    told = [record.getMessage() for record in caplog.records if record.name.startswith("streamops.")]
    assert any(line.endswith("is given up after 1 calls, max-deliveries: status 500") for line in told)
    for text in (caplog.text, str(lines)):
        assert hidden not in text
        assert hidden.replace(" ", "-") not in text
