"""What a plan says of entries that are gone, and of retry streams that nobody reads."""

import pytest

from streamops.errors import Forbidden
from streamops.operations.console import Console
from streamops.operations.replay import survey
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.wire.consuming.heartbeats import WORKER_PREFIX
from tests.support.monitor.dead_letters import GROUP, QUEUE, STREAM, add_letter, add_pairs, do, make_group
from tests.support.monitor.workers import beat
from tests.support.operations.replaying.fields import OWN
from tests.support.servers import RunningServer

REDELIVER = ReplayIntent(queue=QUEUE, mode=ReplayMode.REDELIVER)
RETRY = ReplayIntent(queue=QUEUE, mode=ReplayMode.RETRY)
RETRIES = "{orders}:retry:billing"


async def test_redelivery_says_beforehand_which_dead_letters_stay_and_why(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    fit, pending, gone = (add_pairs(server, STREAM, OWN) for _ in range(3))
    server.command("XREADGROUP", "GROUP", GROUP, "c1", "STREAMS", STREAM, ">")
    server.command("XACK", STREAM, GROUP, fit, gone)
    server.command("XDEL", STREAM, gone)
    unread = add_pairs(server, STREAM, OWN)
    first, again, *others = (
        add_letter(server, OWN, origin_id=one) for one in (fit, fit, pending, gone, unread, "1-1")
    )
    untold = add_letter(server, OWN)
    plan = (await console.prepare(REDELIVER)).plan
    assert plan.effects[1] == "1 of 7 dead letters can be redelivered."
    anew = "--mode retry or republish adds a new entry."
    assert set(plan.warnings) == {
        (
            "2 dead letters cannot be redelivered: the entry is pending already. "
            f"Left in the queue: {again}, {others[0]}."
        ),
        (
            "2 dead letters cannot be redelivered: the entry is no longer in the stream. "
            f"Left in the queue: {others[1]}, {others[3]}. {anew}"
        ),
        (
            "1 dead letter cannot be redelivered: the group has yet to read the entry. "
            f"Left in the queue: {others[2]}."
        ),
        (
            "1 dead letter cannot be redelivered: the dead letter does not name its entry's ID. "
            f"Left in the queue: {untold}. {anew}"
        ),
    }
    outcome = await do(console, REDELIVER)
    assert (outcome.applied, outcome.skipped_count) == (1, 6)
    assert first not in {skip.id for skip in outcome.skipped}


async def test_redelivery_of_entries_that_are_all_gone_has_nothing_to_do(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    letters = [add_letter(server, OWN, origin_id=f"{number}-1") for number in range(1, 9)]
    plan = (await console.prepare(REDELIVER)).plan
    assert (plan.count, plan.idle, plan.effects) == (0, True, ())
    few = ", ".join(letters[:5])
    assert plan.warnings[0].startswith(
        "8 dead letters cannot be redelivered: the entry is no longer in the stream. "
        f"Left in the queue: {few} and 3 more."
    )


async def test_entries_of_the_first_dead_letters_alone_are_looked_for_where_there_are_many(
    server: RunningServer, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "CHECKED", 16)
    make_group(server)
    for number in range(1, 41):
        add_letter(server, OWN, origin_id=f"{number}-1")
    plan = (await console.prepare(REDELIVER)).plan
    assert plan.count == 40
    assert plan.effects[1] == "0 of the first 16 dead letters can be redelivered."
    assert any("gone from the stream, pending or not read yet are skipped" in one for one in plan.effects)


def nobody_reads(warnings: tuple[str, ...]) -> bool:
    return any(
        one.startswith(f"Nothing reads {RETRIES} now: group billing has no live consumer") for one in warnings
    )


async def test_retry_warns_where_no_living_consumer_reads_the_retry_stream(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    add_letter(server, OWN, origin_id="7-1")
    assert nobody_reads((await console.prepare(RETRY)).plan.warnings)
    worker = f"{WORKER_PREFIX}host-1-ab12"
    make_group(server, RETRIES)
    server.command("XGROUP", "CREATECONSUMER", RETRIES, GROUP, worker)
    (warning,) = (await console.prepare(RETRY)).plan.warnings
    assert nobody_reads((warning,))
    assert "`streamops run MODULE:APP`" in warning
    beat(server, worker)
    assert (await console.prepare(RETRY)).plan.warnings == ()


async def test_retry_takes_a_consumer_of_another_name_for_alive_that_was_seen(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    add_letter(server, OWN, origin_id="7-1")
    make_group(server, RETRIES)
    server.command("XREADGROUP", "GROUP", GROUP, "named", "STREAMS", RETRIES, ">")
    assert (await console.prepare(RETRY)).plan.warnings == ()


@pytest.mark.parametrize("mode", [ReplayMode.REDELIVER, ReplayMode.RETRY])
async def test_replay_to_one_group_of_a_stream_without_groups_is_refused(
    server: RunningServer, console: Console, mode: ReplayMode
) -> None:
    add_pairs(server, STREAM, OWN)
    add_letter(server, OWN, origin_id="7-1")
    with pytest.raises(Forbidden, match=f"--mode {mode}: stream {STREAM} has no group"):
        await console.prepare(ReplayIntent(queue=QUEUE, mode=mode))
    with pytest.raises(Forbidden, match="stream elsewhere does not exist"):
        await console.prepare(ReplayIntent(queue=QUEUE, mode=ReplayMode.RETRY, to="elsewhere"))
