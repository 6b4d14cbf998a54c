"""A sorted set of another program, mapped as a delayed queue: no operation removes or moves its members."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import Struct

from streamops.model.acting import Actor, Confirmation
from streamops.model.delayed import DelayedBody
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.operations.delayed.intent import CancelDelayedIntent, RunDelayedIntent
from streamops.wire.delayed import encode_body
from tests.support.operations.doing import done
from tests.support.servers import RunningServer

QUEUE, BODIES = "orders:retry", "orders:retry:jobs"
SET = [b'{"order": 1}', b"17.25", b'{"order": 2}', b"99999999999999"]


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    watch = Watch(delayed={"orders": QUEUE})
    async with await Console.open(server.options, watch, actor=Actor("ann", "here", 1)) as console:
        yield console


def add_foreign_members_and_a_message(server: RunningServer) -> None:
    """Two members without bodies, a member and a body that are no messages, and one message."""
    server.command("ZADD", QUEUE, SET[1], SET[0], SET[3], SET[2])
    server.command("ZADD", QUEUE, 18, "job", 19, "ours")
    server.command("HSET", BODIES, "job", '{"order": 3}', "stray", '{"order": 4}')
    server.command("HSET", BODIES, "ours", encode_body(DelayedBody("orders", ((b"n", b"1"),))))


def left(server: RunningServer) -> tuple[list[bytes], dict[bytes, bytes]]:
    bodies = server.command("HGETALL", BODIES)
    return (
        server.command("ZRANGE", QUEUE, 0, -1, "WITHSCORES"),
        dict(zip(bodies[::2], bodies[1::2], strict=True)),
    )


FOREIGN = (
    [SET[0], SET[1], b"job", b"18", SET[2], SET[3]],
    {b"job": b'{"order": 3}', b"stray": b'{"order": 4}'},
)
ALL = ('{"order": 1}', "job", "ours", '{"order": 2}', "stray")


@pytest.mark.parametrize("kind", [CancelDelayedIntent, RunDelayedIntent])
async def test_operations_leave_foreign_members_as_they_are(
    console: Console, server: RunningServer, kind: type[Struct]
) -> None:
    add_foreign_members_and_a_message(server)
    prepared = await console.prepare(kind(stream="orders", ids=ALL))
    assert prepared.plan.count == 1
    (warning,) = prepared.plan.warnings
    assert warning.startswith(f"4 members of {QUEUE} that streamops did not write")
    outcome = await done(console, kind(stream="orders", ids=ALL))
    assert (outcome.applied, outcome.skipped_count, outcome.failed_count) == (1, 0, 0)
    assert left(server) == FOREIGN


async def test_cancel_of_foreign_members_is_refused(
    console: Console, server: RunningServer, tmp_path: Path
) -> None:
    server.command("ZADD", QUEUE, SET[1], SET[0], SET[3], SET[2])
    backup = tmp_path / "backup.jsonl"
    outcome = await done(console, CancelDelayedIntent(stream="orders", every=True, backup=str(backup)))
    assert (outcome.requested, outcome.applied) == (0, 0)
    assert server.command("ZRANGE", QUEUE, 0, -1, "WITHSCORES") == SET


async def test_a_message_that_another_program_replaced_meanwhile_is_not_cancelled(
    console: Console, server: RunningServer
) -> None:
    add_foreign_members_and_a_message(server)
    prepared = await console.prepare(CancelDelayedIntent(stream="orders", ids=("ours",)))
    server.command("HDEL", BODIES, "ours")
    outcome = await console.apply(prepared, Confirmation(yes=True, typed="orders"))
    assert [one.reason for one in outcome.skipped] == ["no delayed message of streamops"]
    assert server.command("ZSCORE", QUEUE, "ours") == b"19"
