"""Restoring, stopped and begun again, by one or by two: each entry once."""

import asyncio
from pathlib import Path

import pytest

from streamops.errors import ApplyError, StalePlan, StreamopsError
from streamops.model.acting import Confirmation, Progress, Skipped
from streamops.operations.console import Console
from streamops.operations.restore import run as restore
from streamops.operations.restore.intent import RestoreIntent
from streamops.wire.writes.entries import restore_entries
from tests.support.operations.doing import applied, done, open_console
from tests.support.operations.restoring import STREAM, markers, values, written
from tests.support.servers import RunningServer


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
        await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word), stop)
    assert values(server) == list(range(1, 10 * stop_after + 1))
    rest = await console.prepare(intent)
    assert rest.plan.count == 45 - 10 * stop_after
    assert f"{10 * stop_after} of the file's 45 were restored before" in rest.plan.effects[1]
    await applied(console, rest)
    assert values(server) == list(range(1, 46))


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
    assert reasons == {"restored by another process"}


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
        await console.apply(prepared, Confirmation(yes=True, typed="25"), stop)
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
    with pytest.raises(StalePlan, match="another process began"):
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
    assert outcome.skipped[0] == Skipped("1-1", "restored by another process")


async def test_a_stream_that_vanishes_meanwhile_is_drift(
    server: RunningServer, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "BATCH", 10)
    intent = RestoreIntent(file=written(tmp_path / "f", 45))
    prepared = await console.prepare(intent)

    def vanish(_: Progress) -> None:
        server.command("DEL", STREAM)

    with pytest.raises(ApplyError, match="the stream is gone"):
        await console.apply(prepared, Confirmation(yes=True, typed="45"), vanish)
    # It begins anew: what was there went with the stream.
    await done(console, intent)
    assert values(server) == list(range(1, 46))
