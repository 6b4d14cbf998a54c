"""The caller against real servers, good ones and hostile ones."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from streamops.model.secret import Secret
from streamops.model.topics import Topic
from streamops.webhooks.calling import Caller, CallerOptions, CallError
from streamops.webhooks.messages import WebhookMessage, message_of
from streamops.webhooks.reach import Reach
from streamops.webhooks.signing import SIGNATURE, verify
from tests.support.eventually import eventually
from tests.support.servers import choose_port
from tests.support.webhooks.entries import InventedEntry
from tests.support.webhooks.receiver import DRIP, Receiver, running_raw, running_receiver

LOOPBACK = Reach(["127.0.0.1", "localhost"])
KEY = Secret("a secret of more than sixteen")
MESSAGE = WebhookMessage("m-1", "1700000000000-0", 2, b'{"n":1}', "application/json")
NOW = 1_700_000_000


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    async with Caller(LOOPBACK, CallerOptions(most_answer=100_000), clock=lambda: NOW) as caller:
        yield caller


async def refused(caller: Caller, topic: Topic) -> CallError:
    with pytest.raises(CallError) as told:
        await caller.call(topic, MESSAGE)
    assert topic.url not in told.value.reason
    return told.value


async def test_a_call_carries_the_message_and_says_whose_it_is(receiver: Receiver, caller: Caller) -> None:
    topic = receiver.topic(secret=KEY, headers=(("Authorization", "Bearer x"),), method="PUT")
    answer = await caller.call(topic, MESSAGE)
    assert (answer.status, answer.body, answer.whole) == (200, b'{"code": 200}', True)
    (seen,) = receiver.seen
    assert (seen.method, seen.body) == ("PUT", MESSAGE.body)
    expected = {
        "Content-Type": "application/json",
        "X-Streamops-Id": "m-1",
        "X-Streamops-Topic": "remind",
        "X-Streamops-Attempt": "2",
        "Idempotency-Key": "1700000000000-0",
        "Authorization": "Bearer x",
        "Accept-Encoding": "identity",
    }
    assert {name: seen.headers[name] for name in expected} == expected
    assert verify(KEY, seen.headers[SIGNATURE], seen.body, now=NOW)
    assert not verify(KEY, seen.headers[SIGNATURE], seen.body + b" ", now=NOW)
    assert not verify(Secret("another one, of others"), seen.headers[SIGNATURE], seen.body, now=NOW)
    assert not verify(KEY, seen.headers[SIGNATURE], seen.body, now=NOW + 301)


async def test_a_signature_is_of_the_url_that_is_called(receiver: Receiver, caller: Caller) -> None:
    receiver.headers["to"] = "/answer?a=%7e b#c"
    await caller.call(receiver.topic("/redirect/307", secret=KEY), MESSAGE)
    for seen, path in zip(receiver.seen, ("/redirect/307", "/answer?a=~+b"), strict=True):
        url = receiver.url + path
        assert verify(
            KEY,
            seen.headers[SIGNATURE],
            seen.body,
            now=NOW,
            url=url,
            topic=seen.headers["X-Streamops-Topic"],
            key=seen.headers["Idempotency-Key"],
            ident=seen.headers["X-Streamops-Id"],
            require="v2",
        )


async def test_connections_are_used_again(receiver: Receiver, caller: Caller) -> None:
    for _ in range(5):
        await caller.call(receiver.topic(), MESSAGE)
    assert len(receiver.peers) == 1


async def test_a_body_may_be_any_bytes(receiver: Receiver, caller: Caller) -> None:
    body = bytes(range(256)) * 100
    entry = InventedEntry(((b"data", body), (b"content_type", b"application/octet-stream")))
    await caller.call(receiver.topic(), message_of(entry, receiver.topic()))
    (seen,) = receiver.seen
    assert (seen.body, seen.headers["Content-Type"]) == (body, "application/octet-stream")
    assert seen.headers["X-Streamops-Id"] == entry.origin_id


async def test_a_huge_answer_is_not_read_to_its_end(receiver: Receiver, caller: Caller) -> None:
    answer = await caller.call(receiver.topic("/huge"), MESSAGE)
    assert (len(answer.body), answer.whole) == (100_000, False)
    assert (await caller.call(receiver.topic(), MESSAGE)).whole


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirection_within_a_host_is_followed(
    receiver: Receiver, caller: Caller, status: int
) -> None:
    receiver.headers["to"] = "/answer"
    answer = await caller.call(receiver.topic(f"/redirect/{status}"), MESSAGE)
    assert (answer.status, [seen.body for seen in receiver.seen]) == (200, [MESSAGE.body] * 2)


@pytest.mark.parametrize("status", [301, 302, 303])
async def test_a_redirection_to_another_call_is_not_followed(
    receiver: Receiver, caller: Caller, status: int
) -> None:
    receiver.headers["to"] = "/answer"
    assert (await caller.call(receiver.topic(f"/redirect/{status}"), MESSAGE)).status == status
    assert len(receiver.seen) == 1


async def test_a_redirection_to_another_host_is_not_followed(receiver: Receiver, caller: Caller) -> None:
    async with running_receiver() as other:
        for target in (
            other.url,
            receiver.url.replace("http:", "https:"),
            "//169.254.169.254/latest",
            "file:///etc",
        ):
            receiver.headers["to"] = target
            assert (await caller.call(receiver.topic("/redirect/307"), MESSAGE)).status == 307
        assert not other.seen


async def test_a_circle_of_redirections_ends(receiver: Receiver, caller: Caller) -> None:
    receiver.headers["to"] = "/redirect/307"
    assert (await caller.call(receiver.topic("/redirect/307"), MESSAGE)).status == 307
    assert len(receiver.seen) == 3


async def test_whoever_drips_is_given_up(caller: Caller) -> None:
    async with running_raw(DRIP, drip=0.01) as url:
        topic = Topic(name="slow", url=url, time_to_run=timedelta(milliseconds=200))
        error = await refused(caller, topic)
    assert (error.troubled, "no whole answer within 0.2 s" in error.reason) == (True, True)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", "closed the connection without an answer"),
        (b"SSH-2.0-OpenSSH_9\r\n", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "broke off"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 100_000 + b"\r\n\r\n", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "no HTTP"),
    ],
)
async def test_an_answer_that_is_no_http_counts_as_trouble(
    caller: Caller, answer: bytes, reason: str
) -> None:
    async with running_raw(answer) as url:
        error = await refused(caller, Topic(name="odd", url=f"{url}?token=hidden"))
    assert (error.troubled, reason in error.reason) == (True, True), error.reason


async def test_a_reset_connection(receiver: Receiver, caller: Caller) -> None:
    assert (await refused(caller, receiver.topic("/reset"))).troubled


async def test_a_receiver_that_nobody_listens_for_counts_as_trouble(caller: Caller) -> None:
    error = await refused(caller, Topic(name="none", url=f"http://127.0.0.1:{choose_port()}/"))
    assert (error.troubled, "cannot connect" in error.reason) == (True, True)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://127.1/",
        "http://0x7f000001/",
        "http://[::1]/",
        "http://0/",
    ],
)
async def test_this_machine_is_not_called_unless_listed(url: str) -> None:
    """Neither by address nor by whatever a name resolves to."""
    async with Caller(Reach()) as caller:
        error = await refused(caller, Topic(name="self", url=url))
    assert not error.troubled
    assert "this machine itself" in error.reason or "cannot be called by that name" in error.reason


@pytest.mark.parametrize(
    "host", ["\u2460\u2461\u2466.0.0.1", "\uff11\uff12\uff17.0.0.1", "127\u3002\u0030\u3002\u0030\u30021"]
)
async def test_an_address_in_other_digits_is_the_address(receiver: Receiver, host: str) -> None:
    """It is judged as it will be called, whatever letters it is written in."""
    url = receiver.url.replace("127.0.0.1", host)
    async with Caller(Reach()) as caller:
        error = await refused(caller, Topic(name="self", url=url))
    assert (error.troubled, receiver.seen) == (False, [])
    assert "this machine itself" in error.reason


async def test_the_address_that_was_judged_is_the_one_that_is_connected_to(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that leads elsewhere the next time gains nothing: it is looked up once for each connection."""
    asked = []

    async def resolve(_: object, host: str, port: int, family: int) -> list[dict[str, object]]:
        asked.append(host)
        address = "127.0.0.1" if len(asked) == 1 else "127.0.0.2"
        return [{"hostname": host, "host": address, "port": port, "family": family, "proto": 0, "flags": 0}]

    monkeypatch.setattr("aiohttp.ThreadedResolver.resolve", resolve)
    topic = Topic(name="rebound", url=receiver.url.replace("127.0.0.1", "rebound.example.net"))
    async with Caller(Reach(["127.0.0.1"], deny_private=True)) as caller:
        assert (await caller.call(topic, MESSAGE)).status == 200
    assert (len(asked), len(receiver.seen)) == (1, 1)
    async with Caller(Reach(["127.0.0.1"], deny_private=True)) as caller:
        error = await refused(caller, topic)
    assert "is not among the hosts that may be called" in error.reason
    assert (len(asked), len(receiver.seen)) == (2, 1)


async def test_private_networks_are_not_called_where_they_are_denied(receiver: Receiver) -> None:
    listed = receiver.topic()
    async with Caller(Reach(["localhost"], deny_private=True)) as caller:
        error = await refused(caller, Topic(name="n", url=receiver.url.replace("127.0.0.1", "localhost")))
    assert "this machine itself" in error.reason
    async with Caller(Reach(["127.0.0.1"], deny_private=True)) as caller:
        assert (await caller.call(listed, MESSAGE)).status == 200


async def test_a_call_that_is_cancelled_leaves_nothing(receiver: Receiver, caller: Caller) -> None:
    task = asyncio.create_task(caller.call(receiver.topic("/wait"), MESSAGE))
    await eventually(lambda: bool(receiver.at_once))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_an_entry_of_another_producer_is_sent_as_json() -> None:
    fields = ((b"kind", b"paid"), (b"raw", b"\xff"), (b"kind", b"later"), (b"_so_attempt", b"2"))
    message = message_of(InventedEntry(fields), Topic(name="t", url="http://h", content_type="text/plain"))
    assert message.body == b'{"kind":"later","raw":{"base64":"/w=="}}'
    assert message.content_type == "application/json"


def test_names_that_no_header_can_have_are_not_sent() -> None:
    fields = ((b"id", b"a\r\nX-Evil: 1"), (b"data", b"x"), (b"content_type", b"a\nb"))
    message = message_of(InventedEntry(fields), Topic(name="t", url="http://h"))
    assert (message.id, message.content_type) == ("1700000000000-0", "application/json")


def test_a_payload_beside_the_stream_is_the_body() -> None:
    entry = InventedEntry(((b"id", b"m"),), payload=b"large")
    assert message_of(entry, Topic(name="t", url="http://h")).body == b"large"
