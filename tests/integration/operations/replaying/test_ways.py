"""The ways in which letters are handed on, and what becomes of their entries."""

from itertools import pairwise

import pytest

from streamops.model.acting import Confirmation, Impact
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.wire.writes.replay import BATCH_BYTES
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
from tests.support.operations.replaying.fields import FLAT, OWN
from tests.support.servers import RunningServer
from tests.support.streams import entries_of


async def test_republished_letters_are_new_entries_of_their_stream(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    letters = [add_letter(server, OWN, origin_id=f"{number}-1") for number in range(1, 4)]
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    plan = prepared.plan
    assert (plan.count, plan.impact, plan.confirm, plan.undo) == (3, Impact.REDELIVERS, QUEUE, "")
    assert plan.command == f"streamops replay '{QUEUE}' --mode republish"
    assert any("delivered to its group: billing" in effect for effect in plan.effects)
    assert plan.sample[0].startswith(
        f"{letters[0]} (max-deliveries, group billing, delivered 5 times): kind=order"
    )
    outcome = await console.apply(prepared, Confirmation(yes=True))
    assert (outcome.applied, outcome.skipped_count, outcome.failed_count) == (3, 0, 0)
    assert outcome.job
    assert server.command("XLEN", QUEUE) == 0
    assert [fields for _, fields in entries_of(server, STREAM)] == [
        [*FLAT, b"_so_origin_id", f"{number}-1".encode(), b"_so_replay_of", letter.encode()]
        for number, letter in enumerate(letters, 1)
    ]


async def test_the_very_last_id(server: RunningServer, console: Console) -> None:
    make_group(server)
    utmost = 2**64 - 1
    for number in range(17):
        add_letter(server, OWN, entry_id=f"{utmost}-{utmost - 16 + number}")
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    server.command("XDEL", QUEUE, f"{utmost}-{utmost - 16}")
    outcome = await console.apply(prepared, Confirmation(yes=True))
    assert (outcome.applied, server.command("XLEN", QUEUE)) == (16, 0)


async def test_redelivered_letters_are_pending_again_as_the_entries_they_were(
    server: RunningServer, console: Console
) -> None:
    """The stream's own entry becomes pending again, and whoever claims gets it."""
    make_group(server)
    make_group(server, group="audit")
    origin = add_pairs(server, STREAM, OWN)
    pending = add_pairs(server, STREAM, OWN)
    for group in (GROUP, "audit"):
        server.command("XREADGROUP", "GROUP", group, "c1", "STREAMS", STREAM, ">")
    unread = add_pairs(server, STREAM, OWN)
    server.command("XACK", STREAM, GROUP, origin)
    server.command("XACK", STREAM, "audit", origin, pending)
    for one in (origin, pending, unread, "1-1"):
        add_letter(server, OWN, origin_id=one)
    add_letter(server, OWN)
    outcome = await do(console, ReplayIntent(queue=QUEUE, mode=ReplayMode.REDELIVER))
    assert outcome.applied == 1
    assert [skip.reason.split(";")[0] for skip in outcome.skipped] == [
        "it is pending already",
        "its group has yet to read it",
        "its entry is gone from the stream",
        "its entry is not known",
    ]
    assert server.command("XLEN", QUEUE) == 4
    assert server.command("XPENDING", STREAM, "audit")[0] == 0
    claimed = server.command("XAUTOCLAIM", STREAM, GROUP, "c2", 29 * 24 * 3600 * 1000, "0")[1]
    assert [one[0].decode() for one in claimed] == [origin]
    assert server.command("XPENDING", STREAM, GROUP, origin, origin, 1)[0][3] == 1


async def test_retried_letters_go_to_the_retries_of_their_group_alone(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    make_group(server, group="audit")
    letter = add_letter(server, OWN, origin_id="7-1")
    other = add_letter(server, OWN, origin_id="8-1", group="a:b")
    make_group(server, group="a:b")
    lost = add_letter(server, OWN, origin_id="9-1", group="gone")
    prepared = await console.prepare(ReplayIntent(queue=QUEUE, mode=ReplayMode.RETRY))
    assert any(
        "1 dead letter is of a stream or group that does not exist" in one for one in prepared.plan.warnings
    )
    outcome = await console.apply(prepared, Confirmation(yes=True))
    assert (outcome.applied, [skip.id for skip in outcome.skipped]) == (2, [lost])
    reserved = [
        b"_so_origin",
        b"orders",
        b"_so_origin_id",
        b"7-1",
        b"_so_group",
        b"billing",
        b"_so_attempt",
        b"1",
    ]
    ((_, fields),) = entries_of(server, "{orders}:retry:billing")
    assert fields == [*FLAT, *reserved, b"_so_replay_of", letter.encode()]
    ((_, fields),) = entries_of(server, "{orders}:retry:a%3Ab")
    assert fields[-1] == other.encode()
    given = server.command("XREADGROUP", "GROUP", GROUP, "c", "STREAMS", "{orders}:retry:billing", ">")
    assert len(given[0][1]) == 1
    assert entries_of(server, STREAM) == []


async def test_a_replayed_entry_that_dies_again_says_how_often(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    add_letter(server, OWN, origin_id="1-1")
    for replays in range(3):
        prepared = await console.prepare(ReplayIntent(queue=QUEUE))
        assert (f"replayed {replays} time" in prepared.plan.sample[0]) == bool(replays)
        await console.apply(prepared, Confirmation(yes=True))
        (entry_id, fields), *_ = entries_of(server, STREAM)
        assert fields.count(b"_so_replay_of") == replays + 1
        # The first origin stays: that is how a guard knows the entry.
        assert fields[fields.index(b"_so_origin_id") + 1] == b"1-1"
        assert fields.count(b"_so_origin_id") == 1
        server.command("XDEL", STREAM, entry_id)
        pairs = list(zip(fields[::2], fields[1::2], strict=True))
        add_letter(server, pairs, origin_id=entry_id)


async def test_letters_of_other_libraries_are_replayed_by_their_payload(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    payload = (
        '{"kind":"order","amount":12345678901234567890.10,"nested":{"a":[1]},"text":"\\u00e9\\ud83d\\ude00"}'
    )
    add_pairs(server, QUEUE, [("orig_id", "5-1"), ("reason", "boom"), ("payload", payload)], "10-1")
    add_pairs(server, QUEUE, [("orig_id", "x"), ("reason", "boom"), ("payload", "[1]")], "11-1")
    add_pairs(server, QUEUE, [("orig_id", "x"), ("reason", "boom"), ("payload", b"\xff{")], "12-1")
    add_pairs(server, QUEUE, [("any", "thing")], "13-1")
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    assert "Reasons: boom 3, none given 1." in prepared.plan.effects
    assert "its payload is no JSON object" in prepared.plan.sample[1]
    assert (await console.apply(prepared, Confirmation(yes=True))).applied == 4
    assert [fields for _, fields in entries_of(server, STREAM)] == [
        [
            *(b"kind", b"order", b"amount", b"12345678901234567890.10", b"nested", b'{"a":[1]}'),
            *(b"text", "é😀".encode(), b"_so_origin_id", b"5-1", b"_so_replay_of", b"10-1"),
        ],
        [b"orig_id", b"x", b"reason", b"boom", b"payload", b"[1]", b"_so_replay_of", b"11-1"],
        [b"orig_id", b"x", b"reason", b"boom", b"payload", b"\xff{", b"_so_replay_of", b"12-1"],
        [b"any", b"thing", b"_so_replay_of", b"13-1"],
    ]


@pytest.mark.parametrize("mode", [ReplayMode.REPUBLISH, ReplayMode.RETRY])
async def test_no_letter_overtakes_another(server: RunningServer, console: Console, mode: ReplayMode) -> None:
    """Not even one that the script cannot move by itself, wherever it stands, nor one that names no group."""
    make_group(server)
    server.command("SET", "{orders}:payload", "v")
    special = {1, 2, 70, 500, 501, 1_099}
    for number in range(1_100):
        own = [("n", str(number))]
        if number in special and number % 2:
            add_pairs(
                server, QUEUE, [("orig_id", "5-1"), ("reason", "boom"), ("payload", f'{{"n":"{number}"}}')]
            )
        elif number in special:
            add_letter(server, [*own, ("_so_payload", "{orders}:payload")], group="")
        else:
            add_letter(server, own, group=(GROUP, "")[number % 3 == 0])
    seen: list[int] = []
    outcome = await do(
        console, ReplayIntent(queue=QUEUE, mode=mode), progress=lambda progress: seen.append(progress.done)
    )
    assert outcome.applied == 1_100
    target = STREAM if mode is ReplayMode.REPUBLISH else "{orders}:retry:billing"
    assert [fields[1] for fields in payloads(server, target)] == [b"%d" % number for number in range(1_100)]
    # Where no letter needs us, batches are as large as ever.
    assert max(after - before for before, after in pairwise(seen)) >= 400


async def test_letters_of_several_streams_go_back_to_each(server: RunningServer, console: Console) -> None:
    for stream in ("orders", "refunds"):
        make_group(server, stream)
    for number in range(6):
        add_letter(server, [("n", str(number))], origin=("orders", "refunds")[number % 2])
    await do(console, ReplayIntent(queue=QUEUE, foreign_origins=True))
    assert payloads(server, "orders") == [[b"n", b"0"], [b"n", b"2"], [b"n", b"4"]]
    assert payloads(server, "refunds") == [[b"n", b"1"], [b"n", b"3"], [b"n", b"5"]]


async def test_edited_letters_are_replayed_with_the_new_fields(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    add_letter(server, OWN)
    add_pairs(server, QUEUE, [("orig_id", "5-1"), ("reason", "boom"), ("payload", '{"tag":"x"}')])
    await do(console, ReplayIntent(queue=QUEUE, edit=((b"tag", b"\xfe"), (b"new", b""))))
    assert payloads(server, STREAM) == [
        [b"kind", b"order", b"tag", b"\xfe", b"tag", b"\xfe", b"new", b""],
        [b"tag", b"\xfe", b"new", b""],
    ]


async def test_entries_of_any_size(server: RunningServer, console: Console) -> None:
    """Thousands of fields and megabytes go through; what a script cannot write fails, and the rest goes on."""
    make_group(server)
    many = [(f"f{number}", "v") for number in range(3_800)]
    too_many = [(f"f{number}", "v") for number in range(4_500)]
    large = [("body", b"\x00" * (BATCH_BYTES + 7))]
    add_letter(server, many)
    lost = add_letter(server, too_many)
    for _ in range(3):
        add_letter(server, large)
    add_letter(server, OWN)
    outcome = await do(console, ReplayIntent(queue=QUEUE))
    assert outcome.applied == 5
    assert [(one.id, one.error) for one in outcome.failed] == [
        (lost, "it has more fields than a script can write")
    ]
    assert [len(fields) for fields in payloads(server, STREAM)] == [7_600, 2, 2, 2, 6]
    assert server.command("XLEN", QUEUE) == 1


async def test_a_stream_named_by_hand_is_created(server: RunningServer, console: Console) -> None:
    add_letter(server, OWN)
    prepared = await console.prepare(ReplayIntent(queue=QUEUE, to="new"))
    assert "Stream new does not exist: it will be created." in prepared.plan.warnings
    assert (await console.apply(prepared, Confirmation(yes=True))).applied == 1
    assert payloads(server, "new") == [FLAT]
