"""A Redis that was lost is refilled from the log that serving webhooks wrote."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog

from streamops.errors import Forbidden, SettingsError
from streamops.model.acting import Confirmation, Outcome, Plan
from streamops.model.topics import Topic
from streamops.operations.console import Console
from streamops.operations.recover.intent import RecoverIntent
from streamops.webhooks.request_log import RequestLog
from streamops.wire.delayed import decode_body
from tests.support.eventually import eventually
from tests.support.operations.engine.examples import WORKSHOP
from tests.support.servers import RunningServer
from tests.support.webhooks.receiver import running_receiver
from tests.support.webhooks.service import SOON
from tests.support.webhooks.serving import serving, site

OCTETS = b"application/octet-stream"
QUEUE, ENTRIES = "{topic:later}:delayed", "topic:remind"


@contextmanager
def logged(path: Path) -> Iterator[None]:
    """What is logged meanwhile goes to a file, as ``--log-format json`` writes it."""
    lines = io.StringIO()
    structlog.configure(
        processors=[
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.WriteLoggerFactory(lines),
    )
    try:
        yield
    finally:
        structlog.reset_defaults()
        path.write_text(lines.getvalue())


async def recover(server: RunningServer, path: Path, **options: Any) -> tuple[Plan, Outcome]:
    """What is planned, and what is done."""
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        prepared = await console.prepare(RecoverIntent(file=str(path), **options))
        return prepared.plan, await console.apply(prepared, Confirmation(yes=True))


async def test_c10_what_a_lost_redis_held_and_nobody_delivered_is_added_once(
    server: RunningServer, tmp_path: Path
) -> None:
    log = tmp_path / "webhooks.log"
    async with running_receiver() as receiver:
        later = Topic(name="later", url="http://h", delay=timedelta(hours=1))
        failing = receiver.topic("/reset", name="failing", retry=SOON, max_attempts=2)
        remind = receiver.topic()
        place = site(server, remind, later, failing)
        with logged(log):
            async with serving(place, log=RequestLog(bodies=100)) as served:
                delivered = await served.post("remind/messages/done", b'{"n": 1}')
                for ident, body in (("a", b"\x00\xff"), ("b", "é".encode()), ("long", b"x" * 101)):
                    await served.post(f"later/messages/{ident}", body)
                due = (await served.post("later/messages/cancelled"))["due_at"]
                async with served.session.delete("/topics/later/messages/cancelled") as response:
                    assert response.status == 200
                await served.post("failing/messages/given-up")
                await eventually(lambda: len(receiver.seen) >= 3)
                await eventually(lambda: bool(server.command("XLEN", "{topic:failing}:dlq")))
            assert delivered["id"] == "done"
            # A message at once, which nothing calls any more.
            async with serving(place, calls=0, log=RequestLog(bodies=100)) as served:
                await served.post("remind/messages/never-called", b'{"n": 2}')
        server.command("FLUSHALL")
        plan, outcome = await recover(server, log)
        assert (plan.count, outcome.applied) == (3, 3)
        assert plan.effects[0] == (
            "Of 7 messages accepted, 1 were delivered, 2 given up or cancelled, and 0 are still in Redis."
        )
        assert "1 message cannot be added" in plan.warnings[0]
        assert sorted(server.command("ZRANGE", QUEUE, 0, -1)) == [b"a", b"b"]
        score = datetime.fromtimestamp(float(server.command("ZSCORE", QUEUE, "a")) / 1000, UTC)
        assert abs(score - datetime.fromisoformat(due)) < timedelta(seconds=30)
        again, _ = await recover(server, log)
        assert (again.count, "3 are still in Redis" in again.effects[0]) == (0, True)
        seen = len(receiver.seen)
        with logged(tmp_path / "next.log"):
            async with serving(place, log=RequestLog(bodies=100)):
                await eventually(lambda: len(receiver.seen) > seen)
                await eventually(lambda: server.command("XPENDING", ENTRIES, "callbacks")[0] == 0)
        (call,) = receiver.seen[seen:]
        assert (call.headers["X-Streamops-Id"], call.body) == ("never-called", b'{"n": 2}')
        # Called since, and the log of that is lost too: its entry is still there.
        assert (await recover(server, log))[0].count == 0
    for ident, body in (("a", b"\x00\xff"), ("b", "é".encode())):
        stored = decode_body(server.command("HGET", f"{QUEUE}:jobs", ident))
        assert stored.fields == ((b"id", ident.encode()), (b"data", body), (b"content_type", OCTETS))


def line(**facts: object) -> str:
    """A line of acceptance."""
    known = {"event": "message accepted", "topic": "later", "stream": "topic:later", "group": "callbacks"}
    moment = {"timestamp": "2026-03-01T14:00:00Z", "due_at": "2100-01-01T00:00:00Z", "body": "x"}
    return json.dumps({**known, **moment, **facts}) + "\n"


async def test_only_the_lost_context_is_refilled_and_only_since_when_it_is_said(
    server: RunningServer, tmp_path: Path
) -> None:
    log = tmp_path / "webhooks.log"
    log.write_text(
        line(id="eu", context="eu")
        + line(id="us", context="us")
        + line(id="old", context="us", timestamp="2026-01-01T00:00:00Z")
        + '{"event": "message acc'
    )
    with pytest.raises(Forbidden, match="several contexts: eu, us"):
        await recover(server, log)
    since = datetime(2026, 2, 1, tzinfo=UTC)
    plan, _ = await recover(server, log, lost="us", since=since)
    assert plan.count == 1
    assert "1 line is no JSON" in plan.warnings[0]
    assert server.command("ZRANGE", QUEUE, 0, -1) == [b"us"]


async def test_a_result_counts_wherever_it_stands_in_the_log(server: RunningServer, tmp_path: Path) -> None:
    """Several processes write one log: a result may stand before what it is a result of."""
    log = tmp_path / "webhooks.log"
    called = '{"event": "message called", "topic": "later", "id": "m", "outcome": "accepted"}\n'
    failed = '{"event": "message called", "topic": "later", "id": "n", "outcome": "failed"}\n'
    log.write_text(called + line(id="m") + line(id="n") + failed)
    plan, _ = await recover(server, log)
    assert plan.count == 1
    assert server.command("ZRANGE", QUEUE, 0, -1) == [b"n"]


async def test_a_message_that_waits_for_its_next_call_is_held(server: RunningServer, tmp_path: Path) -> None:
    log = tmp_path / "webhooks.log"
    async with running_receiver() as receiver:
        topic = receiver.topic("/answer", name="later", max_attempts=5)
        receiver.status = 500
        with logged(log):
            async with serving(site(server, topic), log=RequestLog(bodies=100)) as served:
                await served.post("later/messages/m")
                await eventually(lambda: server.command("ZCARD", QUEUE) == 1)
        # Its entry is gone: only the retry is left.
        server.command("DEL", "topic:later")
        assert (await recover(server, log))[0].count == 0


@pytest.mark.parametrize("content", [None, "", "2026 text topic=remind\n"])
async def test_a_log_that_is_none_is_refused(
    server: RunningServer, tmp_path: Path, content: str | None
) -> None:
    log = tmp_path / "webhooks.log"
    if content is not None:
        log.write_text(content)
    with pytest.raises(SettingsError, match=r"webhooks\.log"):
        await recover(server, log)
