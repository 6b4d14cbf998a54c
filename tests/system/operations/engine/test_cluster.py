"""Acting on a cluster: every operation, keys of other slots, names that have none, and slots on their way."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import ApplyError, Forbidden, Refused
from streamops.model.acting import Confirmation, Outcome, Plan, Progress
from streamops.model.delayed import DelayedBody
from streamops.model.entries import EntryId
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.console import Console
from streamops.operations.delayed.intent import CancelDelayedIntent, RunDelayedIntent
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.publish.intent import PublishIntent
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.operations.streams_rm_entry.intent import DeleteIntent
from streamops.operations.trim.intent import TrimIntent
from streamops.resources.acl import AclRole, acl_rules
from streamops.wire.delayed import encode_body
from streamops.wire.options import Secret
from tests.support.deployments import RunningCluster, SlotMove
from tests.support.operations.engine.examples import (
    BODIES,
    EXAMPLES,
    LETTERS,
    QUEUE,
    STREAM,
    WORKSHOP,
    Scene,
    add_shop_with_letters_and_queue,
)

MANY = 1_200
ON_ITS_WAY = "its hash slot is on its way to another node of the cluster"


@pytest.fixture
async def console(cluster: RunningCluster) -> AsyncIterator[Console]:
    async with await Console.open(cluster.options, actor=WORKSHOP) as console:
        yield console


async def act(
    console: Console, intent: Struct, progress: Callable[[Progress], None] | None = None
) -> tuple[Plan, Outcome]:
    prepared = await console.prepare(intent)
    confirmation = Confirmation(yes=True, typed=prepared.policy.word)
    return prepared.plan, await console.apply(prepared, confirmation, progress)


@pytest.mark.parametrize("name", EXAMPLES)
async def test_every_operation_works_on_a_cluster(
    cluster: RunningCluster, console: Console, tmp_path: Path, name: str
) -> None:
    """The audit log and the list of jobs are on another node than the stream."""
    assert cluster.node_of(STREAM).port not in {
        cluster.node_of(key).port for key in ("streamops:audit", "streamops:jobs")
    }
    add_shop_with_letters_and_queue(cluster.node_of(STREAM).command)
    plan, outcome = await act(console, await EXAMPLES[name].ready(Scene(console, tmp_path)))
    assert plan.count > 0
    assert (outcome.applied, outcome.complete, outcome.failed) == (plan.count, True, ())
    action = (await console.read_actions()).actions[0]
    assert action.first.id == outcome.audit_id
    assert action.last is not None


async def test_streams_of_every_node(cluster: RunningCluster, console: Console) -> None:
    names = ["orders", "payments", "audit", "c", "d", "e", "f", "g"]
    assert {cluster.node_of(name).port for name in names} == {node.port for node in cluster.nodes}
    for name in names:
        await act(console, PublishIntent(stream=name, pairs=((b"n", b"1"),), id="1-0"))
        await act(console, PublishIntent(stream=name, pairs=((b"n", b"1"),), delay=timedelta(0), id="m"))
        await act(console, CreateGroupIntent(stream=name, group="g", at="0"))
        assert (await act(console, RunDelayedIntent(stream=name, every=True)))[1].applied == 1
        node = cluster.node_of(name)
        assert node.command("XLEN", name) == 2
        assert node.command("EXISTS", f"{{{name}}}:delayed") == 0
    queues = await console.delayed.queues(names)
    assert (queues.queues, queues.gaps) == ((), ())


async def test_letters_of_another_slot(cluster: RunningCluster, console: Console) -> None:
    """Not in one step, and still each once."""
    add_shop_with_letters_and_queue(cluster.node_of(STREAM).command)
    trash = cluster.node_of("bin")
    assert trash is not cluster.node_of(STREAM)
    for number in range(5):
        trash.command("XADD", "bin", "*", "n", number, "_so_origin", STREAM, "_so_origin_id", "1-0")
    plan, outcome = await act(console, ReplayIntent(queue="bin", to=STREAM, mode=ReplayMode.REPUBLISH))
    assert plan.count == outcome.applied == 5
    assert any("slot" in words for words in (*plan.effects, *plan.warnings))
    assert cluster.node_of(STREAM).command("XLEN", STREAM) == 11
    assert trash.command("XLEN", "bin") == 0


async def test_letters_of_another_slot_as_an_operator(cluster: RunningCluster) -> None:
    """The printed rules are enough; without any of the commands that only this takes, nothing is touched."""
    rules = acl_rules(AclRole.OPERATOR).rules.split()
    intent = ReplayIntent(queue="bin", to=STREAM, mode=ReplayMode.REPUBLISH)
    queue = cluster.node_of("bin").command
    options = replace(cluster.options, username="operator", password=Secret("right"))
    for changes in ((), ("-set",), ("-exists",), ("-xdel",), ("-time",)):
        cluster.flush()
        for node in cluster.nodes:
            node.command("ACL", "SETUSER", "operator", "reset", "on", ">right", *rules, *changes)
        queue("XADD", "bin", "1-0", "n", 1, "_so_origin", STREAM)
        cluster.node_of(STREAM).command("XADD", STREAM, "1-0", "n", 0)
        async with await Console.open(options, actor=WORKSHOP) as console:
            done = await is_permitted(console, intent)
        assert done or changes, "the printed rules are not enough"
        assert queue("XLEN", "bin") == (0 if done else 1), changes
        assert cluster.node_of(STREAM).command("XLEN", STREAM) == (2 if done else 1), changes
    for node in cluster.nodes:
        node.command("ACL", "DELUSER", "operator")


async def is_permitted(console: Console, intent: Struct) -> bool:
    try:
        plan, outcome = await act(console, intent)
    except Refused:
        return False
    return plan.count == outcome.applied > 0


async def test_delayed_message_for_another_stream_stays(cluster: RunningCluster, console: Console) -> None:
    node = cluster.node_of(STREAM)
    node.command("HSET", BODIES, "far", encode_body(DelayedBody("bin", ((b"n", b"1"),))))
    node.command("ZADD", QUEUE, 1, "far")
    plan, outcome = await act(console, RunDelayedIntent(stream=STREAM, every=True))
    assert (plan.count, outcome.applied) == (0, 0)
    assert "names another stream" in plan.warnings[0]
    assert (await act(console, CancelDelayedIntent(stream=STREAM, every=True)))[1].applied == 1


@pytest.mark.parametrize("name", ["a}b", "{}x"])
async def test_names_that_no_key_can_stand_beside(
    cluster: RunningCluster, console: Console, name: str
) -> None:
    pairs = ((b"n", b"1"),)
    assert (await act(console, PublishIntent(stream=name, pairs=pairs)))[1].applied == 1
    for intent in (
        PublishIntent(stream=name, pairs=pairs, delay=timedelta(seconds=1)),
        RunDelayedIntent(stream=name, every=True),
        CancelDelayedIntent(stream=name, every=True),
    ):
        with pytest.raises(Forbidden, match="no key can be made") as refused:
            await console.prepare(intent)
        assert "{orders}" in refused.value.hint
    assert cluster.node_of(name).command("XLEN", name) == 1


class Work(Struct, frozen=True):
    """Work of several batches, and what has to be true once all of it is done."""

    intent: Struct
    ready: Callable[[Callable[..., Any]], None]
    done: Callable[[Callable[..., Any]], object]
    truth: object


def add_many(command: Callable[..., Any]) -> None:
    for number in range(1, MANY + 1):
        command("XADD", STREAM, f"{number}-0", "n", number)


def read_many(command: Callable[..., Any]) -> None:
    add_many(command)
    command("XGROUP", "CREATE", STREAM, "g", "0")
    command("XREADGROUP", "GROUP", "g", "w1", "STREAMS", STREAM, ">")


def bury_many(command: Callable[..., Any]) -> None:
    for number in range(1, MANY + 1):
        command("XADD", LETTERS, f"{number}-0", "n", number, "_so_origin", STREAM)
    command("XADD", STREAM, "1-0", "n", "first")


def delay_many(command: Callable[..., Any]) -> None:
    command("XADD", STREAM, "1-0", "n", "first")
    for number in range(1, MANY + 1):
        command("ZADD", QUEUE, number, f"m{number}")
        command("HSET", BODIES, f"m{number}", encode_body(DelayedBody(STREAM, ((b"n", b"%d" % number),))))


def owners(command: Callable[..., Any]) -> object:
    return command("XPENDING", STREAM, "g")[3]


def added(command: Callable[..., Any]) -> object:
    return sorted(fields[1] for _, fields in command("XRANGE", STREAM, "-", "+"))


EVERY_NUMBER = sorted([b"first", *(b"%d" % number for number in range(1, MANY + 1))])
WORK = {
    "claim": Work(
        ClaimIntent(stream=STREAM, group="g", to="w2", min_idle=timedelta(0)),
        read_many,
        owners,
        [[b"w2", b"%d" % MANY]],
    ),
    "trim": Work(
        TrimIntent(stream=STREAM, minid=EntryId(MANY, 0), exact=True, safe=False),
        add_many,
        lambda command: command("XLEN", STREAM),
        1,
    ),
    "delete": Work(
        DeleteIntent(stream=STREAM, ids=tuple(EntryId(number, 0) for number in range(1, MANY))),
        add_many,
        lambda command: command("XLEN", STREAM),
        1,
    ),
    "replay": Work(ReplayIntent(queue=LETTERS, mode=ReplayMode.REPUBLISH), bury_many, added, EVERY_NUMBER),
    "run-now": Work(RunDelayedIntent(stream=STREAM, every=True), delay_many, added, EVERY_NUMBER),
}


def once(step: Callable[[], None]) -> Callable[[Progress], None]:
    """Take a step after the first batch."""
    steps = [step]
    return lambda _: steps.pop()() if steps else None


@pytest.mark.parametrize("name", WORK)
async def test_slot_that_moves_meanwhile(cluster: RunningCluster, console: Console, name: str) -> None:
    """It goes on at the slot's new place."""
    work = WORK[name]
    with cluster.moving(STREAM) as move:
        work.ready(move.source.command)
        _, outcome = await act(console, work.intent, once(move.all))
        assert outcome.complete
        assert work.done(move.target.command) == work.truth


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize("carried", [0, 1])
async def test_slot_that_is_on_its_way(
    cluster: RunningCluster, console: Console, name: str, carried: int
) -> None:
    """Whether keys are still here, there, or some here and some there: done, or stopped and done later."""
    work = WORK[name]
    with cluster.moving(STREAM) as move:
        work.ready(move.source.command)
        stopped = await stopped_by(console, work.intent, partial(leave_half_way, move, carried))
        assert not stopped or ON_ITS_WAY in stopped
        move.carry()
        move.end()
        if work.done(move.target.command) != work.truth:
            await act(console, work.intent)
        assert work.done(move.target.command) == work.truth


async def stopped_by(console: Console, intent: Struct, step: Callable[[], None]) -> str:
    """Why it stopped before its end; empty where it did not."""
    try:
        _, outcome = await act(console, intent, once(step))
    except ApplyError as error:
        return error.message
    return outcome.stopped


def leave_half_way(move: SlotMove, carried: int) -> None:
    """Begin to move a slot, and take so many of its keys along."""
    move.begin()
    if carried:
        move.carry(carried)
