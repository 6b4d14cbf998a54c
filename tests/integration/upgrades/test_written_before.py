"""What earlier versions left in Redis is read rightly by this one: recorded bytes, a console, a worker.

The first version with a runtime is ``459199b``, the first with pools and a controller ``cb47a91``; both were stopped
in the middle of their work.
"""

from collections.abc import AsyncIterator

import msgspec
import pytest

from streamops.autoscaling.policy.state import ScalingState
from streamops.errors import Forbidden
from streamops.model.acting import Actor, Confirmation, JobState, Limits
from streamops.model.entries import EntryId
from streamops.model.pools import PoolMode, WorkerState
from streamops.operations.console import Console
from streamops.operations.delayed.intent import RunDelayedIntent
from streamops.operations.undo.intent import UndoIntent
from streamops.runtime import Entry, Streamops
from streamops.wire.keys import learned_key
from tests.support.operations.doing import done
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer
from tests.support.upgrades.written_before import VERSIONS, restore

WITH_POOLS = "cb47a91"


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Each of the versions whose keys were written down."""
    written: str = request.param
    return written


@pytest.fixture
async def console(server: RunningServer, version: str) -> AsyncIterator[Console]:
    restore(server, version)
    async with await Console.open(server.options, actor=Actor("ann", "desk", 7)) as console:
        yield console


async def test_what_was_done_is_told_and_taken_back(server: RunningServer, console: Console) -> None:
    page = await console.read_actions()
    actions = {action.first.operation: action for action in page.actions}
    assert {"claim", "ack", "groups.create", "groups.rewind", "publish", "topics.add", "replay"} <= set(
        actions
    )
    claim = actions["claim"]
    assert (claim.first.reason, claim.first.actor.context) == ("ann is gone", "shop")
    assert claim.first.plan is not None
    assert claim.last is not None
    assert claim.last.outcome is not None
    assert (claim.first.plan.count, claim.last.outcome.applied) == (3, 3)

    assert {row[1] for row in rows(server)} == {b"ann", b"bob"}
    assert len(rows(server)) == 18
    for name, count in (("claim", 3), ("groups.rewind", 30)):
        outcome = await done(console, UndoIntent(audit_id=EntryId.parse(actions[name].first.id)))
        assert (outcome.applied, outcome.skipped_count) == (count, 0), name
    assert {row[1] for row in rows(server)} == {b"ann"}
    with pytest.raises(Forbidden, match="cannot be undone"):
        await console.prepare(UndoIntent(audit_id=EntryId.parse(actions["ack"].first.id)))
    assert len(rows(server)) == 18
    assert position(server, "late") == b"0-0"


async def test_a_job_that_was_killed_goes_on(server: RunningServer, console: Console) -> None:
    (job,) = await console.read_jobs()
    assert (job.operation, job.target, job.state) == ("replay", "{tasks}:dlq", JobState.RUNNING)
    left = server.command("XLEN", "{tasks}:dlq")
    assert 0 < left < 12
    # Its owner is dead, and the recorded clock may be ahead of this one.
    server.command("HSET", f"streamops:job:{job.id}", "lease_ms", 1)
    prepared = await console.prepare_rest(job.id, Limits(rate=10_000))
    outcome = await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))
    assert (outcome.applied, outcome.complete) == (left, True)
    assert server.command("XLEN", "{tasks}:dlq") == 0
    numbers = [
        dict(zip(f[::2], f[1::2], strict=True))[b"n"]
        for _, f in server.command("XRANGE", "{tasks}:retry:crew", "-", "+")
    ]
    assert sorted(map(int, numbers)) == list(range(12))
    assert (await console.read_job(job.id)).state is JobState.DONE


async def test_workers_letters_messages_and_topics_are_shown(console: Console) -> None:
    crowd = await console.workers.with_pools()
    assert {worker.pool for worker in crowd.workers} == {"shop"}
    assert {worker.state for worker in crowd.workers} == {WorkerState.RUNNING}
    assert {consumer[:2] for worker in crowd.workers for consumer in worker.consumers} == {
        ("orders", "billing")
    }

    (letter,) = (await console.dead_letters.newest("{orders}:dlq")).letters
    assert (letter.origin, letter.group, letter.reason) == ("orders", "billing", "rejected")
    assert (letter.error, dict(letter.fields)) == ("no such customer", {b"do": b"reject", b"order": b"3"})

    messages = (await console.delayed.page("orders", 10)).messages
    told = [(one.body.destination, one.body.group, one.body.attempt) for one in messages if one.body]
    assert sorted(told) == [("orders", "", 0), ("{orders}:retry:billing", "billing", 2)]

    (topic,) = await console.topics.kept()
    assert topic.topic is not None
    assert (topic.topic.name, topic.topic.url, topic.topic.retry.text) == (
        "mail", "http://127.0.0.1:1/hook", "1m, 5m",
    )  # fmt: skip


async def test_a_worker_of_today_ends_what_was_begun(server: RunningServer, console: Console) -> None:
    """Pending under dead names, marked, waiting, with a payload, and under the guard: each is done once."""
    for key in server.command("KEYS", "streamops:worker:*"):
        # Whoever beat there is dead.
        server.command("DEL", key)
    before = marks(server)
    app = Streamops(server.options)
    handled: list[tuple[bytes, int, bytes | None]] = []

    @app.handler("orders", group="billing", key="order")
    async def bill(_: dict[str, str], entry: Entry) -> None:
        handled.append((entry.get("order") or b"", entry.attempt, entry.payload))

    waiting = server.command("ZRANGE", "{orders}:delayed", 0, -1)
    outcome = await done(
        console, RunDelayedIntent(stream="orders", ids=tuple(one.decode() for one in waiting))
    )
    assert outcome.applied == len(waiting) == 2
    # A second event about what was done by the earlier version.
    server.command("XADD", "orders", "*", "do", "ok", "order", 1)
    async with working(app):
        await until(lambda: is_idle(server, "orders", "billing"))
    by_order = {order: (attempt, payload) for order, attempt, payload in handled}
    assert sorted(by_order) == [b"2", b"4", b"5", b"6"] == sorted(order for order, _, _ in handled)
    assert by_order[b"2"][0] == 2
    # Started once without a mark, then once with each.
    assert by_order[b"4"][0] == 2 + max(before.values())
    assert by_order[b"5"][1] == b"a scan"


async def test_pools_and_what_was_learned(server: RunningServer, console: Console, version: str) -> None:
    if version != WITH_POOLS:
        assert not await console.pools.all()
        return
    shop, night = (await console.pools.all(["night"]))[::-1]
    assert (night.name, night.mode, shop.name) == ("night", PoolMode.PAUSED, "shop")
    assert (shop.steering.override, shop.steering.reason) == (2, "the sale")
    assert shop.last is not None
    assert shop.last.ready >= 0
    assert [one.target for one in await console.pools.decisions("shop")]
    learned = server.command("GET", learned_key("shop"))
    assert isinstance(msgspec.msgpack.decode(learned, type=ScalingState), ScalingState)


def rows(server: RunningServer) -> list[list[bytes]]:
    found: list[list[bytes]] = server.command("XPENDING", "tasks", "crew", "-", "+", 100)
    return found


def position(server: RunningServer, group: str) -> bytes:
    for row in server.command("XINFO", "GROUPS", "tasks"):
        told = dict(zip(row[::2], row[1::2], strict=True))
        if told[b"name"] == group.encode():
            found: bytes = told[b"last-delivered-id"]
            return found
    raise AssertionError(group)


def marks(server: RunningServer) -> dict[bytes, int]:
    flat = server.command("HGETALL", "{orders}:attempts:billing")
    return {field: int(value) for field, value in zip(flat[::2], flat[1::2], strict=True)}
