"""Trimming on real servers: what it removes, what it leaves, whom it names, and when it refuses."""

from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from streamops.errors import ApplyError, Forbidden, NotFound, ServerError, SettingsError, StalePlan
from streamops.model.acting import Confirmation, Impact, JobState, Limits
from streamops.model.entries import MAX_PART, Amount, EntryId
from streamops.monitor.inspection import inspect_stream
from streamops.operations import walking
from streamops.operations.backups import part_of
from streamops.operations.console import Console
from streamops.operations.jobs import JobStopped
from streamops.operations.registry import OPERATIONS
from streamops.operations.trim import run as trim
from streamops.operations.trim import survey as trim_evidence
from streamops.operations.trim.intent import TrimIntent
from streamops.operations.walking import count_after_each, count_below, cut_for_length
from streamops.wire.pending import read_pending_summary
from streamops.wire.scripts import load_script
from streamops.wire.server import Server
from streamops.wire.writes.entries import TrimmedSlice, TrimMode, trim_safely
from tests.support.operations.backups import read_backup
from tests.support.operations.doing import applied, done, open_console, planned
from tests.support.operations.trim import STREAM, add_four_hundred_read_in_part
from tests.support.servers import RunningServer
from tests.support.streams import add_counting, deliver, milliseconds_of
from tests.support.wire.fixtures import SetUser

NODE = 100
"""Entries of a node where they are as small as these."""


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    add_four_hundred_read_in_part(server)
    async with await open_console(server) as opened:
        yield opened


async def test_what_a_consumer_holds_stays(server: RunningServer, console: Console) -> None:
    intent = TrimIntent(stream=STREAM, maxlen=10, exact=True)
    plan = await planned(console, intent)
    assert plan.count == 200
    assert plan.held_back_by.startswith("group billing: 201-0 is pending with w1, idle for ")
    assert plan.warnings[0].startswith(
        "Asked to keep 10 entries, it will leave 200 of the 400 there are now: group billing needs "
    )
    assert milliseconds_of(server, STREAM)[0] == 1
    outcome = await done(console, intent)
    assert (outcome.applied, outcome.complete, outcome.notes) == (200, True, ())
    assert milliseconds_of(server, STREAM) == list(range(201, 401))


async def test_entry_delivered_as_often_as_poison_is_called_so(
    server: RunningServer, console: Console
) -> None:
    often = console.place.thresholds.poison_deliveries
    server.command("XCLAIM", STREAM, "billing", "w2", 0, "201-0", "RETRYCOUNT", often - 1)
    intent = TrimIntent(stream=STREAM, maxlen=10, exact=True)
    assert not any("poison" in one for one in (await planned(console, intent)).warnings)
    server.command("XCLAIM", STREAM, "billing", "w2", 0, "201-0", "RETRYCOUNT", often)
    assert "poison" in (await planned(console, intent)).warnings[-1]


async def test_safe_trim_keeps_what_is_pending_again_since_the_plan(
    server: RunningServer, console: Console
) -> None:
    prepared = await console.prepare(TrimIntent(stream=STREAM, maxlen=10, exact=True))
    server.command("XCLAIM", STREAM, "billing", "w2", 0, "50-0", "FORCE", "JUSTID")
    await applied(console, prepared)
    assert milliseconds_of(server, STREAM) == list(range(50, 401))


async def test_what_a_group_has_yet_to_read_stays(server: RunningServer, console: Console) -> None:
    server.command("XACK", STREAM, "billing", *(f"{number}-0" for number in range(201, 301)))
    intent = TrimIntent(stream=STREAM, minid=EntryId(380, 0), exact=True)
    plan = await planned(console, intent)
    assert (plan.count, plan.held_back_by) == (299, "group billing has yet to read 100 entries")
    await done(console, intent)
    assert milliseconds_of(server, STREAM) == list(range(300, 401))


async def test_by_length_it_keeps_what_was_asked_for(server: RunningServer, console: Console) -> None:
    outcome = await done(console, TrimIntent(stream=STREAM, maxlen=350, exact=True))
    assert (outcome.requested, outcome.applied) == (50, 50)
    assert milliseconds_of(server, STREAM) == list(range(51, 401))


async def test_about_means_whole_nodes(server: RunningServer, console: Console) -> None:
    intent = TrimIntent(stream=STREAM, maxlen=250)
    plan = await planned(console, intent)
    assert (plan.count, plan.held_back_by) == (150, "")
    outcome = await done(console, intent)
    assert 150 - NODE < outcome.applied <= 150
    assert milliseconds_of(server, STREAM) == list(range(outcome.applied + 1, 401))
    assert outcome.complete
    assert "--exact" in outcome.notes[0]


async def test_entries_that_others_trimmed_since_the_plan_are_not_said_to_stay(
    server: RunningServer, console: Console
) -> None:
    prepared = await console.prepare(TrimIntent(stream=STREAM, maxlen=250))
    server.command("XTRIM", STREAM, "MINID", "121-0")
    outcome = await applied(console, prepared)
    stay = 150 - 120 - outcome.applied
    assert stay > 0
    assert outcome.notes[0] == (
        f"{120 + stay} entries fewer than planned: 120 were gone by then, removed by other clients; "
        f"{stay} stay: an approximate trim drops whole nodes of a stream only; --exact drops the rest"
    )


async def test_outcome_of_a_trim_that_was_not_counted_to_its_end_adds_up(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "STEP", 7)
    monkeypatch.setattr(trim_evidence, "NEAR", 14)
    outcome = await done(console, TrimIntent(stream=STREAM, maxlen=10))
    missing = outcome.requested - outcome.applied
    assert missing > 0
    assert outcome.notes[0].startswith(f"{missing} entries fewer than planned: ")
    assert outcome.notes[0].endswith("the plan named the most that there could be, and had counted 14")


async def test_by_age_on_the_servers_clock(server: RunningServer, console: Console) -> None:
    server.command("XADD", STREAM, "*", "n", "now")
    outcome = await done(console, TrimIntent(stream=STREAM, before=timedelta(days=1), exact=True))
    assert outcome.applied == 200
    assert (await planned(console, TrimIntent(stream=STREAM, before=timedelta(days=3650)))).count == 0


async def test_where_nothing_is_to_be_removed_nothing_is_written(
    server: RunningServer, console: Console
) -> None:
    outcome = await done(console, TrimIntent(stream=STREAM, maxlen=10**30))
    assert (outcome.requested, outcome.audit_id) == (0, "")
    assert server.command("EXISTS", "streamops:audit") == 0


async def test_a_stream_without_groups_is_refused(server: RunningServer, console: Console) -> None:
    server.command("XADD", "lonely", "1-0", "n", 1)
    with pytest.raises(Forbidden, match="no group"):
        await planned(console, TrimIntent(stream="lonely", maxlen=0))
    for group in ("billing", "audit"):
        server.command("XGROUP", "DESTROY", STREAM, group)
    with pytest.raises(Forbidden, match="no group"):
        await planned(console, TrimIntent(stream=STREAM, maxlen=0))


@pytest.mark.parametrize(
    ("rules", "why"),
    [(("-xpending",), "no permission for XPENDING"), (("-@scripting",), "may not run scripts")],
)
async def test_what_a_user_lacks_is_named(
    server: RunningServer, as_user: SetUser, rules: tuple[str, ...], why: str
) -> None:
    add_four_hundred_read_in_part(server)
    async with await Console.open(as_user("~*", "&*", "+@all", *rules)) as limited:
        with pytest.raises(ServerError, match=why):
            await limited.prepare(TrimIntent(stream=STREAM, maxlen=1))


async def test_what_is_no_stream_is_not_found(server: RunningServer, console: Console) -> None:
    server.command("SET", "text", "x")
    for name in ("none", "text"):
        with pytest.raises(NotFound):
            await planned(console, TrimIntent(stream=name, maxlen=0))


async def test_a_pending_entry_that_is_gone_still_holds(server: RunningServer, console: Console) -> None:
    server.command("XDEL", STREAM, "201-0")
    plan = await planned(console, TrimIntent(stream=STREAM, maxlen=0, exact=True))
    assert plan.count == 200
    assert "no longer exists, and is still pending" in plan.warnings[-1]


async def test_groups_that_go_on_meanwhile_let_no_more_go_than_planned(
    server: RunningServer, console: Console
) -> None:
    prepared = await console.prepare(TrimIntent(stream=STREAM, maxlen=0, exact=True))
    server.command("XACK", STREAM, "billing", *(f"{number}-0" for number in range(201, 301)))
    assert (await applied(console, prepared)).applied == 200


async def test_a_group_set_back_meanwhile_keeps_its_entries(server: RunningServer, console: Console) -> None:
    prepared = await console.prepare(TrimIntent(stream=STREAM, maxlen=0, exact=True))
    server.command("XGROUP", "SETID", STREAM, "audit", "120-0")
    outcome = await applied(console, prepared)
    assert outcome.applied == 119
    assert "kept for group audit, from 120-0 on" in outcome.notes[0]


@pytest.mark.parametrize("exact", [True, False])
async def test_entries_missing_after_a_trim_are_told_apart_by_why(
    server: RunningServer, console: Console, *, exact: bool
) -> None:
    prepared = await console.prepare(TrimIntent(stream=STREAM, maxlen=0, exact=exact))
    server.command("XTRIM", STREAM, "MINID", "151-0")
    server.command("XGROUP", "SETID", STREAM, "audit", "190-0")
    outcome = await applied(console, prepared)
    in_nodes = 39 - outcome.applied
    assert (in_nodes == 0) == exact
    assert outcome.notes[0].startswith(
        f"{161 + in_nodes} entries fewer than planned: 150 were gone by then, removed by other clients; "
        "11 stay: they are kept for group audit, from 190-0 on"
    )


async def test_without_its_groups_it_stops_untouched(server: RunningServer, console: Console) -> None:
    prepared = await console.prepare(TrimIntent(stream=STREAM, maxlen=0))
    for group in ("billing", "audit"):
        server.command("XGROUP", "DESTROY", STREAM, group)
    with pytest.raises(StalePlan, match="no group any more"):
        await applied(console, prepared)
    assert len(milliseconds_of(server, STREAM)) == 400


async def test_nodes_larger_than_a_slice_go_too(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trim, "SMALLEST", 3)
    monkeypatch.setattr(trim, "FIRST", 3)
    outcome = await done(console, TrimIntent(stream=STREAM, maxlen=200), Limits(rate=1_000_000.0))
    assert outcome.applied > NODE // 2


async def test_large_entries_go_in_small_steps(server: RunningServer, console: Console) -> None:
    server.command("DEL", STREAM)
    for number in range(1, 13):
        server.command("XADD", STREAM, f"{number}-0", "body", b"x" * (1 << 20))
    server.command("XGROUP", "CREATE", STREAM, "g", "8-0")
    outcome = await done(console, TrimIntent(stream=STREAM, maxlen=0, exact=True))
    assert outcome.applied == 7
    assert milliseconds_of(server, STREAM) == [8, 9, 10, 11, 12]


@pytest.mark.usefixtures("console")
async def test_slices_tell_what_they_took(server: RunningServer) -> None:
    connection = await Server.connect(server.options)
    try:
        slice_ = await trim_safely(connection, STREAM, 0, TrimMode(120, exact=True))
        assert isinstance(slice_, TrimmedSlice)
        assert 0 < slice_.removed <= 120
        assert slice_.spent is not None
    finally:
        await connection.close()


async def test_an_unsafe_trim_tells_and_takes_exactly(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    file = tmp_path / "lost.jsonl"
    intent = TrimIntent(stream=STREAM, maxlen=20, exact=True, safe=False, backup=str(file))
    plan = await planned(console, intent)
    assert plan.count == 380
    assert plan.effects[1:3] == (
        "Group audit loses 30 entries that it has yet to read.",
        "Group billing loses 80 entries that it has yet to read and 100 pending entries (w1 100).",
    )
    outcome = await done(console, intent)
    assert outcome.applied == 380
    assert milliseconds_of(server, STREAM) == list(range(381, 401))
    saved = list(read_backup(file))
    assert [entry.id.ms for _, entry in saved] == list(range(1, 381))
    assert saved[0][1].fields == ((b"n", b"1"),)
    assert {stream for stream, _ in saved} == {STREAM}


async def test_what_an_unsafe_trim_takes_is_counted_so_far_and_no_further(
    server: RunningServer, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "STEP", 7)
    monkeypatch.setattr(trim_evidence, "MOST_UNREAD", 14)
    server.command("XGROUP", "CREATE", STREAM, "new", "0")
    server.command("XGROUP", "CREATE", STREAM, "old", "$")
    # With an entry deleted ahead of them, no server knows what the others lag.
    server.command("XDEL", STREAM, "399-0")
    intent = TrimIntent(stream=STREAM, maxlen=20, exact=True, safe=False)
    plan = await planned(console, intent)
    assert plan.count == 379
    assert plan.effects[1:5] == (
        "Group audit loses at least 14 entries (at most 378) that it has yet to read.",
        (
            "Group billing loses at least 14 entries (at most 378) that it has yet to read "
            "and 100 pending entries (w1 100)."
        ),
        "Group new loses 379 entries that it has yet to read.",
        "Group old loses nothing.",
    )
    assert (
        plan.loses
        == "379 entries, at least 407 (at most 1,135) of them unread and 100 pending, counted group by group."
    )
    assert plan.impact is Impact.DESTRUCTIVE
    assert (await done(console, intent)).applied == 379


async def test_what_lies_below_an_age_or_an_id_is_counted_so_far_and_no_further(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "STEP", 7)
    monkeypatch.setattr(trim_evidence, "FAR", 14)
    add_counting(server, STREAM, 1, 400)
    intent = TrimIntent(stream=STREAM, minid=EntryId(201, 0), exact=True, safe=False)
    async with await open_console(server) as console:
        plan = await planned(console, intent)
        assert (plan.count, plan.loses.partition(",")[0]) == (386, "At least 14 entries (at most 386)")
        outcome = await done(console, intent)
    note = "186 entries fewer than planned: the plan named the most that there could be, and had counted 14"
    assert (outcome.applied, outcome.notes) == (200, (note,))
    assert milliseconds_of(server, STREAM) == list(range(201, 401))


@pytest.mark.parametrize(
    ("cut", "most", "told"),
    [
        (250, 1_000, "49 pending entries (w1 49)"),
        (290, 1_000, "89 pending entries (w1 89)"),
        (250, 20, "at least 20 pending entries (w1 20)"),
    ],
)
async def test_pending_entries_are_counted_from_the_nearer_end(
    console: Console, monkeypatch: pytest.MonkeyPatch, cut: int, most: int, told: str
) -> None:
    monkeypatch.setattr(trim_evidence, "PAGE", 10)
    monkeypatch.setattr(trim_evidence, "MOST_PENDING", most)
    plan = await planned(console, TrimIntent(stream=STREAM, minid=EntryId(cut, 0), safe=False))
    assert f"Group billing loses {told}." in plan.effects


async def test_what_is_read_while_pending_entries_are_counted_is_not_taken_off_them(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def summary_before_more(connection: Server, stream: str, group: str) -> object:
        summary = await read_pending_summary(connection, stream, group)
        deliver(server, STREAM, "billing", "w1", 30)
        return summary

    monkeypatch.setattr(trim_evidence, "PAGE", 10)
    monkeypatch.setattr(trim_evidence, "read_pending_summary", summary_before_more)
    add_counting(server, STREAM, 1, 300)
    server.command("XGROUP", "CREATE", STREAM, "billing", "0")
    deliver(server, STREAM, "billing", "w1", 152)
    intent = TrimIntent(stream=STREAM, minid=EntryId(151, 0), exact=True, safe=False)
    async with await open_console(server) as console:
        plan = await planned(console, intent)
    assert "Group billing loses 150 pending entries (w1 150)." in plan.effects


def test_slices_of_a_crowded_stream_are_no_smaller_for_looking_at_its_groups() -> None:
    for groups, smallest in ((10, 100), (10_000, 1_000)):
        pace = trim.TrimPace(1_048, groups)
        for _ in range(10):
            pace.learn(timedelta(milliseconds=30))
        assert (pace.size, pace.least) == (smallest, 100)


@pytest.mark.parametrize(("rate", "slices"), [(None, [200]), (2_000.0, [100, 100])], ids=["none", "a rate"])
async def test_a_rate_goes_for_a_crowded_stream_too(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, rate: float | None, slices: list[int]
) -> None:
    async def note_slice(
        connection: Server, stream: str, bound: EntryId | int, how: TrimMode
    ) -> TrimmedSlice:
        asked.append(how.most)
        return await trim_safely(connection, stream, bound, how)

    asked: list[int] = []
    monkeypatch.setattr(trim, "MANY_GROUPS", 1)
    monkeypatch.setattr(trim, "trim_safely", note_slice)
    add_counting(server, STREAM, 1, 400)
    server.command("XGROUP", "CREATE", STREAM, "audit", "$")
    async with await open_console(server) as console:
        await done(console, TrimIntent(stream=STREAM, maxlen=200, exact=True), Limits(rate=rate))
    assert asked == slices


async def test_an_unsafe_trim_takes_nothing_beyond_its_plan(server: RunningServer, console: Console) -> None:
    prepared = await console.prepare(TrimIntent(stream=STREAM, maxlen=20, exact=True, safe=False))
    add_counting(server, STREAM, 1_001, 1_005)
    assert (await applied(console, prepared)).applied == 380
    assert milliseconds_of(server, STREAM) == [*range(381, 401), 1_001, 1_002, 1_003, 1_004, 1_005]


async def test_an_unsafe_trim_by_length_keeps_it_whatever_others_do(
    server: RunningServer, console: Console
) -> None:
    prepared = await console.prepare(TrimIntent(stream=STREAM, maxlen=20, exact=True, safe=False))
    server.command("XTRIM", STREAM, "MAXLEN", "=", 30)
    server.command("XDEL", STREAM, *(f"{number}-0" for number in range(390, 401)))
    outcome = await applied(console, prepared)
    assert (outcome.applied, outcome.complete) == (0, True)
    assert len(milliseconds_of(server, STREAM)) == 19


@pytest.mark.parametrize(
    "change",
    [
        ("XGROUP", "SETID", STREAM, "audit", "0"),
        ("XGROUP", "CREATE", STREAM, "new", "$"),
        ("XGROUP", "DESTROY", STREAM, "audit"),
    ],
    ids=["set back", "new", "gone"],
)
async def test_an_unsafe_trim_wants_the_groups_it_planned_with(
    server: RunningServer, console: Console, change: tuple[str, ...]
) -> None:
    prepared = await console.prepare(TrimIntent(stream=STREAM, maxlen=20, safe=False))
    server.command(*change)
    with pytest.raises(StalePlan):
        await applied(console, prepared)
    assert len(milliseconds_of(server, STREAM)) == 400


async def test_without_groups_an_unsafe_trim_says_so(server: RunningServer, console: Console) -> None:
    server.command("XADD", "lonely", "1-0", "n", 1)
    intent = TrimIntent(stream="lonely", maxlen=0, exact=True, safe=False)
    assert "The stream has no group." in (await planned(console, intent)).effects
    assert (await done(console, intent)).applied == 1


async def test_a_backup_is_never_overwritten(console: Console, tmp_path: Path) -> None:
    file = tmp_path / "lost.jsonl"
    file.write_text("precious")
    with pytest.raises(SettingsError, match="exists already"):
        await planned(console, TrimIntent(stream=STREAM, maxlen=0, safe=False, backup=str(file)))


@pytest.mark.parametrize(
    "intent",
    [
        TrimIntent(stream=STREAM, maxlen=10, exact=True),
        TrimIntent(stream=STREAM, before=timedelta(days=1), exact=True),
        TrimIntent(stream=STREAM, maxlen=10, exact=True, safe=False),
    ],
    ids=["by length", "by age", "unsafe"],
)
async def test_a_cancelled_job_goes_on(
    server: RunningServer, console: Console, intent: TrimIntent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamops.operations.jobs.HEARTBEAT_SECONDS", 0.0)
    monkeypatch.setattr(trim, "FIRST", NODE)
    monkeypatch.setattr(trim, "LARGEST", NODE)
    operation = replace(OPERATIONS["trim"], job_from=1)
    prepared = await console.engine.prepare(operation, intent)
    jobs: list[str] = []

    def cancel(job: str) -> None:
        jobs.append(job)
        server.command("HSET", f"streamops:job:{job}", "cancel", 1)

    confirmation = Confirmation(yes=True, typed=prepared.policy.word)
    with pytest.raises(ApplyError) as stopped:
        await console.apply(prepared, confirmation, started=cancel)
    assert isinstance(stopped.value.__cause__, JobStopped)
    assert 1 < milliseconds_of(server, STREAM)[0] < 201
    # As if its owner had vanished instead.
    server.command("HSET", f"streamops:job:{jobs[0]}", "state", JobState.INTERRUPTED.value)
    rest = await console.engine.resume(operation, await console.read_job(jobs[0]))
    assert (await applied(console, rest)).complete
    assert milliseconds_of(server, STREAM) == list(range(201 if intent.safe else 391, 401))


async def test_places_are_found_from_either_end(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "STEP", 7)
    add_counting(server, STREAM, 1, 100)
    server.command("XDEL", STREAM, "10-0", "90-0")
    connection = await Server.connect(server.options)
    try:
        look = await inspect_stream(connection, STREAM)
        for cut, below in ((0, 0), (1, 0), (2, 1), (50, 48), (95, 92), (100, 97), (101, 98), (MAX_PART, 98)):
            assert (await count_below(connection, look, EntryId(cut, 0))).upper == below
        bounds = await count_below(connection, look, EntryId(50, 0), near=14)
        assert bounds.lower <= 48 <= bounds.upper
        assert not bounds.exact
        for kept in (0, 1, 20, 49, 50, 97):
            found = await cut_for_length(connection, look, kept)
            assert found is not None
            assert (await count_below(connection, look, found)).upper == 98 - kept
        assert await cut_for_length(connection, look, 98) is None
        counts = await count_after_each(
            connection, look, [EntryId(0, 0), EntryId(50, 0), EntryId(99, 0)], EntryId(60, 0), most=100
        )
        assert counts == {
            EntryId(0, 0): Amount(58, 58),
            EntryId(50, 0): Amount(9, 9),
            EntryId(99, 0): Amount(0, 0),
        }
    finally:
        await connection.close()


async def test_a_backup_holds_nothing_that_stays(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    file = tmp_path / "lost.jsonl"
    intent = TrimIntent(stream=STREAM, maxlen=250, safe=False, backup=str(file))
    plan = await planned(console, intent)
    assert f"They are written to {file} first; all of them are removed then, as with --exact." in plan.effects
    assert (await done(console, intent)).applied == 150
    assert len(list(read_backup(file))) == 150
    assert milliseconds_of(server, STREAM) == list(range(151, 401))


async def test_an_unsafe_trim_leaves_what_arrives_meanwhile(server: RunningServer, console: Console) -> None:
    prepared = await console.prepare(
        TrimIntent(stream=STREAM, minid=EntryId(10**15, 0), exact=True, safe=False)
    )
    assert prepared.plan.count == 400
    server.command("XTRIM", STREAM, "MAXLEN", 0)
    add_counting(server, STREAM, 401, 450)
    assert (await applied(console, prepared)).applied == 0
    assert milliseconds_of(server, STREAM) == list(range(401, 451))


def leave_half(file: Path) -> None:
    """What a process leaves that is killed before the file has its name."""
    if not file.exists():
        Path(part_of(file)).write_text("half of it")


def names_in(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


class Killed(BaseException):
    """What a process does not live to tell of."""


@pytest.mark.parametrize("where", ["read_page", "_trim_slice"])
async def test_one_that_is_killed_with_its_backup_goes_on(
    server: RunningServer, console: Console, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def kill(*_: object) -> None:
        raise Killed

    file = tmp_path / "lost.jsonl"
    operation = replace(OPERATIONS["trim"], job_from=1)
    prepared = await console.engine.prepare(
        operation, TrimIntent(stream=STREAM, maxlen=10, safe=False, backup=str(file))
    )
    jobs: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(trim, where, kill)
        with pytest.raises(Killed):
            await console.apply(
                prepared, Confirmation(yes=True, typed=prepared.policy.word), started=jobs.append
            )
    leave_half(file)
    server.command("HSET", f"streamops:job:{jobs[0]}", "lease_ms", 1)
    rest = await console.engine.resume(operation, await console.read_job(jobs[0]))
    assert (await applied(console, rest)).complete
    assert milliseconds_of(server, STREAM) == list(range(391, 401))
    assert [entry.id.ms for _, entry in read_backup(file)] == list(range(1, 391))
    assert names_in(tmp_path) == [file.name]


@pytest.mark.parametrize(("way", "after", "end"), [("", "0-0", "+"), ("back", "9-0", "-")])
def test_counting_ends_at_the_utmost_id(server: RunningServer, way: str, after: str, end: str) -> None:
    utmost = f"{MAX_PART}-{MAX_PART}"
    for one in ("1-0", utmost):
        server.command("XADD", STREAM, one, "n", 1)
    count = partial(server.command, "EVAL", load_script("count_range").source, 1, STREAM)
    if way:
        assert count("0-0", end, 100, 10**6, 2, way) == [0, b"0-0", 0, 1]
    else:
        assert count(after, end, 100, 10**6, 2, way) == [2, utmost.encode(), 4, 1]
        assert count(utmost, end, 100, 10**6, 2, way) == [0, utmost.encode(), 0, 1]
