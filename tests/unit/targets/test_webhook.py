"""Webhooks as targets, against real servers, good ones and bad ones."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import msgspec
import pytest
import trustme
from aiohttp import web

from streamops.analysis.signing import SIGNATURE, verify
from streamops.errors import ExitCode, TargetChanged, TargetError
from streamops.model.pools import PoolSize
from streamops.model.secret import Secret
from streamops.targets.specs import WebhookSpec
from streamops.targets.telling import MOST_BYTES
from streamops.targets.webhook import WebhookTarget
from tests.support.servers import choose_port
from tests.support.targets.scale_api import serving
from tests.support.targets.webhook import KEY, PLANTED, Pool

THREE = PoolSize(ordered=3)
NOW = 1_700_000_000


@pytest.fixture
async def pool() -> AsyncIterator[Pool]:
    pool = Pool()
    async with serving(pool.handle) as pool.url:
        yield pool


@pytest.fixture
async def target(pool: Pool) -> AsyncIterator[WebhookTarget]:
    target = WebhookTarget("billing", pool.spec(), clock=lambda: NOW)
    yield target
    await target.close()


async def resize(target: WebhookTarget, workers: int, key: str = "k-1", expected: PoolSize = THREE) -> None:
    await target.resize(workers, expected, reason="12 s wait", key=key)


async def failing(target: WebhookTarget, workers: int | None = None) -> TargetError:
    with pytest.raises(TargetError) as told:
        await (target.read() if workers is None else resize(target, workers))
    error = told.value
    assert "\n" not in error.message + error.hint
    assert error.hint
    assert PLANTED not in error.message + error.hint
    return error


def called(pool: Pool) -> str:
    return pool.spec().url.reveal()


async def test_a_read_is_a_signed_get_that_tells_ordered_and_ready_workers(
    pool: Pool, target: WebhookTarget
) -> None:
    assert await target.read() == PoolSize(ordered=3, ready=1)
    assert (target.kind, target.label) == ("webhook", f"webhook {pool.url}")
    ((method, headers, body),) = pool.seen
    assert (method, body) == ("GET", b"")
    assert verify(KEY, headers[SIGNATURE], b"", now=NOW, url=called(pool), topic="billing", require="v2")
    assert "Idempotency-Key" not in headers


async def test_what_is_posted_says_what_was_decided(pool: Pool, target: WebhookTarget) -> None:
    await resize(target, 5)
    assert pool.workers == 5
    method, headers, body = pool.seen[-1]
    assert method == "POST"
    assert msgspec.json.decode(body) == {
        "pool": "billing",
        "current": 3,
        "desired": 5,
        "reason": "12 s wait",
        "decided_at": "2023-11-14T22:13:20.000Z",
    }
    assert (headers["Idempotency-Key"], headers["Content-Type"]) == ("k-1", "application/json")
    signed = partial(verify, KEY, headers[SIGNATURE], body, now=NOW, url=called(pool), topic="billing")
    assert signed(key="k-1", require="v2")
    assert not signed(key="k-2")


async def test_a_reason_may_name_a_stream_that_is_no_text(pool: Pool, target: WebhookTarget) -> None:
    await target.resize(5, THREE, reason="stream \udcff: 12 s wait", key="k-1")
    assert msgspec.json.decode(pool.seen[-1][2])["reason"] == "stream \\xff: 12 s wait"


async def test_one_decision_has_one_body_however_often_it_is_sent(pool: Pool) -> None:
    times = iter(range(NOW, NOW + 1000))
    target = WebhookTarget("billing", pool.spec(), clock=lambda: next(times))
    for key in ("k-1", "k-1", "k-2"):
        pool.faults["POST"] = [web.Response(status=503)]
        with pytest.raises(TargetError):
            await resize(target, 5, key)
    bodies = [body for method, _, body in pool.seen if method == "POST"]
    assert bodies[0] == bodies[1] != bodies[2]
    await target.close()


async def test_without_a_secret_nothing_is_signed_and_headers_are_sent(pool: Pool) -> None:
    headers = {"Authorization": Secret(f"Bearer {PLANTED}")}
    target = WebhookTarget("billing", pool.spec(secret=None, headers=headers))
    await resize(target, 5)
    for _, seen, _ in pool.seen:
        assert SIGNATURE not in seen
        assert seen["Authorization"] == f"Bearer {PLANTED}"
    await target.close()


async def test_another_number_is_never_overwritten(pool: Pool, target: WebhookTarget) -> None:
    pool.workers = 4
    error = await failing(target, 5)
    assert isinstance(error, TargetChanged)
    assert error.exit_code is ExitCode.DRIFTED
    assert [method for method, _, _ in pool.seen] == ["GET"]


async def test_an_entity_tag_comes_back_as_a_precondition(pool: Pool, target: WebhookTarget) -> None:
    pool.etag = '"v1"'
    assert (await target.read()).version == '"v1"'
    await resize(target, 5)
    assert pool.seen[-1][1]["If-Match"] == '"v1"'
    pool.etag = 'W/"weak"'
    assert (await target.read()).version == ""


@pytest.mark.parametrize("status", [409, 412])
async def test_a_receivers_own_precondition(status: int, pool: Pool, target: WebhookTarget) -> None:
    pool.faults["POST"] = [web.json_response({"error": f"now 4, {PLANTED}"}, status=status)]
    error = await failing(target, 5)
    assert isinstance(error, TargetChanged)
    assert error.message.endswith(f"status {status}: now 4, ***")


@pytest.mark.parametrize(
    ("answer", "says", "retryable", "pause"),
    [
        (web.Response(status=429, headers={"Retry-After": "9"}), "is in trouble", True, 9),
        (web.Response(status=503, headers={"Retry-After": "99999999"}), "is in trouble", True, 3600),
        (web.Response(status=503, headers={"Retry-After": "Wed, 21 Oct 2026"}), "is in trouble", True, None),
        (web.Response(status=500, body=b"\xff" * 100_000), "is in trouble: status 500", True, None),
        (web.Response(status=401), "refuses us", False, None),
        (web.Response(status=403), "refuses us", False, None),
        (web.Response(status=404), "refuses: status 404", False, None),
        (web.json_response({"error": "quota: 4\nmore"}, status=422), "status 422: more", False, None),
        (web.json_response({"error": 3}, status=422), "refuses: status 422", False, None),
    ],
    ids=lambda value: str(getattr(value, "status", value)),
)
async def test_a_refused_resize_tells_why_and_whether_to_try_again(
    pool: Pool, target: WebhookTarget, *, answer: web.Response, says: str, retryable: bool, pause: int | None
) -> None:
    pool.faults["POST"] = [answer]
    error = await failing(target, 5)
    assert says in error.message
    assert error.retryable is retryable
    assert error.retry_after == (None if pause is None else timedelta(seconds=pause))
    assert [method for method, _, _ in pool.seen] == ["GET", "POST"]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirections_are_not_followed(status: int, pool: Pool, target: WebhookTarget) -> None:
    for method in ("GET", "POST"):
        pool.faults[method] = [web.Response(status=status, headers={"Location": f"{pool.url}/elsewhere"})]
        error = await failing(target, None if method == "GET" else 5)
        assert "redirects to elsewhere" in error.message
    assert len(pool.seen) == 3


@pytest.mark.parametrize(
    "body", [b"", b"three", b"-1", b"<html>", b'{"ready": 3}', b"\xff", b" " * 2 * MOST_BYTES + b"3"]
)
async def test_a_webhook_that_answers_no_number_of_workers_is_an_error(
    body: bytes, pool: Pool, target: WebhookTarget
) -> None:
    pool.faults["GET"] = [web.Response(body=body)]
    assert "answered neither a number of workers" in (await failing(target)).message


async def test_an_answer_other_than_what_was_asked_for_is_reported(pool: Pool, target: WebhookTarget) -> None:
    pool.answer = {"ordered": 4}
    assert "asked for 5 workers, agreed, and says that 4" in (await failing(target, 5)).message
    pool.answer = {"accepted": True}
    await resize(target, 6, expected=PoolSize(ordered=5))


async def test_webhook_that_does_not_answer_is_told(pool: Pool) -> None:
    target = WebhookTarget("billing", pool.spec(timeout=timedelta(seconds=0.2)))
    pool.faults = {"GET": [30.0]}
    error = await failing(target)
    assert error.message.endswith("no whole answer within 0.2 s")
    assert error.retryable
    await target.close()


async def test_webhook_that_does_not_answer_an_order_says_that_it_may_be_done(pool: Pool) -> None:
    pool.faults = {"POST": [30.0]}
    target = WebhookTarget("billing", pool.spec(timeout=timedelta(seconds=1)))
    assert "whether it was done is not known" in (await failing(target, 5)).message
    await target.close()


async def test_an_unreachable_webhook_hides_its_address() -> None:
    url = Secret(f"http://127.0.0.1:{choose_port()}/{PLANTED}")
    target = WebhookTarget("billing", WebhookSpec(url=url))
    assert "cannot connect: " in (await failing(target)).message
    await target.close()


async def test_a_connection_that_breaks_off() -> None:
    async def reset(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n3")
        writer.close()

    server = await asyncio.start_server(reset, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    target = WebhookTarget("billing", WebhookSpec(url=Secret(f"http://127.0.0.1:{port}/")))
    assert (await failing(target)).retryable
    await target.close()
    server.close()
    await server.wait_closed()


async def test_certificates_are_checked(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    pool = Pool()
    async with serving(pool.handle, context) as pool.url:
        trusting = WebhookTarget("billing", pool.spec(ca=str(tmp_path / "ca.pem")))
        assert (await trusting.read()).ordered == 3
        await trusting.close()
        doubting = WebhookTarget("billing", pool.spec())
        assert "its certificate is not trusted" in (await failing(doubting)).message
        await doubting.close()
    assert len(pool.seen) == 1


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_an_authority_that_cannot_be_read(content: str | None, pool: Pool, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_text(content)
    target = WebhookTarget("billing", pool.spec(ca=str(tmp_path / "ca.pem")))
    error = await failing(target)
    assert f"cannot read {tmp_path}/ca.pem: " in error.message
    assert error.hint == "Correct `ca` of the pool."
