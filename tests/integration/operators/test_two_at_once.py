"""Two who do the same, or the opposite, at the same time: one of them comes first, the other is told so, and nothing is done twice.

Their batches are so small that they take turns. What one of them writes is in the audit log beside what the other does.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from streamops.errors import ApplyError, ExitCode, Forbidden, StalePlan, StreamopsError
from streamops.model.acting import Actor, AuditPhase, Confirmation, JobState, Limits, Outcome
from streamops.model.entries import EPOCH, EntryId
from streamops.model.pools import PoolSupervisor
from streamops.operations import jobs
from streamops.operations.ack import run as ack
from streamops.operations.ack.intent import AckIntent
from streamops.operations.autoscale.intent import ScaleIntent
from streamops.operations.claim import run as claiming
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.console import Console
from streamops.operations.dlq_purge import run as purge
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.groups_destroy.intent import DestroyGroupIntent
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from streamops.operations.nack.intent import NackIntent
from streamops.operations.operation import Prepared
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.operations.trim import run as trim
from streamops.operations.trim.intent import TrimIntent
from streamops.operations.undo import run as undo
from streamops.operations.undo.intent import UndoIntent
from streamops.wire.pools.registry import register_supervisor
from streamops.wire.server import Server
from streamops.wire.writes import replay as replay_arguments
from tests.support.operations.backups import read_backup
from tests.support.operations.doing import applied, done
from tests.support.operators.desk import outcome_of
from tests.support.servers import RunningServer

STREAM, GROUP, LETTERS, RETRIES = "orders", "billing", "{orders}:dlq", "{orders}:retry:billing"
COUNT = 60
SMALL = (
    (claiming, "FIRST", 3), (claiming, "LARGEST", 3), (claiming, "NAMED", 3), (ack, "BATCH", 3), (undo, "ROWS", 3),
    (purge, "BATCH", 4), (trim, "SMALLEST", 5), (trim, "FIRST", 5), (trim, "LARGEST", 5), (jobs, "HEARTBEAT_SECONDS", 0.0),
)  # fmt: skip

Pair = tuple[Console, Console]


@pytest.fixture
async def pair(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pair]:
    """Ann's console and Bob's, on a stream of which one consumer has all, and its letters."""
    for module, name, value in SMALL:
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(replay_arguments.DeadLetterBatch, "count", 4, raising=False)
    for number in range(1, COUNT + 1):
        server.command("XADD", STREAM, f"{number}-0", "n", number)
        server.command(
            "XADD",
            LETTERS,
            f"{number}-0",
            "n",
            number,
            "_so_origin",
            STREAM,
            "_so_group",
            GROUP,
            "_so_reason",
            "timeout",
            "_so_origin_id",
            f"{number}-0",
        )
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0")
    server.command("XREADGROUP", "GROUP", GROUP, "ghost", "STREAMS", STREAM, ">")
    ann = Console.open(server.patient_options, actor=Actor("ann", "desk", 1))
    bob = Console.open(server.patient_options, actor=Actor("bob", "desk", 2))
    async with await ann as first, await bob as second:
        yield first, second


async def both(*doing: Awaitable[Outcome]) -> list[Outcome | StreamopsError]:
    """What came of things that were done at the same time; anything but our own errors is raised."""
    came = await asyncio.gather(*doing, return_exceptions=True)
    for one in came:
        if isinstance(one, BaseException) and not isinstance(one, StreamopsError):
            raise one
    return [one for one in came if isinstance(one, Outcome | StreamopsError)]


def units(came: list[Outcome | StreamopsError]) -> list[int]:
    """How many each applied, also where it ended early."""
    outcomes = [outcome_of(one) if isinstance(one, StreamopsError) else one for one in came]
    return [one.applied if one is not None else 0 for one in outcomes]


def told_about(outcome: Outcome) -> int:
    """How many units an outcome tells of: those done, skipped, and no longer as the plan saw them."""
    gone = [int(found[1]) for note in outcome.notes if (found := re.search(r"left alone: (\d+) entr", note))]
    return outcome.applied + outcome.skipped_count + sum(gone)


def numbers(server: RunningServer, stream: str) -> list[int]:
    rows = server.command("XRANGE", stream, "-", "+")
    return [int(dict(zip(fields[::2], fields[1::2], strict=True))[b"n"]) for _, fields in rows]


def owners(server: RunningServer) -> dict[bytes, int]:
    rows = server.command("XPENDING", STREAM, GROUP, "-", "+", 1_000)
    return dict(Counter(row[1] for row in rows))


async def told(console: Console) -> dict[str, AuditPhase | None]:
    """Each action of the log with how it ended."""
    page = await console.read_actions(100)
    return {one.first.id: one.last.phase if one.last else None for one in page.actions}


async def test_two_replays_of_one_queue_move_each_letter_once(server: RunningServer, pair: Pair) -> None:
    intent = ReplayIntent(queue=LETTERS, mode=ReplayMode.RETRY)
    prepared = [await one.prepare(intent) for one in pair]
    assert [one.plan.count for one in prepared] == [COUNT, COUNT]
    came = await both(*(applied(one, plan) for one, plan in zip(pair, prepared, strict=True)))
    assert sum(units(came)) == COUNT
    assert sorted(numbers(server, RETRIES)) == list(range(1, COUNT + 1))
    assert server.command("XLEN", LETTERS) == 0
    assert set((await told(pair[0])).values()) == {AuditPhase.DONE}


async def test_a_letter_is_replayed_or_purged(server: RunningServer, pair: Pair, tmp_path: Path) -> None:
    """And the purge's file holds those that it deleted, and no other: whoever restores it doubles nothing."""
    ann, bob = pair
    backup = tmp_path / "purged.jsonl"
    replay = await ann.prepare(ReplayIntent(queue=LETTERS, mode=ReplayMode.RETRY), Limits(rate=2_000))
    purging = await bob.prepare(PurgeIntent(queue=LETTERS, backup=str(backup)), Limits(rate=2_000))
    came = await both(applied(ann, replay), applied(bob, purging))
    purged = [int(dict(entry.fields)[b"n"]) for _, entry in read_backup(backup)]
    assert sorted([*purged, *numbers(server, RETRIES)]) == list(range(1, COUNT + 1))
    assert units(came) == [COUNT - len(purged), len(purged)]


async def test_two_claims_share_what_there_is(server: RunningServer, pair: Pair) -> None:
    """Both want what lies idle; what one has got is not idle any more."""
    server.command(
        "XCLAIM",
        STREAM,
        GROUP,
        "ghost",
        0,
        *[f"{n}-0" for n in range(1, COUNT + 1)],
        "IDLE",
        90_000,
        "JUSTID",
    )
    intents = [ClaimIntent(stream=STREAM, group=GROUP, to=name) for name in ("ann", "bob")]
    prepared = [await one.prepare(intent) for one, intent in zip(pair, intents, strict=True)]
    came = await both(*(applied(one, plan) for one, plan in zip(pair, prepared, strict=True)))
    assert sum(units(came)) == COUNT
    held = owners(server)
    assert [held.get(b"ann", 0), held.get(b"bob", 0)] == units(came)
    for one in came:
        assert isinstance(one, Outcome)
        assert told_about(one) == COUNT


async def test_a_claim_brings_nothing_back_that_workers_acknowledged(
    server: RunningServer, pair: Pair
) -> None:
    ann, _ = pair
    prepared = await ann.prepare(ClaimIntent(stream=STREAM, group=GROUP, to="ann", min_idle=timedelta(0)))
    acked = 0

    async def work() -> Outcome:
        nonlocal acked
        for number in range(COUNT, 0, -1):
            acked += server.command("XACK", STREAM, GROUP, f"{number}-0")
            await asyncio.sleep(0)
        return Outcome(operation="work", target="", requested=0, applied=acked)

    came = await both(applied(ann, prepared), work())
    assert acked == COUNT
    assert owners(server) == {}
    first = came[0]
    assert isinstance(first, Outcome)
    assert told_about(first) == COUNT


async def test_two_undos_of_one_claim_give_each_row_back_once(server: RunningServer, pair: Pair) -> None:
    ann, bob = pair
    claim = ClaimIntent(stream=STREAM, group=GROUP, to="ann", min_idle=timedelta(0))
    action = EntryId.parse((await done(ann, claim)).audit_id)
    prepared = [await one.prepare(UndoIntent(audit_id=action)) for one in pair]
    came = await both(*(applied(one, plan) for one, plan in zip(pair, prepared, strict=True)))
    assert sum(units(came)) == COUNT
    assert owners(server) == {b"ghost": COUNT}
    with pytest.raises(Forbidden, match="was undone already, by"):
        await bob.prepare(UndoIntent(audit_id=action))


async def test_two_undos_of_one_nack_count_each_row_once(pair: Pair) -> None:
    ann, _ = pair
    ids = tuple(EntryId(number, 0) for number in range(1, COUNT + 1))
    action = EntryId.parse((await done(ann, NackIntent(stream=STREAM, group=GROUP, ids=ids))).audit_id)
    prepared = [await one.prepare(UndoIntent(audit_id=action)) for one in pair]
    came = await both(*(applied(one, plan) for one, plan in zip(pair, prepared, strict=True)))
    assert sum(units(came)) == COUNT
    reasons = {one.reason for outcome in came if isinstance(outcome, Outcome) for one in outcome.skipped}
    assert reasons == {"already as it was before"}


async def test_two_undos_of_a_rewind_set_the_group_forward_once(server: RunningServer, pair: Pair) -> None:
    ann, _ = pair
    rewound = await done(ann, RewindGroupIntent(stream=STREAM, group=GROUP, to_start=True))
    prepared = [await one.prepare(UndoIntent(audit_id=EntryId.parse(rewound.audit_id))) for one in pair]
    came = await both(*(applied(one, plan) for one, plan in zip(pair, prepared, strict=True)))
    stale = [one for one in came if isinstance(one, StreamopsError)]
    assert [type(one) for one in stale] == [StalePlan]
    assert stale[0].exit_code == ExitCode.DRIFTED
    (row,) = server.command("XINFO", "GROUPS", STREAM)
    assert row[row.index(b"last-delivered-id") + 1] == f"{COUNT}-0".encode()


async def left_behind(server: RunningServer, console: Console) -> str:
    """A job that was stopped in the middle; its token."""
    prepared = await console.prepare(ReplayIntent(queue=LETTERS, mode=ReplayMode.RETRY), Limits(rate=400))
    stop = asyncio.Event()
    with pytest.raises(ApplyError) as stopped:
        await console.apply(prepared, Confirmation(yes=True), progress=lambda _: stop.set(), stop=stop)
    outcome = outcome_of(stopped.value)
    assert outcome is not None
    assert 0 < server.command("XLEN", LETTERS) < COUNT
    return outcome.job


async def test_a_job_is_gone_on_with_by_one_of_two(server: RunningServer, pair: Pair) -> None:
    ann, bob = pair
    token = await left_behind(server, ann)
    left = server.command("XLEN", LETTERS)
    prepared = [await one.prepare_rest(token, Limits(rate=100_000)) for one in pair]
    came = await both(*(applied(one, plan) for one, plan in zip(pair, prepared, strict=True)))
    refused = [one for one in came if isinstance(one, StreamopsError)]
    assert len(refused) == 1
    assert refused[0].exit_code in (ExitCode.REFUSED, ExitCode.DRIFTED), refused
    assert any(words in refused[0].message for words in ("is held by", "is over", "meanwhile")), refused
    assert sum(units(came)) == left
    assert sorted(numbers(server, RETRIES)) == list(range(1, COUNT + 1))
    assert (await bob.read_job(token)).state is JobState.DONE
    assert None not in (await told(bob)).values()


async def test_a_job_that_is_cancelled_while_somebody_goes_on_stops_or_was_over(
    server: RunningServer, pair: Pair
) -> None:
    ann, bob = pair
    token = await left_behind(server, ann)
    prepared = await ann.prepare_rest(token, Limits(rate=400))

    async def cancel() -> Outcome:
        over = await bob.cancel_job(token)
        return Outcome(operation="cancel", target="", requested=1, applied=int(over))

    came = await both(applied(ann, prepared), cancel())
    state = (await bob.read_job(token)).state
    moved, waiting = numbers(server, RETRIES), numbers(server, LETTERS)
    assert sorted([*moved, *waiting]) == list(range(1, COUNT + 1))
    if isinstance(came[0], StreamopsError):
        assert state is JobState.CANCELLED
        assert came[0].exit_code in (ExitCode.PARTIAL, ExitCode.REFUSED)
    else:
        assert (state, waiting) == (JobState.DONE, [])


def plans_about_a_group(tmp_path: Path) -> dict[str, Struct]:
    ids = (EntryId(1, 0), EntryId(2, 0))
    return {
        "claim": ClaimIntent(stream=STREAM, group=GROUP, to="ann", min_idle=timedelta(0)),
        "ack": AckIntent(stream=STREAM, group=GROUP, ids=ids),
        "rewind": RewindGroupIntent(stream=STREAM, group=GROUP, to_start=True),
        "destroy": DestroyGroupIntent(stream=STREAM, group=GROUP, backup=str(tmp_path / "g.jsonl")),
    }


@pytest.mark.parametrize("kind", ["claim", "ack", "rewind", "destroy"])
async def test_plans_about_a_group_that_somebody_made_anew_are_stale(
    server: RunningServer, pair: Pair, tmp_path: Path, kind: str
) -> None:
    """It has another position: the plan's words are not true of it."""
    ann, bob = pair
    prepared: Prepared[Any, Any] = await ann.prepare(plans_about_a_group(tmp_path)[kind])
    await done(bob, DestroyGroupIntent(stream=STREAM, group=GROUP, backup=str(tmp_path / "bob.jsonl")))
    await done(bob, CreateGroupIntent(stream=STREAM, group=GROUP, at="0"))
    before = server.command("XINFO", "GROUPS", STREAM), numbers(server, LETTERS)
    with pytest.raises(StalePlan) as stale:
        await applied(ann, prepared)
    assert stale.value.exit_code == ExitCode.DRIFTED
    assert stale.value.hint.startswith("Nothing was done")
    assert (server.command("XINFO", "GROUPS", STREAM), numbers(server, LETTERS)) == before
    assert None not in (await told(bob)).values()


async def test_letters_stay_where_the_group_that_they_return_to_was_made_anew(
    server: RunningServer, pair: Pair, tmp_path: Path
) -> None:
    """It has yet to read their entries: handed back they would come twice."""
    ann, bob = pair
    server.command("XACK", STREAM, GROUP, *[f"{number}-0" for number in range(1, COUNT + 1)])
    prepared = await ann.prepare(ReplayIntent(queue=LETTERS, mode=ReplayMode.REDELIVER))
    await done(bob, DestroyGroupIntent(stream=STREAM, group=GROUP, backup=str(tmp_path / "bob.jsonl")))
    await done(bob, CreateGroupIntent(stream=STREAM, group=GROUP, at="0"))
    outcome = await applied(ann, prepared)
    assert (outcome.applied, outcome.skipped_count) == (0, COUNT)
    assert {one.reason for one in outcome.skipped} == {"its group has yet to read it"}
    assert len(numbers(server, LETTERS)) == COUNT


async def test_a_safe_trim_keeps_what_a_group_was_just_set_back_to(server: RunningServer, pair: Pair) -> None:
    """The trim was planned when nobody needed anything; the rewind says how many will come again, and they do."""
    ann, bob = pair
    server.command("XACK", STREAM, GROUP, *[f"{number}-0" for number in range(1, COUNT + 1)])
    trimming = await ann.prepare(TrimIntent(stream=STREAM, maxlen=0, exact=True))
    assert trimming.plan.count == COUNT - 1
    rewinding = await bob.prepare(RewindGroupIntent(stream=STREAM, group=GROUP, to_id=EntryId(30, 0)))
    came = await both(applied(ann, trimming), applied(bob, rewinding))
    kept = numbers(server, STREAM)
    (row,) = server.command("XINFO", "GROUPS", STREAM)
    at = row[row.index(b"last-delivered-id") + 1]
    if isinstance(came[1], Outcome):
        assert at == b"30-0"
        assert kept[-30:] == list(range(31, COUNT + 1)) or units(came)[0] > 30, came
    else:
        assert isinstance(came[1], StalePlan)
        assert at == f"{COUNT}-0".encode()


async def test_a_pool_is_told_one_number_by_two(server: RunningServer, pair: Pair) -> None:
    """Who knew of another one than there is comes too late."""
    connected = await Server.connect(server.patient_options)
    try:
        await register_supervisor(
            connected, "shop", PoolSupervisor(id="s", at=EPOCH, host="h", pid=1, aim=2, alive=2, ready=2)
        )
        prepared = [
            await one.prepare(ScaleIntent(pool="shop", workers=n))
            for one, n in zip(pair, (3, 5), strict=True)
        ]
        came = await both(*(applied(one, plan) for one, plan in zip(pair, prepared, strict=True)))
    finally:
        await connected.close()
    errors = [one for one in came if isinstance(one, StreamopsError)]
    assert [one.exit_code for one in errors] == [ExitCode.DRIFTED], came
    won = 3 if isinstance(came[0], Outcome) else 5
    assert server.command("HGET", "streamops:pool:shop", "desired") == str(won).encode()
    assert sorted(map(str, (await told(pair[0])).values())) == ["done", "failed"]
