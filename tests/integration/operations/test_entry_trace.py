"""Traces of entries on real servers: what is told is so, what was not looked at is said."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from streamops.errors import NotFound
from streamops.model.entries import EntryId
from streamops.monitor.entry_trace import EntryTrace, TraceKind
from streamops.operations import entry_trace
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.operations.streams_rm_entry.intent import DeleteIntent
from streamops.operations.trim.intent import TrimIntent
from streamops.operations.undo.intent import UndoIntent
from tests.support.monitor.dead_letters import GROUP, QUEUE, STREAM, add_letter, add_pairs, do, make_group
from tests.support.servers import RunningServer

OWN = [(b"order", b"A-1"), (b"blob", b"\xff\x00")]


async def told(console: Console, entry_id: str) -> EntryTrace:
    return await console.tracer.trace(STREAM, EntryId.parse(entry_id))


def kinds(trace: EntryTrace) -> Sequence[TraceKind]:
    return [event.kind for event in trace.events]


def texts(trace: EntryTrace) -> str:
    return "\n".join(event.text for event in trace.events)


async def test_from_its_birth_to_the_group_that_has_it(server: RunningServer, console: Console) -> None:
    make_group(server)
    make_group(server, group="audit")
    entry_id = add_pairs(server, STREAM, OWN)
    later = add_pairs(server, STREAM, OWN)
    server.command("XREADGROUP", "GROUP", GROUP, "worker-1", "COUNT", "1", "STREAMS", STREAM, ">")
    server.command("HSET", f"{{{STREAM}}}:attempts:{GROUP}", entry_id, "2")
    trace = await told(console, entry_id)
    assert kinds(trace) == [TraceKind.ADDED, TraceKind.WAITING, TraceKind.PENDING, TraceKind.MARKED]
    assert "billing: pending with worker-1, delivered 1 time" in texts(trace)
    assert "audit: not delivered yet" in texts(trace)
    assert "2 starts were marked" in texts(trace)
    assert not trace.unknown
    assert kinds(await told(console, later)) == [TraceKind.ADDED, TraceKind.WAITING, TraceKind.WAITING]
    server.command("XACK", STREAM, GROUP, entry_id)
    trace = await told(console, entry_id)
    assert "billing: not pending: acknowledged, or passed over by a new position of the group" in texts(trace)
    assert any("acknowledged, and by which consumer" in sentence for sentence in trace.unknown)


async def test_what_an_operator_did_to_it_is_told(server: RunningServer, console: Console) -> None:
    make_group(server)
    entry_id, other = add_pairs(server, STREAM, OWN), add_pairs(server, STREAM, OWN)
    server.command("XREADGROUP", "GROUP", GROUP, "worker-1", "STREAMS", STREAM, ">")
    claimed = await do(
        console,
        ClaimIntent(
            stream=STREAM, group=GROUP, to="worker-2", min_idle=timedelta(0), ids=(EntryId.parse(entry_id),)
        ),
    )
    trace = await told(console, entry_id)
    assert "claim of orders/billing by" in texts(trace)
    assert "undone" not in texts(trace)
    assert "before it, pending with worker-1" in texts(trace)
    assert "pending with worker-2" in texts(trace)
    assert TraceKind.ACTION not in kinds(await told(console, other))
    await do(console, UndoIntent(audit_id=EntryId.parse(claimed.audit_id)))
    assert "; undone by action " in texts(await told(console, entry_id))


async def test_the_trace_of_an_entry_tells_that_it_died_and_was_replayed(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    entry_id = add_pairs(server, STREAM, OWN)
    server.command("XREADGROUP", "GROUP", GROUP, "worker-1", "STREAMS", STREAM, ">")
    server.command("XACK", STREAM, GROUP, entry_id)
    letter_id = add_letter(server, OWN, origin_id=entry_id, error="it broke")
    trace = await told(console, entry_id)
    died = next(event for event in trace.events if event.kind is TraceKind.DEAD and event.stream)
    assert (died.stream, str(died.id)) == (QUEUE, letter_id)
    assert "billing dead-lettered it (max-deliveries), delivered 5 times: it broke" in died.text
    assert "billing: not pending: dead-lettered" in texts(trace)
    await do(console, ReplayIntent(queue=QUEUE, mode=ReplayMode.REPUBLISH))
    trace = await told(console, entry_id)
    again = next(event for event in trace.events if event.kind is TraceKind.AGAIN)
    assert f"from dead letter {letter_id}" in again.text
    assert again.id is not None
    copy = await told(console, str(again.id))
    assert f"it is a replay of dead letter {letter_id}, first added as entry {entry_id}" in texts(copy)
    of_letter = await console.tracer.trace(QUEUE, EntryId.parse(letter_id))
    assert f"is no longer in {QUEUE}: it was replayed" in texts(of_letter)
    replay = next(event for event in of_letter.events if event.kind is TraceKind.AGAIN)
    assert (replay.stream, replay.id) == (STREAM, again.id)


async def test_trace_of_a_trimmed_dead_letter_is_in_order_and_knows_that_the_stream_had_the_entry(
    server: RunningServer, console: Console
) -> None:
    for group in (GROUP, "audit"):
        make_group(server, group=group)
    entry_id = add_pairs(server, STREAM, OWN)
    add_pairs(server, STREAM, OWN)
    server.command("XGROUP", "SETID", STREAM, "audit", "$")
    server.command("XREADGROUP", "GROUP", GROUP, "worker-1", "COUNT", 1, "STREAMS", STREAM, ">")
    server.command("XACK", STREAM, GROUP, entry_id)
    add_letter(server, OWN, origin_id=entry_id)
    await do(console, TrimIntent(stream=STREAM, maxlen=1, exact=True, safe=False))
    trace = await told(console, entry_id)
    assert kinds(trace) == [
        TraceKind.GONE,
        TraceKind.UNKNOWN,
        TraceKind.DEAD,
        TraceKind.DEAD,
        TraceKind.ACTION,
    ]
    assert "never" not in texts(trace)


async def test_a_retry_that_waits_and_one_under_way_are_told(server: RunningServer, console: Console) -> None:
    make_group(server)
    entry_id = add_pairs(server, STREAM, OWN)
    add_pairs(
        server, f"{{{STREAM}}}:retry:{GROUP}", [*OWN, ("_so_origin_id", entry_id), ("_so_attempt", "2")]
    )
    trace = await told(console, entry_id)
    retry = next(event for event in trace.events if event.kind is TraceKind.RETRY)
    assert retry.stream == f"{{{STREAM}}}:retry:{GROUP}"


async def test_what_is_gone_was_trimmed_or_never_there(server: RunningServer, console: Console) -> None:
    first, second, third = (add_pairs(server, STREAM, OWN) for _ in range(3))
    server.command("XDEL", STREAM, second)
    server.command("XTRIM", STREAM, "MAXLEN", "1")
    assert "trimmed or deleted" in texts(await told(console, first))
    assert "trimmed or deleted" in texts(await told(console, second))
    assert "was never in orders" in texts(await told(console, f"{int(third.split('-')[0]) + 9}-0"))
    with pytest.raises(NotFound, match="nothing-here"):
        await console.tracer.trace("nothing-here", EntryId(5, 0))


async def test_what_an_operator_removed_is_told(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    first, second, third = (EntryId.parse(add_pairs(server, STREAM, OWN)) for _ in range(3))
    await do(console, TrimIntent(stream=STREAM, maxlen=2, exact=True, safe=False))
    await do(console, DeleteIntent(stream=STREAM, ids=(third,), backup=str(tmp_path / "backup")))
    assert "trim of orders by" in texts(await told(console, str(first)))
    assert "removed 1 entry, this one by its ID" in texts(await told(console, str(third)))
    assert TraceKind.ACTION not in kinds(await told(console, str(second)))


async def test_a_trim_is_not_named_for_an_entry_that_it_left(server: RunningServer, console: Console) -> None:
    make_group(server)
    first, second, _ = (add_pairs(server, STREAM, OWN) for _ in range(3))
    await do(console, TrimIntent(stream=STREAM, maxlen=2, exact=True, safe=False))
    server.command("XDEL", STREAM, second)
    told_of_first = texts(await told(console, first))
    assert "removed 1 entry below " in told_of_first
    assert told_of_first.endswith(", perhaps this one among them")
    assert TraceKind.ACTION not in kinds(await told(console, second))


async def test_a_group_is_not_said_to_be_done_with_what_may_never_have_been(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    add_pairs(server, STREAM, OWN)
    server.command("XGROUP", "SETID", STREAM, GROUP, "$")
    assert kinds(await told(console, "1-0")) == [TraceKind.GONE, TraceKind.UNKNOWN]


async def test_what_was_not_looked_at_is_said(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_trace, "LOOKED_AT", 2)
    make_group(server)
    entry_id = add_pairs(server, STREAM, OWN)
    for _ in range(4):
        add_pairs(server, STREAM, OWN)
        add_letter(server, OWN)
    server.command("SET", "orders:dlq", "no stream")
    async with await Console.open(server.options) as console:
        trace = await told(console, entry_id)
    unknown = " ".join(trace.unknown)
    assert "before its newest 2 entries" in unknown
    assert f"only the newest 2 dead letters of {QUEUE} were searched" in unknown
    assert "Whether it is in orders:dlq: " in unknown
