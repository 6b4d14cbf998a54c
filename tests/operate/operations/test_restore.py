"""Restoring from files: byte for byte, each entry once, however often it is stopped and begun again."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.demo.children import module_command
from streamops.errors import ApplyError, Forbidden, NotFound, SettingsError, StalePlan, StreamopsError
from streamops.model.acting import Actor, Assent, Failed, Progress, Skipped, Tier
from streamops.model.acts.groups import DestroyGroupIntent
from streamops.model.acts.restore import RestoreIntent
from streamops.model.entries import Entry
from streamops.model.ids import EntryId
from streamops.operate import restore_files
from streamops.operate.backups import BackupWriter, entry_line
from streamops.operate.console import Console
from streamops.operate.operations import restore
from streamops.present.documents import encode, entry_json
from streamops.wire.writes.restore import restore_entries
from tests.deployments import RunningCluster
from tests.eventually import eventually
from tests.operate.operations.doing import applied, done, open_console, planned
from tests.servers import RunningServer, StartServer
from tests.strategies import entries

STREAM = "orders"
LARGE = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await open_console(server) as opened:
        yield opened


def written(path: Path, count: int, first: int = 1, stream: str = STREAM) -> str:
    """A file of entries ``first``-1 and so on."""
    made = [Entry(EntryId(first + n, 1), ((b"n", b"%d" % (first + n)),)) for n in range(count)]
    with BackupWriter(path) as file:
        file.write(stream, made)
    return str(path)


def append(path: str, what: bytes) -> None:
    with Path(path).open("ab") as file:
        file.write(what)


def content(server: RunningServer, stream: str = STREAM) -> list[list[Any]]:
    told: list[list[Any]] = server.command("XRANGE", stream, "-", "+")
    return told


def values(server: RunningServer, stream: str = STREAM) -> list[int]:
    return [int(fields[1]) for _, fields in content(server, stream)]


def markers(server: RunningServer) -> list[bytes]:
    found: list[bytes] = server.command("KEYS", "*:moved:*")
    return found


async def test_entries_come_back_with_their_ids(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    path = written(tmp_path / "f", 3)
    prepared = await console.prepare(RestoreIntent(file=path))
    plan = prepared.plan
    assert (plan.operation, plan.target, plan.tier, plan.count) == ("restore", STREAM, Tier.REDELIVERS, 3)
    assert plan.effects[:2] == (
        "3 entries are added to stream orders, with their own IDs, 1-1 to 3-1.",
        "Stream orders is created; it has no group.",
    )
    assert plan.sample[0] == "1-1: 1 field, 2 bytes"
    outcome = await applied(console, prepared)
    assert (outcome.applied, outcome.complete) == (3, True)
    assert content(server) == [[b"%d-1" % n, [b"n", b"%d" % n]] for n in (1, 2, 3)]
    assert len(markers(server)) == 1
    assert 0 < server.command("TTL", markers(server)[0]) <= 7 * 86_400


async def test_restoring_twice_is_nothing_unless_it_is_asked_for(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    intent = RestoreIntent(file=written(tmp_path / "f", 3), new_ids=True)
    await done(console, intent)
    plan = await planned(console, intent)
    assert plan.count == 0
    assert plan.effects == (
        "All 3 entries of this file were restored to orders before, within 7 days; --again restores them once more.",
    )
    await done(console, replace(intent, again=True))
    assert values(server) == [1, 2, 3, 1, 2, 3]
    one = RestoreIntent(file=written(tmp_path / "one", 1), new_ids=True)
    await done(console, one)
    assert (await planned(console, one)).effects == (
        "The one entry of this file was restored to orders before, within 7 days; --again restores it once more.",
    )
    # To another stream is another matter.
    assert (await planned(console, replace(intent, to="other"))).count == 3


async def test_own_ids_have_to_fit(server: RunningServer, console: Console, tmp_path: Path) -> None:
    path = written(tmp_path / "f", 5, first=3)
    server.command("XADD", STREAM, "2-1", "n", "2")
    server.command("XGROUP", "CREATE", STREAM, "billing", "$")
    prepared = await console.prepare(RestoreIntent(file=path))
    assert "All of its groups (billing) will be given them." in prepared.plan.effects
    server.command("XADD", STREAM, "4-1", "n", "44")
    with pytest.raises(StalePlan, match="it has entries from 3-1 on by now"):
        await applied(console, prepared)
    with pytest.raises(Forbidden, match="stream orders ends at 4-1") as caught:
        await console.prepare(RestoreIntent(file=path))
    assert "--new-ids" in caught.value.hint
    assert "--to STREAM" in caught.value.hint
    await done(console, RestoreIntent(file=path, new_ids=True))
    assert values(server) == [2, 44, 3, 4, 5, 6, 7]
    assert markers(server)
    await done(console, RestoreIntent(file=path, to="copy"))
    assert values(server, "copy") == [3, 4, 5, 6, 7]


async def test_ids_out_of_order_take_new_ones(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    path = tmp_path / "f"
    made = [Entry(EntryId(n, 0), ((b"n", b"%d" % n),)) for n in (1, 3, 2)]
    path.write_bytes(b"\n".join(entry_line(STREAM, entry) for entry in made))
    with pytest.raises(Forbidden, match="the ID in line 5 does not come after the one before it"):
        await console.prepare(RestoreIntent(file=str(path)))
    await done(console, RestoreIntent(file=str(path), new_ids=True))
    assert values(server) == [1, 3, 2]


@pytest.mark.parametrize("new_ids", [False, True])
@pytest.mark.parametrize("stop_after", [1, 2, 4])
async def test_whatever_stops_it_the_same_command_goes_on(
    server: RunningServer,
    console: Console,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    new_ids: bool,
    stop_after: int,
) -> None:
    monkeypatch.setattr(restore, "BATCH", 10)
    intent = RestoreIntent(file=written(tmp_path / "f", 45), new_ids=new_ids)
    told = 0

    def stop(_: Progress) -> None:
        nonlocal told
        told += 1
        if told == stop_after:
            raise StreamopsError("stopped")

    prepared = await console.prepare(intent)
    with pytest.raises(ApplyError):
        await console.apply(prepared, Assent(yes=True, typed=prepared.consent.word), stop)
    assert values(server) == list(range(1, 10 * stop_after + 1))
    rest = await console.prepare(intent)
    assert rest.plan.count == 45 - 10 * stop_after
    assert f"{10 * stop_after} of the file's 45 were restored before" in rest.plan.effects[1]
    await applied(console, rest)
    assert values(server) == list(range(1, 46))


@pytest.mark.parametrize("words", [[], ["--new-ids"]], ids=["own IDs", "new IDs"])
def test_killed_at_any_point_nothing_is_lost_and_nothing_twice(
    any_server: RunningServer, tmp_path: Path, words: list[str]
) -> None:
    path = written(tmp_path / "f", 20_000)
    command = module_command("streamops", "--url", any_server.url, "restore", path, "--yes", *words)
    for done_at in (1, 9_000):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            asyncio.run(eventually(partial(has_entries, any_server, done_at, process)))
            process.kill()
        assert any_server.command("XLEN", STREAM) < 20_000
    subprocess.run(command, capture_output=True, check=True)
    assert values(any_server) == list(range(1, 20_001))


def has_entries(server: RunningServer, count: int, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, process.communicate()
    return bool(server.command("XLEN", STREAM) >= count)


async def test_a_job_can_be_resumed_by_its_token(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    path = tmp_path / "f"
    prepared = await console.prepare(RestoreIntent(file=written(path, 11_000), new_ids=True))
    jobs: list[str] = []

    def stop(_: Progress) -> None:
        raise StreamopsError("stopped")

    with pytest.raises(ApplyError):
        await console.apply(prepared, Assent(yes=True, typed=prepared.consent.word), stop, jobs.append)
    rest = await console.prepare_rest(jobs[0])
    assert (rest.plan.count, rest.plan.target) == (10_500, STREAM)
    await applied(console, rest)
    assert values(server) == list(range(1, 11_001))
    with path.open("ab") as file:
        file.write(GOOD)
    with pytest.raises(Forbidden, match="is over"):
        await console.prepare_rest(jobs[0])


async def test_two_operators_restore_a_file_once(
    server: RunningServer, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "BATCH", 7)
    intent = RestoreIntent(file=written(tmp_path / "f", 500), new_ids=True)
    async with await open_console(server, "bob") as other:
        both = [await console.prepare(intent), await other.prepare(intent)]
        outcomes = await asyncio.gather(applied(console, both[0]), applied(other, both[1]))
    assert values(server) == list(range(1, 501))
    assert sum(outcome.applied for outcome in outcomes) == 500
    assert sum(outcome.skipped_count for outcome in outcomes) == 500
    reasons = {skip.reason for outcome in outcomes for skip in outcome.skipped}
    assert reasons == {"restored by somebody else meanwhile"}


async def test_once_more_goes_on_too_where_it_was_stopped(
    server: RunningServer, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "BATCH", 10)
    intent = RestoreIntent(file=written(tmp_path / "f", 25), new_ids=True, again=True)
    await done(console, intent)
    prepared = await console.prepare(intent)
    assert prepared.plan.count == 25

    def stop(_: Progress) -> None:
        raise StreamopsError("stopped")

    with pytest.raises(ApplyError):
        await console.apply(prepared, Assent(yes=True, typed="25"), stop)
    assert (await done(console, intent)).applied == 15
    assert values(server) == [*range(1, 26), *range(1, 26)]


async def test_a_marker_that_is_none_is_drift(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    intent = RestoreIntent(file=written(tmp_path / "f", 3))
    prepared = await console.prepare(intent)
    await applied(console, prepared)
    server.command("DEL", STREAM)
    server.command("SET", markers(server)[0], "x")
    with pytest.raises(StalePlan, match="somebody else began"):
        await done(console, intent)


async def test_a_batch_sent_twice_is_done_once(
    server: RunningServer, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reply that was lost, and the call repeated: the marker knows."""
    monkeypatch.setattr(restore, "BATCH", 5)
    once = restore_entries

    async def twice(*args: object, **named: object) -> object:
        await once(*args, **named)  # type: ignore[arg-type]
        return await once(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(restore, "restore_entries", twice)
    outcome = await done(console, RestoreIntent(file=written(tmp_path / "f", 23), new_ids=True))
    assert values(server) == list(range(1, 24))
    assert (outcome.applied, outcome.skipped_count) == (0, 23)
    assert outcome.skipped[0] == Skipped("1-1", "restored by somebody else meanwhile")


async def test_a_stream_that_vanishes_meanwhile_is_drift(
    server: RunningServer, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "BATCH", 10)
    intent = RestoreIntent(file=written(tmp_path / "f", 45))
    prepared = await console.prepare(intent)

    def vanish(_: Progress) -> None:
        server.command("DEL", STREAM)

    with pytest.raises(ApplyError, match="the stream is gone"):
        await console.apply(prepared, Assent(yes=True, typed="45"), vanish)
    # It begins anew: what was there went with the stream.
    await done(console, intent)
    assert values(server) == list(range(1, 46))


@LARGE
@given(made=st.lists(entries(), min_size=1, max_size=30))
async def test_every_byte_survives(any_server: RunningServer, tmp_path: Path, made: list[Entry]) -> None:
    made = [replace(entry, id=EntryId(at, 0)) for at, entry in enumerate(made, 1) if entry.fields]
    if not made:
        return
    any_server.flush()
    path = tmp_path / f"f{os.urandom(4).hex()}"
    with BackupWriter(path) as file:
        file.write("caf\udce9", made)
    shown = tmp_path / f"{path.name}-shown"
    shown.write_text("\n".join(encode(entry_json(STREAM, entry)) for entry in made), encoding="utf-8")
    async with await open_console(any_server) as console:
        await done(console, RestoreIntent(file=str(path)))
        await done(console, RestoreIntent(file=str(path), to="new", new_ids=True))
        await done(console, RestoreIntent(file=str(shown)))
    wanted = [[part for pair in entry.fields for part in pair] for entry in made]
    for stream in (b"caf\xe9", b"new", STREAM):
        assert [fields for _, fields in any_server.command("XRANGE", stream, "-", "+")] == wanted
    assert [one for one, _ in any_server.command("XRANGE", STREAM, "-", "+")] == [
        str(entry.id).encode() for entry in made
    ]


async def test_large_and_wide_entries(server: RunningServer, console: Console, tmp_path: Path) -> None:
    fields = tuple((b"%d" % n, b"v") for n in range(restore_files.WIDEST))
    made = [
        Entry(EntryId(1, 0), fields),
        Entry(EntryId(2, 0), (*fields, (b"one", b"more"))),
        Entry(EntryId(3, 0), ((b"blob", b"\xff" * (3 << 20)),)),
        Entry(EntryId(4, 0), ((b"n", b"4"),)),
    ]
    path = tmp_path / "f"
    with BackupWriter(path) as file:
        file.write(STREAM, made)
    prepared = await console.prepare(RestoreIntent(file=str(path)))
    assert "1 entry has more fields than the server's scripts can add" in prepared.plan.warnings[0]
    outcome = await applied(console, prepared)
    assert outcome.applied == 3
    assert outcome.failed == (Failed("2-0", "it has 3,901 fields, more than 3,900"),)
    told = content(server)
    assert [one for one, _ in told] == [b"1-0", b"3-0", b"4-0"]
    assert len(told[0][1]) == 2 * restore_files.WIDEST
    assert told[1][1][1] == b"\xff" * (3 << 20)


GOOD = b'{"stream":"orders","id":"1-1","fields":[["a","b"]]}'


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "is empty"),
        ([b"", b"  "], "is empty"),
        ([GOOD, b"nonsense"], "line 2 (JSON is malformed"),
        ([GOOD, b"", b"[1]"], "line 3 (Expected `object`, got `array`)"),
        ([b'{"id":"1-1","fields":[["a","b"]]}'], "line 1 (Object missing required field `stream`)"),
        ([b'{"stream":"s","id":"x","fields":[["a","b"]]}'], "line 1 (not an entry ID: 'x')"),
        ([b'{"stream":"s","id":"0-0","fields":[["a","b"]]}'], "0-0 can be no entry's ID"),
        ([b'{"stream":"s","id":"1-1","fields":[]}'], "at least one field"),
        ([b'{"stream":"s","id":"1-1","fields":[["a"]]}'], "line 1 (Expected `array` of length 2"),
        ([b'{"stream":"s","id":"1-1","fields":[["a",1]]}'], "line 1 (Expected `str | object`, got `int`"),
        ([b'{"stream":"s","id":"1-1","fields":[["a",{"base64":"!"}]]}'], "line 1 ("),
        ([b'{"stream":"\xff","id":"1-1","fields":[["a","b"]]}'], "line 1 ("),
        ([b"x"] * 9, "line 5 (JSON is malformed: invalid character (byte 0)); and 4 more"),
        ([GOOD, GOOD.replace(b"orders", b"mail")], "entries of several streams: orders, mail"),
    ],
)
async def test_bad_files_are_told_by_line_and_nothing_is_written(
    any_server: RunningServer, tmp_path: Path, lines: list[bytes], words: str
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\n".join(lines))
    async with await open_console(any_server) as console:
        with pytest.raises((SettingsError, Forbidden)) as caught:
            await console.prepare(RestoreIntent(file=str(path)))
    assert words in caught.value.message
    assert any_server.command("DBSIZE") == 0


async def test_what_is_no_file(any_server: RunningServer, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    keep = os.open(pipe, os.O_RDWR)
    async with await open_console(any_server) as console:
        for path, words in [
            (tmp_path / "none", "No such file"),
            (tmp_path, "Is a directory"),
            (pipe, "is no plain file"),
            ("a\0b", "null byte"),
        ]:
            with pytest.raises(SettingsError, match=words):
                await console.prepare(RestoreIntent(file=str(path)))
    os.close(keep)


async def test_a_file_that_changes_after_the_plan(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    path = tmp_path / "f"
    prepared = await console.prepare(RestoreIntent(file=written(path, 3)))
    with path.open("ab") as file:
        file.write(GOOD)
    with pytest.raises(StalePlan, match="has changed since the plan was made"):
        await applied(console, prepared)
    assert not server.command("EXISTS", STREAM)


async def test_a_target_that_is_no_stream(server: RunningServer, console: Console, tmp_path: Path) -> None:
    server.command("SET", STREAM, "x")
    with pytest.raises(NotFound, match="not a stream"):
        await console.prepare(RestoreIntent(file=written(tmp_path / "f", 1)))


async def test_out_of_memory_nothing_is_half_done(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "BATCH", 10)
    server = start_server()
    path = written(tmp_path / "f", 40)
    async with await open_console(server) as console:
        prepared = await console.prepare(RestoreIntent(file=path))

        def fill(_: Progress) -> None:
            server.command("CONFIG", "SET", "maxmemory", "1")

        with pytest.raises(ApplyError, match="out of memory"):
            await console.apply(prepared, Assent(yes=True, typed="40"), fill)
        server.command("CONFIG", "SET", "maxmemory", "0")
        assert values(server) == list(range(1, 11))
        await done(console, RestoreIntent(file=path))
    assert values(server) == list(range(1, 41))


async def test_on_a_cluster_the_marker_shares_the_streams_slot(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with await Console.open(cluster.options, actor=Actor("ann", "here", 1)) as console:
        for stream in ("orders", "{shop}:orders", "a:b"):
            path = written(tmp_path / stream.replace(":", ""), 5, stream=stream)
            await done(console, RestoreIntent(file=path))
            page = await console.read_entries(stream)
            assert len(page.entries) == 5
        path = written(tmp_path / "odd", 1, stream="a}b")
        with pytest.raises(Forbidden, match="no key can stand beside it"):
            await console.prepare(RestoreIntent(file=path))


# Groups.


def grouped(server: RunningServer) -> None:
    for number in range(1, 11):
        server.command("XADD", STREAM, f"{number}-1", "n", number)
    server.command("XGROUP", "CREATE", STREAM, "g", "0")
    for consumer, count in (("c1", 4), ("c\udce9".encode("utf-8", "surrogateescape"), 3)):
        server.command("XREADGROUP", "GROUP", "g", consumer, "COUNT", count, "STREAMS", STREAM, ">")
    server.command("XCLAIM", STREAM, "g", "c1", 0, "2-1", "IDLE", 3_600_000, "RETRYCOUNT", 5, "JUSTID")
    server.command("XACK", STREAM, "g", "1-1")


def pending(server: RunningServer) -> list[tuple[bytes, bytes, int]]:
    told = server.command("XPENDING", STREAM, "g", "-", "+", 100)
    return [(one, owner, count) for one, owner, _, count in told]


async def test_a_destroyed_group_comes_back(server: RunningServer, console: Console, tmp_path: Path) -> None:
    grouped(server)
    before, path = pending(server), str(tmp_path / "g")
    info = server.command("XINFO", "GROUPS", STREAM)
    await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=path))
    prepared = await console.prepare(RestoreIntent(file=path))
    plan = prepared.plan
    assert (plan.target, plan.count, plan.unit) == ("orders/g", 6, ("pending entry", "pending entries"))
    assert plan.effects[0] == "Group g is created at 7-1, where it stood."
    outcome = await applied(console, prepared)
    assert outcome.applied == 6
    assert pending(server) == before
    # The consumers are seen just now; all else is as it was, lag included.
    assert server.command("XINFO", "GROUPS", STREAM) == info
    idle = server.command("XPENDING", STREAM, "g", "2-1", "2-1", 1)[0][2]
    assert 3_600_000 <= idle < 3_700_000
    again = await done(console, RestoreIntent(file=path, again=True))
    assert (again.applied, again.skipped_count) == (0, 6)
    assert {skip.reason for skip in again.skipped} == {"pending again by now"}


async def test_rows_whose_entries_are_gone_are_told(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    grouped(server)
    path = str(tmp_path / "g")
    await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=path))
    server.command("XDEL", STREAM, "3-1")
    server.command("XGROUP", "CREATE", STREAM, "g", "5-1")
    prepared = await console.prepare(RestoreIntent(file=path))
    assert "it stands at 5-1 and stays there, and not at 7-1" in prepared.plan.warnings[0]
    outcome = await applied(console, prepared)
    told = {skip.id: skip.reason for skip in outcome.skipped}
    rewound = "the group was set back before it and will be given it anyway"
    assert told == {"3-1": "its entry no longer exists", "6-1": rewound, "7-1": rewound}
    assert [one for one, _, _ in pending(server)] == [b"2-1", b"4-1", b"5-1"]


async def test_the_lag_is_right_in_another_stream_too(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    grouped(server)
    path = str(tmp_path / "g")
    await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=path))
    for number in (5, 8, 9):
        server.command("XADD", "other", f"{number}-1", "n", number)
    outcome = await done(console, RestoreIntent(file=path, to="other"))
    assert (outcome.applied, outcome.skipped_count) == (1, 5)
    info = server.command("XINFO", "GROUPS", "other")[0]
    if server.program.version >= (7, 0, 0):
        assert info[info.index(b"lag") + 1] == 2


async def test_a_group_needs_its_stream(server: RunningServer, console: Console, tmp_path: Path) -> None:
    grouped(server)
    path = str(tmp_path / "g")
    await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=path))
    server.command("DEL", STREAM)
    with pytest.raises(Forbidden, match="there is no such stream"):
        await console.prepare(RestoreIntent(file=path))
    server.command("XADD", STREAM, "3-1", "a", "b")
    with pytest.raises(Forbidden, match="it ends at 3-1"):
        await console.prepare(RestoreIntent(file=path))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"deliveries": -1}, "line 2 ("),
        ({"idle_seconds": 1e300}, "line 2 ("),
        ({"group": "h"}, "line 2 (it is of another group"),
        ({"id": "x"}, "line 2 (not an entry ID"),
    ],
)
async def test_bad_lines_of_a_groups_file(
    any_server: RunningServer, tmp_path: Path, change: dict[str, object], words: str
) -> None:
    grouped(any_server)
    path = tmp_path / "g"
    async with await open_console(any_server) as console:
        await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=str(path)))
        lines = path.read_bytes().splitlines()
        lines[1] = json.dumps(json.loads(lines[1]) | change).encode()
        path.write_bytes(b"\n".join(lines))
        with pytest.raises(SettingsError) as caught:
            await console.prepare(RestoreIntent(file=str(path)))
    assert words in caught.value.message


async def test_a_group_is_given_its_rows_once(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    grouped(server)
    path = str(tmp_path / "g")
    await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=path))
    other = await console.prepare(RestoreIntent(file=path))
    await done(console, RestoreIntent(file=path))
    server.command("XACK", STREAM, "g", *(f"{number}-1" for number in range(1, 11)))
    plan = await planned(console, RestoreIntent(file=path))
    assert plan.count == 0
    assert plan.effects[0].startswith("All 6 pending entries of this file were restored before")
    with pytest.raises(StalePlan):
        await applied(console, other)
    assert pending(server) == []
    assert (await done(console, RestoreIntent(file=path, again=True))).applied == 6
    # With the group goes what was restored of it.
    server.command("XGROUP", "DESTROY", STREAM, "g")
    assert (await done(console, RestoreIntent(file=path))).applied == 6


async def test_two_give_a_group_its_rows_once(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    grouped(server)
    path = str(tmp_path / "g")
    await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=path))
    server.command("XGROUP", "CREATE", STREAM, "g", "7-1")
    first, second = [await console.prepare(RestoreIntent(file=path)) for _ in range(2)]
    assert (await applied(console, first)).applied == 6
    server.command("XACK", STREAM, "g", *(f"{number}-1" for number in range(1, 11)))
    with pytest.raises(StalePlan, match="restored more of this file meanwhile"):
        await applied(console, second)
    assert pending(server) == []


async def test_what_was_not_deleted_is_not_added_again(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    path = written(tmp_path / "f", 5)
    for number in (4, 5):
        server.command("XADD", STREAM, f"{number}-1", "n", number)
    append(path, b'{"not_deleted":["4-1"]}\n')
    append(path, entry_line(STREAM, Entry(EntryId(6, 1), ((b"n", b"6"),)))[:-5])
    prepared = await console.prepare(RestoreIntent(file=path, new_ids=True))
    assert prepared.plan.count == 4
    assert "Those that are still there with their own IDs are left out." in prepared.plan.effects
    assert prepared.plan.warnings == (
        "The last line is cut off, and is left out: what it tells was not deleted.",
        "1 entry of the file was not deleted, as the file says, and will be left out.",
    )
    outcome = await applied(console, prepared)
    assert (outcome.applied, outcome.complete) == (3, True)
    assert outcome.skipped == (Skipped("5-1", "it is still there, with its own ID"),)
    assert values(server) == [4, 5, 1, 2, 3]


async def test_the_first_entry_may_be_too_wide_for_a_batch(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    path = str(tmp_path / "f")
    wide = Entry(EntryId(1, 1), tuple((b"%d" % number, b"v") for number in range(6_000)))
    with BackupWriter(path) as file:
        file.write(STREAM, [wide, Entry(EntryId(2, 1), ((b"n", b"2"),))])
    outcome = await done(console, RestoreIntent(file=path))
    assert (outcome.applied, outcome.failed_count) == (1, 1)
    assert values(server) == [2]
