"""Names, payloads and reasons of strangers cannot act: on a terminal, in a spreadsheet, in a log, in the audit log."""

import csv
import io
import json

import pytest

from streamops.cli.formats import csv_cell
from streamops.model.text import is_safe
from tests.support.cli.running import Cli
from tests.support.servers import RunningServer

FORGED = "FORGED"
EVIL = (
    f"\n{FORGED} line\r\x1b]0;title\x07\x1b[2J\x1b]52;c;eA==\x07\x9b31m\u202e\u2028{FORGED}\u200b\x7f\x00\t"
)
"""What a terminal would obey, what begins a line, what reverses and hides."""

FORMULA = "=cmd|' /C calc'!A0"
STREAM = f"{FORMULA}{EVIL}"
GROUP = f"+{EVIL}"
CONSUMER = f"@{EVIL}"
FIELD = f"-{EVIL}"
VALUE = f"={EVIL}"
POOL = f"{FORMULA}{EVIL}"

LINES = (("dlq", "export"), ("streams", "tail"))
"""Commands that print JSON lines where others print a document; the first of them whatever format is asked for."""

FORMATS = ("table", "json", "csv")

READING = (
    ("status",),
    ("alerts", "ls"),
    ("check", "--lag", "0"),
    ("check", "--lag", "0", "--format", "nagios"),
    ("streams", "ls"),
    ("streams", "show", STREAM),
    ("streams", "search", STREAM),
    ("streams", "search", STREAM, "--where", "fields.nothing == 'x'"),
    ("streams", "tail", STREAM, "-n", "2", "--limit", "2"),
    ("entries", "trace", STREAM, "1-1"),
    ("groups", "ls"),
    ("groups", "show", STREAM, GROUP),
    ("consumers", "ls", STREAM),
    ("pending", "ls", STREAM, GROUP),
    ("pending", "summary", STREAM, GROUP),
    ("dlq", "ls"),
    ("dlq", "ls", f"{STREAM}:dlq"),
    ("dlq", "show", f"{STREAM}:dlq", "1-1"),
    ("dlq", "export", f"{STREAM}:dlq", "-"),
    ("delayed", "ls"),
    ("delayed", "ls", STREAM),
    ("delayed", "show", STREAM, EVIL),
    ("workers", "ls"),
    ("pools", "ls"),
    ("pools", "explain", POOL),
    ("pools", "show", POOL),
    ("webhooks", "ls"),
    ("webhooks", "show", EVIL),
    ("jobs", "ls"),
    ("jobs", "show", EVIL),
    ("audit", "ls"),
    ("doctor",),
    ("ack", STREAM, GROUP, "--ids", "1-1", "--dry-run"),
    ("claim", STREAM, GROUP, "--to", CONSUMER, "--dry-run"),
    ("trim", STREAM, "--maxlen", "0", "--dry-run"),
    ("replay", f"{STREAM}:dlq", "--dry-run"),
    ("undo", "1-1", "--dry-run"),
    ("status", STREAM + "missing"),
    ("streams", "show", EVIL),
)


@pytest.fixture
def hostile(server: RunningServer) -> RunningServer:
    """A server on which everything that can be named by others is named by an enemy."""
    command = server.command
    evil = EVIL.encode("utf-8")
    for queue in (STREAM, f"{STREAM}:dlq"):
        command(
            "XADD", queue, "1-1", FIELD, VALUE, "_so_reason", EVIL, "_so_error", VALUE, "_so_group", GROUP
        )
        command("XADD", queue, "2-1", "orig_id", EVIL, "reason", VALUE, "payload", json.dumps({FIELD: VALUE}))
        command("XGROUP", "CREATE", queue, GROUP, "0")
        command("XREADGROUP", "GROUP", GROUP, CONSUMER, "COUNT", 1, "STREAMS", queue, ">")
    command("ZADD", f"{{{STREAM}}}:delayed", 1, evil)
    command("HSET", f"{{{STREAM}}}:delayed:jobs", evil, evil)
    told = ("host", EVIL, "app", VALUE, "pool", POOL, "state", EVIL, "pid", EVIL, "v", 1, "beat_ms", EVIL)
    command("HSET", f"streamops:worker:{EVIL}", *told)
    command("HSET", "streamops:pools", POOL, EVIL)
    command("HSET", f"streamops:pool:{POOL}", "reason", EVIL, "updated_by", VALUE, "desired", 3, "desired_by", EVIL,
            "desired_reason", VALUE, "mode", EVIL, "leader", EVIL, "leader_until", 9e15, "stream", STREAM, "group", GROUP)  # fmt: skip
    command("HSET", "streamops:topics", EVIL, EVIL, VALUE, json.dumps({"v": 1, "url": f"http://h/{EVIL}"}))
    command("HSET", f"streamops:job:{EVIL}", "operation", EVIL, "target", VALUE, "state", EVIL)
    record = (
        "phase",
        "begun",
        "operation",
        EVIL,
        "target",
        VALUE,
        "user",
        EVIL,
        "reason",
        VALUE,
        "context",
        EVIL,
    )
    command(
        "XADD", "streamops:audit", "1-1", *record, "host", EVIL, "intent", EVIL, "plan", EVIL, "begun", "1-1"
    )
    return server


def unsafe(text: str) -> list[str]:
    """Characters that no terminal should be given, line feeds aside."""
    return [character for character in text if character != "\n" and not is_safe(character)]


@pytest.mark.parametrize("output", FORMATS)
def test_what_commands_print_cannot_act(hostile: RunningServer, cli: Cli, output: str) -> None:
    told = 0
    for words in READING:
        result = cli("--url", hostile.unix_url, *words, "-o", output)
        told += FORGED in result.out
        for text in (result.out, result.err):
            assert not unsafe(text), (words, output, text)
            assert not [line for line in text.splitlines() if line.lstrip("'\" ").startswith(FORGED)], (
                words,
                text,
            )
        assert "a bug in streamops" not in result.err, (words, result.err)
        if output == "json" and result.out.startswith("{") and words[:2] not in LINES:
            json.loads(result.out)
        if output == "csv" and words[:2] not in LINES:
            assert not [cell for cell in cells(result.out) if is_formula(cell)], (words, result.out)
    assert told > 10, "nothing hostile was shown, and nothing proven"


def cells(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text)) for cell in row]


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet would compute it; a number is none."""
    try:
        float(cell)
    except ValueError:
        return cell[:1] in tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
    return False


@pytest.mark.parametrize("sign", "=+-@\t\uff1d")
def test_no_cell_of_csv_is_a_formula(sign: str) -> None:
    assert not is_formula(str(csv_cell(f"{sign}1+1")))


def test_logs_of_commands_are_lines_of_their_own(hostile: RunningServer, cli: Cli) -> None:
    result = cli("--log-level", "debug", "--url", hostile.unix_url, "status", "-o", "plain")
    assert not unsafe(result.err)
    assert not [line for line in result.err.splitlines() if line.startswith(FORGED)]


def test_what_was_done_and_why_cannot_be_made_two_records(server: RunningServer, cli: Cli) -> None:
    """A reason with line ends is one reason of one record."""
    # An argument of a program ends at a null byte: no name that holds one can be given on a command line.
    stream, group, reason = (text.replace("\0", "") for text in (STREAM, GROUP, EVIL))
    server.command("XADD", stream, "1-1", "a", "b")
    server.command("XGROUP", "CREATE", stream, group, "0")
    server.command("XREADGROUP", "GROUP", group, CONSUMER, "STREAMS", stream, ">")
    words = ("ack", stream, group, "--ids", "1-1", "--yes", "--reason", reason)
    assert cli("--url", server.unix_url, *words).code == 0
    records = server.command("XRANGE", "streamops:audit", "-", "+")
    told = [dict(zip(fields[::2], fields[1::2], strict=True)).get(b"reason") for _, fields in records]
    assert [text for text in told if text] == [reason.encode()]
    rows = [
        json.loads(line)
        for line in cli("--url", server.unix_url, "audit", "ls", "-o", "jsonl").out.splitlines()
    ]
    assert len(rows) == 1
    assert rows[0]["reason"] == reason
