"""Reclaiming a group: what is handled again, what is buried, and what is left alone."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from streamops.errors import Forbidden, Interrupted, NotFound, ServerError, SettingsError, StalePlan
from streamops.model.acting import Actor, AuditPhase, Confirmation, Outcome
from streamops.model.entries import EntryId
from streamops.operations.console import Console
from streamops.operations.streams_reclaim.intent import Redelivery
from tests.support.eventually import eventually
from tests.support.operations.reclaiming import GROUP, LETTERS, STREAM, age, intent, reclaim
from tests.support.servers import RunningServer, StartServer
from tests.support.streams import entries_of, pending_ids


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await Console.open(server.options, actor=Actor("ann", "here", 1)) as console:
        yield console


def add_held_by_w(server: RunningServer, entries: int = 3) -> None:
    """Entries that worker ``w`` holds."""
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    for number in range(1, entries + 1):
        server.command("XADD", STREAM, f"{number}-1", "n", number)
    server.command("XREADGROUP", "GROUP", GROUP, "w", "COUNT", entries, "STREAMS", STREAM, ">")


async def test_what_is_idle_is_added_anew_and_acknowledged(server: RunningServer, console: Console) -> None:
    add_held_by_w(server)
    age(server, "1-1", "3-1")
    outcome = await reclaim(console)
    assert (outcome.applied, outcome.complete) == (2, True)
    assert outcome.notes == ("2 entries delivered again.",)
    # 2-1 was delivered a moment ago.
    assert pending_ids(server, STREAM, GROUP) == ["2-1"]
    added = [parts for _, parts in entries_of(server, STREAM)[3:]]
    assert added == [
        [b"n", b"1", b"_so_origin_id", b"1-1", b"_so_attempt", b"2"],
        [b"n", b"3", b"_so_origin_id", b"3-1", b"_so_attempt", b"2"],
    ]
    assert not server.command("EXISTS", LETTERS)


async def test_deliveries_are_counted_over_all_the_times_it_was_added(
    server: RunningServer, console: Console
) -> None:
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    server.command("XADD", STREAM, "1-1", "n", "1", "n", b"\xff\x00", "_so_attempt", "nonsense")
    deliveries = 0
    while not server.command("EXISTS", LETTERS):
        (_, ((ident, _),)) = server.command(
            "XREADGROUP", "GROUP", GROUP, "w", "COUNT", 1, "STREAMS", STREAM, ">"
        )[0]
        deliveries += 1
        age(server, ident.decode())
        await reclaim(console, max_deliveries=3)
    assert deliveries == 3
    ((_, letter),) = entries_of(server, LETTERS)
    own = [b"n", b"1", b"n", b"\xff\x00", b"_so_attempt", b"3", b"_so_origin_id", b"1-1"]
    assert letter[: len(own)] == own
    last_id = entries_of(server, STREAM)[-1][0].encode()
    about = dict(zip(letter[len(own) :: 2], letter[len(own) + 1 :: 2], strict=True))
    failed_at = about.pop(b"_so_failed_at")
    assert failed_at.startswith(b"20")
    assert failed_at.endswith(b"Z")
    assert about == {
        b"_so_origin": STREAM.encode(),
        b"_so_origin_id": last_id,
        b"_so_group": GROUP.encode(),
        b"_so_consumer": b"w",
        b"_so_reason": b"max-deliveries",
        b"_so_error": b"delivered 3 times and never acknowledged",
        b"_so_deliveries": b"3",
        b"_so_attempt": b"3",
    }
    assert pending_ids(server, STREAM, GROUP) == []
    shown = await console.dead_letters.read_one(LETTERS, EntryId.parse(entries_of(server, LETTERS)[0][0]))
    assert (shown.deliveries, shown.reason, str(shown.born_id)) == (3, "max-deliveries", "1-1")
    assert shown.fields == ((b"n", b"1"), (b"n", b"\xff\x00"))


async def test_what_was_deleted_while_pending_is_put_on_record(
    server: RunningServer, console: Console
) -> None:
    add_held_by_w(server)
    server.command("XDEL", STREAM, "2-1")
    age(server, "1-1")
    # Claiming a deleted entry would remove its row from Redis 7.0 on: it has to grow old by itself.
    await asyncio.sleep(0.01)
    outcome = await reclaim(console, min_idle=timedelta(milliseconds=5), redeliver=Redelivery.CLAIM)
    assert outcome.applied == 3
    ((_, letter),) = entries_of(server, LETTERS)
    told = dict(zip(letter[::2], letter[1::2], strict=True))
    assert (told[b"_so_origin_id"], told[b"_so_reason"]) == (b"2-1", b"payload-missing")
    assert pending_ids(server, STREAM, GROUP) == ["1-1", "3-1"]


async def test_other_groups_have_to_be_accepted(server: RunningServer, console: Console) -> None:
    add_held_by_w(server)
    age(server, "1-1")
    server.command("XGROUP", "CREATE", STREAM, "shipping", "$")
    with pytest.raises(Forbidden, match="shipping"):
        await console.prepare(intent())
    prepared = await console.prepare(intent(redeliver=Redelivery.ADD))
    assert any("shipping" in warning for warning in prepared.plan.warnings)
    server.command("XGROUP", "CREATE", STREAM, "late", "$")
    with pytest.raises(StalePlan, match="late"):
        await console.apply(prepared, Confirmation(yes=True))
    assert len(entries_of(server, STREAM)) == 3
    assert pending_ids(server, STREAM, GROUP) == ["1-1", "2-1", "3-1"]


async def test_a_claim_adds_nothing_and_counts_nothing(server: RunningServer, console: Console) -> None:
    add_held_by_w(server)
    server.command("XGROUP", "CREATE", STREAM, "shipping", "$")
    age(server, "1-1", deliveries=2)
    age(server, "2-1", deliveries=5)
    server.command("XGROUP", "CREATECONSUMER", STREAM, GROUP, "reader")
    outcome = await reclaim(console, redeliver=Redelivery.CLAIM, to="reader")
    assert outcome.applied == 2
    rows = server.command("XPENDING", STREAM, GROUP, "-", "+", 10)
    assert [(row[0], row[1], row[3]) for row in rows] == [(b"1-1", b"reader", 2), (b"3-1", b"w", 1)]
    assert len(entries_of(server, STREAM)) == 3
    # What waits for its reader is left to it.
    age(server, "1-1", deliveries=2, owner="reader")
    prepared = await console.prepare(intent(redeliver=Redelivery.CLAIM, to="reader"))
    assert (prepared.plan.count, prepared.evidence.stale.waiting) == (0, 1)


async def test_given_to_nobody_it_is_there_for_whoever_reclaims(
    server: RunningServer, console: Console
) -> None:
    add_held_by_w(server, 1)
    age(server, "1-1")
    await reclaim(console, redeliver=Redelivery.CLAIM)
    claimed = server.command("XAUTOCLAIM", STREAM, GROUP, "v", 600_000, "0")[1]
    assert claimed == [[b"1-1", [b"n", b"1"]]]


async def test_many_are_dealt_with_page_by_page(server: RunningServer, console: Console) -> None:
    add_held_by_w(server, 1_200)
    await asyncio.sleep(0.01)
    outcome = await reclaim(console, min_idle=timedelta(milliseconds=5))
    assert outcome.applied == 1_200
    assert pending_ids(server, STREAM, GROUP) == []
    numbers = [int(parts[1]) for _, parts in entries_of(server, STREAM)[1_200:]]
    assert numbers == list(range(1, 1_201))


async def test_large_entries_are_dealt_with_few_at_a_time(server: RunningServer, console: Console) -> None:
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    for number in range(1, 4):
        server.command("XADD", STREAM, f"{number}-1", "large", b"x" * (2 << 20))
    server.command("XREADGROUP", "GROUP", GROUP, "w", "COUNT", 3, "STREAMS", STREAM, ">")
    age(server, "1-1", "2-1", "3-1")
    assert (await reclaim(console)).applied == 3
    assert server.command("XLEN", STREAM) == 6


async def test_it_goes_on_until_it_is_stopped(server: RunningServer, console: Console) -> None:
    add_held_by_w(server, 1)
    prepared = await console.prepare(intent(every=timedelta(milliseconds=100)))
    assert (prepared.plan.count, prepared.plan.recurring) == (0, True)
    assert prepared.policy.word == GROUP
    stop = asyncio.Event()
    rounds = server.calls("xpending")
    working = asyncio.create_task(console.apply(prepared, Confirmation(typed=GROUP), stop=stop))
    await eventually(lambda: server.calls("xpending") > rounds + 1)
    age(server, "1-1")
    await eventually(lambda: not pending_ids(server, STREAM, GROUP))
    stop.set()
    outcome = await working
    assert (outcome.applied, outcome.requested, outcome.complete) == (1, 1, True)
    records = await console.read_action(EntryId.parse(outcome.audit_id))
    assert [record.phase for record in records] == [AuditPhase.BEGUN, AuditPhase.DONE]


async def test_a_full_server_refuses_before_anything_is_done(start_server: StartServer) -> None:
    server = start_server()
    add_held_by_w(server)
    age(server, "1-1", "2-1", "3-1")
    async with await Console.open(server.options) as console:
        prepared = await console.prepare(intent())
        server.command("CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(ServerError):
            await console.apply(prepared, Confirmation(yes=True))
        server.command("CONFIG", "SET", "maxmemory", "0")
    assert pending_ids(server, STREAM, GROUP) == ["1-1", "2-1", "3-1"]
    assert len(entries_of(server, STREAM)) == 3


async def test_bad_input_is_told_in_words(server: RunningServer, console: Console) -> None:
    add_held_by_w(server)
    server.command("SET", "text", "v")
    for changes, words in (
        ({"max_deliveries": 0}, "--max-deliveries"),
        ({"min_idle": timedelta(0)}, "--min-idle"),
        ({"every": timedelta(0)}, "--every"),
        ({"to": "w"}, "--to"),
        ({"dlq": STREAM}, "dead-letter queue"),
    ):
        with pytest.raises(SettingsError, match=words):
            await console.prepare(intent(**changes))
    with pytest.raises(Forbidden, match="text is not a stream"):
        await console.prepare(intent(dlq="text"))
    with pytest.raises(NotFound, match="no group nobody"):
        await console.prepare(intent(group="nobody"))
    with pytest.raises(NotFound, match="no consumer nobody"):
        await console.prepare(intent(redeliver=Redelivery.CLAIM, to="nobody"))


async def test_interrupted_it_is_a_job_that_is_gone_on_with(server: RunningServer, console: Console) -> None:
    add_held_by_w(server, 1_200)
    await asyncio.sleep(0.01)
    prepared = await console.prepare(intent(min_idle=timedelta(milliseconds=5)))
    stop = asyncio.Event()
    with pytest.raises(Interrupted) as caught:
        await console.apply(prepared, Confirmation(yes=True), lambda _: stop.set(), stop=stop)
    stopped = caught.value.outcome
    assert isinstance(stopped, Outcome)
    assert 0 < stopped.applied < 1_200
    rest = await console.prepare_rest(stopped.job)
    assert rest.plan.count == 1_200 - stopped.applied
    await console.apply(rest, Confirmation(yes=True))
    numbers = [int(parts[1]) for _, parts in entries_of(server, STREAM)[1_200:]]
    assert numbers == list(range(1, 1_201))


async def test_entries_of_several_owners_are_buried_in_their_names(
    server: RunningServer, console: Console
) -> None:
    add_held_by_w(server)
    age(server, "1-1", "3-1", deliveries=5)
    age(server, "2-1", deliveries=5, owner="v")
    assert (await reclaim(console)).applied == 3
    letters = [dict(zip(parts[::2], parts[1::2], strict=True)) for _, parts in entries_of(server, LETTERS)]
    assert {one[b"_so_origin_id"]: one[b"_so_consumer"] for one in letters} == {
        b"1-1": b"w",
        b"2-1": b"v",
        b"3-1": b"w",
    }
