"""``streamops tend`` as a process: what it prints, how it ends, and that it outlives a server that does not answer."""

import json
import signal
import subprocess
import time
from collections.abc import Callable

import pytest

from streamops.demo.children import module_command, module_environment
from tests.cli.running import Cli, runner
from tests.servers import RunningServer, StartServer

STREAM, GROUP, LETTERS = "orders", "billing", "{orders}:dlq"


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    return runner(capfd)


def fill(server: RunningServer) -> None:
    """One entry that is stuck, and one that was delivered five times."""
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    for number in (1, 2):
        server.command("XADD", STREAM, f"{number}-1", "n", number)
    server.command("XREADGROUP", "GROUP", GROUP, "w", "STREAMS", STREAM, ">")
    server.command("XCLAIM", STREAM, GROUP, "w", 0, "1-1", "IDLE", 90_000, "RETRYCOUNT", 1, "JUSTID")
    server.command("XCLAIM", STREAM, GROUP, "w", 0, "2-1", "IDLE", 90_000, "RETRYCOUNT", 5, "JUSTID")


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def pending(server: RunningServer) -> int:
    return int(server.command("XPENDING", STREAM, GROUP)[0])


def test_a_plan_says_what_becomes_of_what(cli: Cli, any_server: RunningServer) -> None:
    fill(any_server)
    told = cli("tend", STREAM, GROUP, "--url", any_server.unix_url, "--dry-run", "-o", "json")
    plan = json.loads(told.out)
    assert (told.code, plan["count"], plan["standing"]) == (0, 2, True)
    assert plan["sample"] == [
        "1-1 owned by w, idle for 1 min, delivered 1 time: handled again",
        "2-1 owned by w, idle for 1 min, delivered 5 times: to the dead letters",
    ]
    assert plan["effects"][0].startswith("Now, and every 30 s until it is stopped: ")
    assert plan["command"].endswith("tend orders billing")
    assert pending(any_server) == 2


def test_once_it_ends_by_itself(cli: Cli, any_server: RunningServer) -> None:
    fill(any_server)
    words = ("tend", STREAM, GROUP, "--url", any_server.unix_url, "--once")
    assert cli(*words).code == 4
    told = cli(*words, "--yes", "-o", "json")
    outcome = json.loads(told.out)
    assert (told.code, outcome["applied"]) == (0, 2)
    assert outcome["notes"] == [
        "1 entry handled again.",
        "1 entry delivered too often, and now in {orders}:dlq.",
    ]
    assert cli(*words).code == 0


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--expect", "2", "--yes"), 4, "--expect"),
        (("--max-deliveries", "0"), 2, "--max-deliveries"),
        (("--to", "w"), 2, "--redeliver claim"),
        (("--redeliver", "never"), 2, "never"),
        (("--read-only", "--yes"), 4, "read-only"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    cli: Cli, any_server: RunningServer, options: tuple[str, ...], code: int, words: str
) -> None:
    fill(any_server)
    told = cli("tend", STREAM, GROUP, "--url", any_server.unix_url, *options)
    assert (told.code, words in told.err) == (code, True), told.err
    assert pending(any_server) == 2


def test_it_outlives_a_server_that_does_not_answer(start_server: StartServer) -> None:
    server = start_server()
    fill(server)
    options = ("--every", "100ms", "--timeout", "0.3", "--yes", "--url", server.unix_url)
    with subprocess.Popen(
        module_command("streamops", "tend", STREAM, GROUP, *options),
        env=module_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        until(lambda: pending(server) == 0)
        server.pause()
        assert process.stderr is not None
        # What is said first is that it had something to do.
        said = [process.stderr.readline() for _ in range(2)]
        server.resume()
        server.command("XREADGROUP", "GROUP", GROUP, "w", "STREAMS", STREAM, ">")
        again = server.command("XPENDING", STREAM, GROUP, "-", "+", 1)[0][0]
        server.command("XCLAIM", STREAM, GROUP, "w", 0, again, "IDLE", 90_000, "JUSTID")
        until(lambda: pending(server) == 0)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert "trying again" in said[1], said
    assert "handled again" in out


def test_letters_and_entries_are_shown_out_of_their_envelopes(cli: Cli, any_server: RunningServer) -> None:
    task = {"task_id": "t-1", "task_name": "app:pay", "labels": {}, "args": [7], "kwargs": {}}
    any_server.command("XADD", LETTERS, "1-1", "data", json.dumps(task), "_so_origin", STREAM)
    url = ("--url", any_server.unix_url)
    shown = json.loads(cli("dlq", "show", LETTERS, "1-1", *url, "-o", "json").out)
    assert shown["envelope"] == {
        "library": "taskiq",
        "task": "app:pay",
        "headers": {"task_id": "t-1"},
        "body": '{"args":[7],"kwargs":{}}',
    }
    assert "app:pay" in cli("dlq", "show", LETTERS, "1-1", *url).out
    listed = cli("streams", "tail", LETTERS, "--from", "0", "--limit", "1", *url, "-o", "plain").out
    assert 'taskiq app:pay {"args":[7],"kwargs":{}}' in listed
