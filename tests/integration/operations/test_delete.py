"""Deleting entries on real servers: written to a file first, told to every group."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from streamops.errors import ApplyError, NotFound, SettingsError, StalePlan
from streamops.model.acting import Confirmation
from streamops.model.entries import EntryId
from streamops.operations import backups
from streamops.operations.console import Console
from streamops.operations.streams_rm_entry import run as delete
from streamops.operations.streams_rm_entry.intent import DeleteIntent
from streamops.wire.server import Server
from streamops.wire.writes.entries import Deleting
from streamops.wire.writes.entries import delete as wire_delete
from tests.support.operations.backups import read_backup
from tests.support.operations.delete import NONE, STREAM, add_ten_read_in_part, ids
from tests.support.operations.doing import applied, done, open_console, planned
from tests.support.servers import RunningServer
from tests.support.streams import milliseconds_of


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    add_ten_read_in_part(server)
    async with await open_console(server) as opened:
        yield opened


async def test_what_is_deleted_is_in_the_file(
    server: RunningServer, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delete, "BATCH", 2)
    file = tmp_path / "b.jsonl"
    outcome = await done(console, DeleteIntent(stream=STREAM, ids=(*ids(9, 3, 6), NONE), backup=str(file)))
    assert (outcome.requested, outcome.applied) == (3, 3)
    assert milliseconds_of(server, STREAM) == [1, 2, 4, 5, 7, 8, 10]
    saved = {entry.id.ms: entry.fields for _, entry in read_backup(file)}
    assert saved == {
        number: ((b"n", str(number).encode()), (b"raw", b"\xff"), (b"n", b"again")) for number in (9, 3, 6)
    }


async def test_what_went_meanwhile_is_skipped(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    file = tmp_path / "b.jsonl"
    prepared = await console.prepare(DeleteIntent(stream=STREAM, ids=ids(1, 2), backup=str(file)))
    server.command("XDEL", STREAM, "1-0")
    outcome = await applied(console, prepared)
    assert (outcome.applied, [one.id for one in outcome.skipped]) == (1, ["1-0"])
    assert [entry.id.ms for _, entry in read_backup(file)] == [2]


async def test_a_group_set_back_is_drift(server: RunningServer, console: Console, tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    prepared = await console.prepare(DeleteIntent(stream=STREAM, ids=ids(1, 2), backup=str(file)))
    server.command("XGROUP", "SETID", STREAM, "audit", "0")
    with pytest.raises(StalePlan, match="group audit was set back to 0-0"):
        await applied(console, prepared)
    assert len(milliseconds_of(server, STREAM)) == 10


async def test_the_file_stays_where_something_was_deleted(
    server: RunningServer, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delete, "BATCH", 2)
    file = tmp_path / "b.jsonl"
    prepared = await console.prepare(DeleteIntent(stream=STREAM, ids=ids(1, 2, 3, 4), backup=str(file)))

    def set_back(progress: object) -> None:
        assert progress
        server.command("XGROUP", "SETID", STREAM, "audit", "0")

    with pytest.raises(ApplyError) as stopped:
        await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word), set_back)
    assert isinstance(stopped.value.__cause__, StalePlan)
    assert milliseconds_of(server, STREAM) == list(range(3, 11))
    assert {1, 2} <= {entry.id.ms for _, entry in read_backup(file)}


async def test_many_are_looked_up_either_way(
    server: RunningServer, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delete, "PENDING_PAGE", 1)
    whole = await planned(console, DeleteIntent(stream=STREAM, ids=ids(*range(1, 11))))
    single = await planned(console, DeleteIntent(stream=STREAM, ids=ids(3)))
    assert "keeps 2 pending rows" in whole.effects[1]
    assert "keeps 1 pending row that" in single.effects[1]
    assert single.loses == "1 entry for good: no backup is written."
    assert len(milliseconds_of(server, STREAM)) == 10


async def test_nothing_to_delete_is_no_error(console: Console) -> None:
    plan = await planned(console, DeleteIntent(stream=STREAM, ids=(NONE,)))
    assert (plan.count, plan.effects, plan.loses) == (0, (), "")


async def test_no_stream_and_no_new_file(server: RunningServer, console: Console, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        await planned(console, DeleteIntent(stream="none", ids=(NONE,)))
    (tmp_path / "b.jsonl").write_text("precious")
    with pytest.raises(SettingsError, match="exists already"):
        await planned(console, DeleteIntent(stream=STREAM, ids=ids(1), backup=str(tmp_path / "b.jsonl")))
    prepared = await console.prepare(
        DeleteIntent(stream=STREAM, ids=ids(1), backup=str(tmp_path / "b.jsonl" / "c"))
    )
    with pytest.raises(SettingsError, match="cannot be written"):
        await applied(console, prepared)
    assert len(milliseconds_of(server, STREAM)) == 10


async def test_the_file_tells_what_was_not_deleted(
    server: RunningServer, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def somebody_else_first(asked: Server, how: Deleting, ids: Sequence[EntryId]) -> frozenset[EntryId]:
        server.command("XDEL", STREAM, "2-0")
        return await wire_delete(asked, how, ids)

    file = tmp_path / "b.jsonl"
    monkeypatch.setattr(backups, "delete", somebody_else_first)
    outcome = await done(console, DeleteIntent(stream=STREAM, ids=ids(1, 2, 3), backup=str(file)))
    assert (outcome.applied, outcome.skipped_count) == (2, 1)
    assert [entry.id.ms for _, entry in read_backup(file)] == [1, 3]


async def test_where_the_groups_changed_the_file_tells_that_nothing_was_deleted(
    server: RunningServer, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def new_group_first(asked: Server, how: Deleting, ids: Sequence[EntryId]) -> frozenset[EntryId]:
        server.command("XGROUP", "CREATE", STREAM, "new", "0")
        return await wire_delete(asked, how, ids)

    file = tmp_path / "b.jsonl"
    monkeypatch.setattr(backups, "delete", new_group_first)
    with pytest.raises(StalePlan):
        await done(console, DeleteIntent(stream=STREAM, ids=ids(1, 2, 3), backup=str(file)))
    assert list(read_backup(file)) == []
    assert len(milliseconds_of(server, STREAM)) == 10
