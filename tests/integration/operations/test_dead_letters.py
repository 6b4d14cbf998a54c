"""Dead-letter queues: found, summed up, exported and purged."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from streamops.errors import Forbidden, NotFound, Refused, SettingsError, StreamopsError, UnexpectedReply
from streamops.model.acting import Confirmation
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.selections import DeadLetterSelection
from streamops.monitor.watch import Watch
from streamops.operations import backups
from streamops.operations.console import Console
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.replay.intent import ReplayIntent
from streamops.operations.restore.intent import RestoreIntent
from streamops.resources.acl import AclRole, acl_rules
from streamops.wire.options import Secret
from streamops.wire.server import Server
from streamops.wire.writes.entries import Deleting, delete
from tests.support.monitor.dead_letters import QUEUE, add_letter, add_pairs, do, make_group
from tests.support.operations.backups import read_backup
from tests.support.servers import RunningServer
from tests.support.streams import entries_of

OWN = [(b"kind", b"order"), (b"tag", b"a"), (b"tag", b"\xff\x00b")]


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    watch = Watch(dead_letters={"refunds": "failures", "more": "not-there"})
    async with await Console.open(server.options, watch) as opened:
        yield opened


async def test_queues_are_known_by_name_or_by_the_configuration(
    server: RunningServer, console: Console
) -> None:
    for number in range(300):
        add_letter(server, OWN, reason=("rejected", "timeout")[number % 3 == 0])
    add_pairs(server, "failures", OWN, "5-1")
    add_pairs(server, "events", OWN)
    server.command("SET", "text:dlq", "v")
    found = await console.dead_letters.queues(["events", QUEUE, "text:dlq"])
    assert [(one.queue, one.source, one.length) for one in found.queues] == [
        ("failures", "refunds", 1),
        (QUEUE, "orders", 300),
    ]
    assert [(gap.stream, gap.reason) for gap in found.gaps] == [("text:dlq", "not a stream")]
    summary = found.queues[1]
    assert (summary.tally.letters, summary.coverage) == (200, 2 / 3)
    assert dict(summary.tally.reasons) == {"rejected": 134, "timeout": 66}
    assert found.queues[0].oldest_id == EntryId(5, 1)


async def test_an_observer_may_look(server: RunningServer, console: Console) -> None:
    """Without a right to write, and without scripts."""
    add_letter(server, OWN)
    server.command("ACL", "SETUSER", "default", "-@write", "-@scripting")
    try:
        assert (await console.dead_letters.queue(QUEUE)).length == 1
        page = await console.dead_letters.page(DeadLetterSelection(queue=QUEUE, because="max-deliveries"), 10)
        assert len(page.letters) == 1
    finally:
        server.command("ACL", "SETUSER", "default", "+@all")


@pytest.mark.parametrize("changes", [(), ("-@scripting",)])
async def test_an_observer_may_plan(server: RunningServer, changes: tuple[str, ...]) -> None:
    make_group(server)
    for number in range(3):
        add_letter(server, [("n", str(number))])
    rules = acl_rules(AclRole.OBSERVER)
    words = (rules.rules_6_2 if server.program.version < (7,) else rules.rules).split()
    server.command("ACL", "SETUSER", "looker", "reset", "on", ">right", *words, *changes)
    options = replace(server.options, username="looker", password=Secret("right"))
    try:
        async with await Console.open(options) as looker:
            for intent in (ReplayIntent(queue=QUEUE, count=2), PurgeIntent(queue=QUEUE, count=2)):
                prepared = await looker.prepare(intent)
                assert (prepared.plan.count, len(prepared.plan.sample)) == (2, 2)
                assert prepared.plan.effects[0].startswith("Reasons: max-deliveries ")
                with pytest.raises(Refused) as refused:
                    await looker.apply(prepared, Confirmation(yes=True, typed=QUEUE))
                assert "doctor --acl operator" in refused.value.hint
    finally:
        server.command("ACL", "DELUSER", "looker")
    assert server.command("XLEN", QUEUE) == 3


async def test_pages_and_single_letters(server: RunningServer, console: Console) -> None:
    letters = [add_letter(server, [("n", str(number))]) for number in range(30)]
    page = await console.dead_letters.page(DeadLetterSelection(queue=QUEUE), 20)
    assert ([str(one.id) for one in page.letters], page.more, page.is_queue) == (letters[:20], True, True)
    page = await console.dead_letters.page(DeadLetterSelection(queue=QUEUE, count=5), 20)
    assert (len(page.letters), page.more) == (5, False)
    letter = await console.dead_letters.read_one(QUEUE, EntryId.parse(letters[3]))
    assert letter.fields == ((b"n", b"3"),)
    with pytest.raises(NotFound, match="has no dead letter 7-7"):
        await console.dead_letters.read_one(QUEUE, EntryId(7, 7))
    with pytest.raises(NotFound):
        await console.dead_letters.page(DeadLetterSelection(queue="missing:dlq"), 1)


async def test_an_export_is_byte_for_byte(server: RunningServer, console: Console) -> None:
    for number in range(40):
        add_letter(server, [*OWN, ("n", str(number)), (b"\xfe", b"")])
    told: list[StreamEntry] = []
    count = await console.dead_letters.export(DeadLetterSelection(queue=QUEUE, count=35), told.extend)
    assert count == 35
    assert [(str(one.id), [part for pair in one.fields for part in pair]) for one in told] == entries_of(
        server, QUEUE
    )[:35]


async def test_a_purge_keeps_what_it_deletes(server: RunningServer, console: Console, tmp_path: Path) -> None:
    for number in range(700):
        add_letter(server, [*OWN, ("n", str(number))], reason=("rejected", "timeout")[number % 2])
    before = entries_of(server, QUEUE)
    backup = tmp_path / "lost.jsonl"
    outcome = await do(console, PurgeIntent(queue=QUEUE, because="rejected", backup=str(backup)))
    assert outcome.applied == 350
    assert entries_of(server, QUEUE) == before[1::2]
    kept = [
        (stream, str(entry.id), [part for pair in entry.fields for part in pair])
        for stream, entry in read_backup(backup)
    ]
    assert kept == [(QUEUE, *letter) for letter in before[::2]]
    with pytest.raises(SettingsError, match="exists already"):
        await console.prepare(PurgeIntent(queue=QUEUE, backup=str(backup)))


async def test_a_purge_leaves_what_died_later_and_skips_what_is_gone(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    first, second = add_letter(server, OWN), add_letter(server, OWN)
    prepared = await console.prepare(PurgeIntent(queue=QUEUE, backup=str(tmp_path / "lost.jsonl")))
    server.command("XDEL", QUEUE, first)
    late = add_letter(server, OWN)
    outcome = await console.apply(prepared, Confirmation(typed=QUEUE))
    assert outcome.applied == 1
    assert outcome.notes[-1] == "1 of the dead letters planned was gone: replayed or deleted since the plan."
    assert [one for one, _ in entries_of(server, QUEUE)] == [late]
    assert [str(entry.id) for _, entry in read_backup(tmp_path / "lost.jsonl")] == [second]


async def test_a_purge_is_for_dead_letters_alone(server: RunningServer, console: Console) -> None:
    for stream in ("events", "{orders}:retry:billing"):
        add_pairs(server, stream, OWN)
        with pytest.raises(Forbidden, match="is no dead-letter queue"):
            await console.prepare(PurgeIntent(queue=stream))
    add_letter(server, OWN)
    prepared = await console.prepare(PurgeIntent(queue=QUEUE))
    with pytest.raises(Forbidden, match="not confirmed"):
        await console.apply(prepared, Confirmation(yes=True))
    assert server.command("XLEN", QUEUE) == 1


async def test_a_purge_tells_which_letters_somebody_else_took(
    server: RunningServer, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def replayed_first(asked: Server, how: Deleting, ids: Sequence[EntryId]) -> frozenset[EntryId]:
        server.command("XDEL", how.stream, str(ids[1]))
        return await delete(asked, how, ids)

    letters = [add_letter(server, [("n", str(number))]) for number in range(3)]
    backup = tmp_path / "lost.jsonl"
    monkeypatch.setattr(backups, "delete", replayed_first)
    outcome = await do(console, PurgeIntent(queue=QUEUE, backup=str(backup)))
    assert (outcome.applied, outcome.skipped_count) == (2, 1)
    assert [str(entry.id) for _, entry in read_backup(backup)] == [letters[0], letters[2]]


async def test_what_a_stopped_purge_left_is_not_added_twice(
    server: RunningServer, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: object) -> None:
        raise UnexpectedReply("nobody knows")

    letters = [add_letter(server, [("n", str(number))]) for number in range(3)]
    backup = tmp_path / "lost.jsonl"
    monkeypatch.setattr(backups, "delete", lost)
    with pytest.raises(StreamopsError):
        await do(console, PurgeIntent(queue=QUEUE, backup=str(backup)))
    server.command("XDEL", QUEUE, letters[0])
    outcome = await do(console, RestoreIntent(file=str(backup), new_ids=True))
    assert (outcome.applied, outcome.skipped_count) == (1, 2)
    assert server.command("XLEN", QUEUE) == 3
