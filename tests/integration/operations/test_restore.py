"""Restoring entries from files: byte for byte, each once, under IDs that fit."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.errors import ApplyError, Forbidden, StalePlan
from streamops.model.acting import Confirmation, Failed, Impact, Progress, Skipped
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.json_text import encode
from streamops.operations.backups import BackupWriter, entry_line
from streamops.operations.console import Console
from streamops.operations.restore import run as restore
from streamops.operations.restore import survey as restore_files
from streamops.operations.restore.intent import RestoreIntent
from streamops.resources.entries import entry_json
from tests.support.operations.doing import applied, done, open_console, planned
from tests.support.operations.restoring import STREAM, content, markers, values, written
from tests.support.servers import RunningServer, StartServer
from tests.support.strategies import FEWER_EXAMPLES, entries


def append(path: str, what: bytes) -> None:
    with Path(path).open("ab") as file:
        file.write(what)


async def test_entries_come_back_with_their_ids(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    path = written(tmp_path / "f", 3)
    prepared = await console.prepare(RestoreIntent(file=path))
    plan = prepared.plan
    assert (plan.operation, plan.target, plan.impact, plan.count) == ("restore", STREAM, Impact.REDELIVERS, 3)
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
    assert "Delivered to all of its groups (billing)." in prepared.plan.effects
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
    made = [StreamEntry(EntryId(n, 0), ((b"n", b"%d" % n),)) for n in (1, 3, 2)]
    path.write_bytes(b"\n".join(entry_line(STREAM, entry) for entry in made))
    with pytest.raises(Forbidden, match="the ID in line 5 does not come after the one before it"):
        await console.prepare(RestoreIntent(file=str(path)))
    await done(console, RestoreIntent(file=str(path), new_ids=True))
    assert values(server) == [1, 3, 2]


@given(made=st.lists(entries(), min_size=1, max_size=30))
@FEWER_EXAMPLES
async def test_every_byte_survives(server: RunningServer, tmp_path: Path, made: list[StreamEntry]) -> None:
    made = [replace(entry, id=EntryId(at, 0)) for at, entry in enumerate(made, 1) if entry.fields]
    if not made:
        return
    server.flush()
    path = tmp_path / f"f{os.urandom(4).hex()}"
    with BackupWriter(path) as file:
        file.write("caf\udce9", made)
    shown = tmp_path / f"{path.name}-shown"
    shown.write_text("\n".join(encode(entry_json(STREAM, entry)) for entry in made), encoding="utf-8")
    async with await open_console(server) as console:
        await done(console, RestoreIntent(file=str(path)))
        await done(console, RestoreIntent(file=str(path), to="new", new_ids=True))
        await done(console, RestoreIntent(file=str(shown)))
    wanted = [[part for pair in entry.fields for part in pair] for entry in made]
    for stream in (b"caf\xe9", b"new", STREAM):
        assert [fields for _, fields in server.command("XRANGE", stream, "-", "+")] == wanted
    assert [one for one, _ in server.command("XRANGE", STREAM, "-", "+")] == [
        str(entry.id).encode() for entry in made
    ]


async def test_large_and_wide_entries(server: RunningServer, console: Console, tmp_path: Path) -> None:
    fields = tuple((b"%d" % n, b"v") for n in range(restore_files.WIDEST))
    made = [
        StreamEntry(EntryId(1, 0), fields),
        StreamEntry(EntryId(2, 0), (*fields, (b"one", b"more"))),
        StreamEntry(EntryId(3, 0), ((b"blob", b"\xff" * (3 << 20)),)),
        StreamEntry(EntryId(4, 0), ((b"n", b"4"),)),
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
            await console.apply(prepared, Confirmation(yes=True, typed="40"), fill)
        server.command("CONFIG", "SET", "maxmemory", "0")
        assert values(server) == list(range(1, 11))
        await done(console, RestoreIntent(file=path))
    assert values(server) == list(range(1, 41))


async def test_what_was_not_deleted_is_not_added_again(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    path = written(tmp_path / "f", 5)
    for number in (4, 5):
        server.command("XADD", STREAM, f"{number}-1", "n", number)
    append(path, b'{"not_deleted":["4-1"]}\n')
    append(path, entry_line(STREAM, StreamEntry(EntryId(6, 1), ((b"n", b"6"),)))[:-5])
    prepared = await console.prepare(RestoreIntent(file=path, new_ids=True))
    assert prepared.plan.count == 4
    assert "Those that still exist under their IDs are left out." in prepared.plan.effects
    assert prepared.plan.warnings == (
        "The last line is incomplete and is left out: its entry was not deleted.",
        "1 entry of the file was not deleted, as the file says, and will be left out.",
    )
    outcome = await applied(console, prepared)
    assert (outcome.applied, outcome.complete) == (3, True)
    assert outcome.skipped == (Skipped("5-1", "it still exists under its ID"),)
    assert values(server) == [4, 5, 1, 2, 3]


async def test_the_first_entry_may_be_too_wide_for_a_batch(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    path = str(tmp_path / "f")
    wide = StreamEntry(EntryId(1, 1), tuple((b"%d" % number, b"v") for number in range(6_000)))
    with BackupWriter(path) as file:
        file.write(STREAM, [wide, StreamEntry(EntryId(2, 1), ((b"n", b"2"),))])
    outcome = await done(console, RestoreIntent(file=path))
    assert (outcome.applied, outcome.failed_count) == (1, 1)
    assert values(server) == [2]
