"""Replays on a cluster: within a slot, and between slots."""

import pytest

from streamops.errors import (
    Forbidden,
)
from streamops.model.acting import Confirmation
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from tests.support.deployments import RunningCluster
from tests.support.monitor.dead_letters import (
    GROUP,
    QUEUE,
    STREAM,
    add_letter,
    add_pairs,
    do,
    make_group,
    payloads,
)
from tests.support.operations.replaying.fields import FLAT, OWN, WEEK
from tests.support.streams import entries_of


async def test_letters_are_replayed_between_slots_of_a_cluster(cluster: RunningCluster) -> None:
    source, target = cluster.node_of(QUEUE), cluster.node_of("archive")
    make_group(target, "archive")
    for number in range(1, 251):
        add_letter(
            source, [("n", str(number)), ("n", b"\xff")], origin_id=f"{number}-1", entry_id=f"{number}-5"
        )
    async with await Console.open(cluster.options) as console:
        prepared = await console.prepare(ReplayIntent(queue=QUEUE, to="archive"))
        assert any(
            "effectively once, by markers that are kept 7 days" in one for one in prepared.plan.effects
        )
        outcome = await console.apply(prepared, Confirmation(yes=True))
    assert outcome.applied == 250
    assert source.command("XLEN", QUEUE) == 0
    found = [fields for _, fields in entries_of(target, "archive")]
    assert found == [
        [b"n", str(n).encode(), b"n", b"\xff", b"_so_origin_id", b"%d-1" % n, b"_so_replay_of", b"%d-5" % n]
        for n in range(1, 251)
    ]
    lifetime = target.command("PTTL", "{archive}:moved:{orders}%3Adlq:1-5")
    assert 6 * 24 * 3600 * 1000 < lifetime <= 7 * 24 * 3600 * 1000


@pytest.mark.parametrize("mode", [ReplayMode.REDELIVER, ReplayMode.RETRY])
async def test_one_group_in_another_slot(cluster: RunningCluster, mode: ReplayMode) -> None:
    queue = "failed:dlq"
    source, target = cluster.node_of(queue), cluster.node_of(STREAM)
    make_group(target)
    origin = add_pairs(target, STREAM, OWN)
    target.command("XREADGROUP", "GROUP", GROUP, "c", "NOACK", "STREAMS", STREAM, ">")
    add_letter(source, OWN, origin_id=origin, queue=queue)
    lost = add_letter(source, OWN, origin_id="1-1", queue=queue, group="other")
    async with await Console.open(cluster.options) as console:
        outcome = await do(console, ReplayIntent(queue=queue, mode=mode, foreign_origins=True))
    assert (outcome.applied, [one.id for one in outcome.skipped]) == (1, [lost])
    if mode is ReplayMode.RETRY:
        assert payloads(target, "{orders}:retry:billing") == [FLAT]
    else:
        assert [row[0].decode() for row in target.command("XPENDING", STREAM, GROUP, "-", "+", 9)] == [origin]
    assert source.command("XLEN", queue) == 1


async def test_a_payload_goes_along_into_another_slot(cluster: RunningCluster) -> None:
    source, target = cluster.node_of(QUEUE), cluster.node_of("archive")
    assert source is not target
    make_group(target, "archive")
    payload, gone = "{orders}:payload:1", "{orders}:payload:2"
    source.command("SET", payload, "v", "EX", 60)
    add_letter(source, [*OWN, ("_so_payload", payload)])
    lost = add_letter(source, [*OWN, ("_so_payload", gone)])
    async with await Console.open(cluster.options) as console:
        outcome = await do(console, ReplayIntent(queue=QUEUE, to="archive"))
    assert (outcome.applied, [one.id for one in outcome.failed]) == (1, [lost])
    ((_, fields),) = entries_of(target, "archive")
    copy = fields[fields.index(b"_so_payload") + 1]
    assert copy.startswith(b"{archive}:payload:")
    assert target.command("GET", copy) == b"v"
    assert WEEK - 60 < target.command("TTL", copy) <= WEEK


async def test_some_streams_in_the_slot_of_the_queue_and_some_not(cluster: RunningCluster) -> None:
    source, other = cluster.node_of(STREAM), cluster.node_of("refunds")
    for stream in (STREAM, "refunds"):
        make_group(cluster.node_of(stream), stream)
    for number in range(10):
        add_letter(source, [("n", str(number))], origin=(STREAM, "refunds")[number % 2])
    add_pairs(source, QUEUE, [("orig_id", "5-1"), ("reason", "boom"), ("payload", '{"n":"10"}')])
    async with await Console.open(cluster.options) as console:
        prepared = await console.prepare(ReplayIntent(queue=QUEUE, foreign_origins=True))
        assert any(
            "The queue and refunds are in different hash slots" in one for one in prepared.plan.effects
        )
        outcome = await console.apply(prepared, Confirmation(yes=True))
    assert outcome.applied == 11
    assert [fields[1] for fields in payloads(source, STREAM)] == [b"0", b"2", b"4", b"6", b"8", b"10"]
    assert [fields[1] for fields in payloads(other, "refunds")] == [b"1", b"3", b"5", b"7", b"9"]


async def test_names_that_no_key_can_stand_beside(cluster: RunningCluster) -> None:
    queue = "failed:dlq"
    make_group(cluster.node_of("a}b"), "a}b", "g")
    add_letter(cluster.node_of(queue), OWN, queue=queue, origin="a}b", group="g")
    async with await Console.open(cluster.options) as console:
        for mode in ReplayMode:
            with pytest.raises(Forbidden, match="no key can be made"):
                await console.prepare(ReplayIntent(queue=queue, mode=mode, foreign_origins=True))
