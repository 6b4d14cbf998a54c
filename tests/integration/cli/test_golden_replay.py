"""Exit codes and JSON of ``dlq`` and ``replay``, on a real server.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

from pathlib import Path

import pytest

from streamops.wire.writes.jobs import JOBS
from tests.support.cli.golden import MASKS, compare, told
from tests.support.cli.running import Cli, Place
from tests.support.monitor.dead_letters import QUEUE, STREAM, add_letter, add_pairs, make_group, payloads
from tests.support.operations.backups import read_backup
from tests.support.servers import RunningServer

GOLDEN = Path(__file__).with_name("golden_replay")
CONFIG = 'default_context = "local"\n[contexts.local]\nurl = "{url}"\nenvironment = "production"\n'
AT = 1_600_000_000_000

READING = [
    ["dlq", "ls", "-o", "json"],
    ["dlq", "ls", QUEUE, "-o", "json"],
    ["dlq", "ls", QUEUE, "--because", "rejected", "-o", "jsonl"],
    ["dlq", "ls", QUEUE, "--where", "deliveries > `3` && fields.n == '0'", "-o", "jsonl"],
    ["dlq", "ls", QUEUE, "--since", "1h", "-o", "json"],
    ["dlq", "ls", QUEUE, "--where", "deliverys > `3`"],
    ["dlq", "ls", "missing:dlq"],
    ["dlq", "ls", "events", "-o", "jsonl"],
    ["dlq", "ls"],
    ["dlq", "ls", QUEUE],
    ["dlq", "show", QUEUE],
    ["dlq", "show", QUEUE, f"{AT}-1"],
    ["dlq", "show", "events"],
    ["dlq", "show", QUEUE, "-o", "json"],
    ["dlq", "show", QUEUE, f"{AT}-1", "-o", "json"],
    ["dlq", "show", QUEUE, "7-7"],
    ["dlq", "show", QUEUE, "none"],
    ["dlq", "show", "missing:dlq"],
    ["dlq", "export", QUEUE, "-", "--count", "2"],
    ["dlq", "export", QUEUE, "letters.jsonl"],
    ["dlq", "export", QUEUE, "letters.jsonl"],
    ["dlq", "export", "missing:dlq", "none.jsonl"],
    ["dlq", "export", QUEUE, "none/letters.jsonl"],
]
ACTING = [
    ["replay", QUEUE, "--mode", "republish", "--dry-run", "-o", "json"],
    ["replay", QUEUE, "--mode", "retry", "--dry-run", "--count", "1", "-o", "json"],
    ["replay", QUEUE, "--mode", "redeliver", "--dry-run", "--count", "1", "-o", "json"],
    ["replay", QUEUE, "--to", "archive", "--edit", "kind=late", "--dry-run", "--count", "1", "-o", "json"],
    ["replay", QUEUE, "--where", "fields.n == 'none'"],
    ["replay", QUEUE],
    ["replay", QUEUE, "--mode", "republish", "--no-input"],
    ["replay", QUEUE, "--mode", "republish", "--expect", "7", "--yes"],
    ["replay", QUEUE, "--mode", "sideways"],
    ["replay", QUEUE, "--mode", "redeliver", "--edit", "kind=late"],
    ["replay", QUEUE, "--edit", "_so_group=x"],
    ["replay", QUEUE, "--to", QUEUE],
    ["replay", QUEUE, "--where", "fields.n =="],
    ["replay", QUEUE, "--resume", "none"],
    ["replay", QUEUE, "--resume", "none", "--since", "1h", "--to", "archive"],
    ["replay", QUEUE, "--ids", "7-7", "--dry-run", "-o", "json"],
    ["replay", "events", "--to", STREAM, "--dry-run"],
    ["replay", "missing:dlq"],
    ["replay", "text:dlq"],
    ["--read-only", "replay", QUEUE, "--mode", "republish", "--yes"],
    ["replay", QUEUE, "--mode", "redeliver", "--count", "1", "--yes"],
    ["replay", QUEUE, "--mode", "republish", "--count", "2", "--confirm", "2", "--reason", "fixed"],
    ["dlq", "purge", STREAM, "--backup", "lost.jsonl"],
    ["dlq", "purge", QUEUE, "--backup", "none/lost.jsonl"],
    ["dlq", "purge", QUEUE, "--ids", "7-7,8-8", "--backup", "lost.jsonl"],
    ["dlq", "purge", QUEUE, "--dry-run", "--backup", "lost.jsonl", "--because", "rejected", "-o", "json"],
    ["dlq", "purge", QUEUE, "--yes", "--backup", "lost.jsonl"],
    ["dlq", "purge", QUEUE, "--confirm", QUEUE, "--backup", "lost.jsonl", "-o", "json"],
    ["dlq", "purge", QUEUE, "--confirm", QUEUE, "--backup", "lost.jsonl"],
]


@pytest.fixture
def queue(server: RunningServer, place: Place) -> RunningServer:
    """A server with letters of every sort, in production."""
    place.configure(CONFIG.format(url=server.url))
    make_group(server)
    make_group(server, group="audit")
    for number in range(2):
        add_letter(
            server,
            [("kind", "order"), ("n", str(number)), ("n", b"\xff")],
            entry_id=f"{AT}-{number}",
            origin_id=f"{AT - 10}-{number}",
            consumer="worker-1",
            error="boom \x1b[31m",
            failed_at="2020-09-13T12:26:40.000Z",
            reason="rejected",
        )
    add_letter(server, [("kind", "order"), ("_so_replay_of", "1-1")], entry_id=f"{AT}-2")
    add_pairs(
        server, QUEUE, [("orig_id", "5-1"), ("reason", "x"), ("payload", '{"kind":"foreign"}')], f"{AT}-3"
    )
    add_pairs(server, QUEUE, [("orig_id", "5-1"), ("reason", "x"), ("payload", "{")], f"{AT}-4")
    add_pairs(server, "empty:dlq", [("a", "b")], f"{AT}-0")
    server.command("XDEL", "empty:dlq", f"{AT}-0")
    server.command("SET", "text:dlq", "v")
    add_pairs(server, "events", [("a", "b")], f"{AT}-0")
    make_group(server, "events", "late", "0")
    return server


def test_reading_dead_letters_prints_what_is_recorded(cli: Cli, queue: RunningServer, place: Place) -> None:
    compare("dlq", told(cli, READING, place, MASKS), GOLDEN)
    exported = list(read_backup(place.cwd / "letters.jsonl"))
    letters = queue.command("XRANGE", QUEUE, "-", "+")
    assert [
        (str(entry.id).encode(), [part for pair in entry.fields for part in pair]) for _, entry in exported
    ] == [tuple(letter) for letter in letters]


def test_commands_that_replay_print_what_they_did(cli: Cli, queue: RunningServer, place: Place) -> None:
    before = queue.command("XRANGE", QUEUE, "-", "+")
    compare("replay", told(cli, ACTING, place, MASKS), GOLDEN)
    assert len(payloads(queue, STREAM)) == 2
    assert queue.command("XLEN", QUEUE) == 0
    lost = list(read_backup(place.cwd / "lost.jsonl"))
    assert [str(entry.id).encode() for _, entry in lost] == [one for one, _ in before[2:]]


def test_a_reason_of_dead_letters_is_not_taken_for_a_note(cli: Cli, queue: RunningServer) -> None:
    words = ("replay", QUEUE, "--url", queue.unix_url, "--mode", "republish", "--dry-run", "--reason")
    told = cli(*words, "timeout")
    assert (told.code, "--because timeout selects" in told.err) == (2, True)
    assert cli(*words, "timeout", "--because", "timeout").code == 0
    assert cli(*words, "the timeout is mended").code == 0


def test_a_job_is_resumed_for_its_own_queue_alone(cli: Cli, queue: RunningServer) -> None:
    assert cli("replay", QUEUE, "--mode", "republish", "--count", "1", "--confirm", "1").code == 0
    (found,) = queue.command("ZRANGE", JOBS, 0, -1)
    job = found.decode()
    result = cli("replay", "empty:dlq", "--resume", job, "--yes")
    assert result.code == 2
    assert f"job {job} is replay of {QUEUE}, not replay of empty:dlq" in result.err
    assert f"`streamops jobs resume {job}`" in result.err
    result = cli("replay", QUEUE, "--resume", job, "--where", "`true`")
    assert result.code == 2
    assert "--resume and --where exclude each other" in result.err
    assert f"job {job} is over" in cli("replay", QUEUE, "--resume", job, "--yes").err
