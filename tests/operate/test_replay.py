"""Replaying: which letters go where, and what a plan says of it."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import pairwise

import pytest
from msgspec.structs import replace

from streamops.errors import (
    ApplyError,
    Forbidden,
    Interrupted,
    NotFound,
    Refused,
    ServerError,
    SettingsError,
    StalePlan,
)
from streamops.model.acting import Assent, JobState, Limits, Outcome, Progress, Tier
from streamops.model.acts.purge import PurgeIntent
from streamops.model.acts.replay import ReplayIntent, ReplayMode
from streamops.model.ids import EntryId
from streamops.operate.console import Console
from streamops.operate.watch import Watch
from streamops.wire.options import Secret
from streamops.wire.writes.replay_words import BATCH_BYTES
from tests.deployments import RunningCluster
from tests.operate.letters import GROUP, QUEUE, STREAM, add, add_letter, do, entries, make_group, payloads
from tests.servers import RunningServer

OWN = [(b"kind", b"order"), (b"tag", b"a"), (b"tag", b"\xff\x00b")]
FLAT = [b"kind", b"order", b"tag", b"a", b"tag", b"\xff\x00b"]


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await Console.open(server.options) as opened:
        yield opened


async def test_republish(server: RunningServer, console: Console) -> None:
    make_group(server)
    letters = [add_letter(server, OWN, origin_id=f"{number}-1") for number in range(1, 4)]
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    plan = prepared.plan
    assert (plan.count, plan.tier, plan.confirm, plan.undo) == (3, Tier.REDELIVERS, QUEUE, "")
    assert plan.command == f"streamops replay '{QUEUE}' --mode republish"
    assert any("its group gets them: billing" in effect for effect in plan.effects)
    assert plan.sample[0].startswith(
        f"{letters[0]} (max-deliveries, group billing, delivered 5 times): kind=order"
    )
    outcome = await console.apply(prepared, Assent(yes=True))
    assert (outcome.applied, outcome.skipped_count, outcome.failed_count) == (3, 0, 0)
    assert outcome.job
    assert server.command("XLEN", QUEUE) == 0
    assert [fields for _, fields in entries(server, STREAM)] == [
        [*FLAT, b"_so_origin_id", f"{number}-1".encode(), b"_so_replay_of", letter.encode()]
        for number, letter in enumerate(letters, 1)
    ]


async def test_an_empty_reference_is_no_payload(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letter(server, [("n", "1"), ("_so_payload", "")])
    outcome = await do(console, ReplayIntent(queue=QUEUE))
    assert (outcome.applied, server.command("XLEN", QUEUE)) == (1, 0)


async def test_the_very_last_id(server: RunningServer, console: Console) -> None:
    make_group(server)
    utmost = 2**64 - 1
    for number in range(17):
        add_letter(server, OWN, entry_id=f"{utmost}-{utmost - 16 + number}")
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    server.command("XDEL", QUEUE, f"{utmost}-{utmost - 16}")
    outcome = await console.apply(prepared, Assent(yes=True))
    assert (outcome.applied, server.command("XLEN", QUEUE)) == (16, 0)


async def test_redeliver(server: RunningServer, console: Console) -> None:
    """The stream's own entry becomes pending again, and whoever claims gets it."""
    make_group(server)
    make_group(server, group="audit")
    origin = add(server, STREAM, OWN)
    pending = add(server, STREAM, OWN)
    for group in (GROUP, "audit"):
        server.command("XREADGROUP", "GROUP", group, "c1", "STREAMS", STREAM, ">")
    unread = add(server, STREAM, OWN)
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


async def test_retry(server: RunningServer, console: Console) -> None:
    make_group(server)
    make_group(server, group="audit")
    letter = add_letter(server, OWN, origin_id="7-1")
    other = add_letter(server, OWN, origin_id="8-1", group="a:b")
    make_group(server, group="a:b")
    lost = add_letter(server, OWN, origin_id="9-1", group="gone")
    prepared = await console.prepare(ReplayIntent(queue=QUEUE, mode=ReplayMode.RETRY))
    assert any("1 letter is of a stream or group that is not there" in one for one in prepared.plan.warnings)
    outcome = await console.apply(prepared, Assent(yes=True))
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
    ((_, fields),) = entries(server, "{orders}:retry:billing")
    assert fields == [*FLAT, *reserved, b"_so_replay_of", letter.encode()]
    ((_, fields),) = entries(server, "{orders}:retry:a%3Ab")
    assert fields[-1] == other.encode()
    given = server.command("XREADGROUP", "GROUP", GROUP, "c", "STREAMS", "{orders}:retry:billing", ">")
    assert len(given[0][1]) == 1
    assert entries(server, STREAM) == []


async def test_a_replayed_entry_that_dies_again_says_how_often(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    add_letter(server, OWN, origin_id="1-1")
    for replays in range(3):
        prepared = await console.prepare(ReplayIntent(queue=QUEUE))
        assert (f"replayed {replays} time" in prepared.plan.sample[0]) == bool(replays)
        await console.apply(prepared, Assent(yes=True))
        (entry_id, fields), *_ = entries(server, STREAM)
        assert fields.count(b"_so_replay_of") == replays + 1
        # The first origin stays: that is how a guard knows the entry.
        assert fields[fields.index(b"_so_origin_id") + 1] == b"1-1"
        assert fields.count(b"_so_origin_id") == 1
        server.command("XDEL", STREAM, entry_id)
        pairs = list(zip(fields[::2], fields[1::2], strict=True))
        add_letter(server, pairs, origin_id=entry_id)


async def test_foreign_letters(server: RunningServer, console: Console) -> None:
    make_group(server)
    payload = (
        '{"kind":"order","amount":12345678901234567890.10,"nested":{"a":[1]},"text":"\\u00e9\\ud83d\\ude00"}'
    )
    add(server, QUEUE, [("orig_id", "5-1"), ("reason", "boom"), ("payload", payload)], "10-1")
    add(server, QUEUE, [("orig_id", "x"), ("reason", "boom"), ("payload", "[1]")], "11-1")
    add(server, QUEUE, [("orig_id", "x"), ("reason", "boom"), ("payload", b"\xff{")], "12-1")
    add(server, QUEUE, [("any", "thing")], "13-1")
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    assert "Reasons: boom 3, none given 1." in prepared.plan.effects
    assert "its payload is no JSON object" in prepared.plan.sample[1]
    assert (await console.apply(prepared, Assent(yes=True))).applied == 4
    assert [fields for _, fields in entries(server, STREAM)] == [
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
            add(server, QUEUE, [("orig_id", "5-1"), ("reason", "boom"), ("payload", f'{{"n":"{number}"}}')])
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
    await do(console, ReplayIntent(queue=QUEUE))
    assert payloads(server, "orders") == [[b"n", b"0"], [b"n", b"2"], [b"n", b"4"]]
    assert payloads(server, "refunds") == [[b"n", b"1"], [b"n", b"3"], [b"n", b"5"]]


@pytest.mark.parametrize(
    ("intent", "taken"),
    [
        ({"where": "fields.n == '2'"}, [2]),
        ({"where": "json.n > `3` && group == 'billing' && deliveries > `1`"}, [4, 5]),
        ({"where": "error == 'boom' && reason == 'rejected'"}, [1]),
        ({"because": "rejected"}, [1, 3, 5]),
        ({"ids": (EntryId(1_000_004, 0), EntryId(1_000_001, 0), EntryId(7, 7))}, [1, 4]),
        ({"count": 2}, [0, 1]),
        ({"because": "rejected", "count": 2}, [1, 3]),
        ({"since": EntryId(1_000_002, 0).time, "until": EntryId(1_000_003, 0).time}, [2, 3]),
        ({"since": timedelta(days=1)}, []),
        ({"until": timedelta(days=1), "count": 1}, [0]),
    ],
)
async def test_selections(
    server: RunningServer, console: Console, intent: dict[str, object], taken: list[int]
) -> None:
    make_group(server)
    for number in range(6):
        reason = ("max-deliveries", "rejected")[number % 2]
        error = {"error": "boom"} if number == 1 else {}
        add_letter(server, [("n", str(number))], entry_id=f"{1_000_000 + number}-0", reason=reason, **error)
    prepared = await console.prepare(ReplayIntent(queue=QUEUE, **intent))  # type: ignore[arg-type]
    assert prepared.plan.count == len(taken)
    assert len(prepared.plan.sample) == len(taken)
    outcome = await console.apply(prepared, Assent(yes=True))
    assert outcome.applied == len(taken)
    assert payloads(server, STREAM) == [[b"n", str(number).encode()] for number in taken]
    assert server.command("XLEN", QUEUE) == 6 - len(taken)


async def test_edits(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letter(server, OWN)
    add(server, QUEUE, [("orig_id", "5-1"), ("reason", "boom"), ("payload", '{"tag":"x"}')])
    await do(console, ReplayIntent(queue=QUEUE, edit=((b"tag", b"\xfe"), (b"new", b""))))
    assert payloads(server, STREAM) == [
        [b"kind", b"order", b"tag", b"\xfe", b"tag", b"\xfe", b"new", b""],
        [b"tag", b"\xfe", b"new", b""],
    ]


async def test_payloads_kept_beside_the_stream(server: RunningServer, console: Console) -> None:
    make_group(server)
    server.command("SET", "{orders}:payload:1", "big", "EX", 100)
    here = add_letter(server, [*OWN, ("_so_payload", "{orders}:payload:1")])
    gone = add_letter(server, [*OWN, ("_so_payload", "{orders}:payload:2")])
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    assert any(effect.startswith("2 letters refer to a payload") for effect in prepared.plan.effects)
    outcome = await console.apply(prepared, Assent(yes=True))
    assert outcome.applied == 1
    assert [(one.id, one.error) for one in outcome.failed] == [
        (gone, "payload-missing: there is no key {orders}:payload:2")
    ]
    assert server.command("TTL", "{orders}:payload:1") == -1
    ((_, fields),) = entries(server, STREAM)
    assert fields == [*FLAT, b"_so_payload", b"{orders}:payload:1", b"_so_replay_of", here.encode()]


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


async def test_many_letters_in_batches(server: RunningServer, console: Console) -> None:
    make_group(server)
    for number in range(1_203):
        add_letter(server, [("n", str(number))])
    seen: list[int] = []
    outcome = await do(
        console, ReplayIntent(queue=QUEUE), progress=lambda progress: seen.append(progress.done)
    )
    assert outcome.applied == 1_203
    assert payloads(server, STREAM) == [[b"n", str(number).encode()] for number in range(1_203)]
    assert {500, 1_000, 1_203} <= set(seen)


async def test_ids_that_are_not_there_are_told(server: RunningServer, console: Console) -> None:
    make_group(server)
    letter = EntryId.parse(add_letter(server, OWN))
    absent = (EntryId(7, 7), EntryId(8, 8))
    for intent in (ReplayIntent, PurgeIntent):
        plan = (await console.prepare(intent(queue=QUEUE, ids=(letter, *absent)))).plan
        assert (plan.count, plan.warnings) == (1, ("2 IDs are not in the queue, and will be left out.",))
        plan = (await console.prepare(intent(queue=QUEUE, ids=absent[:1]))).plan
        assert (plan.count, plan.warnings) == (0, ("1 ID is not in the queue, and will be left out.",))
        plan = (await console.prepare(intent(queue=QUEUE, ids=(letter,), because="rejected"))).plan
        assert (plan.count, plan.warnings) == (0, ())


# What is refused.


async def test_a_live_stream_is_not_taken_from_its_groups(server: RunningServer) -> None:
    make_group(server, "events", "worker", "0")
    make_group(server, "events", "idle", "$")
    make_group(server, "archive")
    intent = ReplayIntent(queue="events", to="archive")
    async with await Console.open(server.options) as console:
        add(server, "events", OWN, "5-1")
        with pytest.raises(Forbidden, match="groups idle, worker would lose") as refused:
            await console.prepare(intent)
        assert 'dead_letters = { STREAM = "events" }' in refused.value.hint
        for group in ("worker", "idle"):
            server.command("XREADGROUP", "GROUP", group, "c", "STREAMS", "events", ">")
        server.command("XACK", "events", "idle", "5-1")
        with pytest.raises(Forbidden, match="group worker would lose"):
            await console.prepare(intent)
        server.command("XACK", "events", "worker", "5-1")
        assert (await console.prepare(intent)).plan.count == 1
    add(server, "events", OWN, "6-1")
    async with await Console.open(server.options, Watch(dead_letters={"archive": "events"})) as console:
        plan = (await console.prepare(intent)).plan
    assert plan.count == 2
    assert plan.warnings[0] == (
        "Group idle reads the queue itself: after letters leave it, its lag may not be known."
    )


async def test_a_mode_is_asked_for_where_more_than_one_group_would_see_them(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    make_group(server, group="audit")
    add_letter(server, OWN)
    with pytest.raises(SettingsError, match=r"stream orders has 2 groups: (audit, billing|billing, audit)"):
        await console.prepare(ReplayIntent(queue=QUEUE))
    plan = (await console.prepare(ReplayIntent(queue=QUEUE, mode=ReplayMode.REPUBLISH))).plan
    assert any("its groups get them" in effect for effect in plan.effects)


async def test_a_group_that_appears_meanwhile_is_drift(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letter(server, OWN)
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    make_group(server, group="audit")
    with pytest.raises(StalePlan, match="another group now: audit"):
        await console.apply(prepared, Assent(yes=True))
    assert (server.command("XLEN", QUEUE), server.command("XLEN", STREAM)) == (1, 0)


async def test_a_stream_that_goes_meanwhile_is_drift(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letter(server, OWN)
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    server.command("DEL", STREAM)
    with pytest.raises(StalePlan, match="stream orders is gone"):
        await console.apply(prepared, Assent(yes=True))
    assert server.command("EXISTS", STREAM) == 0


async def test_bad_input(server: RunningServer, console: Console) -> None:
    with pytest.raises(NotFound):
        await console.prepare(ReplayIntent(queue="missing:dlq"))
    server.command("SET", "text:dlq", "v")
    with pytest.raises(NotFound, match="not a stream"):
        await console.prepare(ReplayIntent(queue="text:dlq"))
    add_letter(server, OWN)
    with pytest.raises(Forbidden, match=r"orders, where letters of .* came from, does not exist"):
        await console.prepare(ReplayIntent(queue=QUEUE))
    with pytest.raises(SettingsError, match="expression"):
        await console.prepare(ReplayIntent(queue=QUEUE, where="fields.kind =="))
    with pytest.raises(SettingsError, match="no 'kind' at its root"):
        await console.prepare(ReplayIntent(queue=QUEUE, where="kind == 'x'"))
    add(server, "plain", OWN)
    with pytest.raises(SettingsError, match="neither its letters nor its name"):
        await console.prepare(ReplayIntent(queue="plain"))
    add(server, "loop:dlq", [*OWN, ("_so_origin", "loop:dlq")])
    with pytest.raises(Forbidden, match="round in circles"):
        await console.prepare(ReplayIntent(queue="loop:dlq"))
    with pytest.raises(ValueError, match="not replayed into itself"):
        ReplayIntent(queue=QUEUE, to=QUEUE)
    with pytest.raises(ValueError, match="neither --edit nor --to"):
        ReplayIntent(queue=QUEUE, to=STREAM, mode=ReplayMode.REDELIVER)
    with pytest.raises(ValueError, match="reserved"):
        ReplayIntent(queue=QUEUE, edit=((b"_so_group", b"x"),))
    with pytest.raises(ValueError, match="two values"):
        ReplayIntent(queue=QUEUE, edit=((b"a", b"x"), (b"a", b"y")))


async def test_a_stream_named_by_hand_is_created(server: RunningServer, console: Console) -> None:
    add_letter(server, OWN)
    prepared = await console.prepare(ReplayIntent(queue=QUEUE, to="new"))
    assert "Stream new does not exist: it will be created." in prepared.plan.warnings
    assert (await console.apply(prepared, Assent(yes=True))).applied == 1
    assert payloads(server, "new") == [FLAT]


async def test_an_empty_queue(server: RunningServer, console: Console) -> None:
    server.command("XDEL", QUEUE, add_letter(server, OWN))
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    assert (prepared.plan.count, prepared.plan.effects) == (0, ())
    assert (await console.apply(prepared)).applied == 0


async def test_groups_of_the_queue_itself_are_told(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letter(server, OWN)
    server.command("XGROUP", "CREATE", QUEUE, "watchers", "0")
    server.command("XREADGROUP", "GROUP", "watchers", "c", "STREAMS", QUEUE, ">")
    plan = (await console.prepare(ReplayIntent(queue=QUEUE))).plan
    assert plan.warnings == (
        "Group watchers, which has 1 letter pending, reads the queue itself: after letters leave it, its lag may not be known.",
    )


async def test_what_dies_during_a_replay_is_not_replayed_again(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    for number in range(3):
        add_letter(server, [("n", str(number))])
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    late = add_letter(server, [("n", "late")])
    assert (await console.apply(prepared, Assent(yes=True))).applied == 3
    assert [one for one, _ in entries(server, QUEUE)] == [late]


# Between slots.


async def test_between_slots(cluster: RunningCluster) -> None:
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
        outcome = await console.apply(prepared, Assent(yes=True))
    assert outcome.applied == 250
    assert source.command("XLEN", QUEUE) == 0
    found = [fields for _, fields in entries(target, "archive")]
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
    origin = add(target, STREAM, OWN)
    target.command("XREADGROUP", "GROUP", GROUP, "c", "NOACK", "STREAMS", STREAM, ">")
    add_letter(source, OWN, origin_id=origin, queue=queue)
    lost = add_letter(source, OWN, origin_id="1-1", queue=queue, group="other")
    async with await Console.open(cluster.options) as console:
        outcome = await do(console, ReplayIntent(queue=queue, mode=mode))
    assert (outcome.applied, [one.id for one in outcome.skipped]) == (1, [lost])
    if mode is ReplayMode.RETRY:
        assert payloads(target, "{orders}:retry:billing") == [FLAT]
    else:
        assert [row[0].decode() for row in target.command("XPENDING", STREAM, GROUP, "-", "+", 9)] == [origin]
    assert source.command("XLEN", queue) == 1


async def test_a_payload_in_another_slot(cluster: RunningCluster) -> None:
    source, target, beside = (cluster.node_of(key) for key in (QUEUE, "archive", "elsewhere"))
    make_group(target, "archive")
    beside.command("SET", "elsewhere", "v", "EX", 100)
    add_letter(source, [*OWN, ("_so_payload", "elsewhere")])
    lost = add_letter(source, [*OWN, ("_so_payload", "nowhere")])
    async with await Console.open(cluster.options) as console:
        outcome = await do(console, ReplayIntent(queue=QUEUE, to="archive"))
    assert (outcome.applied, [one.id for one in outcome.failed]) == (1, [lost])
    assert beside.command("TTL", "elsewhere") == -1


async def test_some_streams_in_the_slot_of_the_queue_and_some_not(cluster: RunningCluster) -> None:
    source, other = cluster.node_of(STREAM), cluster.node_of("refunds")
    for stream in (STREAM, "refunds"):
        make_group(cluster.node_of(stream), stream)
    for number in range(10):
        add_letter(source, [("n", str(number))], origin=(STREAM, "refunds")[number % 2])
    add(source, QUEUE, [("orig_id", "5-1"), ("reason", "boom"), ("payload", '{"n":"10"}')])
    async with await Console.open(cluster.options) as console:
        prepared = await console.prepare(ReplayIntent(queue=QUEUE))
        assert any(
            "The queue and refunds are in different hash slots" in one for one in prepared.plan.effects
        )
        outcome = await console.apply(prepared, Assent(yes=True))
    assert outcome.applied == 11
    assert [fields[1] for fields in payloads(source, STREAM)] == [b"0", b"2", b"4", b"6", b"8", b"10"]
    assert [fields[1] for fields in payloads(other, "refunds")] == [b"1", b"3", b"5", b"7", b"9"]


async def test_names_that_no_key_can_stand_beside(cluster: RunningCluster) -> None:
    queue = "failed:dlq"
    make_group(cluster.node_of("a}b"), "a}b", "g")
    add_letter(cluster.node_of(queue), OWN, queue=queue, origin="a}b", group="g")
    async with await Console.open(cluster.options) as console:
        for mode in ReplayMode:
            with pytest.raises(Forbidden, match="no key can stand beside it"):
                await console.prepare(ReplayIntent(queue=queue, mode=mode))


# Going on.


async def test_an_interrupted_replay_goes_on(server: RunningServer, console: Console) -> None:
    make_group(server)
    for number in range(1_200):
        add_letter(server, [("n", str(number))])
    stop, tokens = asyncio.Event(), list[str]()
    prepared = await console.prepare(
        ReplayIntent(queue=QUEUE, where="to_number(fields.n) > `-1`", count=1_100)
    )
    with pytest.raises(Interrupted) as interrupted:
        await console.apply(
            prepared,
            Assent(yes=True),
            progress=lambda _: stop.set(),
            started=tokens.append,
            stop=stop,
        )
    done = interrupted.value.outcome
    assert isinstance(done, Outcome)
    assert 0 < done.applied < 1_100
    late = add_letter(server, [("n", "late")])
    rest = await console.prepare_rest(tokens[0])
    assert rest.plan.count == 1_100 - done.applied
    assert (await console.apply(rest, Assent(yes=True))).applied == 1_100 - done.applied
    assert payloads(server, STREAM) == [[b"n", str(number).encode()] for number in range(1_100)]
    left = [one for one, _ in entries(server, QUEUE)]
    assert (len(left), left[-1]) == (101, late)
    assert (await console.read_job(tokens[0])).state is JobState.DONE


async def test_a_job_of_which_nothing_is_left_is_done(server: RunningServer, console: Console) -> None:
    make_group(server)
    for number in range(1_200):
        add_letter(server, [("n", str(number))])
    stop, tokens = asyncio.Event(), list[str]()
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    with pytest.raises(Interrupted):
        await console.apply(
            prepared, Assent(yes=True), progress=lambda _: stop.set(), started=tokens.append, stop=stop
        )
    server.command("XTRIM", QUEUE, "MAXLEN", 0)
    rest = await console.prepare_rest(tokens[0])
    assert (await console.apply(rest)).applied == 0
    assert (await console.read_job(tokens[0])).state is JobState.DONE


async def test_without_permission_nothing_is_written(server: RunningServer) -> None:
    make_group(server)
    add_letter(server, OWN)
    for denied in ("-xdel", "-xadd"):
        server.command("ACL", "SETUSER", "some", "reset", "on", ">right", "~*", "&*", "+@all", denied)
        options = replace(server.options, username="some", password=Secret("right"))
        try:
            async with await Console.open(options) as console:
                with pytest.raises(Refused, match=denied[1:].upper()):
                    await do(console, ReplayIntent(queue=QUEUE))
        finally:
            server.command("ACL", "DELUSER", "some")
    assert (server.command("XLEN", QUEUE), server.command("XLEN", STREAM)) == (1, 0)


async def test_out_of_memory_nothing_is_moved(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letter(server, OWN)
    prepared = await console.prepare(ReplayIntent(queue=QUEUE), Limits(unaudited=True))
    server.command("CONFIG", "SET", "maxmemory", 1)
    try:
        with pytest.raises(ServerError, match="out of memory"):
            await console.apply(prepared, Assent(yes=True))
    finally:
        server.command("CONFIG", "SET", "maxmemory", 0)
    assert (server.command("XLEN", QUEUE), server.command("XLEN", STREAM)) == (1, 0)


async def test_a_selection_of_millions_is_refused(any_server: RunningServer) -> None:
    make_group(any_server)
    script = "for n = 1, 250100 do redis.call('XADD', KEYS[1], '*', 'a', 'b') end"
    for _ in range(4):
        any_server.command("EVAL", script, 1, QUEUE)
    async with await Console.open(any_server.options) as console:
        with pytest.raises(Forbidden, match="more than 1,000,000 selected"):
            await console.prepare(ReplayIntent(queue=QUEUE))
        plan = (await console.prepare(ReplayIntent(queue=QUEUE), Limits(max_count=2_000_000))).plan
    assert plan.count == 1_000_400
    assert any("those of the first 10,000 letters" in warning for warning in plan.warnings)


async def test_memory_that_runs_out_stops_a_replay_which_goes_on_later(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    for number in range(1_200):
        add_letter(server, [("n", str(number))])
    tokens: list[str] = []

    def run_out(progress: Progress) -> None:
        if progress.done < 1_000:
            server.command("CONFIG", "SET", "maxmemory", 1)

    try:
        with pytest.raises(ApplyError, match="out of memory"):
            await do(console, ReplayIntent(queue=QUEUE), progress=run_out, started=tokens.append)
    finally:
        server.command("CONFIG", "SET", "maxmemory", 0)
    assert server.command("XLEN", STREAM) + server.command("XLEN", QUEUE) == 1_200
    await console.apply(await console.prepare_rest(tokens[0]), Assent(yes=True))
    assert payloads(server, STREAM) == [[b"n", str(number).encode()] for number in range(1_200)]
