"""Asking on a terminal, refusing without one, stopping on Ctrl-C: on real servers, in processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest

from tests.support.cli.billing import RECLAIM, ack, deliver_all_to_worker_1
from tests.support.cli.running import Cli, Place
from tests.support.cli.terminal import Typing, on_terminal
from tests.support.project import PROJECT
from tests.support.servers import RunningServer
from tests.support.streams import pending_count

STREAMOPS = (sys.executable, "-P", "-m", "streamops")
ROOT = str(PROJECT)
MANY = 30_000


def test_the_count_typed_is_consent(stocked: RunningServer) -> None:
    shown = on_terminal(*ack(stocked), typing=Typing("Type 2 to apply: ", "2\n"))
    assert shown.code == 0
    assert "outcome" in shown.plain
    assert pending_count(stocked) == 7


@pytest.mark.parametrize("keys", ["y\n", "\x04"], ids=repr)
def test_anything_else_typed_is_none(keys: str, stocked: RunningServer) -> None:
    shown = on_terminal(*ack(stocked), typing=Typing("Type 2 to apply: ", keys))
    assert shown.code == 4
    assert "error: ack orders/billing: not confirmed" in shown.plain
    assert pending_count(stocked) == 9


@pytest.mark.parametrize(("keys", "code"), [("y\n", 0), ("\n", 4)])
def test_in_development_a_yes_is_enough(keys: str, code: int, stocked: RunningServer, place: Place) -> None:
    place.configure(
        f'default_context = "here"\n[contexts.here]\nurl = "{stocked.unix_url}"\nenvironment = "development"\n'
    )
    words = ("ack", "orders", "billing", "--ids", "1-1,2-1")
    shown = on_terminal(*words, typing=Typing("Apply? [y/N] ", keys))
    assert shown.code == code
    assert pending_count(stocked) == (7 if code == 0 else 9)


@pytest.mark.parametrize("words", [("--no-input",), ("--yes",), ("--confirm", "2")], ids=" ".join)
def test_nobody_is_asked_who_said_enough(words: tuple[str, ...], stocked: RunningServer) -> None:
    shown = on_terminal(*ack(stocked, *words))
    assert "to apply" not in shown.plain
    assert shown.code == (4 if "--no-input" in words else 0)
    assert pending_count(stocked) == (7 if {"--yes", "--confirm"} & {*words} else 9)


def test_what_pending_ls_prints_can_be_acknowledged(cli: Cli, stocked: RunningServer) -> None:
    rows = cli("pending", "ls", "orders", "billing", "-o", "jsonl", "--url", stocked.unix_url)
    words = ("ack", "orders", "billing", "--ids", "-", "--yes", "--url", stocked.unix_url)
    assert piped(words, rows.out).returncode == 0
    assert pending_count(stocked) == 0


def piped(words: Sequence[str], text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*STREAMOPS, *words],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": ROOT},
    )


@pytest.mark.parametrize("output", ["table", "json"])
def test_another_format_on_stdin_is_refused_with_the_one_that_works(
    output: str, cli: Cli, stocked: RunningServer
) -> None:
    rows = cli("pending", "ls", "orders", "billing", "-o", output, "--url", stocked.unix_url)
    result = piped(("ack", "orders", "billing", "--ids", "-", "--yes", "--url", stocked.unix_url), rows.out)
    assert result.returncode == 2
    what, hint = result.stderr.splitlines()
    assert what.startswith("error: --ids: line ")
    assert not {"truncated", "missing required"} & {*what.split()}
    assert hint == "hint: Pipe `-o jsonl`, or one ID a line."
    assert pending_count(stocked) == 9


@pytest.mark.parametrize("words", [(), ("-o", "json")], ids=" ".join)
@pytest.mark.parametrize("also_stderr", [False, True])
def test_a_reader_that_goes_away_stops_nothing(
    words: tuple[str, ...], stocked: RunningServer, *, also_stderr: bool
) -> None:
    gone, pipe = os.pipe()
    os.close(gone)
    ids = ("ack", "orders", "billing", "--ids", "1-1,2-1,77-7", "--yes", "--url", stocked.unix_url)
    result = subprocess.run(
        [*STREAMOPS, *ids, *words],
        stdout=pipe,
        stderr=pipe if also_stderr else subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    os.close(pipe)
    assert result.returncode == 0
    assert pending_count(stocked) == 7
    assert "Traceback" not in (result.stderr or "")
    assert "Exception" not in (result.stderr or "")


def test_a_job_comes_to_its_end_where_nobody_listens(server: RunningServer) -> None:
    deliver_all_to_worker_1(server, 3_000)
    words = (*RECLAIM, "--rate", "10000/s")
    with subprocess.Popen(
        [*STREAMOPS, *words, "--url", server.unix_url],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": ROOT},
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 0
    (_, owned), *others = server.command("XPENDING", "orders", "billing")[3]
    assert (int(owned), others) == (3_000, [])
    (job,) = server.command("ZRANGE", "streamops:jobs", 0, -1)
    assert server.command("HGET", f"streamops:job:{job.decode()}", "state") == b"done"


def test_what_was_killed_is_continued_to_a_full_count(cli: Cli, server: RunningServer) -> None:
    deliver_all_to_worker_1(server, 3_000)
    words = (*RECLAIM, "--rate", "2000/s")
    with subprocess.Popen(
        [*STREAMOPS, *words, "--url", server.unix_url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": ROOT},
    ) as process:
        while claimed(server) < 1_000 and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        process.communicate(timeout=60)
    (job,) = server.command("ZRANGE", "streamops:jobs", 0, -1)
    key = f"streamops:job:{job.decode()}"
    held = cli("jobs", "resume", job.decode(), "--yes", "--url", server.unix_url)
    assert (held.code, "is held by" in held.err) == (4, True)
    server.command("HSET", key, "lease_ms", 1)
    resumed = cli("jobs", "resume", job.decode(), "--yes", "--url", server.unix_url)
    assert (resumed.code, claimed(server)) == (0, 3_000)
    assert server.command("HMGET", key, "state", "applied", "requested") == [b"done", b"3000", b"3000"]
    audit = json.loads(cli("audit", "ls", "-o", "json", "--url", server.unix_url).out)
    rest, killed = audit["actions"]
    assert rest["outcome"] == "done"
    assert killed["outcome"] == f"stopped: interrupted; continued by {rest['audit_id']}"
    assert rest["applied"] + killed["applied"] == killed["planned"] == 3_000


def claimed(server: RunningServer) -> int:
    """Entries that the second consumer has."""
    owners = server.command("XPENDING", "orders", "billing")[3]
    return sum(int(count) for name, count in owners if name == b"worker-2")


def test_bad_lines_on_stdin_are_named_and_nothing_is_done(stocked: RunningServer) -> None:
    words = ("ack", "orders", "billing", "--ids", "-", "--yes", "--url", stocked.unix_url)
    result = piped(words, "1-1\nnone\n")
    assert result.returncode == 2
    assert "--ids: line 2: not an entry ID: 'none'" in result.stderr
    assert piped(words, "\xff\n").returncode == 2
    assert pending_count(stocked) == 9


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_ctrl_c_stops_after_the_batch_under_way_and_tells_what_was_done(
    number: signal.Signals, server: RunningServer
) -> None:
    deliver_all_to_worker_1(server, MANY)
    ids = "\n".join(f"{one}-1" for one in range(1, MANY + 1))
    words = ("ack", "orders", "billing", "--ids", "-", "--yes", "-o", "json", "--url", server.unix_url)
    with subprocess.Popen(
        [*STREAMOPS, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ROOT},
    ) as process:
        assert process.stdin is not None
        process.stdin.write(ids)
        process.stdin.close()
        process.stdin = None
        while pending_count(server) == MANY and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    if process.returncode == 0:
        pytest.skip("it was done before it could be stopped")
    outcome = json.loads(out)
    assert process.returncode == 130
    assert (outcome["complete"], outcome["stopped"]) == (False, "interrupted")
    assert 0 < outcome["applied"] == MANY - pending_count(server)
    assert "error: interrupted" in err
    assert "Traceback" not in err
