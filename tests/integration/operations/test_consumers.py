"""Removing consumers on real servers: what they had pending is never lost."""

from collections.abc import Callable

import pytest
from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import ApplyError, Forbidden, NotFound, Refused, SettingsError, StalePlan
from streamops.model.acting import Actor, Confirmation, Impact, Limits, Skipped
from streamops.model.entries import MAX_PART, EntryId
from streamops.operations.console import Console
from streamops.operations.consumers_prune import run as consumer_prune
from streamops.operations.consumers_prune.intent import PruneConsumersIntent
from streamops.operations.consumers_rm import run as consumer_rm
from streamops.operations.consumers_rm.intent import RemoveConsumerIntent
from streamops.operations.undo.intent import UndoIntent
from streamops.wire.options import Secret
from tests.support.eventually import eventually
from tests.support.operations.consumers import GROUP, STREAM, consumers, pruning, removal, stock
from tests.support.operations.doing import applied, done, planned
from tests.support.servers import RunningServer
from tests.support.streams import deliver

Rows = list[tuple[str, str, int]]


def rows(server: RunningServer) -> Rows:
    """ID, owner and deliveries of everything pending."""
    told = server.command("XPENDING", STREAM, GROUP, "-", "+", 100_000)
    return [(one.decode(), owner.decode(), count) for one, owner, _, count in told]


async def test_pending_entries_are_handed_over_as_they_are(server: RunningServer, console: Console) -> None:
    stock(server, 12, dead=10, alive=2)
    server.command("XCLAIM", STREAM, GROUP, "dead", 0, "3-1", "IDLE", 3_600_000, "RETRYCOUNT", 7, "JUSTID")
    prepared = await console.prepare(removal(to="alive"))
    plan = prepared.plan
    assert (plan.operation, plan.impact, plan.count, plan.unit) == (
        "consumers.rm",
        Impact.REVERSIBLE,
        10,
        ("entry", "entries"),
    )
    assert plan.effects[0].startswith("10 pending entries are handed to consumer alive; idle times")
    assert "if it is working, entries handed over may be processed twice" in plan.warnings[0]
    outcome = await applied(console, prepared)
    assert (outcome.applied, outcome.skipped_count, outcome.failed_count) == (10, 0, 0)
    assert consumers(server) == {"alive"}
    assert rows(server) == [(f"{n}-1", "alive", 7 if n == 3 else 1) for n in range(1, 13)]
    idle = server.command("XPENDING", STREAM, GROUP, "3-1", "3-1", 1)[0][2]
    assert idle >= 3_600_000


async def test_without_heirs_nothing_is_lost(server: RunningServer, console: Console) -> None:
    stock(server, 5, dead=5)
    with pytest.raises(Forbidden, match="has 5 pending entries, which would be lost with it") as caught:
        await console.prepare(removal())
    assert "--to CONSUMER" in caught.value.hint
    with pytest.raises(ValueError, match="--to dead is the consumer that is removed"):
        removal(to="dead")
    server.command("XACK", STREAM, GROUP, *(f"{n}-1" for n in range(1, 6)))
    outcome = await done(console, removal())
    assert (outcome.applied, consumers(server)) == (1, set())


@pytest.mark.parametrize(
    ("intent", "words"),
    [
        (removal("nobody"), "has no consumer nobody"),
        (RemoveConsumerIntent(stream=STREAM, group="none", consumer="dead"), "no group none"),
        (RemoveConsumerIntent(stream="gone", group=GROUP, consumer="dead"), "stream gone"),
        (PruneConsumersIntent(stream=STREAM, group="none"), "no group none"),
        (PruneConsumersIntent(stream="string", group=GROUP), "not a stream"),
    ],
)
async def test_a_removal_of_what_is_not_there_is_not_found(
    server: RunningServer, console: Console, intent: Struct, words: str
) -> None:
    stock(server, 2, dead=1)
    server.command("SET", "string", "x")
    with pytest.raises(NotFound, match=words):
        await console.prepare(intent)


async def test_an_heir_is_created(server: RunningServer, console: Console) -> None:
    stock(server, 3, dead=3)
    prepared = await console.prepare(removal(to="new one"))
    assert "handed to consumer new one, which is created;" in prepared.plan.effects[0]
    assert prepared.plan.command == "streamops consumers rm orders billing dead --to 'new one'"
    await applied(console, prepared)
    assert consumers(server) == {"new one"}


async def test_a_consumer_that_reads_on_is_not_removed(server: RunningServer, console: Console) -> None:
    stock(server, 9, dead=4)
    prepared = await console.prepare(removal(to="heir"))
    deliver(server, STREAM, GROUP, "dead", 1)
    with pytest.raises(StalePlan, match="it has 5 pending entries now, more than the 4 of the plan"):
        await applied(console, prepared)
    assert {owner for _, owner, _ in rows(server)} == {"dead"}
    prepared = await console.prepare(removal(to="heir"))

    def meanwhile(_: object) -> None:
        deliver(server, STREAM, GROUP, "dead", 1)

    with pytest.raises(ApplyError, match="has read entries since") as caught:
        await console.apply(prepared, Confirmation(yes=True), meanwhile)
    outcome = caught.value.outcome
    assert (outcome.applied, outcome.complete) == (5, False)  # type: ignore[attr-defined]
    assert [owner for _, owner, _ in rows(server)] == ["heir"] * 5 + ["dead"]
    outcome = await done(console, removal(to="heir"))
    assert len(rows(server)) == 6


async def test_what_is_acknowledged_meanwhile_is_left_out(server: RunningServer, console: Console) -> None:
    stock(server, 6, dead=6)
    prepared = await console.prepare(removal(to="heir"))
    server.command("XACK", STREAM, GROUP, "1-1", "6-1")
    outcome = await applied(console, prepared)
    assert (outcome.applied, outcome.notes) == (
        4,
        ("2 entries acknowledged or claimed since the plan.",),
    )
    assert consumers(server) == {"heir"}


async def test_consumers_named_by_any_bytes_are_removed(server: RunningServer, console: Console) -> None:
    stock(server, 4)
    dead, heir, idle = b"\xff\x00 -", b"heir-\xe9", b"\xfe"
    for name in (dead, idle):
        words = ("GROUP", GROUP, name, "COUNT", 2, "STREAMS", STREAM, ">")
        server.command("XREADGROUP", *words)
    server.command("XACK", STREAM, GROUP, "3-1", "4-1")
    await done(console, removal(*(name.decode("utf-8", "surrogateescape") for name in (dead, heir))))
    assert [row[1] for row in server.command("XPENDING", STREAM, GROUP, "-", "+", 9)] == [heir] * 2
    await eventually(lambda: server.command("XINFO", "CONSUMERS", STREAM, GROUP)[-1][5] >= 5)
    assert (await done(console, pruning(0.005))).applied == 1
    assert [flat[1] for flat in server.command("XINFO", "CONSUMERS", STREAM, GROUP)] == [heir]


@pytest.mark.parametrize("denied", ["xclaim", "xgroup|delconsumer"])
async def test_what_is_not_permitted_is_refused_before_the_first_write(
    server: RunningServer, denied: str
) -> None:
    stock(server, 4, dead=4)
    before = rows(server)
    server.command("ACL", "SETUSER", "weak", "on", ">right", "~*", "+@all", f"-{denied}")
    options = replace(server.options, username="weak", password=Secret("right"))
    try:
        async with await Console.open(options, actor=Actor("ann", "here", 1)) as console:
            prepared = await console.prepare(removal(to="heir"))
            with pytest.raises(Refused, match="no permission"):
                await applied(console, prepared)
    finally:
        server.command("ACL", "DELUSER", "weak")
    assert rows(server) == before
    assert not server.command("EXISTS", "streamops:audit")


async def test_the_hand_over_can_be_undone(
    server: RunningServer, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer_rm, "BATCH", 2)
    stock(server, 5, dead=5)
    server.command("XCLAIM", STREAM, GROUP, "dead", 0, "3-1", "IDLE", 3_600_000, "RETRYCOUNT", 7, "JUSTID")
    before = rows(server)
    outcome = await done(console, removal(to="heir"))
    server.command("XACK", STREAM, GROUP, "5-1")
    undone = await done(console, UndoIntent(audit_id=EntryId.parse(outcome.audit_id)))
    assert undone.applied == 4
    assert rows(server) == before[:4]
    assert consumers(server) == {"dead", "heir"}


async def test_a_hand_over_that_was_killed_can_be_undone(
    server: RunningServer, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        """Stands for the end of the process: nothing more is written."""

    def kill(_: object) -> None:
        raise Killed

    monkeypatch.setattr(consumer_rm, "BATCH", 2)
    stock(server, 5, dead=5)
    before = rows(server)
    prepared = await console.prepare(removal(to="heir"))
    with pytest.raises(Killed):
        await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word), kill)
    assert [owner for _, owner, _ in rows(server)].count("heir") == 2
    (action,) = (await console.read_actions(1)).actions
    assert action.last is None
    undone = await done(console, UndoIntent(audit_id=EntryId.parse(action.first.id)))
    assert undone.applied == 2
    assert rows(server) == before


async def test_interrupted_the_same_again_does_the_rest(
    server: RunningServer, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(server, 10_000, dead=10_000)
    prepared = await console.prepare(removal(to="heir"), Limits(rate=1_000_000.0))

    def stop(_: object) -> None:
        raise Forbidden("enough", "")

    with pytest.raises(ApplyError):
        await console.apply(prepared, Confirmation(yes=True), stop)
    assert {"dead", "heir"} == consumers(server)
    rest = await console.prepare(removal(to="heir"))
    assert rest.plan.count == 10_000 - consumer_rm.BATCH
    outcome = await applied(console, rest)
    assert outcome.complete
    assert [owner for _, owner, _ in rows(server)] == ["heir"] * 10_000
    monkeypatch.undo()


# Pruning.


async def test_idle_consumers_with_nothing_pending_are_removed(
    server: RunningServer, console: Console
) -> None:
    stock(server, 6, busy=1, idle=1, gone=1)
    server.command("XACK", STREAM, GROUP, "2-1", "3-1")
    await eventually(lambda: min(_idle(server, one) for one in ("busy", "idle", "gone")) >= 200)
    deliver(server, STREAM, GROUP, "fresh", 1)
    server.command("XACK", STREAM, GROUP, "4-1")
    plan = await planned(console, pruning(0.2))
    assert (plan.count, plan.impact, plan.unit) == (2, Impact.REVERSIBLE, ("consumer", "consumers"))
    assert {line.partition(",")[0] for line in plan.sample} == {"idle", "gone"}
    assert "Kept, because they have pending entries: busy (1)." in plan.effects[2]
    assert "1 consumer is kept, idle for a shorter time." in plan.effects
    outcome = await done(console, pruning(0.2))
    assert outcome.applied == 2
    assert consumers(server) == {"busy", "fresh"}
    assert len(rows(server)) == 1
    assert (await planned(console, pruning(3600))).count == 0


async def test_a_group_of_very_many_consumers(server: RunningServer, console: Console) -> None:
    stock(server, 2, dead=1)
    pipeline = server.client.pipeline(transaction=False)
    for number in range(2_500):
        pipeline.xgroup_createconsumer(STREAM, GROUP, f"worker-{number}")
    pipeline.execute()
    await eventually(lambda: _idle(server, "worker-2499") >= 5)
    prepared = await console.prepare(pruning(0.005))
    assert prepared.plan.count == 2_500
    outcome = await applied(console, prepared)
    assert outcome.applied == 2_500
    assert consumers(server) == {"dead"}


@pytest.mark.parametrize(
    ("meanwhile", "reason"),
    [
        (lambda server: deliver(server, STREAM, GROUP, "idle", 1), "it has pending entries now"),
        (lambda server: server.command("XGROUP", "DELCONSUMER", STREAM, GROUP, "idle"), "it is gone"),
    ],
)
async def test_each_is_looked_at_again_when_it_is_removed(
    server: RunningServer, console: Console, meanwhile: Callable[[RunningServer], None], reason: str
) -> None:
    stock(server, 6, idle=1, other=1)
    server.command("XACK", STREAM, GROUP, "1-1", "2-1")
    await eventually(lambda: _idle(server, "other") >= 30)
    prepared = await console.prepare(pruning(0.03))
    meanwhile(server)
    outcome = await applied(console, prepared)
    assert (outcome.applied, outcome.skipped) == (1, (Skipped("idle", reason),))
    assert "other" not in consumers(server)


def _idle(server: RunningServer, name: str) -> int:
    for flat in server.command("XINFO", "CONSUMERS", STREAM, GROUP):
        if flat[1].decode() == name:
            return int(flat[5])
    return 0


@pytest.mark.parametrize("many", [0, 2_000])
async def test_one_that_was_active_since_is_left_alone(
    server: RunningServer, console: Console, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(consumer_prune, "MANY", many)
    stock(server, 6, idle=1)
    server.command("XACK", STREAM, GROUP, "1-1")
    await eventually(lambda: _idle(server, "idle") >= 60)
    prepared = await console.prepare(pruning(0.06))
    deliver(server, STREAM, GROUP, "idle", 1)
    server.command("XACK", STREAM, GROUP, "2-1")
    outcome = await applied(console, prepared)
    assert outcome.skipped == (Skipped("idle", "it has been active since"),)


async def test_a_span_of_nothing_is_refused(server: RunningServer, console: Console) -> None:
    stock(server, 1, idle=1)
    with pytest.raises(SettingsError, match="--idle"):
        await console.prepare(pruning(0))


async def test_handing_over_ends_at_the_utmost_id(server: RunningServer, console: Console) -> None:
    stock(server, 2)
    utmost = f"{MAX_PART}-{MAX_PART}"
    server.command("XADD", STREAM, utmost, "f", "v")
    deliver(server, STREAM, GROUP, "dead", 3)
    prepared = await console.prepare(removal(to="live"))
    server.command("XACK", STREAM, GROUP, "1-1")
    outcome = await applied(console, prepared)
    assert outcome.applied == 2
    assert rows(server) == [("2-1", "live", 1), (utmost, "live", 1)]
