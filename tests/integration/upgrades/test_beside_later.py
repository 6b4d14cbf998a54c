"""Beside a later version on one server: its delayed messages wait for it, its jobs and actions are left to it, its marks do no harm."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from streamops.errors import Forbidden, StreamopsError
from streamops.model.acting import Actor
from streamops.model.delayed import DelayedBody
from streamops.model.entries import EntryId
from streamops.operations.console import Console
from streamops.operations.nack.intent import NackIntent
from streamops.operations.undo.intent import UndoIntent
from streamops.runtime import Entry, Streamops
from streamops.wire.consuming.promoting import promote_due
from streamops.wire.delayed import encode_body
from streamops.wire.server import Server
from streamops.wire.writes.audit import AUDIT
from tests.support.operations.doing import done
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer

QUEUE, BODIES, LETTERS = "{orders}:delayed", "{orders}:delayed:jobs", "{orders}:dlq"
LATER = {
    "alike": msgspec.msgpack.encode([2, "orders", "", 0, "", ["f", "v"]]),
    "other": msgspec.msgpack.encode([3, {"to": "orders", "fields": {"f": "v"}}]),
    "wide": b"\xdc\x00\x02" + msgspec.msgpack.encode(255) + b"\xc0",
}
NO_VERSION = {
    "huge": msgspec.msgpack.encode([70_000, "x"]),
    "half": msgspec.msgpack.encode([1.5, "x"]),
    "none": msgspec.msgpack.encode([]),
}


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await Console.open(server.options, actor=Actor("ann", "desk", 7)) as console:
        yield console


async def test_delayed_messages_of_a_later_version_wait_for_its_workers(server: RunningServer) -> None:
    """Neither they nor what nobody can read are moved or rescored."""
    for name, body in (
        LATER | NO_VERSION | {"ours": encode_body(DelayedBody("orders", ((b"f", b"v"),)))}
    ).items():
        server.command("ZADD", QUEUE, 5, name)
        server.command("HSET", BODIES, name, body)
    connected = await Server.connect(server.options)
    try:
        promotion = await promote_due(connected, "orders")
    finally:
        await connected.close()
    assert (promotion.moved, promotion.buried, promotion.foreign) == (1, (), len(NO_VERSION))
    ((key, error, messages),) = [(one.key, one.error, one.messages) for one in promotion.refused]
    assert (key, error, messages) == (QUEUE, "it is written in a later version of the format", len(LATER))
    kept = server.command("HGETALL", BODIES)
    assert dict(zip(kept[::2], kept[1::2], strict=True)) == {
        name.encode(): body for name, body in (LATER | NO_VERSION).items()
    }
    assert all(server.command("ZSCORE", QUEUE, name) == b"5" for name in LATER | NO_VERSION)


async def test_a_message_of_a_later_version_is_shown_with_its_version(
    server: RunningServer, console: Console
) -> None:
    for name, body in LATER.items():
        server.command("ZADD", QUEUE, 5, name)
        server.command("HSET", BODIES, name, body)
    messages = (await console.delayed.page("orders", 10)).messages
    problems = {one.id: one.problem for one in messages}
    assert problems == {
        name: f"its body cannot be read: written in version {version} of the format"
        for name, version in (("alike", 2), ("other", 3), ("wide", 255))
    }


async def test_a_job_of_a_later_version_is_neither_gone_on_with_nor_ended(
    server: RunningServer, console: Console
) -> None:
    told: dict[str, str | int] = {
        "v": 2,
        "operation": "replay",
        "target": "q",
        "state": "running",
        "intent": "{}",
        "owner": "x",
        "cursor": "",
    }
    server.command("HSET", "streamops:job:later", *[part for pair in told.items() for part in pair])
    server.command("ZADD", "streamops:jobs", 1, "later")
    before = server.command("HGETALL", "streamops:job:later")
    for ask in (console.read_job, console.prepare_rest, console.cancel_job):
        with pytest.raises(StreamopsError, match="job later: written in version 2 of the format"):
            await ask("later")
    assert server.command("HGETALL", "streamops:job:later") == before


async def test_a_job_whose_intent_says_more_is_left_to_who_began_it(
    server: RunningServer, console: Console
) -> None:
    """A condition that this version does not know would be missing: more would be acted on than was agreed to."""
    told: dict[str, str | int] = {
        "v": 1,
        "operation": "replay",
        "target": "q",
        "state": "interrupted",
        "owner": "x",
        "cursor": "",
    }
    intent = msgspec.json.encode({"queue": LETTERS, "weekdays_only": True})
    server.command(
        "HSET", "streamops:job:narrow", "intent", intent, *[part for pair in told.items() for part in pair]
    )
    with pytest.raises(Forbidden, match="was begun by another version of streamops") as refused:
        await console.prepare_rest("narrow")
    assert "streamops jobs cancel narrow" in refused.value.hint
    assert await console.cancel_job("narrow")


async def test_an_action_whose_intent_says_more_is_not_undone(
    server: RunningServer, console: Console
) -> None:
    server.command("XADD", "orders", "1-0", "n", 1)
    server.command("XGROUP", "CREATE", "orders", "g", "0")
    server.command("XREADGROUP", "GROUP", "g", "c", "STREAMS", "orders", ">")
    await done(console, NackIntent(stream="orders", group="g", ids=(EntryId(1, 0),)))
    rows = server.command("XRANGE", AUDIT, "-", "+")
    server.command("DEL", AUDIT)
    for ident, fields in rows:
        told = dict(zip(fields[::2], fields[1::2], strict=True))
        if b"intent" in told:
            told[b"intent"] = msgspec.json.encode({**msgspec.json.decode(told[b"intent"]), "only_if": "x"})
        server.command("XADD", AUDIT, ident, *[part for pair in told.items() for part in pair])
    with pytest.raises(Forbidden, match="was begun by another version of streamops"):
        await console.prepare(UndoIntent(audit_id=EntryId.parse(rows[0][0])))
    page = await console.read_actions()
    assert [action.first.operation for action in page.actions] == ["nack"]


async def test_marks_that_say_more_stop_no_worker(server: RunningServer) -> None:
    ident = server.command("XADD", "orders", "*", "n", 1)
    server.command("XGROUP", "CREATE", "orders", "g", "0")
    server.command("XREADGROUP", "GROUP", "g", "so-gone", "STREAMS", "orders", ">")
    server.command("HSET", "{orders}:attempts:g", ident, "2 by so-gone")
    app = Streamops(server.options)
    handled: list[int] = []

    @app.handler("orders", group="g", key="n")
    async def handle(_: dict[str, str], entry: Entry) -> None:
        handled.append(entry.attempt)

    async with working(app):
        await until(lambda: is_idle(server, "orders"))
    assert handled == [2]
    assert not server.command("EXISTS", "{orders}:attempts:g")
