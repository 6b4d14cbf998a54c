"""A replica: it shows what it has and says what it is, and nothing can be changed by way of it."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.cli.running import Cli, Place, runner
from tests.support.eventually import eventually
from tests.support.programs import newest_program
from tests.support.servers import RunningServer

STREAM, QUEUE, GROUP = "orders", "{orders}:dlq", "billing"

WRITES = {
    "claim": ("claim", STREAM, GROUP, "--to", "w2", "--min-idle", "0"),
    "ack": ("ack", STREAM, GROUP, "--ids", "1-0"),
    "nack": ("nack", STREAM, GROUP, "--ids", "1-0"),
    "replay": ("replay", QUEUE),
    "trim": ("trim", STREAM, "--maxlen", "0", "--exact", "--unsafe", "--confirm", STREAM),
    "publish": ("publish", STREAM, "n=2"),
    "rewind": ("groups", "rewind", STREAM, GROUP, "--to-id", "0-0"),
    "destroy": ("groups", "rm", STREAM, GROUP, "--confirm", f"{STREAM}/{GROUP}"),
    "purge": ("dlq", "purge", QUEUE, "--confirm", QUEUE),
}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    Place(tmp_path, monkeypatch)
    return runner(capfd)


@pytest.fixture(scope="module")
def shared_replica() -> Iterator[RunningServer]:
    with ExitStack() as stack:
        primary = stack.enter_context(RunningServer(newest_program(), "--repl-diskless-sync-delay", "0"))
        primary.command("XADD", STREAM, "1-0", "n", "1")
        primary.command("XGROUP", "CREATE", STREAM, GROUP, "0")
        primary.command("XREADGROUP", "GROUP", GROUP, "w1", "STREAMS", STREAM, ">")
        primary.command("XADD", QUEUE, "1-0", "n", "1", "_so_origin", STREAM)
        follow = ("--replicaof", "127.0.0.1", str(primary.port))
        yield stack.enter_context(RunningServer(newest_program(), *follow))


@pytest.fixture
async def replica(shared_replica: RunningServer) -> RunningServer:
    """A replica of a server with an entry that is pending, and a dead letter."""
    await eventually(lambda: shared_replica.command("EXISTS", QUEUE) == 1)
    return shared_replica


def test_whoever_acts_is_refused_and_sent_to_the_primary(cli: Cli, replica: RunningServer) -> None:
    for words in WRITES.values():
        result = cli(*words, "--yes", "--url", replica.url)
        assert result.code == 3, (words, result)
        errors = [line for line in result.err.splitlines() if line.startswith(("error: ", "hint: "))]
        assert len(errors) == 2, (words, result.err)
        assert errors[0].endswith("it is a read-only replica"), words
        assert "Nothing was done" in errors[1], words
        assert "Another server is the primary" in errors[1], words
    assert replica.command("XLEN", QUEUE) == 1
    assert replica.command("XPENDING", STREAM, GROUP)[3] == [[b"w1", b"1"]]


@pytest.mark.parametrize("words", [("status",), ("streams", "ls"), ("groups", "ls")], ids=" ".join)
def test_whoever_looks_is_told_what_it_is(cli: Cli, replica: RunningServer, words: Sequence[str]) -> None:
    result = cli(*words, "--url", replica.url)
    assert result.code == 0
    assert "is a replica: it may lag behind its primary, and does not know who polls" in result.err


def test_the_doctor_says_so_too(cli: Cli, replica: RunningServer) -> None:
    found = json.loads(cli("doctor", "-o", "json", "--url", replica.url).out)
    assert "role" in {row["check"] for row in found["checks"] if row["state"] == "warn"}, found


def test_primaries_are_not_said_to_be_replicas(cli: Cli, server: RunningServer) -> None:
    server.command("XADD", STREAM, "1-0", "n", "1")
    assert "replica" not in cli("status", "--url", server.url).err
    assert "replica" not in cli("doctor", "--url", server.url).out
