"""C: a delay-queue service: messages come in over HTTP, wait, and are called back over HTTP.
``tests/runtime/http`` asks for more.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from streamops.model.schedules import parse_schedule
from streamops.runtime import OddMinutes, Streamops
from streamops.runtime.http import book
from tests.support.eventually import eventually
from tests.support.requirements.processes import Commands, until
from tests.support.runtime.http.receiver import Receiver, running_receiver
from tests.support.runtime.http.serving import serving, site
from tests.support.servers import RunningServer, StartServer

SOON = parse_schedule("20ms")
LETTERS = "{topic:remind}:dlq"

JOBS = """
import os
from streamops.runtime import Entry, Streamops

app = Streamops()

@app.handler("jobs", group="g", start="0")
def handle(entry: Entry) -> None:
    with open("ledger", "a") as ledger:
        ledger.write(f"{entry.id} {os.getpid()}\\n")
"""


@pytest.fixture(autouse=True)
def looked_at_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "LOOK_EVERY", timedelta(milliseconds=50))


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with running_receiver() as receiver:
        yield receiver


async def test_c1_topics_stand_in_redis_and_are_managed_by_command_while_they_are_served(
    server: RunningServer, receiver: Receiver, commands: Commands
) -> None:
    """Name, URL, delay, time to run, priority, retry condition, status."""

    async def command(*words: str) -> None:
        assert await asyncio.to_thread(commands.code, *words) == 0, words

    add = ["topics", "add", "remind", f"{receiver.url}/answer", "--time-to-run", "5s", "--delay", "10ms"]
    async with serving(site(server)) as served:
        await command(*add, "--priority", "high", "--retry-when", "status >= `400`")
        await eventually(lambda: bool(server.command("EXISTS", "topic:remind")))
        await served.post("remind/messages")
        await eventually(lambda: len(receiver.seen) == 1)
        await command("topics", "off", "remind")
        (topic,) = (await asyncio.to_thread(commands.json, "topics", "ls"))["topics"]
        assert (topic["topic"], topic["enabled"], topic["priority"]) == ("remind", False, "high")
        assert (topic["time_to_run_seconds"], topic["delay_seconds"]) == (5.0, 0.01)
        await command("topics", "on", "remind")
        await command("topics", "rm", "remind", "--confirm", "remind", "--yes")
    assert commands.json("topics", "ls")["topics"] == []


async def test_c2_a_message_is_added_looked_up_and_deleted_by_topic_and_id(
    server: RunningServer, receiver: Receiver, commands: Commands
) -> None:
    """Over HTTP, from Python and by command; a time of its own overrides the topic's delay."""
    year = datetime(2100, 1, 1, tzinfo=UTC)
    async with serving(site(server, receiver.topic(delay=timedelta(minutes=30)))) as served:
        added = await served.post("remind/messages/order-5", params={"at": year.isoformat()})
        assert datetime.fromisoformat(added["due_at"]) == year
        status, found = await served.get("remind/messages/order-5")
        assert (status, datetime.fromisoformat(found["due_at"])) == (200, year)
        async with served.session.delete("/topics/remind/messages/order-5") as response:
            assert response.status in (200, 204)
        assert (await served.get("remind/messages/order-5"))[0] == 404
        async with Streamops(server.options).publisher() as publisher:
            await publisher.publish("topic:remind", b'{"n": 6}', id="order-6", at=year)
            assert (await served.get("remind/messages/order-6"))[0] == 200
            assert await publisher.cancel("topic:remind", "order-6")
    agreed = ("--confirm", "topic:remind")
    assert commands.code("publish", "topic:remind", "data={}", "--delay", "1h", "--id", "order-7") == 0
    assert commands.code("delayed", "show", "topic:remind", "order-7") == 0
    assert commands.code("delayed", "cancel", "topic:remind", "--ids", "order-7", *agreed) == 0
    assert receiver.seen == []


@pytest.mark.parametrize(
    ("answer", "retry_when", "calls"),
    [
        ("", "", 2),
        (
            '{"res": {"code": 500, "data": {"status": 1}}}',
            "body.res.code != `200` && body.res.data.status != `2`",
            2,
        ),
        (
            '{"res": {"code": 500, "data": {"status": 2}}}',
            "body.res.code != `200` && body.res.data.status != `2`",
            1,
        ),
    ],
)
async def test_c3_an_empty_answer_or_a_condition_on_it_calls_again(
    server: RunningServer, receiver: Receiver, answer: str, retry_when: str, calls: int
) -> None:
    topic = receiver.topic(retry=SOON, max_attempts=2, retry_when=retry_when, retry_empty=True)
    receiver.answer = answer
    async with serving(site(server, topic)) as served:
        await served.post("remind/messages")
        await eventually(lambda: len(receiver.seen) == calls)
        await eventually(lambda: server.command("XPENDING", "topic:remind", "callbacks")[0] == 0)
    assert server.command("EXISTS", LETTERS) == (calls == 2)


async def test_c4_after_the_last_call_a_message_is_a_dead_letter_and_never_nothing(
    server: RunningServer, receiver: Receiver, commands: Commands
) -> None:
    """Ten calls after 1, 3, 5... minutes unless the topic says otherwise; a probe then says so by its exit code."""
    usual = receiver.topic()
    assert (usual.max_attempts, str(usual.retry)) == (10, str(parse_schedule("2n+1 m")))
    assert [OddMinutes()(failures, 0) for failures in (1, 2, 3)] == [timedelta(minutes=n) for n in (1, 3, 5)]
    receiver.status = 500
    async with serving(site(server, receiver.topic(retry=SOON))) as served:
        await served.post("remind/messages/order-5", b'{"n": 1}')
        await eventually(lambda: bool(server.command("XLEN", LETTERS)))
    assert len(receiver.seen) == 10
    ((_, fields),) = server.command("XRANGE", LETTERS, "-", "+")
    letter = dict(zip(fields[::2], fields[1::2], strict=True))
    assert (letter[b"data"], letter[b"_so_reason"]) == (b'{"n": 1}', b"max-deliveries")
    assert commands.code("check", "--dlq", "0") == 10


def test_c5_a_supervisor_starts_watches_replaces_and_stops_its_processes(
    server: RunningServer, commands: Commands
) -> None:
    """SIGHUP replaces all, one by one; one that falls, or has done its share, is replaced; SIGTERM drains."""
    commands.write("shop.py", JOBS)
    words = ("run", "shop:app", "--workers", "2", "--beat", "100ms", "--max-jobs", "50")
    ids = list[str]()

    def add(count: int) -> None:
        ids.extend(server.command("XADD", "jobs", "*", "n", "1").decode() for _ in range(count))
        until(lambda: {line.split()[0] for line in commands.lines("ledger")} == set(ids))

    with commands.running(*words) as running:
        until(lambda: "workers ready" in running.log)
        first = running.children
        add(10)
        running.tell(signal.SIGHUP)
        until(lambda: "reloaded" in running.log)
        second = running.children
        assert len(second) == 2
        assert not first & second
        os.kill(min(second), signal.SIGKILL)
        until(lambda: "killed by SIGKILL" in running.log)
        add(200)
        until(lambda: "worker recycled" in running.log)
        add(10)
        assert running.ended() == 0
    assert len(commands.lines("ledger")) == len(ids)
    assert server.command("XPENDING", "jobs", "g")[0] == 0


async def test_c6_a_server_that_is_away_takes_only_its_own_topics_with_it(
    server: RunningServer, start_server: StartServer, receiver: Receiver
) -> None:
    other = start_server()
    here, there = receiver.topic(), receiver.topic("/there", name="there")
    async with serving(site(server, here), site(other, there, name="other")) as served:
        await served.post("there/messages")
        await eventually(lambda: len(receiver.seen) == 1)
        await eventually(lambda: other.command("XPENDING", there.key, there.group)[0] == 0)
        other.kill()
        await served.post("remind/messages")
        await eventually(lambda: len(receiver.seen) == 2)
        async with served.session.post("/topics/there/messages", data=b"x") as response:
            assert response.status == 503


async def test_c7_priorities_share_the_calls_and_starve_nobody(
    server: RunningServer, receiver: Receiver
) -> None:
    """high, normal and low: 5:3:2, as long as all of them have something waiting."""
    weights = {"high": 5, "normal": 3, "low": 2}
    topics = [receiver.topic(name=name, weight=weight) for name, weight in weights.items()]
    filling = server.client.pipeline(transaction=False)
    for topic in topics:
        for number in range(200):
            filling.xadd(topic.key, {"data": str(number)})
    filling.execute()
    async with serving(site(server, *topics), calls=2):
        await eventually(lambda: len(receiver.seen) >= 250)
        names = [seen.headers["X-Streamops-Topic"] for seen in receiver.seen[50:250]]
    assert [names.count(name) / 20 for name in weights] == pytest.approx([5, 3, 2], abs=1)


def test_c8_a_probe_tells_that_a_server_is_down(start_server: StartServer, commands: Commands) -> None:
    """One line and an exit code, for whatever sends the mail."""
    server = start_server()
    server.command("XGROUP", "CREATE", "orders", "shipping", "$", "MKSTREAM")
    assert commands.code("--url", server.unix_url, "check") == 0
    server.kill()
    assert commands.code("--url", server.unix_url, "check") == 3


async def test_c9_topics_are_listed_with_what_waits_for_them(
    server: RunningServer, receiver: Receiver, commands: Commands
) -> None:
    assert commands.code("topics", "add", "remind", f"{receiver.url}/answer", "--delay", "1h") == 0
    async with serving(site(server)) as served:
        await eventually(lambda: bool(server.command("EXISTS", "topic:remind")))
        await served.post("remind/messages")
        await served.post("remind/messages")
    (topic,) = commands.json("topics", "ls")["topics"]
    assert (topic["topic"], topic["waiting"], topic["due"]) == ("remind", 2, 0)


async def test_c10_calls_are_logged_and_changes_are_audited(
    server: RunningServer, receiver: Receiver, commands: Commands, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "streamops")
    assert commands.code("topics", "add", "remind", f"{receiver.url}/answer", "--accept-empty") == 0
    async with serving(site(server)) as served:
        await eventually(lambda: bool(server.command("EXISTS", "topic:remind")))
        await served.post("remind/messages/order-5")
        await eventually(lambda: "call 1 of" in caplog.text)
    assert "message order-5 is taken in" in caplog.text
    actions = commands.json("audit", "ls")
    assert "topics.add" in str(actions)


async def test_c11_bodies_of_64_bytes_are_taken_in_by_the_thousand(server: RunningServer) -> None:
    """How many a second, ``bench_publish`` measures; here they all arrive, from many callers and in batches."""
    body = {"data": "x" * 64}
    async with Streamops(server.options).publisher() as publisher:
        await asyncio.gather(*(publisher.publish("topic:remind", body) for _ in range(2_400)))
        await publisher.publish_many("topic:remind", [body] * 5_600)
    assert server.command("XLEN", "topic:remind") == 8_000
