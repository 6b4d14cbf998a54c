"""The intake on real servers, asked over HTTP."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from streamops.model.delayed import DelayedBody
from streamops.model.secret import Secret
from streamops.model.topics import Topic
from streamops.runtime.context import Names
from streamops.webhooks import registry
from streamops.webhooks.ingest import IngestOptions, ingest_app
from streamops.webhooks.registry import TopicRegistry
from streamops.wire.delayed import encode_body
from streamops.wire.topics import TOPICS, encode_topic
from tests.support.eventually import eventually
from tests.support.project import PROJECT
from tests.support.servers import RunningServer, StartServer
from tests.support.webhooks.ingest import MESSAGES, NOW, OPEN, REMIND, Client, intake, site

TOKEN = "a token of more than sixteen"  # noqa: S105 - a test's own
QUEUE, BODIES = "{topic:remind}:delayed", "{topic:remind}:delayed:jobs"


@pytest.fixture
async def client(server: RunningServer) -> AsyncIterator[Client]:
    async with intake(site(server, REMIND, NOW)) as client:
        yield client


async def test_a_message_waits_as_long_as_its_topic_says(client: Client, server: RunningServer) -> None:
    reply = await client("POST", MESSAGES, data=b'{"n": 1}', headers={"Content-Type": "application/json"})
    assert (reply.status, reply.document["topic"]) == (201, "remind")
    ident = reply.document["id"]
    assert reply.headers["Location"] == f"{MESSAGES}/{ident}"
    due = datetime.fromisoformat(reply.document["due_at"])
    assert timedelta(minutes=29) < due - datetime.now(UTC) <= timedelta(minutes=30)  # noqa: TID251 - a test's clock
    expected = DelayedBody("topic:remind", ((b"id", ident.encode()), (b"data", b'{"n": 1}')))
    assert server.command("HGET", BODIES, ident) == encode_body(expected)
    found = await client("GET", f"{MESSAGES}/{ident}")
    assert found.document == {
        "topic": "remind",
        "id": ident,
        "state": "waiting",
        "due_at": reply.document["due_at"],
        "attempt": 1,
        "bytes": 8,
    }
    counted = (await client("GET", MESSAGES)).document
    assert (counted["waiting"], counted["due"], counted["enabled"]) == (1, 0, True)


async def test_a_message_without_delay_is_an_entry_at_once(client: Client, server: RunningServer) -> None:
    body = bytes(range(256))
    reply = await client("POST", "/topics/now/messages/order-5", data=body)
    assert (reply.status, reply.document["due_at"]) == (201, None)
    ((_, fields),) = server.command("XRANGE", "topic:now", "-", "+")
    assert fields == [b"id", b"order-5", b"data", body, b"content_type", b"application/octet-stream"]
    assert (await client("GET", "/topics/now/messages/order-5")).status == 404


async def test_an_instant_or_another_delay_wins(client: Client, server: RunningServer) -> None:
    at = await client("POST", f"{MESSAGES}/a?at=2100-01-01T02:00:00%2B02:00", data=b"x")
    assert at.document["due_at"] == "2100-01-01T00:00:00.000Z"
    assert server.command("ZSCORE", QUEUE, "a") == b"4102444800000"
    assert (await client("POST", f"{MESSAGES}?id=b&delay=1h30m", data=b"x")).status == 201
    assert (await client("POST", f"{MESSAGES}/c?delay=5", data=b"x")).status == 201
    dues = [float(server.command("ZSCORE", QUEUE, ident)) for ident in "bc"]
    assert 5_394_000 < dues[0] - dues[1] < 5_396_000
    assert (await client("POST", f"{MESSAGES}/d?delay=0", data=b"x")).document["due_at"] is None
    past = await client("POST", f"{MESSAGES}/e?at=2020-01-01T00:00:00Z", data=b"x")
    assert past.document["due_at"] == "2020-01-01T00:00:00.000Z"


async def test_an_id_waits_once(client: Client, server: RunningServer) -> None:
    assert (await client("POST", f"{MESSAGES}/one", data=b"1")).status == 201
    reply = await client("POST", f"{MESSAGES}/one", data=b"2")
    assert (reply.status, "waits already" in reply.document["error"]) == (409, True)
    assert (await client("DELETE", f"{MESSAGES}/one")).document["cancelled"]
    assert (await client("DELETE", f"{MESSAGES}/one")).status == 404
    assert (await client("GET", f"{MESSAGES}/one")).status == 404
    assert server.command("EXISTS", QUEUE, BODIES) == 0


async def test_a_message_that_failed_is_found_by_its_own_id(client: Client, server: RunningServer) -> None:
    """Its retry waits under the ID of its entry."""
    for number in range(3):
        fields = ((b"id", b"order-%d" % number), (b"data", b"x"))
        retry = DelayedBody("{topic:remind}:retry:callbacks", fields, "callbacks", 3, "1-0")
        server.command("HSET", BODIES, f"callbacks:{number + 1}-0", encode_body(retry))
        server.command("ZADD", QUEUE, 4_102_444_800_000, f"callbacks:{number + 1}-0")
    found = await client("GET", f"{MESSAGES}/order-1")
    assert (found.document["state"], found.document["attempt"]) == ("retrying", 3)
    assert (await client("GET", f"{MESSAGES}/order-9")).status == 404
    assert (await client("DELETE", f"{MESSAGES}/order-1")).status == 200
    assert server.command("HEXISTS", BODIES, "callbacks:2-0") == 0
    assert server.command("ZCARD", QUEUE) == 2


async def test_another_programs_member_is_told_as_such(client: Client, server: RunningServer) -> None:
    server.command("ZADD", QUEUE, 4_102_444_800_000, "theirs")
    cancelled = await client("DELETE", f"{MESSAGES}/theirs")
    assert (cancelled.status, cancelled.document) == (
        409,
        {
            "error": f"queue {QUEUE}: member theirs is no delayed message of streamops",
            "hint": "Remove it with the program that wrote it.",
        },
    )
    added = await client("POST", f"{MESSAGES}/theirs", data=b"x")
    assert (added.status, added.document["error"]) == (
        409,
        "ID theirs was taken in the delayed queue of remind",
    )
    assert (await client("GET", f"{MESSAGES}/theirs")).status == 404
    assert server.command("ZCARD", QUEUE) == 1


async def test_a_message_of_another_topic_in_the_same_queue_is_not_found(server: RunningServer) -> None:
    """A context may map two streams to one queue."""
    queues = {"{t}:a": "{t}:later", "{t}:b": "{t}:later"}
    one, other = (replace(REMIND, name=name, stream=f"{{t}}:{name}") for name in "ab")
    async with intake(replace(site(server, one, other), names=Names(delayed=queues))) as client:
        assert (await client("POST", "/topics/a/messages/x", data=b"1")).status == 201
        assert (await client("GET", "/topics/b/messages/x")).status == 404
        assert (await client("DELETE", "/topics/b/messages/x")).status == 404
        assert (await client("GET", "/topics/a/messages/x")).status == 200
        again = await client("POST", "/topics/b/messages/x", data=b"2")
    assert again.document["error"] == "ID x was taken in the delayed queue of b"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/topics/none/messages", 404),
        ("GET", "/topics/none/messages/x", 404),
        ("GET", "/nothing", 404),
        ("PUT", MESSAGES, 405),
        ("DELETE", MESSAGES, 405),
        ("POST", f"{MESSAGES}?delay=soon", 400),
        ("POST", f"{MESSAGES}?delay=-5", 400),
        ("POST", f"{MESSAGES}?delay=99999999999", 400),
        ("POST", f"{MESSAGES}?at=tomorrow", 400),
        ("POST", f"{MESSAGES}?at=0001-01-01T00:00:00%2B14:00", 400),
        ("POST", f"{MESSAGES}?at=9999-12-31T23:00:00-14:00", 400),
        ("POST", f"{MESSAGES}?delay={'9' * 5000}", 400),
        ("POST", f"{MESSAGES}?at=2100-01-01T00:00:00", 400),
        ("POST", f"{MESSAGES}?at=2100-01-01T00:00:00Z&delay=1", 400),
        ("POST", f"{MESSAGES}?dealy=5", 400),
        ("POST", f"{MESSAGES}/a%20b", 400),
        ("POST", f"{MESSAGES}/{'x' * 101}", 400),
        ("POST", f"{MESSAGES}/callbacks:1-0", 400),
    ],
)
async def test_what_cannot_be_done_is_told(
    server: RunningServer, method: str, path: str, status: int
) -> None:
    async with intake(site(server, REMIND)) as client:
        reply = await client(method, path, data=b"x")
    assert (reply.status, set(reply.document)) == (status, {"error", "hint"})
    assert reply.document["error"]
    assert server.command("DBSIZE") == 0


async def test_size_and_content_are_checked(server: RunningServer) -> None:
    async with intake(site(server, REMIND)) as client:
        assert (await client("POST", MESSAGES, data=b"x" * 1001)).status == 413
        assert (await client("POST", MESSAGES, data=b"x" * 1000)).status == 201
        typed = {"Content-Type": "application/json; charset=utf-8"}
        for bad in (b"{", b"", b"\xff", b"[" * 900):
            assert (await client("POST", MESSAGES, data=bad, headers=typed)).status == 400
        assert (await client("POST", MESSAGES, data=b"[1]", headers=typed)).status == 201


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer x", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", "Bearer \u00e9"]
)
async def test_who_has_no_token_is_turned_away(server: RunningServer, header: str) -> None:
    options = IngestOptions((Secret("another token, of others"), Secret(TOKEN)))
    async with intake(site(server, REMIND), options=options) as client:
        headers = {"Authorization": header} if header else {}
        for method, path in (("POST", MESSAGES), ("GET", f"{MESSAGES}/x"), ("GET", "/nothing")):
            reply = await client(method, path, headers=headers)
            assert (reply.status, reply.headers["WWW-Authenticate"]) == (401, 'Bearer realm="streamops"')
        assert (await client("GET", "/-/healthy")).status == 200
        good = {"Authorization": f"bearer {TOKEN}"}
        assert (await client("POST", MESSAGES, headers=good, data=b"x")).status == 201
    assert server.command("ZCARD", QUEUE) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"Host": "["},
    ],
)
async def test_without_tokens_no_page_in_a_browser_gets_in(
    server: RunningServer, headers: dict[str, str]
) -> None:
    async with intake(site(server, REMIND)) as client:
        assert (await client("POST", MESSAGES, data=b"x", headers=headers)).status == 403
        assert (await client("POST", MESSAGES, data=b"x", headers={"Host": "[::1]:8787"})).status == 201


async def test_a_server_without_memory_is_told_so(start_server: StartServer) -> None:
    full = start_server("--maxmemory", "1")
    async with intake(site(full, REMIND, NOW)) as client:
        for path in (MESSAGES, "/topics/now/messages"):
            reply = await client("POST", path, data=b"x")
            assert (reply.status, reply.headers.get("Retry-After")) == (503, "30"), reply


async def test_topics_kept_in_redis_are_noticed(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "LOOK_EVERY", timedelta(milliseconds=50))
    async with intake(site(server, REMIND)) as client:
        watching = asyncio.create_task(client.registry.run())
        assert (await client("POST", "/topics/late/messages", data=b"x")).status == 404
        late = Topic(name="late", url="http://h", delay=timedelta(seconds=5))
        server.command("HSET", TOPICS, "late", encode_topic(late))
        await eventually(lambda: "late" in client.registry.listings)
        assert (await client("POST", "/topics/late/messages", data=b"x")).status == 201
        server.command("HDEL", TOPICS, "late")
        await eventually(lambda: "late" not in client.registry.listings)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_topics_that_make_no_sense_are_left_out(
    server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    kept = {
        "good": encode_topic(Topic(name="good", url="http://h")),
        "remind": encode_topic(Topic(name="remind", url="http://elsewhere")),
        "json": b"{",
        "version": b'{"v":2,"url":"http://h"}',
        "url": b'{"v":1,"url":"file:///etc/passwd"}',
        "deep": b"[" * 100_000,
        "span": b'{"v":1,"url":"http://h","delay_seconds":1e300}',
        "retry": b'{"v":1,"url":"http://h","retry":"never"}',
        "when": b'{"v":1,"url":"http://h","retry_when":"body.x > 5"}',
        "a b": b'{"v":1,"url":"http://h"}',
        "secret": b'{"v":1,"url":"http://h","secret":"hidden"}',
    }
    for name, raw in kept.items():
        server.command("HSET", TOPICS, name, raw)
    server.command("HSET", TOPICS, b"\xff", b"{}")
    async with intake(site(server, REMIND)) as client:
        await client.registry.look()
        assert set(client.registry.listings) == {"good", "remind"}
        assert client.registry.listings["remind"].topic == REMIND
    told = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert len(told) == 10
    assert "hidden" not in caplog.text


async def test_connections_are_bounded(server: RunningServer) -> None:
    async with intake(site(server, REMIND), most=2) as client:
        url = client.session._base_url
        assert url is not None
        held = [await asyncio.open_connection("127.0.0.1", url.port) for _ in range(2)]
        reader, writer = await asyncio.open_connection("127.0.0.1", url.port)
        writer.write(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
        with suppress(ConnectionError):
            async with asyncio.timeout(5):
                assert await reader.read(100) == b""
        for one in (writer, *(writer for _, writer in held)):
            one.close()


async def test_many_at_once_come_through(server: RunningServer) -> None:
    async with intake(site(server, REMIND, NOW), most=1000) as client:
        replies = await asyncio.gather(
            *(
                client("POST", f"/topics/{name}/messages", data=b"x")
                for name in ("remind", "now")
                for _ in range(200)
            )
        )
    assert {reply.status for reply in replies} == {201}
    assert server.command("ZCARD", QUEUE) == server.command("XLEN", "topic:now") == 200
    assert len({json.dumps(reply.document) for reply in replies}) == 400


async def test_the_intake_is_as_it_is_described(server: RunningServer) -> None:
    """Paths and methods of the documentation are those that there are."""
    text = (PROJECT / "docs" / "webhooks.md").read_text()
    described, path = set(), ""
    for line in text.partition("paths:\n")[2].partition("components:")[0].splitlines():
        if match := re.fullmatch(r"  (/\S+):", line):
            path = match[1]
        elif match := re.match(r"    (get|post|delete):", line):
            described.add((match[1].upper(), path))
    registry = TopicRegistry([site(server)])
    routes = ingest_app(registry, OPEN).router.routes()
    await registry.close()
    assert described == {
        (route.method, route.resource.canonical)
        for route in routes
        if route.resource is not None and route.method != "HEAD"
    }
