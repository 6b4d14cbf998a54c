"""Exit codes and JSON of ``delayed`` and ``publish``, on a real server.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

import io
from pathlib import Path

import msgspec
import pytest

from streamops.model.delayed import DelayedBody
from streamops.wire.delayed import encode_body
from tests.support.cli.golden import MASKS, compare, told
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer

GOLDEN = Path(__file__).with_name("golden_delayed")
YEAR_2020, YEAR_2100 = 1_577_836_800_000, 4_102_444_800_000
QUEUE, BODIES = "{orders}:delayed", "{orders}:delayed:jobs"
CONFIG = 'default_context = "local"\n[contexts.local]\nurl = "{url}"\nenvironment = "{environment}"\n'

READING = [
    ["delayed", "ls", "-o", "json"],
    ["delayed", "ls", "orders", "-o", "json"],
    ["delayed", "ls", "none", "-o", "json"],
    ["delayed", "ls", "string"],
    ["delayed", "ls"],
    ["delayed", "ls", "orders"],
    ["delayed", "show", "orders", "retry"],
    ["delayed", "show", "orders", "retry", "-o", "json"],
    ["delayed", "show", "orders", "broken", "-o", "json"],
    ["delayed", "show", "orders", "none"],
]
ACTING = [
    ["delayed", "run-now", "orders"],
    ["delayed", "run-now", "orders", "--all", "--ids", "plain"],
    ["delayed", "run-now", "orders", "--ids", "none"],
    ["delayed", "run-now", "orders", "--ids", "plain", "--dry-run", "-o", "json"],
    ["delayed", "run-now", "orders", "--all", "--no-input"],
    ["delayed", "run-now", "orders", "--ids", "plain", "--ids", "retry", "--confirm", "2"],
    ["delayed", "run-now", "orders", "--ids", "hostile", "--yes", "-o", "json"],
    ["delayed", "rm", "orders", "--all", "--dry-run", "--backup", "lost.jsonl", "-o", "json"],
    ["delayed", "rm", "orders", "--all", "--yes", "--backup", "lost.jsonl"],
    ["delayed", "rm", "orders", "--all", "--confirm", "orders", "--backup", "lost.jsonl"],
    ["delayed", "rm", "orders", "--ids", "none", "--backup", "lost.jsonl"],
    ["delayed", "rm", "none", "--all"],
    ["delayed", "rm", "string", "--all"],
]
PUBLISHING = [
    ["publish", "orders", "kind=paid", "amount=120", "--dry-run", "-o", "json"],
    ["publish", "orders", "kind=paid", "amount=120"],
    ["publish", "orders", "kind=paid", "--maxlen", "1", "-o", "json"],
    ["publish", "orders", "kind=paid", "--maxlen", "0"],
    ["publish", "read", "kind=paid", "--maxlen", "100", "--dry-run", "-o", "json"],
    ["publish", "read", "kind=paid", "--maxlen", "100", "--yes"],
    ["publish", "read", "kind=paid", "--maxlen", "100", "--confirm", "read"],
    ["publish", "orders", "kind=remind", "--delay", "15m", "--id", "mine"],
    ["publish", "orders", "kind=remind", "--delay", "15m", "--id", "mine"],
    ["publish", "orders", "kind=remind", "--id", "soon"],
    ["publish", "orders", "kind"],
    ["publish", "orders"],
    ["--read-only", "publish", "orders", "kind=paid"],
]


@pytest.fixture
def queue(server: RunningServer, place: Place) -> RunningServer:
    """A server with messages of every sort, in production."""
    text = CONFIG.format(url=server.url, environment="production")
    place.configure(text)
    server.command("XADD", "orders", "1-0", "n", "0")
    bodies = {
        "plain": DelayedBody("orders", ((b"kind", b"paid"), (b"tag", b"a"), (b"tag", b"b"))),
        "retry": DelayedBody(
            "{orders}:retry:billing", ((b"raw", b"\xff\x00"), (b"n", b"1")), "billing", 3, "1-0"
        ),
        "hostile": DelayedBody("orders", ((b"\x1b[31m", b"\x1b]0;x\x07"),)),
    }
    for ident, body in bodies.items():
        server.command("HSET", BODIES, ident, encode_body(body))
    server.command("HSET", BODIES, "broken", b"\xc1", "stray", encode_body(bodies["plain"]))
    server.command("ZADD", QUEUE, YEAR_2020, "plain", YEAR_2100, "retry")
    server.command("ZADD", QUEUE, YEAR_2100, "hostile", YEAR_2100, "broken", YEAR_2100, "bodiless")
    server.command("HSET", BODIES, "odd", msgspec.msgpack.encode([1, "orders", "", 0, "", ["f"]]))
    server.command("ZADD", QUEUE, YEAR_2100, "odd")
    return server


def test_reading_a_queue_prints_what_is_recorded(cli: Cli, queue: RunningServer, place: Place) -> None:
    assert queue.command("DBSIZE") == 3
    queue.command("SET", "string", "x")
    compare("delayed", told(cli, READING, place, MASKS), GOLDEN)


def test_commands_that_act_on_delayed_messages_print_what_they_did(
    cli: Cli, queue: RunningServer, place: Place
) -> None:
    queue.command("SET", "string", "x")
    compare("delayed_acting", told(cli, ACTING, place, MASKS), GOLDEN)
    assert queue.command("ZRANGE", QUEUE, 0, -1) == [b"bodiless", b"broken"]
    assert sorted(queue.command("HKEYS", BODIES)) == [b"broken", b"stray"]
    assert queue.command("XLEN", "orders") == 3


def test_publishing_prints_what_is_recorded(cli: Cli, queue: RunningServer, place: Place) -> None:
    queue.flush()
    for number in range(300):
        queue.command("XADD", "read", f"{number + 1}-0", "n", number)
    queue.command("XGROUP", "CREATE", "read", "billing", "150-0")
    queue.command("XREADGROUP", "GROUP", "billing", "w", "COUNT", "10", "STREAMS", "read", ">")
    compare("publish", told(cli, PUBLISHING, place, MASKS), GOLDEN)


def test_ids_of_messages_are_read_from_standard_input_whatever_their_bytes(
    cli: Cli, queue: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ``ls`` prints, one ID a line, and an ID that is no UTF-8."""
    queue.command("HSET", BODIES, b"m\xff", encode_body(DelayedBody("orders", ((b"n", b"1"),))))
    queue.command("ZADD", QUEUE, YEAR_2020, b"m\xff")
    rows = cli("delayed", "ls", "orders", "-o", "jsonl").out.splitlines(keepends=True)
    lines = [row for row in rows if "base64" in row.partition("due_at")[0]]
    monkeypatch.setattr("sys.stdin", io.StringIO("".join([*lines, "plain\r\n", "\n", "hostile"])))
    result = cli("delayed", "run-now", "orders", "--ids", "-", "--yes", "-o", "jsonl")
    assert (result.code, '"applied":3' in result.out) == (0, True)
    monkeypatch.setattr("sys.stdin", io.StringIO('{"no": 1}\n'))
    assert cli("delayed", "run-now", "orders", "--ids", "-", "--yes").code == 2
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert cli("delayed", "run-now", "orders", "--ids", "-", "--yes").code == 0


def test_what_is_cancelled_is_in_a_file_that_nobody_had_to_name(
    cli: Cli, queue: RunningServer, place: Place
) -> None:
    result = cli("delayed", "rm", "orders", "--ids", "plain", "--confirm", "orders")
    assert (result.code, queue.command("HEXISTS", BODIES, "plain")) == (0, 0)
    (backup,) = (place.home / ".local/state/streamops/backups").iterdir()
    assert backup.name.startswith("delayed-cancel-orders-")
    assert f"1 message was written to {backup}" in result.out
    assert '"stream":"orders"' in backup.read_text()
