"""Exit codes and JSON of acknowledging, jobs and the audit log, on a real server.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

import json
from pathlib import Path

import pytest

from streamops.main.program import run
from tests.support.cli.golden import MASKS, compare, told
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer

GOLDEN = Path(__file__).with_name("golden_acting")
CONFIG = 'default_context = "local"\n[contexts.local]\nurl = "{url}"\n'
IDS = "1-1,2-1,77-7"
JOB = "4f1c09ab12cd"

ACKNOWLEDGING = [
    ["ack", "orders", "billing", "--ids", IDS, "--dry-run", "-o", "json"],
    ["ack", "orders", "billing", "--ids", IDS],
    ["ack", "orders", "billing", "--ids", IDS, "-o", "json"],
    ["ack", "orders", "billing", "--ids", IDS, "--confirm", "3"],
    ["ack", "orders", "billing", "--ids", IDS, "--yes", "--expect", "3"],
    ["ack", "orders", "billing", "--ids", IDS, "--yes", "--max", "1"],
    ["--read-only", "ack", "orders", "billing", "--ids", IDS, "--yes"],
    ["--read-only", "ack", "orders", "billing", "--ids", IDS, "--dry-run", "-o", "json"],
    ["ack", "orders", "billing", "--ids", "1-1", "--yes", "--reason", "looked at by hand"],
    ["ack", "orders", "billing", "--ids", "1-1", "--yes"],
    ["ack", "orders", "billing", "--ids", "1-1", "-o", "json", "--quiet"],
    ["ack", "orders", "billing", "--ids", "2-1", "-o", "plain", "--confirm", "1"],
    ["ack", "orders", "billing", "--ids", "3-1", "-y", "-q", "-o", "json"],
    ["ack", "orders", "billing", "--ids", "4-1", "-y", "-q", "-o", "jsonl"],
    ["ack", "orders", "billing", "--ids", "7-1", "-y", "--fields", "aplied"],
    ["ack", "orders", "billing", "--ids", "1-1,none"],
    ["ack", "orders", "billing", "--ids", ""],
    ["ack", "orders", "billing"],
    ["ack", "orders", "none", "--ids", "1-1"],
    ["ack", "none", "billing", "--ids", "1-1"],
    ["ack", "string", "billing", "--ids", "1-1"],
]
AUDIT = [
    ["audit", "ls", "-o", "json"],
    ["ack", "orders", "billing", "--ids", "1-1,2-1", "--yes", "--quiet", "--reason", "=poison", "-o", "csv"],
    ["ack", "orders", "billing", "--ids", "3-1", "--yes", "--quiet", "-o", "csv"],
    ["audit", "ls", "-o", "json"],
    ["audit", "ls", "--limit", "1", "-o", "json"],
    ["audit", "ls", "--operation", "claim", "-o", "json"],
    ["audit", "ls", "--operation", "delete"],
    ["audit", "ls", "--target", "orders", "--since", "1h", "-o", "json"],
    ["audit", "ls", "--until", "2020-01-01", "-o", "json"],
    ["audit", "ls", "--since", "soon"],
    ["audit", "show", "1-1"],
    ["audit", "show", "x"],
]
JOBS = [
    ["jobs", "ls"],
    ["jobs", "ls", "-o", "json"],
    ["jobs", "ls", "--active", "-o", "json"],
    ["jobs", "show", JOB, "-o", "json"],
    ["jobs", "show", "none"],
    ["jobs", "resume", "none"],
    ["jobs", "resume", JOB],
    ["--read-only", "jobs", "cancel", JOB],
    ["jobs", "cancel", JOB, "--dry-run", "-o", "json"],
    ["jobs", "cancel", JOB],
    ["jobs", "cancel", JOB],
    ["jobs", "resume", JOB, "--yes"],
    ["jobs", "cancel", "none"],
    ["jobs", "ls", "--active", "-o", "json"],
]


@pytest.fixture
def stocked(server: RunningServer, place: Place, monkeypatch: pytest.MonkeyPatch) -> RunningServer:
    """Nine entries given to a group and not acknowledged, one more that was not, and an interrupted job."""
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    monkeypatch.setattr("platform.node", lambda: "desk")
    place.configure(CONFIG.format(url=server.url))
    for number in range(1, 11):
        server.command("XADD", "orders", f"{number}-1", "n", number)
    server.command("SET", "string", "x")
    for group in ("billing", "mail"):
        server.command("XGROUP", "CREATE", "orders", group, "0")
    words = ("GROUP", "billing", "worker-1", "COUNT", 9, "STREAMS", "orders", ">")
    server.command("XREADGROUP", *words)
    job: dict[str, str | int] = {
        "v": 1,
        "operation": "ack",
        "target": "orders/billing",
        "intent": '{"stream":"orders","group":"billing","ids":[]}',
        "state": "interrupted",
        "owner": "ann@desk:1",
        "cursor": "500-0",
        "requested": 1_000,
        "applied": 480,
        "skipped": 20,
        "failed": 0,
        "created_ms": 1_773_489_600_000,
        "updated_ms": 1_773_489_660_000,
        "lease_ms": 1_773_489_690_000,
        "rate": "50",
    }
    flat = [part for pair in job.items() for part in pair]
    server.command("HSET", f"streamops:job:{JOB}", *flat)
    server.command("ZADD", "streamops:jobs", job["created_ms"], JOB)
    return server


def test_acknowledging_prints_what_is_recorded(cli: Cli, stocked: RunningServer, place: Place) -> None:
    compare("ack", told(cli, ACKNOWLEDGING, place, MASKS), GOLDEN)
    assert stocked.command("XPENDING", "orders", "billing")[0] == 5


def test_the_audit_log_prints_what_is_recorded(cli: Cli, stocked: RunningServer, place: Place) -> None:
    compare("audit", told(cli, AUDIT, place, MASKS), GOLDEN)
    (first, _), *_ = stocked.command("XRANGE", "streamops:audit", "-", "+", "COUNT", 1)
    compare(
        "action",
        told(
            cli,
            [["audit", "show", first.decode(), "-o", output] for output in ("table", "json")],
            place,
            MASKS,
        ),
        GOLDEN,
    )


def test_the_whole_audit_log(cli: Cli, stocked: RunningServer) -> None:
    """Each row of ``--full`` is what ``audit show`` shows of that action."""
    assert stocked.command("EXISTS", "orders")
    for ids in ("1-1,2-1", "3-1"):
        assert cli("nack", "orders", "billing", "--ids", ids, "--yes", "--reason", "why").code == 0
    lines = cli("audit", "ls", "--full", "-o", "jsonl").out.splitlines()
    newest, oldest = (json.loads(line) for line in lines)
    assert [len(row["before"]) for row in (newest, oldest)] == [1, 2]
    assert oldest["plan"]["count"] == oldest["after"]["applied"] == 2
    shown = cli("audit", "show", oldest["audit_id"], "-o", "jsonl").out
    assert shown.splitlines() == lines[1:]
    document = json.loads(cli("audit", "ls", "--full", "-o", "json").out)
    assert document == {"schema": "streamops.audit.ls/1", "actions": [newest, oldest]}
    assert cli("audit", "ls", "--full", "-o", "jsonl", "--limit", "1").out.splitlines() == lines[:1]
    assert cli("undo", oldest["audit_id"], "--yes", "--quiet").code == 0
    undone = cli("audit", "ls", "--full", "-o", "jsonl").out.splitlines()
    assert json.loads(undone[2])["undone_by"] == json.loads(undone[0])["audit_id"]


@pytest.mark.parametrize(
    "options", [(), ("-o", "csv"), ("-o", "table"), ("-o", "jsonl", "--fields", "audit_id")], ids=" ".join
)
def test_the_whole_audit_log_needs_room(cli: Cli, server: RunningServer, options: tuple[str, ...]) -> None:
    result = cli("audit", "ls", "--full", *options, "--url", server.url)
    assert (result.code, result.out) == (2, "")


def test_ids_are_completed(
    stocked: RunningServer, cli: Cli, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("ack", "orders", "billing", "--ids", "1-1", "--yes").code == 0
    (first, _), *_ = stocked.command("XRANGE", "streamops:audit", "-", "+", "COUNT", 1)

    def completed(line: str) -> list[str]:
        monkeypatch.setenv("_STREAMOPS_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        capfd.readouterr()
        assert run([]) == 0
        return [item.split(",", 1)[1] for item in capfd.readouterr().out.splitlines() if item]

    assert completed("streamops undo ") == [first.decode()]
    assert completed("streamops undo 9") == []
    for verb in ("show", "resume", "cancel"):
        assert completed(f"streamops jobs {verb} ") == [JOB]


def test_jobs_that_cannot_be_read_are_told_beside_the_list(cli: Cli, stocked: RunningServer) -> None:
    stocked.command("HSET", "streamops:job:later", "state", "running", "v", 9)
    stocked.command("ZADD", "streamops:jobs", 1, "later")
    told, listed, active = cli("jobs", "ls"), cli("jobs", "ls", "-o", "json"), cli("jobs", "ls", "--active")
    why = "streamops:job:later: written in version 9 of the format"
    assert [one.code for one in (told, listed, active)] == [0, 0, 0]
    assert f"not read: {why}" in told.err
    assert json.loads(listed.out)["gaps"] == [dict(zip(("scope", "reason"), why.split(": "), strict=True))]
    stocked.command("DEL", f"streamops:job:{JOB}")
    assert "no such jobs" not in cli("jobs", "ls", "--active").err


def test_commands_of_jobs_print_what_is_recorded(cli: Cli, stocked: RunningServer, place: Place) -> None:
    compare("jobs", told(cli, JOBS, place, MASKS), GOLDEN)
    assert stocked.command("HGET", f"streamops:job:{JOB}", "state") == b"cancelled"
